"""A tree on rows with vectors, where the rows are in blocks: they stay there, and one place has all histograms.

That place decides as `vectors.growth` does in memory. It asks the blocks for the histograms of the smaller sides of
leaves that are to be parted, and knows which side is smaller by the counts in the histogram of the leaf. Whole numbers
add up to the same sums in any order, so that the tree is that of all rows in memory.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from outputcodes._ground.working_files import is_mapped, mapped_empty
from outputcodes._histograms.binning import Binned
from outputcodes._histograms.regions import fill, fill_four, part_own
from outputcodes._histograms.vectors.growth import (
    DEPTH,
    FIRST,
    LAST,
    N_LEAVES,
    SLOT,
    SMALL,
    TILE_WORDS,
    Grower,
    best_leaf,
    note_parts,
    search_parts,
    take_sides,
)
from outputcodes._histograms.vectors.splits import SplitRules
from outputcodes._histograms.vectors.sums import high, n_words, round_into

Floats = NDArray[np.float32]


class Question(NamedTuple):
    """Which codes of a feature go to the left in a leaf, and whether these are the smaller side."""

    leaf: int
    feature: int
    goes_left: NDArray[np.bool_]
    left: bool

    def parts_like(self, other: Question) -> bool:
        """Return whether both part the same leaf in the same way."""
        return self[:2] == other[:2] and np.array_equal(self.goes_left, other.goes_left)


class BlockGrowth(NamedTuple):
    """What pieces need to know of a tree: the features it asks about, None for all, their bins, and the units."""

    features: NDArray[np.int64] | None
    offsets: NDArray[np.int64]
    per_gradient: float
    per_curvature: float


class GrowingRows:
    """The rows of a piece in the order of the leaves that a tree has so far.

    Parameters
    ----------
    growth : BlockGrowth
    codes : ndarray of shape (n, d)
    rows : ndarray of uint32
        Those that the tree is grown on, ascending.
    G, h : ndarray of float32
        Gradients (n, m) and curvatures (n,).
    """

    def __init__(
        self, growth: BlockGrowth, codes: NDArray[Any], rows: NDArray[np.uint32], G: Floats, h: Floats
    ) -> None:
        # What lies in files does so because not all of it fits into memory.
        empty: Callable[..., NDArray[Any]] = mapped_empty if is_mapped(codes) else np.empty
        self.features = growth.features
        self.offsets, self.codes, self.words = growth.offsets, codes, empty((len(G), n_words(G.shape[1])), np.int64)
        round_into(self.words, G, h, growth.per_gradient, growth.per_curvature)
        if growth.features is not None:
            self.codes = empty((len(codes), len(growth.features)), codes.dtype)
            np.take(codes, growth.features, axis=1, out=self.codes)
        self.order, self.segments = rows.copy(), [(0, len(rows))]
        # The sides of leaves by their last questions: rows of the left, then of the right one, and where this begins.
        self._sides: dict[int, tuple[Question, NDArray[np.uint32], int]] = {}

    @property
    def n_parted(self) -> int:
        """How many leaves were parted."""
        return len(self.segments) - 1

    def serve(self, growth: BlockGrowth, partings: list[Question]) -> bool:
        """Return whether these rows may be parted further, for a tree that asks about the same features."""
        asked = [None if some is None else some.tolist() for some in (self.features, growth.features)]
        return asked[0] == asked[1] and self.n_parted <= len(partings)

    def part(self, partings: list[Question]) -> None:
        """Part leaves by the questions that come after those by which they were parted before."""
        for question in partings[self.n_parted :]:
            first, last = self.segments[question.leaf]
            own, n_left = self._parted(question)
            del self._sides[question.leaf]
            self.order[first:last] = own
            self.segments[question.leaf] = first, first + n_left
            self.segments.append((first + n_left, last))

    def histogram(self, question: Question, out: NDArray[np.int64]) -> None:
        """Set `out` to the histogram of the smaller side of a leaf."""
        own, n_left = self._parted(question)
        rows, d, width = own[:n_left] if question.left else own[n_left:], len(self.offsets) - 1, self.words.shape[1]
        edges = np.linspace(0, d, -(-len(out) // TILE_WORDS) + 1).astype(np.int64)
        for first, last in itertools.pairwise(edges.tolist()):
            (fill_four if width == 4 else fill)(self.codes, rows, self.offsets, self.words, first, last, out)

    def _parted(self, question: Question) -> tuple[NDArray[np.uint32], int]:
        known = self._sides.get(question.leaf)
        if known is None or not known[0].parts_like(question):
            own = self.order[slice(*self.segments[question.leaf])].copy()
            sides = question.goes_left.astype(np.uintp)
            n_left = int(part_own(own, np.empty_like(own), self.codes, np.uintp(question.feature), sides))
            known = self._sides[question.leaf] = question, own, n_left
        return known[1:]


class BlockGrower(Grower):
    """Grows trees on rows that are elsewhere.

    Parameters
    ----------
    data : Binned
        Without rows.
    n_rows : int
        How many rows there are elsewhere.
    ahead : int
        For so many leaves at a time histograms are asked for: for the best one and for those that are perhaps next.
    m, words, max_leaves, share, occupied :
        As for `Grower`.
    """

    def __init__(self, data: Binned, n_rows: int, ahead: int, m: int, words: int, max_leaves: int, **how: Any) -> None:
        super().__init__(data, np.zeros(0, np.intp), m, words, max_leaves, **how)
        self.n_rows, self.ahead = n_rows, ahead
        self.partings: list[Question] = []

    def growth(self, gradient_unit: float, curvature_unit: float) -> BlockGrowth:
        """Return what pieces need to know of the next tree."""
        features = None if self.n_asked == len(self.data.n_bins) else self.chosen
        return BlockGrowth(features, self.features.offsets, 1 / gradient_unit, 1 / curvature_unit)

    def grow_by(
        self,
        histograms_of: Callable[[list[Question], list[Question]], NDArray[np.int64]],
        rules: SplitRules,
        max_depth: int,
    ) -> int:
        """Grow a tree; return its number of leaves.

        `histograms_of` returns the histograms of some questions, after partings by others.
        """
        tree, m, room = self.tree, None if self.m == 6 else self.m, self.rooms[0]
        heights, leaves, n_words_in_all = tree.heights, tree.leaves, int(self.features.offsets[-1]) * len(room.total)
        self._start()
        leaves[0, LAST], self.partings = self.n_rows, []
        everything = Question(0, 0, np.ones(int(self.features.n_bins[0]) + 1, bool), True)
        known, leaf = {0: histograms_of([], [everything])[0]}, 0  # the histograms of sides that may be needed
        while True:
            if heights[SMALL] >= 0:
                tree.histograms[leaves[heights[SMALL], SLOT], :n_words_in_all] = known.pop(leaf)
                search_parts(self.features, m, rules, self.subsets, self.splits, self.cuts, tree, room)
            n_leaves = int(heights[N_LEAVES])
            leaf = -1 if n_leaves == len(leaves) else int(best_leaf(self.splits.gain, n_leaves))
            if leaf < 0:
                return n_leaves
            if leaf not in known and n_leaves + 1 < len(leaves) and leaves[leaf, DEPTH] + 1 < max_depth:
                questions = [self._question(other, rules)[0] for other in self._next_leaves(leaf, known, max_depth)]
                found = histograms_of(self.partings, questions)
                known |= {question.leaf: own for question, own in zip(questions, found, strict=True)}
            question, n_left = self._question(leaf, rules)
            self.partings.append(question)
            middle = leaves[leaf, FIRST] + n_left
            note_parts(self.features, leaf, middle, max_depth, self.subsets, self.splits, tree, room)

    def _next_leaves(self, leaf: int, known: dict[int, Any], max_depth: int) -> list[int]:
        """Return a leaf and those that will be parted after it unless its sides, or theirs, gain more."""
        n_leaves, leaves = int(self.tree.heights[N_LEAVES]), self.tree.leaves
        gains = self.splits.gain[:n_leaves]
        others = np.argsort(-gains, kind="stable")
        others = others[(gains[others] > 0) & (leaves[others, DEPTH] + 1 < max_depth) & (others != leaf)]
        most = min(self.ahead, len(leaves) - n_leaves - 1)
        return [leaf, *(other for other in others.tolist() if other not in known)][:most]

    def _question(self, leaf: int, rules: SplitRules) -> tuple[Question, int]:
        """Return the question of a leaf, and how many rows go to the left, by the histogram of the leaf."""
        m, room, tree, width = None if self.m == 6 else self.m, self.rooms[0], self.tree, len(self.rooms[0].total)
        f = int(take_sides(self.features, m, leaf, rules, self.subsets, self.splits, tree, room))
        goes_left = tree.goes_left[: self.features.n_bins[f] + 1] > 0
        bins = slice(self.features.offsets[f] * width, self.features.offsets[f + 1] * width)
        # The last entry of a vector counts rows.
        last = tree.histograms[tree.leaves[leaf, SLOT], bins].reshape(-1, width)[goes_left, -1]
        n_left = int((last if self.m % 2 else high(last)).sum())
        n_rows = int(tree.leaves[leaf, LAST] - tree.leaves[leaf, FIRST])
        return Question(leaf, f, goes_left, 2 * n_left <= n_rows), n_left
