"""Kernel functions on blocks of rows, and their Gram matrix: in memory as far as it fits, else an LRU of rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from outputcodes._blocks import Run, row_blocks, serially
from outputcodes._kernels.smo import gather

Rows = NDArray[np.intp]
Array = NDArray[np.float64]
KERNELS = ("rbf", "poly", "linear", "sigmoid", "precomputed")


@dataclass(frozen=True)
class Kernel:
    """A kernel with its parameters.

    `centre` is subtracted from dense features where that changes nothing but the rounding: squared distances of
    features far from the origin would lose their digits.
    """

    name: str | Callable[[Any, Any], Any]
    gamma: float = 1.0
    degree: float = 3
    coef0: float = 0.0
    centre: Array | None = None

    def features(self, X: Any) -> Any:
        """X as `block` takes it."""
        return X if self.centre is None else X - self.centre

    def anchors(self, X: Any, rows: Rows) -> Any:
        """What stands for some rows of the training features on the right of `block`: the rows, or their numbers."""
        return rows if self.name == "precomputed" else X[rows]

    def block(self, A: Any, anchors: Any) -> Array:
        """(len(A), len(anchors)) kernel values in float64.

        >>> Kernel("poly", gamma=0.5, degree=2, coef0=1).block(np.eye(2), np.array([[2.0, 4.0]]))
        array([[4.],
               [9.]])
        """
        if self.name == "precomputed":
            return np.asarray(A[:, anchors], dtype=np.float64)
        if not isinstance(self.name, str):
            return _finite(np.asarray(self.name(A, anchors), dtype=np.float64), (A.shape[0], anchors.shape[0]))
        products = A @ anchors.T
        K: Array = products.toarray() if sparse.issparse(products) else products
        if self.name == "rbf":
            K *= -2
            K += _squared_norms(A)[:, None]
            K += _squared_norms(anchors)
            np.maximum(K, 0, out=K)
            K *= -self.gamma
            return np.exp(K, out=K)
        if self.name == "linear":
            return K
        K *= self.gamma
        K += self.coef0
        with np.errstate(over="ignore", invalid="ignore"):
            return _finite(np.tanh(K, out=K) if self.name == "sigmoid" else np.power(K, self.degree, out=K), K.shape)


class Gram:
    """Rows of the Gram matrix of X, computed when first asked for and kept up to `megabytes`.

    The rows least recently used make room for new ones. Where all fit, nothing is ever computed twice.

    Attributes
    ----------
    store : ndarray of shape (capacity, n)
        The rows that are held, where `hold` says.
    """

    def __init__(self, kernel: Kernel, X: Any, dtype: Any, megabytes: float) -> None:
        self.kernel, self.X = kernel, X
        self.n = int(X.shape[0])
        if kernel.name == "precomputed":
            self.store = np.asarray(X, dtype=dtype)
            self._slot = self._row = np.arange(self.n)
        else:
            capacity = min(self.n, int(megabytes * 2**20 / (self.n * np.dtype(dtype).itemsize)))
            if capacity < min(self.n, 2):
                raise ValueError(
                    f"cache_size={megabytes} MB holds no two rows of the Gram matrix of {self.n} examples; "
                    f"raise it to {2 * self.n * np.dtype(dtype).itemsize / 2**20:.1f} or more."
                )
            # Pages of memory are taken only when rows are written to them.
            self.store = np.empty((capacity, self.n), dtype=dtype)
            self._slot = np.full(self.n, -1)
            self._row = np.full(capacity, -1)
        self._last_use = np.zeros(len(self._row), dtype=np.int64)

    @property
    def capacity(self) -> int:
        """How many rows can be held at a time."""
        return len(self._row)

    @property
    def diag(self) -> Array:
        """K(x, x) of each row."""
        blocks = row_blocks(self.n, 1 << 13)
        X, kernel = self.X, self.kernel
        return np.concatenate([kernel.block(X[b], kernel.anchors(X, np.arange(self.n)[b])).diagonal() for b in blocks])

    def hold(self, rows: Rows, run: Run = serially) -> Rows:
        """Where in `store` the rows (distinct, at most `capacity`) are, until the next call; computes the missing."""
        held = self._slot[rows]
        self._last_use[held[held >= 0]] = self._last_use.max() + 1
        missing = rows[held < 0]
        if len(missing):
            slots = np.sort(np.argsort(self._last_use, kind="stable")[: len(missing)])
            evicted = self._row[slots]
            self._slot[evicted[evicted >= 0]] = -1
            self._row[slots] = -1

            def compute(block: slice) -> None:
                self.store[slots[block]] = self.kernel.block(self.X[missing[block]], self.X)

            run(compute, row_blocks(len(missing), self.n))
            self._slot[missing], self._row[slots] = slots, missing
            self._last_use[slots] = self._last_use.max() + 1
        return self._slot[rows]

    def rows(self, rows: Rows, run: Run = serially) -> NDArray[Any]:
        """(len(rows), n) kernel values, a copy.

        >>> Gram(Kernel("linear"), np.arange(3.0)[:, None], np.float32, 1).rows(np.array([2, 1]))
        array([[0., 2., 4.],
               [0., 1., 2.]], dtype=float32)
        """
        return self.store[self.hold(rows, run)]

    def between(self, rows: Rows, others: Rows) -> Array:
        """(len(rows), len(others)) kernel values; from the rows held if all `others` are there, else computed."""
        slots = self._slot[others]
        if (slots < 0).any():
            return self.kernel.block(self.X[rows], self.kernel.anchors(self.X, others))
        out = np.empty((len(others), len(rows)))
        gather(self.store, slots, rows, out)
        return out.T


def _squared_norms(A: Any) -> Array:
    if sparse.issparse(A):
        return np.asarray(A.multiply(A).sum(axis=1), dtype=np.float64).ravel()
    return np.asarray(np.einsum("ij,ij->i", A, A), dtype=np.float64)


def _finite(K: Array, shape: tuple[int, ...]) -> Array:
    if K.shape != shape:
        raise ValueError(f"kernel answered an array of shape {K.shape} where {shape} was asked for.")
    if not np.isfinite(K).all():
        raise ValueError("kernel values are not finite; scale the features, or lower gamma, coef0 or degree.")
    return K
