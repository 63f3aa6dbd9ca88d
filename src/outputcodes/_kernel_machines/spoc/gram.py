"""Multiclass SVMs on a Gram matrix: every class is a column, and all classes are solved on the same working sets."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from outputcodes._ground import progress
from outputcodes._ground.blocks import Run
from outputcodes._kernel_machines.gram import Gram
from outputcodes._kernel_machines.spoc.problem import Array, Rows, SpocCertificate, SpocProblem
from outputcodes._kernel_machines.spoc.steps import certify_gradients, sweep
from outputcodes._kernel_machines.working_sets import INNER, NONE, WorkingSets

# Steps per example in one call of the compiled loop, well below 0.2 s, so that interrupts are handled.
STEPS_PER_CALL = 16
# The maximum number of calls per working set; the next working set continues from there.
CALLS = 500


class ClassesTogether(WorkingSets):
    """Classes with the gradients F = b + Kτ (lanes, n), those of the coefficients −τ = η − c [r = y].

    `eta` (n, lanes) is changed in place.
    """

    # The Gram matrix takes 4 MB in float32, which leaves cache for the gradients of tens of classes.
    size = 1024

    def __init__(
        self, problem: SpocProblem, gram: Gram, rows: Rows, eta: Array, tol: float, max_iter: int, run: Run
    ) -> None:
        super().__init__(gram, rows, np.ascontiguousarray(problem.targets[problem.target].T), run)
        self.problem, self.eta, self.tol, self.max_iter, self.iterations = problem, eta, tol, max_iter, 0
        self.verdicts = np.empty((len(rows), 3))

    def coefficients(self) -> Array:
        """Return −τ."""
        return -self.problem.signed(self.eta).T

    def violators(self, size: int, aim: float) -> Rows:
        """Return the examples with the largest ψ."""
        if self.iterations >= self.max_iter:
            return NONE
        psi = self.judge()[:, 0]
        progress.nearing(psi.max(), self.tol, f"working set {self.iterations}")
        order: Rows = np.argsort(-psi, kind="stable")[:size]
        return order[psi[order] > aim * self.tol]

    def judge(self) -> Array:
        """Return the verdicts on all examples."""
        problem = self.problem
        certify_gradients(self.e, self.eta, problem.y, problem.cost, problem.paired, self.verdicts)
        return self.verdicts

    def improve(self, K: NDArray[Any], working: Rows) -> tuple[Rows, NDArray[Any]]:
        """Solve all classes on the working set, to a fraction of the violation."""
        self.iterations += 1
        tol = max(INNER * self.verdicts[:, 0].max(), 0.5 * self.tol)
        F, eta = np.ascontiguousarray(self.e[:, working]), np.ascontiguousarray(self.eta[working].T)
        problem, steps = self.problem, STEPS_PER_CALL * len(working)
        before_F, before_eta = F.copy(), eta.copy()
        for _ in range(CALLS):
            if sweep(K, F, eta, problem.y[working], problem.cost[working], problem.paired, tol, steps) < steps:
                break
            change, way = eta - before_eta, F - before_F
            gain, curvature = float(np.vdot(change, F)), -float(np.vdot(change, way))
            F += problem.prolong(working, eta.T, change.T, gain, curvature) * way
            before_F, before_eta = F.copy(), eta.copy()
        change = eta - self.eta[working].T
        self.eta[working] = eta.T
        return np.arange(len(change)), change


def solve_gram(
    problem: SpocProblem, gram: Gram, rows: Rows, eta: Array, tol: float, max_iter: int, run: Run
) -> SpocCertificate:
    """Solve the problem for `rows` of the Gram matrix; eta (n, lanes) is changed to the optimal dual variables."""
    if (gram.diag[rows] < 0).any():
        raise ValueError("the kernel is not positive semidefinite: K(x, x) < 0 for some x.")
    sets = ClassesTogether(problem, gram, rows, eta, tol, max_iter, run)
    sets.solve()
    products, tau = sets.e.T - problem.targets[problem.target], problem.signed(eta)
    norm = float(np.vdot(tau, products))
    if norm < -1e-6 * float(np.abs(tau * products).sum()) - 1e-9 * problem.cost.sum():
        raise ValueError(f"the kernel is not positive semidefinite: ‖M‖² = {norm:.3g}.")
    return problem.certificate(sets.judge(), norm, sets.iterations, tol)
