"""A tree on rows with vectors, grown leaf by leaf: the leaf whose question gains most is parted next.

The rows of a leaf are a segment of `order`. Parting it fills the histogram of the smaller side; that of the other side
is the difference. Every feature has its own part of a histogram and its own best cut, so that threads may share the
features of large leaves, and the tree is the same for any number of them.
"""

from __future__ import annotations

import itertools
from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from outputcodes._ground.blocks import Run, serially
from outputcodes._ground.choosing import TIE
from outputcodes._ground.compiling import ENTRY
from outputcodes._ground.lanes import aligned_zeros
from outputcodes._histograms.binning import Binned, midpoints
from outputcodes._histograms.occupied import occupied_bins, values_above, varied_features
from outputcodes._histograms.questions import AXIS, SUBSET, Nodes, empty_nodes
from outputcodes._histograms.regions import fill, fill_four, move_sibling, part_rows
from outputcodes._histograms.sampling import features_of_tree, n_sampled
from outputcodes._histograms.vectors.splits import (
    FeatureCuts,
    LeafSplits,
    SplitRules,
    find_cuts,
    make_search_room,
    mark_subset,
)

# A leaf with fewer values is not worth waking threads for.
LARGE_LEAF = 1 << 19
# The bins of as many features as fit in cache, 512 KiB, are filled in one pass over the rows of a large leaf.
TILE_WORDS = 1 << 16


class BinnedFeatures(NamedTuple):
    """What the growth reads of `Binned`; `categorical` is None if no feature is, which saves compiling."""

    codes: NDArray[Any]
    n_bins: NDArray[np.int64]
    offsets: NDArray[np.int64]
    categorical: NDArray[np.bool_] | None


# What is known of a leaf, and of the growth as a whole.
FIRST, LAST, DEPTH, NODE, SLOT = 0, 1, 2, 3, 4
N_LEAVES, N_NODES, SMALL, LARGE = 0, 1, 2, 3


class GrowingTree(NamedTuple):
    """The state of the growth. `nodes` are (feature or -1, last code, missing on the left, left child, leaf).

    `leaves` are (first and last place in `order`, depth, node, number of the histogram). `heights` are the numbers of
    leaves and nodes, and the smaller and the larger leaf whose questions are still to be found, or -1. `goes_left` is
    room for the side of each code of a feature.
    """

    order: NDArray[np.uint32]
    spare: NDArray[np.uint32]
    leaves: NDArray[np.int64]
    nodes: NDArray[np.int64]
    gains: NDArray[np.float64]
    histograms: NDArray[np.int64]
    heights: NDArray[np.int64]
    goes_left: NDArray[np.uintp]


# The nodes of a tree, the leaf at each (-1 for none), and the gains.
Questions = tuple[Nodes, NDArray[np.int64], NDArray[np.float64]]


class Grower:
    """Grows one tree after another on the same features, in the same memory."""

    def __init__(
        self,
        data: Binned,
        rows: NDArray[np.intp],
        m: int,
        words: int,
        max_leaves: int,
        *,
        share: float = 1.0,
        n_threads: int = 1,
        occupied: NDArray[np.bool_] | None = None,
    ) -> None:
        self.data, self.m, self.large_leaf = data, m, LARGE_LEAF
        occupied = occupied_bins(data.codes, rows, data.offsets) if occupied is None else occupied
        self.above, self.varied = values_above(data, occupied), varied_features(data.offsets, occupied)
        self.rows = rows.astype(np.uint32)
        d = len(data.n_bins)
        self.n_asked = d if share == 1 else n_sampled(share, len(self.varied))
        self.chosen = np.arange(d)
        self.unasked = self.chosen[:0]
        categorical = data.categorical if data.categorical.any() else None
        self.features = BinnedFeatures(data.codes, data.n_bins, data.offsets, categorical)
        # Room for the features with the most bins.
        size = int(np.sort(data.n_bins + 1)[d - self.n_asked :].sum()) * words
        n_tiles = min(self.n_asked, max(n_threads, -(-size // TILE_WORDS)))
        edges = np.linspace(0, self.n_asked, n_tiles + 1).astype(np.int64)
        self.tiles = [range(first, last) for first, last in itertools.pairwise(edges.tolist())]
        self.splits = LeafSplits(np.zeros(max_leaves), np.zeros((max_leaves, 3), np.int64))
        self.cuts = FeatureCuts(
            np.zeros((2, self.n_asked)),
            np.zeros((2, self.n_asked, 2), np.int64),
            np.zeros(2),
        )
        self.rooms = [make_search_room(words, int(data.n_bins.max()) + 1) for _ in self.tiles]
        n_nodes = 2 * max_leaves - 1
        # The categories that go to the left at each node.
        self.subsets: NDArray[np.bool_] | None = None
        if data.categorical.any():
            self.subsets = np.zeros((n_nodes, int(data.n_bins[data.categorical].max()) + 1), bool)
        self.tree = GrowingTree(
            self.rows.copy(),
            np.empty(len(rows), np.uint32),
            np.zeros((max_leaves, 5), np.int64),
            np.zeros((n_nodes, 5), np.int64),
            np.zeros(n_nodes),
            aligned_zeros(max_leaves, size, dtype=np.int64),
            np.zeros(4, np.int64),
            np.zeros(int(data.n_bins.max()) + 1, np.uintp),
        )

    def ask_about(self, seed: tuple[int, ...]) -> None:
        """Draw the features that the next tree may ask about, if these are not all, among those that vary."""
        if self.n_asked < len(self.data.n_bins):
            drawn = features_of_tree(seed, self.n_asked, len(self.varied))
            self.unasked = np.delete(self.varied, drawn)
            self._choose(self.varied[drawn])

    def ask_about_others(self) -> bool:
        """Turn to features that the tree has not asked about; return False if there are none."""
        if not len(self.unasked):
            return False
        # A tree asks about the same number of features: the last of them are filled up with others.
        others, self.unasked = self.unasked[: self.n_asked], self.unasked[self.n_asked :]
        again = np.setdiff1d(self.varied, others)[: self.n_asked - len(others)]
        self._choose(np.sort(np.concatenate([others, again])))
        return True

    def _choose(self, chosen: NDArray[np.int64]) -> None:
        data, self.chosen = self.data, chosen
        n_bins = data.n_bins[self.chosen]
        offsets = np.concatenate([[0], np.cumsum(n_bins + 1)])
        codes = np.ascontiguousarray(data.codes[:, self.chosen])
        categorical = None if self.subsets is None else data.categorical[self.chosen]
        self.features = BinnedFeatures(codes, n_bins, offsets, categorical)

    def grow(self, words: NDArray[np.int64], rules: SplitRules, max_depth: int, run: Run = serially) -> int:
        """Grow a tree for packed vectors; return its number of leaves. `tree` then holds it."""
        m, cuts, tree = None if self.m == 6 else self.m, self.cuts, self.tree  # see `find_cuts`
        tiles = list(zip(self.rooms, self.tiles, strict=True))
        where = self.features, words, m, rules, self.subsets
        large = self.large_leaf if len(self.tiles) > 1 else np.iinfo(np.int64).max
        self._start()
        while go_on(*where, max_depth, large, self.splits, cuts, tree, self.rooms[0]):
            run(lambda task: find_in_tile(*where, cuts, tree, task[0], task[1].start, task[1].stop), tiles)
            choose(rules, cuts, self.splits, tree)
        return int(tree.heights[N_LEAVES])

    def _start(self) -> None:
        """Make one leaf of all rows, whose question is still to be found."""
        tree = self.tree
        tree.order[:], tree.leaves[:], tree.leaves[:, SLOT] = self.rows, 0, np.arange(len(tree.leaves))
        tree.nodes[0], tree.leaves[0, LAST], tree.gains[:] = (-1, 0, 0, 0, 0), len(self.rows), 0.0
        tree.heights[:] = 1, 1, 0, -1

    def part(self, rows: NDArray[np.uint32]) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
        """Return other rows in the order of their leaves, and the segment of each leaf."""
        return leaves_of_rows(self.features, rows, self.subsets, self.tree.nodes, len(self.tree.leaves))

    def questions(self) -> Questions:
        """Return the tree with thresholds in place of codes, the leaf of each node (-1 for none), and the gains."""
        data, n_nodes = self.data, int(self.tree.heights[N_NODES])
        numbers, gains = self.tree.nodes[:n_nodes], self.tree.gains[:n_nodes].copy()
        asking = np.flatnonzero(numbers[:, 0] >= 0)
        asked, cut, missing_left, left, _ = numbers[asking].T
        f = self.chosen[asked]
        at = data.offsets[f] + cut
        above = self.above[at]
        length = np.where(data.categorical[f], data.n_bins[f], 0)
        nodes, leaf = empty_nodes(n_nodes, int(length.sum())), numbers[:, 4].copy()
        nodes.kind[asking], nodes.feature[asking], nodes.left[asking] = AXIS, f, left
        nodes.missing_left[asking], leaf[asking] = missing_left == 1, -1
        # After the last bin, missing values are alone on the right.
        nodes.threshold[asking] = np.where(above == np.inf, np.inf, midpoints(data.high[at], above))
        used = 0
        for q in np.flatnonzero(length):
            assert self.subsets is not None  # some feature is categorical
            node, values = asking[q], data.low[data.offsets[f[q]] :][: length[q]]
            on_left = self.subsets[node, : length[q]]
            nodes.kind[node], nodes.threshold[node] = SUBSET, on_left.sum()
            nodes.at[node], nodes.length[node] = used, length[q]
            nodes.pool[used : used + length[q]] = np.concatenate([values[on_left], values[~on_left]])
            used += length[q]
        return nodes, leaf, gains


def leaves_of_rows(
    features: BinnedFeatures,
    rows: NDArray[np.uint32],
    subsets: NDArray[np.bool_] | None,
    nodes: NDArray[np.int64],
    n_leaves: int,
) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
    """Return rows in the order of the leaves that they reach, and the segment of each leaf."""
    leaves = np.empty(len(rows), np.uint32)
    find_leaf_numbers(features, rows, subsets, nodes, leaves)
    segments = np.zeros((n_leaves, 2), np.int64)
    segments[:, 1] = np.cumsum(np.bincount(leaves, minlength=n_leaves))
    segments[1:, 0] = segments[:-1, 1]
    # NumPy sorts small types by their digits, which is faster.
    return rows[np.argsort(leaves.astype(np.min_scalar_type(n_leaves)), kind="stable")], segments


@njit(**ENTRY)
def go_on(features, words, m, rules, subsets, max_depth, large, splits, cuts, tree, room):  # type: ignore[no-untyped-def]
    """Part leaves until all are used or no question gains anything; return False.

    Return True before that if a leaf of `large` or more values was made: `find_in_tile` and `choose` are then to find
    the questions of the leaves that were parted.
    """
    d, heights, leaves, gains = len(features.n_bins), tree.heights, tree.leaves, splits.gain
    while True:
        small = heights[SMALL]
        if small >= 0:
            if (leaves[small, LAST] - leaves[small, FIRST]) * d >= large:
                return True
            find_in_tile(features, words, m, rules, subsets, cuts, tree, room, 0, d)
            choose(rules, cuts, splits, tree)
        if heights[N_LEAVES] == len(leaves):
            return False
        leaf = best_leaf(gains, heights[N_LEAVES])
        if leaf < 0:
            return False
        f = take_sides(features, m, leaf, rules, subsets, splits, tree, room)
        first, last = leaves[leaf, FIRST], leaves[leaf, LAST]
        middle = part_rows(tree.order, first, last, tree.spare, features.codes, np.uintp(f), tree.goes_left)
        note_parts(features, leaf, middle, max_depth, subsets, splits, tree, room)


@njit(**ENTRY, inline="always")
def best_leaf(gains, n_leaves):  # type: ignore[no-untyped-def]
    """Return the leaf whose question gains most, the first of equal ones; -1 if none gains anything."""
    leaf, gain = np.int64(-1), 0.0  # typed: a literal would be compiled for itself
    for other in range(n_leaves):
        if gains[other] > gain * (1.0 + TIE):
            leaf, gain = other, gains[other]  # type: ignore[assignment]
    return leaf


@njit(**ENTRY, inline="always")
def find_in_tile(features, words, m, rules, subsets, cuts, tree, room, first, last):  # type: ignore[no-untyped-def]
    """Fill the histograms of the leaves that were parted for the features first..last-1, and find their best cuts."""
    leaves, offsets, small = tree.leaves, features.offsets, tree.heights[SMALL]
    histogram, own = tree.histograms[leaves[small, SLOT]], tree.order[leaves[small, FIRST] : leaves[small, LAST]]
    if m is None:
        fill_four(features.codes, own, offsets, words, first, last, histogram)
    else:
        fill(features.codes, own, offsets, words, first, last, histogram)
    search_tile(features, m, rules, subsets, cuts, tree, room, first, last)


@njit(**ENTRY, inline="always")
def search_tile(features, m, rules, subsets, cuts, tree, room, first, last):  # type: ignore[no-untyped-def]
    """Find the best cuts of the leaves that were parted; the histogram of the smaller one is filled already."""
    leaves, histograms, offsets, width = tree.leaves, tree.histograms, features.offsets, len(room.total)
    small, large = tree.heights[SMALL], tree.heights[LARGE]
    histogram = histograms[leaves[small, SLOT]]
    for leaf in range(2):
        if leaf == 1:
            if large < 0:
                break
            whole = histograms[leaves[large, SLOT]]
            move_sibling(whole, histogram, offsets[first] * width, offsets[last] * width)
            histogram = whole
        elif leaves[small, LAST] - leaves[small, FIRST] < 2 * rules.min_rows:
            continue
        find_cuts(histogram, features, m, rules, subsets, first, last, cuts, leaf, room)


@njit(**ENTRY)
def search_parts(features, m, rules, subsets, splits, cuts, tree, room):  # type: ignore[no-untyped-def]
    """Find the questions of the leaves that were parted; the histogram of the smaller one is filled already."""
    search_tile(features, m, rules, subsets, cuts, tree, room, 0, len(features.n_bins))
    choose(rules, cuts, splits, tree)


@njit(**ENTRY, inline="always")
def choose(rules, cuts, splits, tree):  # type: ignore[no-untyped-def]
    """Make the best cuts of all features the questions of the leaves that were parted; the gain is 0 without one."""
    heights, leaves, worths, cut_of, whole = tree.heights, tree.leaves, cuts.worth, cuts.which, cuts.whole
    gains, which = splits.gain, splits.which
    for side in range(2):
        leaf = heights[SMALL + side]
        if leaf < 0:
            continue
        heights[SMALL + side], gains[leaf], which[leaf, 0] = -1, 0.0, -1
        if leaves[leaf, LAST] - leaves[leaf, FIRST] < 2 * rules.min_rows:
            continue
        best = whole[side]
        for f in range(worths.shape[1]):
            if worths[side, f] > best * (1.0 + TIE):
                best, which[leaf, 0] = worths[side, f], f
                which[leaf, 1], which[leaf, 2] = cut_of[side, f, 0], cut_of[side, f, 1]
        gains[leaf] = best - whole[side]


@njit(**ENTRY, inline="always")
def take_sides(features, m, leaf, rules, subsets, splits, tree, room):  # type: ignore[no-untyped-def]
    """Set `goes_left` to the sides of the codes by the question of a leaf; return its feature."""
    which, leaves, goes_left = splits.which, tree.leaves, tree.goes_left
    f, cut, side, node = which[leaf, 0], which[leaf, 1], which[leaf, 2], leaves[leaf, NODE]
    missing = features.n_bins[f]
    for code in range(missing):
        goes_left[code] = code <= cut
    goes_left[missing] = side == 1
    if subsets is not None and side < -1:
        histogram, start = tree.histograms[leaves[leaf, SLOT]], features.offsets[f] * len(room.total)
        mark_subset(histogram, start, missing, m, rules, cut, -2 - side, room, subsets[node])
        for code in range(missing + 1):
            goes_left[code] = subsets[node, code]
    return f


@njit(**ENTRY, inline="always")
def note_parts(features, leaf, middle, max_depth, subsets, splits, tree, room):  # type: ignore[no-untyped-def]
    """Note that a leaf was parted; the questions of both sides are then to be found, unless they are too deep.

    Missing values and known categories that the leaf has no rows of follow the larger side; new categories are
    treated as missing.
    """
    which, gains, leaves, nodes, heights = splits.which, splits.gain, tree.leaves, tree.nodes, tree.heights
    f, cut, side = which[leaf, 0], which[leaf, 1], which[leaf, 2]
    missing, first, last = features.n_bins[f], leaves[leaf, FIRST], leaves[leaf, LAST]
    node, slot, new, child = leaves[leaf, NODE], leaves[leaf, SLOT], heights[N_LEAVES], heights[N_NODES]
    histogram, width, offset = tree.histograms[slot], len(room.total), features.offsets[f]
    n_left, n_right = middle - first, last - middle
    # The last word of a bin has the count of its rows.
    missing_left = tree.goes_left[missing] != 0
    if histogram[(offset + missing + 1) * width - 1] == 0:
        missing_left = n_left >= n_right
    if subsets is not None and side < -1:
        for code in range(missing + 1):
            if histogram[(offset + code + 1) * width - 1] == 0:
                subsets[node, code] = n_left >= n_right
    nodes[node, 0], nodes[node, 1], nodes[node, 2], nodes[node, 3], nodes[node, 4] = f, cut, missing_left, child, -1
    tree.gains[node] = gains[leaf]
    heights[N_LEAVES], heights[N_NODES] = new + 1, child + 2
    for p in range(2):
        own = new if p else leaf
        nodes[child + p, 0], nodes[child + p, 4], leaves[own, NODE], gains[own] = -1, own, child + p, 0.0
    leaves[leaf, LAST], leaves[new, FIRST], leaves[new, LAST] = middle, middle, last
    leaves[leaf, DEPTH] += 1
    leaves[new, DEPTH] = leaves[leaf, DEPTH]
    if new + 1 < len(leaves) and leaves[leaf, DEPTH] < max_depth:
        small, large = (leaf, new) if n_left <= n_right else (new, leaf)
        heights[SMALL], heights[LARGE] = small, large
        # The histogram of the whole becomes that of the larger side.
        leaves[small, SLOT], leaves[large, SLOT] = leaves[new, SLOT], slot


@njit(**ENTRY)
def find_leaf_numbers(features, rows, subsets, nodes, leaves):  # type: ignore[no-untyped-def]
    """Set leaves[p] to the leaf that rows[p] reaches, by its codes."""
    for p in range(len(rows)):
        node = 0
        while nodes[node, 0] >= 0:
            f = nodes[node, 0]
            code = features.codes[rows[p], f]
            left = nodes[node, 2] == 1 if code == features.n_bins[f] else code <= nodes[node, 1]
            if subsets is not None and features.categorical[f]:
                left = subsets[node, code]
            node = nodes[node, 3] if left else nodes[node, 3] + 1
        leaves[p] = nodes[node, 4]
