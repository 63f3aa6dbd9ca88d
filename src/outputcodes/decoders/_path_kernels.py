"""Compiled logarithms of shares and of path probabilities.

All functions add in the same order, so that a class has the same bits whether all classes are computed or a few. A
share is at most 1 and its logarithm at most 0, in floating point too: probabilities never grow along a path.
"""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(nogil=True, cache=True)
def log_shares(margins, count, temperature):  # type: ignore[no-untyped-def]
    """Return the logarithm of the softmax of the margins, divided by the temperature, of the children of each node."""
    shares = np.empty(margins.size)
    at = 0
    for m in count:
        _normalise(margins, at, at + m, temperature, 0.0, shares)
        at += m
    return shares


@njit(nogil=True, cache=True)
def log_probabilities(F, first, parent, temperature):  # type: ignore[no-untyped-def]
    """Return the logarithm of the probability of each column, the product of the shares from the root; F (n, L)."""
    n, L = F.shape
    found = np.empty((n, L))
    for i in range(n):
        for v in range(parent.size):
            above = 0.0 if parent[v] < 0 else found[i, parent[v]]
            _normalise(F[i], first[v], first[v + 1], temperature[v], above, found[i])
    return found


@njit(nogil=True, cache=True)
def _normalise(margins, begin, end, temperature, above, found):  # type: ignore[no-untyped-def]
    top = -np.inf
    for j in range(begin, end):
        found[j] = np.float64(margins[j]) / temperature
        top = max(top, found[j])
    total = 0.0
    for j in range(begin, end):
        total += np.exp(found[j] - top)
    top += np.log(total)
    for j in range(begin, end):
        found[j] = above + (found[j] - top)


@njit(nogil=True, cache=True)
def log_means(logs):  # type: ignore[no-untyped-def]
    """Return the logarithm of the mean over the first axis of exp(logs); that of one tree is unchanged."""
    trees, m = logs.shape
    found = np.empty(m)
    for j in range(m):
        top = -np.inf
        for t in range(trees):
            top = max(top, logs[t, j])
        total = 0.0
        for t in range(trees):
            total += np.exp(logs[t, j] - top)
        found[j] = min(0.0, top + (np.log(total) - np.log(np.float64(trees))))
    return found
