"""The growth of a tree for one column of a code, on binned features.

Example i has the weight |signed[i]|, a whole number, for its sign. The examples of a node are rows[first:last]. Their
histogram is filled, or is what the sibling leaves of that of the parent; both are the same, for sums of whole numbers
are exact. A tree therefore does not depend on the order of the rows. Where there are more bins than examples, these are
sorted instead. A node that asks about some features only fills the histograms of these, and keeps none.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from outputcodes._ground.choosing import TIE
from outputcodes._ground.compiling import ENTRY, INNER
from outputcodes._histograms.columns.splits import (
    PairGain,
    line_up_sorted,
    pair_cost,
    range_of,
    read_choice,
    store_choice,
)
from outputcodes._histograms.growth import is_final, write_question
from outputcodes._histograms.one_feature import best_question, is_better, line_up
from outputcodes._histograms.regions import fill_feature, fill_two_signs, move_sibling, part_rows
from outputcodes._histograms.sampling import draw_at_node

# Values read per compiled call, about 0.1 s, so that Ctrl-C is handled in between.
VALUES_PER_CALL = 50_000_000
# The histograms that a growing tree keeps: so many, or as many as fit in 8 MiB.
MOST_KEPT, KEPT_WORDS = 32, 1 << 20
# The histogram that every node may fill and none keeps.
SCRATCH = 0


class ColumnGrowth(NamedTuple):
    """A growing tree: weights of both signs at each node; stack of (node, first, last, depth, histogram or -1).

    `heights` are the numbers of entries in use of the stack, the nodes and the pool, and of the histograms that are
    `free`. `ranges` are those of the features. A node may ask about `n_asked` features, drawn by `seed`; `walk` has
    them first.
    """

    counts: NDArray[np.int64]
    rows: NDArray[np.uint32]
    spare: NDArray[np.uint32]
    stack: NDArray[np.int64]
    heights: NDArray[np.int64]
    ranges: NDArray[np.float64]
    histograms: NDArray[np.int64]
    free: NDArray[np.int64]
    walk: NDArray[np.int64]
    n_asked: int
    seed: np.uint64


def whole_weights(weights: NDArray[np.float64]) -> tuple[NDArray[np.int64], float]:
    """Return signed weights as whole numbers, and how much one unit is, a power of 2.

    All sizes together are below 2^62. No weight becomes 0, and the order of the weights does not matter.

    >>> whole, unit = whole_weights(np.array([1.0, -0.25]))
    >>> whole * unit
    array([ 1.  , -0.25])
    """
    exponent = unit_exponent(float(np.abs(weights).max(initial=0.0)), len(weights))
    return in_units(weights, exponent), float(np.ldexp(1.0, exponent))


def unit_exponent(largest: float, n: int) -> int:
    """Return the exponent of the unit of n weights of at most this size."""
    return int(np.frexp(largest)[1]) + n.bit_length() - 61


def in_units(weights: NDArray[np.float64], exponent: int) -> NDArray[np.int64]:
    """Return signed weights as whole numbers of units."""
    whole = np.rint(np.ldexp(weights, -exponent))
    sized: NDArray[np.int64] = np.where(whole == 0, np.sign(weights), whole).astype(np.int64)
    return sized


def n_kept(size: int) -> int:
    """Return how many histograms of so many words a growing tree keeps, the one that none keeps included."""
    return min(MOST_KEPT, max(2, KEPT_WORDS // size))


def start_growth(
    rows: NDArray[Any], own: NDArray[np.int64], n_nodes: int, n_bins: NDArray[np.int64], n_asked: int, seed: np.uint64
) -> ColumnGrowth:
    """Allocate the growth of a tree whose root has these rows with these signed weights; the stack is empty."""
    size = 2 * int((n_bins + 1).sum())
    kept = n_kept(size)
    growth = ColumnGrowth(
        np.empty((n_nodes, 2), np.int64),
        rows.astype(np.uint32),
        np.empty(len(rows), np.uint32),
        np.zeros((len(rows) + 1, 5), np.int64),
        np.array([0, 1, 0, kept - 1]),
        np.empty(len(n_bins)),
        np.empty((kept, size), np.int64),
        np.arange(SCRATCH + 1, kept),
        np.arange(len(n_bins)),
        n_asked,
        seed,
    )
    growth.counts[0] = own[own > 0].sum(), -own[own < 0].sum()
    growth.stack[0] = 0, 0, len(rows), 0, -1
    return growth


@njit(**INNER)
def push_region(growth, node, first, last, depth, slot):  # type: ignore[no-untyped-def]
    """Put a region on the stack."""
    top, stack = growth.heights[0], growth.stack
    stack[top, 0], stack[top, 1], stack[top, 2], stack[top, 3], stack[top, 4] = node, first, last, depth, slot
    growth.heights[0] = top + 1


@njit(**INNER)
def take_free(growth, otherwise):  # type: ignore[no-untyped-def]
    """Return the number of a histogram that is free, if there is one."""
    if growth.heights[3] == 0:
        return otherwise
    growth.heights[3] -= 1
    return growth.free[growth.heights[3]]


@njit(**INNER)
def set_free(growth, slot):  # type: ignore[no-untyped-def]
    """Give a histogram back."""
    if slot > SCRATCH:
        growth.free[growth.heights[3]] = slot
        growth.heights[3] += 1


@njit(**INNER)
def are_few(n, growth):  # type: ignore[no-untyped-def]
    """Return whether sorting n rows is faster than filling a histogram."""
    return n * len(growth.ranges) * 8 < growth.histograms.shape[1]


@njit(**INNER)
def write_choice(features, nodes, growth, node, room, choice):  # type: ignore[no-untyped-def]
    """Turn a leaf into a node that asks the chosen question, with the weights of its sides; return the left one."""
    counts = growth.counts
    read_choice(features, room, choice)
    write_question(node, nodes, growth, choice)
    left = nodes.left[node]
    for sign in range(2):
        counts[left, sign] = room.left[sign]
        counts[left + 1, sign] = counts[node, sign] - room.left[sign]
    if choice.which[2] < 0:
        on_left, on_right = float(counts[left, 0] + counts[left, 1]), float(counts[left + 1, 0] + counts[left + 1, 1])
        nodes.missing_left[node] = on_left >= on_right - TIE * (on_left + on_right)
    return left


@njit(**INNER)
def part_column(features, signed, rules, nodes, growth, slot, room, choice):  # type: ignore[no-untyped-def]
    """Pop the region on top of the stack and split it by the choice; its histogram, if kept, is handed on."""
    counts, rows, heights = growth.counts, growth.rows, growth.heights
    heights[0] -= 1
    top = growth.stack[heights[0]]
    node, first, last, depth = top[0], top[1], top[2], top[3] + 1
    left = write_choice(features, nodes, growth, node, room, choice)
    middle = part_rows(rows, first, last, growth.spare, features.codes, np.uintp(choice.which[1]), room.goes_left)
    left_final = is_final(counts[left], middle - first, depth, rules)
    right_final = is_final(counts[left + 1], last - middle, depth, rules)
    left_slot, right_slot = np.int64(-1), np.int64(-1)
    left_small = middle - first <= last - middle
    n_large = max(middle - first, last - middle)
    large_final, small_final = (right_final, left_final) if left_small else (left_final, right_final)
    if slot > SCRATCH:
        if large_final or are_few(n_large, growth):
            set_free(growth, slot)
        else:
            small_first, small_last = (first, middle) if left_small else (middle, last)
            own = np.int64(SCRATCH)
            if not small_final and not are_few(small_last - small_first, growth):
                own = take_free(growth, own)
            histogram, whole = growth.histograms[own], growth.histograms[slot]
            fill_two_signs(features.codes, rows[small_first:small_last], features.offsets, signed, histogram)
            move_sibling(whole, histogram, 0, len(whole))
            own = own if own > SCRATCH else np.int64(-1)
            left_slot, right_slot = (own, slot) if left_small else (slot, own)
    if not right_final:
        push_region(growth, left + 1, middle, last, depth, right_slot)
    if not left_final:
        push_region(growth, left, first, middle, depth, left_slot)


@njit(**INNER)
def find_question(features, signed, rules, growth, node, first, last, slot, room, choice):  # type: ignore[no-untyped-def]
    """Choose the best question of a region; return whether it gains enough.

    The histogram of the region is growth.histograms[slot]. Without one, slot < 0, that of each feature is filled, or
    the rows are sorted if they are few.
    """
    d, counts, rows, ranges, line = len(features.n_bins), growth.counts, growth.rows, growth.ranges, room.line
    offsets, n_bins, categorical, walk = features.offsets, features.n_bins, features.categorical, growth.walk
    whole_p, whole_m = counts[node, 0], counts[node, 1]
    gain = PairGain(rules.criterion, whole_p, whole_m, features.low, features.high)
    tie = TIE * float(whole_p + whole_m)
    least, widest = np.inf, 0.0
    sorts = slot < 0 and are_few(last - first, growth)
    if growth.n_asked < d:
        draw_at_node(growth.seed, node, d, walk)
    histogram = growth.histograms[max(slot, SCRATCH)]
    for q in range(d):
        f = walk[q]
        # If none of the features that were drawn has two values, others are asked about. The root sees all ranges.
        asked = q < growth.n_asked or least == np.inf
        if not asked and node > 0:
            break
        if sorts:
            count, missing = line_up_sorted(features, f, signed, rows, first, last, histogram, room)
        else:
            if slot < 0:
                fill_feature(features.codes, rows[first:last], f, offsets, signed, histogram)
            count, missing = line_up(histogram, 2 * offsets[f], n_bins[f], 2, 0, line)
        if count < 2:
            continue
        if node == 0:
            ranges[f] = range_of(features, count, missing, line.at)
            if not asked:
                continue
        found = best_question(
            gain, histogram, line, count, missing, f, categorical, categorical, tie, 0.0, TIE * ranges[f]
        )
        gap = found[4] / ranges[f]
        if is_better(found[0], gap, least, widest, tie, TIE):
            least, widest = min(found[0], least), gap
            store_choice(features, f, histogram, line.at, count, missing, found[1], found[3], room.left, choice)
    return pair_cost(float(whole_p), float(whole_m), rules.criterion) - least >= rules.least_gain - tie


@njit(**ENTRY)
def grow_column(features, signed, rules, nodes, growth, room, choice, budget):  # type: ignore[no-untyped-def]
    """Split the regions on the stack until about `budget` values have been read."""
    d, heights, rows = len(features.n_bins), growth.heights, growth.rows
    while heights[0] > 0 and budget > 0:
        top = growth.stack[heights[0] - 1]
        node, first, last, slot = top[0], top[1], top[2], top[4]
        budget -= (last - first) * d
        # A node that asks about some features only fills their histograms one by one.
        if growth.n_asked == d and not are_few(last - first, growth):
            budget -= growth.histograms.shape[1] // 2
            if slot < 0:
                slot = take_free(growth, np.int64(SCRATCH))
                fill_two_signs(features.codes, rows[first:last], features.offsets, signed, growth.histograms[slot])
        if find_question(features, signed, rules, growth, node, first, last, slot, room, choice):
            part_column(features, signed, rules, nodes, growth, slot, room, choice)
        else:
            heights[0] -= 1
            set_free(growth, slot)


@njit(**ENTRY)
def split_column(features, signed, rules, nodes, growth, node, room, choice):  # type: ignore[no-untyped-def]
    """Ask the best question at a node whose histogram is the only one, wherever its rows are; return whether it gains.

    `room.goes_left` then has the side of each bin of the feature.
    """
    if not find_question(features, signed, rules, growth, node, 0, 0, SCRATCH, room, choice):
        return False
    write_choice(features, nodes, growth, node, room, choice)
    return True
