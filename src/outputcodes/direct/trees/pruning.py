"""Cost-complexity pruning: the optimal prunings for all penalties per leaf, and the penalty by held-out error."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from outputcodes._ground.blocks import over_blocks
from outputcodes._ground.choosing import TIE, first_smallest
from outputcodes._ground.folds import fold_numbers
from outputcodes._histograms.questions import LEAF
from outputcodes.direct.trees.links import path_errors, weakest_links
from outputcodes.direct.trees.structure import GrownTree

Array = NDArray[np.float64]
Rows = NDArray[np.intp]


def links(tree: GrownTree) -> Array:
    """Return (n_nodes,) the α from which each node is a leaf of T(α), -1 for the leaves of the whole tree.

    T(α) is the smallest tree that minimises (share of the weight misclassified) + α · (number of leaves).
    """
    total = tree.counts[0].sum()
    link = np.empty(len(tree.counts))
    error = tree.counts.sum(axis=1) - tree.counts.max(axis=1)
    weakest_links(tree.nodes.kind != LEAF, tree.nodes.left, error, total, link)
    return np.where(link > 0, link / total, link)


def pruned(tree: GrownTree, alpha: float) -> GrownTree:
    """Return T(α); an α that differs from one of the path only by rounding is equal to it."""
    return tree.cut(links(tree) <= alpha + TIE)


def pruning_path(tree: GrownTree) -> tuple[Array, Array, Rows]:
    """Return all α at which T(α) changes, from 0, and the training error and number of leaves of each T(α)."""
    link = links(tree)
    alphas = np.unique(np.append(link[link >= 0], 0.0))
    # Node t is a leaf from its own step on, until a node above it becomes a leaf.
    steps, start = len(alphas), np.searchsorted(alphas, link)
    until = np.full(len(link), steps)
    for side in range(2):
        until[tree.nodes.left[link >= 0] + side] = start[link >= 0]
    wrong = tree.counts.sum(axis=1) - tree.counts.max(axis=1)
    errors, leaves = (
        np.cumsum(np.bincount(start, what, steps + 1) - np.bincount(until, what, steps + 1))[:-1]
        for what in (wrong, np.ones(len(link)))
    )
    return alphas, np.maximum(errors, 0.0) / tree.counts[0].sum(), leaves.astype(np.intp)


def held_out_errors(tree: GrownTree, alphas: Array, X: Array, y: Rows, weight: Array) -> Array:
    """Return the weight of the errors of each T(α), by ascending α."""
    rank = np.searchsorted(alphas + TIE, links(tree))
    wrong = np.zeros(len(alphas))
    path_errors(X, y, weight, tree.nodes, tree.labels, rank, len(alphas), wrong)
    return wrong


def cross_validated_alpha(
    tree: GrownTree,
    grow: Callable[[Rows], GrownTree],
    X: Array,
    y: Rows,
    weight: Array,
    n_folds: int,
    seed: int,
    n_jobs: int | None,
) -> tuple[float, Array]:
    """Return the α of the tree's path with the smallest held-out error, the largest in case of ties, and all errors.

    Between two of its α the tree stays the same: trees grown on parts of the data are pruned at geometric midpoints.
    """
    alphas, *_ = pruning_path(tree)
    between = np.sqrt(alphas * np.append(alphas[1:], np.inf)) if len(alphas) > 1 else alphas
    between[0] = 0.0
    fold = fold_numbers(y, n_folds, np.random.default_rng(seed))

    def errors(held: int) -> Array:
        out = fold == held
        return held_out_errors(grow(np.flatnonzero(~out)), between, X[out], y[out], weight[out])

    wrong = np.sum(over_blocks(errors, range(n_folds), n_jobs), axis=0) / weight.sum()
    last_best = len(alphas) - 1 - int(first_smallest(wrong[::-1]))
    return float(alphas[last_best]), wrong
