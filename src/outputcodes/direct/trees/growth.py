"""The growth of a tree on a sample: features are sorted once, then each region is split by its best question."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from outputcodes._ground.choosing import TIE
from outputcodes._histograms.growth import Growth, Rules, grow, is_final, part_top
from outputcodes._histograms.questions import empty_nodes, trimmed
from outputcodes._histograms.splits import (
    FoundSplit,
    SplitRoom,
    TreeSample,
    find_axis,
    find_sphere,
    make_split_room,
    whole_rows,
)
from outputcodes.direct.trees.oblique import (
    EXACT_ROWS,
    SEARCH_ROWS,
    SWEEPS,
    begin_search,
    consider_direction,
    least_cost,
    sweep,
)
from outputcodes.direct.trees.structure import GrownTree
from outputcodes.direct.trees.subsets import find_subset

Array = NDArray[np.float64]

# Values read, and features tried, per compiled call: about 0.1 s, so that Ctrl-C is handled in between.
VALUES_PER_CALL, TURNS_PER_CALL = 10_000_000, 256


def grow_tree(
    X: Array,
    y: NDArray[np.intp],
    n_classes: int,
    weight: Array,
    categorical: NDArray[np.bool_],
    rules: Rules,
    oblique: bool = False,
    max_centres: int = 0,
) -> GrownTree:
    """Grow a tree for examples of positive weight with classes 0..k-1; try at most `max_centres` spheres per region."""
    wide = oblique or max_centres > 0
    if wide:
        # Equal examples side by side: the result then depends neither on the order of rows nor on repeated ones.
        order = np.lexsort((y, *X.T[::-1]))
        X, y, weight = X[order], y[order], weight[order]
    n, d = X.shape
    columns = np.ascontiguousarray(X.T)
    # Read-only arrays are a different type, for which kernels would be compiled again.
    X, weight = (np.require(array, requirements=["C", "W"]) for array in (X, weight))
    joint = _joint_weight(X, y, weight, ~categorical) if wide else weight
    sample = TreeSample(X, columns, y.astype(np.uint32), weight, joint, _ranges(columns), categorical)
    widest = max((len(np.unique(column)) for column in columns[categorical]), default=0)
    longest = max(widest, d if wide else 0)
    nodes = empty_nodes(2 * n - 1, (n - 1) * longest)
    growth = Growth(
        np.empty((2 * n - 1, n_classes)),
        _sorted_rows(columns),
        np.zeros((n + 1, 4), dtype=np.int64),
        np.array([0, 1, 0], dtype=np.int64),
        np.empty(n, dtype=bool),
        np.empty(n, dtype=np.uint32),
    )
    growth.counts[0] = np.bincount(y, weight, n_classes)
    growth.stack[0] = 0, 0, n, 0
    growth.heights[0] = not is_final(growth.counts[0], n, 0, rules)
    room, choice = make_split_room(n, n_classes, widest, longest)
    numeric = np.flatnonzero(~categorical)
    while growth.heights[0]:
        node, first, last, _ = growth.stack[growth.heights[0] - 1]
        if len(numeric) == d and not wide and (last - first) * d <= VALUES_PER_CALL:
            grow(sample, rules, nodes, growth, numeric, room, choice, VALUES_PER_CALL)
            continue
        tie = TIE * growth.counts[node].sum()
        _choose(sample, growth.orders, first, last, rules.criterion, tie, room, choice, oblique, max_centres)
        part_top(sample, rules, nodes, growth, choice, tie)
    _, n_nodes, pool = growth.heights
    return GrownTree(trimmed(nodes, n_nodes, pool), growth.counts[:n_nodes].copy())


def _choose(
    sample: TreeSample,
    orders: NDArray[np.uint32],
    first: int,
    last: int,
    criterion: int,
    tie: float,
    room: SplitRoom,
    choice: FoundSplit,
    oblique: bool,
    max_centres: int,
) -> None:
    """Find the best question of all kinds for orders[:, first:last]; it returns to Python often, to handle Ctrl-C."""
    region = (sample, orders[0], first, last)
    rest = (criterion, tie, room, choice)
    n, numeric = last - first, np.flatnonzero(~sample.categorical)
    choice.numbers[:] = np.inf, 0.0, 0.0
    for features in _pieces(numeric, n):
        find_axis(sample, orders, first, last, features, *rest)
    start = choice.which[1] if choice.numbers[0] < np.inf else -1
    for f in np.flatnonzero(sample.categorical):
        find_subset(sample, f, orders[f], first, last, *rest)
    # A question about several features never wins a tie against a simpler one, however wide its gap.
    choice.numbers[2] = np.inf
    if oblique and start >= 0:
        direction = _direction(sample, whole_rows(*region, SEARCH_ROWS), start, criterion, tie, room)
        if direction is not None:
            consider_direction(*region, direction, *rest)
    if max_centres:
        for centres in _pieces(whole_rows(*region, max_centres), n * (len(sample.columns) + 32)):
            find_sphere(*region, centres, *rest)


def _direction(
    sample: TreeSample, rows: NDArray[np.uint32], start: int, criterion: int, tie: float, room: SplitRoom
) -> Array | None:
    """Search some rows for the best direction, from that of feature `start`; return None if there is no other."""
    if len(rows) < 2:
        return None
    search, usable = begin_search(sample, rows, start)
    if usable < 2:
        return None
    exact, features = usable == 2 and len(rows) <= EXACT_ROWS, np.arange(len(sample.columns))
    search.least[0] = least_cost(search.u, search.u, 0.0, sample, rows, search.items, criterion, room)
    for _ in range(1 if exact else SWEEPS):
        before = search.least[0]
        for at in range(0, len(features), TURNS_PER_CALL):
            sweep(sample, search, features[at : at + TURNS_PER_CALL], exact, criterion, tie, room)
        if search.least[0] >= before - tie:
            break
    direction: Array = search.direction
    return direction


def _pieces(items: NDArray[Any], values_each: int) -> list[NDArray[Any]]:
    """Cut the items into pieces for one call each."""
    size = max(1, VALUES_PER_CALL // values_each)
    return [items[at : at + size] for at in range(0, len(items), size)]


def _ranges(columns: Array) -> Array:
    """Return the range of each feature, or 1 if it is 0."""
    missing = np.isnan(columns)
    ranges = np.where(missing, -np.inf, columns).max(axis=1) - np.where(missing, np.inf, columns).min(axis=1)
    return np.where(ranges > 0, ranges, 1.0)


def _joint_weight(X: Array, y: NDArray[np.intp], weight: Array, numeric: NDArray[np.bool_]) -> Array:
    """Return the total weight of equal examples, which are side by side, at the first one, and 0 at the others."""
    same = (X[1:] == X[:-1]) | (np.isnan(X[1:]) & np.isnan(X[:-1]))
    first = np.append(True, ~same.all(axis=1) | (y[1:] != y[:-1]))
    joint = np.zeros(len(y))
    joint[first] = np.add.reduceat(weight, np.flatnonzero(first))
    joint[np.isnan(X[:, numeric]).any(axis=1)] = 0.0
    return joint


def _sorted_rows(columns: Array) -> NDArray[np.uint32]:
    """Return the examples in ascending order of each feature, missing values last."""
    with np.errstate(invalid="ignore"):
        small = columns.astype(np.int16)
    # Small integers are radix-sorted, ten times as fast.
    keys = small if np.array_equal(small, columns) else columns
    return np.argsort(keys, axis=1, kind="stable").astype(np.uint32)
