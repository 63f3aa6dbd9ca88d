"""KernelSVM: support vector machines for every column of a code on one Gram matrix."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import Any, ClassVar, Literal, cast

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils import check_array

from outputcodes._ground.blocks import threads
from outputcodes._ground.drawn_code import AnyCode
from outputcodes._ground.planning import Planning, first_reason, many_classes, too_many_rows_without_a_gpu
from outputcodes._ground.validation import is_on_device, take_rows
from outputcodes._kernel_machines.device.backend import (
    Device,
    DeviceError,
    DeviceGram,
    PosedColumns,
    as_device,
    check_device,
    named_failures,
    say_cpu,
)
from outputcodes._kernel_machines.gram import Gram
from outputcodes._kernel_machines.parameters import (
    KernelParameters,
    beyond_devices,
    check_kernel_parameters,
    device_gram_of,
    gamma_of,
    gram_of,
)
from outputcodes.learners.base import Certificate
from outputcodes.learners.kernel.columns import boxes, check_sides, solve_columns
from outputcodes.learners.kernel.dual import Dual, SolvedColumns
from outputcodes.learners.kernel.fitted import FittedKernelColumns, KernelData
from outputcodes.learners.kernel.known import Bounded
from outputcodes.learners.kernel.on_device import solve_on_device
from outputcodes.learners.kernel.small import is_small
from outputcodes.learners.shared import SharedLearner, effective_rows, warn_unless_converged

Rows = NDArray[np.intp]
Array = NDArray[np.float64]

FREE_BIAS = (
    "KernelSVM(bias='free'): the leave-one-out bound holds without a bias or with a folded bias; with a free bias it "
    "is an estimate. Use bias='folded' for a bound."
)
INDEFINITE = (
    "The leave-one-out bound holds for positive semi-definite kernels; with kernel='sigmoid', or with 'poly' and a "
    "negative coef0, a negative degree or a non-integer degree, it is an estimate. Use another kernel for a bound."
)


class KernelSVM(KernelParameters, SharedLearner):
    """Kernel support vector machines, trained for all columns of a code together.

    Column j minimises ½‖f‖² + Σ C_i max(0, 1 − t_i (f(x_i) + b)), where C_i is C times the weight of example i. This is
    the problem that `sklearn.svm.SVC` solves for two classes, but kernel values are computed once for all columns, in
    training and in prediction, and the columns are solved together.

    Parameters
    ----------
    C : float, default=1.0
        The cost of a unit of loss; smaller values regularize more strongly.
    kernel : {"rbf", "poly", "linear", "sigmoid", "precomputed"} or callable, default="rbf"
        A callable kernel(A, B) returns an array of shape (len(A), len(B)). With "precomputed", X holds kernel values:
        between all pairs of training examples in `fit`, and between new and training examples in prediction.
    gamma : {"scale", "auto"} or float, default="scale"
        The γ of rbf exp(−γ‖x − z‖²), poly (γ x·z + coef0)^degree and sigmoid tanh(γ x·z + coef0). "scale" is
        1 / (n_features · X.var()), "auto" is 1 / n_features.
    degree, coef0 : float, default=3 and 0.0
        Parameters of the poly and sigmoid kernels; sigmoid ignores `degree`.
    bias : {"free", "folded", "none"} or False, default="free"
        An unregularized intercept, as in LIBSVM; an intercept folded into the kernel, K + 1; or none.
    tol : float, default=1e-3
        Training stops when no pair of examples violates the optimality conditions by more than this.
    cache_size : float, default=2000
        Size of the Gram matrix cache in megabytes. Rows that do not fit are recomputed when needed.
    max_iter : int, default=10_000_000
        The maximum number of steps per column. Each step changes a pair of coefficients.
    device : {"cpu", "cuda", "auto"}, default="cpu"
        Where to train: "cuda" is a GPU, which needs CuPy (the extra "gpu"); "auto" is a GPU if there is one that can do
        the work, else the CPU, with a warning; `columns_.device` says which. Predictions are computed there too, or on
        the CPU where there is none.
        On a GPU, `tol` is at least 1e-5, the kernel has a name, and `cache_size` is not used.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
    columns_ : the fitted column; `columns_.dual()` returns its dual variables
    n_iter_ : the number of steps

    Examples
    --------
    >>> from outputcodes import OutputCodeClassifier
    >>> from outputcodes.learners.kernel.kernel_svm import KernelSVM
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = OutputCodeClassifier(KernelSVM(C=10, gamma=0.5), code="one-vs-all").fit(X, y)
    >>> model.predict(X[[0, 60, 120]])
    array([0, 1, 2])
    """

    planning = Planning(quick=True, cost=30, unsuited=first_reason(too_many_rows_without_a_gpu, many_classes))
    loss = "hinge"
    takes_sparse: ClassVar[bool] = True
    multiplies_features: ClassVar[bool] = True
    warm_starts: ClassVar[bool] = True
    shares_rows: ClassVar[bool] = True
    path = ("gamma", "-C")
    exact_parameters: ClassVar[dict[str, Any]] = {"tol": 1e-8}
    leave_one_out = "bound"

    def __init__(
        self,
        C: float = 1.0,
        kernel: str | Callable[[Any, Any], Any] = "rbf",
        gamma: float | Literal["scale", "auto"] = "scale",
        degree: float = 3,
        coef0: float = 0.0,
        bias: Literal["free", "folded", "none", False] = "free",
        tol: float = 1e-3,
        cache_size: float = 2000,
        max_iter: int = 10_000_000,
        device: Literal["cpu", "cuda", "auto"] = "cpu",
    ) -> None:
        self.C = C
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.bias = bias
        self.tol = tol
        self.cache_size = cache_size
        self.max_iter = max_iter
        self.device = device

    @property
    def checks_finite(self) -> bool:
        """Whether `prepare` refuses NaN and infinite numbers itself: on a device, where that is faster."""
        return self.device != "cpu"

    @property
    def votes_on_pairs(self) -> bool:
        """Whether all pairs are decoded by votes if no decoder is named: with an rbf kernel."""
        return self.kernel == "rbf"

    def settled(self, X: Any, rows: Rows) -> KernelSVM:
        """Return the SVM with gamma as "scale" sets it for some rows."""
        if self.gamma != "scale" or is_on_device(X):
            return self
        some = check_array(take_rows(X, rows), accept_sparse="csr", dtype=np.float64)
        settled: KernelSVM = clone(self).set_params(gamma=gamma_of("scale", some))
        return settled

    def prepare(self, X: Any, like: Any = None) -> KernelData:
        """Return X with its kernel; kernel values are computed when first needed and kept for later columns.

        `like`, an earlier preparation of the same X, is reused if its kernel is the same. Otherwise, its distances or
        inner products are reused if it has kept them.
        """
        self._check_parameters()
        # Translation changes neither distances nor a linear SVM with a free intercept.
        centred = self.kernel == "rbf" or (self.kernel == "linear" and self.bias == "free")
        known, device = None if like is None else like.gram, self._device()
        if device is not None:
            # The device looks for infinite and huge numbers, and converts the others.
            kinds = {"dtype": [np.float64, np.float32], "ensure_all_finite": False}
            X = X if is_on_device(X) else check_array(X, **(self._checks() | kinds))
            try:
                with named_failures(device):
                    return KernelData(device_gram_of(self, device, X, centred, known))
            except DeviceError as error:
                self._allow_cpu(error, X)
        known = known if isinstance(known, Gram) else None
        # What was checked once is not checked again.
        gram = gram_of(self, X if known is not None and known.given is X else self._as_features(X), centred, known)
        gram.given = X
        return KernelData(gram)

    def foresee(self, data: KernelData, parts: Sequence[Rows], y: Rows) -> None:
        """Let the kernel values of the rows of a part be neighbours, so that held-out margins need no copies."""
        if isinstance(data.gram, Gram):
            data.gram.keep_together(parts, y)

    def fit_columns(
        self,
        data: KernelData,
        y: Rows,
        M: AnyCode,
        weight: Array | None = None,
        column_weight: Array | None = None,
        *,
        rows: Rows | None = None,
        init: FittedKernelColumns | None = None,
        n_jobs: int | None = None,
        seed: int = 0,
    ) -> FittedKernelColumns:
        """Solve the dual of every column.

        `init`, the same columns fitted on the same X, possibly with other parameters or rows, provides the starting
        coefficients, which are clipped to the new bounds. Columns that it has solved already are taken over.
        """
        M = np.asarray(M)
        self._check_parameters()
        given = np.arange(data.gram.n) if rows is None else rows
        seen = np.sort(effective_rows(y, M, weight, rows))
        own = np.ones(len(seen)) if weight is None else weight[seen]
        gram = data.gram
        # Boosters change their weights in place.
        by_column = None if column_weight is None else np.array(column_weight)
        problem = Bounded(gram.kernel, self.bias, seen, y, M, self.C, by_column, own)
        known = np.zeros(M.shape[1], dtype=bool) if init is None else init.solves(gram.n, problem, self.tol)
        try:
            with nullcontext() if isinstance(gram, Gram) else named_failures(gram.device):
                if init is None or not known.any():
                    start = None if init is None else init.beta(seen)
                    columns = self._solve(gram, seen, y, M, problem.cost, own, start, n_jobs)
                elif known.all():
                    columns = init.beside(known, None)
                else:
                    rest, start = problem.cost[:, ~known], init.beta(seen, ~known)
                    columns = init.beside(known, self._solve(gram, seen, y, M[:, ~known], rest, own, start, n_jobs))
                certificate = Certificate(columns.gap, columns.steps, columns.converged)
                fitted = FittedKernelColumns(gram, columns, problem, given, certificate, n_jobs)
        except DeviceError as error:
            X = cast(DeviceGram, gram).given
            self._allow_cpu(error, X)
            here: KernelSVM = clone(self).set_params(device="cpu")
            how: dict[str, Any] = {"rows": rows, "init": init, "n_jobs": n_jobs, "seed": seed}
            return here.fit_columns(here.prepare(X), y, M, weight, column_weight, **how)
        warn_unless_converged(self, certificate)
        return fitted

    def _solve(
        self,
        gram: Gram | DeviceGram,
        rows: Rows,
        y: Rows,
        M: NDArray[np.int8],
        cost: Array,
        weight: Array,
        start: Array | None,
        n_jobs: int | None,
    ) -> SolvedColumns:
        """Solve every column on some rows, where the Gram matrix is."""
        free, offset, most = self.bias == "free", float(self.bias == "folded"), max(1, int(self.max_iter))
        if not isinstance(gram, Gram):
            check_sides(y[rows], M, cost)
            if start is not None:
                few = np.flatnonzero(start.any(axis=0))
                start[:, few] = boxes(M, cost, y[rows[few]], weight[few], start[:, few], free)[1][0]
            posed = PosedColumns(rows, y[rows], M, cost, weight, start, free, offset)
            return solve_on_device(gram, posed, self.tol, most)
        if is_small(gram, len(rows)) or gram.foreseen:
            # Sorting by class makes the examples of a column contiguous in memory.
            gram.arrange(y)
        with threads(n_jobs) as run:
            dual = Dual(gram, free, offset, self.tol, most, run)
            return solve_columns(dual, rows, y[rows], M, cost, weight, start)

    def _device(self) -> Device | None:
        """Return the device, or None for the CPU, which "auto" is where a device can't do what is asked for."""
        reason = None if self.device == "cpu" else beyond_devices(self)
        if reason is None:
            return as_device(self.device)
        if self.device == "cuda":
            raise ValueError(f"{reason}.")
        say_cpu(reason)
        return None

    def _allow_cpu(self, error: DeviceError, X: Any) -> None:
        """Go on if "auto" may train on the CPU after a device has failed: X must be here."""
        if self.device != "auto" or is_on_device(X):
            raise error
        say_cpu(error.reason)

    def release(self, data: KernelData) -> None:
        """Allow the next preparation made `like` this one to reuse the memory of its Gram matrix."""
        data.gram.release()

    def leave_one_out_doubt(self) -> str | None:
        """Return why the leave-one-out bound is only an estimate (a free bias or an indefinite kernel), or None."""
        if self.bias == "free":
            return FREE_BIAS
        odd_power = self.kernel == "poly" and (self.coef0 < 0 or self.degree < 0 or self.degree % 1 != 0)
        return INDEFINITE if odd_power or self.kernel == "sigmoid" else None

    def self_kernel(self, data: KernelData, rows: Rows) -> Array:
        """Return K(x, x) of the rows, including a folded bias."""
        diag: Array = data.gram.diag[rows] + float(self.bias == "folded")
        return diag

    def flexibility(self, data: KernelData) -> tuple[float, ...]:
        """Return (gamma, C); the smallest gives the smoothest model."""
        return float(data.gram.kernel.gamma), float(self.C)

    def _check_parameters(self) -> None:
        check_kernel_parameters(self)
        check_device(self.device)
        if self.bias is not False and self.bias not in ("free", "folded", "none"):
            raise ValueError(f"bias={self.bias!r} must be 'free', 'folded' or 'none'.")
