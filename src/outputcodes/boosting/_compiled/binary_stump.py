"""The decision stump of least weighted error on binned features, for one round of boosting.

V[i] is the sign s_i = ±1 of example i times its weight. A stump tests whether the code of feature f is below `cut`
(categorical: equal to cut - 1; cut = 0: never). It returns `polarity` if so, -polarity if not, and 0 if the value is
missing. Its edge, Σ_i V[i] h(x_i), is the weight of its correct predictions minus the weight of its errors. Abstentions
count half as errors, so the smallest error is the largest edge. Freund & Schapire (1997).
"""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(nogil=True, cache=True)
def sum_bins(codes, V, step, first, last, widest):  # type: ignore[no-untyped-def]
    """Return the sums of V in the bins of features first..last-1, `widest` each, over pieces of `step` rows in turn."""
    size = (last - first) * widest
    total = np.zeros(size)
    more = np.empty(size if len(codes) > step else 0)
    for start in range(0, len(codes), step):
        sums = total if start == 0 else more
        if start > 0:
            more[:] = 0.0
        own, weights = codes[start : start + step, first:last], V[start : start + step]
        for i in range(len(own)):
            v = weights[i]
            for f in range(last - first):
                sums[f * widest + own[i, f]] += v
        if start > 0:
            for q in range(size):
                total[q] += more[q]
    return total


@njit(nogil=True, cache=True)
def largest_edge(histogram, bins, categorical):  # type: ignore[no-untyped-def]
    """Return the largest |edge| over the cuts of a feature, from the sums of V in its bins."""
    total = 0.0
    for b in range(bins):
        total += histogram[b]
    best, left = abs(total), 0.0
    for b in range(bins):
        left = histogram[b] if categorical else left + histogram[b]
        best = max(best, abs(2.0 * left - total))
    return best


@njit(nogil=True, cache=True)
def edges_of_sums(sums, n_bins, categorical, first, last, widest, edges):  # type: ignore[no-untyped-def]
    """Write edges[f], the largest |edge| of a stump on feature f, for first <= f < last."""
    for f in range(first, last):
        start = (f - first) * widest
        edges[f] = largest_edge(sums[start : start + widest], n_bins[f], categorical[f])


@njit(nogil=True, cache=True)
def largest_edges(codes, V, step, n_bins, categorical, first, last, edges):  # type: ignore[no-untyped-def]
    """Write edges[f], the largest |edge| of a stump on feature f, for first <= f < last."""
    widest = 0
    for f in range(first, last):
        widest = max(widest, n_bins[f] + 1)
    sums = sum_bins(codes, V, step, first, last, widest)
    edges_of_sums(sums, n_bins, categorical, first, last, widest, edges)


@njit(nogil=True, cache=True)
def first_cut(histogram, bins, categorical, enough):  # type: ignore[no-untyped-def]
    """Return (cut, polarity) of the first stump on a feature whose edge is at least `enough`."""
    total = 0.0
    for b in range(bins):
        total += histogram[b]
    left = 0.0
    for cut in range(bins + 1):
        if cut > 0:
            left = histogram[cut - 1] if categorical else left + histogram[cut - 1]
        edge = 2.0 * left - total
        if edge >= enough:
            return cut, 1
        if -edge >= enough:
            return cut, -1
    return 0, 1


@njit(nogil=True, cache=True)
def answer(codes, V, first, last, f, bins, categorical, cut, polarity, h):  # type: ignore[no-untyped-def]
    """Write the predictions h[i], -1, 0 or +1, of a stump; return the weights of correct and of wrong ones.

    For rows first..last-1.
    """
    low = max(cut - 1, 0) if categorical else 0
    right, wrong = 0.0, 0.0
    own, weights, answers = codes[first:last, f], V[first:last], h[first:last]
    for i in range(len(own)):
        b = own[i]
        answers[i] = 0 if b == bins else (polarity if low <= b < cut else -polarity)
        agreement = weights[i] * answers[i]
        right += max(agreement, 0.0)
        wrong += max(-agreement, 0.0)
    return right, wrong
