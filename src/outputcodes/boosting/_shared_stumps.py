"""Weights over pairs (example, column) on binned features, and the best stump test for all columns together."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from outputcodes._ground.blocks import Run, sum_in_order
from outputcodes._ground.choosing import first_smallest
from outputcodes._ground.lanes import LANES, aligned_zeros
from outputcodes._histograms.binned_blocks import BinnedBlocks
from outputcodes._histograms.binning import Binned
from outputcodes._histograms.stumps import (
    HistogramRoom,
    Part,
    by_block_and_class,
    fill_histograms,
    make_histogram_room,
    runs_of,
)
from outputcodes.boosting._compiled.stumps import (
    ABSTAINING,
    fill_signed,
    reweight_sides,
    score_tests,
    sides_of_rows,
    weigh_sides,
)

Rows = NDArray[np.intp]
Array = NDArray[np.float64]
# A test as kernels take it: feature, number of its bins, cut, whether it is categorical.
Question = tuple[int, int, int, bool]


class SharedTest(NamedTuple):
    """A test shared by all columns, its score, and which sides do not abstain (both, left only, right only)."""

    feature: int
    cut: int
    worth: float
    answering: tuple[bool, bool]


class ColumnWeights:
    """The weights of all pairs and their updates over the rounds.

    Parameters
    ----------
    binned : Binned
    y : ndarray of shape (n,)
        Rows of `signed`; fewer distinct rows are faster.
    signed : ndarray of shape (k, L)
        Sign times weight of the pairs of an example of each class; 0 = absent.
    weight : ndarray of shape (n,)
        Weights of the examples.
    kind : int
        The score of a test: CONFIDENT, DISCRETE, ABSTAINING or RANKING.
    run : Run

    Attributes
    ----------
    order : ndarray of shape (n,)
        The rows in blocks, sorted by class within each.
    V : ndarray of shape (blocks, n, LANES)
        Signed weights, with rows in this order and columns in blocks; the absolute values initially sum to 1.
    total, n_pairs : float, int
        The sum of the pair weights before they were scaled to 1, and the number of pairs.
    """

    def __init__(self, binned: Binned, y: Rows, signed: Array, weight: Array, kind: int, run: Run) -> None:
        self.binned, self.kind, self.run, self.L = binned, kind, run, signed.shape[1]
        self.order = by_block_and_class(np.arange(len(y)), y)
        y, weight, self.codes = y[self.order], weight[self.order], binned.codes[self.order]
        self.runs = runs_of(self.order, y)
        self.V = aligned_zeros(*lane_blocks(len(y), self.L))
        for V, columns in zip(self.V, self._columns(), strict=True):
            own = signed[:, columns]
            np.multiply(own[y], weight[:, None], out=V[:, : own.shape[1]])
        self.total = float(sum_in_order(self._weights_of_blocks()))
        self.n_pairs = np.count_nonzero(self.V)
        self.V /= self.total
        self._rooms = threading.local()
        self._tile = self._room().histogram.shape[0]
        self._worth = np.full((len(self.V), 4 if kind == ABSTAINING else 1, binned.offsets[-1]), np.inf)

    def best(self) -> SharedTest:
        """Return the test with the smallest score; among those within 1e-9, the first feature, then the first cut."""
        d = len(self.binned.n_bins)

        def score(task: tuple[int, int]) -> None:
            block, first = task
            score_tests(
                self._part(block),
                self.binned.n_bins,
                self.binned.categorical,
                self.binned.offsets,
                first,
                min(first + self._tile, d),
                self.kind,
                self._room(),
                self._worth[block],
            )

        self.run(score, [(block, first) for block in range(len(self.V)) for first in range(0, d, self._tile)])
        return best_test(self._worth.sum(axis=0), self.kind, self.binned.offsets)

    def sides(self, test: SharedTest) -> Array:
        """Return the weights (3, 2, L) on the left, on the right and missing, of positive and of negative pairs."""

        def weigh(block: int) -> Array:
            sides, room, f = np.empty((3, 2, LANES)), self._room(), test.feature
            fill_histograms(self._part(block), f, f + 1, room.histogram, room.of_block, room.of_class)
            weigh_sides(room.histogram[0], *question_of(self.binned, test)[1:], room, sides)
            return sides

        return np.concatenate(self.run(weigh, range(len(self.V))), axis=2)[:, :, : self.L]

    def signed_sides(self, test: SharedTest) -> Array:
        """Return the signed weights (2, L) on the left and on the right."""

        def fill(block: int) -> Array:
            room, f = self._room(), test.feature
            fill_signed(self._part(block), f, f + 1, room.of_class, room.of_block)
            own: Array = room.of_class[0].copy()
            return own

        return signed_sides(np.stack(self.run(fill, range(len(self.V)))), *question_of(self.binned, test)[1:])[
            :, : self.L
        ]

    def reweight(self, test: SharedTest, factors: Array) -> None:
        """Multiply the pair weights by factors[side, sign, column]."""

        def scale(block: int) -> None:
            own = aligned_zeros(3, 2, LANES)
            part = factors[:, :, block * LANES : (block + 1) * LANES]
            own[:, :, : part.shape[2]] = part
            reweight_sides(self._part(block), *question_of(self.binned, test), own)

        self.run(scale, range(len(self.V)))

    def side_of_rows(self, test: SharedTest) -> Rows:
        """Return the side of each row (n,), in `order`: 0 = left, 1 = right, 2 = missing."""
        sides = np.empty(len(self.codes), dtype=np.intp)
        sides_of_rows(self.codes, *question_of(self.binned, test), sides)
        return sides

    def pieces(self) -> list[tuple[int, int]]:
        """Return the first row of each block of rows, and the one after its last."""
        starts, blocks = self.runs
        return list(itertools.pairwise(starts[blocks].tolist()))

    def _columns(self) -> Iterator[slice]:
        return (slice(first, min(first + LANES, self.L)) for first in range(0, self.L, LANES))

    def _weights_of_blocks(self) -> Iterator[float]:
        """Yield the weight of the pairs in each block of rows, in the order of the blocks."""
        for first, last in self.pieces():
            yield float(sum(np.abs(V[first:last]).sum() for V in self.V))

    def _part(self, block: int) -> Part:
        return Part(self.codes, self.V[block], *self.runs)

    def _room(self) -> HistogramRoom:
        """Return the work arrays of this thread."""
        if not hasattr(self._rooms, "room"):
            self._rooms.room = make_histogram_room(self.binned.n_bins)[1]
        room: HistogramRoom = self._rooms.room
        return room


def question_of(binned: Binned | BinnedBlocks, test: SharedTest) -> Question:
    """Return a test as kernels take it."""
    f = test.feature
    return f, int(binned.n_bins[f]), test.cut, bool(binned.categorical[f])


def best_test(worth: Array, kind: int, offsets: NDArray[np.int64]) -> SharedTest:
    """Return the test with the smallest score, given the scores (1 or 4, tests) of a kind."""
    answering = [(True, True)]
    if kind == ABSTAINING:
        worth, answering = _abstaining(worth), [(True, True), (True, False), (False, True)]
    place, way = divmod(int(first_smallest(worth.T.ravel())), len(worth))
    feature = int(np.searchsorted(offsets, place, side="right")) - 1
    cut = place - int(offsets[feature])
    return SharedTest(feature, cut, float(worth[way, place]), answering[way])


def signed_sides(histograms: Array, bins: int, cut: int, categorical: bool) -> Array:
    """Return the sums (2, L) of histograms (blocks of columns, bins, LANES) on the left and on the right of a cut."""
    left = histograms[:, max(cut - 1, 0) if categorical else 0 : cut].sum(axis=1).ravel()
    return np.stack([left, histograms[:, :bins].sum(axis=1).ravel() - left])


def lane_blocks(n: int, L: int) -> tuple[int, int, int]:
    """Return the shape of n rows of L values in blocks of `LANES` columns."""
    return -(-L // LANES), n, LANES


def without_blocks(V: Array, L: int) -> Array:
    """Return the values (n, L) of blocks of columns."""
    return V.transpose(1, 0, 2).reshape(V.shape[1], -1)[:, :L]


def _abstaining(sums: Array) -> Array:
    """Return Z = 1 - (√W+ - √W-)² (3, tests) where no side, the right or the left abstains; W0 = 1 - W+ - W-."""
    left, left_wrong, right, right_wrong = sums
    with np.errstate(invalid="ignore"):
        Z = [
            1.0 - (np.sqrt(correct) - np.sqrt(wrong)) ** 2
            for correct, wrong in ((left + right, left_wrong + right_wrong), (left, left_wrong), (right, right_wrong))
        ]
    return np.where(np.isfinite(left), Z, np.inf)
