"""Dual problem of the kernel SVM for many columns on one Gram matrix.

Columns that use few rows are solved one by one, each on its own Gram matrix. The others share working sets, which
contain the worst violators of every column. Each column is solved on the working set in cache, and then one sparse
product updates the gradients of all columns (a joint form of Joachims 1999). Part of each working set is kept for the
next round (Serafini & Zanni 2005).

If the Gram matrix does not fit in memory, rows that are settled in all columns are set aside as soon as the Gram matrix
of the other rows fits (shrinking). Before the certificate is computed, the gradients of all rows are recomputed from
scratch, and rows that violate the optimality conditions are added back.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from outputcodes._ground.blocks import Run, row_blocks, serially
from outputcodes._kernel_machines.gram import Gram
from outputcodes._kernel_machines.kernel_function import rbf_block
from outputcodes._kernel_machines.smo.pairs import add_rows, solve_pairs, solve_unbalanced
from outputcodes._kernel_machines.smo.passes import BIG
from outputcodes._kernel_machines.working_sets import INNER, REFRESHES, exact_products, local_gram, next_set, padded

Rows = NDArray[np.intp]
Array = NDArray[np.float64]

# Rows per working set: its Gram matrix takes 16 MB in float32, which fits in a last-level cache.
WORKING_SET = 2048
# Gradients updated in the precision of the kernel values must meet this fraction of the tolerance.
AIM = 0.95
# One call of a compiled loop takes well below 0.2 s, so that interrupts are handled.
STEPS_PER_CALL = 50_000
# Rounds between two checks of how many rows are settled.
ROUNDS_A_LOOK = 4
# Shrinking keeps at most this fraction of the rows; keeping more saves too little.
SHARE = 0.5
# Shrinking keeps this multiple of the unsettled rows; with fewer, more of the other rows have to be added back.
TIMES_UNSETTLED = 1.5
# Start of the columns in a vector that holds only one.
ONE = np.zeros(1, dtype=np.intp)


@dataclass(frozen=True)
class Dual:
    """Dual problem: the kernel and the stopping rule, which all columns share.

    `free_bias` is the constraint Σβ = 0; `offset` is added to every kernel value (1 folds a bias into the kernel).
    """

    gram: Gram
    free_bias: bool
    offset: float
    tol: float
    max_iter: int
    run: Run

    def ends(self, e: Array, box: Array, first: Rows) -> Array:
        """Return (2, L): the largest e that may grow and the smallest e that may shrink in each column.

        The columns are concatenated and begin at `first`. Without a free bias, both extrema include 0.
        """
        beta, lo, hi = box
        outside = np.inf if self.free_bias else 0.0
        highest = np.maximum.reduceat(np.where(beta < hi, e, -np.inf), first)
        lowest = np.minimum.reduceat(np.where(beta > lo, e, np.inf), first)
        return np.stack([np.maximum(highest, -outside), np.minimum(lowest, outside)])

    def biases(self, e: Array, box: Array, ends: Array, first: Rows) -> Array:
        """Return the bias of each column: the mean of e where β is free, else the middle of the feasible interval."""
        beta, lo, hi = box
        if not self.free_bias:
            folded: Array = self.offset * np.add.reduceat(beta, first)
            return folded
        free = (beta > lo) & (beta < hi)
        count = np.add.reduceat(free, first, dtype=np.intp)
        mean = np.add.reduceat(np.where(free, e, 0.0), first) / np.maximum(count, 1)
        return np.where(count > 0, mean, ends.sum(axis=0) / 2)

    def violation(self, e: Array, box: Array) -> tuple[float, float]:
        """Return `ends` of one column."""
        (highest,), (lowest,) = self.ends(e, box, ONE).tolist()
        return highest, lowest

    def bias(self, e: Array, box: Array, ends: tuple[float, float]) -> float:
        """Return the bias of one column."""
        return float(self.biases(e, box, np.array(ends)[:, None], ONE)[0])

    def products(self, rows: Rows, beta: Array, run: Run) -> Array:
        """Return Kβ (L, n) of all columns from unrounded kernel values; beta has shape (L, n)."""
        f: Array = exact_products(self.gram, rows, beta.T, run).T + self.offset * beta.sum(axis=1, keepdims=True)
        return f

    def descend(self, K: NDArray[Any], e: Array, box: Array, tol: float, max_steps: int) -> int:
        """Solve one column on K (p, width), changing β = box[0]; return the number of steps."""
        p, width, number = len(e), K.shape[1], K.dtype.type
        beta, lo, hi = box
        work = np.zeros((4, width), dtype=K.dtype)
        work[0, :p] = e
        work[1], work[2] = -BIG, BIG
        work[1, :p][beta < hi] = 0
        work[2, :p][beta > lo] = 0
        work[3, :p] = K.diagonal() + number(self.offset)
        every = np.arange(p + 1)
        lines = K.ravel(), every, width, K, every[:p], every[[0, p]]
        if self.free_bias:
            return int(solve_pairs(*lines, work, beta, lo, hi, number(tol), max_steps))
        return int(solve_unbalanced(*lines, self.offset, work, beta, lo, hi, number(tol), max_steps))


class SolvedColumn(NamedTuple):
    """Solution of one column: the nonzero coefficients β of `rows`, the bias and the certificate."""

    rows: Rows
    beta: Array
    bias: float
    gap: float
    steps: int
    converged: bool


class SolvedColumns(NamedTuple):
    """Solution of all columns: beta of `rows`, each in its `column`; the other fields have one value per column."""

    rows: Rows
    column: Rows
    beta: Array
    bias: Array
    gap: Array
    steps: Rows
    converged: NDArray[np.bool_]

    @classmethod
    def of(cls, columns: list[SolvedColumn]) -> SolvedColumns:
        """Join the solutions of all columns."""
        rows, beta, bias, gap, steps, converged = zip(*columns, strict=True)
        column = np.repeat(np.arange(len(columns)), [len(some) for some in rows])
        of_columns = np.array(bias), np.array(gap), np.array(steps, dtype=np.intp), np.array(converged)
        return cls(np.concatenate(rows), column, np.concatenate(beta), *of_columns)


def levelled(plus: Array, minus: Array) -> Array:
    """Return (2, …) factors for the two sides of each column that scale the larger sum down to the smaller one."""
    sides = np.stack([plus, minus])
    scale: Array = np.divide(sides.min(axis=0), sides, out=np.zeros_like(sides), where=sides > 0)
    # Ignore differences due to rounding, so that coefficients at their bounds stay there.
    scale[scale > 1 - 1e-10] = 1
    return scale


def solve_alone(dual: Dual, rows: Rows, target: Array, box: Array, max_steps: int) -> SolvedColumn:
    """Solve one column on the Gram matrix of its own rows.

    `target` has shape (n,). `box` (3, n) holds β, which is changed in place, and its bounds.
    """
    K, beta, steps = _own(dual, rows), box[0], 0
    for refreshes in range(REFRESHES + 1):
        if K.dtype == np.float64:
            e = target - K[:, : len(rows)] @ beta - dual.offset * beta.sum()
        else:
            e = target - dual.products(rows, beta[None], serially)[0]
        highest, lowest = dual.violation(e, box)
        if highest - lowest <= dual.tol or steps >= max_steps or refreshes == REFRESHES:
            break
        steps += dual.descend(K, e, box, 0.9 * dual.tol, max_steps - steps)
    return _solution(dual, rows, e, box, (highest, lowest), steps)


def _own(dual: Dual, rows: Rows) -> NDArray[Any]:
    """Return the Gram matrix of some rows; half of it is computed and half is mirrored."""
    gram, p = dual.gram, len(rows)
    kernel, A = gram.kernel, gram.kernel.anchors(gram.X, rows)
    K = padded(p, p, gram.store.dtype)
    for block in row_blocks(p, 8 * p):
        if kernel.name == "rbf" and K.dtype == np.float32:
            rbf_block(kernel, A[block], A[block.start :], K, np.arange(p)[block], block.start)
        else:
            K[block, block.start : p] = kernel.block(gram.X[rows[block]], A[block.start :])
        K[block.stop :, block] = K[block, block.stop : p].T
    return K


def solve_together(dual: Dual, rows: Rows, target: Array, box: Array) -> list[SolvedColumn]:
    """Solve columns that share their rows, as the module docstring describes.

    `target` has shape (L, n). `box` (3, L, n) holds β and its bounds.
    """
    L = len(target)
    beta, e = box[0], target.copy()
    started = np.flatnonzero(beta.any(axis=0))
    for first in range(0, len(started), dual.gram.capacity):
        some = started[first : first + dual.gram.capacity]
        with dual.gram.holding(rows[some], dual.run) as slots:
            _subtract(dual, rows, slots, np.arange(L), beta[:, some], e)
    steps = np.zeros(L, dtype=np.intp)
    # `exact` is e without rounding at β = `of_beta`, which is initially 0.
    exact, of_beta = target, np.zeros_like(beta)
    for refreshes in range(REFRESHES + 1):
        ends = [dual.violation(e[j], box[:, j]) for j in range(L)]
        violating = np.array([highest - lowest > dual.tol for highest, lowest in ends]) & (steps < dual.max_iter)
        if np.array_equal(beta, of_beta) and (refreshes == REFRESHES or not violating.any()):
            break
        few = _rounds(dual, rows, e, box, steps, shrink=refreshes < REFRESHES // 2)
        if len(few):
            _rounds_apart(dual, rows, few, e, box, steps)
        exact, of_beta = exact - dual.products(rows, beta - of_beta, dual.run), beta.copy()
        e = exact.copy()
    return [_solution(dual, rows, e[j], box[:, j], ends[j], int(steps[j])) for j in range(L)]


def _rounds(dual: Dual, rows: Rows, e: Array, box: Array, steps: Rows, shrink: bool) -> Rows:
    """Run rounds until no column violates or, with `shrink`, few unsettled rows are left; return these rows.

    e, β and steps are changed in place.
    """
    size, tol = min(WORKING_SET, len(rows), dual.gram.capacity), dual.tol
    working = few = np.empty(0, dtype=np.intp)
    for count in itertools.count():
        gaps, candidates = _violators(dual, e, box, size, tol)
        active = np.flatnonzero([len(found) > 0 for found in candidates] & (steps < dual.max_iter))
        if len(active) and shrink and count % ROUNDS_A_LOOK == 0:
            few = _unsettled(dual, e, box)
        if not len(active) or len(few):
            break
        working = _next_set(working, [candidates[j] for j in active], size, len(rows))
        # Gathering sorted rows is twice as fast.
        _round(dual, rows, np.sort(working), active, gaps, e, box, steps)
        tol = AIM * dual.tol
    return few


def _rounds_apart(dual: Dual, rows: Rows, few: Rows, e: Array, box: Array, steps: Rows) -> None:
    """Run rounds on the Gram matrix of few rows only.

    β of these rows and steps are changed in place; e is not updated.
    """
    with dual.gram.part(rows[few]) as gram:
        local = box.take(few, axis=2)
        _rounds(replace(dual, gram=gram), np.arange(len(few)), e.take(few, axis=1), local, steps, shrink=False)
        box[0][:, few] = local[0]


def _unsettled(dual: Dual, e: Array, box: Array) -> Rows:
    """Return the rows that shrinking keeps, or no rows if shrinking does not pay off.

    A row is settled when, in every column, it is at a bound and e is on the right side of the bias, towards which free
    coefficients tend. Shrinking pays off when there are too many unsettled rows to hold in the cache, but few enough
    for their own Gram matrix. The settled rows nearest to the bias are kept as well, because the bias moves.
    """
    gram, none = dual.gram, np.empty(0, dtype=np.intp)
    most = min(gram.side, int(SHARE * e.shape[1]))
    if gram.capacity >= most:
        return none

    def off(j: int) -> Array:
        beta, lo, hi = box[:, j]
        ends = dual.violation(e[j], box[:, j])
        wrong = e[j] - dual.bias(e[j], box[:, j], ends) if dual.free_bias else e[j]
        return np.maximum(np.where(beta < hi, wrong, -np.inf), np.where(beta > lo, -wrong, -np.inf))

    farthest = np.maximum.reduce(dual.run(off, range(len(e))))
    count = np.count_nonzero(farthest >= 0)
    few = np.argsort(-farthest, kind="stable")[: min(most, int(TIMES_UNSETTLED * count))]
    return np.sort(few) if gram.capacity < count <= most else none


def _round(dual: Dual, rows: Rows, working: Rows, active: Rows, gaps: Array, e: Array, box: Array, steps: Rows) -> None:
    """Solve the active columns on the working set, then update their e; e, β and steps are changed in place."""
    with dual.gram.holding(rows[working], dual.run) as slots:
        K = local_gram(dual.gram, slots, dual.gram.place[rows[working]], dual.run)
        change = np.empty((len(active), len(working)), dtype=K.dtype)

        def solve(place: int) -> None:
            j = active[place]
            local = np.ascontiguousarray(box[:, j, working])
            tol = max(INNER * gaps[j], 0.5 * dual.tol) if len(working) < len(rows) else 0.9 * dual.tol
            steps[j] += dual.descend(K, e[j, working], local, tol, min(STEPS_PER_CALL, dual.max_iter - steps[j]))
            change[place] = local[0] - box[0, j, working]
            box[0, j, working] = local[0]

        dual.run(solve, range(len(active)))
        _subtract(dual, rows, slots, active, change, e)


def _subtract(dual: Dual, rows: Rows, slots: Rows, columns: Rows, change: NDArray[Any], e: Array) -> None:
    """Update e ← e − K·change in some columns; change (len(columns), len(slots)) belongs to the rows held in `slots`.

    A column changes few rows, and each row is read once for all columns that change it.
    """
    store, places = dual.gram.store, dual.gram.place[rows]
    moved = sparse.csc_array(change.astype(store.dtype, copy=False))
    shift = dual.offset * change.sum(axis=1, keepdims=True)

    def update(block: slice) -> None:
        product = np.zeros((len(columns), block.stop - block.start), dtype=store.dtype)
        lines = moved.indptr, moved.indices, moved.data
        add_rows(store, slots, *lines, places[block], np.empty_like(product[0]), product)
        e[columns, block] -= product + shift

    # Blocks that fit in a second-level cache.
    dual.run(update, row_blocks(len(rows), 8 * len(columns)))


def _solution(dual: Dual, rows: Rows, e: Array, box: Array, ends: tuple[float, float], steps: int) -> SolvedColumn:
    kept = np.flatnonzero(box[0])
    gap = ends[0] - ends[1]
    return SolvedColumn(rows[kept], box[0][kept], dual.bias(e, box, ends), gap, steps, bool(gap <= dual.tol))


def _violators(dual: Dual, e: Array, box: Array, size: int, tol: float) -> tuple[Array, list[Rows]]:
    """Return the violation and the violators of each column, worst first, alternating between growing and shrinking.

    Columns whose violation is at most `tol` have no violators.
    """
    L, n = e.shape
    count = min(n, max(8, 2 * size // L))

    def of_column(j: int) -> tuple[float, Rows]:
        beta, lo, hi = box[:, j]
        highest, lowest = dual.violation(e[j], box[:, j])
        if highest - lowest <= tol:
            return highest - lowest, np.empty(0, dtype=np.intp)
        both = np.full(2 * count, -1)
        grow = np.flatnonzero((beta < hi) & (e[j] > lowest + tol))
        shrink = np.flatnonzero((beta > lo) & (e[j] < highest - tol))
        for start, violating, goodness in ((0, grow, -e[j, grow]), (1, shrink, e[j, shrink])):
            if len(violating) > count:
                worst = np.argpartition(goodness, count - 1)[:count]
                violating, goodness = violating[worst], goodness[worst]
            both[start : start + 2 * len(violating) : 2] = violating[np.argsort(goodness, kind="stable")]
        return highest - lowest, both

    found = dual.run(of_column, range(L))
    return np.array([gap for gap, _ in found]), [rows for _, rows in found]


def _next_set(working: Rows, candidates: list[Rows], size: int, n: int) -> Rows:
    """Return the next working set: violators, two per column in turn, then the rows of the last set, newest first.

    Even the smallest set contains the worst pair of the first column, so the solver always makes progress.
    """
    if size == n:
        return np.arange(n)
    offered = np.stack(candidates).reshape(len(candidates), -1, 2).swapaxes(0, 1).ravel()
    return next_set(working, offered[offered >= 0], size, least=2)
