"""Weights over pairs (example, wrong class) whose rows are in blocks, and the best stump for a colouring.

A pass updates the weights and sums their histograms, another one weighs the right and the wrong predictions of the
stump. The sums over pieces of `BLOCK_ROWS` rows, in their order, are those that `PairWeights` and `StumpLearner` take
in memory.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from outputcodes._ground.blocks import Run, sum_in_order
from outputcodes._ground.choosing import TIE
from outputcodes._ground.passes import Blocks, Combination, Sums
from outputcodes._histograms import stumps
from outputcodes._histograms.binned_blocks import BinnedBlocks, Codes
from outputcodes.boosting._compiled.binary_stump import answer, edges_of_sums, sum_bins
from outputcodes.boosting._pair_rows import PairRows, first_pairs, phi_of
from outputcodes.boosting._pairs import Scale, Split
from outputcodes.boosting.binary_weak import HISTOGRAM_VALUES, BinaryStump, Coloured, best_stump

Rows = NDArray[np.intp]
Array = NDArray[np.float64]
Signs = NDArray[np.int8]

# Sums, and the largest logarithm of a mass.
ADDED, LARGEST = Combination((np.add, np.add, np.maximum)), Combination((np.add, np.maximum))


@dataclass(frozen=True)
class Due:
    """What a round does to the weights once they are read next: its colouring, its stump and its coefficient."""

    colouring: Signs
    asked: BinaryStump
    a: float
    lam: float


@dataclass(frozen=True)
class CodedPairs(PairRows):
    """Some examples with the codes of their features."""

    codes: NDArray[Any]
    columns: None = None

    def answers(self, asked: BinaryStump) -> tuple[Signs, tuple[float, float]]:
        """Return the predictions of a stump, and the weights of correct and of wrong ones."""
        h = np.empty(len(self.y), dtype=np.int8)
        return h, answer(self.codes, self.V, 0, len(h), *asked, h)


class PairStumpsOnBlocks:
    """`PairWeights` and `StumpLearner` of rows in blocks."""

    def __init__(self, binned: BinnedBlocks, y: Rows, n_classes: int, weight: Array, lam: float, run: Run) -> None:
        self.binned, self.lam, self.scale = binned, lam, Scale(n_classes, lam)
        given = y, weight / weight.sum(), np.arange(len(y))
        self.blocks: Blocks = binned.coded.labelled(*given, _coded_pairs, n_classes, lam, run=run)
        self.due: Due | None = None
        self._phi: Array | None = None

    def confusion(self) -> Array:
        """Return φ, which measures how often each class is confused."""
        if self._phi is not None:
            return self._phi
        if self.due is None:
            (found,) = self.blocks.total(_confused, self.scale.shift)
        else:
            state = self.scale.shift, self.due, self.blocks.may_change
            self.blocks, (found, largest) = self.blocks.step(_changed_and_confused, *state, combine=LARGEST)
            self._done(largest)
        self._phi = phi_of(found)
        return self._phi

    def fit(self, colouring: Signs) -> Coloured | None:
        """Return the best stump for a colouring, or None if it separates nothing or no stump has an edge."""
        data, shift, changes = self.binned, self.scale.shift, self.blocks.may_change
        state = colouring, data.n_bins, shift, self.due, changes
        self.blocks, (histograms, weights, largest) = self.blocks.step(_coloured, *state, combine=ADDED)
        self._done(largest)
        self.split = Split.of(colouring, *weights.tolist())
        if self.split.share <= TIE:
            return None
        (d, widest), edges = histograms.shape, np.empty(len(histograms))
        edges_of_sums(histograms.ravel(), data.n_bins, data.categorical, 0, d, widest, edges)
        best = best_stump(data, edges, self.split.total, histograms.__getitem__)
        if best is None:
            return None
        stump, self.asked = best
        (weights,) = self.blocks.total(_weighed, self.asked)
        return Coloured(stump, self.split.share, *(weights / self.split.total).tolist())

    def update(self, a: float) -> None:
        """Update the weights after a round with the last stump and coefficient a, when they are read next."""
        self.due, self._phi = Due(self.split.colouring, self.asked, a, self.lam), None
        self.scale.update()

    def _done(self, largest: Array) -> None:
        if self.due is not None:
            self.scale.largest, self.due = float(largest), None


def _coded_pairs(
    parts: list[Codes], y: Rows, weight: Array, rows: Rows | None, n_classes: int, lam: float
) -> Iterator[CodedPairs]:
    """Cut the rows of a block, which all take part, into pieces of `BLOCK_ROWS` rows."""
    (part,), y, step = parts, y.astype(np.intp, copy=False), stumps.BLOCK_ROWS
    for start in range(0, len(y), step):
        own = slice(start, start + step)
        yield CodedPairs(**vars(first_pairs(y[own], n_classes, weight[own], lam)), codes=part.X[own])


def _changed(piece: CodedPairs, due: Due | None, in_place: bool) -> tuple[CodedPairs, float]:
    """Do what is due; return the largest logarithm of a mass too."""
    if due is None:
        return piece, -np.inf
    changed = piece
    if not in_place:
        changed = replace(piece, own=piece.own.copy(), wrong=piece.wrong.copy(), parts=piece.parts.copy())
    h, _ = piece.answers(due.asked)
    return changed, max(changed.change(rows, due.colouring, h, due.a, due.lam) for rows in piece.stretches())


def _coloured(
    piece: CodedPairs, colouring: Signs, n_bins: NDArray[np.int64], shift: float, due: Due | None, in_place: bool
) -> tuple[CodedPairs, Sums]:
    """Do what is due and colour the classes; sum the signed weights in each bin (d, bins), and all weights."""
    piece, largest = _changed(piece, due, in_place)
    if not in_place:
        piece = replace(piece, sides=np.empty_like(piece.sides), V=np.empty_like(piece.V))
    mass, d, widest = np.empty(len(piece.y)), len(n_bins), int(n_bins.max()) + 1
    for rows in piece.stretches():
        piece.colour(rows, colouring, shift, mass)
    step, tile = len(piece.y), max(1, HISTOGRAM_VALUES // widest)
    tiles = ((first, min(first + tile, d)) for first in range(0, d, tile))
    found = [sum_bins(piece.codes, piece.V, step, *features, widest) for features in tiles]
    weights = np.array([np.abs(piece.V).sum(), mass.sum()])
    return piece, (np.concatenate(found).reshape(d, widest), weights, np.array(largest))


def _confused(piece: CodedPairs, shift: float) -> Sums:
    return (sum_in_order(piece.confuse(rows, shift) for rows in piece.stretches()),)


def _changed_and_confused(piece: CodedPairs, shift: float, due: Due, in_place: bool) -> tuple[CodedPairs, Sums]:
    piece, largest = _changed(piece, due, in_place)
    return piece, (*_confused(piece, shift), np.array(largest))


def _weighed(piece: CodedPairs, asked: BinaryStump) -> Sums:
    return (np.array(piece.answers(asked)[1]),)
