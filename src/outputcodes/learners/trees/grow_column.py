"""The growth of a tree for one column of a code, on binned features.

Example i has weight |signed[i]| for its sign. The cost of a region with weights p and m of the two signs is, up to a
factor, the minimum over f of p L(f) + m L(-f) for a margin loss L:

    GINI            2 p m / (p + m)                                squared loss      f = (p - m) / (p + m)
    ENTROPY         -p ln(p / (p + m)) - m ln(m / (p + m))         logistic loss     f = ½ ln(p / m)
    KEARNS_MANSOUR  2 √(p m)                                       exponential loss  f = ½ ln(p / m)

The examples of a node are rows[first:last]. The occupied bins of each feature form groups, found by a histogram or, if
there are more bins than examples, by sorting; cuts lie between groups.
"""

from __future__ import annotations

from math import log, sqrt
from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from outputcodes._ground.choosing import TIE, sorting_key
from outputcodes._histograms.costs import ENTROPY, GINI, clear, halfway, shell_sort
from outputcodes._histograms.growth import is_final, push, write_question
from outputcodes._histograms.questions import AXIS, SUBSET


class Features(NamedTuple):
    """Binned features, see `Binned`."""

    codes: NDArray[Any]
    n_bins: NDArray[np.int64]
    offsets: NDArray[np.int64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    categorical: NDArray[np.bool_]


class ColumnGrowth(NamedTuple):
    """A growing tree: weights of both signs at each node; stack of (node, first, last, depth); feature ranges.

    `heights` are the numbers of entries in use of the stack, the nodes and the pool.
    """

    counts: NDArray[np.float64]
    rows: NDArray[np.uint32]
    stack: NDArray[np.int64]
    heights: NDArray[np.int64]
    ranges: NDArray[np.float64]


class Groups(NamedTuple):
    """Work arrays: the histogram; bin and weights (p, m) of each group and of all to its right; the gap after it."""

    histogram: NDArray[np.float64]
    bins: NDArray[np.uint32]
    weights: NDArray[np.float64]
    right: NDArray[np.float64]
    keys: NDArray[np.float64]
    items: NDArray[np.uint32]
    gaps: NDArray[np.float64]
    on_left: NDArray[np.bool_]


def make_groups(n_bins: NDArray[np.int64]) -> Groups:
    """Allocate work arrays for features with `n_bins` bins."""
    widest = int(n_bins.max()) + 1
    bins, items = np.empty((2, widest), dtype=np.uint32)
    weights, right = np.empty((2, widest + 1, 2))
    histogram = np.empty((int((n_bins + 1).sum()), 2))
    keys, gaps = np.empty((2, widest))
    return Groups(histogram, bins, weights, right, keys, items, gaps, np.empty(widest, dtype=bool))


@njit(nogil=True, cache=True)
def pair_cost(p, m, criterion):  # type: ignore[no-untyped-def]
    """Return the cost of a region with weights p and m."""
    if p == 0.0 or m == 0.0:
        return 0.0
    if criterion == GINI:
        return 2.0 * p * m / (p + m)
    if criterion == ENTROPY:
        return p * log((p + m) / p) + m * log((p + m) / m)
    return 2.0 * sqrt(p * m)


@njit(nogil=True, cache=True)
def fill_histogram(features, signed, rows, first, last, histogram):  # type: ignore[no-untyped-def]
    """Set histogram[offsets[f] + b] to the weights of both signs in bin b of feature f."""
    codes, offsets = features.codes, features.offsets
    for q in range(len(histogram)):
        histogram[q, 0] = 0.0
        histogram[q, 1] = 0.0
    for p in range(first, last):
        row = rows[p]
        weight, sign = abs(signed[row]), int(signed[row] < 0.0)
        for f in range(codes.shape[1]):
            histogram[offsets[f] + codes[row, f], sign] += weight


@njit(nogil=True, cache=True)
def group_histogram(features, f, groups):  # type: ignore[no-untyped-def]
    """Find the occupied bins of feature f from the histogram; return their number."""
    count, start = 0, features.offsets[f]
    for b in range(features.n_bins[f] + 1):
        p, m = groups.histogram[start + b, 0], groups.histogram[start + b, 1]
        if p + m > 0.0:
            groups.bins[count] = b
            groups.weights[count, 0], groups.weights[count, 1] = p, m
            count += 1
    return count


@njit(nogil=True, cache=True)
def group_sorted(features, f, signed, rows, first, last, groups):  # type: ignore[no-untyped-def]
    """Find the occupied bins of feature f by sorting; return their number."""
    n = last - first
    for p in range(n):
        row = rows[first + p]
        groups.keys[p], groups.items[p] = features.codes[row, f], row
    shell_sort(groups.keys, groups.items, n)
    count = 0
    for p in range(n):
        if p == 0 or groups.keys[p] > groups.keys[p - 1]:
            groups.bins[count] = int(groups.keys[p])
            clear(groups.weights[count])
            count += 1
        weight = signed[groups.items[p]]
        groups.weights[count - 1, int(weight < 0.0)] += abs(weight)
    return count


@njit(nogil=True, cache=True)
def sort_by_share(count, groups):  # type: ignore[no-untyped-def]
    """Sort the groups by their share of the positive sign."""
    bins, weights, right, keys, items = groups.bins, groups.weights, groups.right, groups.keys, groups.items
    for g in range(count):
        p, m = weights[g, 0], weights[g, 1]
        keys[g], items[g] = sorting_key(p / (p + m)), g
        right[g, 0], right[g, 1] = p, m
    shell_sort(keys, items, count)
    for g in range(count):
        keys[g] = bins[items[g]]
        weights[g, 0], weights[g, 1] = right[items[g], 0], right[items[g], 1]
    for g in range(count):
        bins[g] = int(keys[g])


@njit(nogil=True, cache=True)
def range_of(features, f, count, groups):  # type: ignore[no-untyped-def]
    """Return the range of the values of feature f, or 1 if it is 0."""
    last = count - 2 if groups.bins[count - 1] == features.n_bins[f] else count - 1
    start = features.offsets[f]
    length = features.high[start + groups.bins[last]] - features.low[start + groups.bins[0]]
    return length if length > 0.0 else 1.0


@njit(nogil=True, cache=True)
def find_gaps(features, f, present, groups):  # type: ignore[no-untyped-def]
    """Set groups.gaps[g] to the gap from group g to the next; 0 between categories and before missing values."""
    start = features.offsets[f]
    for g in range(present):
        groups.gaps[g] = 0.0
    if not features.categorical[f]:
        for g in range(present - 1):
            above, below = features.low[start + groups.bins[g + 1]], features.high[start + groups.bins[g]]
            groups.gaps[g] = above - below


@njit(nogil=True, cache=True)
def cut_groups(present, count, missing_left, criterion, tie, gap_tie, groups):  # type: ignore[no-untyped-def]
    """Return (cost, cut, gap) of the cheapest split into groups[:cut] and groups[cut:present].

    The groups from `present` on join one side. Among equal cuts the first with the widest gap wins, as in `best_cut`.
    """
    weights, right = groups.weights, groups.right
    p, m = 0.0, 0.0
    if not missing_left and present < count:
        p, m = weights[present, 0], weights[present, 1]
    right[present, 0], right[present, 1] = p, m
    for g in range(present - 1, 0, -1):
        p += weights[g, 0]
        m += weights[g, 1]
        right[g, 0], right[g, 1] = p, m
    p, m, last = 0.0, 0.0, present - 1
    if present < count:
        if missing_left:
            p, m = weights[present, 0], weights[present, 1]
        else:
            last = present
    least, cut, widest = np.inf, 0, 0.0
    for g in range(last):
        p += weights[g, 0]
        m += weights[g, 1]
        cost = pair_cost(p, m, criterion) + pair_cost(right[g + 1, 0], right[g + 1, 1], criterion)
        if cost < least - tie or (cost <= least + tie and groups.gaps[g] > widest + gap_tie):
            least, cut, widest = min(cost, least), g + 1, groups.gaps[g]
    return least, cut, widest


@njit(nogil=True, cache=True)
def consider_groups(features, f, count, scale, criterion, tie, groups, choice):  # type: ignore[no-untyped-def]
    """Store the best cut of feature f if it is better than the choice; the pool then has the bins on the left."""
    n_bins, start, categorical = features.n_bins[f], features.offsets[f], features.categorical[f]
    missing = groups.bins[count - 1] == n_bins
    present = count - 1 if missing and not categorical else count
    if categorical:
        sort_by_share(count, groups)
    find_gaps(features, f, present, groups)
    for missing_left in range(2 if present < count else 1):
        cost, cut, gap = cut_groups(present, count, missing_left == 1, criterion, tie, TIE * scale, groups)
        gap /= scale
        if cost >= choice.numbers[0] - tie and (cost > choice.numbers[0] + tie or gap <= choice.numbers[2] + TIE):
            continue
        choice.numbers[0], choice.numbers[2] = min(cost, choice.numbers[0]), gap
        choice.which[0], choice.which[1] = SUBSET if categorical else AXIS, f
        choice.which[2] = missing_left if present < count else -1
        choice.which[3] = count if categorical else cut
        for g in range(choice.which[3]):
            choice.pool[g] = groups.bins[g]
        if categorical:
            choice.numbers[1] = cut
        elif cut == present:
            choice.numbers[1] = np.inf
        else:
            below, above = start + groups.bins[cut - 1], start + groups.bins[cut]
            choice.numbers[1] = halfway(features.high[below], features.low[above])


@njit(nogil=True, cache=True)
def read_choice(features, groups, choice):  # type: ignore[no-untyped-def]
    """Set groups.on_left[b] for each bin b, and replace the choice's bins by the numbers of the question."""
    f, length = choice.which[1], choice.which[3]
    n_bins, start = features.n_bins[f], features.offsets[f]
    for b in range(n_bins + 1):
        groups.on_left[b] = False
    if choice.which[0] == AXIS:
        for g in range(length):
            groups.on_left[int(choice.pool[g])] = True
        groups.on_left[n_bins] = choice.which[2] == 1
        choice.which[3] = 0
        return
    n_left, kept = int(choice.numbers[1]), 0
    for g in range(length):
        b = int(choice.pool[g])
        groups.on_left[b] = g < n_left
        if b == n_bins:
            choice.which[2] = int(g < n_left)
            choice.numbers[1] -= g < n_left
        else:
            choice.pool[kept] = features.low[start + b]
            kept += 1
    choice.which[3] = kept


@njit(nogil=True, cache=True)
def part_column(features, signed, rules, nodes, growth, groups, choice):  # type: ignore[no-untyped-def]
    """Pop the region on top of the stack and split it by the choice."""
    counts, rows = growth.counts, growth.rows
    growth.heights[0] -= 1
    top = growth.stack[growth.heights[0]]
    node, first, last, depth = top[0], top[1], top[2], top[3]
    read_choice(features, groups, choice)
    write_question(node, nodes, growth, choice)
    left, middle = nodes.left[node], first
    clear(counts[left])
    clear(counts[left + 1])
    # The rows of each side keep their order, so that sums depend on these rows only.
    spare = np.empty(last - first, dtype=np.uint32)
    n_right = 0
    for p in range(first, last):
        row = rows[p]
        weight, sign = abs(signed[row]), int(signed[row] < 0.0)
        if groups.on_left[features.codes[row, nodes.feature[node]]]:
            counts[left, sign] += weight
            rows[middle] = row
            middle += 1
        else:
            counts[left + 1, sign] += weight
            spare[n_right] = row
            n_right += 1
    for p in range(n_right):
        rows[middle + p] = spare[p]
    if choice.which[2] < 0:
        on_left, on_right = counts[left, 0] + counts[left, 1], counts[left + 1, 0] + counts[left + 1, 1]
        nodes.missing_left[node] = on_left >= on_right - TIE * (on_left + on_right)
    if not is_final(counts[left + 1], last - middle, depth + 1, rules):
        push(growth, left + 1, middle, last, depth + 1)
    if not is_final(counts[left], middle - first, depth + 1, rules):
        push(growth, left, first, middle, depth + 1)


@njit(nogil=True, cache=True)
def grow_column(features, signed, rules, nodes, growth, groups, choice, budget):  # type: ignore[no-untyped-def]
    """Split the regions on the stack until about `budget` values have been read."""
    d, heights = len(features.n_bins), growth.heights
    while heights[0] > 0 and budget > 0:
        top = growth.stack[heights[0] - 1]
        node, first, last = top[0], top[1], top[2]
        p, m = growth.counts[node, 0], growth.counts[node, 1]
        tie = TIE * (p + m)
        choice.numbers[0], choice.numbers[2] = np.inf, 0.0
        few = (last - first) * d * 4 < len(groups.histogram)
        budget -= (last - first) * d
        if not few:
            budget -= len(groups.histogram)
            fill_histogram(features, signed, growth.rows, first, last, groups.histogram)
        for f in range(d):
            if few:
                count = group_sorted(features, f, signed, growth.rows, first, last, groups)
            else:
                count = group_histogram(features, f, groups)
            if count > 1:
                if node == 0:
                    growth.ranges[f] = range_of(features, f, count, groups)
                consider_groups(features, f, count, growth.ranges[f], rules.criterion, tie, groups, choice)
        if pair_cost(p, m, rules.criterion) - choice.numbers[0] < rules.least_gain - tie:
            heights[0] -= 1
        else:
            part_column(features, signed, rules, nodes, growth, groups, choice)
