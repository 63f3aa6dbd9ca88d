"""A few columns of a code boosted together: their weights, their state, and the stumps chosen so far."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
from numpy.typing import NDArray

from outputcodes._ground.lanes import LANES, aligned_zeros
from outputcodes._histograms.binning import Binned, midpoints
from outputcodes._histograms.stumps import Part, State, Stumps, boost, by_block_and_class, make_histogram_room, runs_of
from outputcodes.learners.trees.fitted_stumps import FittedStumps
from outputcodes.losses import as_loss

Rows = NDArray[np.intp]
Array = NDArray[np.float64]


class StumpSample:
    """The rows of all columns in blocks, by class: codes, classes, weights or None, known margins or None."""

    def __init__(self, data: Binned, rows: Rows, y: Rows, weight: Array | None, known: FittedStumps | None) -> None:
        rows = rows[by_block_and_class(rows, y[rows])]
        self.rows, self.codes, self.y = rows, data.codes[rows], y[rows]
        self.weight = None if weight is None else weight[rows]
        self.F = None if known is None else known.margins(data, rows)

    def start(self, signed: Array, columns: slice) -> tuple[Part, Rows, Array, NDArray[np.intp]]:
        """Return the rows of any of the columns, their classes, and the sum and number of each column's weights.

        The signed weights are scaled so that their absolute sum is the mean exponential loss.
        """
        seen = np.asarray(signed.any(axis=1))[self.y]
        rows = slice(None) if seen.all() else np.flatnonzero(seen)
        y = self.y[rows]
        V = aligned_zeros(len(y), LANES)
        own = V[:, : signed.shape[1]]
        own += signed[y]
        if self.weight is not None:
            own *= self.weight[rows, None]
        part = Part(self.codes[rows], V, *runs_of(self.rows[rows], y))
        total, count = weight_of(part), np.count_nonzero(V, axis=0)
        if self.F is not None:
            own *= as_loss("exponential")(np.sign(own) * self.F[rows, columns])
        V /= np.where(total > 0, total, 1.0)
        return part, y, total, count


def weight_of(part: Part) -> Array:
    """Return the weight of each lane, summed over blocks of rows in their order, as histograms are."""
    edges, total = part.starts[part.blocks], np.zeros(LANES)
    for first, last in itertools.pairwise(edges.tolist()):
        total += np.abs(part.V[first:last]).sum(axis=0)
    return total


class StumpColumns:
    """At most `LANES` columns: their state between two rounds, and the stumps chosen so far.

    Parameters
    ----------
    data : Binned or BinnedBlocks
    signed : ndarray of shape (k, width)
        Sign times weight of an example of each class in each column; 0 = absent.
    stopped : ndarray of bool, shape (width,)
        Columns that have already stopped.
    n_rounds : int
        The maximal number of further rounds.
    confident : bool
        Whether stumps are confidence-rated rather than discrete.
    smoothing : float or None
    patience : int
        The number of rounds to wait for a smaller held-out loss.

    Attributes
    ----------
    stumps : Stumps
        Arrays of shape (n_rounds, LANES).
    state : State
    start_loss : ndarray of shape (LANES,)
        The exponential loss before the first round.
    """

    start_loss: Array

    def __init__(
        self,
        data: Any,
        signed: Array,
        stopped: NDArray[np.bool_],
        n_rounds: int,
        confident: bool,
        smoothing: float | None,
        patience: int,
    ) -> None:
        self.data, self.signed, self.confident = data, signed, confident
        self._stopped, self._smoothing, self._patience = stopped, smoothing, patience
        self.stumps = Stumps(
            *np.zeros((2, n_rounds, LANES), dtype=np.int64),
            *np.zeros((3, n_rounds, LANES)),
        )

    def _begin(self, total: Array, count: NDArray[np.intp], held_total: Array) -> None:
        """Set the state before the first round, given the weights and numbers of the rows of each column."""
        smoothing, stopped = self._smoothing, self._stopped
        self.smoothing = (
            1 / np.maximum(np.maximum(total, count), 1.0) if smoothing is None else np.full(LANES, float(smoothing))
        )
        self.watched = held_total > 0
        active = np.zeros(LANES, dtype=bool)
        active[: len(stopped)] = ~stopped
        self.state = State(
            active=active,
            rounds=np.zeros(LANES, dtype=np.int64),
            held_best=np.full(LANES, np.inf),
            held_round=np.zeros(LANES, dtype=np.int64),
            patience=np.where(self.watched, self._patience, np.iinfo(np.int64).max),
        )

    def advance(self, first: int, last: int) -> None:
        """Run rounds first..last-1."""
        raise NotImplementedError

    def occupied(self, features: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return (k, number of all bins): whether a class has a row in a bin, for these features."""
        raise NotImplementedError

    def finish(self) -> Array:
        """Remove the rounds after the smallest held-out loss; return the training loss of the others."""
        rounds = self.state.rounds
        rounds[self.watched] = self.state.held_round[self.watched]
        kept = np.arange(len(self.stumps.Z))[:, None] < rounds
        for part in self.stumps:
            part[~kept] = 0
        loss: Array = self.start_loss * np.where(kept, self.stumps.Z, 1.0).prod(axis=0)
        return loss

    def thresholds(self) -> Array:
        """Return (n_rounds, LANES) cuts as values, halfway between the nearest bins with examples of the column."""
        data, (feature, cut, *_) = self.data, self.stumps
        present = self.occupied(np.unique(feature))
        below = data.offsets[feature] + np.maximum(cut - 1, 0)
        above = below.copy()
        takes_part = self.signed != 0
        for lane in range(takes_part.shape[1]):
            occupied = np.flatnonzero(present[takes_part[:, lane]].any(axis=0))
            after = np.searchsorted(occupied, below[:, lane], side="right")
            above[:, lane] = occupied[np.minimum(after, len(occupied) - 1)]
        values = np.where(data.categorical[feature], data.low[below], midpoints(data.high[below], data.low[above]))
        return np.where(cut == 0, -np.inf, values)


class StumpBlock(StumpColumns):
    """Columns whose rows are in memory.

    Parameters
    ----------
    data : Binned
    train, held : StumpSample
    signed : ndarray
    columns : slice
        The columns of the code.
    *how
        As for `StumpColumns`.
    """

    def __init__(
        self, data: Binned, train: StumpSample, held: StumpSample, signed: Array, columns: slice, *how: Any
    ) -> None:
        super().__init__(data, signed, *how)
        self.train, self.classes, total, count = train.start(signed, columns)
        self.held, _, held_total, _ = held.start(signed, columns)
        self.start_loss = weight_of(self.train)
        self.train.V[:] /= np.where(total > 0, self.start_loss, 1.0)
        self._begin(total, count, held_total)

    def advance(self, first: int, last: int) -> None:
        """Run rounds first..last-1."""
        if self.state.active.any():
            boost(
                self.train,
                self.held,
                self.data.n_bins,
                self.data.categorical,
                self.confident,
                self.smoothing,
                first,
                min(last, len(self.stumps.Z)),
                self.state,
                self.stumps,
                *make_histogram_room(self.data.n_bins),
            )

    def occupied(self, features: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return which bins the rows of each class occupy."""
        return occupied_bins(self.train.codes, self.classes, len(self.signed), self.data.offsets, features)


def occupied_bins(
    codes: NDArray[Any], classes: Rows, k: int, offsets: NDArray[np.int64], features: NDArray[np.int64]
) -> NDArray[np.bool_]:
    """Return (k, number of all bins): whether a class has a row in a bin, for some features."""
    present = np.zeros((k, offsets[-1]), dtype=bool)
    for f in features:
        present[classes, offsets[f] + codes[:, f]] = True
    return present
