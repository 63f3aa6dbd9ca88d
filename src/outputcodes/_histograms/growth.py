"""The growth of a tree: every region that is impure and large enough is parted by its best question.

The examples of a node are orders[f, first:last], for each feature f sorted by it, the missing values last; parting a
node keeps both sides sorted. Growth can be left and taken up again: what is still to be parted is on a stack.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from outputcodes._ground.choosing import TIE
from outputcodes._histograms.costs import clear, region_cost
from outputcodes._histograms.questions import goes_left
from outputcodes._histograms.splits import find_axis


class Rules(NamedTuple):
    """What a region costs, and when it stays whole."""

    criterion: int
    min_region: int
    least_gain: float
    max_depth: int


class Growth(NamedTuple):
    """A tree that grows: weight of each class at each node; stack of (node, first, last, depth); heights of all three.

    `heights` = (stack, nodes, pool).
    """

    counts: NDArray[np.float64]
    orders: NDArray[np.uint32]
    stack: NDArray[np.int64]
    heights: NDArray[np.int64]
    on_left: NDArray[np.bool_]
    spare: NDArray[np.uint32]


@njit(nogil=True, cache=True)
def is_final(counts, n, depth, rules):  # type: ignore[no-untyped-def]
    """Whether a region is pure, small or deep enough to stay whole."""
    n_classes = 0
    for c in range(len(counts)):
        n_classes += counts[c] > 0.0
    return n_classes < 2 or n <= rules.min_region or depth >= rules.max_depth


@njit(nogil=True, cache=True)
def total_weight(counts):  # type: ignore[no-untyped-def]
    """All classes together."""
    total = 0.0
    for c in range(len(counts)):
        total += counts[c]
    return total


@njit(nogil=True, cache=True)
def write_question(node, nodes, growth, choice):  # type: ignore[no-untyped-def]
    """Make of a leaf a node with two leaves."""
    heights, length = growth.heights, choice.which[3]
    nodes.kind[node], nodes.feature[node] = choice.which[0], choice.which[1]
    nodes.threshold[node], nodes.missing_left[node] = choice.numbers[1], choice.which[2] == 1
    nodes.left[node], nodes.at[node], nodes.length[node] = heights[1], heights[2], length
    for q in range(length):
        nodes.pool[heights[2] + q] = choice.pool[q]
    heights[1] += 2
    heights[2] += length


@njit(nogil=True, cache=True)
def sort_by_side(orders, first, last, on_left, spare):  # type: ignore[no-untyped-def]
    """Bring the examples on the left before the others, in the order they had."""
    for f in range(len(orders)):
        order, left, right = orders[f], first, 0
        for p in range(first, last):
            row = order[p]
            if on_left[row]:
                order[left] = row
                left += 1
            else:
                spare[right] = row
                right += 1
        for p in range(right):
            order[left + p] = spare[p]


@njit(nogil=True, cache=True)
def push(growth, node, first, last, depth):  # type: ignore[no-untyped-def]
    """Put a region on the stack."""
    top = growth.stack[growth.heights[0]]
    top[0], top[1], top[2], top[3] = node, first, last, depth
    growth.heights[0] += 1


@njit(nogil=True, cache=True)
def part_top(sample, rules, nodes, growth, choice, tie):  # type: ignore[no-untyped-def]
    """Take the region on top of the stack, and part it by the choice if that gains enough."""
    counts, orders, on_left = growth.counts, growth.orders, growth.on_left
    growth.heights[0] -= 1
    top = growth.stack[growth.heights[0]]
    node, first, last, depth = top[0], top[1], top[2], top[3]
    gain = region_cost(counts[node], rules.criterion) - choice.numbers[0]
    if choice.numbers[0] == np.inf or gain < rules.least_gain - tie:
        return
    write_question(node, nodes, growth, choice)
    left, middle, lead = nodes.left[node], first, 0.0
    clear(counts[left])
    clear(counts[left + 1])
    for p in range(first, last):
        row = orders[0, p]
        on_left[row] = goes_left(sample.X[row], node, nodes)
        middle += on_left[row]
        lead += sample.weight[row] if on_left[row] else -sample.weight[row]
        counts[left if on_left[row] else left + 1, sample.y[row]] += sample.weight[row]
    if choice.which[2] < 0:
        nodes.missing_left[node] = lead >= -tie
    final_left = is_final(counts[left], middle - first, depth + 1, rules)
    final_right = is_final(counts[left + 1], last - middle, depth + 1, rules)
    if not (final_left and final_right):
        sort_by_side(orders, first, last, on_left, growth.spare)
    # The left side is on top, and parted first.
    if not final_right:
        push(growth, left + 1, middle, last, depth + 1)
    if not final_left:
        push(growth, left, first, middle, depth + 1)


@njit(nogil=True, cache=True)
def grow(sample, rules, nodes, growth, features, room, choice, budget):  # type: ignore[no-untyped-def]
    """Part what is on the stack by questions of one numeric feature, as far as `budget` values to be looked at go."""
    while growth.heights[0] > 0:
        top = growth.stack[growth.heights[0] - 1]
        first, last = top[1], top[2]
        budget -= (last - first) * len(growth.orders)
        if budget < 0:
            return
        tie = TIE * total_weight(growth.counts[top[0]])
        choice.numbers[0], choice.numbers[2] = np.inf, 0.0
        find_axis(sample, growth.orders, first, last, features, rules.criterion, tie, room, choice)
        part_top(sample, rules, nodes, growth, choice, tie)
