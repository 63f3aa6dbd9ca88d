"""The GPU as a back end, by CuPy and the functions of kernels.cu.

Kernel values are stored in float32. They are made of inner products on tensor cores: every number is split into two
parts that keep 22 of its 24 bits, and the product of the two small parts is left out; small products are added first.
β and the gradients are float64, and so are all kernel values in `refresh` and in expansions.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from copy import copy
from importlib.resources import files
from typing import Any

import cupy as cp
import numpy as np
from cupy.cuda import cublas
from numpy.typing import NDArray
from scipy import sparse

from outputcodes._ground.sizes import LARGEST_FEATURE, refuse_huge
from outputcodes._kernel_machines.device.backend import INSTALL, DeviceError, PosedColumns
from outputcodes._kernel_machines.device.cuda_columns import CudaColumns, blocks_of_values, bytes_per_column
from outputcodes._kernel_machines.kernel_function import Kernel, NonFiniteKernelError

Rows = NDArray[np.intp]
Array = NDArray[np.float64]

# Products of so many rows are computed by one call.
TILE = 8192
# The share of the whole memory that a Gram matrix takes at most, and that of the free memory, if this is less.
LARGEST_SHARE, MEMORY_SHARE = 0.75, 0.8
FAILURES = (
    cp.cuda.runtime.CUDARuntimeError,
    cp.cuda.driver.CUDADriverError,
    cublas.CUBLASError,
    cp.cuda.compiler.CompileException,
)
# Its instructions for the largest number of a warp.
LEAST_CAPABILITY = 80
KINDS = {"linear": 0, "rbf": 1, "poly": 2, "sigmoid": 3}
FUNCTIONS = ("find_ends", "join_ends", "choose_sets", "gather_sets", "descend", "subtract", "finish_tile")
_VALUES = {
    "linear": "v = g",
    "rbf": "double q = a + b - 2 * g; v = exp(-gamma * (q < 0 ? 0.0 : q))",
    "poly": "v = pow(gamma * g + coef0, degree)",
    "sigmoid": "v = tanh(gamma * g + coef0)",
}
_kernel_values = {
    name: cp.ElementwiseKernel(
        "float64 g, float64 a, float64 b, float64 gamma, float64 coef0, float64 degree",
        "float64 v",
        f"{body};",
        f"{name}_values",
    )
    for name, body in _VALUES.items()
}


def connect() -> Cuda:
    """Return the GPU, with its functions compiled, or raise DeviceError."""
    try:
        count = cp.cuda.runtime.getDeviceCount()
    except FAILURES as error:
        raise DeviceError(f"no GPU was found, or no driver that fits CuPy ({error}): check with nvidia-smi") from error
    if count == 0:
        raise DeviceError("no GPU was found: check with nvidia-smi")
    try:
        if int(cp.cuda.Device().compute_capability) < LEAST_CAPABILITY:
            raise DeviceError("the GPU is older than Ampere (compute capability 8.0): use a newer one")
        return Cuda()
    except (*FAILURES, RuntimeError, ImportError) as error:
        raise DeviceError(f"the GPU can't be used ({' '.join(str(error).split())}): {INSTALL}") from error


class Cuda:
    """One GPU."""

    def __init__(self) -> None:
        source = files(__package__).joinpath("kernels.cu").read_text()
        module = cp.RawModule(code=source, options=("-std=c++17",))
        self._copies: dict[int, tuple[Any, Any]] = {}
        self.functions = {name: module.get_function(name) for name in FUNCTIONS}

    def failure(self, error: Exception) -> str | None:
        """Return what happened if the error is the GPU's own, else None."""
        if isinstance(error, cp.cuda.memory.OutOfMemoryError):
            return "the GPU has too little memory: use fewer rows or columns"
        if isinstance(error, FAILURES):
            return "the GPU failed: start Python again"
        return None

    def launch(self, name: str, grid: tuple[int, ...], block: tuple[int, ...], *arguments: Any) -> None:
        """Run a function; Python's int and float become 32 bits, other numbers keep their type."""
        self.functions[name](grid, block, tuple(map(_argument, arguments)))

    def kept(self, array: Any) -> Any:
        """Return an array on the device, copied once as long as the original lives."""
        if isinstance(array, cp.ndarray):
            return array
        number = id(array)
        held = self._copies.get(number)
        if held is None or held[0]() is not array:
            forget = weakref.ref(array, lambda _: self._copies.pop(number, None))
            held = self._copies[number] = forget, _on_device(array)
        return held[1]

    def gram(self, kernel: Callable[[Any], Kernel], X: Any, like: CudaGram | None) -> CudaGram:
        """Return the Gram matrix of X; `kernel` makes the kernel of the features on the device."""
        features = like.features if like is not None and like.features.are(X) else Features(X)
        made = kernel(features)
        if like is None or like.features is not features:
            return CudaGram(self, made, features)
        if _same(like.kernel, made):
            like.released = False
            return like
        if like.released:
            like._store = None
        # A second kernel on the same features: more may come.
        features.keeps_products = True
        return CudaGram(self, made, features)

    def expand_new(self, kernel: Kernel, X: Any, anchors: Any, beta: Array, bias: Array) -> Array:
        """Return (n, L) values of expansions at new rows."""
        A, at, factors = _on_device(X), self.kept(anchors), cp.asarray(beta)
        centre = None if kernel.centre is None else cp.asarray(kernel.centre)
        F = cp.empty((len(A), len(bias)))
        for block in blocks_of_values(len(A), len(at)):
            own = A[block].astype(np.float64)
            F[block] = kernel_block(kernel, own if centre is None else own - centre, at) @ factors
        answer: Array = (F + cp.asarray(bias)).get()
        return answer


class Features:
    """X on the device, and the inner products of its rows if several kernels need them."""

    def __init__(self, X: Any) -> None:
        self.given, self.keeps_products = X, False
        self._products: dict[bool, Any] = {}
        self.X = _on_device(X)
        if not bool(cp.isfinite(self.X).all()):
            raise ValueError("Input X contains NaN or infinity.")
        if self.X.dtype == np.float64 and bool((cp.abs(self.X) > LARGEST_FEATURE).any()):
            refuse_huge(cp.asnumpy(self.X))

    def are(self, X: Any) -> bool:
        """Return whether these are the features of X."""
        return X is self.given or (
            type(X) is type(self.given) is np.ndarray and X.shape == self.given.shape and np.array_equal(X, self.given)
        )

    def part(self, rows: Rows, of_columns: bool) -> Features:
        """Return the features of some rows, or, if they are kernel values, those between these rows."""
        part, own = copy(self), cp.asarray(rows)
        part.given, part.X = None, self.X[own][:, own] if of_columns else self.X[own]
        part.keeps_products, part._products = False, {}
        return part

    def room_for_products(self, ld: int, centred: bool) -> tuple[Any, bool]:
        """Return room for the inner products of the rows, (n, ld), and whether they are there; None to keep nothing."""
        if centred in self._products:
            return self._products[centred], True
        if not self.keeps_products or 4 * len(self.X) * ld > MEMORY_SHARE * _free_bytes():
            return None, False
        return cp.empty((len(self.X), ld), np.float32), False

    def keep(self, products: Any, centred: bool) -> None:
        """Keep inner products that have been computed."""
        if products is not None:
            self._products = {centred: products}

    def mean(self) -> Array:
        """Return the mean of each feature."""
        mean: Array = self.X.mean(axis=0, dtype=np.float64).get()
        return mean

    def variance(self) -> float:
        """Return the variance of all numbers."""
        return float(self.X.var(dtype=np.float64))


class CudaGram:
    """The Gram matrix of the features, computed when it is first needed."""

    def __init__(self, device: Cuda, kernel: Kernel, features: Features) -> None:
        self.device, self.kernel, self.features = device, kernel, features
        self.n, self.shape = len(features.X), features.X.shape
        # Rows are padded to whole cache lines.
        self.ld = -(-self.n // 32) * 32
        self._store: Any = None
        self.released = False

    @property
    def given(self) -> Any:
        """X as it was passed in."""
        return self.features.given

    @property
    def diag(self) -> Array:
        """K(x, x) of each row."""
        if self.kernel.name == "precomputed":
            own: Array = self.features.X.diagonal().astype(np.float64).get()
            return own
        A = self._doubles()
        squares = (A * A).sum(axis=1)
        diag: Array = _values(self.kernel, squares, squares, squares).get()
        return diag

    def anchors(self, rows: Rows) -> Any:
        """Return the features of some rows as the kernel takes them, or the row numbers."""
        if self.kernel.name == "precomputed":
            return rows
        return self._doubles(rows)

    def room(self) -> int:
        """Return how many rows the largest Gram matrix has that the device has memory for."""
        if self._store is not None:
            return self.n
        # By the size of the memory, so that parts of the rows are the same every time, unless it is in use.
        size = min(LARGEST_SHARE * cp.cuda.runtime.memGetInfo()[1], MEMORY_SHARE * _free_bytes())
        return int((size / 4) ** 0.5)

    def columns_at_once(self) -> int:
        """Return how many columns the device has memory for beside the Gram matrix."""
        self.store()
        return max(1, int(MEMORY_SHARE * _free_bytes() / bytes_per_column(self.n)))

    def release(self) -> None:
        """Allow another kernel on the same features to take the memory of the Gram matrix."""
        self.released = True

    def part(self, rows: Rows) -> CudaGram:
        """Return the Gram matrix of some rows."""
        return CudaGram(self.device, self.kernel, self.features.part(rows, self.kernel.name == "precomputed"))

    def columns(self, posed: PosedColumns, e: Array | None = None) -> CudaColumns:
        """Return columns to be solved, from 0 or from gradients e of the posed rows."""
        return CudaColumns(self, posed, e)

    def expand(self, rows: Rows, support: Rows, beta: Array, bias: Array) -> Array:
        """Return (len(rows), L) values of expansions at training rows."""
        every = len(rows) == self.n and np.array_equal(rows, np.arange(self.n))
        f = self.product(support, cp.asarray(beta.T), None if every else rows)
        answer: Array = np.ascontiguousarray((f.T + cp.asarray(bias)).get())
        return answer

    def product(self, support: Rows, beta: Any, rows: Rows | None = None) -> Any:
        """Return Σ_i β_ji K(x_i, ·) in float64, (L, n), or at some rows; β (L, S) belongs to `support`."""
        if self.kernel.name == "precomputed":
            K = self.features.X[cp.asarray(support)]
            return beta @ (K if rows is None else K[:, cp.asarray(rows)]).astype(np.float64)
        if rows is None:
            return self._product_of_all(support, beta)
        B = self._doubles(rows)
        f = cp.zeros((len(beta), len(B)))
        for block in blocks_of_values(len(support), len(B)):
            f += beta[:, block] @ kernel_block(self.kernel, self._doubles(support[block]), B)
        return f

    def _product_of_all(self, support: Rows, beta: Any) -> Any:
        """Return the product at all rows: of two kernel values between rows of the support only one is computed."""
        S, other = len(support), np.ones(self.n, dtype=bool)
        other[support] = False
        order = np.concatenate([support, np.flatnonzero(other)])
        A, f = self._doubles(order), cp.zeros((len(beta), self.n))
        for block in blocks_of_values(S, self.n):
            first, stop = block.start, block.stop
            K = kernel_block(self.kernel, A[block], A[first:])
            f[:, first:] += beta[:, block] @ K
            f[:, block] += beta[:, stop:] @ K[:, stop - first : S - first].T
        sorted_f = cp.empty_like(f)
        sorted_f[:, cp.asarray(order)] = f
        return sorted_f

    def store(self) -> Any:
        """Return the kernel values in float32, (n, ld)."""
        if self._store is None:
            self._make_room()
            K, centred = cp.zeros((self.n, self.ld), np.float32), self.kernel.centre is not None
            if self.kernel.name == "precomputed":
                K[:, : self.n] = self.features.X
            else:
                products, known = self.features.room_for_products(self.ld, centred)
                self._fill(K, K if products is None else products, known)
                self.features.keep(products, centred)
            self._store = K
        return self._store

    def _fill(self, K: Any, products: Any, known: bool) -> None:
        """Compute kernel values from inner products, which are computed first unless they are known."""
        kernel, launch = self.kernel, self.device.launch
        X = self.features.X if kernel.centre is None else self.features.X - cp.asarray(kernel.centre)
        X = X.astype(np.float32, copy=False)
        norms = cp.einsum("ij,ij->i", X, X, dtype=np.float64).astype(np.float32)
        infinite = cp.zeros(1, np.int32)
        if not known:
            coarse = (X.view(np.uint32) & np.uint32(0xFFFFE000)).view(np.float32)
            fine = X - coarse
            left, right = cp.concatenate([fine, coarse, coarse], 1), cp.concatenate([coarse, fine, coarse], 1)
        for a in range(0, self.n, TILE):
            h = min(TILE, self.n - a)
            for b in range(0, a + 1, TILE):
                w = min(TILE, self.n - b)
                if not known:
                    _multiply(left[a : a + h], right[b : b + w], products, a * self.ld + b, self.ld)
                corner = (np.int64(number) for number in (self.ld, a, b, h, w))
                parameters = float(kernel.gamma), float(kernel.coef0), float(kernel.degree)
                grid = (-(-w // 32), -(-h // 32))
                kind, last = KINDS[str(kernel.name)], (norms, a != b, infinite)
                launch("finish_tile", grid, (32, 8), products, K, *corner, kind, *parameters, *last)
        if int(infinite[0]):
            raise NonFiniteKernelError

    def _make_room(self) -> None:
        """Give what the pool holds back to the device, if a large matrix would not fit beside it."""
        if 4 * self.n * self.ld > cp.cuda.runtime.memGetInfo()[0]:
            cp.get_default_memory_pool().free_all_blocks()

    def _doubles(self, rows: Rows | None = None) -> Any:
        """Return features as the kernel takes them, in float64."""
        X = self.features.X if rows is None else self.features.X[cp.asarray(rows)]
        X = X.astype(np.float64)
        return X if self.kernel.centre is None else X - cp.asarray(self.kernel.centre)


def _free_bytes() -> int:
    """Return the free memory of the device, with what CuPy keeps for later."""
    return int(cp.cuda.runtime.memGetInfo()[0] + cp.get_default_memory_pool().free_bytes())


def _argument(value: Any) -> Any:
    """Return an argument of a compiled function."""
    if isinstance(value, bool | int):
        return np.int32(value)
    return np.float32(value) if type(value) is float else value


def kernel_block(kernel: Kernel, A: Any, B: Any) -> Any:
    """Return (len(A), len(B)) kernel values in float64."""
    K = A @ B.T
    return _values(kernel, K, (A * A).sum(axis=1)[:, None], (B * B).sum(axis=1), K)


def _values(kernel: Kernel, g: Any, a: Any, b: Any, out: Any = None) -> Any:
    """Return kernel values from inner products and squared norms."""
    parameters = float(kernel.gamma), float(kernel.coef0), float(kernel.degree)
    function = _kernel_values[str(kernel.name)]
    return function(g, a, b, *parameters) if out is None else function(g, a, b, *parameters, out)


def _on_device(X: Any) -> Any:
    """Return X as a dense array of floats on the device; what is there already is taken as it is."""
    if sparse.issparse(X):
        X = X.toarray()
    X = cp.from_dlpack(X) if hasattr(X, "__dlpack__") and not isinstance(X, np.ndarray | cp.ndarray) else cp.asarray(X)
    return cp.ascontiguousarray(X if X.dtype in (np.float32, np.float64) else X.astype(np.float64))


def _multiply(A: Any, B: Any, K: Any, at: int, ld: int) -> None:
    """Write A Bᵀ, computed by tensor cores, to K from place `at` on, whose rows are `ld` apart."""
    one, zero = np.ones(1, np.float32), np.zeros(1, np.float32)
    handle = cp.cuda.device.get_cublas_handle()
    (h, d), w, real = A.shape, len(B), 0  # CUDA_R_32F
    # cuBLAS stores matrices by columns: the transposed product is computed.
    cublas.gemmEx(
        handle,
        cublas.CUBLAS_OP_T,
        cublas.CUBLAS_OP_N,
        w,
        h,
        d,
        one.ctypes.data,
        B.data.ptr,
        real,
        d,
        A.data.ptr,
        real,
        d,
        zero.ctypes.data,
        K.data.ptr + 4 * at,
        real,
        ld,
        cublas.CUBLAS_COMPUTE_32F_FAST_TF32,
        -1,
    )


def _same(a: Kernel, b: Kernel) -> bool:
    mine, other = ((k.name, k.gamma, k.degree, k.coef0) for k in (a, b))
    return mine == other and (a.centre is None) == (b.centre is None)
