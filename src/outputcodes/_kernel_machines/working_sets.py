"""The loop over working sets, for every solver of several columns on one Gram matrix.

A column has coefficients β and a gradient e = t − (K + offset)β, which shows the examples that violate its optimality
conditions. A round takes the worst violators of all columns, solves every column on their small Gram matrix, which a
cache holds, and brings the gradients of all examples up to date by one sparse product (a joint form of Joachims 1999).
Part of a set is kept for the next one (Serafini & Zanni 2005).

Kernel values that are kept may be rounded to float32. So when no column violates any more, the gradients are computed
from scratch, by float64 values that were never rounded; the rounds continue if violations show.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from outputcodes._ground.blocks import BLOCK_VALUES, Run, row_blocks
from outputcodes._kernel_machines.gram import Gram
from outputcodes._kernel_machines.rows import add_rows, gather

Rows = NDArray[np.intp]
Array = NDArray[np.float64]
NONE: Rows = np.empty(0, dtype=np.intp)

# The share of a working set that is new: what violates most; the rest is kept from the sets before.
FRESH = 0.75
# A column is solved on its working set to this part of its violation, not to full precision too early.
INNER = 0.1
# Gradients that are kept up to date in the precision of the kernel values have to meet this part of the tolerance.
AIM = 0.95
# How often gradients that are computed from scratch may show new violations before the solver gives up.
REFRESHES = 10
# Support vectors whose kernel values with a block of rows are computed at a time: with all, a block has too few rows.
ANCHORS = 1024


class WorkingSets:
    """Columns that share their examples, `rows` of the Gram matrix.

    A solver writes `coefficients`, `violators` and `improve`; `solve` then brings its coefficients to the optimum.

    Attributes
    ----------
    e : ndarray of shape (L, n)
        The gradients. `target` is their value at β = 0.
    """

    # The examples of a working set.
    size: ClassVar[int]

    def __init__(self, gram: Gram, rows: Rows, target: Array, run: Run, offset: float = 0.0) -> None:
        self.gram, self.rows, self.target, self.run, self.offset = gram, rows, target, run, offset
        self.e = target.copy()

    def coefficients(self) -> Array:
        """Return β (L, n)."""
        raise NotImplementedError

    def violators(self, size: int, aim: float) -> Rows:
        """Return about `size` examples that violate a column by more than `aim` times the tolerance, worst first.

        None are left when the solver has reached its limit of iterations.
        """
        raise NotImplementedError

    def improve(self, K: NDArray[Any], working: Rows) -> tuple[Rows, NDArray[Any]]:
        """Solve columns on the working set, K being its Gram matrix; return their numbers and the changes of β."""
        raise NotImplementedError

    def solve(self) -> None:
        """Change the coefficients until no example violates, by gradients computed from scratch; e holds these."""
        beta = self.coefficients()
        started = np.flatnonzero(beta.any(axis=0))
        for first in range(0, len(started), self.gram.capacity):
            some = started[first : first + self.gram.capacity]
            with self.gram.holding(self.rows[some], self.run) as slots:
                self._subtract(slots, np.arange(len(beta)), beta[:, some])
        # The gradients without rounding, and the β that they are of.
        exact, of_beta = self.target, np.zeros_like(beta)
        for refreshes in range(REFRESHES):
            self.advance(refreshes)
            beta = self.coefficients().copy()
            if np.array_equal(beta, of_beta):
                return
            exact, of_beta = exact - exact_product(self.gram, self.rows, beta - of_beta, self.offset, self.run), beta
            self.e = exact.copy()

    def advance(self, refreshes: int) -> None:
        """Make rounds until no column violates; gradients have been computed from scratch `refreshes` times."""
        for _ in self.rounds():
            pass

    def rounds(self) -> Iterator[int]:
        """Make one round after each number, until no column violates."""
        size, working, aim = min(self.size, len(self.rows), self.gram.capacity), NONE, 1.0
        for count in itertools.count():
            violators = self.violators(size, aim)
            if not len(violators):
                return
            yield count
            working, aim = _next_set(working, violators, size, len(self.rows)), AIM
            # In their order, rows are gathered twice as fast.
            self._round(np.sort(working))

    def _round(self, working: Rows) -> None:
        gram, places = self.gram, self.gram.place[self.rows[working]]
        with gram.holding(self.rows[working], self.run) as slots:
            K = np.empty((len(working), len(working)), dtype=gram.store.dtype)
            blocks = row_blocks(len(working), 8 * len(working))
            self.run(lambda block: gather(gram.store, slots[block], places, K[block]), blocks)
            self._subtract(slots, *self.improve(K, working))

    def _subtract(self, slots: Rows, columns: Rows, change: NDArray[Any]) -> None:
        """e ← e − (K + offset)·change in some columns: change (len(columns), len(slots)) is of the rows in `slots`.

        A column moves few of the rows, each of which is read once for all that do.
        """
        store, places = self.gram.store, self.gram.place[self.rows]
        moved = sparse.csc_array(change.astype(store.dtype, copy=False))
        shift = self.offset * change.sum(axis=1, keepdims=True)

        def update(block: slice) -> None:
            product = np.zeros((len(columns), block.stop - block.start), dtype=store.dtype)
            lines = moved.indptr, moved.indices, moved.data
            add_rows(store, slots, *lines, places[block], np.empty_like(product[0]), product)
            self.e[columns, block] -= product + shift

        # Blocks that a second-level cache holds.
        self.run(update, row_blocks(len(self.rows), 8 * len(columns)))


def exact_product(gram: Gram, rows: Rows, beta: Array, offset: float, run: Run) -> Array:
    """Return (K + offset)β of all columns, (L, n), in float64, from kernel values that were never rounded."""
    support = np.flatnonzero(beta.any(axis=0))
    if not len(support):
        return np.zeros_like(beta)
    coefficients, anchors = beta[:, support].T, gram.kernel.anchors(gram.X, rows[support])
    tiles = list(row_blocks(len(support), BLOCK_VALUES // ANCHORS))

    def of_block(block: slice) -> Array:
        A, f = gram.X[rows[block]], np.zeros((block.stop - block.start, len(beta)))
        for tile in tiles:
            f += gram.kernel.block(A, anchors[tile]) @ coefficients[tile]
        return f

    parts = run(of_block, row_blocks(len(rows), min(len(support), ANCHORS)))
    f: Array = np.concatenate(parts).T + offset * beta.sum(axis=1, keepdims=True)
    return f


def _next_set(working: Rows, violators: Rows, size: int, n: int) -> Rows:
    """Return the worst violators, then the rows of the last set, newest first.

    However small the set, it holds the two worst violators, so that a column gets on.
    """
    if size == n:
        return np.arange(n)
    fresh = _first_of_each(violators)[: max(2, int(FRESH * size) if len(working) else size)]
    return _first_of_each(np.concatenate([fresh, working]))[:size]


def _first_of_each(values: Rows) -> Rows:
    _, first = np.unique(values, return_index=True)
    return values[np.sort(first)]
