"""The Hessians of all columns at one point, and their Newton steps by preconditioned conjugate gradients."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from outputcodes._blocks import Run
from outputcodes.learners._products import Block, backward, forward, restricted

Array = NDArray[np.float64]
Rows = NDArray[np.intp]

MOST_PRODUCTS = 1000  # a Newton step


class Hessian:
    """diag(ridge) + Xᵀ D X of every column, D in blocks; products with it use the precision of the blocks' X."""

    def __init__(self, blocks: list[Block], curvatures: list[Array], ridge: Array, constant: float, run: Run) -> None:
        # Weights of at most 1 in every column keep the products far from the ends of float32.
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
        """H⁻¹ rhs, each column until its residual, in the norm of the preconditioner, has shrunk to `rough`."""
        residual, diagonal = rhs, self._diagonal()
        solution, live = np.zeros_like(rhs), np.arange(rhs.shape[1])
        x, z = np.zeros_like(rhs), residual / diagonal
        p, rz = z, (residual * z).sum(axis=0)
        enough = rough**2 * rz
        for _ in range(MOST_PRODUCTS):
            Hp = self._product(p)
            bend = (p * Hp).sum(axis=0)
            along = np.divide(rz, bend, out=np.zeros_like(rz), where=bend > 0)
            x = x + along * p
            residual = residual - along * Hp
            z = residual / diagonal
            before, rz = rz, (residual * z).sum(axis=0)
            # Where rounding leaves no curvature along p, float32 has given all it can.
            going = np.flatnonzero((rz > enough) & (bend > 0))
            if going.size < live.size:
                # Columns that are done leave the products.
                solution[:, live] = x
                if going.size == 0:
                    break
                self.keep(going)
                live, rz, before, enough = live[going], rz[going], before[going], enough[going]
                x, z, p, residual, diagonal = (v[:, going] for v in (x, z, p, residual, diagonal))
            p = z + rz / before * p
        solution[:, live] = x
        return solution

    def keep(self, going: Rows) -> None:
        """Only some columns go on."""
        self.scale = self.scale[going]
        for i, (X, D, columns) in enumerate(self.parts):
            local, places = restricted(columns, going)
            self.parts[i] = X, D[:, local], places

    def gap(self, gradient: Array) -> Array:
        """½‖gradient‖² in the norm dual to the ridge, after a Newton step of a free intercept alone."""
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
        diagonal[diagonal == 0] = 1  # a free intercept that no example holds
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
        """The sum over the blocks, in their order."""
        total = np.zeros((len(self.ridge), len(self.scale)))
        for (_, _, columns), answer in zip(self.parts, self.run(work, self.parts), strict=True):
            if columns.size == self.scale.size:
                total += answer
            else:
                total[:, columns] += answer
        return total
