"""What a device does for kernel machines, and which device a name stands for.

The rounds, the stopping rule and the certificate are written once, in NumPy (`outputcodes.learners.kernel.on_device`);
a back end holds the large arrays and does the work on them. `cuda` is the only one; tests have another in NumPy.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from outputcodes._ground.user_warnings import warn_user
from outputcodes._kernel_machines.kernel_function import Kernel

Rows = NDArray[np.intp]
Array = NDArray[np.float64]
DEVICES = ("cpu", "cuda", "auto")
INSTALL = "install outputcodes[gpu], or from a clone '.[gpu]', or for an older driver 'cupy-cuda12x[ctk]'"
# Kernels whose values a device computes; it also takes precomputed ones.
DEVICE_KERNELS = ("linear", "rbf", "poly", "sigmoid")


class DeviceError(OSError):
    """A GPU that was asked for can't be used, or fails; the argument says why."""

    @property
    def reason(self) -> str:
        """Why, in a few words."""
        return str(self.args[0])

    def __str__(self) -> str:
        return f"device='cuda': {self.reason}; or use device='cpu'."


@dataclass(frozen=True)
class PosedColumns:
    """Columns to be solved on `rows` of a Gram matrix, with classes y.

    The size of the box of row i in column j is cost[y_i, j] · weight_i. `start` (L, n) holds feasible β to start from,
    or is None for 0. `free_bias` is the constraint Σβ = 0; `offset` is added to every kernel value.
    """

    rows: Rows
    y: Rows
    M: NDArray[np.int8]
    cost: Array
    weight: Array
    start: Array | None
    free_bias: bool
    offset: float


class DeviceColumns(Protocol):
    """Columns on the rows of a Gram matrix: β, its bounds and the gradients e = t − (K + offset)β, all (L, n)."""

    def ends(self) -> Array:
        """Return (L, 2): the largest e that may grow and the smallest that may shrink in each column."""

    def improve(self, active: Rows, tol: Array, max_steps: int) -> None:
        """Solve some columns on a working set of their own, to their part of `tol` (L,), and update e."""

    def steps(self) -> Rows:
        """Return the number of steps of each column, up to the last call of `ends`, (L,)."""

    def refresh(self) -> None:
        """Compute e from scratch, in float64."""

    def free(self) -> Array:
        """Return (2, L): the sum of e over the rows whose β is between its bounds, and their number."""

    def posed_beta(self) -> Array:
        """Return β of the posed rows, (L, n)."""

    def support(self) -> tuple[Rows, Rows, Array]:
        """Return the rows of the Gram matrix with β ≠ 0, the column of each, in order, and β."""


class DeviceGram(Protocol):
    """The Gram matrix of the training rows on a device, and what the estimators ask of it."""

    device: Device
    kernel: Kernel
    n: int

    @property
    def shape(self) -> tuple[int, int]:
        """The shape of X."""

    @property
    def diag(self) -> Array:
        """K(x, x) of each row."""

    @property
    def given(self) -> Any:
        """X as it was passed in."""

    def anchors(self, rows: Rows) -> Any:
        """Return the `anchors` argument of `Kernel.block` for some rows, here or on the device."""

    def room(self) -> int:
        """Return how many rows the largest Gram matrix has that the device has memory for."""

    def columns_at_once(self) -> int:
        """Return how many columns the device has memory for beside the Gram matrix."""

    def release(self) -> None:
        """Allow the Gram matrix of another kernel, made `like` this one, to take its memory."""

    def part(self, rows: Rows) -> DeviceGram:
        """Return the Gram matrix of some rows."""

    def columns(self, posed: PosedColumns, e: Array | None = None) -> DeviceColumns:
        """Return columns to be solved; `e` (L, n) are gradients to start from, which other rows have a share in."""

    def expand(self, rows: Rows, support: Rows, beta: Array, bias: Array) -> Array:
        """Return (len(rows), L) values Σ_i β_ij K(x_i, x) + b_j at training rows; β (S, L) belongs to `support`."""


class Device(Protocol):
    """A device: it makes Gram matrices, and evaluates expansions at new rows."""

    def failure(self, error: Exception) -> str | None:
        """Return what happened if the error is the device's own, such as too little memory, else None."""

    def gram(self, kernel: Callable[[Any], Kernel], X: Any, like: Any) -> DeviceGram:
        """Return the Gram matrix of X; `like` is an earlier one, whose parts may be used again."""

    def expand_new(self, kernel: Kernel, X: Any, anchors: Any, beta: Array, bias: Array) -> Array:
        """Return (n, L) values of expansions at new rows, whose support vectors are `anchors`."""


@cache
def _looked_for() -> Device | DeviceError:
    """Return the GPU, or why there is none; what was not found is not looked for again."""
    try:
        device: Device = import_module("outputcodes._kernel_machines.device.cuda").connect()
    except ModuleNotFoundError:
        return DeviceError(f"CuPy is not installed: {INSTALL}")
    except ImportError as error:
        return DeviceError(f"CuPy lacks a part of the CUDA Toolkit ({' '.join(str(error).split())}): {INSTALL}")
    except DeviceError as error:
        return error
    return device


def _cuda() -> Device:
    """Return the GPU, or raise DeviceError."""
    found = _looked_for()
    if isinstance(found, DeviceError):
        raise DeviceError(found.reason)
    return found


def say_cpu(reason: str, who: str = "device='auto'") -> None:
    """Warn, once per line of the user's code, that the CPU does the work."""
    warn_user(f"{who} uses the CPU: {reason}.")


@contextmanager
def named_failures(device: Device) -> Iterator[None]:
    """Turn the device's own errors into a DeviceError."""
    try:
        yield
    except Exception as error:
        if (reason := device.failure(error)) is None:
            raise
        raise DeviceError(reason) from error


def check_device(device: Any) -> None:
    """Raise ValueError for a name that is no device."""
    if device not in DEVICES:
        raise ValueError(f"device={device!r} must be 'cpu', 'cuda' or 'auto'.")


def present_device(device: str) -> Device | None:
    """Return the device of a name, or None where there is none: what was trained on it also predicts without it."""
    try:
        return None if device == "cpu" else _cuda()
    except DeviceError:
        return None


def as_device(device: str) -> Device | None:
    """Return the device of a name, or None for the CPU; "auto" is the CPU where there is no other, with a warning."""
    if device == "cpu":
        return None
    try:
        return _cuda()
    except DeviceError as error:
        if device == "cuda":
            raise
        say_cpu(error.reason)
        return None
