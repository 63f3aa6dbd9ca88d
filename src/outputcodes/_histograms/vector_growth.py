"""A tree on rows with vectors, grown leaf by leaf: the leaf whose question gains most is parted next.

The rows of leaf l are order[segments[l, 0] : segments[l, 1]]. Parting it fills the histogram of the smaller side; that
of the other side is the difference.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from outputcodes._ground.choosing import TIE
from outputcodes._histograms.binning import Binned, midpoints
from outputcodes._histograms.questions import AXIS, LEAF, SUBSET, Nodes, empty_nodes
from outputcodes._histograms.vector_splits import (
    LeafSplits,
    SplitRules,
    VectorRoom,
    find_split,
    make_vector_room,
)
from outputcodes._histograms.vector_sums import fill, move_sibling


class BinnedFeatures(NamedTuple):
    """What the growth reads of `Binned`."""

    codes: NDArray[Any]
    n_bins: NDArray[np.int64]
    offsets: NDArray[np.int64]
    categorical: NDArray[np.bool_]


class GrowingTree(NamedTuple):
    """The state of the growth. `nodes` are (feature or -1, last code, missing on the left, left child, leaf).

    `counts` are the numbers of leaves and nodes; slots[l] says which of the histograms is that of leaf l.
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


class Grower:
    """Grows one tree after another on the same features, in the same memory."""

    def __init__(self, data: Binned, rows: NDArray[np.intp], m: int, words: int, max_leaves: int) -> None:
        self.data, self.m = data, m
        self.features = BinnedFeatures(data.codes, data.n_bins, data.offsets, data.categorical)
        self.rows = rows.astype(np.uint32)
        widest = int(data.n_bins[data.categorical].max(initial=0)) + 1
        self.splits = LeafSplits(
            np.zeros(max_leaves), np.zeros((max_leaves, 3), np.int64), np.zeros((max_leaves, widest), bool)
        )
        self.room: VectorRoom = make_vector_room(words, widest)
        n_nodes = 2 * max_leaves - 1
        self.tree = GrowingTree(
            self.rows.copy(),
            np.empty(len(rows), np.uint32),
            np.zeros((max_leaves, 2), np.int64),
            np.zeros(max_leaves, np.int64),
            np.zeros(max_leaves, np.int64),
            np.zeros((n_nodes, 5), np.int64),
            np.zeros((n_nodes, widest), bool),
            np.zeros(n_nodes),
            np.zeros((max_leaves, int(data.offsets[-1]) * words), np.int64),
            np.arange(max_leaves),
            np.zeros(2, np.int64),
        )

    def grow(self, words: NDArray[np.int64], rules: SplitRules, max_depth: int) -> int:
        """Grow a tree for packed vectors; return its number of leaves. `tree` then holds it."""
        self.tree.order[:] = self.rows
        grow_leafwise(self.features, words, self.m, rules, max_depth, self.room, self.splits, self.tree)
        return int(self.tree.counts[0])

    def part(self, rows: NDArray[np.uint32]) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
        """Return other rows in the order of their leaves, and the segment of each leaf."""
        leaves = np.empty(len(rows), np.int64)
        follow(self.features, rows, self.tree, leaves)
        last = np.cumsum(np.bincount(leaves, minlength=len(self.tree.segments)))
        order = np.argsort(leaves, kind="stable")
        return rows[order], np.stack([np.append(0, last[:-1]), last], axis=1)

    def questions(self) -> tuple[Nodes, NDArray[np.int64], NDArray[np.float64]]:
        """Return the tree with thresholds in place of codes, the leaf of each node (-1 for none), and the gains."""
        data, n_nodes = self.data, int(self.tree.counts[1])
        feature, cut, missing_left, left, leaf = self.tree.nodes[:n_nodes].T
        inner = feature >= 0
        subset = inner & data.categorical[feature]
        length = np.where(subset, data.n_bins[feature], 0)
        nodes = empty_nodes(n_nodes, int(length.sum()))
        nodes.kind[:] = np.where(inner, np.where(subset, SUBSET, AXIS), LEAF)
        nodes.feature[inner], nodes.left[:], nodes.length[:] = feature[inner], left, length
        nodes.at[:] = np.cumsum(length) - length
        at = data.offsets[feature] + cut
        axis = inner & ~subset
        last = cut == data.n_bins[feature] - 1  # missing values are alone on the right
        between = axis & ~last
        nodes.threshold[between] = midpoints(data.high[at[between]], data.low[at[between] + 1])
        nodes.threshold[axis & last] = np.inf
        nodes.missing_left[:] = missing_left == 1
        for node in np.flatnonzero(subset):
            own = self.tree.subsets[node, : data.n_bins[feature[node]]]
            values = data.low[data.offsets[feature[node]] :][: len(own)]
            nodes.pool[nodes.at[node] :][: len(own)] = np.concatenate([values[own], values[~own]])
            nodes.threshold[node] = own.sum()
        return nodes, np.where(inner, -1, leaf), self.tree.gains[:n_nodes].copy()


@njit(nogil=True, cache=True)
def grow_leafwise(features, words, m, rules, max_depth, room, splits, tree):  # type: ignore[no-untyped-def]
    """Grow until all leaves are used, or no question gains anything."""
    max_leaves, n = len(tree.segments), len(tree.order)
    tree.counts[0], tree.counts[1] = 1, 1
    for leaf in range(max_leaves):
        tree.slots[leaf] = leaf
    tree.segments[0, 0], tree.segments[0, 1], tree.depth[0], tree.node_of[0] = 0, n, 0, 0
    tree.nodes[0, 0], tree.nodes[0, 4] = -1, 0
    fill(features.codes, tree.order, features.offsets, words, tree.histograms[0])
    find_split(tree.histograms[0], features, m, 0, 0, rules, room, splits)
    while tree.counts[0] < max_leaves:
        leaf, gain = -1, 0.0
        for other in range(tree.counts[0]):
            if splits.gain[other] > gain * (1.0 + TIE):
                leaf, gain = other, splits.gain[other]
        if leaf < 0:
            return
        part_leaf(features, words, m, leaf, rules, max_depth, room, splits, tree)


@njit(nogil=True, cache=True)
def part_leaf(features, words, m, leaf, rules, max_depth, room, splits, tree):  # type: ignore[no-untyped-def]
    """Part a leaf by its question; find the questions of both sides."""
    which, codes, order = splits.which[leaf], features.codes, tree.order
    f, cut, side = which[0], which[1], which[2]
    missing, first, last = features.n_bins[f], tree.segments[leaf, 0], tree.segments[leaf, 1]
    middle, right = first, 0
    for p in range(first, last):
        row = order[p]
        code = codes[row, f]
        goes_left = splits.subset[leaf, code] if side < 0 else code <= cut or (side == 1 and code == missing)
        if goes_left:
            order[middle] = row
            middle += 1
        else:
            tree.spare[right] = row
            right += 1
    for p in range(right):
        order[middle + p] = tree.spare[p]
    node, new, child = tree.node_of[leaf], tree.counts[0], tree.counts[1]
    record = tree.nodes[node]
    record[0], record[1], record[2], record[3], record[4] = f, cut, side, child, -1
    tree.gains[node], tree.gains[child], tree.gains[child + 1] = splits.gain[leaf], 0.0, 0.0
    if side < 0:
        tree.subsets[node, :] = splits.subset[leaf]
        record[2] = splits.subset[leaf, missing]
    elif tree.histograms[tree.slots[leaf], (features.offsets[f] + missing + 1) * len(room.total) - 1] == 0:
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
    small_left = middle - first <= last - middle
    slots = tree.slots
    if small_left:
        slots[leaf], slots[new] = slots[new], slots[leaf]
    small, large = (leaf, new) if small_left else (new, leaf)
    own = order[tree.segments[small, 0] : tree.segments[small, 1]]
    fill(codes, own, features.offsets, words, tree.histograms[slots[small]])
    move_sibling(tree.histograms[slots[large]], tree.histograms[slots[small]])
    for side_of in (leaf, new):
        if tree.segments[side_of, 1] - tree.segments[side_of, 0] >= 2 * rules.min_rows:
            histogram = tree.histograms[slots[side_of]]
            find_split(histogram, features, m, side_of, tree.node_of[side_of], rules, room, splits)


@njit(nogil=True, cache=True)
def follow(features, rows, tree, leaves):  # type: ignore[no-untyped-def]
    """Set leaves[p] to the leaf that rows[p] reaches."""
    for p in range(len(rows)):
        node = 0
        while tree.nodes[node, 0] >= 0:
            f, cut, missing_left, child, _ = tree.nodes[node]
            code = features.codes[rows[p], f]
            if features.categorical[f]:
                goes_left = tree.subsets[node, code]
            else:
                goes_left = missing_left == 1 if code == features.n_bins[f] else code <= cut
            node = child if goes_left else child + 1
        leaves[p] = tree.nodes[node, 4]
