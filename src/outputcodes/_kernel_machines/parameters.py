"""Kernel parameters of estimators: validation, and construction of the kernel and its Gram matrix."""

from __future__ import annotations

import math
from collections.abc import Callable
from numbers import Real
from typing import Any, Literal

import numpy as np
from scipy import sparse

from outputcodes._kernel_machines.device.backend import Device, DeviceGram
from outputcodes._kernel_machines.gram import Gram
from outputcodes._kernel_machines.kernel_function import KERNELS, Kernel

# Up to EXACT_ROWS rows, or for tolerances below EXACT_TOL, kernel values are stored in float64, else in float32. With
# EXACT_FEATURES features too, as long as the matrix fits twice: values without rounding would take as long to compute
# again, at the end of each training, as all of them.
EXACT_ROWS, EXACT_TOL, EXACT_FEATURES = 4000, 1e-4, 256
# The smallest tolerance that kernel values in single precision allow.
DEVICE_TOL = 1e-5


class KernelParameters:
    """Mixin for estimators with the parameters of a kernel and of a solver on its Gram matrix."""

    kernel: str | Callable[[Any, Any], Any]
    C: float
    gamma: float | Literal["scale", "auto"]
    degree: float
    coef0: float
    tol: float
    cache_size: float
    max_iter: int

    def _checks(self) -> dict[str, Any]:
        """Return the arguments of `check_array` for X."""
        return {"accept_sparse": "csr" if self.kernel != "precomputed" else False, "dtype": np.float64, "order": "C"}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.input_tags.pairwise = self.kernel == "precomputed"
        tags.input_tags.sparse = self.kernel != "precomputed"
        return tags


def check_kernel_parameters(owner: KernelParameters) -> None:
    """Raise ValueError for invalid parameters of the kernel or the solver."""
    if not (callable(owner.kernel) or owner.kernel in KERNELS):
        raise ValueError(f"kernel={owner.kernel!r} must be one of {', '.join(KERNELS)}, or a callable kernel(A, B).")
    for name in ("C", "tol", "cache_size", "max_iter"):
        if not _is_number(value := getattr(owner, name), above=0):
            raise ValueError(f"{name}={value!r} must be a positive number.")
    check_polynomial(owner)
    if owner.gamma not in ("scale", "auto"):
        check_gamma(owner.gamma, "'scale', 'auto' or a positive number")


def check_gamma(gamma: Any, allowed: str) -> None:
    """Raise ValueError unless gamma is a positive number; `allowed` describes all that it may be."""
    if not _is_number(gamma, above=0):
        raise ValueError(f"gamma={gamma!r} must be {allowed}.")


def check_polynomial(owner: Any, least: float = -math.inf) -> None:
    """Raise ValueError unless `degree` and `coef0` are numbers of at least `least`."""
    for name in ("degree", "coef0"):
        if not (_is_number(value := getattr(owner, name)) and value >= least):
            allowed = "finite number" if least == -math.inf else f"number of at least {least:g}"
            raise ValueError(f"{name}={value!r} must be a {allowed}.")


def gram_of(owner: KernelParameters, X: Any, centred: bool, like: Gram | None = None) -> Gram:
    """Return the Gram matrix of the training rows; `like` is reused if it is the same.

    Dense features are `centred` where this changes only the rounding: distances keep more digits.
    """
    _check_square(owner, X)
    centred = centred and not sparse.issparse(X)
    known = like is not None and like.given is X and centred == (like.kernel.centre is not None)
    centre = like.kernel.centre if like is not None and known else X.mean(axis=0) if centred else None
    gamma = gamma_of(owner.gamma, X)
    kernel = Kernel(owner.kernel, gamma, owner.degree, owner.coef0, centre)
    n, d = X.shape
    many = d >= EXACT_FEATURES and not sparse.issparse(X) and 16 * n**2 <= owner.cache_size * 2**20
    dtype = np.float64 if n <= EXACT_ROWS or owner.tol < EXACT_TOL or many else np.float32
    features = like.X if like is not None and known else kernel.features(X)
    if like is not None and like.serves(kernel, features, dtype, owner.cache_size):
        return like.reclaimed()
    return Gram(kernel, features, dtype, owner.cache_size, like)


def gamma_of(gamma: float | Literal["scale", "auto"], X: Any) -> float:
    """Return the gamma of a sample as a number."""
    return _gamma(gamma, X.shape[1], lambda: _variance(X))


def beyond_devices(owner: KernelParameters) -> str | None:
    """Return why no device can train with these parameters, or None."""
    if callable(owner.kernel):
        return "kernel is a Python function, which a GPU can't run: use a named kernel, or device='cpu'"
    if owner.tol < DEVICE_TOL:
        return (
            f"tol={owner.tol!r} is below {DEVICE_TOL}, and kernel values on a GPU are in single precision: raise tol, "
            "or use device='cpu'"
        )
    return None


def device_gram_of(owner: KernelParameters, device: Device, X: Any, centred: bool, like: Any = None) -> DeviceGram:
    """Return the Gram matrix of the training rows on a device; `like` is an earlier one there, or None."""
    if len(X.shape) != 2:
        raise ValueError(f"X must have two dimensions, rows and features; its shape is {tuple(X.shape)}.")
    _check_square(owner, X)

    def kernel(features: Any) -> Kernel:
        centre = features.mean() if centred else None
        gamma = _gamma(owner.gamma, X.shape[1], features.variance)
        return Kernel(owner.kernel, gamma, owner.degree, owner.coef0, centre)

    return device.gram(kernel, X, None if isinstance(like, Gram) else like)


def _check_square(owner: KernelParameters, X: Any) -> None:
    if owner.kernel == "precomputed" and X.shape[0] != X.shape[1]:
        raise ValueError(f"kernel='precomputed' needs a square X in fit; its shape is {X.shape}.")


def _gamma(gamma: float | Literal["scale", "auto"], d: int, variance: Callable[[], float]) -> float:
    if gamma != "scale":
        return float(1.0 / d if gamma == "auto" else gamma)
    spread = variance()
    return float(1.0 / (d * spread)) if spread > 0 else 1.0


def _variance(X: Any) -> float:
    return float(X.multiply(X).mean() - X.mean() ** 2 if sparse.issparse(X) else X.var())


def _is_number(value: Any, above: float = -math.inf) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool) and above < float(value) < math.inf
