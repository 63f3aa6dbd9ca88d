"""Multiclass SVMs on a Gram matrix: working sets solved in cache, and one product for all classes."""

from __future__ import annotations

import numpy as np

from outputcodes._ground.blocks import Run, row_blocks
from outputcodes._kernel_machines.gram import Gram
from outputcodes._kernel_machines.smo.pairs import gather
from outputcodes._kernel_machines.spoc.problem import Array, Rows, SpocCertificate, SpocProblem
from outputcodes._kernel_machines.spoc.steps import certify_gradients, sweep
from outputcodes._kernel_machines.working_sets import INNER, REFRESHES, exact_products, local_gram, next_set

# Rows per working set: the Gram matrix takes 4 MB in float32, which leaves cache for the gradients of tens of classes.
WORKING_SET = 1024
# Steps per example in one call of the compiled loop, well below 0.2 s, so that interrupts are handled.
STEPS_A_CALL = 16
# The maximum number of calls per working set; the next working set continues from there.
CALLS = 500


def solve_gram(
    problem: SpocProblem, gram: Gram, rows: Rows, eta: Array, tol: float, max_iter: int, run: Run
) -> SpocCertificate:
    """Solve the problem for `rows` of the Gram matrix; eta (n, lanes) is changed to the optimal dual variables."""
    n = len(rows)
    squares = gram.diag[rows]
    if (squares < 0).any():
        raise ValueError("the kernel is not positive semidefinite: K(x, x) < 0 for some x.")
    F = _gradients(problem, gram, rows, eta, run)
    size = min(WORKING_SET, n, gram.capacity)
    working = np.empty(0, dtype=np.intp)
    exact, rounds, refreshes = True, 0, 0
    verdicts = np.empty((n, 3))
    while True:
        certify_gradients(F, problem.machine(squares), eta, verdicts)
        psi = verdicts[:, 0]
        if psi.max() > tol and rounds < max_iter and refreshes <= REFRESHES:
            working, rounds, exact = _next_set(working, psi, tol, size), rounds + 1, False
            _round(problem, gram, rows, working, F, eta, max(INNER * psi.max(), 0.5 * tol), run)
        elif exact:
            products = F - problem.targets[problem.target]
            tau = problem.signed(eta)
            norm = float(np.vdot(tau, products))
            if norm < -1e-6 * float(np.abs(tau * products).sum()) - 1e-9 * problem.cost.sum():
                raise ValueError(f"the kernel is not positive semidefinite: ‖M‖² = {norm:.3g}.")
            return problem.certificate(verdicts, norm, rounds, tol)
        else:
            F, exact, refreshes = _gradients(problem, gram, rows, eta, run), True, refreshes + 1


def _next_set(working: Rows, psi: Array, tol: float, size: int) -> Rows:
    """Return the worst violators, then the rows of the last set, newest first."""
    if size == len(psi):
        return np.arange(size)
    order = np.argsort(-psi, kind="stable")[:size]
    return next_set(working, order[psi[order] > tol], size, least=1)


def _round(
    problem: SpocProblem, gram: Gram, rows: Rows, working: Rows, F: Array, eta: Array, tol: float, run: Run
) -> None:
    """Solve the working set, then update F; F and eta are changed in place."""
    slots = gram.hold(rows[working], run)
    K = local_gram(gram, slots, rows[working], run)
    local_F, local_eta = np.ascontiguousarray(F[working].T), np.ascontiguousarray(eta[working].T)
    machine = problem.y[working], problem.cost[working], problem.paired
    before_F, before_eta = local_F.copy(), local_eta.copy()
    steps = STEPS_A_CALL * len(working)
    for _ in range(CALLS):
        if sweep(K, local_F, local_eta, *machine, tol, steps) < steps:
            break
        change, way = local_eta - before_eta, local_F - before_F
        gain, curvature = float(np.vdot(change, local_F)), -float(np.vdot(change, way))
        local_F += problem.prolong(working, local_eta.T, change.T, gain, curvature) * way
        before_F, before_eta = local_F.copy(), local_eta.copy()
    change = (eta[working] - local_eta.T).astype(K.dtype)
    eta[working] = local_eta.T
    moved = np.flatnonzero(change.any(axis=1))
    slots, change = slots[moved], change[moved]

    def update(block: slice) -> None:
        part = np.empty((len(slots), block.stop - block.start), dtype=K.dtype)
        gather(gram.store, slots, rows[block], part)
        F[block] += part.T @ change

    run(update, row_blocks(len(rows), len(working)))


def _gradients(problem: SpocProblem, gram: Gram, rows: Rows, eta: Array, run: Run) -> Array:
    """Return b + Kτ (n, lanes) in float64, from unrounded kernel values."""
    F: Array = exact_products(gram, rows, problem.signed(eta), run) + problem.targets[problem.target]
    return F
