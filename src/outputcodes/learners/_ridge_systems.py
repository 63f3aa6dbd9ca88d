"""The linear systems of ridge regression for all columns, put together from sums over classes.

With a_r the weight of class r in a group of columns, N = Σ a_r n_r, m = Σ a_r s_r / N and G = Σ a_r G_r − N m mᵀ, where
n_r, s_r, G_r are the weight, the sum of rows and the Gram matrix of class r, the weights of a column with entries t_r
solve (G + alpha·I) w = Σ a_r t_r (s_r − n_r m), and its intercept is Σ a_r t_r n_r / N − m·w. With more features than
rows the same w is found in the space of the rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy import linalg
from scipy.linalg.blas import dsymm, dsyr, dsyrk

from outputcodes._blocks import over_blocks

Rows = NDArray[np.intp]
Array = NDArray[np.float64]

# Gram matrices of all classes are kept while they take at most 1 GiB; beyond, each group of columns forms its own.
MOST_GRAM_VALUES = 1 << 27


@dataclass(frozen=True)
class Group:
    """The solution of the columns that see the same classes with the same weights.

    `residual` is that of the linear system relative to its right-hand side. `leverage` (n,) tells how far each row
    draws its own fit, its weight included; None unless asked for.
    """

    columns: Rows
    coef: Array
    intercept: Array
    residual: Array
    leverage: Array | None


class Systems:
    """Rows X of classes y, sorted by class, with what every group of columns shares."""

    def __init__(self, X: Any, y: Rows, n_classes: int, weight: Array | None, alpha: float) -> None:
        self.order = np.argsort(y, kind="stable")
        self.X = X[self.order]
        self.mass = np.ones(len(y)) if weight is None else weight[self.order]
        self.start = np.searchsorted(y[self.order], np.arange(n_classes + 1))
        self.alpha = alpha
        members = sp.csr_array((self.mass, np.arange(len(y)), self.start), shape=(n_classes, len(y)))
        self.totals: Array = members.sum(axis=1)
        self.sums = _dense(members @ self.X)

    def solve(
        self, M: NDArray[np.int8], class_weight: Array, n_jobs: int | None, leverage: bool = False
    ) -> list[Group]:
        """All columns of M; class_weight (k, L) is 0 where a column does not see a class."""
        patterns, group = np.unique(class_weight, axis=1, return_inverse=True)
        n_groups, (n, d), k = patterns.shape[1], self.X.shape, len(M)
        in_row_space = d > n
        shared: list[Array] = []
        if in_row_space:
            shared = [_dense(self.X @ self.X.T)]
        elif n_groups > 1 and k * d * d <= MOST_GRAM_VALUES:
            shared = [self._gram(np.arange(k) == r, n_jobs) for r in range(k)]
        threads = n_jobs if n_groups > 1 else 1

        def solve_group(g: int) -> Group:
            a, columns = patterns[:, g], np.flatnonzero(group.ravel() == g)
            t = M[:, columns].astype(np.float64)
            mean = (a @ self.sums) / (a @ self.totals)
            target_mean = (a * self.totals) @ t / (a @ self.totals)
            if in_row_space:
                solution = self._in_row_space(shared[0], a, mean, t - target_mean, leverage)
            else:
                gram = _weighted_sum(a, shared) if shared else self._gram(a, n_jobs if n_groups == 1 else 1)
                solution = self._in_feature_space(gram, a, mean, t, leverage)
            coef, residual, h = solution
            if h is not None:
                drawn = np.empty(n)
                drawn[self.order] = h + self._mass(a) / (a @ self.totals)
                h = drawn
            return Group(columns, coef, target_mean - mean @ coef, residual, h)

        return over_blocks(solve_group, range(n_groups), threads)

    def _mass(self, a: Array) -> Array:
        return self.mass * np.repeat(a, np.diff(self.start))

    def _gram(self, a: NDArray[Any], n_jobs: int | None) -> Array:
        """Σ_r a_r G_r, upper triangle, summed over blocks of rows."""
        rows, root = np.flatnonzero(np.repeat(a, np.diff(self.start))), np.sqrt(self._mass(a.astype(np.float64)))
        # Blocks of at least 4d rows: the partial sums together take a quarter of X at the most.
        step = max(1024, 4 * self.X.shape[1])

        def partial(block: slice) -> Array:
            X = self.X[rows[block]]
            if sp.issparse(X):
                X = sp.diags_array(root[rows[block]]) @ X
                return np.asfortranarray(_dense(X.T @ X))
            X = X * root[rows[block], None]
            upper: Array = dsyrk(1.0, X.T)
            return upper

        parts = over_blocks(partial, [slice(b, b + step) for b in range(0, len(rows), step)], n_jobs)
        return _weighted_sum(np.ones(len(parts)), parts)

    def _in_feature_space(
        self, gram: Array, a: Array, mean: Array, t: Array, leverage: bool
    ) -> tuple[Array, Array, Array | None]:
        right = self.sums.T @ (a[:, None] * t) - np.outer(mean, (a * self.totals) @ t)
        # In place and on one triangle: with hundreds of groups every pass over the matrix counts.
        system = dsyr(-(a @ self.totals), mean, a=gram, overwrite_a=True)
        system[np.diag_indices_from(system)] += self.alpha
        coef, apply_inverse = _solved(system, right)
        residual = _relative(dsymm(1.0, system, coef) - right, right)
        if not leverage:
            return coef, residual, None
        X = np.sqrt(self._mass(a))[:, None] * (_dense(self.X) - mean)
        return coef, residual, np.einsum("id,di->i", X, apply_inverse(X.T))

    def _in_row_space(
        self, kernel: Array, a: Array, mean: Array, centred_t: Array, leverage: bool
    ) -> tuple[Array, Array, Array | None]:
        root = np.sqrt(self._mass(a))
        drift = self.X @ mean
        centred = root[:, None] * (kernel - drift[:, None] - drift + mean @ mean) * root
        system = centred + self.alpha * np.eye(len(root))
        right = root[:, None] * np.repeat(centred_t, np.diff(self.start), axis=0)
        dual, apply_inverse = _solved(np.triu(system), right)
        weighted = root[:, None] * dual
        coef = self.X.T @ weighted - np.outer(mean, weighted.sum(axis=0))
        h = np.einsum("ij,ji->i", centred, apply_inverse(np.eye(len(root)))) if leverage else None
        return coef, _relative(system @ dual - right, right), h


def _solved(upper: Array, right: Array) -> tuple[Array, Any]:
    """The solution of a symmetric system given by its upper triangle, and a function that solves others."""
    try:
        # numpy's, as scipy's keeps the interpreter's lock and with it the other threads.
        factor = (np.linalg.cholesky(upper, upper=True), False)
        # Without a penalty a singular system may slip through with a pivot of rounding errors.
        if np.diag(factor[0]).min() < 1e-7 * np.diag(factor[0]).max():
            raise linalg.LinAlgError
        return linalg.cho_solve(factor, right, check_finite=False), lambda B: linalg.cho_solve(factor, B)
    except linalg.LinAlgError:
        inverse = linalg.pinvh(upper, lower=False, check_finite=False)
        return inverse @ right, lambda B: inverse @ B


def _weighted_sum(a: Array, parts: list[Array]) -> Array:
    present = np.flatnonzero(a)
    total: Array = a[present[0]] * parts[present[0]]
    for r in present[1:]:
        total += parts[r] if a[r] == 1 else a[r] * parts[r]
    return total


def _relative(residual: Array, right: Array) -> Array:
    size = np.linalg.norm(right, axis=0)
    relative: Array = np.linalg.norm(residual, axis=0) / np.where(size > 0, size, 1.0)
    return relative


def _dense(X: Any) -> Array:
    return np.asarray(X.toarray() if sp.issparse(X) else X)
