"""Trees as arrays: the question at each node, and the path of an example through the tree.

A node asks one question; "yes" goes to `left`, "no" to `left + 1`.

    AXIS     x_f <= threshold
    SUBSET   x_f among pool[at : at + threshold]; "no" for the rest of pool[at : at + length]
    OBLIQUE  Σ_j a_j x_j <= threshold, a = pool[at : at + length]
    SPHERE   ‖x - c‖ <= threshold, c = pool[at : at + length]; features with c_j = NaN don't count

If a value is missing or a category is new, `missing_left` determines the side.
"""

from __future__ import annotations

from math import isnan, nan, sqrt
from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

LEAF, AXIS, SUBSET, OBLIQUE, SPHERE = -1, 0, 1, 2, 3


class Nodes(NamedTuple):
    """The questions of one or several trees: one entry per node, and the `pool` of their numbers."""

    kind: NDArray[np.int8]
    feature: NDArray[np.int32]
    threshold: NDArray[np.float64]
    missing_left: NDArray[np.bool_]
    left: NDArray[np.int64]
    at: NDArray[np.int64]
    length: NDArray[np.int64]
    pool: NDArray[np.float64]


def empty_nodes(n_nodes: int, pool_size: int) -> Nodes:
    """Allocate `n_nodes` nodes, all leaves, and a pool of `pool_size` numbers."""
    return Nodes(
        np.full(n_nodes, LEAF, dtype=np.int8),
        np.zeros(n_nodes, dtype=np.int32),
        np.zeros(n_nodes),
        np.zeros(n_nodes, dtype=bool),
        np.zeros(n_nodes, dtype=np.int64),
        np.zeros(n_nodes, dtype=np.int64),
        np.zeros(n_nodes, dtype=np.int64),
        np.empty(pool_size),
    )


def trimmed(nodes: Nodes, n_nodes: int, pool_size: int) -> Nodes:
    """Return copies of the entries in use."""
    parts: list[Any] = [part[:n_nodes].copy() for part in nodes[:-1]]
    parts.append(nodes.pool[:pool_size].copy())
    return Nodes(*parts)


@njit(nogil=True, cache=True)
def projection(x, a, at, length):  # type: ignore[no-untyped-def]
    """Return Σ_j a_j x_j over the features with a non-zero coefficient."""
    total = 0.0
    for j in range(length):
        if a[at + j] != 0.0:
            total += a[at + j] * x[j]
    return total


@njit(nogil=True, cache=True)
def distance(x, centre, at, length):  # type: ignore[no-untyped-def]
    """Return ‖x - centre‖ over the features that are not NaN in the centre."""
    total = 0.0
    for j in range(length):
        if not isnan(centre[at + j]):
            total += (x[j] - centre[at + j]) ** 2
    return sqrt(total)


@njit(nogil=True, cache=True)
def goes_left(x, node, nodes):  # type: ignore[no-untyped-def]
    """Return whether an example goes to the left at a node."""
    kind, threshold, at, length = nodes.kind[node], nodes.threshold[node], nodes.at[node], nodes.length[node]
    if kind == AXIS:
        value = x[nodes.feature[node]]
    elif kind == SUBSET:
        value, category = nan, x[nodes.feature[node]]
        for q in range(length):
            if nodes.pool[at + q] == category:
                value = q + 1.0
                break
    elif kind == OBLIQUE:
        value = projection(x, nodes.pool, at, length)
    else:
        value = distance(x, nodes.pool, at, length)
    if isnan(value):
        return nodes.missing_left[node]
    return value <= threshold


@njit(nogil=True, cache=True)
def find_leaves(X, root, nodes, leaves):  # type: ignore[no-untyped-def]
    """Set leaves[i] to the leaf that example i reaches from `root`."""
    for i in range(len(X)):
        node = root
        while nodes.kind[node] != LEAF:
            node = nodes.left[node] if goes_left(X[i], node, nodes) else nodes.left[node] + 1
        leaves[i] = node
