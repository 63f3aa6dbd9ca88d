"""The best question for a region whose rows have one of two signs and a weight, on binned features.

The cost of a region with weights p and m of the two signs is, up to a factor, the minimum over f of p L(f) + m L(-f)
for a margin loss L:

    GINI            2 p m / (p + m)                                squared loss      f = (p - m) / (p + m)
    ENTROPY         -p ln(p / (p + m)) - m ln(m / (p + m))         logistic loss     f = ½ ln(p / m)
    KEARNS_MANSOUR  2 √(p m)                                       exponential loss  f = ½ ln(p / m)

The occupied bins of each feature form groups; cuts lie between groups. Weights are whole numbers, so that what is on
the right of a cut is exactly what the left leaves.
"""

from __future__ import annotations

from math import log, sqrt
from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from outputcodes._ground.choosing import TIE, sorting_key
from outputcodes._ground.compiling import INNER
from outputcodes._histograms.costs import ENTROPY, GINI, halfway, shell_sort
from outputcodes._histograms.questions import AXIS, SUBSET


class Features(NamedTuple):
    """Binned features, see `Binned`."""

    codes: NDArray[Any]
    n_bins: NDArray[np.int64]
    offsets: NDArray[np.int64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    categorical: NDArray[np.bool_]


class Groups(NamedTuple):
    """Work arrays: bin and weights (p, m) of each group, and the gap after it.

    `left` are the weights on the left of the choice, `goes_left` the side of each bin.
    """

    bins: NDArray[np.uint32]
    weights: NDArray[np.int64]
    spare: NDArray[np.int64]
    keys: NDArray[np.float64]
    items: NDArray[np.uint32]
    gaps: NDArray[np.float64]
    left: NDArray[np.int64]
    goes_left: NDArray[np.uintp]


def make_groups(n_bins: NDArray[np.int64]) -> Groups:
    """Allocate work arrays for features with `n_bins` bins."""
    widest = int(n_bins.max()) + 1
    bins, items = np.empty((2, widest), dtype=np.uint32)
    weights, spare = np.empty((2, widest, 2), dtype=np.int64)
    keys, gaps = np.empty((2, widest))
    return Groups(bins, weights, spare, keys, items, gaps, np.zeros(2, np.int64), np.empty(widest, np.uintp))


@njit(**INNER)
def pair_cost(p, m, criterion):  # type: ignore[no-untyped-def]
    """Return the cost of a region with weights p and m."""
    if p == 0.0 or m == 0.0:
        return 0.0
    if criterion == GINI:
        return 2.0 * p * m / (p + m)
    if criterion == ENTROPY:
        return p * log((p + m) / p) + m * log((p + m) / m)
    return 2.0 * sqrt(p * m)


@njit(**INNER)
def group_histogram(features, f, histogram, groups):  # type: ignore[no-untyped-def]
    """Find the occupied bins of feature f from the histogram; return their number."""
    count, start, weights = 0, features.offsets[f], groups.weights
    for b in range(features.n_bins[f] + 1):
        p, m = histogram[2 * (start + b)], histogram[2 * (start + b) + 1]
        if p + m > 0:
            groups.bins[count] = b
            weights[count, 0], weights[count, 1] = p, m
            count += 1
    return count


@njit(**INNER)
def group_sorted(features, f, signed, rows, first, last, groups):  # type: ignore[no-untyped-def]
    """Find the occupied bins of feature f by sorting; return their number."""
    n, weights = last - first, groups.weights
    for p in range(n):
        row = rows[first + p]
        groups.keys[p], groups.items[p] = features.codes[row, f], row
    shell_sort(groups.keys, groups.items, n)
    count = 0
    for p in range(n):
        if p == 0 or groups.keys[p] > groups.keys[p - 1]:
            groups.bins[count] = int(groups.keys[p])
            weights[count, 0], weights[count, 1] = 0, 0
            count += 1
        weight = signed[groups.items[p]]
        weights[count - 1, int(weight < 0)] += abs(weight)
    return count


@njit(**INNER)
def sort_by_share(count, groups):  # type: ignore[no-untyped-def]
    """Sort the groups by their share of the positive sign."""
    bins, weights, spare, keys, items = groups.bins, groups.weights, groups.spare, groups.keys, groups.items
    for g in range(count):
        p, m = weights[g, 0], weights[g, 1]
        keys[g], items[g] = sorting_key(p / (p + m)), g
        spare[g, 0], spare[g, 1] = p, m
    shell_sort(keys, items, count)
    for g in range(count):
        keys[g] = bins[items[g]]
        weights[g, 0], weights[g, 1] = spare[items[g], 0], spare[items[g], 1]
    for g in range(count):
        bins[g] = int(keys[g])


@njit(**INNER)
def range_of(features, f, count, groups):  # type: ignore[no-untyped-def]
    """Return the range of the values of feature f, or 1 if it is 0."""
    last = count - 2 if groups.bins[count - 1] == features.n_bins[f] else count - 1
    start = features.offsets[f]
    length = features.high[start + groups.bins[last]] - features.low[start + groups.bins[0]]
    return length if length > 0.0 else 1.0


@njit(**INNER)
def find_gaps(features, f, present, groups):  # type: ignore[no-untyped-def]
    """Set groups.gaps[g] to the gap from group g to the next; 0 between categories and before missing values."""
    start = features.offsets[f]
    for g in range(present):
        groups.gaps[g] = 0.0
    if not features.categorical[f]:
        for g in range(present - 1):
            above, below = features.low[start + groups.bins[g + 1]], features.high[start + groups.bins[g]]
            groups.gaps[g] = above - below


@njit(**INNER)
def cut_groups(whole_p, whole_m, present, count, missing_left, criterion, tie, gap_tie, groups):  # type: ignore[no-untyped-def]
    """Return (cost, cut, gap) of the cheapest split into groups[:cut] and groups[cut:present].

    The groups from `present` on join one side. Among equal cuts the first with the widest gap wins, as in `best_cut`.
    """
    weights, gaps, last, p, m = groups.weights, groups.gaps, present - 1, np.int64(0), np.int64(0)
    if present < count:
        if missing_left:
            p, m = weights[present, 0], weights[present, 1]
        else:
            last = present
    least, cut, widest = np.inf, 0, 0.0
    for g in range(last):
        p += weights[g, 0]
        m += weights[g, 1]
        right_p, right_m = float(whole_p - p), float(whole_m - m)
        cost = pair_cost(float(p), float(m), criterion) + pair_cost(right_p, right_m, criterion)
        if cost < least - tie or (cost <= least + tie and gaps[g] > widest + gap_tie):
            least, cut, widest = min(cost, least), g + 1, gaps[g]
    return least, cut, widest


@njit(**INNER)
def consider_groups(features, f, whole_p, whole_m, count, scale, criterion, tie, groups, choice):  # type: ignore[no-untyped-def]
    """Store the best cut of feature f if it is better than the choice; the pool then has the bins on the left."""
    n_bins, start, categorical = features.n_bins[f], features.offsets[f], features.categorical[f]
    missing = groups.bins[count - 1] == n_bins
    present = count - 1 if missing and not categorical else count
    if categorical:
        sort_by_share(count, groups)
    find_gaps(features, f, present, groups)
    for missing_left in range(2 if present < count else 1):
        cost, cut, gap = cut_groups(
            whole_p, whole_m, present, count, missing_left == 1, criterion, tie, TIE * scale, groups
        )
        gap /= scale
        if cost >= choice.numbers[0] - tie and (cost > choice.numbers[0] + tie or gap <= choice.numbers[2] + TIE):
            continue
        choice.numbers[0], choice.numbers[2] = min(cost, choice.numbers[0]), gap
        choice.which[0], choice.which[1] = SUBSET if categorical else AXIS, f
        choice.which[2] = missing_left if present < count else -1
        choice.which[3] = count if categorical else cut
        for g in range(choice.which[3]):
            choice.pool[g] = groups.bins[g]
        for sign in range(2):
            groups.left[sign] = groups.weights[present, sign] if missing_left else 0
            for g in range(cut):
                groups.left[sign] += groups.weights[g, sign]
        if categorical:
            choice.numbers[1] = cut
        elif cut == present:
            choice.numbers[1] = np.inf
        else:
            below, above = start + groups.bins[cut - 1], start + groups.bins[cut]
            choice.numbers[1] = halfway(features.high[below], features.low[above])


@njit(**INNER)
def read_choice(features, groups, choice):  # type: ignore[no-untyped-def]
    """Set groups.goes_left[b] for each bin b, and replace the choice's bins by the numbers of the question."""
    f, length, goes_left = choice.which[1], choice.which[3], groups.goes_left
    n_bins, start = features.n_bins[f], features.offsets[f]
    for b in range(n_bins + 1):
        goes_left[b] = 0
    if choice.which[0] == AXIS:
        for g in range(length):
            goes_left[int(choice.pool[g])] = 1
        goes_left[n_bins] = choice.which[2] == 1
        choice.which[3] = 0
        return
    n_left, kept = int(choice.numbers[1]), 0
    for g in range(length):
        b = int(choice.pool[g])
        goes_left[b] = g < n_left
        if b == n_bins:
            choice.which[2] = int(g < n_left)
            choice.numbers[1] -= g < n_left
        else:
            choice.pool[kept] = features.low[start + b]
            kept += 1
    choice.which[3] = kept
