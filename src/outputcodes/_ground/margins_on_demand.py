"""Margins that are computed when they are asked for: those of a row in a range of columns."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Rows = NDArray[np.intp]

# Rows whose margins are computed together. The last bits of a product of matrices depend on how many rows they have:
# with fixed blocks, all searches read the same margins.
BLOCK = 256


class MarginsOnDemand:
    """The margins (n, L) of some rows, of which a search reads only a part.

    Attributes
    ----------
    n_rows : int
    """

    n_rows: int

    def of(self, rows: Rows, first: Rows, count: Rows) -> NDArray[Any]:
        """Return the margins of row rows[q] in the columns first[q]..first[q] + count[q] - 1, for all q in turn.

        The rows are in ascending order.
        """
        raise NotImplementedError


class MarginsByBlock(MarginsOnDemand):
    """Margins of blocks of rows in all columns; the last blocks are remembered.

    >>> F = np.arange(12.0).reshape(3, 4)
    >>> margins = MarginsByBlock(3, lambda rows: F[rows])
    >>> margins.of(np.array([1, 1, 2]), np.array([0, 3, 1]), np.array([2, 1, 2]))
    array([ 4.,  5.,  7.,  9., 10.])
    """

    def __init__(self, n_rows: int, block: Callable[[slice], NDArray[Any]]) -> None:
        self.n_rows, self.block = n_rows, block
        self.start, self.F = 0, np.empty((0, 0))

    def of(self, rows: Rows, first: Rows, count: Rows) -> NDArray[Any]:
        """Return margins; all columns of these rows are computed unless the last call did."""
        if not rows.size:
            return np.empty(0)
        low, high = int(rows[0]), int(rows[-1]) + 1
        if low < self.start or high > self.start + len(self.F):
            self.start = low - low % BLOCK
            blocks = range(self.start, high, BLOCK)
            parts = [self.block(slice(first, min(first + BLOCK, self.n_rows))) for first in blocks]
            self.F = parts[0] if len(parts) == 1 else np.concatenate(parts)
        row, column = np.repeat(rows - self.start, count), ranges(first, count)
        found: NDArray[Any] = self.F[row, column]
        return found


def ranges(first: Rows, count: Rows) -> Rows:
    """Return first[q]..first[q] + count[q] - 1 for all q in turn.

    >>> ranges(np.array([5, 0]), np.array([2, 3])).tolist()
    [5, 6, 0, 1, 2]
    """
    before = np.cumsum(count) - count
    return np.asarray(np.arange(int(count.sum())) + np.repeat(first - before, count))
