"""Kernel functions on blocks of rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from outputcodes._ground.blocks import row_blocks
from outputcodes._kernel_machines.rows import rbf_rows, to_distances, to_exponentials

Rows = NDArray[np.intp]
Array = NDArray[np.float64]
KERNELS = ("rbf", "poly", "linear", "sigmoid", "precomputed")

# Rows computed at a time: enough for the matrix product to run at full speed.
ROWS_AT_A_TIME = 128


class NonFiniteKernelError(ValueError):
    """A kernel overflows on the given rows."""

    def __init__(self) -> None:
        super().__init__("kernel values are not finite; scale the features, or lower gamma, coef0 or degree.")


@dataclass(frozen=True)
class Kernel:
    """A kernel with its parameters.

    `centre` is subtracted from dense features where this changes only the rounding: without it, squared distances of
    features far from the origin would lose digits.
    """

    name: str | Callable[[Any, Any], Any]
    gamma: float = 1.0
    degree: float = 3
    coef0: float = 0.0
    centre: Array | None = None

    @property
    def symmetric(self) -> bool:
        """Return whether rows and anchors have the same form, and may change places."""
        return isinstance(self.name, str) and self.name != "precomputed"

    def features(self, X: Any) -> Any:
        """Return X in the form that `block` takes."""
        return X if self.centre is None else X - self.centre

    def anchors(self, X: Any, rows: Rows) -> Any:
        """Return the `anchors` argument of `block` for some training rows: the features, or the row numbers."""
        return rows if self.name == "precomputed" else X[rows]

    def block(self, A: Any, anchors: Any, out: Array | None = None) -> Array:
        """Return (len(A), len(anchors)) kernel values in float64; a named kernel writes them to `out` if it is given.

        >>> Kernel("poly", gamma=0.5, degree=2, coef0=1).block(np.eye(2), np.array([[2.0, 4.0]]))
        array([[4.],
               [9.]])
        """
        if self.name == "precomputed":
            return np.asarray(A[:, anchors], dtype=np.float64)
        if not isinstance(self.name, str):
            return _finite(np.asarray(self.name(A, anchors), dtype=np.float64), (A.shape[0], anchors.shape[0]))
        return self.values(self.geometry(A, anchors, out))

    def geometry(self, A: Any, anchors: Any, out: Array | None = None) -> Array:
        """Return the squared distances for rbf, else the inner products, from which `values` computes the kernel."""
        K = _products(A, anchors, out)
        if self.name == "rbf":
            to_distances(K, squared_norms(A), squared_norms(anchors))
        return K

    def power_of(self, other: Kernel) -> int:
        """Return the integer p ≥ 2 such that this kernel is the p-th power of the other kernel, or 0 if there is none.

        >>> Kernel("rbf", gamma=0.6).power_of(Kernel("rbf", gamma=0.2))
        3
        """
        ratio = self.gamma / other.gamma if self.name == other.name == "rbf" else 0.0
        p = round(ratio) if ratio < 1e6 else 0
        return p if p >= 2 and abs(ratio - p) <= 1e-13 * ratio else 0

    def values(self, geometry: NDArray[Any]) -> NDArray[Any]:
        """Compute kernel values from distances or products, in place, and return them."""
        K = geometry
        if self.name == "rbf":
            if K.dtype == np.float64:
                to_exponentials(-self.gamma, K)
            else:
                K *= -self.gamma
                np.exp(K, out=K)
            return K
        if self.name == "linear":
            return K
        K *= self.gamma
        K += self.coef0
        with np.errstate(over="ignore", invalid="ignore"):
            return _finite(np.tanh(K, out=K) if self.name == "sigmoid" else np.power(K, self.degree, out=K), K.shape)


def to_the_power(p: int, values: Array) -> None:
    """Raise values between 0 and 1 to the power p in place, by repeated squaring."""
    base = values.copy() if p & (p - 1) else values
    with np.errstate(under="ignore"):
        for bit in f"{p:b}"[1:]:
            values *= values
            if bit == "1":
                values *= base


def rbf_block(kernel: Kernel, A: Any, B: Any, out: NDArray[np.float32], slots: Rows, first: int = 0) -> None:
    """Write the rbf kernel of A and B in float32 to out[slots, first:], in one pass over each tile."""
    left, right = squared_norms(A), squared_norms(B)
    tiles = list(row_blocks(len(right), 2 * ROWS_AT_A_TIME))
    room = np.empty(len(left) * tiles[0].stop)
    for b in tiles:
        tile = room[: len(left) * (b.stop - b.start)].reshape(len(left), -1)
        rbf_rows(_products(A, B[b], tile), left, right[b], kernel.gamma, out, slots, first + b.start)


def _products(A: Any, B: Any, out: Array | None = None) -> Array:
    if not (sparse.issparse(A) or sparse.issparse(B)):
        return np.matmul(A, B.T, out=out)
    products = A @ B.T
    answer = np.empty(products.shape) if out is None else out
    answer[:] = products.toarray() if sparse.issparse(products) else products
    return answer


def squared_norms(A: Any) -> Array:
    if sparse.issparse(A):
        return np.asarray(A.multiply(A).sum(axis=1), dtype=np.float64).ravel()
    return np.asarray(np.einsum("ij,ij->i", A, A), dtype=np.float64)


def _finite(K: Array, shape: tuple[int, ...]) -> Array:
    if K.shape != shape:
        raise ValueError(f"kernel returned an array of shape {K.shape}, but {shape} was expected.")
    if not np.isfinite(K).all():
        raise NonFiniteKernelError
    return K
