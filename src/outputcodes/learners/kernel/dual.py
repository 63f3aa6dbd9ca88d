"""Dual problem of the kernel SVM, shared by all columns, and the solution of each column."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from outputcodes._ground.blocks import Run
from outputcodes._kernel_machines.gram import Gram
from outputcodes._kernel_machines.rows import run_starts
from outputcodes._kernel_machines.smo.pairs import solve_pairs, solve_unbalanced
from outputcodes._kernel_machines.smo.passes import BIG

Rows = NDArray[np.intp]
Array = NDArray[np.float64]

# One call of a compiled loop takes well below 0.2 s, so that interrupts are handled.
STEPS_PER_CALL = 50_000
# Coefficients this near to a bound, relative to the largest one of their column, are at it. Rounding may leave one a
# digit short of its bound, as the others need not sum to exactly 0; a bias read from this one row would be far from the
# middle of its interval.
ROUNDING = 1e-12
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
        low, up = may_move(box, first)
        outside = np.inf if self.free_bias else 0.0
        highest = np.maximum.reduceat(np.where(up, e, -np.inf), first)
        lowest = np.minimum.reduceat(np.where(low, e, np.inf), first)
        return np.stack([np.maximum(highest, -outside), np.minimum(lowest, outside)])

    def biases(self, e: Array, box: Array, ends: Array, first: Rows) -> Array:
        """Return the bias of each column: the mean of e where β is free, else the middle of the feasible interval."""
        if not self.free_bias:
            folded: Array = self.offset * np.add.reduceat(box[0], first)
            return folded
        free = np.logical_and(*may_move(box, first))
        count = np.add.reduceat(free, first, dtype=np.intp)
        return bias_of(np.add.reduceat(np.where(free, e, 0.0), first), count, ends)

    def violation(self, e: Array, box: Array) -> tuple[float, float]:
        """Return `ends` of one column."""
        (highest,), (lowest,) = self.ends(e, box, ONE).tolist()
        return highest, lowest

    def bias(self, e: Array, box: Array, ends: tuple[float, float]) -> float:
        """Return the bias of one column."""
        return float(self.biases(e, box, np.array(ends)[:, None], ONE)[0])

    def descend(
        self, K: NDArray[Any], e: Array, box: Array, tol: float, max_steps: int, places: Rows | None = None
    ) -> int:
        """Solve one column on K (p, p), changing β = box[0]; return the number of steps.

        With `places`, the column has these p rows of a larger K, and a row is copied when it is first used.
        """
        beta, lo, hi = box
        work, every = np.empty((4, len(e))), np.arange(len(e) + 1)
        work[0], work[1], work[2] = e, -BIG * (beta >= hi), BIG * (beta <= lo)
        if places is None:
            lines, diag = (K.ravel(), every, K, every[:-1], every[[0, -1]]), K.diagonal()
        else:
            slot = np.append(np.full(len(e), -1), 0)
            lines, diag = (np.empty(len(e) ** 2, K.dtype), slot, K, places, run_starts(places)), K[places, places]
        work[3] = diag + self.offset
        if self.free_bias:
            return int(solve_pairs(*lines, work, beta, lo, hi, tol, max_steps))
        return int(solve_unbalanced(*lines, self.offset, work, beta, lo, hi, tol, max_steps))

    def solved(self, rows: Rows, e: Array, box: Array, steps: int) -> SolvedColumn:
        """Return the solution of one column with its certificate, from its gradient."""
        ends, kept = self.violation(e, box), np.flatnonzero(box[0])
        gap = ends[0] - ends[1]
        return SolvedColumn(rows[kept], box[0][kept], self.bias(e, box, ends), gap, steps, bool(gap <= self.tol))


def may_move(box: Array, first: Rows) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return which coefficients may shrink and which may grow; the columns begin at `first`."""
    beta, lo, hi = box
    largest = np.maximum.reduceat(np.abs(beta), first)
    room = ROUNDING * np.minimum(hi - lo, np.repeat(largest, np.diff(np.append(first, len(beta)))))
    return beta > lo + room, beta < hi - room


def bias_of(total: Array, count: NDArray[Any], ends: Array) -> Array:
    """Return the free bias: the mean of e where β is free, given its sum and number, else the middle of the `ends`."""
    bias: Array = np.where(count > 0, total / np.maximum(count, 1), ends.sum(axis=0) / 2)
    return bias


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


def balanced(beta: Array, total: Callable[[Array], Array], column: Any = ...) -> Array:
    """Return β with the larger of the two sides of each column scaled down, so that Σβ = 0 in each column.

    `total` sums over the columns; `column` is the index of each β in these sums.
    """
    sides = np.stack([total(beta.clip(min=0)), -total(beta.clip(max=0))])
    scale = np.divide(sides.min(axis=0), sides, out=np.zeros_like(sides), where=sides > 0)
    # Ignore differences due to rounding, so that coefficients at their bounds stay there.
    scale[scale > 1 - 1e-10] = 1
    level: Array = beta * np.where(beta > 0, scale[0][column], scale[1][column])
    return level
