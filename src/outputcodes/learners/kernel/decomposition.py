"""The kernel machine's dual for many columns on one Gram matrix.

Columns that see few rows are solved one by one on a Gram matrix of their own. The others share working sets: the
worst violators of every column, on which each column is solved in cache, after which one sparse product brings the
gradients of all columns up to date (a joint form of Joachims 1999; part of a set is kept: Serafini & Zanni 2005).

Where the Gram matrix does not fit into memory, rows that are settled in all columns are set aside as soon as that of
the others fits (shrinking). Before the certificate the gradients of all rows are computed afresh, and those that turn
out to violate come back.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from outputcodes._ground.blocks import BLOCK_VALUES, Run, row_blocks, serially
from outputcodes._kernel_machines.gram import Gram
from outputcodes._kernel_machines.kernel_function import rbf_block
from outputcodes._kernel_machines.rows import add_rows, gather
from outputcodes._kernel_machines.smo.columns import REFRESHES
from outputcodes._kernel_machines.smo.pairs import solve_pairs, solve_unbalanced
from outputcodes._kernel_machines.smo.passes import BIG

Rows = NDArray[np.intp]
Array = NDArray[np.float64]

# Rows of a working set: its Gram matrix is 16 MB in float32, which a last-level cache can hold.
WORKING_SET = 2048
# Of a working set, what violates most in some column; the rest is kept from the sets before.
FRESH = 0.75
# A column is solved on its working set to this part of its violation, not to full precision too early.
INNER = 0.1
# Gradients that are kept up to date in the precision of the kernel values are to meet this part of the tolerance.
AIM = 0.95
# One call of a compiled loop takes well below 0.2 s, so that an interrupt is heard.
STEPS_PER_CALL = 50_000
# Rounds from one look at how many rows are settled to the next.
ROUNDS_A_LOOK = 4
# Rows to go on with alone are at most this part of all, for more of them save too little.
SHARE = 0.5
# So many times the rows that are not settled are gone on with: with no others, more of those set aside come back.
TIMES_UNSETTLED = 1.5
# Support vectors whose kernel values with a block of rows are computed at a time: with all, a block has too few rows.
ANCHORS = 1024
# Where the columns in a vector begin, if it holds one only.
ONE = np.zeros(1, dtype=np.intp)


@dataclass(frozen=True)
class Dual:
    """What is to be solved: the kernel and the stopping rule, the same for all columns.

    `free_bias` is the constraint Σβ = 0; `offset` is added to every kernel value (1 folds a bias into the kernel).
    """

    gram: Gram
    free_bias: bool
    offset: float
    tol: float
    max_iter: int
    run: Run

    def ends(self, e: Array, box: Array, first: Rows) -> Array:
        """(2, L), of columns one after another, which begin at `first`: the largest e that may grow and the smallest
        that may shrink; 0 is among both without a free bias."""
        beta, lo, hi = box
        outside = np.inf if self.free_bias else 0.0
        highest = np.maximum.reduceat(np.where(beta < hi, e, -np.inf), first)
        lowest = np.minimum.reduceat(np.where(beta > lo, e, np.inf), first)
        return np.stack([np.maximum(highest, -outside), np.minimum(lowest, outside)])

    def biases(self, e: Array, box: Array, ends: Array, first: Rows) -> Array:
        """Of each column the mean of e where β is free, else the middle of what the others allow."""
        beta, lo, hi = box
        if not self.free_bias:
            folded: Array = self.offset * np.add.reduceat(beta, first)
            return folded
        free = (beta > lo) & (beta < hi)
        count = np.add.reduceat(free, first, dtype=np.intp)
        mean = np.add.reduceat(np.where(free, e, 0.0), first) / np.maximum(count, 1)
        return np.where(count > 0, mean, ends.sum(axis=0) / 2)

    def violation(self, e: Array, box: Array) -> tuple[float, float]:
        """`ends` of one column."""
        (highest,), (lowest,) = self.ends(e, box, ONE).tolist()
        return highest, lowest

    def bias(self, e: Array, box: Array, ends: tuple[float, float]) -> float:
        """`biases` of one column."""
        return float(self.biases(e, box, np.array(ends)[:, None], ONE)[0])

    def descend(self, K: NDArray[Any], e: Array, box: Array, tol: float, max_steps: int) -> int:
        """Solve one column on K (p, p), changing β = box[0]; the number of steps."""
        beta, lo, hi = box
        work = np.stack([e, np.where(beta < hi, 0, -BIG), np.where(beta > lo, 0, BIG), K.diagonal() + self.offset])
        every = np.arange(len(e) + 1)
        lines = K.ravel(), every, K, every[:-1], every[[0, -1]]
        if self.free_bias:
            return int(solve_pairs(*lines, work, beta, lo, hi, tol, max_steps))
        return int(solve_unbalanced(*lines, self.offset, work, beta, lo, hi, tol, max_steps))


class Solution(NamedTuple):
    """One column: the coefficients β of `rows` (those that are not 0), its bias and certificate."""

    rows: Rows
    beta: Array
    bias: float
    gap: float
    steps: int
    converged: bool


class Solutions(NamedTuple):
    """All columns: coefficients beta of `rows`, each in its `column`; the others have one value a column."""

    rows: Rows
    column: Rows
    beta: Array
    bias: Array
    gap: Array
    steps: Rows
    converged: NDArray[np.bool_]

    @classmethod
    def of(cls, columns: list[Solution]) -> Solutions:
        """Join the solutions of all columns."""
        rows, beta, bias, gap, steps, converged = zip(*columns, strict=True)
        column = np.repeat(np.arange(len(columns)), [len(some) for some in rows])
        of_columns = np.array(bias), np.array(gap), np.array(steps, dtype=np.intp), np.array(converged)
        return cls(np.concatenate(rows), column, np.concatenate(beta), *of_columns)


def levelled(plus: Array, minus: Array) -> Array:
    """(2, …) factors for the sums of the two sides of columns that make the larger as large as the smaller."""
    sides = np.stack([plus, minus])
    scale: Array = np.divide(sides.min(axis=0), sides, out=np.zeros_like(sides), where=sides > 0)
    # Rounding is no imbalance: what is at its bound is to stay there.
    scale[scale > 1 - 1e-10] = 1
    return scale


def solve_alone(dual: Dual, rows: Rows, target: Array, box: Array, max_steps: int) -> Solution:
    """One column on the Gram matrix of its own rows: target (n,), box (3, n) with β, which changes, and its bounds."""
    K, beta, steps = _own(dual, rows), box[0], 0
    for refreshes in range(REFRESHES + 1):
        if K.dtype == np.float64:
            e = target - K @ beta - dual.offset * beta.sum()
        else:
            e = target - _exact(dual, rows, beta[None], serially)[0]
        highest, lowest = dual.violation(e, box)
        if highest - lowest <= dual.tol or steps >= max_steps or refreshes == REFRESHES:
            break
        steps += dual.descend(K, e, box, 0.9 * dual.tol, max_steps - steps)
    return _solution(dual, rows, e, box, (highest, lowest), steps)


def _own(dual: Dual, rows: Rows) -> NDArray[Any]:
    """The Gram matrix of some rows, half of it computed and half mirrored."""
    gram, p = dual.gram, len(rows)
    kernel, A = gram.kernel, gram.kernel.anchors(gram.X, rows)
    K = np.empty((p, p), dtype=gram.store.dtype)
    for block in row_blocks(p, 8 * p):
        if kernel.name == "rbf" and K.dtype == np.float32:
            rbf_block(kernel, A[block], A[block.start :], K, np.arange(p)[block], block.start)
        else:
            K[block, block.start :] = kernel.block(gram.X[rows[block]], A[block.start :])
        K[block.stop :, block] = K[block, block.stop :].T
    return K


def solve_together(dual: Dual, rows: Rows, target: Array, box: Array) -> list[Solution]:
    """Columns that share their rows: target (L, n), box (3, L, n) with β and its bounds; see the top of the file."""
    L = len(target)
    beta, e = box[0], target.copy()
    started = np.flatnonzero(beta.any(axis=0))
    for first in range(0, len(started), dual.gram.capacity):
        some = started[first : first + dual.gram.capacity]
        with dual.gram.holding(rows[some], dual.run) as slots:
            _subtract(dual, rows, slots, np.arange(L), beta[:, some], e)
    steps = np.zeros(L, dtype=np.intp)
    # Without rounding: e of some β, which was 0 to begin with.
    exact, of_beta = target, np.zeros_like(beta)
    for refreshes in range(REFRESHES + 1):
        ends = [dual.violation(e[j], box[:, j]) for j in range(L)]
        violating = np.array([highest - lowest > dual.tol for highest, lowest in ends]) & (steps < dual.max_iter)
        if np.array_equal(beta, of_beta) and (refreshes == REFRESHES or not violating.any()):
            break
        few = _rounds(dual, rows, e, box, steps, shrink=refreshes < REFRESHES // 2)
        if len(few):
            _rounds_apart(dual, rows, few, e, box, steps)
        exact, of_beta = exact - _exact(dual, rows, beta - of_beta, dual.run), beta.copy()
        e = exact.copy()
    return [_solution(dual, rows, e[j], box[:, j], ends[j], int(steps[j])) for j in range(L)]


def _rounds(dual: Dual, rows: Rows, e: Array, box: Array, steps: Rows, shrink: bool) -> Rows:
    """Round after round, until no column violates or, with `shrink`, few rows are left to go on with: these rows.

    Changes e, β and steps.
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
        # In their order, rows are gathered twice as fast.
        _round(dual, rows, np.sort(working), active, gaps, e, box, steps)
        tol = AIM * dual.tol
    return few


def _rounds_apart(dual: Dual, rows: Rows, few: Rows, e: Array, box: Array, steps: Rows) -> None:
    """Rounds on a Gram matrix of few rows alone; changes their β, and steps. No other row's e is kept up to date."""
    with dual.gram.part(rows[few]) as gram:
        local = box.take(few, axis=2)
        _rounds(replace(dual, gram=gram), np.arange(len(few)), e.take(few, axis=1), local, steps, shrink=False)
        box[0][:, few] = local[0]


def _unsettled(dual: Dual, e: Array, box: Array) -> Rows:
    """The rows to go on with alone, none if that does not pay: of the others no kernel value is needed for a while.

    A row is settled when in every column it is at a bound and e is on the right side of the bias, towards which free
    coefficients tend. It pays when the rows that are not settled are too many to be held, but are few enough for a
    Gram matrix of their own. Some are added to spare: the settled rows nearest to the bias, for it moves.
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
    """Solve the active columns on the working set, then bring their e up to date; changes e, β and steps."""
    with dual.gram.holding(rows[working], dual.run) as slots:
        K = _local(dual, slots, dual.gram.place[rows[working]])
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
    """e ← e − K·change in some columns: change (len(columns), len(slots)) is of the rows that are held in `slots`.

    A column moves few of the rows, each of which is read once for all that do.
    """
    store, places = dual.gram.store, dual.gram.place[rows]
    moved = sparse.csc_array(change.astype(store.dtype, copy=False))
    shift = dual.offset * change.sum(axis=1, keepdims=True)

    def update(block: slice) -> None:
        product = np.zeros((len(columns), block.stop - block.start), dtype=store.dtype)
        lines = moved.indptr, moved.indices, moved.data
        add_rows(store, slots, *lines, places[block], np.empty_like(product[0]), product)
        e[columns, block] -= product + shift

    # Blocks that a second-level cache holds.
    dual.run(update, row_blocks(len(rows), 8 * len(columns)))


def _solution(dual: Dual, rows: Rows, e: Array, box: Array, ends: tuple[float, float], steps: int) -> Solution:
    kept = np.flatnonzero(box[0])
    gap = ends[0] - ends[1]
    return Solution(rows[kept], box[0][kept], dual.bias(e, box, ends), gap, steps, bool(gap <= dual.tol))


def _exact(dual: Dual, rows: Rows, beta: Array, run: Run) -> Array:
    """Kβ of all columns in float64, from kernel values that were never rounded; (L, n)."""
    support = np.flatnonzero(beta.any(axis=0))
    if not len(support):
        return np.zeros_like(beta)
    gram, coefficients = dual.gram, beta[:, support].T
    anchors = gram.kernel.anchors(gram.X, rows[support])
    tiles = list(row_blocks(len(support), BLOCK_VALUES // ANCHORS))

    def of_block(block: slice) -> Array:
        A, f = gram.X[rows[block]], np.zeros((block.stop - block.start, len(beta)))
        for tile in tiles:
            f += gram.kernel.block(A, anchors[tile]) @ coefficients[tile]
        return f

    parts = run(of_block, row_blocks(len(rows), min(len(support), ANCHORS)))
    f: Array = np.concatenate(parts).T + dual.offset * beta.sum(axis=1, keepdims=True)
    return f


def _violators(dual: Dual, e: Array, box: Array, size: int, tol: float) -> tuple[Array, list[Rows]]:
    """The violation of each column, and its violators: worst first, those to grow and those to shrink in turn.

    Columns that violate by no more than `tol` have none.
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
    """Round robin over the columns' violators, two from each, then the rows of the last set, newest first.

    However small the set, the first column finds its worst pair in it, and gets on.
    """
    if size == n:
        return np.arange(n)
    offered = np.stack(candidates).reshape(len(candidates), -1, 2).swapaxes(0, 1).ravel()
    offered = _first_of_each(offered[offered >= 0])[: max(2, int(FRESH * size) if len(working) else size)]
    return _first_of_each(np.concatenate([offered, working]))[:size]


def _first_of_each(values: Rows) -> Rows:
    _, first = np.unique(values, return_index=True)
    return values[np.sort(first)]


def _local(dual: Dual, slots: Rows, columns: Rows) -> NDArray[Any]:
    """The Gram matrix of a working set."""
    K = np.empty((len(slots), len(columns)), dtype=dual.gram.store.dtype)
    dual.run(lambda b: gather(dual.gram.store, slots[b], columns, K[b]), row_blocks(len(slots), 8 * len(columns)))
    return K
