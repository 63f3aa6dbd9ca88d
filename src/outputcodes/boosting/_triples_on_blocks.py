"""Weights over triples whose rows are in blocks: one pass per round updates them, another one weighs a hypothesis.

The sums over pieces of `BLOCK_ROWS` rows, in their order, are those that `TripleWeights` takes in memory.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from outputcodes._ground.blocks import Run, sum_in_order
from outputcodes._ground.lanes import LANES, aligned_zeros
from outputcodes._ground.passes import Blocks, Sums
from outputcodes._histograms import stumps
from outputcodes._histograms.binned_blocks import BinnedBlocks, Codes
from outputcodes._histograms.stumps import Part, make_histogram_room
from outputcodes.boosting._compiled.stumps import (
    RANKING,
    fill_signed,
    reweight_triples,
    score_signed,
    sides_of_rows,
    weigh_triples,
)
from outputcodes.boosting._shared_stumps import (
    Question,
    SharedTest,
    best_test,
    lane_blocks,
    question_of,
    signed_sides,
)
from outputcodes.boosting._triples import equal_shares, stretches

Rows = NDArray[np.intp]
Array = NDArray[np.float64]
Signs = NDArray[np.int8]
# A hypothesis as it travels: what is asked; the predictions (3, k) on the left, on the right, and where it is missing.
Ranking = tuple[Question, Signs]


@dataclass(frozen=True)
class WeighedTriples:
    """Some rows, sorted by label set: codes, right labels ±1, and the factors of the weights of their triples.

    Signed weights of labels follow from these factors; they are computed when a pass needs them.
    """

    codes: NDArray[Any]
    Y: Signs
    mass: Array
    share: Array
    columns: None = None


class TripleWeightsOnBlocks:
    """`TripleWeights` of rows in blocks, with the best test for them; M has the label sets as rows, ±1."""

    def __init__(self, binned: BinnedBlocks, y: Rows, M: Signs, weight: Array, run: Run) -> None:
        self.binned, self.k = binned, M.shape[1]
        self.blocks: Blocks = binned.coded.labelled(y, weight, np.arange(len(y)), _weighed_triples, M, run=run)
        (total,) = self.blocks.total(_mass)
        self.blocks = self.blocks.through(_divided, float(total))
        self.room = make_histogram_room(binned.n_bins)[1]
        # What the last round does to the weights, once the next one reads them: nothing, before the first.
        self.due: tuple[Ranking, float, float] = (((0, 1, 0, False), np.zeros((3, self.k), dtype=np.int8)), 0.0, 1.0)
        self.histograms: Array = np.empty((0, 0, 0, 0))

    def best(self) -> SharedTest:
        """Return the test with the smallest score; among those within 1e-9, the first feature, then the first cut."""
        data = self.binned
        self.blocks, (self.histograms,) = self.blocks.step(_reweighted, data.n_bins, *self.due, self.blocks.may_change)
        worth = np.full((len(self.histograms), 1, data.offsets[-1]), np.inf)
        for own, histograms in zip(worth, self.histograms, strict=True):
            features = data.n_bins, data.categorical, data.offsets, 0, len(data.n_bins)
            score_signed(histograms, *features, self.room, own)
        return best_test(worth.sum(axis=0), RANKING, data.offsets)

    def signed_sides(self, test: SharedTest) -> Array:
        """Return the signed weights (2, k) on the left and on the right."""
        return signed_sides(self.histograms[:, test.feature], *question_of(self.binned, test)[1:])[:, : self.k]

    def weigh(self, asked: Ranking) -> tuple[float, float, float]:
        """Return the weight of the triples whose right label is ranked above, below, or equal to the wrong one."""
        (sums,) = self.blocks.total(_weighed, asked)
        better, worse, equal = sums.tolist()
        return better, worse, equal

    def reweight(self, asked: Ranking, rate: float, Z: float) -> None:
        """Multiply D(i, l0, l1) by exp(rate/2 · (h(l0) - h(l1))) / Z, when it is read next."""
        self.due = asked, rate, Z


def _weighed_triples(
    parts: list[Codes], y: Rows, weight: Array, rows: Rows | None, M: Signs
) -> Iterator[WeighedTriples]:
    """Cut the rows of a block, which all take part, into pieces of `BLOCK_ROWS` rows, sorted by label set."""
    (part,), step = parts, stumps.BLOCK_ROWS
    for start in range(0, len(y), step):
        own = start + np.argsort(y[start : start + step], kind="stable")
        Y = M[y[own]]
        yield WeighedTriples(part.X[own], Y, *equal_shares(Y, weight[own]))


def _mass(piece: WeighedTriples) -> Sums:
    return (np.array(piece.mass.sum()),)


def _divided(piece: WeighedTriples, by: float) -> WeighedTriples:
    return replace(piece, mass=piece.mass / by)


def _reweighted(
    piece: WeighedTriples, n_bins: NDArray[np.int64], asked: Ranking, rate: float, Z: float, in_place: bool
) -> tuple[WeighedTriples, Sums]:
    """Update the weights, and sum those of each label (blocks of labels, d, bins, LANES) in each bin."""
    changed = piece if in_place else replace(piece, mass=piece.mass.copy(), share=piece.share.copy())
    n, d, room = len(piece.Y), len(n_bins), make_histogram_room(n_bins)[1]
    V = aligned_zeros(*lane_blocks(*piece.Y.shape))
    reweight_triples(0, n, rate, Z, _answers(piece, asked), piece.Y, changed.share, changed.mass, V)
    tile, widest, _ = room.histogram.shape
    found = aligned_zeros(len(V), d, widest, LANES)
    for histograms, own in zip(found, V, strict=True):
        for first in range(0, d, tile):
            last, part = min(first + tile, d), Part(piece.codes, own, np.array([0, n]), np.array([0, 1]))
            fill_signed(part, first, last, histograms[first:last], room.of_block)
    return changed, (found,)


def _weighed(piece: WeighedTriples, asked: Ranking) -> Sums:
    H = _answers(piece, asked)
    parts = (weigh_triples(*rows, H, piece.Y, piece.share, piece.mass) for rows in stretches(0, len(H)))
    return (sum_in_order(parts),)


def _answers(piece: WeighedTriples, asked: Ranking) -> Signs:
    """Return the predictions (n, k) of a hypothesis."""
    question, answers = asked
    sides = np.empty(len(piece.codes), dtype=np.intp)
    sides_of_rows(piece.codes, *question, sides)
    return answers[sides]
