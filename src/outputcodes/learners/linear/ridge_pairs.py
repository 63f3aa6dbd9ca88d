"""Ridge regression on pairs of classes in the space of their rows: what concerns one class alone is done once.

With Z the rows times the roots z of their weights, t the targets and A the weights of the two classes p and q in the
column, the weights of its features are Zᵀ u with

    (Z Zᵀ + alpha·A⁻¹) u + b z = z∘t,    z·u = 0.

The factor L Lᵀ of p's own block, and Y = L⁻¹ Z_p, are those of all pairs (p, ·): a pair is left with the product
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
Solution = tuple[Array, Array, Array]

# Pivots further apart are those of a system too close to singular to be trusted.
SMALLEST_PIVOT = 1e-7


def pays(p: int, q: int, d: int) -> bool:
    """Whether p and q rows of d features are better solved in the space of the rows.

    Counted in multiplications; those of factorisations, and of adding up matrices of classes, take three times as
    long as those of products.
    """
    return p + q < d and p * q * (d + q / 2) + 3 * q**3 / 6 < 3 * (d**3 / 6 + 2 * d**2)


class Head:
    """Class p with its weight a in the columns: what all its pairs share."""

    def __init__(self, Z: Any, z: Array, ridge: float) -> None:
        self.Z, self.z, self.ridge = Z, z, ridge
        self.L = factor(gram(Z), ridge)
        if self.L is not None:
            self.inverse = np.linalg.inv(self.L)
            # Sparse rows would fill up.
            self.Y = None if sp.issparse(Z) else self.inverse @ Z
            self.y = self.inverse @ z

    def solve(self, Z: Any, z: Array, ridge: float, own: Array, t: Array) -> Solution | None:
        """The columns with class q of rows Z and Gram matrix `own`, t (2, columns) being the targets of p and of q.

        None where a system is nearly singular.
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
    """Z Zᵀ."""
    return dense(Z @ Z.T)


def factor(system: Array, ridge: float) -> Array | None:
    """The lower Cholesky factor of system + ridge·I; None if that is nearly singular."""
    system = system.copy()
    system[np.diag_indices_from(system)] += ridge
    try:
        # numpy's, as scipy's keeps the interpreter's lock and with it the other threads.
        L = np.asarray(np.linalg.cholesky(system), dtype=np.float64)
    except np.linalg.LinAlgError:
        return None
    pivots = np.diag(L)
    return L if pivots.min() >= SMALLEST_PIVOT * pivots.max() else None


def dense(X: Any) -> Array:
    """X as an array."""
    return np.asarray(X.toarray() if sp.issparse(X) else X)
