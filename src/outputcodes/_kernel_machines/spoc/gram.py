"""Multiclass machines on a Gram matrix: working sets of examples solved in cache, one product for all classes."""

from __future__ import annotations

import numpy as np

from outputcodes._ground.blocks import Run, row_blocks
from outputcodes._kernel_machines.gram import Gram
from outputcodes._kernel_machines.rows import gather
from outputcodes._kernel_machines.spoc.problem import Array, Certificate, Problem, Rows
from outputcodes._kernel_machines.spoc.steps import certify_gradients, sweep

# Rows of a working set: their Gram matrix is 4 MB in float32, and the gradients of tens of classes stay beside it.
WORKING_SET = 1024
# Of a working set, what violates most; the rest is kept from the sets before.
FRESH = 0.75
# A working set is solved to this part of its violation, not to full precision too early.
INNER = 0.1
# Steps an example of one call of the compiled loop, well below 0.2 s, so that an interrupt is heard.
STEPS_A_CALL = 16
# The most calls for one working set; what is left is for the next.
CALLS = 500
# How often the gradients may turn out wrong when they are computed afresh before the answer is given up.
REFRESHES = 10


def solve_gram(
    problem: Problem, gram: Gram, rows: Rows, eta: Array, tol: float, max_iter: int, run: Run
) -> Certificate:
    """Change eta (n, lanes) to the dual variables at the minimum, for `rows` of the Gram matrix."""
    n = len(rows)
    squares = gram.diag[rows]
    if (squares < 0).any():
        raise ValueError("the kernel is not positive semidefinite: K(x, x) < 0 for some x.")
    F = _exact(problem, gram, rows, eta, run)
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
            F, exact, refreshes = _exact(problem, gram, rows, eta, run), True, refreshes + 1


def _next_set(working: Rows, psi: Array, tol: float, size: int) -> Rows:
    """The worst violators, then the rows of the last set, newest first."""
    if size == len(psi):
        return np.arange(size)
    order = np.argsort(-psi, kind="stable")[: max(1, int(FRESH * size) if len(working) else size)]
    offered = np.concatenate([order[psi[order] > tol], working])
    _, first = np.unique(offered, return_index=True)
    return offered[np.sort(first)][:size]


def _round(problem: Problem, gram: Gram, rows: Rows, working: Rows, F: Array, eta: Array, tol: float, run: Run) -> None:
    """Solve the working set, then bring F up to date; changes F and eta."""
    slots = gram.hold(rows[working], run)
    K = np.empty((len(working), len(working)), dtype=gram.store.dtype)
    run(lambda b: gather(gram.store, slots[b], rows[working], K[b]), row_blocks(len(working), 8 * len(working)))
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


def _exact(problem: Problem, gram: Gram, rows: Rows, eta: Array, run: Run) -> Array:
    """b + Kτ in float64, from kernel values that were never rounded; (n, lanes)."""
    tau = problem.signed(eta)
    support = np.flatnonzero(tau.any(axis=1))
    F = problem.targets[problem.target]
    anchors = gram.kernel.anchors(gram.X, rows[support])

    def add(block: slice) -> None:
        F[block] += gram.kernel.block(gram.X[rows[block]], anchors) @ tau[support]

    if len(support):
        run(add, row_blocks(len(rows), len(support)))
    return F
