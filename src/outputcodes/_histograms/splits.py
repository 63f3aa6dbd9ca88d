"""The best question for a region: about one numeric feature at every threshold, or the distance from an example.

Each search keeps the question with the smallest total cost of its two sides in a `FoundSplit`. Among questions whose
costs are equal up to `tie`, the one with the widest gap between the values on the two sides, relative to the range of
the feature, wins: in small regions many questions are equally good, and the first feature would otherwise be chosen
every time.
Distances and projections are computed numbers, so that those within a billionth of their range are equal. Breiman,
Friedman, Olshen & Stone (1984), chapter 4.
"""

from __future__ import annotations

from math import isnan
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from outputcodes._ground.choosing import TIE
from outputcodes._histograms.costs import best_cut, halfway, missing_last, shell_sort
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


def make_split_room(n: int, k: int, widest: int, pool: int) -> tuple[SplitRoom, FoundSplit]:
    """Allocate for n examples of k classes, up to `widest` categories and questions of up to `pool` numbers."""
    classes, rows = np.empty((2, n), dtype=np.uint32)
    values, weights, right_cost = np.empty((3, n + 1))
    counts, other_counts = np.empty((2, k))
    by_category, categories = np.empty((widest + 1, k)), np.empty(widest + 1)
    on_left = np.empty(widest + 1, dtype=bool)
    room = SplitRoom(values, rows, classes, weights, right_cost, counts, other_counts, by_category, categories, on_left)
    return room, FoundSplit(np.empty(3), np.empty(4, dtype=np.int64), np.empty(pool))


@njit(nogil=True, cache=True)
def consider(n, present, scale, same, gap_tie, criterion, tie, room, choice):  # type: ignore[no-untyped-def]
    """Try every threshold of the n sorted examples; the missing ones, at the end, are tried on both sides.

    Gaps are divided by `scale`; the rest is as in `best_cut`. Return whether a threshold was chosen; its kind and
    feature are then still to be set.
    """
    values, chosen, numbers = room.values, False, choice.numbers
    for missing_left in range(2 if present < n else 1):
        cost, cut, gap = best_cut(
            values,
            room.classes,
            room.weights,
            n,
            present,
            missing_left == 1,
            same,
            criterion,
            tie,
            gap_tie,
            room.counts,
            room.other_counts,
            room.right_cost,
        )
        gap /= scale
        if cost < numbers[0] - tie or (cost <= numbers[0] + tie and gap > numbers[2] + gap_tie / scale):
            chosen = True
            numbers[0], numbers[2] = min(cost, numbers[0]), gap
            numbers[1] = np.inf if cut == present else halfway(values[cut - 1], values[cut])
            choice.which[2], choice.which[3] = missing_left if present < n else -1, 0
    return chosen


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
