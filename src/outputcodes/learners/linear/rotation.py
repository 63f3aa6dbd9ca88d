"""Features in the eigenbasis of their Gram matrix, summed over blocks of rows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from outputcodes._ground.blocks import one_blas_thread, row_blocks
from outputcodes._ground.passes import Combination, Sums
from outputcodes._ground.stored_rows import Part, StoredRows, row_sum

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Intercept:
    """A constant feature of value `constant` (0: none), and whether its coefficient is penalised."""

    constant: float
    penalised: bool

    @property
    def free(self) -> bool:
        """Whether there is an intercept without a penalty."""
        return self.constant != 0 and not self.penalised


@dataclass(frozen=True)
class Rotation:
    """Features in the eigenbasis of their Gram matrix, where the Hessian of every column is nearly diagonal.

    `values` (n, q), float32 with entries in [-1, 1], is [X, constant] @ `basis` (p, q); None if X is in several blocks,
    which keep their own. The penalty of the coefficients θ = basis @ v is Σ `penalty`·v²/2.
    """

    values: NDArray[np.float32] | None
    basis: Array
    penalty: Array

    def reachable(self, theta: Array) -> Array:
        """Return θ projected on the span of the rows: steps along the basis could not remove the rest."""
        p, q = self.basis.shape
        if q == p:
            return theta
        held = self.penalty > 0
        span = self.basis[: p - (q - held.sum()), held]
        return np.vstack([span @ (span.T @ theta[: len(span)] / self.penalty[held, None]), theta[len(span) :]])


def rotated(stored: StoredRows, intercept: Intercept) -> tuple[Rotation, StoredRows]:
    """Rotate the features into the eigenbasis of their Gram matrix, after centring if the intercept is free.

    A free intercept absorbs the mean, so that it is orthogonal to all other coordinates. With more features than rows,
    which are then one block, the basis spans the rows, and the coefficients of all columns lie in this span. Returned
    are also the blocks with their rotated rows.
    """
    (n, d), blocks = stored.shape, stored.blocks
    # BLAS threads slow down small products, and the last bits would depend on their number.
    with one_blas_thread():
        mean = blocks.total(row_sum)[0] / n if intercept.free else np.zeros(d)
        if d > n:
            span, R = scipy.linalg.qr(_features(stored.joined(), slice(0, n), mean, intercept).T, mode="economic")
            basis = span @ np.linalg.eigh(R @ R.T)[1]
        else:
            basis = np.linalg.eigh(blocks.total(_gram, mean, intercept)[0])[1]
        # Entries of at most 1 keep sums and products far from the limits of float32.
        (square,) = blocks.total(_largest_square, mean, intercept, combine=Combination(np.maximum))
        largest = float(np.sqrt(square)) or 1.0
        basis /= largest
        turned = blocks.through(_turned, mean, intercept, basis)
    penalty = np.full(basis.shape[1], largest**-2.0)
    if intercept.free:
        basis = np.block([[basis, np.zeros((d, 1))], [-mean @ basis, np.ones((1, 1))]])
        penalty = np.append(penalty, 0.0)
    values = turned.collected(_values)[0] if len(stored.sizes) == 1 else None
    return Rotation(values, basis, penalty), StoredRows(turned, stored.sizes, d, False)


def _features(X: Array, rows: slice, mean: Array, intercept: Intercept) -> Array:
    if intercept.free:
        return np.asarray(X[rows] - mean)
    own = X[rows]
    return np.hstack([own, np.full((len(own), 1), intercept.constant)]) if intercept.constant else own


def _gram(part: Part, mean: Array, intercept: Intercept) -> Sums:
    p = part.X.shape[1] + (intercept.constant != 0 and not intercept.free)
    total = np.zeros((p, p))
    for rows in row_blocks(*part.X.shape):
        own = _features(part.X, rows, mean, intercept)
        total += own.T @ own
    return (total,)


def _largest_square(part: Part, mean: Array, intercept: Intercept) -> Sums:
    squares = [0.0]
    for rows in row_blocks(*part.X.shape):
        own = _features(part.X, rows, mean, intercept)
        squares.append(np.einsum("ij,ij->i", own, own).max())
    return (np.array(max(squares)),)


def _turned(part: Part, mean: Array, intercept: Intercept, basis: Array) -> Part:
    """The part with its rows in the eigenbasis, and a last coordinate of 1 for a free intercept."""
    q = basis.shape[1]
    values = np.ones((len(part.X), q + intercept.free), dtype=np.float32)
    for rows in row_blocks(*part.X.shape):
        values[rows, :q] = _features(part.X, rows, mean, intercept) @ basis
    return replace(part, rotated=values)


def _values(parts: list[Part]) -> Any:
    return parts[0].rotated
