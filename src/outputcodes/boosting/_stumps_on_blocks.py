"""Weights over pairs (example, column) whose rows are in blocks: one pass per round updates them and sums histograms.

The sums over pieces of `BLOCK_ROWS` rows, in their order, are those that `ColumnWeights` takes in memory.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from outputcodes._ground.blocks import Run
from outputcodes._ground.lanes import LANES, aligned_copy, aligned_zeros
from outputcodes._ground.passes import Blocks, Sums
from outputcodes._histograms import stumps
from outputcodes._histograms.binned_blocks import BinnedBlocks, Codes
from outputcodes._histograms.binning import Binned
from outputcodes._histograms.stumps import Part, fill_histograms, make_histogram_room
from outputcodes.boosting._compiled.stumps import ABSTAINING, reweight_sides, score_histograms, weigh_sides
from outputcodes.boosting._shared_stumps import (
    ColumnWeights,
    Question,
    SharedTest,
    best_test,
    lane_blocks,
    question_of,
)

Rows = NDArray[np.intp]
Array = NDArray[np.float64]


@dataclass(frozen=True)
class WeighedPairs:
    """Some rows, sorted by class: codes, where each class starts, and signed weights (blocks of columns, n, LANES)."""

    codes: NDArray[Any]
    starts: NDArray[np.int64]
    V: Array
    columns: None = None

    def part(self, block: int) -> Part:
        """Return the rows as kernels take them, with a block of columns."""
        return Part(self.codes, self.V[block], self.starts, np.array([0, len(self.starts) - 1]))


class ColumnWeightsOnBlocks:
    """`ColumnWeights` of rows in blocks; parameters and attributes as there, for kinds other than RANKING."""

    def __init__(self, binned: BinnedBlocks, y: Rows, signed: Array, weight: Array, kind: int, run: Run) -> None:
        self.binned, self.kind, self.L = binned, kind, signed.shape[1]
        rows = np.arange(len(y))
        self.blocks: Blocks = binned.coded.labelled(y, weight, rows, _weighed_pairs, signed, run=run)
        total, n_pairs = self.blocks.total(_weight_and_count)
        self.total, self.n_pairs = float(total), int(n_pairs)
        self.blocks = self.blocks.through(_divided, self.total)
        self.room = make_histogram_room(binned.n_bins)[1]
        # What the last round does to the weights, once the next one reads them.
        self.due: tuple[Question, Array] | None = None
        self.histograms: NDArray[np.float64] = np.empty((0, 0, 0, 0))

    def best(self) -> SharedTest:
        """Return the test with the smallest score; among those within 1e-9, the first feature, then the first cut."""
        data = self.binned
        if self.due is None:
            (self.histograms,) = self.blocks.total(_histograms, data.n_bins)
        else:
            self.blocks, (self.histograms,) = self.blocks.step(
                _reweighted, data.n_bins, *self.due, self.blocks.may_change
            )
        worth = np.full((len(self.histograms), 4 if self.kind == ABSTAINING else 1, data.offsets[-1]), np.inf)
        for own, histograms in zip(worth, self.histograms, strict=True):
            features = data.n_bins, data.categorical, data.offsets, 0, len(data.n_bins)
            score_histograms(histograms, *features, self.kind, self.room, own)
        return best_test(worth.sum(axis=0), self.kind, data.offsets)

    def sides(self, test: SharedTest) -> Array:
        """Return the weights (3, 2, L) on the left, on the right and missing, of positive and of negative pairs."""
        found, question = np.empty((len(self.histograms), 3, 2, LANES)), question_of(self.binned, test)
        for own, histograms in zip(found, self.histograms, strict=True):
            weigh_sides(histograms[test.feature], *question[1:], self.room, own)
        return np.concatenate(list(found), axis=2)[:, :, : self.L]

    def reweight(self, test: SharedTest, factors: Array) -> None:
        """Multiply the pair weights by factors[side, sign, column], when they are read next."""
        by = np.zeros((3, 2, len(self.histograms) * LANES))
        by[:, :, : self.L] = factors
        self.due = question_of(self.binned, test), by


def column_weights(
    binned: Binned | BinnedBlocks, y: Rows, signed: Array, weight: Array, kind: int, run: Run
) -> ColumnWeights | ColumnWeightsOnBlocks:
    """Return the weights of all pairs of rows in memory or in blocks."""
    if isinstance(binned, BinnedBlocks):
        return ColumnWeightsOnBlocks(binned, y, signed, weight, kind, run)
    return ColumnWeights(binned, y, signed, weight, kind, run)


def _weighed_pairs(
    parts: list[Codes], y: Rows, weight: Array, rows: Rows | None, signed: Array
) -> Iterator[WeighedPairs]:
    """Cut the rows of a block, which all take part, into pieces of `BLOCK_ROWS` rows, sorted by class."""
    (part,), y, step = parts, y.astype(np.intp, copy=False), stumps.BLOCK_ROWS
    for start in range(0, len(y), step):
        own = start + np.argsort(y[start : start + step], kind="stable")
        classes = y[own]
        V = aligned_zeros(*lane_blocks(len(own), signed.shape[1]))
        for block, columns in zip(V, np.array_split(signed, range(LANES, signed.shape[1], LANES), axis=1), strict=True):
            np.multiply(columns[classes], weight[own, None], out=block[:, : columns.shape[1]])
        starts = np.append(np.flatnonzero(np.diff(classes, prepend=-1) != 0), len(own))
        yield WeighedPairs(part.X[own], starts, V)


def _weight_and_count(piece: WeighedPairs) -> Sums:
    return np.array(sum(np.abs(V).sum() for V in piece.V)), np.array(np.count_nonzero(piece.V))


def _divided(piece: WeighedPairs, by: float) -> WeighedPairs:
    return replace(piece, V=piece.V / by)


def _histograms(piece: WeighedPairs, n_bins: NDArray[np.int64]) -> Sums:
    """(blocks of columns, d, bins, 2·LANES): the weights of both signs in each bin, of each lane."""
    room, d = make_histogram_room(n_bins)[1], len(n_bins)
    tile, widest, width = room.histogram.shape
    found = aligned_zeros(len(piece.V), d, widest, width)
    for block, histograms in enumerate(found):
        for first in range(0, d, tile):
            last = min(first + tile, d)
            fill_histograms(piece.part(block), first, last, histograms[first:last], room.of_block, room.of_class)
    return (found,)


def _reweighted(
    piece: WeighedPairs, n_bins: NDArray[np.int64], question: Question, factors: Array, in_place: bool
) -> tuple[WeighedPairs, Sums]:
    changed = piece if in_place else replace(piece, V=aligned_copy(piece.V))
    for block in range(len(piece.V)):
        own = aligned_zeros(3, 2, LANES)
        own[:] = factors[:, :, block * LANES : (block + 1) * LANES]
        reweight_sides(changed.part(block), *question, own)
    return changed, _histograms(changed, n_bins)
