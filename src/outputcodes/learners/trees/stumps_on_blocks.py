"""Stumps on blocks of rows: each round is one pass, which updates the weights and sums the histograms of all features.

The sums over pieces of `BLOCK_ROWS` rows, in their order, are those that `StumpBlock` takes in memory.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from outputcodes._ground.blocks import Run
from outputcodes._ground.lanes import LANES, aligned_copy, aligned_zeros
from outputcodes._ground.passes import Blocks, Combination, Sums
from outputcodes._histograms import stumps
from outputcodes._histograms.binned_blocks import BinnedBlocks, Codes
from outputcodes._histograms.stumps import Cut, Part, choose_stumps, fill_histograms, make_histogram_room
from outputcodes.learners.trees.stump_block import StumpColumns, occupied_bins

Rows = NDArray[np.intp]
Array = NDArray[np.float64]


@dataclass(frozen=True)
class WeighedRows:
    """Some rows, sorted by class: codes, classes, where each class starts, and their signed weights (n, LANES)."""

    codes: NDArray[Any]
    classes: Rows
    starts: NDArray[np.int64]
    V: Array
    columns: None = None

    def part(self) -> Part:
        """Return the rows as kernels take them: one block."""
        return Part(self.codes, self.V, self.starts, np.array([0, len(self.starts) - 1]))


class StumpsOnBlocks(StumpColumns):
    """Columns whose rows are in blocks.

    Parameters
    ----------
    data : BinnedBlocks
    y, weight : as in `Learner.fit_columns`
    train, held : ndarray
        Rows, in order.
    run : Run
    signed : ndarray
    *how
        As for `StumpColumns`.
    """

    def __init__(
        self,
        data: BinnedBlocks,
        y: Rows,
        weight: Array | None,
        train: Rows,
        held: Rows,
        run: Run,
        signed: Array,
        *how: Any,
    ) -> None:
        super().__init__(data, signed, *how)
        self.train: Blocks
        self.held: Blocks | None
        self.train, total, count = self._weighed(y, weight, train, run)
        self.held, held_total, _ = self._weighed(y, weight, held, run) if len(held) else (None, np.zeros(LANES), None)
        (self.start_loss,) = self.train.total(_weight)
        self.train = self.train.through(_divided, np.where(total > 0, self.start_loss, 1.0))
        self.room = make_histogram_room(data.n_bins)
        # The stumps of the last round, which have not changed the weights yet.
        self.due: tuple[Cut, Array] | None = None
        self._begin(total, count.astype(np.intp), held_total)

    def _weighed(self, y: Rows, weight: Array | None, rows: Rows, run: Run) -> tuple[Blocks, Array, Array]:
        """Return rows with weights whose sum is 1 in each column, that sum before, and the number of rows."""
        blocks = self.data.coded.labelled(y, weight, rows, _weighed_rows, self.signed, run=run)
        total, count = blocks.total(_weight_and_count)
        return blocks.through(_divided, np.where(total > 0, total, 1.0)), total, count

    def advance(self, first: int, last: int) -> None:
        """Run rounds first..last-1."""
        for t in range(first, min(last, len(self.stumps.Z))):
            if not self.state.active.any():
                return
            self._round(t)

    def _round(self, t: int) -> None:
        data, state, (choice, room) = self.data, self.state, self.room
        if self.due is None:
            (histograms,) = self.train.total(_histograms, data.n_bins)
        else:
            how = data.n_bins, data.categorical, *self.due, self.train.may_change
            self.train, (histograms,) = self.train.step(_reweighted_histograms, *how)
        choice.score[:] = np.inf
        choose_stumps(
            histograms, 0, len(histograms), data.n_bins, data.categorical, self.confident, state.active, choice, room
        )
        for lane in range(LANES):
            stumps.settle(t, lane, self.confident, self.smoothing[lane], state, choice, self.stumps, room)
        made = Cut(choice.score.copy(), choice.feature.copy(), choice.cut.copy(), choice.sides.copy())
        self.due = made, room.scaled.copy()
        if self.held is not None:
            how = data.n_bins, data.categorical, made, room.plain.copy(), self.held.may_change
            self.held, (losses,) = self.held.step(_reweighted_loss, *how)
        else:
            losses = np.zeros(LANES)
        for lane in range(LANES):
            stumps.watch(t, lane, losses[lane], state)

    def release(self) -> None:
        """Drop the rows, of which only the bins that they occupy are still needed."""
        every = np.arange(len(self.data.n_bins))
        (self._present,) = self.train.total(
            _occupied, len(self.signed), self.data.offsets, every, combine=Combination(np.logical_or)
        )
        del self.train, self.held

    def occupied(self, features: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return which bins the rows of each class occupy; after `release`."""
        of_feature = np.repeat(np.arange(len(self.data.n_bins)), self.data.n_bins + 1)
        present: NDArray[np.bool_] = self._present & np.isin(of_feature, features)
        return present


def _weighed_rows(
    parts: list[Codes], y: Rows, weight: Array | None, rows: Rows | None, signed: Array
) -> Iterator[WeighedRows]:
    """Cut the rows of any of the columns into pieces of `BLOCK_ROWS` rows of the block, sorted by class."""
    (part,), y = parts, y.astype(np.intp, copy=False)
    seen, step = np.asarray(signed.any(axis=1)), stumps.BLOCK_ROWS
    for start in range(0, len(y), step):
        stop = min(start + step, len(y))
        own = np.arange(start, stop) if rows is None else rows[slice(*np.searchsorted(rows, [start, stop]))]
        own = own[seen[y[own]]]
        if not len(own):
            continue
        own = own[np.argsort(y[own], kind="stable")]
        classes = y[own]
        V = aligned_zeros(len(own), LANES)
        V[:, : signed.shape[1]] += signed[classes]
        if weight is not None:
            V *= weight[own, None]
        starts = np.append(np.flatnonzero(np.diff(classes, prepend=-1) != 0), len(own))
        yield WeighedRows(part.X[own], classes, starts, V)


def _weight(piece: WeighedRows) -> Sums:
    return (np.abs(piece.V).sum(axis=0),)


def _weight_and_count(piece: WeighedRows) -> Sums:
    return np.abs(piece.V).sum(axis=0), np.count_nonzero(piece.V, axis=0)


def _divided(piece: WeighedRows, by: Array) -> WeighedRows:
    return replace(piece, V=piece.V / by)


def _histograms(piece: WeighedRows, n_bins: NDArray[np.int64]) -> Sums:
    """(d, bins, 2·LANES): the weights of both signs in each bin, of each lane."""
    room = make_histogram_room(n_bins)[1]
    tile, widest, width = room.histogram.shape
    d, part = len(n_bins), piece.part()
    histograms = aligned_zeros(d, widest, width)
    for first in range(0, d, tile):
        last = min(first + tile, d)
        fill_histograms(part, first, last, histograms[first:last], room.of_block, room.of_class)
    return (histograms,)


def _reweighted(
    piece: WeighedRows,
    n_bins: NDArray[np.int64],
    categorical: NDArray[np.bool_],
    choice: Cut,
    factor: Array,
    in_place: bool,
) -> WeighedRows:
    changed = piece if in_place else replace(piece, V=aligned_copy(piece.V))
    stumps.reweight(changed.part(), n_bins, categorical, choice, factor, np.empty((LANES, int(n_bins.max()) + 1, 2)))
    return changed


def _reweighted_histograms(piece: WeighedRows, n_bins: NDArray[np.int64], *how: Any) -> tuple[WeighedRows, Sums]:
    changed = _reweighted(piece, n_bins, *how)
    return changed, _histograms(changed, n_bins)


def _reweighted_loss(piece: WeighedRows, *how: Any) -> tuple[WeighedRows, Sums]:
    changed = _reweighted(piece, *how)
    return changed, (np.abs(changed.V).sum(axis=0),)


def _occupied(
    piece: WeighedRows, k: int, offsets: NDArray[np.int64], features: NDArray[np.int64]
) -> tuple[NDArray[np.bool_]]:
    return (occupied_bins(piece.codes, piece.classes, k, offsets, features),)
