"""The best question about one feature of a region: one search for every engine.

The rows of a region with the same bin, or the same value, form a group. The groups stand in line; a cut parts those
before it from those behind it.

    numbers      ascend. Missing values, the last group, join the left side, then the right, where they may be alone.
    categories   are sorted by a key, missing values as one more category, in each of the orders that the gain has.

What a group holds is in a `table`, a histogram or sorted rows; `line.at` are the places of the groups in it. What a cut
costs is the business of a *gain*: a named tuple whose type decides which versions of the four functions below are
compiled. A new engine writes these, by `for_gain`, and has categories, missing values and ties.

    price_cuts   what the two sides of every cut cost
    gap_after    the gap between the values on the two sides of a cut
    key_of       what categories are sorted by
    orders_of    how many orders of the categories there are

Among cuts that cost the same up to a tie, the first with the widest gap wins.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numba.extending import overload
from numpy.typing import NDArray

from outputcodes._ground.compiling import INNER
from outputcodes._histograms.costs import shell_sort


class Line(NamedTuple):
    """Work arrays: places of the groups in line and in the order of their bins, sorting keys, and costs of the cuts."""

    at: NDArray[np.int64]
    home: NDArray[np.int64]
    keys: NDArray[np.float64]
    costs: NDArray[np.float64]


def make_line(*shape: int) -> Line:
    """Allocate a line for so many groups, or several of them."""
    at, home = np.empty((2, *shape), np.int64)
    keys, costs = np.empty((2, *shape))
    return Line(at, home, keys, costs)


def price_cuts(
    gain: Any, table: Any, at: Any, costs: Any, present: int, count: int, missing_left: bool, n_cuts: int
) -> None:
    """Set costs[g] to the cost of the cut after the group at place at[g], for g < n_cuts.

    The groups from `present` to `count` are on the left side of all cuts, or on the right one.
    """
    raise NotImplementedError


def gap_after(gain: Any, at: Any, g: int) -> float:
    """Return the gap between the numbers of the groups at the places at[g] and at[g + 1]."""
    raise NotImplementedError


def key_of(gain: Any, table: Any, at: int, order: int) -> float:
    """Return what the category at a place is sorted by."""
    raise NotImplementedError


def orders_of(gain: Any) -> Any:
    """Return the number of orders of the categories."""
    raise NotImplementedError


def for_gain(function: Callable[..., Any], gain: type, **options: Any) -> Callable[[Any], Any]:
    """Return a decorator: what it decorates is compiled in place of `function` for one type of gain."""

    def register(version: Any) -> Any:
        def choose(kind: Any, *others: Any) -> Any:
            return version if getattr(kind, "instance_class", None) is gain else None

        # Not strict: `choose` has other names of arguments than the version.
        overload(function, jit_options=INNER | options, strict=False)(choose)
        return version

    return register


@njit(inline="always")
def line_up(table, start, bins, width, counting, line):  # type: ignore[no-untyped-def]
    """Line up the bins that hold rows, missing values last; return their number, and whether some are missing.

    The histogram of the feature begins at `start`. A bin holds rows if one of its words from `counting` on is not 0.
    """
    used, last, end = np.uintp(0), np.uintp(width - 1), np.uintp(start)
    for _ in range(bins + 1):
        first, end = end, end + last + np.uintp(1)
        occupied = table[first + last] != 0
        for q in range(np.uintp(counting), last):
            occupied |= table[first + q] != 0
        line.at[used] = first
        used += np.uintp(occupied)
    count = np.int64(used)
    return count, count > 0 and line.at[count - 1] == start + bins * width


@njit(inline="always")
def is_better(cost, gap, least, widest, tie, gap_tie):  # type: ignore[no-untyped-def]
    """Return whether a question is better than the best one before it: cheaper, or equal with a wider gap."""
    return cost < least - tie or (cost <= least + tie and gap > widest + gap_tie)


@njit(inline="always")
def least_of(costs, first, step, n):  # type: ignore[no-untyped-def]
    """Return the least of n costs, those at first, first + step, …"""
    least = np.inf
    for g in range(n):
        if costs[first + g * step] < least:
            least = costs[first + g * step]
    return least


@njit(inline="always")
def sort_line(gain, table, line, count, order):  # type: ignore[no-untyped-def]
    """Line up the categories in one of their orders, from that of their bins."""
    for g in range(count):
        line.at[g] = line.home[g]
        line.keys[g] = key_of(gain, table, line.home[g], order)
    shell_sort(line.keys, line.at, count)


@njit(inline="always")
def best_question(gain, table, line, count, missing, f, categorical, subsets, tie, relative, gap_tie):  # type: ignore[no-untyped-def]
    """Return (cost, cut, order, side, gap) of the best question about feature f, which has `count` > 1 groups in line.

    The groups before the cut go to the left; cut = 0 means that there is no question. The side is 1 or 0 where missing
    values go to the left or not, and -1 where there are none or they are a category. Costs are equal up to `tie` plus
    their share `relative`, gaps up to `gap_tie`; where that is infinite, the first cut wins. `subsets` is None
    where no feature is categorical, which saves compiling what only categories need.
    """
    at, costs, ordered, n_missing, n_orders = line.at, line.costs, True, np.int64(missing), np.int64(1)
    if subsets is not None and categorical[f]:
        n_orders, n_missing, ordered = orders_of(gain), np.int64(0), False
        for g in range(count):
            line.home[g] = at[g]
    present = count - n_missing
    least, cut, best_order, side, widest = np.inf, np.int64(0), np.int64(0), np.int64(-1), 0.0
    for order in range(n_orders):
        if subsets is not None and not ordered:
            sort_line(gain, table, line, count, order)
        for missing_left in range(1 + n_missing):
            # Behind the last number there is a cut if missing values are then alone on the right.
            n_cuts = present - 1 + n_missing * (1 - missing_left)
            price_cuts(gain, table, at, costs, present, count, missing_left == 1, n_cuts)
            # Written out: `least_of` and `is_better` would be two more copies to be typed for every engine.
            cost = np.inf
            for g in range(n_cuts):
                if costs[g] < cost:
                    cost = costs[g]
            if cost == np.inf:
                continue  # no cut is allowed
            equal = tie + relative * abs(cost)
            found, gap = np.int64(0), -1.0
            for g in range(n_cuts):
                if costs[g] <= cost + equal:
                    wide = gap_after(gain, at, g) if ordered and g + 1 < present else 0.0
                    if found == 0 or wide > gap + gap_tie:
                        found, gap = g + 1, wide  # type: ignore[assignment]
            if cost < least - equal or (cost <= least + equal and gap > widest + gap_tie):
                least, cut, best_order, widest = cost, found, order, gap  # type: ignore[assignment]
                side = missing_left + n_missing - 1
    return least, cut, best_order, side, widest
