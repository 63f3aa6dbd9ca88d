"""The Hessians of all columns at one point, and their Newton steps, by conjugate gradients or exactly.

For the hinges only the rows in the curved part have a second derivative, and near the optimum they are few. When the
conjugate gradients of a column have cost as much as an exact solution on those rows, the exact solution is computed:
the total cost is at most twice that of the cheaper method.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from outputcodes._ground.blocks import Run
from outputcodes.learners.linear.products import Block, backward, forward, restricted

Array = NDArray[np.float64]
Rows = NDArray[np.intp]

MOST_PRODUCTS = 1000  # per Newton step


class Hessian:
    """diag(ridge) + Xᵀ D X of every column, with D in blocks; products use the precision of the blocks' X."""

    def __init__(self, blocks: list[Block], curvatures: list[Array], ridge: Array, constant: float, run: Run) -> None:
        # Weights of at most 1 in every column keep the products far from the limits of float32.
        self.scale = np.zeros(1 + max(int(block.columns.max(initial=0)) for block in blocks))
        for block, D in zip(blocks, curvatures, strict=True):
            self.scale[block.columns] = np.maximum(self.scale[block.columns], D.max(axis=0))
        self.scale[self.scale == 0] = 1
        self.parts = [
            (b.rotated, (D / self.scale[b.columns]).astype(b.rotated.dtype), b.columns)
            for b, D in zip(blocks, curvatures, strict=True)
        ]
        self.ridge, self.constant, self.run = ridge, constant, run

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
        if self.constant or self.ridge.min() <= 0 or scipy.sparse.issparse(self.parts[0][0]):
            return np.full(self.scale.shape, np.inf)
        seen, bent = np.zeros(self.scale.shape), np.zeros(self.scale.shape)
        for _, D, columns in self.parts:
            seen[columns] += len(D)
            bent[columns] += np.count_nonzero(D, axis=0)
        d = len(self.ridge)
        few = np.minimum(bent, d)
        # Counted in multiplications; one large product and one factorisation run twice as fast as many narrow products.
        price: Array = 0.5 * (0.5 * bent * few * d + few**3 / 3) / (2 * seen * d)
        return price

    def _exact(self, rhs: Array, some: Rows) -> Array:
        """Return H⁻¹ rhs of some columns from the rows Z = (D/ridge)^½ X with D > 0, in row space or feature space."""
        solution, root = np.empty((len(rhs), some.size)), np.sqrt(self.ridge[:, 0])
        bent: list[list[tuple[Any, Any]]] = [[] for _ in some]
        for X, D, columns in self.parts:
            for place, j in zip(*restricted(columns, some), strict=True):
                bent[j].append((X, D[:, place]))

        def work(j: int) -> None:
            own = [(X, D, np.flatnonzero(D)) for X, D in bent[j]]
            weights = np.concatenate([D[rows] for _, D, rows in own]) * self.scale[some[j]]
            Z, v = np.concatenate([X[rows] for X, _, rows in own]) * np.sqrt(weights)[:, None], rhs[:, some[j]] / root
            Z /= root
            if len(Z) < len(v):
                v -= Z.T @ solved(np.eye(len(Z)) + Z @ Z.T, Z @ v)
            else:
                v = solved(np.eye(len(v)) + Z.T @ Z, v)
            solution[:, j] = v / root

        self.run(work, range(some.size))
        return solution

    def keep(self, going: Rows) -> None:
        """Keep only some columns."""
        self.scale = self.scale[going]
        for i, (X, D, columns) in enumerate(self.parts):
            local, places = restricted(columns, going)
            self.parts[i] = X, D[:, local], places

    def gap(self, gradient: Array) -> Array:
        """Return ½‖gradient‖² in the norm dual to the ridge, after a Newton step in a free intercept alone."""
        if self.ridge[-1, 0] > 0:
            return np.asarray(0.5 * (gradient**2 / self.ridge).sum(axis=0))
        # The last row of the Hessians: how the gradient changes with the intercept.
        row = self._sum(lambda part: backward(part[0], self.constant, part[1])) * self.scale * (self.constant or 1.0)
        slope, bend = gradient[-1], row[-1]
        step = np.divide(slope, bend, out=np.zeros_like(slope), where=bend > 0)
        moved = gradient[:-1] - row[:-1] * step
        gap = 0.5 * ((moved**2 / self.ridge[:-1]).sum(axis=0) + slope * step)
        return np.where((bend > 0) | (slope == 0), gap, np.inf)

    def _diagonal(self) -> Array:
        def work(part: Any) -> Any:
            X, D, _ = part
            return backward(X.multiply(X) if scipy.sparse.issparse(X) else X * X, self.constant**2, D)

        diagonal = self.ridge + self._sum(work) * self.scale
        diagonal[diagonal == 0] = 1  # a free intercept without any curvature
        return diagonal

    def _product(self, V: Array) -> Array:
        largest = np.abs(V).max(axis=0)
        largest[largest == 0] = 1
        unit = (V / largest).astype(self.parts[0][1].dtype)

        def work(part: Any) -> Any:
            X, D, columns = part
            Z = forward(X, self.constant, unit[:, columns])
            Z *= D
            return backward(X, self.constant, Z)

        product: Array = self.ridge * V + self._sum(work) * (largest * self.scale)
        return product

    def _sum(self, work: Callable[[Any], Any]) -> Array:
        """Return the sum over the blocks, in their order."""
        total = np.zeros((len(self.ridge), len(self.scale)))
        for (_, _, columns), answer in zip(self.parts, self.run(work, self.parts), strict=True):
            if columns.size == self.scale.size:
                total += answer
            else:
                total[:, columns] += answer
        return total


def solved(A: Array, b: Array) -> Array:
    """Return A⁻¹ b for I + a Gram matrix; where rounding at 1e99 has swallowed the I, the shortest solution."""
    try:
        solution: Array = np.linalg.solve(A, b).astype(np.float64, copy=False)
    except np.linalg.LinAlgError:
        solution = np.linalg.lstsq(A, b, rcond=None)[0].astype(np.float64, copy=False)
    return solution
