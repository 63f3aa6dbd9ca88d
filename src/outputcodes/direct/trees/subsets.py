"""The best question for a region about one categorical feature: which of its categories go to the left.

With up to `EXHAUSTIVE` categories every subset is tried; with more, the prefixes of the categories sorted by the share
of a class, which include the best subset if there are two classes. Breiman, Friedman, Olshen & Stone (1984), chapters 4
and 9.
"""

from __future__ import annotations

from math import isnan
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from outputcodes._ground.choosing import sorting_key
from outputcodes._histograms.costs import add, clear, region_cost
from outputcodes._histograms.one_feature import (
    best_question,
    for_gain,
    gap_after,
    key_of,
    orders_of,
    price_cuts,
    sort_line,
)
from outputcodes._histograms.questions import SUBSET

EXHAUSTIVE = 8


class CountsGain(NamedTuple):
    """The cost of regions by the weights of their classes; categories are ordered by the share of one of `classes`.

    With two classes there is one order, which has the best subset. See `one_feature`.
    """

    criterion: int
    classes: NDArray[np.uint32]
    n_orders: int
    counts: NDArray[np.float64]
    right_cost: NDArray[np.float64]


@for_gain(price_cuts, CountsGain)
def _price_counts(gain, table, at, costs, present, count, missing_left, n_cuts):  # type: ignore[no-untyped-def]
    counts, right_cost = gain.counts, gain.right_cost
    k = len(counts)
    clear(counts)
    for g in range(count - 1, 0, -1):
        add(counts, table[at[g] : at[g] + k])
        right_cost[g] = region_cost(counts, gain.criterion)
    clear(counts)
    for g in range(n_cuts):
        add(counts, table[at[g] : at[g] + k])
        costs[g] = region_cost(counts, gain.criterion) + right_cost[g + 1]


@for_gain(gap_after, CountsGain)
def _no_gap(gain, at, g):  # type: ignore[no-untyped-def]
    return 0.0


@for_gain(key_of, CountsGain)
def _share_of_class(gain, table, at, order):  # type: ignore[no-untyped-def]
    total = 0.0
    for c in range(len(gain.counts)):
        total += table[at + c]
    return sorting_key(table[at + gain.classes[order]] / total)


@for_gain(orders_of, CountsGain)
def _orders_of_classes(gain):  # type: ignore[no-untyped-def]
    return gain.n_orders


@njit(nogil=True, cache=True)
def count_categories(sample, f, order, first, last, room):  # type: ignore[no-untyped-def]
    """Compute the weight of each class in each category; return the number of categories."""
    H, column, groups = room.by_category, sample.columns[f], 0
    for p in range(first, last):
        row = order[p]
        value = column[row]
        if p == first or (value != column[order[p - 1]] and not (isnan(value) and isnan(column[order[p - 1]]))):
            clear(H[groups])
            room.categories[groups] = value
            groups += 1
        H[groups - 1, sample.y[row]] += sample.weight[row]
    return groups


@njit(nogil=True, cache=True)
def find_subset(sample, f, order, first, last, criterion, tie, room, choice):  # type: ignore[no-untyped-def]
    """Find the best subset of categories of feature f; missing values are a category of their own, the last."""
    groups = count_categories(sample, f, order, first, last, room)
    if groups < 2:
        return
    before = choice.numbers[0]
    if groups <= EXHAUSTIVE:
        try_all_subsets(groups, criterion, tie, room, choice)
    else:
        try_sorted_subsets(sample, f, groups, criterion, tie, room, choice)
    if choice.numbers[0] == before:
        return
    length, choice.which[2] = 0, -1
    for side in (True, False):
        for g in range(groups):
            if room.on_left[g] == side:
                if isnan(room.categories[g]):
                    choice.which[2] = int(side)
                else:
                    choice.pool[length] = room.categories[g]
                    length += 1
        if side:
            choice.numbers[1] = length
    choice.which[0], choice.which[1], choice.which[3] = SUBSET, f, length


@njit(nogil=True, cache=True)
def try_all_subsets(groups, criterion, tie, room, choice):  # type: ignore[no-untyped-def]
    """Try every split of the categories into two sets."""
    best = -1
    for mask in range((1 << (groups - 1)) - 1):
        clear(room.counts)
        clear(room.other_counts)
        for g in range(groups):
            # The first category is always on the left.
            add(room.counts if (2 * mask + 1) >> g & 1 else room.other_counts, room.by_category[g])
        cost = region_cost(room.counts, criterion) + region_cost(room.other_counts, criterion)
        if cost < choice.numbers[0] - tie:
            choice.numbers[0], best = cost, mask
    if best >= 0:
        for g in range(groups):
            room.on_left[g] = (2 * best + 1) >> g & 1


@njit(nogil=True, cache=True)
def try_sorted_subsets(sample, f, groups, criterion, tie, room, choice):  # type: ignore[no-untyped-def]
    """Try the prefixes of the categories sorted by the share of each class: the optimum if there are two classes."""
    table, line, k, n_classes = room.by_category.reshape(-1), room.line, len(room.counts), 0
    for c in range(k):
        total = 0.0
        for g in range(groups):
            total += table[g * k + c]
        if total > 0.0:
            room.classes[n_classes] = c
            n_classes += 1
    for g in range(groups):
        line.at[g] = g * k
    gain = CountsGain(criterion, room.classes, 1 if n_classes == 2 else n_classes, room.counts, room.right_cost)
    cost, cut, order, _, _ = best_question(
        gain, table, line, groups, groups < 0, f, sample.categorical, sample, tie, 0.0, np.inf
    )
    if cut > 0 and cost < choice.numbers[0] - tie:
        choice.numbers[0] = cost
        sort_line(gain, table, line, groups, order)
        for g in range(groups):
            room.on_left[line.at[g] // k] = g < cut
