"""What each feature contributes to the growth of trees."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from outputcodes._histograms.costs import region_cost
from outputcodes._histograms.questions import LEAF, Nodes

Array = NDArray[np.float64]


def shares(total: Array) -> Array:
    """Return nonnegative numbers divided by their sum; all 0 stay 0."""
    whole = total.sum()
    return total / whole if whole > 0 else total


def importances(nodes: Nodes, counts: Array, criterion: int, n_features: int) -> Array:
    """Return the share of each feature in the decrease of the cost by all questions, each about one feature.

    `counts` (n_nodes, k) holds the weight of each class in each region.
    """
    gains = np.zeros(n_features)
    _add_gains(nodes.kind, nodes.feature, nodes.left, counts, criterion, gains)
    # Rounding can make the gain of a question that changes nothing negative.
    return shares(np.maximum(gains, 0.0))


@njit(nogil=True, cache=True)
def _add_gains(kind, feature, left, counts, criterion, gains):  # type: ignore[no-untyped-def]
    for node in range(len(kind)):
        if kind[node] != LEAF:
            below = region_cost(counts[left[node]], criterion) + region_cost(counts[left[node] + 1], criterion)
            gains[feature[node]] += region_cost(counts[node], criterion) - below
