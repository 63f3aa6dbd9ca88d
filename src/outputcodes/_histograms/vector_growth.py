"""A tree on rows with vectors, grown leaf by leaf: the leaf whose question gains most is parted next.

The rows of leaf l are order[segments[l, 0] : segments[l, 1]]. Parting it fills the histogram of the smaller side; that
of the other side is the difference. Every feature has its own part of a histogram and its own best cut, so that threads
may share the features of large leaves, and the tree is the same for any number of them.
"""

from __future__ import annotations

import itertools
from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from outputcodes._ground.blocks import Run, serially
from outputcodes._ground.choosing import TIE
from outputcodes._histograms.binning import Binned
from outputcodes._histograms.costs import halfway
from outputcodes._histograms.questions import AXIS, SUBSET, Nodes, empty_nodes
from outputcodes._histograms.vector_splits import (
    FeatureCuts,
    LeafSplits,
    SplitRules,
    choose_feature,
    find_cuts,
    mark_subset,
)
from outputcodes._histograms.vector_sums import fill, move_sibling, n_words

# A leaf with fewer values is not worth waking threads for.
LARGE_LEAF = 1 << 19
# The bins of as many features as fit in cache, 512 KiB, are filled in one pass over the rows of a large leaf.
TILE_WORDS = 1 << 16


class BinnedFeatures(NamedTuple):
    """What the growth reads of `Binned`."""

    codes: NDArray[Any]
    n_bins: NDArray[np.int64]
    offsets: NDArray[np.int64]
    categorical: NDArray[np.bool_]


class GrowingTree(NamedTuple):
    """The state of the growth. `nodes` are (feature or -1, last code, missing on the left, left child, leaf).

    `counts` are the numbers of leaves and nodes; slots[l] says which of the histograms is that of leaf l. `parted` are
    the smaller and the larger leaf whose questions are still to be found, or -1.
    """

    order: NDArray[np.uint32]
    spare: NDArray[np.uint32]
    segments: NDArray[np.int64]
    depth: NDArray[np.int64]
    node_of: NDArray[np.int64]
    nodes: NDArray[np.int64]
    subsets: NDArray[np.bool_]
    gains: NDArray[np.float64]
    histograms: NDArray[np.int64]
    slots: NDArray[np.int64]
    counts: NDArray[np.int64]
    parted: NDArray[np.int64]


def values_above(data: Binned, rows: NDArray[np.intp]) -> NDArray[np.float64]:
    """Return the smallest value in the next bin that some of the rows occupy, for each bin; infinity if there is none.

    Thresholds lie halfway to it, so that rows that don't take part have no say.
    """
    above = np.full(int(data.offsets[-1]), np.inf)
    for f, n_bins in enumerate(data.n_bins):
        used = np.flatnonzero(np.bincount(data.codes[rows, f], minlength=n_bins)[:n_bins])
        after = np.searchsorted(used, np.arange(n_bins), side="right")
        some = np.flatnonzero(after < len(used))
        above[data.offsets[f] + some] = data.low[data.offsets[f] + used[after[some]]]
    return above


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
        above: NDArray[np.float64] | None = None,
    ) -> None:
        self.data, self.m, self.large_leaf = data, m, LARGE_LEAF
        self.above = values_above(data, rows) if above is None else above
        self.rows = rows.astype(np.uint32)
        d = len(data.n_bins)
        self.n_asked = max(1, round(share * d))
        self.chosen = np.arange(d)
        self.features = BinnedFeatures(data.codes, data.n_bins, data.offsets, data.categorical)
        # Room for the features with the most bins.
        size = int(np.sort(data.n_bins + 1)[d - self.n_asked :].sum()) * words
        n_tiles = min(self.n_asked, max(n_threads, -(-size // TILE_WORDS)))
        edges = np.linspace(0, self.n_asked, n_tiles + 1).astype(np.int64)
        self.tiles = [range(first, last) for first, last in itertools.pairwise(edges.tolist())]
        self.splits = LeafSplits(np.zeros(max_leaves), np.zeros((max_leaves, 3), np.int64))
        self.cuts = FeatureCuts(np.zeros((2, self.n_asked)), np.zeros((2, self.n_asked, 2), np.int64))
        n_nodes = 2 * max_leaves - 1
        widest = int(data.n_bins[data.categorical].max(initial=0)) + 1
        self.tree = GrowingTree(
            self.rows.copy(),
            np.empty(len(rows), np.uint32),
            np.zeros((max_leaves, 2), np.int64),
            np.zeros(max_leaves, np.int64),
            np.zeros(max_leaves, np.int64),
            np.zeros((n_nodes, 5), np.int64),
            np.zeros((n_nodes, widest), bool),
            np.zeros(n_nodes),
            np.zeros((max_leaves, size), np.int64),
            np.arange(max_leaves),
            np.zeros(2, np.int64),
            np.zeros(2, np.int64),
        )

    def ask_about(self, seed: tuple[int, ...]) -> None:
        """Draw the features that the next tree may ask about, if these are not all."""
        data = self.data
        if self.n_asked == len(data.n_bins):
            return
        rng = np.random.default_rng(seed)
        self.chosen = np.sort(rng.choice(len(data.n_bins), self.n_asked, replace=False))
        n_bins = data.n_bins[self.chosen]
        offsets = np.concatenate([[0], np.cumsum(n_bins + 1)])
        codes = np.ascontiguousarray(data.codes[:, self.chosen])
        self.features = BinnedFeatures(codes, n_bins, offsets, data.categorical[self.chosen])

    def grow(self, words: NDArray[np.int64], rules: SplitRules, max_depth: int, run: Run = serially) -> int:
        """Grow a tree for packed vectors; return its number of leaves. `tree` then holds it."""
        features, m, cuts, tree = self.features, self.m, self.cuts, self.tree
        large = self.large_leaf if len(self.tiles) > 1 else np.iinfo(np.int64).max
        start_growth(self.rows, tree)
        while go_on(features, words, m, rules, max_depth, large, self.splits, cuts, tree):
            run(lambda tile: find_in_tile(features, words, m, rules, cuts, tree, tile.start, tile.stop), self.tiles)
            choose(features, m, rules, cuts, self.splits, tree)
        return int(tree.counts[0])

    def part(self, rows: NDArray[np.uint32]) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
        """Return other rows in the order of their leaves, and the segment of each leaf."""
        order, segments = np.empty_like(rows), np.empty((len(self.tree.segments), 2), np.int64)
        part_others(self.features, rows, self.tree, order, segments)
        return order, segments

    def questions(self) -> tuple[Nodes, NDArray[np.int64], NDArray[np.float64]]:
        """Return the tree with thresholds in place of codes, the leaf of each node (-1 for none), and the gains."""
        data, tree, n_nodes = self.data, self.tree, int(self.tree.counts[1])
        length = 0
        if data.categorical.any():
            asked = self.chosen[tree.nodes[:n_nodes, 0][tree.nodes[:n_nodes, 0] >= 0]]
            length = int(data.n_bins[asked[data.categorical[asked]]].sum())
        nodes, leaf = empty_nodes(n_nodes, length), np.full(n_nodes, -1)
        bins = data.n_bins, data.offsets, data.categorical, data.low, data.high, self.above
        write_questions(tree, self.chosen, *bins, nodes, leaf)
        return nodes, leaf, tree.gains[:n_nodes].copy()


@njit(nogil=True, cache=True)
def write_questions(tree, chosen, n_bins, offsets, categorical, low, high, above, nodes, leaf):  # type: ignore[no-untyped-def]
    """Write the nodes of a grown tree, with values in place of codes."""
    used = 0
    for node in range(len(leaf)):
        asked, cut, missing_left, left, own = tree.nodes[node]
        if asked < 0:
            leaf[node] = own
            continue
        f = chosen[asked]
        nodes.feature[node], nodes.left[node], nodes.missing_left[node] = f, left, missing_left == 1
        start = offsets[f]
        if not categorical[f]:
            nodes.kind[node] = AXIS
            # After the last bin, missing values are alone on the right.
            last = above[start + cut] == np.inf
            nodes.threshold[node] = np.inf if last else halfway(high[start + cut], above[start + cut])
            continue
        nodes.kind[node], nodes.at[node], nodes.length[node] = SUBSET, used, n_bins[f]
        for side in (True, False):
            for b in range(n_bins[f]):
                if tree.subsets[node, b] == side:
                    nodes.pool[used] = low[start + b]
                    used += 1
            if side:
                nodes.threshold[node] = used - nodes.at[node]


@njit(nogil=True, cache=True)
def start_growth(rows, tree):  # type: ignore[no-untyped-def]
    """Make one leaf of all rows, whose question is still to be found."""
    tree.order[:] = rows
    tree.counts[0], tree.counts[1] = 1, 1
    for leaf in range(len(tree.slots)):
        tree.slots[leaf] = leaf
    tree.segments[0, 0], tree.segments[0, 1], tree.depth[0], tree.node_of[0] = 0, len(rows), 0, 0
    tree.nodes[0, 0], tree.nodes[0, 4] = -1, 0
    tree.parted[0], tree.parted[1] = 0, -1


@njit(nogil=True, cache=True)
def go_on(features, words, m, rules, max_depth, large, splits, cuts, tree):  # type: ignore[no-untyped-def]
    """Part leaves until all are used or no question gains anything; return False.

    Return True before that if a leaf of `large` or more values was made: `find_in_tile` and `choose` are then to find
    the questions of the leaves that were parted.
    """
    d = len(features.n_bins)
    while True:
        small = tree.parted[0]
        if small >= 0:
            if (tree.segments[small, 1] - tree.segments[small, 0]) * d >= large:
                return True
            find_in_tile(features, words, m, rules, cuts, tree, 0, d)
            choose(features, m, rules, cuts, splits, tree)
        if tree.counts[0] == len(tree.segments):
            return False
        leaf, gain = -1, 0.0
        for other in range(tree.counts[0]):
            if splits.gain[other] > gain * (1.0 + TIE):
                leaf, gain = other, splits.gain[other]
        if leaf < 0:
            return False
        part_leaf(features, m, leaf, rules, max_depth, splits, tree)


@njit(nogil=True, cache=True)
def find_in_tile(features, words, m, rules, cuts, tree, first, last):  # type: ignore[no-untyped-def]
    """Fill the histograms of the leaves that were parted for the features first..last-1, and find their best cuts."""
    small, large = tree.parted[0], tree.parted[1]
    histogram, own = tree.histograms[tree.slots[small]], tree.order[tree.segments[small, 0] : tree.segments[small, 1]]
    fill(features.codes, own, features.offsets, words, first, last, histogram)
    if len(own) >= 2 * rules.min_rows:
        find_cuts(histogram, features, m, rules, first, last, cuts.worth[0], cuts.which[0])
    if large >= 0:
        width, rest = words.shape[1], tree.histograms[tree.slots[large]]
        move_sibling(rest, histogram, features.offsets[first] * width, features.offsets[last] * width)
        find_cuts(rest, features, m, rules, first, last, cuts.worth[1], cuts.which[1])


@njit(nogil=True, cache=True)
def choose(features, m, rules, cuts, splits, tree):  # type: ignore[no-untyped-def]
    """Choose the questions of the leaves that were parted among the best cuts of the features."""
    for side in range(2):
        leaf = tree.parted[side]
        if leaf < 0:
            continue
        tree.parted[side], splits.gain[leaf] = -1, 0.0
        if tree.segments[leaf, 1] - tree.segments[leaf, 0] >= 2 * rules.min_rows:
            histogram = tree.histograms[tree.slots[leaf]]
            choose_feature(histogram, features, m, rules, cuts.worth[side], cuts.which[side], leaf, splits)


@njit(nogil=True, cache=True)
def part_rows(rows, spare, codes, f, goes_left):  # type: ignore[no-untyped-def]
    """Put the rows first whose code goes to the left; return their number.

    Which way a row goes is unpredictable, so that writing to both sides is faster than a branch.
    """
    one = np.uintp(1)
    left, right = np.uintp(0), np.uintp(0)
    for row in rows:
        rows[left] = row
        spare[right] = row
        goes = goes_left[codes[row, f]]
        left += goes
        right += one - goes
    rows[left:] = spare[:right]
    return np.int64(left)


@njit(nogil=True, cache=True)
def part_leaf(features, m, leaf, rules, max_depth, splits, tree):  # type: ignore[no-untyped-def]
    """Part a leaf by its question; the questions of both sides are then to be found, unless they are too deep."""
    which, codes, order = splits.which[leaf], features.codes, tree.order
    f, cut, side = which[0], which[1], which[2]
    missing, first, last = features.n_bins[f], tree.segments[leaf, 0], tree.segments[leaf, 1]
    node, new, child = tree.node_of[leaf], tree.counts[0], tree.counts[1]
    histogram, subset = tree.histograms[tree.slots[leaf]], tree.subsets[node]
    width = n_words(m)
    start = features.offsets[f] * width
    if side < 0:
        mark_subset(histogram, start, missing, m, cut, -1 - side, rules.l2, subset)
    goes_left = np.zeros(missing + 1, np.uintp)
    for code in range(missing + 1):
        goes_left[code] = subset[code] if side < 0 else code <= cut or (side == 1 and code == missing)
    middle = first + part_rows(order[first:last], tree.spare, codes, np.uintp(f), goes_left)
    record = tree.nodes[node]
    record[0], record[1], record[2], record[3], record[4] = f, cut, side, child, -1
    tree.gains[node], tree.gains[child], tree.gains[child + 1] = splits.gain[leaf], 0.0, 0.0
    if side < 0:
        record[2] = subset[missing]
    elif histogram[start + (missing + 1) * width - 1] == 0:
        # The last word has the count of rows: missing values that are still to come follow the larger side.
        record[2] = middle - first >= last - middle
    tree.nodes[child, 0], tree.nodes[child, 4] = -1, leaf
    tree.nodes[child + 1, 0], tree.nodes[child + 1, 4] = -1, new
    tree.counts[0], tree.counts[1] = new + 1, child + 2
    tree.segments[leaf, 1], tree.segments[new, 0], tree.segments[new, 1] = middle, middle, last
    tree.depth[leaf] += 1
    tree.depth[new] = tree.depth[leaf]
    tree.node_of[leaf], tree.node_of[new] = child, child + 1
    splits.gain[leaf], splits.gain[new] = 0.0, 0.0
    if tree.counts[0] == len(tree.segments) or tree.depth[leaf] >= max_depth:
        return
    if middle - first <= last - middle:
        # The histogram of the whole becomes that of the larger side.
        tree.slots[leaf], tree.slots[new] = tree.slots[new], tree.slots[leaf]
        tree.parted[0], tree.parted[1] = leaf, new
    else:
        tree.parted[0], tree.parted[1] = new, leaf


@njit(nogil=True, cache=True)
def part_others(features, rows, tree, order, segments):  # type: ignore[no-untyped-def]
    """Sort other rows by the leaves that they reach."""
    leaves = np.empty(len(rows), np.int64)
    segments[:] = 0
    for p in range(len(rows)):
        node = 0
        while tree.nodes[node, 0] >= 0:
            record = tree.nodes[node]
            f, code = record[0], features.codes[rows[p], record[0]]
            if features.categorical[f]:
                goes_left = tree.subsets[node, code]
            else:
                goes_left = record[2] == 1 if code == features.n_bins[f] else code <= record[1]
            node = record[3] if goes_left else record[3] + 1
        leaves[p] = tree.nodes[node, 4]
        segments[leaves[p], 1] += 1
    for leaf in range(len(segments)):
        segments[leaf, 0] = segments[leaf - 1, 1] if leaf > 0 else 0
        segments[leaf, 1] += segments[leaf, 0]
    at = segments[:, 0].copy()
    for p in range(len(rows)):
        order[at[leaves[p]]] = rows[p]
        at[leaves[p]] += 1
