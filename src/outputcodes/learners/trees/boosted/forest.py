"""The trees of all rounds: questions in one set of arrays, and a vector of values per leaf."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from outputcodes._histograms.questions import AXIS, LEAF, Nodes, empty_nodes, goes_left

Array = NDArray[np.float64]


class Leaves(NamedTuple):
    """The values of leaf l are values[starts[l] : starts[l + 1]] for the columns `where[...]`, and 0 for the others."""

    starts: NDArray[np.int64]
    where: NDArray[np.int32]
    values: NDArray[np.float32]


class TreeOfRound(NamedTuple):
    """A tree as a round keeps it; `leaf` is the number of the leaf at each node, or -1; `gain` that of its question."""

    nodes: Nodes
    leaf: NDArray[np.int64]
    leaves: Leaves
    gain: Array


class BoostedForest:
    """Adds up the values of the leaves that a row reaches.

    Attributes
    ----------
    base : ndarray of shape (width,)
        The scores before the first round.
    nodes : Nodes
    roots : ndarray of shape (T,)
    leaf : ndarray of shape (n_nodes,)
        The number of the leaf at each node, counted over all trees; -1 for a question.
    leaves : Leaves
    gain : ndarray of shape (n_nodes,)
        What each question gained.
    n_features : int
    """

    def __init__(self, base: Array, trees: Sequence[TreeOfRound], n_features: int) -> None:
        self.base, self.n_features = base, n_features
        n_nodes = np.array([len(tree.leaf) for tree in trees], dtype=np.int64)
        n_leaves = np.array([len(tree.leaves.starts) - 1 for tree in trees], dtype=np.int64)
        n_values = np.array([len(tree.leaves.values) for tree in trees], dtype=np.int64)
        n_numbers = np.array([len(tree.nodes.pool) for tree in trees], dtype=np.int64)
        self.roots = np.cumsum(n_nodes) - n_nodes
        parts = zip(*(empty_nodes(0, 0), *(tree.nodes for tree in trees)), strict=True)
        self.nodes = Nodes(*map(np.concatenate, parts))
        self.nodes.left[:] += np.repeat(self.roots, n_nodes)
        self.nodes.at[:] += np.repeat(np.cumsum(n_numbers) - n_numbers, n_nodes)
        self.leaf = np.concatenate([np.zeros(0, np.int64), *(tree.leaf for tree in trees)])
        self.leaf[self.leaf >= 0] += np.repeat(np.cumsum(n_leaves) - n_leaves, n_nodes)[self.leaf >= 0]
        shift = np.cumsum(n_values) - n_values
        starts = (tree.leaves.starts[:-1] + at for tree, at in zip(trees, shift, strict=True))
        self.leaves = Leaves(
            np.concatenate([*starts, [n_values.sum()]]).astype(np.int64),
            np.concatenate([np.zeros(0, np.int32), *(tree.leaves.where for tree in trees)]),
            np.concatenate([np.zeros(0, np.float32), *(tree.leaves.values for tree in trees)]),
        )
        self.gain = np.concatenate([np.zeros(0), *(tree.gain for tree in trees)])

    def scores(self, X: Array) -> Array:
        """Return (n, width) scores."""
        F = np.tile(self.base, (len(X), 1))
        add_trees(X, self.roots, self.nodes, self.leaf, self.leaves, F)
        return F

    def staged_scores(self, X: Array) -> Iterator[Array]:
        """Yield the scores after each round; the array is the same every time."""
        F = np.tile(self.base, (len(X), 1))
        for t in range(len(self.roots)):
            add_trees(X, self.roots[t : t + 1], self.nodes, self.leaf, self.leaves, F)
            yield F

    def feature_importances(self) -> Array:
        """Return the share of each feature in what all questions gained, (d,)."""
        asked = self.nodes.kind != LEAF
        gained: Array = np.bincount(self.nodes.feature[asked], self.gain[asked], self.n_features).astype(np.float64)
        return gained / gained.sum() if gained.any() else gained


def sparse_leaves(values: NDArray[np.float32]) -> Leaves:
    """Return dense values (leaves, width) without their zeros."""
    leaf, where = np.nonzero(values)
    starts = np.searchsorted(leaf, np.arange(len(values) + 1))
    return Leaves(starts.astype(np.int64), where.astype(np.int32), values[leaf, where])


@njit(nogil=True, cache=True)
def add_trees(X, roots, nodes, leaf, leaves, F):  # type: ignore[no-untyped-def]
    """Add the values of the leaves that each row reaches to its scores.

    A tree serves a block of rows at a time, for which its nodes are in cache.
    """
    for start in range(0, len(X), 256):
        for root in roots:
            for i in range(start, min(start + 256, len(X))):
                node = root
                while nodes.kind[node] != LEAF:
                    if nodes.kind[node] == AXIS:
                        value = X[i, nodes.feature[node]]
                        left = nodes.missing_left[node] if value != value else value <= nodes.threshold[node]
                    else:
                        left = goes_left(X[i], node, nodes)
                    node = nodes.left[node] if left else nodes.left[node] + 1
                at = leaf[node]
                for q in range(leaves.starts[at], leaves.starts[at + 1]):
                    F[i, leaves.where[q]] += leaves.values[q]
