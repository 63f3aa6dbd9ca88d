"""Kernel SVM columns that share working sets, with shrinking where the Gram matrix does not fit in memory.

Rows that are settled in all columns are set aside as soon as the Gram matrix of the other rows fits (shrinking). Before
the certificate is computed, the gradients of all rows are recomputed from scratch, and rows that violate the optimality
conditions are added back.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from outputcodes._ground.choosing import TIE
from outputcodes._kernel_machines.smo.violating import violating
from outputcodes._kernel_machines.working_sets import INNER, NONE, REFRESHES, WorkingSets
from outputcodes.learners.kernel.dual import ROUNDING, STEPS_PER_CALL, Dual

Rows = NDArray[np.intp]
Array = NDArray[np.float64]

# Rounds between two checks of how many rows are settled.
ROUNDS_PER_LOOK = 4
# Shrinking keeps at most this fraction of the rows; keeping more saves too little.
SHARE = 0.5
# Shrinking keeps this multiple of the unsettled rows; with fewer, more of the other rows have to be added back.
TIMES_UNSETTLED = 1.5


class ColumnsTogether(WorkingSets):
    """Columns with targets (L, n) and box (3, L, n), which holds β and its bounds; β and steps are changed in place."""

    # The Gram matrix takes 16 MB in float32, which fits in a last-level cache.
    size = 2048

    def __init__(
        self,
        dual: Dual,
        rows: Rows,
        target: Array,
        box: Array,
        steps: Rows,
        settled: Callable[[int], None] = lambda count: None,
    ) -> None:
        super().__init__(dual.gram, rows, target, dual.run, dual.offset)
        self.dual, self.box, self.steps = dual, box, steps
        # Called before each round with the number of columns that no row violates.
        self.settled = settled
        # Before the first round all rows of a side are equal: those that come first should be of all classes.
        self.tie_break = TIE * np.random.default_rng(0).random(len(rows))

    def coefficients(self) -> Array:
        """Return β."""
        beta: Array = self.box[0]
        return beta

    def violators(self, size: int, aim: float) -> Rows:
        """Return violators, two per column in turn: one whose β may grow and one whose β may shrink."""
        L, n = self.e.shape
        tol = aim * self.dual.tol
        found = self.worst(min(n, max(8, 2 * size // L)), tol, tol)
        if not len(found):
            return NONE
        offered: Rows = np.stack(found).reshape(len(found), -1, 2).swapaxes(0, 1).ravel()
        return offered[offered >= 0]

    def worst(self, count: int, tol: float, least: float) -> list[Rows]:
        """Return, for each column that violates by more than `tol`, the rows that violate by more than `least`.

        A column has at most `count` rows whose β may grow and as many whose β may shrink, worst first and in turn; -1
        stands for a row that is missing. Columns that reached the maximum number of steps have no rows.
        """
        found = self.run(lambda j: self._worst(j, count, tol, least), range(len(self.e)))
        self.gaps = np.array([gap for gap, _ in found])
        self.active = np.flatnonzero([len(rows) > 0 for _, rows in found] & (self.steps < self.dual.max_iter))
        self.settled(len(self.e) - len(self.active))
        return [found[j][1] for j in self.active]

    def improve(self, K: NDArray[Any], working: Rows) -> tuple[Rows, NDArray[Any]]:
        """Solve the active columns on the working set."""
        active = self.active
        change = np.empty((len(active), len(working)), dtype=K.dtype)

        def solve(place: int) -> None:
            change[place] = self.descend(active[place], working, K)

        self.run(solve, range(len(active)))
        return active, change

    def descend(self, j: int, working: Rows, K: NDArray[Any], places: Rows | None = None) -> Array:
        """Solve a column on a working set; return the changes of β."""
        dual, local = self.dual, np.ascontiguousarray(self.box[:, j, working])
        tol = max(INNER * self.gaps[j], 0.5 * dual.tol) if len(working) < len(self.rows) else 0.9 * dual.tol
        most = min(STEPS_PER_CALL, dual.max_iter - self.steps[j])
        self.steps[j] += dual.descend(K, self.e[j, working], local, tol, most, places)
        change: Array = local[0] - self.box[0, j, working]
        self.box[0, j, working] = local[0]
        return change

    def advance(self, refreshes: int) -> None:
        """Run rounds until no column violates, or until few unsettled rows are left; then run rounds on those only."""
        for count in self.rounds():
            if refreshes < REFRESHES // 2 and count % ROUNDS_PER_LOOK == 0 and len(few := self.unsettled()):
                self.continue_with(few)
                return

    def continue_with(self, few: Rows) -> None:
        """Run rounds on the Gram matrix of few rows only.

        β of these rows and steps are changed in place; e is not updated.
        """
        with self.gram.part(self.rows[few]) as gram:
            local = self.box.take(few, axis=2)
            dual, targets = replace(self.dual, gram=gram), self.e.take(few, axis=1)
            part = ColumnsTogether(dual, np.arange(len(few)), targets, local, self.steps, self.settled)
            for _ in part.rounds():
                pass
            self.box[0][:, few] = local[0]

    def unsettled(self) -> Rows:
        """Return the rows that shrinking keeps, or no rows if shrinking does not pay off.

        A row is settled when, in every column, it is at a bound and e is on the right side of the bias, towards which
        free coefficients tend. Shrinking pays off when there are too many unsettled rows to hold in the cache, but few
        enough for their own Gram matrix. The settled rows nearest to the bias are kept as well, because the bias moves.
        """
        gram, dual = self.gram, self.dual
        most = min(gram.side, int(SHARE * len(self.rows)))
        if gram.capacity >= most:
            return NONE

        def off(j: int) -> Array:
            e, (beta, lo, hi) = self.e[j], self.box[:, j]
            if dual.free_bias:
                e = e - dual.bias(e, self.box[:, j], dual.violation(e, self.box[:, j]))
            return np.maximum(np.where(beta < hi, e, -np.inf), np.where(beta > lo, -e, -np.inf))

        farthest = np.maximum.reduce(self.run(off, range(len(self.e))))
        count = np.count_nonzero(farthest >= 0)
        few = np.argsort(-farthest, kind="stable")[: min(most, int(TIMES_UNSETTLED * count))]
        return np.sort(few) if gram.capacity < count <= most else NONE

    def _worst(self, j: int, count: int, tol: float, least: float) -> tuple[float, Rows]:
        """Return the violation of a column, and its rows."""
        e, rows = self.e[j], np.empty((2, len(self.rows)), dtype=np.intp)
        outside = np.inf if self.dual.free_bias else 0.0
        highest, lowest, *counts = violating(e, *self.box[:, j], ROUNDING, outside, tol, least, *rows)
        if highest - lowest <= tol:
            return highest - lowest, NONE
        both = np.full(2 * count, -1)
        for start, sign in ((0, -1.0), (1, 1.0)):
            violators = rows[start, : counts[start]]
            goodness = sign * e[violators] + self.tie_break[violators]
            if len(violators) > count:
                worst = np.argpartition(goodness, count - 1)[:count]
                violators, goodness = violators[worst], goodness[worst]
            both[start : start + 2 * len(violators) : 2] = violators[np.argsort(goodness, kind="stable")]
        return highest - lowest, both
