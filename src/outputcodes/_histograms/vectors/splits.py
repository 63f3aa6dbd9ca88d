"""The best question for a region whose rows have vectors: gradients G_1..G_m and one curvature h.

A question that parts a region into two sides is worth

    Σ_sides Σ_j (Σ_i G_ij)² / (Σ_i h_i + l2)

less the same of the whole region: what a Newton step in every side gains, up to a factor. Friedman (2001); for vectors
Iosipoi & Vakhrushev (2022).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit, types
from numba.extending import overload
from numpy.typing import NDArray

from outputcodes._ground.choosing import TIE
from outputcodes._ground.compiling import INNER
from outputcodes._ground.lanes import LANES, load_high, load_low, padded, spread, square, store, where_greater
from outputcodes._histograms.one_feature import (
    Line,
    best_question,
    for_gain,
    gap_after,
    key_of,
    line_up,
    make_line,
    orders_of,
    price_cuts,
    sort_line,
)
from outputcodes._histograms.vectors.sums import high, low


class SplitRules(NamedTuple):
    """What a side must have; `l2` in units of the curvature."""

    l2: float
    min_rows: int


class LeafSplits(NamedTuple):
    """The best question of each leaf: its gain; the feature or -1, the cut and the side as in `FeatureCuts`."""

    gain: NDArray[np.float64]
    which: NDArray[np.int64]


class FeatureCuts(NamedTuple):
    """The best cut of every feature in two leaves: what it is worth, -1 for none; the cut and the side.

    The codes up to the cut go to the left, and missing values where side = 1. Where side = -2 - j, the categories that
    come first in the order of mean gradient j go to the left, so many as `cut` says. `whole` is what the leaves are
    worth without a question.
    """

    worth: NDArray[np.float64]
    which: NDArray[np.int64]
    whole: NDArray[np.float64]


class SearchRoom(NamedTuple):
    """Work arrays of a thread: the sums of a region, of a left side and of all left sides; the groups of a feature."""

    total: NDArray[np.int64]
    left: NDArray[np.int64]
    sums: NDArray[np.int64]
    line: Line


def make_search_room(words: int, widest: int) -> SearchRoom:
    """Allocate for vectors of so many words and features of up to `widest` bins, that of missing values included."""
    total, left = np.zeros((2, words), np.int64)
    whole = padded(widest)
    return SearchRoom(total, left, np.zeros(4 * whole, np.int64), make_line(whole))


class SixGain(NamedTuple):
    """The gain with six gradients, the usual number; `total` are the sums of the region. See `one_feature`.

    `sums` is room for the four words on the left of every cut.
    """

    total: NDArray[np.int64]
    sums: NDArray[np.int64]
    l2: float
    min_rows: int


class VectorGain(NamedTuple):
    """The gain with any number m of gradients; `left` is room for the sums of a side."""

    total: NDArray[np.int64]
    left: NDArray[np.int64]
    m: int
    l2: float
    min_rows: int


@njit(**INNER)
def entry(sums, j):  # type: ignore[no-untyped-def]
    """Return number j of a packed sum."""
    return high(sums[j // 2]) if j % 2 else low(sums[j // 2])


@njit(**INNER)
def squares(p, q, r, s, t, u):  # type: ignore[no-untyped-def]
    """Return the sum of the squares of six numbers, in every lane."""
    return square(p) + square(q) + square(r) + square(s) + square(t) + square(u)


@njit(inline="always")
def sum_region(histogram, first, last, total):  # type: ignore[no-untyped-def]
    """Set `total` to the sums of a region, from the bins first..last-1 of any feature."""
    width = len(total)
    for q in range(width):
        total[q] = 0
    for b in range(first, last):
        for q in range(width):
            total[q] += histogram[b * width + q]


@njit(inline="always")
def whole_worth(total, m, l2):  # type: ignore[no-untyped-def]
    """Return the value of a region that is not parted."""
    summed = 0.0
    for j in range(m):
        summed += float(entry(total, j)) ** 2
    return summed / (entry(total, m) + l2)


def gain_of(m: int | None, room: SearchRoom, rules: SplitRules) -> Any:
    """Return the gain for m gradients; None stands for six."""
    raise NotImplementedError


@overload(gain_of, jit_options=INNER)
def _gain_of(m, room, rules):  # type: ignore[no-untyped-def]
    if isinstance(m, types.NoneType):
        return lambda m, room, rules: SixGain(room.total, room.sums, rules.l2, rules.min_rows)
    return lambda m, room, rules: VectorGain(room.total, room.left, m, rules.l2, rules.min_rows)


@for_gain(price_cuts, SixGain, error_model="numpy")
def _price_six(gain, table, at, costs, present, count, missing_left, n_cuts):  # type: ignore[no-untyped-def]
    """Add up the words on the left of all cuts first: what follows is done for `LANES` cuts at once."""
    total, sums, B = gain.total, gain.sums, len(gain.sums) // 4
    C, E = 2 * B, 3 * B
    a, b, c, e = np.int64(0), np.int64(0), np.int64(0), np.int64(0)
    one, two, three = np.uintp(1), np.uintp(2), np.uintp(3)
    if missing_left:
        q = np.uintp(at[present])
        a, b, c, e = table[q], table[q + one], table[q + two], table[q + three]
    for g in range(n_cuts):
        q = np.uintp(at[g])
        a, b, c, e = a + table[q], b + table[q + one], c + table[q + two], e + table[q + three]
        sums[g], sums[B + g], sums[C + g], sums[E + g] = a, b, c, e
    # Lanes after the last cut hold old sums; their costs are never read.
    zero, infinite, least, l2 = spread(0.0), spread(np.inf), spread(float(gain.min_rows)), spread(gain.l2)
    P, Q, R = spread(float(low(total[0]))), spread(float(high(total[0]))), spread(float(low(total[1])))
    S, T, U = spread(float(high(total[1]))), spread(float(low(total[2]))), spread(float(high(total[2])))
    H, N = spread(float(low(total[3]))), spread(float(high(total[3])))
    for g in range(0, n_cuts, LANES):
        p, q, r, s = load_low(sums, g), load_high(sums, g), load_low(sums, B + g), load_high(sums, B + g)
        t, u, h, n = load_low(sums, C + g), load_high(sums, C + g), load_low(sums, E + g), load_high(sums, E + g)
        on_left = squares(p, q, r, s, t, u) / (h + l2)
        on_right = squares(P - p, Q - q, R - r, S - s, T - t, U - u) / (H - h + l2)
        cost = where_greater(least, n, infinite, zero - (on_left + on_right))
        store(costs, g, where_greater(least, N - n, infinite, cost))


@for_gain(price_cuts, VectorGain, error_model="numpy")
def _price_vectors(gain, table, at, costs, present, count, missing_left, n_cuts):  # type: ignore[no-untyped-def]
    left, total, m = gain.left, gain.total, gain.m
    n_all, curvature_all = entry(total, m + 1), entry(total, m)
    for q in range(len(total)):
        left[q] = table[at[present] + q] if missing_left else 0
    for g in range(n_cuts):
        for q in range(len(total)):
            left[q] += table[at[g] + q]
        n_left = entry(left, m + 1)
        if n_left < gain.min_rows or n_all - n_left < gain.min_rows:
            costs[g] = np.inf
            continue
        on_left, on_right = 0.0, 0.0
        for j in range(m):
            ours, whole = float(entry(left, j)), float(entry(total, j))
            on_left += ours * ours
            on_right += (whole - ours) * (whole - ours)
        curvature = entry(left, m)
        costs[g] = -(on_left / (curvature + gain.l2) + on_right / (curvature_all - curvature + gain.l2))


@for_gain(key_of, SixGain, error_model="numpy")
def _mean_of_six(gain, table, at, order):  # type: ignore[no-untyped-def]
    word = table[at + order // 2]
    return (high(word) if order % 2 else low(word)) / (low(table[at + 3]) + gain.l2)


@for_gain(key_of, VectorGain, error_model="numpy")
def _mean_gradient(gain, table, at, order):  # type: ignore[no-untyped-def]
    sums = table[at : at + len(gain.total)]
    return entry(sums, order) / (entry(sums, gain.m) + gain.l2)


@for_gain(orders_of, SixGain)
def _six_orders(gain):  # type: ignore[no-untyped-def]
    return np.int64(6)


@for_gain(orders_of, VectorGain)
def _orders_of_gradients(gain):  # type: ignore[no-untyped-def]
    return np.int64(gain.m)


@for_gain(gap_after, SixGain)
def _no_gap_of_six(gain, at, g):  # type: ignore[no-untyped-def]
    return 0.0


@for_gain(gap_after, VectorGain)
def _no_gap(gain, at, g):  # type: ignore[no-untyped-def]
    return 0.0


@njit(**INNER, error_model="numpy")
def find_cuts(histogram, features, m, rules, subsets, first, last, cuts, leaf, room):  # type: ignore[no-untyped-def]
    """Find the best cuts of the features first..last-1 in one of the two leaves.

    m = None stands for six gradients, the usual number, and `subsets` is None where no feature is categorical: what
    only other numbers and subsets need is then not compiled.
    """
    worths, which, total, line = cuts.worth, cuts.which, room.total, room.line
    offsets, n_bins, width = features.offsets, features.n_bins, len(total)
    sum_region(histogram, offsets[first], offsets[first + 1], total)
    gain = gain_of(m, room, rules)
    if first == 0:
        cuts.whole[leaf] = whole_worth(total, np.int64(6) if m is None else m, rules.l2)
    for f in range(first, last):
        worths[leaf, f], start = -1.0, offsets[f] * width
        count, missing = line_up(histogram, start, n_bins[f], width, width - 1, line)
        if count < 2:
            continue
        cost, cut, order, side, _ = best_question(
            gain, histogram, line, count, missing, f, features.categorical, subsets, 0.0, TIE, np.inf
        )
        if cut > 0:
            worths[leaf, f], which[leaf, f, 0], which[leaf, f, 1] = -cost, (line.at[cut - 1] - start) // width, side
            if subsets is not None and features.categorical[f]:
                which[leaf, f, 0], which[leaf, f, 1] = cut, -2 - order


@njit(**INNER)
def mark_subset(histogram, start, bins, m, rules, cut, order, room, subset):  # type: ignore[no-untyped-def]
    """Mark the first categories, so many as `cut` says, in the order of a mean gradient."""
    width, line, gain = len(room.total), room.line, gain_of(m, room, rules)
    count, _ = line_up(histogram, start, bins, width, width - 1, line)
    for g in range(count):
        line.home[g] = line.at[g]
    sort_line(gain, histogram, line, count, order)
    for b in range(bins + 1):
        subset[b] = False
    for g in range(cut):
        subset[(line.at[g] - start) // width] = True
