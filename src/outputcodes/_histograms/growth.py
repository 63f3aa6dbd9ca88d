"""The growth of a tree: every region that is impure and large enough is split by its best question.

The examples of a node are orders[f, first:last], sorted by feature f for each f, missing values last; splitting a node
keeps both sides sorted. Growth can be interrupted and continued: the regions still to be split are on a stack.
`columns.growth` grows trees on binned features in the same way.
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

LARGEST = int(np.iinfo(np.int64).max)


class Rules(NamedTuple):
    """The cost of a region, and when it is not split."""

    criterion: int
    min_region: int
    least_gain: float
    max_depth: int


def as_limit(value: int | None) -> int:
    """Return a limit as a number that compiled code counts to; None is no limit."""
    return LARGEST if value is None else min(int(value), LARGEST)


class Growth(NamedTuple):
    """A growing tree: weight of each class at each node; stack of (node, first, last, depth).

    `heights` are the numbers of entries in use of the stack, the nodes and the pool.
    """

    counts: NDArray[np.float64]
    orders: NDArray[np.uint32]
    stack: NDArray[np.int64]
    heights: NDArray[np.int64]
    on_left: NDArray[np.bool_]
    spare: NDArray[np.uint32]


@njit(nogil=True, cache=True)
def is_final(counts, n, depth, rules):  # type: ignore[no-untyped-def]
    """Return whether a region is too pure, too small or too deep to be split."""
    n_classes = 0
    for c in range(len(counts)):
        n_classes += counts[c] > 0.0
    return n_classes < 2 or n <= rules.min_region or depth >= rules.max_depth


@njit(nogil=True, cache=True)
def total_weight(counts):  # type: ignore[no-untyped-def]
    """Return the weight of all classes together."""
    total = 0.0
    for c in range(len(counts)):
        total += counts[c]
    return total


@njit(nogil=True, cache=True)
def write_question(node, nodes, growth, choice):  # type: ignore[no-untyped-def]
    """Turn a leaf into a node with two leaves."""
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
    """Move the examples on the left before the others, keeping the order on each side."""
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
    """Pop the region on top of the stack, and split it by the choice if the gain is large enough."""
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
    # The left side is on top, and is split first.
    if not final_right:
        push(growth, left + 1, middle, last, depth + 1)
    if not final_left:
        push(growth, left, first, middle, depth + 1)


@njit(nogil=True, cache=True)
def grow(sample, rules, nodes, growth, features, room, choice, budget):  # type: ignore[no-untyped-def]
    """Split the regions on the stack by questions about one numeric feature, reading at most `budget` values."""
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
