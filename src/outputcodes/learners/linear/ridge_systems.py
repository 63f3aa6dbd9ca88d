"""The linear systems of ridge regression for all columns, assembled from sums over classes.

With a_r the weight of class r in a group of columns, N = Σ a_r n_r, m = Σ a_r s_r / N and G = Σ a_r G_r − N m mᵀ, where
n_r, s_r, G_r are the weight, the sum of rows and the Gram matrix of class r, the weights of a column with entries t_r
solve (G + alpha·I) w = Σ a_r t_r (s_r − n_r m), and its intercept is Σ a_r t_r n_r / N − m·w. With more features than
rows, and for pairs of small classes, which share factors, the same w is computed in row space; and on many sparse rows
of many features by conjugate gradients, without any matrix.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import chain, pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy import linalg
from scipy.linalg.blas import dsymm, dsyr, dsyrk

from outputcodes._ground.blocks import over_blocks
from outputcodes.learners.linear.ridge_gradients import TILE, GradientSystem
from outputcodes.learners.linear.ridge_pairs import Head, PairSolution, dense, gram, pays

Rows = NDArray[np.intp]
Array = NDArray[np.float64]

# An eigendecomposition costs as much as so many factorisations or more: it pays from the next penalty on.
FEW_PENALTIES = 2
# The Gram matrices of all classes are kept up to 1 GiB in total; above, each group of columns computes its own.
MOST_GRAM_VALUES = 1 << 27
# Systems of at most so many unknowns are always factorised; so are larger ones up to MOST_GRAM_VALUES unless, at so
# many multiplications for each value of X and column, conjugate gradients are cheaper.
ALWAYS_FACTORISED, PRICE_OF_A_VALUE = 2000, 3000
# Leverages need a factor: that of a larger matrix than 4 GiB is refused.
MOST_FACTOR_VALUES = 1 << 29


@dataclass(frozen=True)
class Group:
    """The solution of the columns that have the same classes with the same weights.

    `residual` is that of the linear system relative to its right-hand side. `leverage` (n,) is the influence of each
    row on its own fit, including its weight; None unless requested. `steps` are those of conjugate gradients; None for
    a factorisation.
    """

    columns: Rows
    coef: Array
    intercept: Array
    residual: Array
    leverage: Array | None
    steps: int | None = None


class Systems:
    """Rows of X of classes y, sorted by class, and the sums that all groups of columns share."""

    def __init__(self, X: Any, rows: Rows, y: Rows, n_classes: int, weight: Array | None, alpha: float = 1.0) -> None:
        self.order = np.argsort(y, kind="stable")
        self._given, self._rows = X, rows[self.order]
        self.shape = len(rows), X.shape[1]
        self.mass = np.ones(len(y)) if weight is None else weight[self.order]
        self.start = np.searchsorted(y[self.order], np.arange(n_classes + 1))
        self.alpha = alpha
        members = sp.csr_array((self.mass, self._rows, self.start), shape=(n_classes, X.shape[0]))
        self.totals: Array = members.sum(axis=1)
        self.sums = members @ X
        # The Gram matrices of all rows in row space, of each class, or of the classes in one set of columns.
        self._known: dict[Any, Any] = {}
        # Returns the Gram matrix of all rows if it is known from elsewhere.
        self.whole: Callable[[int | None], Array | None] = lambda n_jobs: None

    @property
    def X(self) -> Any:
        """The rows, sorted by class: copied when they are needed first."""
        return self._once("X", lambda: self._given[self._rows])

    def with_alpha(self, alpha: float) -> Systems:
        """Return the same systems with another penalty; their sums are shared."""
        other = copy.copy(self)
        other.alpha = alpha
        return other

    def solve(
        self, M: NDArray[np.int8], class_weight: Array, n_jobs: int | None, leverage: bool = False
    ) -> list[Group]:
        """Solve all columns of M; class_weight (k, L) is 0 where a class is absent from a column."""
        present = class_weight * (np.diff(self.start) > 0)[:, None]
        patterns, group = np.unique(present, axis=1, return_inverse=True)
        members = [np.flatnonzero(group.ravel() == g) for g in range(patterns.shape[1])]
        solved = {} if leverage else self._pairs(patterns, [M[:, own].astype(np.float64) for own in members], n_jobs)
        left = [g for g in range(len(members)) if g not in solved]
        (n, d), k = self.shape, len(M)
        by_steps = [g for g in left if self._is_cheaper_by_steps(patterns[:, g], len(members[g]), leverage)]
        left = [g for g in left if g not in set(by_steps)]
        in_row_space = d > n
        shared: list[Array] = []
        if in_row_space and left and n * n <= MOST_GRAM_VALUES:
            shared = [self._once("rows", lambda: gram(self.X))]
        elif not in_row_space and len(left) > 1 and k * d * d <= MOST_GRAM_VALUES:
            sizes = np.diff(self.start)
            of_class = [partial(self.gram, np.arange(k) == r, n_jobs) for r in range(k)]
            shared = [self._once(r, of_class[r]) if sizes[r] else np.empty((0, 0)) for r in range(k)]

        def solve_group(g: int) -> Group:
            a, t = patterns[:, g], M[:, members[g]].astype(np.float64)
            mean, target_mean = self._means(a, t)
            if in_row_space:
                kernel = shared[0] if shared else None
                solution = self._in_row_space(kernel, a, mean, t - target_mean, leverage)
            else:
                total = _weighted_sum(a, shared) if shared else self._of_group(a, n_jobs if len(left) == 1 else 1, left)
                solution = self._in_feature_space(total, a, mean, t, leverage)
            coef, residual, h = solution
            if h is not None:
                drawn = np.zeros(n)
                drawn[self.order[self._seen(a)]] = h
                drawn[self.order] += self._mass(a) / (a @ self.totals)
                h = drawn
            return Group(members[g], coef, target_mean - mean @ coef, residual, h)

        groups = over_blocks(solve_group, left, n_jobs if len(left) > 1 else 1)
        groups += [self._by_steps(members[g], patterns[:, g], M[:, members[g]], n_jobs) for g in by_steps]
        pairs = [Group(members[g], *solution, None) for g, solution in solved.items()]
        return pairs + groups

    def _means(self, a: Array, t: Array) -> tuple[Array, Array]:
        """Return the means of the rows and of the targets (k, columns) under the weights a of the classes."""
        return (a @ self.sums) / (a @ self.totals), (a * self.totals) @ t / (a @ self.totals)

    def _is_cheaper_by_steps(self, a: Array, n_columns: int, leverage: bool) -> bool:
        """Return whether conjugate gradients are cheaper than a factor, or than the memory for one."""
        rows, d = int(np.diff(self.start)[a > 0].sum()), self.shape[1]
        m = min(rows, d)
        if leverage and m * m > MOST_FACTOR_VALUES:
            raise ValueError(
                f"Leave-one-out margins of {rows} rows and {d} features need a matrix of {m} × {m} numbers, which is "
                "too large; use folds, such as cv=5."
            )
        if leverage or not sp.issparse(self._given) or m <= ALWAYS_FACTORISED:
            return False
        return m * m > MOST_GRAM_VALUES or bool(PRICE_OF_A_VALUE * (self.X.nnz + 3 * d) * n_columns < m**3 / 3)

    def _by_steps(self, columns: Rows, a: Array, t: NDArray[np.int8], n_jobs: int | None) -> Group:
        """Solve a group by conjugate gradients, a tile of columns at a time."""
        mean, target_mean = self._means(a, t.astype(np.float64))
        seen, mass = self._seen(a), self._mass(a)
        system = GradientSystem(self.X if len(seen) == len(mass) else self.X[seen], mass[seen], mean, self.alpha)
        scale, transposed = system.scale, sp.csr_array(self.sums.T)
        coef, residual = np.empty((len(mean), len(columns))), np.empty(len(columns))

        def solve_tile(tile: slice) -> int:
            own = a[:, None] * t[:, tile]
            right = transposed @ own - np.outer(mean, self.totals @ own)
            coef[:, tile], residual[tile], steps = system.solve(right, scale)
            return steps

        tiles = [slice(first, min(first + TILE, len(columns))) for first in range(0, len(columns), TILE)]
        steps = max(over_blocks(solve_tile, tiles, n_jobs))
        return Group(columns, coef, target_mean - mean @ coef, residual, None, steps)

    def _pairs(self, patterns: Array, targets: list[Array], n_jobs: int | None) -> dict[int, PairSolution]:
        """Solve the groups of two small classes, unless nearly singular; return them by their position in patterns."""
        sizes = np.diff(self.start).tolist()
        heads: dict[tuple[int, float], list[tuple[int, int]]] = {}
        for g in np.flatnonzero(np.count_nonzero(patterns, axis=0) == 2) if self.alpha > 0 else ():
            p, q = (int(r) for r in np.flatnonzero(patterns[:, g]))
            if pays(sizes[p], sizes[q], self.shape[1]):
                heads.setdefault((p, float(patterns[p, g])), []).append((int(g), q))
        if not heads:
            return {}
        root = np.sqrt(self.mass)
        Z = sp.diags_array(root).tocsr() @ self.X if sp.issparse(self.X) else root[:, None] * self.X
        rows = [slice(first, last) for first, last in pairwise(self.start)]
        tails = sorted({q for pairs in heads.values() for _, q in pairs})
        grams = dict(zip(tails, over_blocks(lambda q: gram(Z[rows[q]]), tails, n_jobs), strict=True))

        def solve_pairs(key: tuple[int, float]) -> list[Any]:
            p, a = key
            head = Head(Z[rows[p]], root[rows[p]], self.alpha / a)
            return [
                head.solve(Z[rows[q]], root[rows[q]], self.alpha / patterns[q, g], grams[q], targets[g][[p, q]])
                for g, q in heads[key]
            ]

        answers = over_blocks(solve_pairs, heads, n_jobs)
        found = zip((g for pairs in heads.values() for g, _ in pairs), chain(*answers), strict=True)
        return {g: solution for g, solution in found if solution is not None}

    def _once(self, key: Any, compute: Callable[[], Any]) -> Any:
        if key not in self._known:
            self._known[key] = compute()
        return self._known[key]

    def _of_group(self, a: Array, n_jobs: int | None, groups: list[int]) -> Array:
        """Return a Gram matrix that may be overwritten; that of a single group is kept for other penalties."""
        if len(groups) > 1:
            return self.gram(a, n_jobs)

        def compute() -> Array:
            every = np.array_equal(a, np.diff(self.start) > 0)
            known = self.whole(n_jobs) if every else None
            return self.gram(a, n_jobs) if known is None else known

        kept: Array = self._once(a.tobytes(), compute)
        return kept.copy(order="F")

    def _seen(self, a: Array) -> Rows:
        return np.flatnonzero(np.repeat(a, np.diff(self.start)))

    def _mass(self, a: Array) -> Array:
        return self.mass * np.repeat(a, np.diff(self.start))

    def gram(self, a: NDArray[Any], n_jobs: int | None) -> Array:
        """Return the upper triangle of Σ_r a_r G_r, summed over blocks of rows."""
        rows, root = self._seen(a), np.sqrt(self._mass(a.astype(np.float64)))
        # With blocks of at least 4d rows, the partial sums together need at most a quarter of the memory of X.
        step = max(1024, 4 * self.X.shape[1])

        def partial(block: slice) -> Array:
            X = self.X[rows[block]]
            if sp.issparse(X):
                X = sp.diags_array(root[rows[block]]) @ X
                return np.asfortranarray(dense(X.T @ X))
            X = X * root[rows[block], None]
            upper: Array = dsyrk(1.0, X.T)
            return upper

        parts = over_blocks(partial, [slice(b, b + step) for b in range(0, len(rows), step)], n_jobs)
        return _weighted_sum(np.ones(len(parts)), parts)

    def _in_feature_space(
        self, gram: Array, a: Array, mean: Array, t: Array, leverage: bool
    ) -> tuple[Array, Array, Array | None]:
        right = self.sums.T @ (a[:, None] * t) - np.outer(mean, (a * self.totals) @ t)
        if not leverage and (solved := self._by_eigenvectors(gram, a, mean, right)) is not None:
            return *solved, None
        # In place and on one triangle: with hundreds of groups every pass over the matrix matters.
        system = dsyr(-(a @ self.totals), mean, a=gram, overwrite_a=True)
        system[np.diag_indices_from(system)] += self.alpha
        coef, apply_inverse = _solved(system, right)
        residual = _relative(dsymm(1.0, system, coef) - right, right)
        if not leverage:
            return coef, residual, None
        seen = self._seen(a)
        X = np.sqrt(self._mass(a)[seen])[:, None] * (dense(self.X[seen]) - mean)
        return coef, residual, np.einsum("id,di->i", X, apply_inverse(X.T))

    def _by_eigenvectors(self, gram: Array, a: Array, mean: Array, right: Array) -> tuple[Array, Array] | None:
        """Solve a system whose sums were kept from penalties before, with one decomposition for all that follow.

        None if nothing was kept, or if the penalty is not clearly above the rounding of the eigenvalues.
        """
        key = a.tobytes()
        count = self._known.get(("solved", key), 0)
        self._known["solved", key] = count + 1
        if key not in self._known or count < FEW_PENALTIES:
            return None

        def decomposed() -> tuple[Array, Array]:
            # A copy: where the eigenvectors are not used, the same matrix is factorised.
            return np.linalg.eigh(dsyr(-(a @ self.totals), mean, a=gram), UPLO="U")

        values, vectors = self._once(("eigen", key), decomposed)
        shifted = values + self.alpha
        if shifted.min() < 1e-7 * shifted.max():
            return None
        before, turned = self._known.get(("turned", key), (None, None))
        if before is None or not np.array_equal(before, right):
            turned = vectors.T @ right
            self._known["turned", key] = right, turned
        coef = vectors @ (turned / shifted[:, None])
        # Eigenvectors preserve lengths: the residual is as long in their coordinates.
        return coef, _relative(shifted[:, None] * (vectors.T @ coef) - turned, turned)

    def _in_row_space(
        self, kernel: Array | None, a: Array, mean: Array, centred_t: Array, leverage: bool
    ) -> tuple[Array, Array, Array | None]:
        seen = self._seen(a)
        X, root = self.X[seen], np.sqrt(self._mass(a)[seen])
        drift = X @ mean
        own = gram(X) if kernel is None else kernel[np.ix_(seen, seen)]
        centred = root[:, None] * (own - drift[:, None] - drift + mean @ mean) * root
        system = centred + self.alpha * np.eye(len(root))
        right = root[:, None] * np.repeat(centred_t, np.diff(self.start), axis=0)[seen]
        dual, apply_inverse = _solved(np.triu(system), right)
        weighted = root[:, None] * dual
        coef = X.T @ weighted - np.outer(mean, weighted.sum(axis=0))
        h = np.einsum("ij,ji->i", centred, apply_inverse(np.eye(len(root)))) if leverage else None
        return coef, _relative(system @ dual - right, right), h


def _solved(upper: Array, right: Array) -> tuple[Array, Any]:
    """Solve a symmetric system given by its upper triangle; return also a function that solves it for others."""
    try:
        # NumPy's, because SciPy's holds the interpreter lock and blocks the other threads.
        factor = (np.linalg.cholesky(upper, upper=True), False)
        # Without a penalty a singular system may pass with pivots that are rounding errors.
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
