"""A grown tree: its nodes, and the weight of each class in them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from outputcodes._ground.choosing import first_largest
from outputcodes._histograms.importances import importances
from outputcodes._histograms.questions import LEAF, SUBSET, Nodes, find_leaves

Array = NDArray[np.float64]
Rows = NDArray[np.intp]


@dataclass(frozen=True)
class GrownTree:
    """The nodes of a tree, the root first and parents before children.

    Attributes
    ----------
    nodes : Nodes
        The question of each node: arrays `kind`, `feature`, `threshold`, `missing_left`, and `left`, the first of the
        two children.
    counts : ndarray of shape (n_nodes, k)
        The training weight of each class in each region.
    """

    nodes: Nodes
    counts: Array

    @property
    def n_leaves(self) -> int:
        """The number of leaves."""
        return int((self.nodes.kind == LEAF).sum())

    @property
    def probabilities(self) -> Array:
        """The share of each class in each region, (n_nodes, k)."""
        shares: Array = self.counts / self.counts.sum(axis=1, keepdims=True)
        return shares

    @property
    def labels(self) -> Rows:
        """The class with the largest weight in each region, (n_nodes,); ties go to the first class."""
        labels: Rows = first_largest(self.counts, self.counts.sum(axis=1))
        return labels

    @property
    def depths(self) -> NDArray[np.int64]:
        """The number of questions above each node, (n_nodes,)."""
        depths = np.zeros(len(self.counts), dtype=np.int64)
        for depth, level in enumerate(self._levels(self.nodes.kind != LEAF)):
            depths[level] = depth
        return depths

    def importances(self, criterion: int, n_features: int) -> Array | None:
        """Return (d,) the share of each feature in the decrease of the cost; None if a question is about several."""
        if (self.nodes.kind > SUBSET).any():
            return None
        return importances(self.nodes, self.counts, criterion, n_features)

    def leaves(self, X: Array) -> Rows:
        """Return (n,) the leaf that each example reaches."""
        found = np.empty(len(X), dtype=np.intp)
        find_leaves(np.require(X, requirements=["C", "W"]), 0, self.nodes, found)
        return found

    def cut(self, at: NDArray[np.bool_]) -> GrownTree:
        """Return the tree with the nodes `at` turned into leaves, without the nodes below them."""
        nodes = self.nodes
        inner = (nodes.kind != LEAF) & ~at
        keep = np.zeros(len(at), dtype=bool)
        for level in self._levels(inner):
            keep[level] = True
        number = np.cumsum(keep) - 1
        pieces = [
            nodes.pool[nodes.at[node] : nodes.at[node] + nodes.length[node]]
            for node in np.flatnonzero(inner & keep & (nodes.length > 0))
        ]
        inner = inner[keep]
        length = np.where(inner, nodes.length[keep], 0)
        return GrownTree(
            Nodes(
                np.where(inner, nodes.kind[keep], LEAF).astype(np.int8),
                np.where(inner, nodes.feature[keep], 0).astype(np.int32),
                np.where(inner, nodes.threshold[keep], 0.0),
                inner & nodes.missing_left[keep],
                np.where(inner, number[nodes.left[keep]], 0),
                np.cumsum(length) - length,
                length,
                np.concatenate([np.empty(0), *pieces]),
            ),
            self.counts[keep],
        )

    def _levels(self, inner: NDArray[np.bool_]) -> Iterator[Rows]:
        """Yield the levels of the tree from the root, descending from `inner` nodes only."""
        level = np.zeros(1, dtype=np.intp)
        while len(level):
            yield level
            left = self.nodes.left[level[inner[level]]]
            level = np.concatenate([left, left + 1])
