"""Kernel SVMs for the columns of a code: the rows and box constraints of each column, and the way it is solved."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from outputcodes._ground import progress
from outputcodes._ground.blocks import row_blocks, serially
from outputcodes._kernel_machines.gram import Gram
from outputcodes._kernel_machines.kernel_function import rbf_block
from outputcodes._kernel_machines.rows import add_rows
from outputcodes._kernel_machines.working_sets import REFRESHES, exact_product
from outputcodes.learners.kernel.dual import STEPS_PER_CALL, Dual, SolvedColumn, SolvedColumns, balanced
from outputcodes.learners.kernel.own_sets import OwnSets
from outputcodes.learners.kernel.small import is_small, solve_small
from outputcodes.learners.kernel.together import ColumnsTogether

Rows = NDArray[np.intp]
Array = NDArray[np.float64]

# Columns that use at most this many rows, and at most half of all, are solved separately.
FEW_ROWS = 2048
# Columns that are solved together: with more, each would have too few rows in a working set that they share.
COLUMNS_TOGETHER = 96


def solve_columns(
    dual: Dual, rows: Rows, y: Rows, M: NDArray[np.int8], cost: Array, weight: Array, start: Array | None
) -> SolvedColumns:
    """Solve every column on `rows` of the Gram matrix, with classes y and box sizes cost[y_i, j]·weight_i.

    `start` (L, n) holds the coefficients to start from. Columns that use few of the rows are solved separately; the
    others have the gradients of their rows updated together, on working sets that they share or have each.
    """
    size, gram = check_sides(y, M, cost), dual.gram
    if is_small(gram, len(rows)):
        return solve_small(dual, rows, y, M, cost, weight, start)
    seen = size @ (cost > 0)
    alone = (seen <= FEW_ROWS) & (2 * seen <= len(rows))
    if gram.foreseen:
        # Kernel values in the order in which they lie in memory. Columns that are solved alone need nearly all of them.
        order = np.argsort(gram.place[rows])
        rows, y, weight, start = rows[order], y[order], weight[order], None if start is None else start[:, order]
        if alone.any():
            gram.hold(np.arange(gram.n), dual.run)

    def problem(columns: Any, some: Any) -> tuple[Array, Array]:
        """Return targets (L, n) and boxes (3, L, n), or both without L for a single column."""
        own = None if start is None else start[columns][..., some]
        return boxes(M[:, columns], cost[:, columns], y[some], weight[some], own, dual.free_bias)

    solutions: dict[int, SolvedColumn] = {}
    paused: dict[int, Array] = {}

    def one(j: int) -> bool:
        """Take some steps on a single column; return whether it needs more."""
        some = np.flatnonzero((cost[:, j] > 0)[y])
        target, box = problem(j, some)
        before = solutions[j].steps if j in solutions else 0
        box = paused.pop(j, box)
        limit = min(STEPS_PER_CALL, dual.max_iter - before)
        solved = solve_alone(dual, rows[some], target, box, limit)
        solutions[j] = solved._replace(steps=before + solved.steps)
        if solved.converged or solved.steps < limit or before + limit >= dual.max_iter:
            return False
        paused[j] = box
        return True

    waiting = [int(j) for j in np.flatnonzero(alone)]
    while waiting:
        more = dual.run(one, waiting)
        waiting = [j for j, again in zip(waiting, more, strict=True) if again]
        progress.reached(int(alone.sum()) - len(waiting), M.shape[1])
    others = np.flatnonzero(~alone)
    for first in range(0, len(others), COLUMNS_TOGETHER):
        columns = others[first : first + COLUMNS_TOGETHER]
        target, box = problem(columns, slice(None))
        settled = partial(_reached, len(solutions), M.shape[1])
        solver = OwnSets if gram.readable_in_place else ColumnsTogether
        together = solver(dual, rows, target, box, np.zeros(len(columns), dtype=np.intp), settled)
        together.solve()
        for j, column in enumerate(columns.tolist()):
            solutions[column] = dual.solved(rows, together.e[j], box[:, j], int(together.steps[j]))
    return SolvedColumns.of([solutions[j] for j in range(M.shape[1])])


def check_sides(y: Rows, M: NDArray[np.int8], cost: Array) -> Rows:
    """Return the number of examples of each class, or raise ValueError for a column that lacks one of its sides."""
    size = np.bincount(y, minlength=len(M))
    for sign in (-1, +1):
        lacking = np.flatnonzero(size @ ((np.sign(M) == sign) & (cost > 0)) == 0)
        if len(lacking):
            raise ValueError(f"column {lacking[0]} has no example of positive weight on its {sign:+d} side.")
    return size


def boxes(
    M: NDArray[np.int8], cost: Array, y: Rows, weight: Array, start: Array | None, free_bias: bool
) -> tuple[Array, Array]:
    """Return targets (L, n) and boxes (3, L, n) of β and its bounds, or both without L for a single column."""
    target = np.take(np.ascontiguousarray(M.T, dtype=np.float64), y, axis=-1)
    bound = np.take(np.ascontiguousarray(cost.T), y, axis=-1) * weight
    box = np.zeros((3, *target.shape))
    np.multiply(bound, -1.0 * (target < 0), out=box[1])
    np.multiply(bound, target > 0, out=box[2])
    if start is not None:
        beta = np.clip(start, box[1], box[2])
        box[0] = balanced(beta, partial(np.sum, axis=-1, keepdims=True)) if free_bias else beta
    return target, box


def _reached(before: int, total: int, settled: int) -> None:
    progress.reached(before + settled, total)


def solve_alone(dual: Dual, rows: Rows, target: Array, box: Array, max_steps: int) -> SolvedColumn:
    """Solve one column on the Gram matrix of its own rows.

    `target` has shape (n,). `box` (3, n) holds β, which is changed in place, and its bounds.
    """
    gram, beta, steps = dual.gram, box[0], 0
    # Of kernel values that are known, only the rows that steps use are copied.
    known = gram.foreseen and gram.readable_in_place
    K, places = (gram.store, gram.place[rows]) if known else (_own(gram, rows), None)
    for refreshes in range(REFRESHES + 1):
        # The first steps need no exact gradients.
        rough = K.dtype != np.float64 and refreshes == 0
        if rough or K.dtype == np.float64:
            e = target - _product(K, beta.astype(K.dtype), places) - dual.offset * beta.sum()
        else:
            e = target - exact_product(gram, rows, beta[None], dual.offset, serially)[0]
        highest, lowest = dual.violation(e, box)
        if not rough and (highest - lowest <= dual.tol or steps >= max_steps or refreshes == REFRESHES):
            break
        steps += dual.descend(K, e, box, 0.9 * dual.tol, max_steps - steps, places)
    return dual.solved(rows, e, box, steps)


def _product(K: NDArray[Any], beta: NDArray[Any], places: Rows | None) -> NDArray[Any]:
    """Return Kβ; with `places`, of the Gram matrix that these rows and columns of K make."""
    product: NDArray[Any]
    if places is None:
        product = K @ beta
        return product
    support, product = np.flatnonzero(beta), np.zeros_like(beta)
    starts = np.arange(len(support) + 1, dtype=np.int32)
    add_rows(K, places[support], starts, np.zeros_like(starts), beta[support], places, product[None])
    return product


def _own(gram: Gram, rows: Rows) -> NDArray[Any]:
    """Return the Gram matrix of some rows: half of it is computed and half is mirrored."""
    p = len(rows)
    K = np.empty((p, p), dtype=gram.store.dtype)
    kernel, A = gram.kernel, gram.kernel.anchors(gram.X, rows)
    for block in row_blocks(p, 8 * p):
        if kernel.name == "rbf" and K.dtype == np.float32:
            rbf_block(kernel, A[block], A[block.start :], K, np.arange(p)[block], block.start)
        else:
            K[block, block.start :] = kernel.block(gram.X[rows[block]], A[block.start :])
        K[block.stop :, block] = K[block, block.stop :].T
    return K
