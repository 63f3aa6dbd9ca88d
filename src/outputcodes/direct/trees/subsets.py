"""The best question for a region about one categorical feature: which of its categories go to the left.

With up to `EXHAUSTIVE` categories every subset is tried; with more, the prefixes of the categories sorted by the share
of a class, which include the best subset if there are two classes. Breiman, Friedman, Olshen & Stone (1984), chapters 4
and 9.
"""

from __future__ import annotations

from math import isnan

from numba import njit

from outputcodes._ground.choosing import sorting_key
from outputcodes._histograms.costs import add, clear, region_cost, shell_sort
from outputcodes._histograms.questions import SUBSET

EXHAUSTIVE = 8


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
        try_sorted_subsets(groups, criterion, tie, room, choice)
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
def try_sorted_subsets(groups, criterion, tie, room, choice):  # type: ignore[no-untyped-def]
    """Try the prefixes of the categories sorted by the share of each class: the optimum if there are two classes."""
    H, shares, items, counts = room.by_category, room.values, room.rows, room.counts
    clear(room.other_counts)
    for g in range(groups):
        add(room.other_counts, H[g])
    n_classes = 0
    for c in range(len(counts)):
        n_classes += room.other_counts[c] > 0.0
    for c in range(len(counts)):
        if room.other_counts[c] == 0.0:
            continue
        for g in range(groups):
            total = 0.0
            for other in range(len(counts)):
                total += H[g, other]
            shares[g], items[g] = sorting_key(H[g, c] / total), g
        shell_sort(shares, items, groups)
        clear(counts)
        for p in range(groups - 1, 0, -1):
            add(counts, H[items[p]])
            room.right_cost[p] = region_cost(counts, criterion)
        clear(counts)
        for p in range(groups - 1):
            add(counts, H[items[p]])
            cost = region_cost(counts, criterion) + room.right_cost[p + 1]
            if cost < choice.numbers[0] - tie:
                choice.numbers[0] = cost
                for q in range(groups):
                    room.on_left[items[q]] = q <= p
        if n_classes == 2:
            return
