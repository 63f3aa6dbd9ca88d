"""Gram matrices of parts of the rows, whose sums are those of any union of parts, such as the rows of other folds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Rows = NDArray[np.intp]
Array = NDArray[np.float64]
# The Gram matrix of some rows with their weights.
GramOfRows = Callable[[Rows, Array | None], Array]


@dataclass(eq=False)
class Parts:
    """Disjoint parts of n rows, and the Gram matrices of those that were asked for.

    >>> X = np.arange(12.0).reshape(6, 2)
    >>> parts = Parts.of(6, [np.array([0, 3]), np.array([1, 4]), np.array([2, 5])])
    >>> rows = np.array([4, 1, 0, 3])
    >>> total = parts.total(rows, None, lambda some, weight: X[some].T @ X[some])
    >>> np.array_equal(total, X[rows].T @ X[rows])
    True
    >>> parts.total(np.array([0, 1]), None, lambda some, weight: X[some].T @ X[some]) is None
    True
    """

    rows: list[Rows]
    part_of: Rows
    _known: list[tuple[Array | None, dict[int, Array]]] = field(default_factory=list)

    @classmethod
    def of(cls, n: int, rows: Sequence[Rows]) -> Parts | None:
        """Return the parts, or None if some overlap."""
        part_of = np.full(n, -1)
        for number, some in enumerate(rows):
            part_of[some] = number
        return cls(list(rows), part_of) if np.count_nonzero(part_of >= 0) == sum(map(len, rows)) else None

    def total(self, rows: Rows, weight: Array | None, gram: GramOfRows) -> Array | None:
        """Return the Gram matrix of rows, from those of the parts; None if they are no union of parts."""
        counts = np.bincount(self.part_of[rows] + 1, minlength=len(self.rows) + 1)
        inside = np.flatnonzero(counts[1:]).tolist()
        if counts[0] or not inside or any(counts[1 + i] != len(self.rows[i]) for i in inside):
            return None
        if np.bincount(rows).max() > 1:
            return None  # some rows in place of others, as in a bootstrap
        if not self._known or not _same(self._known[0][0], weight):
            self._known[:] = [(weight, {})]
        known = self._known[0][1]
        for i in inside:
            if i not in known:
                known[i] = gram(self.rows[i], None if weight is None else weight[self.rows[i]])
        # Added up, never subtracted: a part of huge values leaves no rounding in the others.
        total = known[inside[0]].copy(order="F")
        for i in inside[1:]:
            total += known[i]
        return total


def _same(a: Array | None, b: Array | None) -> bool:
    return a is b or (a is not None and b is not None and np.array_equal(a, b))
