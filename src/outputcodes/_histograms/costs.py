"""The cost of a region by the weights of its classes, and how keys are sorted.

With n_c the weight of class c in a region and n = Σ_c n_c, the costs are, from n and one statistic of the n_c,

    ERROR           n - max_c n_c
    GINI            n - Σ_c n_c² / n
    ENTROPY         n ln n - Σ_c n_c ln n_c
    KEARNS_MANSOUR  (Σ_c √n_c)² - n

They are concave, and the costs of regions are added.
"""

from __future__ import annotations

from math import isnan, log, sqrt

import numpy as np
from numba import njit

ERROR, GINI, ENTROPY, KEARNS_MANSOUR = 0, 1, 2, 3


@njit(nogil=True, cache=True)
def clear(counts):  # type: ignore[no-untyped-def]
    """Set all counts to 0."""
    for c in range(len(counts)):
        counts[c] = 0.0


@njit(nogil=True, cache=True)
def add(counts, others):  # type: ignore[no-untyped-def]
    """Add the counts of another region."""
    for c in range(len(counts)):
        counts[c] += others[c]


@njit(nogil=True, cache=True)
def term(n_c, criterion):  # type: ignore[no-untyped-def]
    """Return the contribution of a class to the statistic of its region."""
    if criterion == GINI:
        return n_c * n_c
    if criterion == ENTROPY:
        return n_c * log(n_c) if n_c > 0.0 else 0.0
    return sqrt(n_c)


@njit(nogil=True, cache=True)
def joined(counts, c, weight, criterion, statistic):  # type: ignore[no-untyped-def]
    """Add an example to a region; return the new statistic where it is cheap to compute, see `settled`."""
    old = counts[c]
    new = old + weight
    counts[c] = new
    if criterion == GINI:
        return statistic + weight * (old + new)
    if criterion == ERROR:
        return max(statistic, new)
    return statistic


@njit(nogil=True, cache=True)
def settled(counts, known, criterion, statistic):  # type: ignore[no-untyped-def]
    """Return the statistic where it needs logarithms or roots, updated from that of the `known` counts."""
    if criterion in (ENTROPY, KEARNS_MANSOUR):
        for c in range(len(counts)):
            if counts[c] != known[c]:
                statistic += term(counts[c], criterion) - term(known[c], criterion)
                known[c] = counts[c]
    return statistic


@njit(nogil=True, cache=True)
def cost_of(total, criterion, statistic):  # type: ignore[no-untyped-def]
    """Return the cost of a region with the given weight and statistic."""
    if criterion == GINI:
        return total - statistic / total
    if criterion == ERROR:
        return total - statistic
    if criterion == ENTROPY:
        return total * log(total) - statistic
    return statistic * statistic - total


@njit(nogil=True, cache=True)
def region_cost(counts, criterion):  # type: ignore[no-untyped-def]
    """Return the cost of a region with the given weight of each class."""
    total, statistic = 0.0, 0.0
    for c in range(len(counts)):
        total += counts[c]
        statistic = max(statistic, counts[c]) if criterion == ERROR else statistic + term(counts[c], criterion)
    return cost_of(total, criterion, statistic) if total > 0.0 else 0.0


@njit(nogil=True, cache=True)
def halfway(below, above):  # type: ignore[no-untyped-def]
    """Return a threshold t with below <= t < above: halfway, unless rounding prevents it."""
    middle = below + (above / 2 - below / 2)
    return middle if below <= middle < above else below


@njit(nogil=True, cache=True)
def shell_sort(keys, items, n):  # type: ignore[no-untyped-def]
    """Sort keys[:n] and their items; fast if they are nearly sorted."""
    gap = 1
    while gap < n // 3:
        gap = 3 * gap + 1
    while gap > 0:
        for p in range(gap, n):
            key, item, q = keys[p], items[p], p
            while q >= gap and keys[q - gap] > key:
                keys[q], items[q] = keys[q - gap], items[q - gap]
                q -= gap
            keys[q], items[q] = key, item
        gap //= 3


@njit(nogil=True, cache=True)
def missing_last(keys, items, n):  # type: ignore[no-untyped-def]
    """Move the missing keys behind the others, keeping the order of these; return how many are not missing."""
    present = 0
    for p in range(n):
        if not isnan(keys[p]):
            present += 1
    if present == n:
        return n
    kept, last = 0, n
    spare = items[:n].copy()
    for p in range(n):
        if isnan(keys[p]):
            last -= 1
            items[last] = spare[p]
        else:
            keys[kept], items[kept] = keys[p], spare[p]
            kept += 1
    for p in range(kept, n):
        keys[p] = np.nan
    return kept
