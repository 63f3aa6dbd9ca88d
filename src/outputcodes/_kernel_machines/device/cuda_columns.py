"""Columns on the rows of a Gram matrix on a GPU: β, its bounds and the gradients, and the rounds that change them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import cupy as cp
import numpy as np
from numpy.typing import NDArray

from outputcodes._kernel_machines.device.backend import PosedColumns

Rows = NDArray[np.intp]
Array = NDArray[np.float64]

# Rows per working set, one thread each, and how many of them are chosen anew every round.
SIZE, FRESH = 1024, 512
# Kernel values in float64 at a time: 2 GiB.
VALUES_AT_A_TIME = 1 << 28


class CudaColumns:
    """Columns on the rows of a Gram matrix, each with a working set of its own."""

    def __init__(self, gram: Any, posed: PosedColumns, e: Array | None) -> None:
        self.gram, self.free_bias, self.offset = gram, posed.free_bias, float(posed.offset)
        n, L = gram.n, posed.M.shape[1]
        rows, y = cp.asarray(posed.rows), cp.asarray(posed.y)
        # Rows that are not posed are absent from all columns: their bounds are 0.
        self.target, self.lo, self.hi, self.beta = cp.zeros((4, L, n))
        target = cp.asarray(posed.M.T.astype(np.float64))[:, y]
        bound = cp.asarray(posed.cost.T)[:, y] * cp.asarray(posed.weight)
        self.target[:, rows] = target
        self.lo[:, rows], self.hi[:, rows] = cp.where(target < 0, -bound, 0.0), cp.where(target > 0, bound, 0.0)
        self.mark, self.sets = cp.full((L, n), -1, np.int32), cp.zeros((L, SIZE), np.int32)
        self.sizes, self.taken, self.round = cp.zeros(L, np.int32), cp.zeros(L, np.int32), 0
        self.small = cp.empty((L, SIZE, SIZE), np.float32)
        self.changed, self.change = cp.empty((L, SIZE), np.int32), cp.empty((L, SIZE))
        self.n_changed = cp.zeros(L, np.int32)
        self.parts = max(1, min(64, n // 2048))
        self.part, self.report = cp.empty((L, self.parts, 2)), cp.empty((L, 3))
        self.steps_so_far = np.zeros(L, dtype=np.intp)
        self.active, self.tol = Mailbox(L, np.int32), Mailbox(L, np.float64)
        self.rows, self.e = rows, self.target.copy()
        if posed.start is not None:
            self.beta[:, rows] = cp.asarray(posed.start)
        if e is not None:
            self.e[:, rows] = cp.asarray(e)
        elif posed.start is not None:
            support = cp.flatnonzero(self.beta.any(axis=0))
            # Rounded kernel values are good enough to start with.
            for block in blocks_of_values(len(support), n):
                some = support[block]
                self.e -= self.beta[:, some].astype(np.float32) @ gram.store()[some, :n]
            self.e -= self.offset * self.beta.sum(axis=1, keepdims=True)

    def ends(self) -> Array:
        """Return the largest e that may grow and the smallest that may shrink in each column."""
        L, launch = len(self.e), self.gram.device.launch
        state = self.e, self.beta, self.lo, self.hi
        launch("find_ends", (self.parts, L), (256,), *state, np.int64(self.gram.n), self.part)
        launch("join_ends", (L,), (32,), self.part, self.parts, self.free_bias, self.taken, self.report)
        report: Array = self.report.get()
        self.steps_so_far = report[:, 2].astype(np.intp)
        return report[:, :2]

    def improve(self, active: Rows, tol: Array, max_steps: int) -> None:
        """Choose a working set for each of the active columns, solve them, and update the gradients."""
        launch, K, n, ld = self.gram.device.launch, self.gram.store(), np.int64(self.gram.n), np.int64(self.gram.ld)
        columns, few = self.active.send(active), len(active)
        fresh = FRESH if self.round else SIZE
        state = self.e, self.beta, self.lo, self.hi
        sets = self.sets, self.sizes
        turn = SIZE, fresh, self.round, self.mark
        launch("choose_sets", (few,), (SIZE,), columns, *state, self.report, n, *turn, *sets)
        launch("gather_sets", (SIZE, few), (256,), columns, K, ld, SIZE, *sets, self.small)
        limits = self.free_bias, self.offset, self.tol.send(tol), max_steps, self.taken
        moved = self.changed, self.change, self.n_changed
        launch("descend", (few,), (SIZE,), columns, self.small, SIZE, n, *sets, *state, *limits, *moved)
        grid = -(-self.gram.n // 1024), few
        launch("subtract", grid, (256,), columns, K, ld, n, SIZE, *moved, np.float64(self.offset), self.e)
        self.round += 1

    def steps(self) -> Rows:
        """Return the number of steps of each column, up to the last call of `ends`."""
        return self.steps_so_far

    def refresh(self) -> None:
        """Compute e from scratch, in float64."""
        support = cp.flatnonzero(self.beta.any(axis=0))
        shift = self.offset * self.beta.sum(axis=1, keepdims=True)
        self.e = self.target - self.gram.product(support.get(), self.beta[:, support]) - shift

    def free(self) -> Array:
        """Return the sum of e over the rows whose β is between its bounds, and their number."""
        free = (self.beta > self.lo) & (self.beta < self.hi)
        both: Array = cp.stack([cp.where(free, self.e, 0.0).sum(axis=1), free.sum(axis=1)]).get()
        return both

    def posed_beta(self) -> Array:
        """Return β of the posed rows, (L, n)."""
        beta: Array = self.beta[:, self.rows].get()
        return beta

    def support(self) -> tuple[Rows, Rows, Array]:
        """Return the rows with β ≠ 0, the column of each, and β."""
        column, row = cp.nonzero(self.beta)
        return row.get(), column.get(), self.beta[column, row].get()


def bytes_per_column(n: int) -> int:
    """Return the memory of a column of n rows: four arrays of float64, the gradients twice, marks, a working set."""
    return n * (6 * 8 + 4) + SIZE * (SIZE * 4 + 20)


class Mailbox:
    """Sends up to `size` numbers to the device without waiting; the last ones must have been read there."""

    def __init__(self, size: int, kind: Any) -> None:
        width = np.dtype(kind).itemsize
        memory = cp.cuda.alloc_pinned_memory(size * width)
        self.here, self.there = np.frombuffer(memory, kind, size), cp.empty(size, kind)

    def send(self, numbers: NDArray[Any]) -> Any:
        """Return the numbers on the device."""
        few = len(numbers)
        self.here[:few] = numbers
        self.there[:few].set(self.here[:few])
        return self.there


def blocks_of_values(n: int, width: int) -> Iterator[slice]:
    """Yield slices of rows, such that a block of `width` values per row has about `VALUES_AT_A_TIME`."""
    step = max(1, VALUES_AT_A_TIME // max(1, width))
    for start in range(0, n, step):
        yield slice(start, min(start + step, n))
