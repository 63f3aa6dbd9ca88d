"""The loop over working sets, for solvers of several columns on one Gram matrix.

A column has coefficients β and a gradient e = t − (K + offset)β, which shows the rows that violate its optimality
conditions. The loop works in rounds (a joint form of Joachims 1999). A working set consists of the worst violators of
all columns and part of the last set (Serafini & Zanni 2005). Every column is solved on the Gram matrix of the working
set, which stays in cache, and then one sparse product updates the gradients of all rows.

Rounding errors accumulate in the gradients, so they are computed from scratch before the certificate, and the rounds
continue if some row still violates the optimality conditions.
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
from outputcodes._kernel_machines.rows import add_rows, few_per_row, gather

Rows = NDArray[np.intp]
Array = NDArray[np.float64]
NONE: Rows = np.empty(0, dtype=np.intp)

# The share of the worst violators in a working set; the rest is kept from previous sets.
FRESH = 0.75
# A working set is solved to this fraction of its violation, because full precision is not needed early on.
INNER = 0.1
# Gradients updated in the precision of the kernel values must meet this fraction of the tolerance.
AIM = 0.95
# How often the solver continues after computing the gradients from scratch, before it gives up.
REFRESHES = 10
# Support vectors per tile when kernel values are computed; with all of them, a block would have too few rows.
ANCHORS = 1024


class WorkingSets:
    """Columns that share their rows, which are `rows` of the Gram matrix.

    A subclass defines `coefficients`, `violators` and `improve`; `solve` then changes the coefficients to the optimum.

    Attributes
    ----------
    e : ndarray of shape (L, n)
        The gradients; `target` is their value at β = 0.
    """

    # Rows per working set.
    size: ClassVar[int]

    def __init__(self, gram: Gram, rows: Rows, target: Array, run: Run, offset: float = 0.0) -> None:
        self.gram, self.rows, self.target, self.run, self.offset = gram, rows, target, run, offset
        self.e = target.copy()

    def coefficients(self) -> Array:
        """Return β (L, n)."""
        raise NotImplementedError

    def violators(self, size: int, aim: float) -> Rows:
        """Return about `size` rows that violate a column by more than `aim` times the tolerance, worst first.

        Return none if the maximum number of iterations is reached.
        """
        raise NotImplementedError

    def improve(self, K: NDArray[Any], working: Rows) -> tuple[Rows, NDArray[Any]]:
        """Solve columns on the working set, whose Gram matrix is K; return their numbers and the changes of β."""
        raise NotImplementedError

    def solve(self) -> None:
        """Run rounds until no row violates by gradients computed from scratch, which e then holds."""
        beta = self.coefficients()
        started = np.flatnonzero(beta.any(axis=0))
        for first in range(0, len(started), self.gram.capacity):
            some = started[first : first + self.gram.capacity]
            with self.gram.holding(self.rows[some], self.run) as slots:
                self._subtract(slots, np.arange(len(beta)), beta[:, some])
        # `exact` is e without rounding at β = `of_beta`, which is initially 0.
        exact, of_beta = self.target, np.zeros_like(beta)
        for refreshes in range(REFRESHES):
            self.advance(refreshes)
            beta = self.coefficients().copy()
            if np.array_equal(beta, of_beta):
                return
            exact, of_beta = exact - exact_product(self.gram, self.rows, beta - of_beta, self.offset, self.run), beta
            self.e = exact.copy()

    def advance(self, refreshes: int) -> None:
        """Run rounds until no column violates; gradients have been computed from scratch `refreshes` times."""
        for _ in self.rounds():
            pass

    def rounds(self, aim: float = 1.0) -> Iterator[int]:
        """Yield the number of each round before it runs, until no column violates.

        The gradients before the first round have to meet `aim` times the tolerance.
        """
        size, working = min(self.size, len(self.rows), self.gram.capacity), NONE
        for count in itertools.count():
            violators = self.violators(size, aim)
            if not len(violators):
                return
            yield count
            working, aim = _next_set(working, violators, size, len(self.rows)), AIM
            # Gathering sorted rows is twice as fast.
            self._round(np.sort(working))

    def _round(self, working: Rows) -> None:
        gram, places = self.gram, self.gram.place[self.rows[working]]
        with gram.holding(self.rows[working], self.run) as slots:
            K = np.empty((len(working), len(working)), dtype=gram.store.dtype)
            blocks = row_blocks(len(working), 8 * len(working))
            self.run(lambda block: gather(gram.store, slots[block], places, K[block]), blocks)
            self._subtract(slots, *self.improve(K, working))

    def _subtract(self, slots: Rows, columns: Rows, change: NDArray[Any]) -> None:
        """Update e ← e − (K + offset)·change in some columns; change (len(columns), len(slots)) is of rows in `slots`.

        A column changes few rows, and each row is read once for all columns that change it.
        """
        store, places = self.gram.store, self.gram.place[self.rows]
        moved = sparse.csc_array(change.astype(store.dtype, copy=False))
        shift = self.offset * change.sum(axis=1, keepdims=True)

        def update(block: slice) -> None:
            product = np.zeros((len(columns), block.stop - block.start), dtype=store.dtype)
            lines = moved.indptr, moved.indices, moved.data
            add_rows(store, slots, *lines, places[block], product)
            self.e[columns, block] -= product + shift

        # Blocks that fit in a second-level cache.
        self.run(update, row_blocks(len(self.rows), 8 * len(columns)))


def exact_product(gram: Gram, rows: Rows, beta: Array, offset: float, run: Run) -> Array:
    """Return (K + offset)β (L, n) of all columns in float64, from unrounded kernel values."""
    support = np.flatnonzero(beta.any(axis=0))
    if not len(support):
        return np.zeros_like(beta)
    coefficients, anchors = beta[:, support].T, gram.kernel.anchors(gram.X, rows[support])
    tiles = list(row_blocks(len(support), BLOCK_VALUES // ANCHORS))
    held = gram.store.dtype == np.float64 and gram.holds(rows[support])
    lines = None if held or not gram.kernel.symmetric else few_per_row(coefficients)

    def of_block(block: slice) -> Array:
        if held:
            return gram.between(rows[block], rows[support]) @ coefficients
        A, f = gram.X[rows[block]], np.zeros((len(beta), block.stop - block.start))
        # One room for all tiles: memory that is freed and allocated again has to be mapped again.
        room = np.empty(tiles[0].stop * f.shape[1])
        for tile in tiles:
            out = room[: (tile.stop - tile.start) * f.shape[1]]
            if lines is None:
                K = gram.kernel.block(A, anchors[tile], out.reshape(f.shape[1], -1))
                f += coefficients[tile].T @ K.T
            else:
                starts, targets, factors = lines
                own = starts[tile.start : tile.stop + 1]
                K = gram.kernel.block(anchors[tile], A, out.reshape(-1, f.shape[1]))
                add_rows(K, np.arange(len(K)), own, targets, factors, np.arange(f.shape[1]), f)
        return f.T

    parts = run(of_block, row_blocks(len(rows), min(len(support), ANCHORS)))
    f: Array = np.concatenate(parts).T + offset * beta.sum(axis=1, keepdims=True)
    return f


def _next_set(working: Rows, violators: Rows, size: int, n: int) -> Rows:
    """Return the worst violators, which come first, then the rows of the last set, newest first.

    Even the smallest set contains the two worst violators, so the solver always makes progress.

    >>> _next_set(np.array([7, 3, 1]), np.array([3, 4, 5, 6]), size=4, n=10)
    array([3, 4, 5, 7])
    """
    if size == n:
        return np.arange(n)
    fresh = _first_of_each(violators)[: max(2, int(FRESH * size) if len(working) else size)]
    return _first_of_each(np.concatenate([fresh, working]))[:size]


def _first_of_each(values: Rows) -> Rows:
    _, first = np.unique(values, return_index=True)
    return values[np.sort(first)]
