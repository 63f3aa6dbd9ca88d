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
from outputcodes._histograms.costs import shell_sort
from outputcodes._histograms.vector_sums import high, low


class LeafSplits(NamedTuple):
    """The best question of each leaf: (gain), (feature or -1, last code on the left, missing on the left), subset."""

    gain: NDArray[np.float64]
    which: NDArray[np.int64]
    subset: NDArray[np.bool_]


class SplitRules(NamedTuple):
    """What a side must have; `l2` in units of the curvature, the share of features that a region may ask about."""

    l2: float
    min_rows: int
    feature_share: float
    seed: np.uint64


class VectorRoom(NamedTuple):
    """Work arrays: the sums of the region and of its left side, and the categories of a feature in order."""

    total: NDArray[np.int64]
    left: NDArray[np.int64]
    keys: NDArray[np.float64]
    order: NDArray[np.int64]


def make_vector_room(width: int, widest: int) -> VectorRoom:
    """Allocate for vectors of `width` words and features of up to `widest` bins."""
    return VectorRoom(
        np.empty(width, np.int64), np.empty(width, np.int64), np.empty(widest), np.empty(widest, np.int64)
    )


@njit(nogil=True, cache=True)
def entry(sums, j):  # type: ignore[no-untyped-def]
    """Return number j of a packed sum."""
    return high(sums[j // 2]) if j % 2 else low(sums[j // 2])


@njit(nogil=True, cache=True)
def worth(left, total, m, l2, min_rows):  # type: ignore[no-untyped-def]
    """Return the value of the two sides of a question, given the sums of the left one; -1 where a side is too small."""
    words = len(total)
    if words == 4 and m == 6:
        l0, l1, l2_, l3 = left[0], left[1], left[2], left[3]
        r0, r1, r2, r3 = total[0] - l0, total[1] - l1, total[2] - l2_, total[3] - l3
        if high(l3) < min_rows or high(r3) < min_rows:
            return -1.0
        a, b, c = float(low(l0)), float(high(l0)), float(low(l1))
        d, e, f = float(high(l1)), float(low(l2_)), float(high(l2_))
        on_left = a * a + b * b + c * c + d * d + e * e + f * f
        a, b, c = float(low(r0)), float(high(r0)), float(low(r1))
        d, e, f = float(high(r1)), float(low(r2)), float(high(r2))
        on_right = a * a + b * b + c * c + d * d + e * e + f * f
        return on_left / (low(l3) + l2) + on_right / (low(r3) + l2)
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


@njit(nogil=True, cache=True)
def whole_worth(total, m, l2):  # type: ignore[no-untyped-def]
    """Return the value of a region that is not parted."""
    squares = 0.0
    for j in range(m):
        squares += float(entry(total, j)) ** 2
    return squares / (entry(total, m) + l2)


@njit(nogil=True, cache=True)
def asks_about(feature, region, rules):  # type: ignore[no-untyped-def]
    """Return whether a region may ask about a feature: for a share of all pairs, by a hash of both and the seed."""
    if rules.feature_share >= 1.0:
        return True
    z = rules.seed + np.uint64(0x9E3779B97F4A7C15) * (np.uint64(region) * np.uint64(1 << 20) + np.uint64(feature + 1))
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return float((z ^ (z >> np.uint64(31))) >> np.uint64(11)) * 2.0**-53 < rules.feature_share


@njit(nogil=True, cache=True)
def find_split(histogram, features, m, leaf, region, rules, room, splits):  # type: ignore[no-untyped-def]
    """Find the best question of a leaf, whose number among all nodes is `region`; gain 0 if there is none."""
    width, total, left = len(room.total), room.total, room.left
    total[:] = 0
    for b in range(features.n_bins[0] + 1):
        for q in range(width):
            total[q] += histogram[b * width + q]
    least = whole_worth(total, m, rules.l2)
    best, which = least, splits.which[leaf]
    which[0] = -1
    for f in range(len(features.n_bins)):
        if not asks_about(f, region, rules):
            continue
        bins, start = features.n_bins[f], features.offsets[f] * width
        if features.categorical[f]:
            best = find_subset(histogram, f, start, bins, m, best, rules, room, which, splits.subset[leaf])
            continue
        missing = start + bins * width
        present = entry(total, m + 1) - entry(histogram[missing : missing + width], m + 1)
        some_missing = present < entry(total, m + 1)
        for side in range(2 if some_missing else 1):
            left[:] = 0
            if side == 1:
                left[:] = histogram[missing : missing + width]
            # With the missing values on the right, they may be alone there.
            for b in range(bins if some_missing and side == 0 else bins - 1):
                at = start + b * width
                for q in range(width):
                    left[q] += histogram[at + q]
                value = worth(left, total, m, rules.l2, rules.min_rows)
                if value > best * (1.0 + TIE):
                    best = value
                    which[0], which[1], which[2] = f, b, side
    splits.gain[leaf] = best - least if which[0] >= 0 else 0.0


@njit(nogil=True, cache=True)
def find_subset(histogram, f, start, bins, m, best, rules, room, which, subset):  # type: ignore[no-untyped-def]
    """Try the categories of a feature, missing values among them, in the order of each of the m mean gradients."""
    width, total, left, keys, order = len(room.total), room.total, room.left, room.keys, room.order
    for j in range(m):
        count = 0
        for b in range(bins + 1):
            sums = histogram[start + b * width : start + (b + 1) * width]
            if entry(sums, m + 1) > 0:
                keys[count], order[count] = entry(sums, j) / (entry(sums, m) + rules.l2), b
                count += 1
        shell_sort(keys, order, count)
        left[:] = 0
        for p in range(count - 1):
            at = start + order[p] * width
            for q in range(width):
                left[q] += histogram[at + q]
            value = worth(left, total, m, rules.l2, rules.min_rows)
            if value > best * (1.0 + TIE):
                best = value
                which[0], which[1], which[2] = f, p, -1
                subset[:] = False
                for other in range(p + 1):
                    subset[order[other]] = True
    return best
