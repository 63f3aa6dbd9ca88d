"""Ridge regression on pairs of classes in row space: computations for one class are done once and shared by its pairs.

With Z the rows times the roots z of their weights, t the targets and A the weights of the two classes p and q in the
column, the weights of the features are Zᵀ u with

    (Z Zᵀ + alpha·A⁻¹) u + b z = z∘t,    z·u = 0.

The factor L Lᵀ of p's own block, and Y = L⁻¹ Z_p, are shared by all pairs (p, ·): each pair needs only the product
W = Y Z_qᵀ and the factor of the Schur complement Z_q Z_qᵀ + alpha/a_q − WᵀW. As targets are constant on a class, two
right-hand sides serve every column.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.linalg import cho_solve, solve_triangular

Rows = NDArray[np.intp]
Array = NDArray[np.float64]
# Weights (d, columns), intercepts and relative residuals (columns,).
PairSolution = tuple[Array, Array, Array]

# A smaller ratio of pivots means that the system is too close to singular.
SMALLEST_PIVOT = 1e-7


def pays(p: int, q: int, d: int) -> bool:
    """Return whether p and q rows of d features are faster to solve in row space.

    Counted in multiplications; those in factorisations, and in sums of the matrices of classes, take three times as
    long as those in products.
    """
    return p + q < d and p * q * (d + q / 2) + 3 * q**3 / 6 < 3 * (d**3 / 6 + 2 * d**2)


class Head:
    """Class p with its weight a in the columns: the part that all its pairs share."""

    def __init__(self, Z: Any, z: Array, ridge: float) -> None:
        self.Z, self.z, self.ridge = Z, z, ridge
        self.L = factor(gram(Z), ridge)
        if self.L is not None:
            self.inverse = np.linalg.inv(self.L)
            # For sparse rows the product would be dense.
            self.Y = None if sp.issparse(Z) else self.inverse @ Z
            self.y = self.inverse @ z

    def solve(self, Z: Any, z: Array, ridge: float, own: Array, t: Array) -> PairSolution | None:
        """Solve the columns with class q of rows Z and Gram matrix `own`; t (2, columns) are the targets of p and q.

        Return None if a system is nearly singular.
        """
        if self.L is None:
            return None
        W = self.inverse @ dense(self.Z @ Z.T) if self.Y is None else self.Y @ Z.T
        S = factor(own - W.T @ W, ridge)
        if S is None:
            return None
        v = cho_solve((S, True), np.column_stack([-(self.y @ W), z]), check_finite=False)
        head = np.outer(self.y, [1, 0]) - W @ v
        u = solve_triangular(self.L, head, lower=True, trans="T", check_finite=False)
        sums = self.z @ u + z @ v
        intercept = sums @ t / sums.sum()
        u, v = u @ (t - intercept), v @ (t - intercept)
        coef = np.asarray(self.Z.T @ u + Z.T @ v)
        right = np.vstack([np.outer(self.z, t[0] - intercept), np.outer(z, t[1] - intercept)])
        left = np.vstack([self.Z @ coef + self.ridge * u, Z @ coef + ridge * v])
        return coef, intercept, np.linalg.norm(left - right, axis=0) / np.linalg.norm(right, axis=0)


def gram(Z: Any) -> Array:
    """Return Z Zᵀ."""
    return dense(Z @ Z.T)


def factor(system: Array, ridge: float) -> Array | None:
    """Return the lower Cholesky factor of system + ridge·I, or None if it is nearly singular."""
    system = system.copy()
    system[np.diag_indices_from(system)] += ridge
    try:
        # NumPy's, because SciPy's holds the interpreter lock and blocks the other threads.
        L = np.asarray(np.linalg.cholesky(system), dtype=np.float64)
    except np.linalg.LinAlgError:
        return None
    pivots = np.diag(L)
    return L if pivots.min() >= SMALLEST_PIVOT * pivots.max() else None


def dense(X: Any) -> Array:
    """Return X as a dense array."""
    return np.asarray(X.toarray() if sp.issparse(X) else X)
