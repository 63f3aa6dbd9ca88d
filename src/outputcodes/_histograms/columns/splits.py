"""The best question for a region whose rows have one of two signs and a weight, on binned features.

The cost of a region with weights p and m of the two signs is, up to a factor, the minimum over f of p L(f) + m L(-f)
for a margin loss L:

    GINI            2 p m / (p + m)                                squared loss      f = (p - m) / (p + m)
    ENTROPY         -p ln(p / (p + m)) - m ln(m / (p + m))         logistic loss     f = ½ ln(p / m)
    KEARNS_MANSOUR  2 √(p m)                                       exponential loss  f = ½ ln(p / m)

Weights are whole numbers, so that what is on the right of a cut is exactly what the left leaves.
"""

from __future__ import annotations

from math import log, sqrt
from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from outputcodes._ground.choosing import sorting_key
from outputcodes._ground.compiling import INNER
from outputcodes._histograms.costs import ENTROPY, GINI, halfway, shell_sort
from outputcodes._histograms.one_feature import Line, for_gain, gap_after, key_of, make_line, orders_of, price_cuts
from outputcodes._histograms.questions import AXIS, SUBSET


class Features(NamedTuple):
    """Binned features, see `Binned`."""

    codes: NDArray[Any]
    n_bins: NDArray[np.int64]
    offsets: NDArray[np.int64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    categorical: NDArray[np.bool_]


class Room(NamedTuple):
    """Work arrays: the groups of a feature; rows in the order of its bins.

    `left` are the weights on the left of the choice, `goes_left` the side of each bin.
    """

    line: Line
    keys: NDArray[np.float64]
    rows: NDArray[np.uint32]
    left: NDArray[np.int64]
    goes_left: NDArray[np.uintp]


class PairGain(NamedTuple):
    """The cost of a region by its weights of both signs, and those of the whole; see `one_feature`.

    The bin at place `at` of the histogram has the values from low[at // 2] to high[at // 2].
    """

    criterion: int
    whole_p: int
    whole_m: int
    low: NDArray[np.float64]
    high: NDArray[np.float64]


def make_room(n_bins: NDArray[np.int64]) -> Room:
    """Allocate work arrays for features with `n_bins` bins."""
    widest = int(n_bins.max()) + 1
    left, goes_left = np.zeros(2, np.int64), np.empty(widest, np.uintp)
    return Room(make_line(widest + 1), np.empty(widest), np.empty(widest, np.uint32), left, goes_left)


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


@for_gain(price_cuts, PairGain)
def _price_pairs(gain, table, at, costs, present, count, missing_left, n_cuts):  # type: ignore[no-untyped-def]
    criterion, whole_p, whole_m, one = gain.criterion, gain.whole_p, gain.whole_m, np.uintp(1)
    p, m = np.int64(0), np.int64(0)
    if missing_left:
        p, m = table[at[present]], table[at[present] + 1]
    for g in range(n_cuts):
        place = np.uintp(at[g])
        p, m = p + table[place], m + table[place + one]
        on_left = pair_cost(float(p), float(m), criterion)
        costs[g] = on_left + pair_cost(float(whole_p - p), float(whole_m - m), criterion)


@for_gain(gap_after, PairGain)
def _gap_between_bins(gain, at, g):  # type: ignore[no-untyped-def]
    return gain.low[at[g + 1] // 2] - gain.high[at[g] // 2]


@for_gain(key_of, PairGain)
def _share_of_positive(gain, table, at, order):  # type: ignore[no-untyped-def]
    return sorting_key(table[at] / (table[at] + table[at + 1]))


@for_gain(orders_of, PairGain)
def _one_order(gain):  # type: ignore[no-untyped-def]
    return np.int64(1)


@njit(**INNER)
def line_up_sorted(features, f, signed, rows, first, last, table, room):  # type: ignore[no-untyped-def]
    """Do as `line_up` does for few rows, which are sorted: only the bins that hold rows are written to the table."""
    keys, items, at, count = room.keys, room.rows, room.line.at, 0
    n, start = last - first, 2 * features.offsets[f]
    for p in range(n):
        row = rows[first + p]
        keys[p], items[p] = features.codes[row, f], row
    shell_sort(keys, items, n)
    place = start
    for p in range(n):
        if p == 0 or keys[p] > keys[p - 1]:
            place = start + 2 * int(keys[p])
            table[place], table[place + 1] = 0, 0
            at[count] = place
            count += 1
        weight = signed[items[p]]
        table[place + int(weight < 0)] += abs(weight)
    return count, at[count - 1] == start + 2 * features.n_bins[f]


@njit(**INNER)
def range_of(features, count, missing, at):  # type: ignore[no-untyped-def]
    """Return the range of the values of a feature, or 1 if it is 0."""
    last = count - 2 if missing else count - 1
    length = features.high[at[last] // 2] - features.low[at[0] // 2]
    return length if length > 0.0 else 1.0


@njit(**INNER)
def store_choice(features, f, table, at, count, missing, cut, side, left, choice):  # type: ignore[no-untyped-def]
    """Store the question about feature f after the groups before the cut; the pool then has the bins in line."""
    start, categorical, numbers, which = 2 * features.offsets[f], features.categorical[f], choice.numbers, choice.which
    which[0], which[1], which[2], which[3] = SUBSET if categorical else AXIS, f, side, count if categorical else cut
    for g in range(which[3]):
        choice.pool[g] = (at[g] - start) // 2
    for sign in range(2):
        left[sign] = table[at[count - 1] + sign] if side == 1 else 0
        for g in range(cut):
            left[sign] += table[at[g] + sign]
    if categorical:
        numbers[1] = cut
    elif missing and cut == count - 1:
        numbers[1] = np.inf
    else:
        numbers[1] = halfway(features.high[at[cut - 1] // 2], features.low[at[cut] // 2])


@njit(**INNER)
def read_choice(features, room, choice):  # type: ignore[no-untyped-def]
    """Set room.goes_left[b] for each bin b, and replace the choice's bins by the numbers of the question."""
    f, length, goes_left = choice.which[1], choice.which[3], room.goes_left
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
