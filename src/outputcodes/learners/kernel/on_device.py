"""Kernel SVM columns on a device: rounds until no row violates, with gradients from scratch before the certificate.

If the Gram matrix of all rows does not fit in the device's memory, the columns are solved on parts of the rows, one
after another: a sample first, and then the rows that violate the optimality conditions in some column, or come closest.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from outputcodes._ground import progress
from outputcodes._ground.blocks import serially
from outputcodes._kernel_machines.device.backend import DeviceColumns, DeviceGram, PosedColumns
from outputcodes._kernel_machines.working_sets import AIM, INNER, REFRESHES
from outputcodes.learners.kernel.columns import boxes
from outputcodes.learners.kernel.dual import STEPS_PER_CALL, Dual, SolvedColumns, bias_of

Rows = NDArray[np.intp]
Array = NDArray[np.float64]

# How many parts of the rows are solved at most; where most rows are support vectors and few fit, it takes many.
PARTS = 10_000
# The tolerance of a part, as a share of the tolerance of all rows: together parts violate more than each of them.
FINER = 0.5


def solve_on_device(gram: DeviceGram, posed: PosedColumns, tol: float, max_iter: int) -> SolvedColumns:
    """Solve every column."""
    if gram.room() < gram.n:
        return _solve_parts(gram, posed, tol, max_iter)
    found = [_solve_whole(gram, some, tol, max_iter) for _, some in _at_once(gram, posed)]
    return found[0] if len(found) == 1 else _joined(found)


def _at_once(gram: DeviceGram, posed: PosedColumns) -> Iterator[tuple[slice, PosedColumns]]:
    """Yield as many columns as the device has memory for, and then the next."""
    L, most = posed.M.shape[1], gram.columns_at_once()
    for first in range(0, L, most):
        own = slice(first, min(first + most, L))
        start = None if posed.start is None else posed.start[own]
        yield own, replace(posed, M=posed.M[:, own], cost=posed.cost[:, own], start=start)


def _joined(found: list[SolvedColumns]) -> SolvedColumns:
    """Return blocks of columns as one."""
    before = np.cumsum([0, *(len(some.gap) for some in found[:-1])])
    moved = [some._replace(column=some.column + first) for some, first in zip(found, before, strict=True)]
    return SolvedColumns(*(np.concatenate(parts) for parts in zip(*moved, strict=True)))


def _solve_whole(gram: DeviceGram, posed: PosedColumns, tol: float, max_iter: int) -> SolvedColumns:
    """Solve columns on the Gram matrix of all rows."""
    columns = gram.columns(posed)
    for refreshes in range(REFRESHES):
        if not _advance(columns, tol, max_iter) and refreshes:
            # Nothing has changed since the gradients were computed from scratch.
            break
        columns.refresh()
    ends = columns.ends()
    steps = columns.steps()
    gap = ends[:, 0] - ends[:, 1]
    rows, column, beta = columns.support()
    bias: Array = posed.offset * np.bincount(column, beta, len(gap)).astype(np.float64)
    if posed.free_bias:
        total, count = columns.free()
        bias = bias_of(total, count, ends.T)
    return SolvedColumns(rows, column, beta, bias, gap, steps, gap <= tol)


def _advance(columns: DeviceColumns, tol: float, max_iter: int) -> bool:
    """Run rounds until no row violates a column; return whether anything was to be done.

    Each column has a working set of its own; those that no row violates are left alone.
    """
    ends, aim = columns.ends(), 1.0
    steps = columns.steps()
    while True:
        gaps = ends[:, 0] - ends[:, 1]
        active = np.flatnonzero((gaps > aim * tol) & (steps < max_iter))
        progress.reached(len(gaps) - len(active), len(gaps))
        if not len(active):
            return aim < 1.0
        before, most = steps, min(STEPS_PER_CALL, max_iter - int(steps[active].max()))
        columns.improve(active, np.maximum(INNER * gaps, 0.5 * tol), most)
        ends, aim = columns.ends(), AIM
        steps = columns.steps()
        if np.array_equal(steps, before):
            # Rounding leaves no step that would help.
            return True


def _solve_parts(gram: DeviceGram, posed: PosedColumns, tol: float, max_iter: int) -> SolvedColumns:
    """Solve every column on parts of the rows; gradients of all rows are kept in float64."""
    rows, (L, n) = posed.rows, (posed.M.shape[1], len(posed.rows))
    target, box = boxes(posed.M, posed.cost, posed.y, posed.weight, posed.start, posed.free_bias)
    dual = Dual(gram, posed.free_bias, posed.offset, tol, max_iter, serially)  # type: ignore[arg-type]
    e, steps, first = target, np.zeros(L, dtype=np.intp), np.arange(L) * n
    if posed.start is not None:
        e = e - _product(gram, posed, np.arange(n), box[0])
    few = min(n, gram.room() // 2)
    chosen = np.arange(few) * n // few
    for count in range(PARTS):
        if count or posed.start is not None:
            chosen = _unsettled(dual, e, box, gram.room())
        part, own = gram.part(rows[chosen]), np.ascontiguousarray(box[0][:, chosen])
        numbers = np.arange(len(chosen))
        posed_here = replace(posed, rows=numbers, y=posed.y[chosen], weight=posed.weight[chosen], start=own)
        moved, here = np.empty_like(own), np.ascontiguousarray(e[:, chosen])
        most = max_iter - int(steps.max(initial=0))
        for some, fewer in _at_once(part, posed_here):
            moved[some], taken = _solve_part(part, fewer, here[some], FINER * tol, most)
            steps[some] += taken
        del part  # the next part needs its memory
        box[0][:, chosen] = moved
        e = e - _product(gram, posed, chosen, moved - own)
        ends = dual.ends(e.ravel(), box.reshape(3, -1), first)
        gap = ends[0] - ends[1]
        progress.reached(int(np.count_nonzero(gap <= tol)), L)
        if (gap <= tol).all() or steps.max() >= max_iter or np.array_equal(moved, own):
            break
    bias = dual.biases(e.ravel(), box.reshape(3, -1), ends, first)
    column, row = np.nonzero(box[0])
    return SolvedColumns(rows[row], column, box[0][column, row], bias, gap, steps, gap <= tol)


def _solve_part(
    part: DeviceGram, posed: PosedColumns, e: Array, tol: float, max_iter: int
) -> tuple[Array, NDArray[np.intp]]:
    """Solve columns on a part of the rows from gradients e; return β and the numbers of steps."""
    columns = part.columns(posed, e)
    _advance(columns, tol, max_iter)
    return columns.posed_beta(), columns.steps()


def _product(gram: DeviceGram, posed: PosedColumns, some: Rows, beta: Array) -> Array:
    """Return (K + offset)β (L, n) of β (L, len(some))."""
    kept = np.flatnonzero(beta.any(axis=0))
    shift = posed.offset * beta.sum(axis=1)
    if not len(kept):
        return np.zeros((len(beta), len(posed.rows)))
    return gram.expand(posed.rows, posed.rows[some[kept]], np.ascontiguousarray(beta[:, kept].T), shift).T


def _unsettled(dual: Dual, e: Array, box: Array, most: int) -> Rows:
    """Return the rows that violate most in some column, or come closest to it: e is farthest on the wrong side."""
    farthest = np.full(e.shape[1], -np.inf)
    for j in range(len(e)):
        (beta, lo, hi), ends = box[:, j], dual.violation(e[j], box[:, j])
        if ends[0] - ends[1] <= dual.tol:
            continue
        bias = dual.bias(e[j], box[:, j], ends) if dual.free_bias else 0.0
        off = e[j] - bias
        np.maximum(farthest, np.where(beta < hi, off, -np.inf), out=farthest)
        np.maximum(farthest, np.where(beta > lo, -off, -np.inf), out=farthest)
    return np.sort(np.argsort(-farthest, kind="stable")[:most])
