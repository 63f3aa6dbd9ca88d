"""A tree grown on a sample: features sorted once, then region after region parted by its best question."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from outputcodes._kernels.tree_costs import TIE
from outputcodes._kernels.tree_oblique import find_oblique
from outputcodes._kernels.tree_questions import empty_nodes, trimmed
from outputcodes._kernels.tree_splits import Sample, find_axis, find_sphere, make_room
from outputcodes._kernels.trees import Growth, Rules, grow, is_final, part_top
from outputcodes.trees.structure import GrownTree

Array = NDArray[np.float64]

# Values looked at between two looks at the keyboard: about 0.1 s.
VALUES_PER_CALL = 10_000_000


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
    """The tree for examples of positive weight with classes 0..k-1; spheres around up to `max_centres` a region."""
    n, d = X.shape
    columns = np.ascontiguousarray(X.T)
    # Read-only arrays are another type, which kernels would be compiled for again.
    X, weight = (np.require(array, requirements=["C", "W"]) for array in (X, weight))
    sample = Sample(X, columns, y.astype(np.uint32), weight, categorical)
    orders = _sorted_rows(columns)
    widest = max((len(np.unique(column)) for column in columns[categorical]), default=0)
    longest = max(widest, d if oblique or max_centres else 0)
    nodes = empty_nodes(2 * n - 1, (n - 1) * longest)
    growth = Growth(
        np.empty((2 * n - 1, n_classes)),
        orders,
        np.zeros((n + 1, 4), dtype=np.int64),
        np.array([0, 1, 0], dtype=np.int64),
        np.empty(n, dtype=bool),
        np.empty(n, dtype=np.uint32),
    )
    growth.counts[0] = np.bincount(y, weight, n_classes)
    growth.stack[0] = 0, 0, n, 0
    growth.heights[0] = not is_final(growth.counts[0], n, 0, rules)
    room, choice = make_room(n, n_classes, widest, longest)
    while growth.heights[0]:
        if not (oblique or max_centres):
            grow(sample, rules, nodes, growth, room, choice, VALUES_PER_CALL)
            continue
        # The wider questions take so long that each region may come back to Python.
        node, first, last, _ = growth.stack[growth.heights[0] - 1]
        tie = TIE * growth.counts[node].sum()
        choice.numbers[0] = np.inf
        start = find_axis(sample, orders, first, last, rules.criterion, tie, room, choice)
        if oblique and start >= 0:
            find_oblique(sample, orders[0], first, last, start, rules.criterion, tie, room, choice)
        if max_centres:
            find_sphere(sample, orders[0], first, last, max_centres, rules.criterion, tie, room, choice)
        part_top(sample, rules, nodes, growth, choice, tie)
    _, n_nodes, pool = growth.heights
    return GrownTree(trimmed(nodes, n_nodes, pool), growth.counts[:n_nodes].copy())


def _sorted_rows(columns: Array) -> NDArray[np.uint32]:
    """For each feature the examples in ascending order, missing values last."""
    with np.errstate(invalid="ignore"):
        small = columns.astype(np.int16)
    # Small whole numbers are sorted by their digits, ten times as fast.
    keys = small if np.array_equal(small, columns) else columns
    return np.argsort(keys, axis=1, kind="stable").astype(np.uint32)
