"""An exact search for the most probable classes of a tree code, which opens only the nodes that can matter.

Along a path, probabilities only shrink. If n classes are known whose probabilities are at least p, then the n best are
below nodes with at least p. With several trees the probability is a mean: a class with a mean of at least p has at
least p in one tree, so that it is found there.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from outputcodes._ground.margins_on_demand import MarginsOnDemand, ranges
from outputcodes._ground.tree_code import TreeCode
from outputcodes.decoders._path_kernels import log_means, log_shares
from outputcodes.decoders.base import Array, Found
from outputcodes.decoders.beam import search_tree

Rows = NDArray[np.intp]

# Margins that are read at once; if there are more, fewer rows are searched together.
MOST_READ = 1 << 20
# A bound on what logarithms of probabilities lose by rounding: paths so close to the bound are followed.
SLACK = 1e-9


class Paths(NamedTuple):
    """Rows in ascending order, what the paths of these rows have come to, and the logarithms of their probabilities."""

    row: Rows
    item: Rows
    log_p: Array


class PathSearch:
    """The search in the trees of a code, given margins on demand and the temperature of each level."""

    def __init__(self, margins: MarginsOnDemand, code: TreeCode, temperature: Array) -> None:
        self.margins, self.code, self.temperature = margins, code, temperature

    def best(self, rows: slice, n: int) -> Found:
        """Return the n most probable classes of each row, and the logarithms of their probabilities."""
        every = np.arange(rows.start, rows.stop)
        return self._best(every, self._bound(rows, n) - SLACK, n)

    def _bound(self, rows: slice, n: int) -> Array:
        """Return a number that n classes of each row reach: those that a beam of n paths finds."""
        found = [search_tree(self.margins, self.code, tree, rows, n, self._gains) for tree in range(self.code.n_trees)]
        if len(found) == 1:
            bound: Array = found[0][0][:, n - 1]
            return bound
        numbers = np.repeat(np.arange(rows.start, rows.stop), n * len(found))
        pairs = _unique(numbers, -1 - np.concatenate([item for _, item in found], axis=1).ravel(), self.code.shape[0])
        return _first(pairs[0], *self._means(*pairs), n).scores[:, n - 1]

    def _best(self, rows: Rows, bound: Array, n: int) -> Found:
        """Return the n best classes of some rows, none of which is below the bound."""
        trees = [self._above(tree, rows, bound) for tree in range(self.code.n_trees)]
        if any(paths is None for paths in trees):
            middle = len(rows) // 2
            halves = [self._best(rows[some], bound[some], n) for some in (slice(middle), slice(middle, None))]
            return Found(*(np.concatenate(both) for both in zip(*halves, strict=True)))
        found = [paths for paths in trees if paths is not None]
        if len(found) == 1:
            return _first(*found[0], n)
        row, item = (np.concatenate([paths[part] for paths in found]) for part in (0, 1))
        pairs = _unique(row, item, self.code.shape[0])
        return _first(pairs[0], *self._means(*pairs), n)

    def _above(self, tree: int, rows: Rows, bound: Array) -> Paths | None:
        """Return the classes of a tree whose probabilities reach the bound of the row; None if it reads too much."""
        code, ends = self.code, []
        row, node, log_p = np.arange(len(rows)), np.full(len(rows), tree), np.zeros(len(rows))
        for level in range(code.depth):
            first = code.first[node]
            count = code.first[node + 1] - first
            if count.sum() > MOST_READ and len(rows) > 1:
                return None
            gains = self._gains(self.margins.of(rows[row], first, count), count, level)
            log_p = np.repeat(log_p, count) + gains
            row = np.repeat(row, count)
            on = np.flatnonzero(log_p >= bound[row])
            row, node, log_p = row[on], code.child[ranges(first, count)[on]], log_p[on]
            is_class = node < 0
            ends.append((row[is_class], -1 - node[is_class], log_p[is_class]))
            row, node, log_p = row[~is_class], node[~is_class], log_p[~is_class]
            if not row.size:
                break
        row, item, log_p = (np.concatenate(parts) for parts in zip(*ends, strict=True))
        order = np.argsort(row, kind="stable")
        return Paths(rows[row[order]], item[order], log_p[order])

    def _means(self, row: Rows, classes: Rows) -> tuple[Rows, Array]:
        """Return classes of rows, and the logarithms of their mean probabilities in all trees."""
        code = self.code
        logs = np.zeros((code.n_trees, len(row)))
        for tree in range(code.n_trees):
            paths = code.paths(classes, tree)
            for level in range(code.depth):
                at = np.flatnonzero(paths[:, level] >= 0)
                column = paths[at, level]
                # Classes of a row share nodes.
                opened, which = np.unique(row[at] * len(code.first) + code.node_of[column], return_inverse=True)
                node = opened % len(code.first)
                first = code.first[node]
                count = code.first[node + 1] - first
                gains = self._gains(self.margins.of(opened // len(code.first), first, count), count, level)
                before = np.cumsum(count) - count
                logs[tree, at] += gains[(before - first)[which] + column]
        return classes, log_means(logs)

    def _gains(self, f: NDArray[np.floating], count: Rows, level: int) -> Array:
        """Return the logarithms of the shares of the children of nodes of a level."""
        gains: Array = log_shares(f, count, self.temperature[level])
        return gains


def _unique(row: Rows, classes: Rows, k: int) -> tuple[Rows, Rows]:
    """Return different pairs of a row and a class, in ascending order."""
    both = np.unique(row * k + classes)
    return both // k, both % k


def _first(row: Rows, classes: Rows, scores: Array, n: int) -> Found:
    """Return the n best classes of each row, of at least n each; equal scores go to the class with the smaller number.

    >>> _first(np.array([0, 0, 0, 4, 4]), np.array([0, 1, 2, 5, 3]), np.array([1.0, 3, 2, 7, 7]), 2).classes.tolist()
    [[1, 2], [3, 5]]
    """
    order = np.lexsort((classes, -scores, row))
    begins = np.flatnonzero(np.append(True, row[1:] != row[:-1]))
    places = order[begins[:, None] + np.arange(n)]
    return Found(classes[places], scores[places])
