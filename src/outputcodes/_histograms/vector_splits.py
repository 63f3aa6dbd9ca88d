"""The best question for a region whose rows have vectors: gradients G_1..G_m and one curvature h.

A question that parts a region into two sides is worth

    Σ_sides Σ_j (Σ_i G_ij)² / (Σ_i h_i + l2)

less the same of the whole region: what a Newton step in every side gains, up to a factor. Friedman (2001); for vectors
Iosipoi & Vakhrushev (2022).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from outputcodes._ground.choosing import TIE
from outputcodes._ground.compiling import INNER
from outputcodes._histograms.costs import shell_sort
from outputcodes._histograms.vector_sums import high, low, n_words


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

    The codes up to the cut go to the left, and missing values where side = 1. Where side = -1 - j, the categories that
    come first in the order of mean gradient j go to the left, up to the place `cut`. `whole` is what the leaves are
    worth without a question, and `sums` is room for the sums of a region and of its left side, at the first feature of
    those that a thread searches.
    """

    worth: NDArray[np.float64]
    which: NDArray[np.int64]
    whole: NDArray[np.float64]
    sums: NDArray[np.int64]


@njit(**INNER)
def entry(sums, j):  # type: ignore[no-untyped-def]
    """Return number j of a packed sum."""
    return high(sums[j // 2]) if j % 2 else low(sums[j // 2])


@njit(**INNER, error_model="numpy")
def worth(left, total, m, l2, min_rows):  # type: ignore[no-untyped-def]
    """Return the value of the two sides of a question, given the sums of the left one; -1 where a side is too small."""
    n_left, n_all = entry(left, m + 1), entry(total, m + 1)
    if n_left < min_rows or n_all - n_left < min_rows:
        return -1.0
    on_left, on_right = 0.0, 0.0
    for j in range(m):
        ours, whole = float(entry(left, j)), float(entry(total, j))
        on_left += ours * ours
        on_right += (whole - ours) * (whole - ours)
    curvature = entry(left, m)
    return on_left / (curvature + l2) + on_right / (entry(total, m) - curvature + l2)


@njit(**INNER)
def squares(a, b, c):  # type: ignore[no-untyped-def]
    """Return the sum of the squares of the six numbers in three words."""
    p, q, r, s, t, u = low(a), high(a), low(b), high(b), low(c), high(c)
    return float(p) * p + float(q) * q + float(r) * r + float(s) * s + float(t) * t + float(u) * u


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


@njit(inline="always")
def scan(histogram, at, bins, left, total, m, rules, best):  # type: ignore[no-untyped-def]
    """Move one bin after the other from `at` on to the left; return the best value, and the bin after which it is.

    A bin without rows changes nothing; the count in its last word says so. The cut is -1 if no value exceeds `best`.
    """
    cut, width, end = -1, len(total), at
    for b in range(bins):
        end = at + (b + 1) * width
        if histogram[end - 1] != 0:
            for q in range(width):
                left[q] += histogram[end - width + q]
            value = worth(left, total, m, rules.l2, rules.min_rows)
            if value > best * (1.0 + TIE):
                best, cut = value, b
    return best, cut


@njit(inline="always")
def scan_six(histogram, at, bins, left, total, rules, best):  # type: ignore[no-untyped-def]
    """Do the same for six gradients, the usual number, with the sums of both sides in registers."""
    cut, l2, least_rows = -1, rules.l2, rules.min_rows
    a, b, c, e = left[0], left[1], left[2], left[3]
    A, B, C, E = total[0], total[1], total[2], total[3]
    one, two, three = np.uintp(1), np.uintp(2), np.uintp(3)
    for place in range(bins):
        q = np.uintp(at + 4 * place)
        if histogram[q + three] != 0:
            a, b, c, e = a + histogram[q], b + histogram[q + one], c + histogram[q + two], e + histogram[q + three]
            if high(e) >= least_rows and high(E - e) >= least_rows:
                value = squares(a, b, c) / (low(e) + l2) + squares(A - a, B - b, C - c) / (low(E - e) + l2)
                if value > best * (1.0 + TIE):
                    best, cut = value, place
    return best, cut


@njit(**INNER, error_model="numpy")
def find_cuts(histogram, features, m, rules, subsets, first, last, cuts, leaf):  # type: ignore[no-untyped-def]
    """Find the best cuts of the features first..last-1 in one of the two leaves.

    m = None stands for six gradients, the usual number, and `subsets` is None where no feature is categorical: what
    only other numbers and subsets need is then not compiled.
    """
    worths, which, total, left = cuts.worth[leaf], cuts.which[leaf], cuts.sums[first, 0], cuts.sums[first, 1]
    width, offsets, n_bins = len(total), features.offsets, features.n_bins
    sum_region(histogram, offsets[first], offsets[first + 1], total)
    if m is None:
        least = squares(total[0], total[1], total[2]) / (low(total[3]) + rules.l2)
    else:
        least = whole_worth(total, m, rules.l2)
    if first == 0:
        cuts.whole[leaf] = least
    for f in range(first, last):
        worths[f] = -1.0
        bins, start = n_bins[f], offsets[f] * width
        if subsets is not None and features.categorical[f]:
            find_subset(histogram, start, bins, total, 6 if m is None else m, least, rules, f, worths, which)
            continue
        best, missing = least, start + bins * width
        some_missing = histogram[missing + width - 1] != 0
        for side in range(2 if some_missing else 1):
            for q in range(width):
                left[q] = histogram[missing + q] if side == 1 else 0
            # With the missing values on the right, they may be alone there.
            tried = bins if some_missing and side == 0 else bins - 1
            if m is None:
                best, cut = scan_six(histogram, start, tried, left, total, rules, best)
            else:
                best, cut = scan(histogram, start, tried, left, total, m, rules, best)
            if cut >= 0:
                worths[f], which[f, 0], which[f, 1] = best, cut, side


@njit(**INNER, error_model="numpy")
def order_categories(histogram, start, bins, m, j, l2, keys, order):  # type: ignore[no-untyped-def]
    """Sort the categories that occur, missing values among them, by their mean gradient j; return their number."""
    count, width = np.int64(0), n_words(m)
    for b in range(bins + 1):
        sums = histogram[start + b * width : start + (b + 1) * width]
        if sums[width - 1] != 0:
            keys[count], order[count] = entry(sums, j) / (entry(sums, m) + l2), b
            count += 1
    shell_sort(keys, order, count)
    return count


@njit(**INNER)
def find_subset(histogram, start, bins, total, m, best, rules, f, worths, which):  # type: ignore[no-untyped-def]
    """Try the categories of a feature in the order of each of the m mean gradients."""
    width, keys, order = len(total), np.empty(bins + 1), np.empty(bins + 1, np.int64)
    left = np.empty(width, np.int64)
    for j in range(m):
        count = order_categories(histogram, start, bins, m, j, rules.l2, keys, order)
        for q in range(width):
            left[q] = 0
        for p in range(count - 1):
            for q in range(width):
                left[q] += histogram[start + order[p] * width + q]
            value = worth(left, total, m, rules.l2, rules.min_rows)
            if value > best * (1.0 + TIE):
                best = value
                worths[f], which[f, 0], which[f, 1] = value, p, -1 - j


@njit(**INNER)
def mark_subset(histogram, start, bins, m, cut, j, l2, subset):  # type: ignore[no-untyped-def]
    """Mark the categories up to the place `cut` in the order of mean gradient j."""
    keys, order = np.empty(bins + 1), np.empty(bins + 1, np.int64)
    order_categories(histogram, start, bins, m, j, l2, keys, order)
    for b in range(bins + 1):
        subset[b] = False
    for p in range(cut + 1):
        subset[order[p]] = True
