"""The Hessians of all columns at one point, and their Newton steps, by conjugate gradients or exactly.

For the hinges only the rows in the curved part have a second derivative, and near the optimum they are few. When the
conjugate gradients of a column have cost as much as an exact solution on those rows, the exact solution is computed:
the total cost is at most twice that of the cheaper method.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from outputcodes._ground.passes import Blocks, Combination, Sums
from outputcodes.learners.linear.products import Piece, backward, forward, restricted

Array = NDArray[np.float64]
Rows = NDArray[np.intp]

MOST_PRODUCTS = 1000  # per Newton step
MOST_VALUES = 1 << 24  # in the matrices of exact solutions that are computed together


@dataclass(frozen=True)
class Bend:
    """X of some rows as Hessian products use it, and the weights D of the rows in the Hessians of some columns."""

    X: Any
    D: Any
    columns: Rows

    def keep(self, going: Rows) -> Bend:
        """Return the same rows in some of the present columns, renumbered."""
        local, places = restricted(self.columns, going)
        return Bend(self.X, self.D.take(local, axis=1), places)


class Hessian:
    """diag(ridge) + Xᵀ D X of L columns, with D in the blocks; products use the precision of the blocks' X.

    `largest` (L,) are the largest entries of D.
    """

    def __init__(
        self, blocks: Blocks, largest: Array, ridge: Array, constant: float, dtype: type[np.floating[Any]]
    ) -> None:
        # Weights of at most 1 in every column keep the products far from the limits of float32.
        L, self.scale = len(largest), np.where(largest == 0, 1.0, largest)
        # The rows of each column, and those among them with a weight; where exact solutions are possible.
        self.seen, self.bent, self.solvable = np.zeros(L), np.zeros(L), not constant and ridge.min() > 0
        self.parts = blocks.through(_bend, self.scale, dtype)
        if self.solvable:
            self.seen, self.bent, sparse = self.parts.total(_counts, combine=Combination(np.add, L))
            self.solvable = not sparse.any()
        self.ridge, self.constant, self.dtype = ridge, constant, dtype
        self.squares: Array | None = None

    def solve(self, rhs: Array, rough: Array) -> Array:
        """Return H⁻¹ rhs, each column until its residual, in the norm of the preconditioner, is reduced to `rough`."""
        residual, diagonal, price = rhs, self._diagonal(), self._price()
        solution, live = np.zeros_like(rhs), np.arange(rhs.shape[1])
        x, z = np.zeros_like(rhs), residual / diagonal
        p, rz = z, (residual * z).sum(axis=0)
        enough = rough**2 * rz
        for count in range(1, MOST_PRODUCTS + 1):
            Hp = self._product(p)
            bend = (p * Hp).sum(axis=0)
            along = np.divide(rz, bend, out=np.zeros_like(rz), where=bend > 0)
            x = x + along * p
            residual = residual - along * Hp
            z = residual / diagonal
            before, rz = rz, (residual * z).sum(axis=0)
            # Without curvature along p, only float32 rounding is left.
            open_still = (rz > enough) & (bend > 0)
            costly = np.flatnonzero(open_still & (price <= count))
            if costly.size:
                x[:, costly] = self._exact(rhs, costly)
            going = np.flatnonzero(open_still & (price > count))
            if going.size < live.size:
                # Columns that are done are left out of the products.
                solution[:, live] = x
                if going.size == 0:
                    break
                self.keep(going)
                live, price = live[going], price[going]
                rz, before, enough = rz[going], before[going], enough[going]
                x, z, p, rhs, residual, diagonal = (v[:, going] for v in (x, z, p, rhs, residual, diagonal))
            p = z + rz / before * p
        solution[:, live] = x
        return solution

    def _price(self) -> Array:
        """Return the cost of the exact solution of each column, in products; infinity where it is not available."""
        if not self.solvable:
            return np.full(self.scale.shape, np.inf)
        d = len(self.ridge)
        few = np.minimum(self.bent, d)
        # Counted in multiplications; one large product and one factorisation run twice as fast as many narrow products.
        price: Array = 0.5 * (0.5 * self.bent * few * d + few**3 / 3) / (2 * self.seen * d)
        return price

    def _exact(self, rhs: Array, some: Rows) -> Array:
        """Return H⁻¹ rhs of some columns from the rows Z = (D/ridge)^½ X with D > 0, in row space or feature space."""
        solution, root = np.empty((len(rhs), some.size)), np.sqrt(self.ridge[:, 0])
        few, at_a_time = self.bent[some] < len(rhs), max(4, MOST_VALUES // len(rhs) ** 2)

        def in_row_space(job: tuple[int, Array]) -> None:
            place, Z = job
            v = rhs[:, some[place]] / root
            solution[:, place] = (v - Z.T @ solved(np.eye(len(Z)) + Z @ Z.T, Z @ v)) / root

        def in_feature_space(job: tuple[int, Array]) -> None:
            place, gram = job
            solution[:, place] = solved(np.eye(len(root)) + gram, rhs[:, some[place]] / root) / root

        for own, work, combine, solve in (
            (np.flatnonzero(few), _bent_rows, _below, in_row_space),
            (np.flatnonzero(~few), _bent_gram, np.add, in_feature_space),
        ):
            for start in range(0, len(own), at_a_time):
                places = own[start : start + at_a_time]
                found = self.parts.each(
                    work, some[places].tolist(), self.scale, root, index=_by_column, combine=combine
                )
                self.parts.run(solve, list(zip(places, found, strict=True)))
        return solution

    def keep(self, going: Rows) -> None:
        """Keep only some columns."""
        self.scale, self.seen, self.bent = self.scale[going], self.seen[going], self.bent[going]
        self.parts = self.parts.through(Bend.keep, going)
        if self.squares is not None:
            self.squares = self.squares[:, going]

    def gap(self, gradient: Array) -> Array:
        """Return ½‖gradient‖² in the norm dual to the ridge, after a Newton step in a free intercept alone."""
        if self.ridge[-1, 0] > 0:
            return np.asarray(0.5 * (gradient**2 / self.ridge).sum(axis=0))
        # The last row of the Hessians: how the gradient changes with the intercept.
        row, self.squares = self._sum(_last_row_and_squares, self.constant)
        row *= self.scale * (self.constant or 1.0)
        slope, bend = gradient[-1], row[-1]
        step = np.divide(slope, bend, out=np.zeros_like(slope), where=bend > 0)
        moved = gradient[:-1] - row[:-1] * step
        gap = 0.5 * ((moved**2 / self.ridge[:-1]).sum(axis=0) + slope * step)
        return np.where((bend > 0) | (slope == 0), gap, np.inf)

    def _diagonal(self) -> Array:
        if self.squares is None:
            (self.squares,) = self._sum(_squares, self.constant)
        diagonal: Array = self.ridge + self.squares * self.scale
        diagonal[diagonal == 0] = 1  # a free intercept without any curvature
        return diagonal

    def _product(self, V: Array) -> Array:
        largest = np.abs(V).max(axis=0)
        largest[largest == 0] = 1
        (sums,) = self._sum(_product, (V / largest).astype(self.dtype), self.constant)
        product: Array = self.ridge * V + sums * (largest * self.scale)
        return product

    def _sum(self, work: Any, *state: Any) -> Sums:
        return self.parts.total(work, *state, combine=Combination(np.add, len(self.scale)))


def _bend(piece: Piece, scale: Array, dtype: Any) -> Bend:
    return Bend(piece.rotated, (piece.D / scale[piece.columns]).astype(dtype), piece.columns)


def _counts(part: Bend) -> Sums:
    """The rows of each column, those among them with a weight, and whether X is sparse."""
    n, L = part.D.shape
    sparse = np.full(L, scipy.sparse.issparse(part.X))
    return np.full(L, float(n)), np.count_nonzero(part.D, axis=0) * 1.0, sparse


def _last_row_and_squares(part: Bend, constant: float) -> Sums:
    """Both in one pass: where rows are far away, a pass costs more than what is computed in it."""
    return _in_double(backward(part.X, constant, part.D)), *_squares(part, constant)


def _squares(part: Bend, constant: float) -> Sums:
    squares = part.X.multiply(part.X) if scipy.sparse.issparse(part.X) else part.X * part.X
    return (_in_double(backward(squares, constant**2, part.D)),)


def _product(part: Bend, V: Array, constant: float) -> Sums:
    Z = forward(part.X, constant, V[:, part.columns])
    Z *= part.D
    return (_in_double(backward(part.X, constant, Z)),)


def _in_double(sums: Any) -> Array:
    """Sums over pieces of products in single precision."""
    return np.asarray(sums, dtype=np.float64)


def _by_column(parts: list[Bend]) -> dict[int, list[tuple[Any, Array]]]:
    """X and the weights of its rows in each column, of all parts in which there are any."""
    found: dict[int, list[tuple[Any, Array]]] = defaultdict(list)
    for part in parts:
        for place, j in enumerate(part.columns.tolist()):
            found[j].append((part.X, part.D[:, place]))
    return found


def _bent_rows(of_block: dict[int, list[tuple[Any, Array]]], j: int, scale: Array, root: Array) -> Array:
    """The rows of a block with a weight in column j, times the roots of their weights over those of the ridge."""
    rows, weights = [], []
    for X, D in of_block[j]:
        own = D.nonzero()[0]
        rows.append(X[own])
        weights.append(D[own])
    if not rows:
        return np.empty((0, len(root)))
    Z: Array = np.concatenate(rows, dtype=np.float64)
    Z *= np.sqrt(np.concatenate(weights) * scale[j])[:, None]
    Z /= root
    return Z


def _bent_gram(of_block: dict[int, list[tuple[Any, Array]]], j: int, scale: Array, root: Array) -> Array:
    Z = _bent_rows(of_block, j, scale, root)
    gram: Array = Z.T @ Z
    return gram


def _below(upper: Array, lower: Array) -> Array:
    return np.vstack([upper, lower])


def solved(A: Array, b: Array) -> Array:
    """Return A⁻¹ b for I + a Gram matrix; where rounding at 1e99 has swallowed the I, the shortest solution."""
    try:
        solution: Array = np.linalg.solve(A, b).astype(np.float64, copy=False)
    except np.linalg.LinAlgError:
        solution = np.linalg.lstsq(A, b, rcond=None)[0].astype(np.float64, copy=False)
    return solution
