"""The best question for a region: about one numeric feature at every threshold, or the distance from an example.

Each search keeps the question with the smallest total cost of its two sides in a `FoundSplit`. Among questions whose
costs are equal up to `tie`, the one with the widest gap between the values on the two sides, relative to the range of
the feature, wins: in small regions many questions are equally good, and the first feature would otherwise be chosen
every time.

Every distinct value is a group of its own, so that there may be as many groups as examples: a histogram would have as
many bins, each with the weights of all classes, and be larger and slower than the sorted examples. Groups are therefore
runs of sorted examples; `one_feature` searches them as it does bins. Distances and projections are computed numbers, so
that those within a billionth of their range are equal. Breiman, Friedman, Olshen & Stone (1984), chapter 4.
"""

from __future__ import annotations

from math import isnan
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from outputcodes._ground.choosing import TIE
from outputcodes._ground.compiling import INNER
from outputcodes._histograms.costs import clear, cost_of, halfway, joined, missing_last, settled, shell_sort
from outputcodes._histograms.one_feature import (
    Line,
    best_question,
    for_gain,
    gap_after,
    is_better,
    make_line,
    price_cuts,
)
from outputcodes._histograms.questions import AXIS, SPHERE, distance


class TreeSample(NamedTuple):
    """Examples by rows (X) and by columns, their classes 0..k-1 and weights; the range of each feature.

    Among examples with equal features and class, `joint` is their total weight for the first one and 0 for the others;
    it is also 0 where a number is missing.
    """

    X: NDArray[np.float64]
    columns: NDArray[np.float64]
    y: NDArray[np.uint32]
    weight: NDArray[np.float64]
    joint: NDArray[np.float64]
    ranges: NDArray[np.float64]
    categorical: NDArray[np.bool_]


class FoundSplit(NamedTuple):
    """The best question so far.

    `numbers` = (cost, threshold, gap), `which` = (kind, feature, missing on the left or -1, length of the pool).
    """

    numbers: NDArray[np.float64]
    which: NDArray[np.int64]
    pool: NDArray[np.float64]


class SplitRoom(NamedTuple):
    """Work arrays: sorted examples, one entry per example; counts of classes; counts of classes by category."""

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
    line: Line


class RowsGain(NamedTuple):
    """The cost of regions by the weights of their classes; groups are runs of sorted examples. See `one_feature`."""

    criterion: int
    values: NDArray[np.float64]
    classes: NDArray[np.uint32]
    weights: NDArray[np.float64]
    counts: NDArray[np.float64]
    known: NDArray[np.float64]
    right_cost: NDArray[np.float64]


def make_split_room(n: int, k: int, widest: int, pool: int) -> tuple[SplitRoom, FoundSplit]:
    """Allocate for n examples of k classes, up to `widest` categories and questions of up to `pool` numbers."""
    classes, rows = np.empty((2, n), dtype=np.uint32)
    values, weights, right_cost = np.empty((3, n + 1))
    counts, other_counts = np.empty((2, k))
    by_category, categories = np.empty((widest + 1, k)), np.empty(widest + 1)
    on_left = np.empty(widest + 1, dtype=bool)
    sides = counts, other_counts, by_category, categories, on_left
    room = SplitRoom(values, rows, classes, weights, right_cost, *sides, make_line(n + 2))
    return room, FoundSplit(np.empty(3), np.empty(4, dtype=np.int64), np.empty(pool))


@njit(inline="always")
def gain_of_rows(criterion, room):  # type: ignore[no-untyped-def]
    """Return the gain for the sorted examples of the room."""
    sides = room.counts, room.other_counts, room.right_cost
    return RowsGain(criterion, room.values, room.classes, room.weights, *sides)


@njit(**INNER)
def line_up_rows(values, n, present, same, at):  # type: ignore[no-untyped-def]
    """Line up the n sorted examples by values that differ by more than `same`; return how many groups they form.

    The examples from `present` on are missing, the last group; the last place is followed by the end.
    """
    count = 0
    for p in range(present):
        if p == 0 or values[p] - values[p - 1] > same:
            at[count] = p
            count += 1
    if present < n:
        at[count] = present
        count += 1
    at[count] = n
    return count


@for_gain(price_cuts, RowsGain)
def _price_rows(gain, table, at, costs, present, count, missing_left, n_cuts):  # type: ignore[no-untyped-def]
    """Make each side a sum over its own examples, never a difference: an absent class has a weight of exactly 0."""
    classes, weights, counts, known, right_cost = gain.classes, gain.weights, gain.counts, gain.known, gain.right_cost
    criterion = gain.criterion
    clear(counts)
    clear(known)
    total, statistic = 0.0, 0.0
    for g in range((present if missing_left else count) - 1, 0, -1):
        for p in range(at[g + 1] - 1, at[g] - 1, -1):
            total += weights[p]
            statistic = joined(counts, classes[p], weights[p], criterion, statistic)
        statistic = settled(counts, known, criterion, statistic)
        right_cost[g] = cost_of(total, criterion, statistic)
    clear(counts)
    clear(known)
    total, statistic = 0.0, 0.0
    if missing_left:
        for p in range(at[present], at[count]):
            total += weights[p]
            statistic = joined(counts, classes[p], weights[p], criterion, statistic)
    for g in range(n_cuts):
        for p in range(at[g], at[g + 1]):
            total += weights[p]
            statistic = joined(counts, classes[p], weights[p], criterion, statistic)
        statistic = settled(counts, known, criterion, statistic)
        costs[g] = cost_of(total, criterion, statistic) + right_cost[g + 1]


@for_gain(gap_after, RowsGain)
def _gap_between_values(gain, at, g):  # type: ignore[no-untyped-def]
    return gain.values[at[g + 1]] - gain.values[at[g + 1] - 1]


@njit(nogil=True, cache=True)
def consider(n, present, scale, same, gap_tie, criterion, tie, room, choice):  # type: ignore[no-untyped-def]
    """Try every threshold of the n sorted examples, of which those from `present` on are missing.

    Values up to `same` apart are equal, and so are gaps up to `gap_tie`, which are divided by `scale`. Return whether a
    threshold was chosen; its kind and feature are then still to be set.
    """
    values, line, numbers = room.values, room.line, choice.numbers
    count = line_up_rows(values, n, present, same, line.at)
    if count < 2:
        return False
    gain = gain_of_rows(criterion, room)
    cost, cut, _, side, gap = best_question(gain, values, line, count, present < n, 0, None, None, tie, 0.0, gap_tie)
    if not is_better(cost, gap / scale, numbers[0], numbers[2], tie, gap_tie / scale):
        return False
    numbers[0], numbers[2] = min(cost, numbers[0]), gap / scale
    p = line.at[cut]
    numbers[1] = np.inf if p == present else halfway(values[p - 1], values[p])
    choice.which[2], choice.which[3] = side, 0
    return True


@njit(nogil=True, cache=True)
def consider_vector(n, sample, vector, criterion, tie, room, choice):  # type: ignore[no-untyped-def]
    """Do the same for unsorted values of room.rows[:n]; store the question's vector if it is chosen."""
    present = missing_last(room.values, room.rows, n)
    shell_sort(room.values, room.rows, present)
    for p in range(n):
        room.classes[p], room.weights[p] = sample.y[room.rows[p]], sample.weight[room.rows[p]]
    same = TIE * (room.values[present - 1] - room.values[0]) if present > 0 else 0.0
    chosen = consider(n, present, 1.0, same, same, criterion, tie, room, choice)
    if chosen:
        choice.which[3] = len(vector)
        for j in range(len(vector)):
            choice.pool[j] = vector[j]
    return chosen


@njit(nogil=True, cache=True)
def find_axis(sample, orders, first, last, features, criterion, tie, room, choice):  # type: ignore[no-untyped-def]
    """Find the best question about one of the numeric features; orders[f, first:last] is sorted by feature f."""
    n = last - first
    for f in features:
        order, column = orders[f], sample.columns[f]
        if column[order[first]] == column[order[last - 1]]:
            continue
        for p in range(n):
            row = order[first + p]
            room.values[p], room.classes[p], room.weights[p] = column[row], sample.y[row], sample.weight[row]
        present = n
        while present > 0 and isnan(room.values[present - 1]):
            present -= 1
        if consider(n, present, sample.ranges[f], 0.0, TIE * sample.ranges[f], criterion, tie, room, choice):
            choice.which[0], choice.which[1] = AXIS, f


@njit(nogil=True, cache=True)
def whole_rows(sample, order, first, last, limit):  # type: ignore[no-untyped-def]
    """Return rows without missing numbers, one of each set of equal examples; at most `limit`, evenly spread."""
    whole = np.empty(last - first, dtype=np.uint32)
    count = 0
    for p in range(first, last):
        if sample.joint[order[p]] > 0.0:
            whole[count] = order[p]
            count += 1
    kept = min(count, limit)
    for p in range(kept):
        whole[p] = whole[p * count // kept]
    return whole[:kept]


@njit(nogil=True, cache=True)
def find_sphere(sample, order, first, last, centres, criterion, tie, room, choice):  # type: ignore[no-untyped-def]
    """Find the best sphere around one of the centres."""
    n, d = last - first, len(sample.columns)
    centre = np.empty(d)
    for row in centres:
        for j in range(d):
            centre[j] = np.nan if sample.categorical[j] else sample.X[row, j]
        for p in range(n):
            room.rows[p] = order[first + p]
            room.values[p] = distance(sample.X[room.rows[p]], centre, 0, d)
        if consider_vector(n, sample, centre, criterion, tie, room, choice):
            choice.which[0], choice.which[1] = SPHERE, 0
