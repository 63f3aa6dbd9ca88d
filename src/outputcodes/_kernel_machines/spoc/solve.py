"""Common entry point of the multiclass SVM solvers, for vectors or a Gram matrix."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from outputcodes._ground.blocks import Run, serially
from outputcodes._kernel_machines.gram import Gram
from outputcodes._kernel_machines.spoc.gram import solve_gram
from outputcodes._kernel_machines.spoc.problem import Array, Rows, SpocProblem, SpocSolution
from outputcodes._kernel_machines.spoc.vectors import solve_vectors


def solve(
    H: Any,
    y: Rows,
    k: int,
    *,
    beta: float = 1.0,
    weight: Array | None = None,
    targets: Array | None = None,
    paired: bool = False,
    start: Array | None = None,
    tol: float = 1e-3,
    max_iter: int = 10_000,
    seed: int = 0,
    run: Run = serially,
) -> SpocSolution:
    """Minimise (β/2)‖M‖² + Σ w_i ξ_i subject to ξ_i + h_i·M_{y_i} − h_i·M_r ≥ b_ir.

    Parameters
    ----------
    H : float64 array or csr matrix of shape (n, L), or Gram
        The vectors h_i, or their kernel values.
    y : labels 0..k-1.
    beta, weight : β > 0 and the w_i ≥ 0 (None: 1).
    targets : array of shape (n, k), optional
        The b_ir; 1 − [y_i = r] by default.
    paired : bool, default=False
        Use one slack per wrong class, as in Weston & Watkins, instead of one for the worst class; b_iy is 0.
    start : array of shape (n, k), optional
        Dual variables to start from; they are moved within the bounds if the weights or β have changed.
    tol : float, default=1e-3
        The largest violation ψ that is accepted.
    max_iter : int, default=10_000
        The maximum number of epochs (vectors) or working sets (Gram).

    Returns
    -------
    SpocSolution
        M_r = (1/β) Σ_i τ_ir h_i. The gap refers to the objective above, at the returned τ.

    Examples
    --------
    >>> H = np.array([[1.0, 1], [1, -1], [-1, 1], [-1, -1], [1, 1], [1, -1]])
    >>> answer = solve(H, np.array([0, 1, 2, 2, 1, 1]), 3, tol=1e-9)
    >>> answer.M.round(3)
    array([[ 0.167,  0.167],
           [ 0.667, -0.333],
           [-0.833,  0.167]])
    >>> round(answer.certificate.value, 6)
    2.666667
    """
    n = len(y)
    cost = np.full(n, 1 / beta) if weight is None else weight / beta
    rows = np.flatnonzero(cost)
    if targets is not None:
        targets = targets[rows]
    problem = SpocProblem.of(np.ascontiguousarray(y[rows]), k, cost[rows], targets, paired)
    eta, M = problem.feasible(None if start is None else start[rows] / beta, k), None
    if isinstance(H, Gram):
        certificate = solve_gram(problem, H, rows, eta, tol, max_iter, run)
    else:
        some = H if len(rows) == n else H[rows]
        some = some.tocsr() if sparse.issparse(some) else np.ascontiguousarray(some, dtype=np.float64)
        by_feature, certificate = solve_vectors(problem, some, eta, start is not None, tol, max_iter, seed, run)
        M = by_feature[:, :k].T
    tau = problem.signed(eta)[:, :k]
    tau *= beta
    if len(rows) < n:
        full = np.zeros((n, k))
        full[rows] = tau
        tau = full
    return SpocSolution(tau, M, certificate._replace(value=beta * certificate.value, gap=beta * certificate.gap))
