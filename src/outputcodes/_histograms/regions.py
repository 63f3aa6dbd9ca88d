"""Regions of rows: the histograms of their whole numbers, and how a question parts them.

For every bin of every feature, a histogram has the sum of a row vector over the rows of a region. The entries are whole
numbers, whose sums are exact: a histogram does not depend on the order of the rows, on blocks or on threads, and the
histogram of a sibling is a difference without rounding. All trees on binned features stand on it: `vectors`
with packed gradients, `columns` with the weights of two signs.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from outputcodes._ground.compiling import ENTRY
from outputcodes._ground.lanes import WHOLE_LANES, load, store


@njit(**ENTRY, inline="always")
def fill(codes, rows, offsets, words, first, last, histogram):  # type: ignore[no-untyped-def]
    """Set histogram[offsets[f] + b] to the sum of the vectors of `rows` with code b, for the features first..last-1.

    `histogram` is flat, with as many words per bin as a row has. Unsigned numbers as indices are never counted from the
    end.
    """
    width = words.shape[1]
    clear_bins(histogram, offsets[first] * width, offsets[last] * width)
    start, stop, one = np.uintp(first), np.uintp(last), np.uintp(1)
    for i in rows:
        f = start
        while f < stop:
            at = (np.uintp(offsets[f]) + np.uintp(codes[i, f])) * np.uintp(width)
            for q in range(width):
                histogram[at + np.uintp(q)] += words[i, q]
            f += one


@njit(**ENTRY, inline="always")
def fill_four(codes, rows, offsets, words, first, last, histogram):  # type: ignore[no-untyped-def]
    """Do the same for vectors of four words, the usual number."""
    clear_bins(histogram, offsets[first] * WHOLE_LANES, offsets[last] * WHOLE_LANES)
    start, stop, one, width = np.uintp(first), np.uintp(last), np.uintp(1), np.uintp(WHOLE_LANES)
    for i in rows:
        vector, f = load(words[i], 0), start
        while f < stop:
            at = (np.uintp(offsets[f]) + np.uintp(codes[i, f])) * width
            store(histogram, at, load(histogram, at) + vector)
            f += one


@njit(**ENTRY, inline="always")
def fill_two_signs(codes, rows, offsets, signed, histogram):  # type: ignore[no-untyped-def]
    """Do the same for vectors of two numbers of which one is 0: (w, 0) where signed = w > 0, (0, w) where it is -w."""
    d = len(offsets) - 1
    clear_bins(histogram, 0, 2 * offsets[d])
    one, two, stop = np.uintp(1), np.uintp(2), np.uintp(d)
    for i in rows:
        weight, sign = abs(signed[i]), np.uintp(signed[i] < 0)
        f = np.uintp(0)
        while f < stop:
            histogram[(np.uintp(offsets[f]) + np.uintp(codes[i, f])) * two + sign] += weight
            f += one


@njit(**ENTRY, inline="always")
def fill_feature(codes, rows, f, offsets, signed, histogram):  # type: ignore[no-untyped-def]
    """Do the same for one feature alone."""
    clear_bins(histogram, 2 * offsets[f], 2 * offsets[f + 1])
    start, f, two = np.uintp(offsets[f]), np.uintp(f), np.uintp(2)
    for i in rows:
        histogram[(start + np.uintp(codes[i, f])) * two + np.uintp(signed[i] < 0)] += abs(signed[i])


@njit(inline="always")
def clear_bins(histogram, start, stop):  # type: ignore[no-untyped-def]
    """Set a part of a histogram to 0."""
    # Unsigned indices never count from the end, so that the compiler can use vectors.
    for q in range(np.uintp(start), np.uintp(stop)):
        histogram[q] = 0


@njit(inline="always")
def move_sibling(parent, small, start, stop):  # type: ignore[no-untyped-def]
    """Turn a part of a region's histogram into that of what `small`, a part of the region, leaves."""
    for q in range(np.uintp(start), np.uintp(stop)):
        parent[q] -= small[q]


@njit(inline="always")
def part_rows(order, first, last, spare, codes, f, goes_left):  # type: ignore[no-untyped-def]
    """Put the rows of a segment first whose code goes to the left; return the end of these.

    Which way a row goes is unpredictable, so that writing to both sides is faster than a branch.
    """
    one = np.uintp(1)
    left, right = np.uintp(first), np.uintp(0)
    for p in range(np.uintp(first), np.uintp(last)):
        row = order[p]
        order[left] = row
        spare[right] = row
        goes = goes_left[codes[row, f]]
        left += goes
        right += one - goes
    for p in range(right):
        order[left + p] = spare[p]
    return np.int64(left)


@njit(**ENTRY)
def part_own(own, spare, codes, f, goes_left):  # type: ignore[no-untyped-def]
    """Put those of some rows first whose code goes to the left; return their number."""
    return part_rows(own, 0, len(own), spare, codes, f, goes_left)
