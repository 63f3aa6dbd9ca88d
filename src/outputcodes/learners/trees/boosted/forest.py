"""The trees of all rounds: questions in one set of arrays, and a vector of values per leaf."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from outputcodes._ground.compiling import ENTRY
from outputcodes._histograms.questions import AXIS, LEAF, Nodes, empty_nodes, goes_left

Array = NDArray[np.float64]


class Leaves(NamedTuple):
    """The values of leaf l are values[starts[l] : starts[l + 1]] for the columns `where[...]`, and 0 for the others."""

    starts: NDArray[np.int64]
    where: NDArray[np.int32]
    values: NDArray[np.float32]


class TreeOfRound(NamedTuple):
    """A tree as a round keeps it.

    `leaf` is the number of the leaf at each node, or -1, `gain` that of its question; `rows` are the numbers of
    training rows in the leaves.
    """

    nodes: Nodes
    leaf: NDArray[np.int64]
    leaves: Leaves
    gain: Array
    rows: NDArray[np.int64]
    roots: NDArray[np.int64] = np.zeros(1, np.int64)


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
    rows : ndarray of shape (n_leaves,) or None
        Training rows in each leaf; None for a forest that was saved by version 0.1.
    n_features : int
    """

    nodes: Nodes
    roots: NDArray[np.int64]
    leaf: NDArray[np.int64]
    leaves: Leaves
    gain: Array
    rows: NDArray[np.int64] | None = None

    def __init__(self, base: Array, parts: Sequence[TreeOfRound | BoostedForest], n_features: int) -> None:
        """Join trees, or the trees of other forests, in their order."""
        self.base, self.n_features = base, n_features
        n_nodes = np.array([len(part.leaf) for part in parts], dtype=np.int64)
        n_leaves = np.array([len(part.leaves.starts) - 1 for part in parts], dtype=np.int64)
        n_values = np.array([len(part.leaves.values) for part in parts], dtype=np.int64)
        n_numbers = np.array([len(part.nodes.pool) for part in parts], dtype=np.int64)
        before = np.cumsum(n_nodes) - n_nodes
        roots = (part.roots + at for part, at in zip(parts, before, strict=True))
        self.roots = np.concatenate([np.zeros(0, np.int64), *roots])
        arrays = zip(*(empty_nodes(0, 0), *(part.nodes for part in parts)), strict=True)
        self.nodes = Nodes(*map(np.concatenate, arrays))
        self.nodes.left[:] += np.repeat(before, n_nodes)
        self.nodes.at[:] += np.repeat(np.cumsum(n_numbers) - n_numbers, n_nodes)
        self.leaf = np.concatenate([np.zeros(0, np.int64), *(part.leaf for part in parts)])
        self.leaf[self.leaf >= 0] += np.repeat(np.cumsum(n_leaves) - n_leaves, n_nodes)[self.leaf >= 0]
        starts = (p.leaves.starts[:-1] + at for p, at in zip(parts, np.cumsum(n_values) - n_values, strict=True))
        self.leaves = Leaves(
            np.concatenate([*starts, [n_values.sum()]]).astype(np.int64),
            np.concatenate([np.zeros(0, np.int32), *(part.leaves.where for part in parts)]),
            np.concatenate([np.zeros(0, np.float32), *(part.leaves.values for part in parts)]),
        )
        self.gain = np.concatenate([np.zeros(0), *(part.gain for part in parts)])
        rows = [part.rows for part in parts if part.rows is not None]
        self.rows = np.concatenate([np.zeros(0, np.int64), *rows]) if len(rows) == len(parts) else None

    def scores(self, X: Array) -> Array:
        """Return (n, width) scores."""
        F = np.tile(self.base, (len(X), 1))
        self._add(X, self.roots, F)
        return F

    def staged_scores(self, X: Array) -> Iterator[Array]:
        """Yield the scores after each round; the array is the same every time."""
        F = np.tile(self.base, (len(X), 1))
        for t in range(len(self.roots)):
            self._add(X, self.roots[t : t + 1], F)
            yield F

    def _add(self, X: Array, roots: NDArray[np.int64], F: Array) -> None:
        pool = self.nodes.pool if len(self.nodes.pool) else None
        add_trees(X, roots, self.nodes, pool, self.leaf, self.leaves, F)

    def first_rounds(self, n_rounds: int) -> BoostedForest:
        """Return the forest of the first trees; it shares the arrays of all."""
        first = copy.copy(self)
        first.roots = self.roots[:n_rounds]
        stop = self.roots[n_rounds] if n_rounds < len(self.roots) else len(self.leaf)
        first.nodes = Nodes(*(part if name == "pool" else part[:stop] for name, part in self.nodes._asdict().items()))
        first.leaf, first.gain = self.leaf[:stop], self.gain[:stop]
        return first

    def feature_importances(self) -> Array:
        """Return the share of each feature in what all questions gained, (d,)."""
        asked = self.nodes.kind != LEAF
        gained: Array = np.bincount(self.nodes.feature[asked], self.gain[asked], self.n_features).astype(np.float64)
        return gained / gained.sum() if gained.any() else gained

    def feature_parts(self, x: Array, direction: Array) -> Array:
        """Return (d,) how the questions about each feature change scores @ direction from the roots to the leaves of x.

        A node stands for the mean of the training rows that reached it.
        """
        n_leaves, parts = len(self.leaves.starts) - 1, np.zeros(self.n_features)
        rows = np.ones(n_leaves, np.int64) if self.rows is None else self.rows
        means, counts = np.zeros((2, len(self.leaf)))
        add_parts(x, direction, self.roots, self.nodes, self.leaf, self.leaves, rows, means, counts, parts)
        return parts


def sparse_leaves(values: NDArray[np.float32]) -> Leaves:
    """Return dense values (leaves, width) without their zeros; few of many are worth leaving out."""
    n, width = values.shape
    if np.count_nonzero(values) > values.size // 2:
        every = np.tile(np.arange(width, dtype=np.int32), n)
        return Leaves(np.arange(n + 1, dtype=np.int64) * width, every, values.ravel().copy())
    leaf, where = np.nonzero(values)
    starts = np.searchsorted(leaf, np.arange(len(values) + 1))
    return Leaves(starts.astype(np.int64), where.astype(np.int32), values[leaf, where])


@njit(**ENTRY)
def add_trees(X, roots, nodes, pool, leaf, leaves, F):  # type: ignore[no-untyped-def]
    """Add the values of the leaves that each row reaches to its scores.

    A tree serves a block of rows at a time, for which its nodes are in cache. It asks about thresholds and subsets;
    `pool` is None where there are no subsets, which are then not compiled.
    """
    n = len(X)
    for start in range(0, n, 256):
        end = start + 256 if start + 256 < n else n
        for root in roots:
            for i in range(start, end):
                node = root
                while nodes.kind[node] != LEAF:
                    value = X[i, nodes.feature[node]]
                    left = nodes.missing_left[node] if value != value else value <= nodes.threshold[node]
                    if pool is not None and nodes.kind[node] != AXIS:
                        left, at = nodes.missing_left[node], nodes.at[node]
                        for q in range(nodes.length[node]):
                            if pool[at + q] == value:
                                left = q < nodes.threshold[node]
                                break
                    node = nodes.left[node] if left else nodes.left[node] + 1
                first, last = leaves.starts[leaf[node]], leaves.starts[leaf[node] + 1]
                if last - first == F.shape[1]:
                    for c in range(F.shape[1]):
                        F[i, c] += leaves.values[first + c]
                else:
                    for q in range(first, last):
                        F[i, leaves.where[q]] += leaves.values[q]


@njit(**ENTRY)
def add_parts(x, direction, roots, nodes, leaf, leaves, rows, means, counts, parts):  # type: ignore[no-untyped-def]
    """Add the change of the mean value by each question on the paths of a row to the part of its feature.

    `means` and `counts` are room for the mean value of each node in a direction, and for its number of rows.
    """
    for node in range(len(leaf) - 1, -1, -1):  # children have larger numbers
        own, left = leaf[node], nodes.left[node]
        if own >= 0:
            counts[node], means[node] = rows[own], 0.0
            for q in range(leaves.starts[own], leaves.starts[own + 1]):
                means[node] += direction[leaves.where[q]] * leaves.values[q]
        else:
            counts[node] = counts[left] + counts[left + 1]
            total = counts[left] * means[left] + counts[left + 1] * means[left + 1]
            means[node] = total / counts[node]
    for root in roots:
        node = root
        while nodes.kind[node] != LEAF:
            child = nodes.left[node] if goes_left(x, node, nodes) else nodes.left[node] + 1
            parts[nodes.feature[node]] += means[child] - means[node]
            node = child
