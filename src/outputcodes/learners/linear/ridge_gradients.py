"""Ridge regression on sparse rows by conjugate gradients: no matrix of rows by rows or of features by features.

With Z the rows minus their mean, times the roots of their weights v, a column with the right-hand side b solves
(ZᵀZ + alpha·I) w = b. As ZᵀZ p = Σ_i v_i x_i (x_i·p) − N m (m·p), a product costs one pass over the rows. The steps are
preconditioned by alpha plus the mean square of each feature's non-zero values: units of features don't matter then, and
rare words are left as they are (their diagonal entries are no better a scale: measured, a third more steps on texts).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from outputcodes._ground.lanes import LANES, aligned_zeros, load, spread, store

Array = NDArray[np.float64]

# Columns that are solved together: two vectors of lanes, so that their tables stay in cache.
TILE = 2 * LANES
# The residual, relative to the right-hand side, at which a column is finished.
SMALL_RESIDUAL = 1e-6
MOST_STEPS = 2000


class GradientSystem(NamedTuple):
    """A system for many columns: rows (csr), their weights, their weighted mean, and the penalty."""

    X: Any
    mass: Array
    mean: Array
    alpha: float

    @property
    def scale(self) -> Array:
        """The preconditioner of each feature; without a penalty, ones, which lead to the solution of least norm."""
        d = self.X.shape[1]
        if self.alpha == 0:
            return np.ones(d)
        count = np.bincount(self.X.indices, minlength=d)
        squares = np.bincount(self.X.indices, weights=np.square(self.X.data, dtype=np.float64), minlength=d)
        found: Array = self.alpha + squares / np.maximum(count, 1)
        return found

    def solve(self, right: Array, scale: Array) -> tuple[Array, Array, int]:
        """Return the weights (d, columns) of up to TILE columns, their relative residuals, and the number of steps."""
        d, count = right.shape
        w, r, p, product = (aligned_zeros(d, TILE) for _ in range(4))
        r[:, :count] = right
        size = np.sqrt(np.einsum("ij,ij->j", r, r))
        enough, inverse = (SMALL_RESIDUAL * size) ** 2, 1 / scale
        norms, before = np.zeros((2, TILE)), np.ones(TILE)
        for steps in range(MOST_STEPS + 1):
            if steps:
                self._multiply(p, product)
                step_along(p, product, before, w, r)
            turn(r, inverse, p, norms, before, steps == 0)
            if (norms[1] <= enough).all() or not norms[0].any():
                break
        self._multiply(w, product)
        left = right - product[:, :count]
        residual = np.sqrt(np.einsum("ij,ij->j", left, left)) / np.where(size > 0, size, 1.0)[:count]
        return w[:, :count].copy(), residual, steps

    def _multiply(self, p: Array, product: Array) -> None:
        total = self.mass.sum() * (self.mean @ p)
        multiply(self.X.data, self.X.indices, self.X.indptr, self.mass, self.alpha, p.ravel(), product.ravel())
        subtract(self.mean, total, product)


@njit(nogil=True, cache=True)
def multiply(data, indices, indptr, mass, alpha, p, product):  # type: ignore[no-untyped-def]
    """product = alpha·p + Σ_i mass_i x_i (x_i·p), for flat tables of TILE columns."""
    for place in range(0, p.size, LANES):
        store(product, place, spread(alpha) * load(p, place))
    for i in range(indptr.size - 1):
        one, two = spread(0.0), spread(0.0)
        for s in range(indptr[i], indptr[i + 1]):
            x, at = spread(data[s]), np.int64(indices[s]) * TILE
            one = one + x * load(p, at)
            two = two + x * load(p, at + LANES)
        one, two = spread(mass[i]) * one, spread(mass[i]) * two
        for s in range(indptr[i], indptr[i + 1]):
            x, at = spread(data[s]), np.int64(indices[s]) * TILE
            store(product, at, load(product, at) + x * one)
            store(product, at + LANES, load(product, at + LANES) + x * two)


@njit(nogil=True, cache=True)
def subtract(mean, total, product):  # type: ignore[no-untyped-def]
    """product −= mean ⊗ total."""
    for j in range(mean.size):
        for c in range(TILE):
            product[j, c] -= mean[j] * total[c]


@njit(nogil=True, cache=True)
def step_along(p, product, before, w, r):  # type: ignore[no-untyped-def]
    """Move w along p to its minimum, and the residual r with it; `before` is r·z of the residual before."""
    bend, length = np.zeros(TILE), np.zeros(TILE)
    for j in range(len(p)):
        for c in range(TILE):
            bend[c] += p[j, c] * product[j, c]
    for c in range(TILE):
        # Without curvature only rounding is left.
        length[c] = before[c] / bend[c] if bend[c] > 0 else 0.0
    for j in range(len(p)):
        for c in range(TILE):
            w[j, c] += length[c] * p[j, c]
            r[j, c] -= length[c] * product[j, c]


@njit(nogil=True, cache=True)
def turn(r, inverse, p, norms, before, first):  # type: ignore[no-untyped-def]
    """Make p the next direction; norms = (r·z, r·r) with z = r∘inverse, and `before` is set to r·z."""
    norms[:] = 0
    for j in range(len(r)):
        for c in range(TILE):
            square = r[j, c] * r[j, c]
            norms[0, c] += inverse[j] * square
            norms[1, c] += square
    along = np.zeros(TILE)
    for c in range(TILE):
        along[c] = norms[0, c] / before[c] if not first and before[c] > 0 else 0.0
        before[c] = norms[0, c]
    for j in range(len(r)):
        for c in range(TILE):
            p[j, c] = inverse[j] * r[j, c] + along[c] * p[j, c]
