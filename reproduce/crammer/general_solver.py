"""The problem of a continuous code, (β/2)‖M‖² + Σ ξ with β = 1, for a general solver, in two forms."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

SOURCE = "Crammer & Singer, On the learnability and design of output codes, Machine Learning 47 (2002)"
Array = NDArray[np.float64]
Labels = NDArray[np.intp]
# Solves the problem and returns the objective.
Solve = Callable[[], float]


def quadrants(m: int, seed: int) -> tuple[Array, Labels]:
    """Return points of a square and the quadrant of each.

    >>> H, y = quadrants(5, 0)
    >>> H.shape, int(y.max())
    ((5, 2), 3)
    """
    H = np.random.default_rng(seed).uniform(-1, 1, size=(m, 2))
    return H, (H[:, 0] > 0) * 2 + (H[:, 1] > 0).astype(np.intp)


def primal(H: Array, y: Labels, k: int, tol: float) -> Solve:
    """Set up the primal: variables M (k·L) and ξ (m), ξ_i + h_i·M_{y_i} − h_i·M_r ≥ b_ir for all r."""
    m, L = H.shape
    rows = []
    for r in range(k):
        blocks = [sparse.csr_matrix(H * ((s == r) * 1.0 - (y == s))[:, None]) for s in range(k)]
        rows.append(sparse.hstack([*blocks, -sparse.eye(m)]))
    P = sparse.diags(np.r_[np.ones(k * L), np.zeros(m)])
    q, b = np.r_[np.zeros(k * L), np.ones(m)], np.concatenate([-1.0 * (y != r) for r in range(k)])
    return _solver(P, q, sparse.vstack(rows), b, equalities=0, tol=tol)


def dual(H: Array, y: Labels, k: int, tol: float) -> Solve:
    """Set up the dual: variables τ by class; minimise ½ Σ K_ij τ_i·τ_j + Σ τ·b, τ ≤ 1_y, rows of sum 0."""
    m = len(y)
    P = sparse.block_diag([sparse.csc_matrix(H @ H.T)] * k)
    own = np.concatenate([(y == r) * 1.0 for r in range(k)])
    A = sparse.vstack([sparse.hstack([sparse.eye(m)] * k), sparse.eye(k * m)])
    solver = _solver(P, 1 - own, A, np.r_[np.zeros(m), own], equalities=m, tol=tol)
    return lambda: -solver()


def _solver(P: Any, q: Array, A: Any, b: Array, equalities: int, tol: float) -> Solve:
    """Set up min ½ z·P z + q·z, with A z = b in the first rows and ≤ b in the others, without solving it yet."""
    try:
        import clarabel
    except ImportError as error:
        raise ImportError("The comparison with a general solver needs clarabel: pip install clarabel.") from error
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = tol
    cones = [clarabel.ZeroConeT(equalities)] if equalities else []
    cones.append(clarabel.NonnegativeConeT(len(b) - equalities))
    upper, A = sparse.csc_matrix(sparse.triu(P)), sparse.csc_matrix(A)
    return lambda: float(clarabel.DefaultSolver(upper, q, A, b, cones, settings).solve().obj_val)
