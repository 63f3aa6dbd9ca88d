"""Columns on a Gram matrix that fits in memory: blocks of columns are solved without returning to Python."""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import NDArray

from outputcodes._ground import progress
from outputcodes._kernel_machines.gram import Gram
from outputcodes._kernel_machines.smo.columns import solve_block
from outputcodes.learners.kernel.dual import Dual, SolvedColumns, balanced

Rows = NDArray[np.intp]
Array = NDArray[np.float64]

# The largest Gram matrix that columns are solved on directly: beyond this, a row no longer fits in the caches.
SMALL = 4096
# Kernel values of the columns in one block; a block is solved by one thread.
BLOCK = 1 << 20
# Values read per call of the compiled loop: a call takes well below 0.2 s, so that interrupts are handled.
BUDGET = 1 << 26


def is_small(gram: Gram, n_rows: int) -> bool:
    """Return whether `solve_small` supports so many rows of this Gram matrix."""
    return n_rows <= SMALL and gram.capacity == gram.n and gram.store.dtype == np.float64


def solve_small(
    dual: Dual, rows: Rows, y: Rows, M: NDArray[np.int8], cost: Array, weight: Array, start: Array | None
) -> SolvedColumns:
    """Solve every column, as `solve_columns` does. Each vector here concatenates the examples of all columns."""
    gram, L = dual.gram, M.shape[1]
    # The arrangement of the Gram matrix is fixed from here on.
    # Most rows are a fold, whose held-out rows come next; rows that are neighbours are computed in place.
    gram.hold(np.arange(gram.n) if 2 * len(rows) > gram.n else rows, dual.run)
    order = np.lexsort((gram.place[rows], y))
    rows, y, weight = rows[order], y[order], weight[order]
    # In a matrix of these rows alone, sorted by class, columns need no copies, or copies of adjacent values.
    apart = len(rows) < gram.n
    slots = np.arange(len(rows)) if apart else gram.place[rows]
    column, place = _examples(cost > 0, y, slots)
    cuts = np.searchsorted(column, np.arange(L + 1))
    own, label = slots[place], y[place]
    target, bound = M[label, column].astype(np.float64), cost[label, column] * weight[place]
    lo, hi = np.minimum(target, 0) * bound, np.maximum(target, 0) * bound
    beta = np.zeros_like(target) if start is None else np.clip(start[column, order[place]], lo, hi)
    if start is not None and dual.free_bias:
        beta = balanced(beta, partial(np.add.reduceat, indices=cuts[:-1]), column)
    e, steps = np.empty_like(beta), np.zeros(L, dtype=np.intp)
    # Precomputed kernel values may be read-only, or stored column by column.
    store = np.require(gram.square(rows) if apart else gram.store, requirements=["C", "W"])
    stops = np.flatnonzero(np.diff(np.cumsum(np.diff(cuts) ** 2) // BLOCK, append=-1)) + 1

    def some(block: tuple[int, int]) -> int:
        """Take some steps on a block of columns; return the first column that needs more."""
        first, stop = block
        vectors = own, cuts[first : stop + 1], target, beta, lo, hi, e, steps[first:stop]
        kernel = store, dual.offset, True if dual.free_bias else None
        return first + int(solve_block(*kernel, *vectors, dual.tol, dual.max_iter, BUDGET))

    waiting = list(zip([0, *stops[:-1].tolist()], stops.tolist(), strict=True))
    while waiting:
        done = dual.run(some, waiting)
        waiting = [(first, stop) for first, (_, stop) in zip(done, waiting, strict=True) if first < stop]
        progress.reached(L - sum(stop - first for first, stop in waiting), L)
    box = np.stack([beta, lo, hi])
    ends = dual.ends(e, box, cuts[:-1])
    gap, kept = ends[0] - ends[1], np.flatnonzero(beta)
    certificate = dual.biases(e, box, ends, cuts[:-1]), gap, steps, gap <= dual.tol
    return SolvedColumns(rows[place[kept]], column[kept], beta[kept], *certificate)


def _examples(present: NDArray[np.bool_], y: Rows, slots: Rows) -> tuple[Rows, Rows]:
    """Return the examples, column by column: the column, and the position of the example among all, sorted by class.

    >>> _examples(np.array([[True, False], [True, True]]), np.array([0, 1, 1]), np.arange(3))
    (array([0, 0, 0, 1, 1]), array([0, 1, 2, 1, 2]))
    """
    column, label = np.nonzero(present.T)
    first = np.searchsorted(y, np.arange(len(present) + 1))
    size = np.diff(first)[label]
    stops = np.cumsum(size)
    column, place = np.repeat(column, size), np.arange(stops[-1]) + np.repeat(first[label] - stops + size, size)
    if (np.diff(slots) < 0).any():
        # The Gram matrix is arranged by other labels; use its order.
        place = place[np.lexsort((slots[place], column))]
    return column, place
