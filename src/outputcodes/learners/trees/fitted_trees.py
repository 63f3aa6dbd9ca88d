"""Fitted columns of trees: the margins of a column are the outputs of one tree."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_array

from outputcodes._histograms.binned_blocks import BinnedBlocks
from outputcodes._histograms.binning import Binned
from outputcodes._histograms.importances import importances
from outputcodes._histograms.questions import LEAF, Nodes, find_leaves, goes_left
from outputcodes.learners.base import Certificate, FittedColumns

Rows = NDArray[np.intp]
Array = NDArray[np.float64]


class FittedTrees(FittedColumns):
    """One tree per column.

    Attributes
    ----------
    nodes : Nodes
        The questions of all trees, one tree after another, parents before children.
    roots : ndarray of shape (L,)
        The index of the root of each tree.
    weights : ndarray of shape (n_nodes, 2)
        The training weight of the positive and of the negative examples in each node.
    answers : ndarray of shape (n_nodes,)
        The margin that each node returns.
    n_features : int
    criterion : int
        The number of the criterion that the trees were grown with.
    certificate : None
        There is no iterative solver.
    """

    certificate: Certificate | None = None

    def __init__(
        self, nodes: Nodes, roots: Rows, weights: Array, answers: Array, n_features: int, criterion: int
    ) -> None:
        self.nodes = nodes
        self.roots = roots
        self.weights = weights
        self.answers = answers
        self.n_features = n_features
        self.criterion = criterion

    @property
    def n_leaves(self) -> Rows:
        """The number of leaves of each tree, (L,)."""
        leaves: Rows = np.add.reduceat(self.nodes.kind == LEAF, self.roots, dtype=np.intp)
        return leaves

    def feature_importances(self) -> Array:
        """Return the share of each feature in the decrease of the loss by the questions of all trees, (d,)."""
        return importances(self.nodes, self.weights, self.criterion, self.n_features)

    def feature_parts(self, x: Array, direction: Array) -> Array:
        """Return (d,) how the questions about each feature change the output from the root to the leaf of x."""
        parts, nodes = np.zeros(self.n_features), self.nodes
        for root, weight in zip(self.roots, direction, strict=True):
            node = int(root)
            while weight and nodes.kind[node] != LEAF:
                child = int(nodes.left[node]) + (not goes_left(x, node, nodes))
                parts[nodes.feature[node]] += weight * (self.answers[child] - self.answers[node])
                node = child
        return parts

    def margins(self, X: Any, rows: Rows | None = None) -> Array:
        """Return (n, L) margins of X, or of some rows of prepared data."""
        if isinstance(X, BinnedBlocks):
            return X.stored.each_row(rows, len(self.roots), self._answers)
        if isinstance(X, Binned):
            X = X.X
        else:
            X = check_array(X, dtype=np.float64, order="C", ensure_all_finite="allow-nan")
            if X.shape[1] != self.n_features:
                raise ValueError(f"X has {X.shape[1]} features, but the trees were trained on {self.n_features}.")
        return self._answers(X if rows is None else X[rows])

    def _answers(self, X: Array) -> Array:
        X = np.require(X, requirements=["C", "W"])
        F = np.empty((len(X), len(self.roots)))
        leaves = np.empty(len(X), dtype=np.intp)
        for j, root in enumerate(self.roots):
            find_leaves(X, root, self.nodes, leaves)
            F[:, j] = self.answers[leaves]
        return F
