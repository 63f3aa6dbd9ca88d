"""The curvature that a column has seen, as the inverse of a matrix A: whole, or its diagonal for centred rows."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from numpy.typing import NDArray

Array = NDArray[np.float64]


class Centre:
    """The mean of the rows so far, apart from their last entry, a constant; 0 if there is no constant.

    Rows of one sign move all columns along their mean. The diagonal of A alone would let them: it does not see that the
    features of the mean move together. Centred rows leave that direction to the constant.
    """

    def __init__(self, p: int, constant: float) -> None:
        self.mean, self.constant, self.total = np.zeros(p), constant, 0.0

    def add(self, X: Any, weight: Array) -> None:
        """Take rows in."""
        if self.constant:
            self.total += float(weight.sum())
            moved = (X.T @ weight - weight.sum() * self.mean) / self.total
            moved[-1] = 0
            self.mean = self.mean + moved


class Metric(Protocol):
    """A⁻¹ as far as it is known, in products with a few rows X."""

    def kernel(self, X: Any) -> Array:
        """Return X A⁻¹ Xᵀ."""

    def step(self, X: Any, u: Array) -> Array:
        """Return A⁻¹ Xᵀ u."""

    def add(self, X: Any, bend: Array) -> None:
        """Add Xᵀ diag(bend) X to A."""

    def limit(self, least: Array) -> None:
        """Add to the diagonal of A what keeps that of A⁻¹ at about 1/least or below."""


class FullMetric:
    """A⁻¹ as a matrix.

    >>> metric, X, bend = FullMetric(np.array([1.0, 2.0])), np.array([[1.0, 3.0]]), np.array([0.5])
    >>> metric.add(X, bend)
    >>> np.allclose(np.linalg.inv(metric.inverse), np.diag([1.0, 2.0]) + X.T * bend @ X)
    True
    """

    def __init__(self, penalty: Array) -> None:
        self.inverse = np.diag(1 / penalty)

    def kernel(self, X: Any) -> Array:
        """Return X A⁻¹ Xᵀ."""
        K: Array = X @ self.inverse @ X.T
        return K

    def step(self, X: Any, u: Array) -> Array:
        """Return A⁻¹ Xᵀ u."""
        moved: Array = self.inverse @ (X.T @ u)
        return moved

    def add(self, X: Any, bend: Array) -> None:
        """Add Xᵀ diag(bend) X to A: A⁻¹ − A⁻¹Xᵀ(diag(bend)⁻¹ + K)⁻¹XA⁻¹, by a factor that keeps it symmetric."""
        half = np.sqrt(bend)[:, None] * X
        PX = half @ self.inverse
        factor = np.linalg.cholesky(np.eye(len(half)) + half @ PX.T)
        half = scipy.linalg.solve_triangular(factor, PX, lower=True, check_finite=False)
        self.inverse -= half.T @ half

    def limit(self, least: Array) -> None:
        """Add to the diagonal of A what keeps that of A⁻¹ at about 1/least or below."""
        # The factor saves many small changes, and what is well within the limit keeps its bits.
        for j in np.flatnonzero(self.inverse.diagonal() * least > 4).tolist():
            column = self.inverse[:, j].copy()
            ratio = min(1 / column[j] / least[j], 1.0)
            self.inverse -= np.outer(column * ((1 - ratio) / column[j]), column)
            # Here the difference would be rounding alone where the ratio is small.
            self.inverse[:, j] = self.inverse[j] = ratio * column


class DiagonalMetric:
    """The diagonal of A for rows minus their mean, in terms of the rows themselves."""

    def __init__(self, penalty: Array, centre: Centre) -> None:
        self.inverse, self.centre = 1 / penalty, centre

    def kernel(self, X: Any) -> Array:
        """Return X A⁻¹ Xᵀ of centred rows."""
        mean = self.centre.mean
        XP = X.multiply(self.inverse).tocsr() if sp.issparse(X) else X * self.inverse
        K = XP @ X.T
        along = XP @ mean
        K = K.toarray() if sp.issparse(K) else K
        centred: Array = K - along[:, None] - along + float(mean @ (self.inverse * mean))
        return centred

    def step(self, X: Any, u: Array) -> Array:
        """Return A⁻¹ Xᵀ u of centred rows, as a change of the weights of rows that are not centred."""
        mean, constant = self.centre.mean, self.centre.constant
        moved: Array = self.inverse * (X.T @ u - u.sum() * mean)
        if constant:
            moved[-1] -= float(moved @ mean) / constant
        return moved

    def add(self, X: Any, bend: Array) -> None:
        """Add the diagonal of Xᵀ diag(bend) X of centred rows to A."""
        mean = self.centre.mean
        squares = (X.multiply(X) if sp.issparse(X) else X * X).T @ bend
        squares = squares - 2 * mean * (X.T @ bend) + bend.sum() * mean**2
        self.inverse = 1 / (1 / self.inverse + np.maximum(squares, 0))

    def limit(self, least: Array) -> None:
        """Add to the diagonal of A what keeps that of A⁻¹ at about 1/least or below."""
        self.inverse = np.where(self.inverse * least > 4, 1 / np.maximum(least, 1e-300), self.inverse)
