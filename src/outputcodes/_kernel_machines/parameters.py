"""The parameters that estimators with a kernel share: their checks, their values on X, and the Gram matrix of X."""

from __future__ import annotations

import math
from numbers import Real
from typing import Any

import numpy as np
from scipy import sparse

from outputcodes._kernel_machines.gram import Gram
from outputcodes._kernel_machines.kernel_function import KERNELS, Kernel

# Up to here, or for tolerances below this, kernel values are kept in float64; else in float32.
EXACT_ROWS, EXACT_TOL = 4000, 1e-4


class KernelParameters:
    """Base of estimators with the parameters kernel, gamma, degree, coef0, C, tol, cache_size and max_iter."""

    kernel: Any
    gamma: Any
    degree: float
    coef0: float
    tol: float
    cache_size: float

    def _check_parameters(self) -> None:
        if not (callable(self.kernel) or self.kernel in KERNELS):
            raise ValueError(
                f"kernel={self.kernel!r} must be one of {', '.join(KERNELS)}, or a function of two blocks of rows."
            )
        for name in ("C", "tol", "cache_size", "max_iter"):
            if not _is_number(value := getattr(self, name), above=0):
                raise ValueError(f"{name}={value!r} must be a positive number.")
        for name in ("degree", "coef0"):
            if not _is_number(value := getattr(self, name)):
                raise ValueError(f"{name}={value!r} must be a finite number.")
        if self.gamma not in ("scale", "auto") and not _is_number(self.gamma, above=0):
            raise ValueError(f"gamma={self.gamma!r} must be 'scale', 'auto' or a positive number.")

    def _gram(self, X: Any, centred: bool, like: Gram | None = None) -> Gram:
        """Return the Gram matrix of checked X; `centred` says that a translation changes nothing but the rounding."""
        if self.kernel == "precomputed" and X.shape[0] != X.shape[1]:
            raise ValueError(f"kernel='precomputed' needs a square X to train on; its shape is {X.shape}.")
        centre = X.mean(axis=0) if centred and not sparse.issparse(X) else None
        kernel = Kernel(self.kernel, self._gamma_on(X), self.degree, self.coef0, centre)
        dtype = np.float64 if X.shape[0] <= EXACT_ROWS or self.tol < EXACT_TOL else np.float32
        if like is None:
            return Gram(kernel, kernel.features(X), dtype, self.cache_size)
        return like.remade(kernel, kernel.features(X), dtype, self.cache_size)

    def _gamma_on(self, X: Any) -> float:
        if self.gamma != "scale":
            return float(1.0 / X.shape[1] if self.gamma == "auto" else self.gamma)
        variance = float(X.multiply(X).mean() - X.mean() ** 2 if sparse.issparse(X) else X.var())
        return float(1.0 / (X.shape[1] * variance)) if variance > 0 else 1.0

    def _checks(self) -> dict[str, Any]:
        return {"accept_sparse": "csr" if self.kernel != "precomputed" else False, "dtype": np.float64, "order": "C"}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.input_tags.pairwise = self.kernel == "precomputed"
        tags.input_tags.sparse = self.kernel != "precomputed"
        return tags


def _is_number(value: Any, above: float = -math.inf) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool) and above < float(value) < math.inf
