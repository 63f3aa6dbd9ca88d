"""The best question for a region: of one feature, of a weighted sum of features, or of the distance from an example.

Each search keeps in a `Choice` the question whose two sides cost least together; a later one must be better by more
than `tie`. Questions of one feature are tried at every threshold, and, for categories, on every subset of up to
`EXHAUSTIVE` of them. Breiman, Friedman, Olshen & Stone (1984), chapters 4 and 9; Murthy, Kasif & Salzberg (1994).
"""

from __future__ import annotations

from math import isnan
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from outputcodes._kernels.tree_costs import add, best_cut, clear, halfway, missing_last, region_cost, shell_sort
from outputcodes._kernels.tree_questions import AXIS, SPHERE, SUBSET, distance

# Up to so many categories every subset is tried; beyond, those that are prefixes when sorted by the share of a class.
EXHAUSTIVE = 8


class Sample(NamedTuple):
    """Examples by rows (X) and by columns, their classes 0..k-1 and weights; which features are categorical."""

    X: NDArray[np.float64]
    columns: NDArray[np.float64]
    y: NDArray[np.uint32]
    weight: NDArray[np.float64]
    categorical: NDArray[np.bool_]


class Choice(NamedTuple):
    """The best question so far: (cost, threshold); (kind, feature, missing on the left or -1, length); its numbers."""

    numbers: NDArray[np.float64]
    which: NDArray[np.int64]
    pool: NDArray[np.float64]


class Room(NamedTuple):
    """Room to work in: sorted examples, one entry an example; counts of classes; counts of classes by category."""

    values: NDArray[np.float64]
    rows: NDArray[np.uint32]
    classes: NDArray[np.uint32]
    weights: NDArray[np.float64]
    right_cost: NDArray[np.float64]
    counts: NDArray[np.float64]
    other_counts: NDArray[np.float64]
    by_category: NDArray[np.float64]
    categories: NDArray[np.float64]
    on_left: NDArray[np.bool_]


def make_room(n: int, k: int, widest: int, pool: int) -> tuple[Room, Choice]:
    """For n examples of k classes, features of up to `widest` categories and questions of up to `pool` numbers."""
    classes, rows = np.empty((2, n), dtype=np.uint32)
    values, weights, right_cost = np.empty((3, n + 1))
    counts, other_counts = np.empty((2, k))
    by_category, categories = np.empty((widest + 1, k)), np.empty(widest + 1)
    on_left = np.empty(widest + 1, dtype=bool)
    room = Room(values, rows, classes, weights, right_cost, counts, other_counts, by_category, categories, on_left)
    return room, Choice(np.empty(2), np.empty(4, dtype=np.int64), np.empty(pool))


@njit(nogil=True, cache=True)
def consider(n, present, kind, feature, criterion, tie, room, choice):  # type: ignore[no-untyped-def]
    """Try every threshold of the room's n sorted examples; missing ones, at the end, go to either side.

    Answers the least cost found.
    """
    values, least = room.values, np.inf
    for missing_left in range(2 if present < n else 1):
        cost, cut = best_cut(
            values,
            room.classes,
            room.weights,
            n,
            present,
            missing_left == 1,
            criterion,
            tie,
            room.counts,
            room.other_counts,
            room.right_cost,
        )
        least = min(least, cost)
        if cost < choice.numbers[0] - tie:
            choice.numbers[0] = cost
            choice.numbers[1] = np.inf if cut == present else halfway(values[cut - 1], values[cut])
            choice.which[0], choice.which[1], choice.which[3] = kind, feature, 0
            choice.which[2] = missing_left if present < n else -1
    return least


@njit(nogil=True, cache=True)
def consider_vector(n, sample, kind, vector, criterion, tie, room, choice):  # type: ignore[no-untyped-def]
    """The same for the values of room.rows[:n] in any order, and the question's vector."""
    present = missing_last(room.values, room.rows, n)
    shell_sort(room.values, room.rows, present)
    for p in range(n):
        room.classes[p], room.weights[p] = sample.y[room.rows[p]], sample.weight[room.rows[p]]
    before = choice.numbers[0]
    consider(n, present, kind, 0, criterion, tie, room, choice)
    if choice.numbers[0] < before:
        choice.which[3] = len(vector)
        for j in range(len(vector)):
            choice.pool[j] = vector[j]


@njit(nogil=True, cache=True)
def find_axis(sample, orders, first, last, criterion, tie, room, choice):  # type: ignore[no-untyped-def]
    """The best question of one feature, orders[f, first:last] being sorted by feature f; answers the best numeric f."""
    n = last - first
    best_numeric, least_numeric = -1, np.inf
    for f in range(len(orders)):
        order, column = orders[f], sample.columns[f]
        if column[order[first]] == column[order[last - 1]]:
            continue
        if sample.categorical[f]:
            find_subset(sample, f, order, first, last, criterion, tie, room, choice)
            continue
        for p in range(n):
            row = order[first + p]
            room.values[p], room.classes[p], room.weights[p] = column[row], sample.y[row], sample.weight[row]
        present = n
        while present > 0 and isnan(room.values[present - 1]):
            present -= 1
        cost = consider(n, present, AXIS, f, criterion, tie, room, choice)
        if cost < least_numeric - tie:
            least_numeric, best_numeric = cost, f
    return best_numeric


@njit(nogil=True, cache=True)
def find_subset(sample, f, order, first, last, criterion, tie, room, choice):  # type: ignore[no-untyped-def]
    """The best subset of categories of feature f; missing values are a category of their own, the last."""
    H, column, groups = room.by_category, sample.columns[f], 0
    for p in range(first, last):
        row = order[p]
        value = column[row]
        if p == first or (value != column[order[p - 1]] and not (isnan(value) and isnan(column[order[p - 1]]))):
            clear(H[groups])
            room.categories[groups] = value
            groups += 1
        H[groups - 1, sample.y[row]] += sample.weight[row]
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
    """Every parting of the categories in two."""
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
    """The prefixes of the categories sorted by the share of each class in turn: the best subset if there are two."""
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
            shares[g], items[g] = H[g, c] / total, g
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


@njit(nogil=True, cache=True)
def whole_rows(sample, order, first, last, limit):  # type: ignore[no-untyped-def]
    """The examples that miss no number; of many, `limit` evenly spread."""
    whole = np.empty(last - first, dtype=np.uint32)
    count = 0
    for p in range(first, last):
        complete = True
        for j in range(len(sample.columns)):
            complete = complete and (sample.categorical[j] or not isnan(sample.X[order[p], j]))
        if complete:
            whole[count] = order[p]
            count += 1
    kept = min(count, limit)
    for p in range(kept):
        whole[p] = whole[p * count // kept]
    return whole[:kept]


@njit(nogil=True, cache=True)
def find_sphere(sample, order, first, last, max_centres, criterion, tie, room, choice):  # type: ignore[no-untyped-def]
    """The best sphere around one of at most `max_centres` examples of the region."""
    n, d = last - first, len(sample.columns)
    centre = np.empty(d)
    for row in whole_rows(sample, order, first, last, max_centres):
        for j in range(d):
            centre[j] = np.nan if sample.categorical[j] else sample.X[row, j]
        for p in range(n):
            room.rows[p] = order[first + p]
            room.values[p] = distance(sample.X[room.rows[p]], centre, 0, d)
        consider_vector(n, sample, SPHERE, centre, criterion, tie, room, choice)
