"""KernelSVM: support vector machines for every column of a code on one Gram matrix."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from outputcodes._ground.blocks import threads
from outputcodes._ground.drawn_code import AnyCode
from outputcodes._ground.planning import Planning, too_many_rows
from outputcodes._kernel_machines.parameters import KernelParameters
from outputcodes.learners.base import Certificate
from outputcodes.learners.kernel.columns import solve_columns
from outputcodes.learners.kernel.dual import Dual
from outputcodes.learners.kernel.fitted import FittedKernelColumns, KernelData
from outputcodes.learners.kernel.small import is_small
from outputcodes.learners.shared import SharedLearner, class_weights, effective_rows, warn_unless_converged

Rows = NDArray[np.intp]
Array = NDArray[np.float64]

FREE_BIAS = (
    "KernelSVM(bias='free'): the leave-one-out bound holds without a bias or with a folded one; with a free bias it "
    "is an estimate. Use bias='folded' for a bound."
)
INDEFINITE = (
    "The leave-one-out bound holds for positive semi-definite kernels; with kernel='sigmoid', and with 'poly' of a "
    "negative coef0 or a degree that is not whole, it is an estimate. Use another kernel for a bound."
)


class KernelSVM(KernelParameters, SharedLearner):
    """Support vector machines with a kernel, all columns of a code together.

    Column j minimises ½‖f‖² + Σ C_i max(0, 1 − t_i (f(x_i) + b)), C_i being C times the weight of example i. As
    `sklearn.svm.SVC` does for two classes, but kernel values are computed once for all columns, in training and in
    prediction, and columns advance together.

    Parameters
    ----------
    C : float, default=1.0
        What a unit of loss costs.
    kernel : {"rbf", "poly", "linear", "sigmoid", "precomputed"} or callable, default="rbf"
        A callable answers the (len(A), len(B)) values of kernel(A, B). "precomputed" takes the kernel values for X:
        of all pairs of examples in `fit`, of new examples with the training examples later.
    gamma : {"scale", "auto"} or float, default="scale"
        Of rbf exp(−γ‖x − z‖²), poly (γ x·z + coef0)^degree and sigmoid tanh(γ x·z + coef0); "scale" is
        1 / (n_features · X.var()), "auto" is 1 / n_features.
    degree, coef0 : float, default=3 and 0.0
        Of the kernels poly and sigmoid.
    bias : {"free", "folded", "none"} or False, default="free"
        An intercept that costs nothing, as in LIBSVM; one folded into the kernel, K + 1; or none.
    tol : float, default=1e-3
        Training stops when no pair of examples violates the optimality conditions by more.
    cache_size : float, default=2000
        Megabytes for the Gram matrix. Beyond it, its rows are computed anew when they are needed again.
    max_iter : int, default=10_000_000
        The largest number of steps for one column, each changing a pair of coefficients.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
    columns_ : the fitted column; `columns_.dual()` answers its dual variables
    n_iter_ : steps taken

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

    planning = Planning(quick=True, cost=30, unsuited=too_many_rows)
    loss = "hinge"
    takes_sparse: ClassVar[bool] = True
    warm_starts: ClassVar[bool] = True
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

    def prepare(self, X: Any, like: Any = None) -> KernelData:
        """X with its kernel, whose values are computed when columns ask for them and kept for all later ones.

        `like`, an earlier preparation of the same X, is used again if its kernel is the same, and else its distances
        or inner products are, if it has kept them.
        """
        self._check_parameters()
        # A translation changes no distance, and no linear SVM whose intercept is free.
        centred = self.kernel == "rbf" or (self.kernel == "linear" and self.bias == "free")
        return KernelData(self._gram(self._as_features(X), centred, None if like is None else like.gram))

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

        `init`, the same columns fitted on the same X, perhaps with other parameters or rows, gives the coefficients to
        start from, cut off at the new bounds.
        """
        M = np.asarray(M)
        self._check_parameters()
        given = np.arange(data.gram.n) if rows is None else rows
        seen = np.sort(effective_rows(y, M, weight, rows))
        cost = self.C * class_weights(M, column_weight)
        own = np.ones(len(seen)) if weight is None else weight[seen]
        if is_small(data.gram):
            # Sorted by class, the examples of a column lie side by side in memory.
            data.gram.arrange(y)
        with threads(n_jobs) as run:
            dual = Dual(
                data.gram, self.bias == "free", float(self.bias == "folded"), self.tol, max(1, int(self.max_iter)), run
            )
            start = None if init is None else init.start(data.gram.n, M, seen)
            columns = solve_columns(dual, seen, y[seen], M, cost, own, start)
        certificate = Certificate(columns.gap, columns.steps, columns.converged)
        warn_unless_converged(self, certificate)
        return FittedKernelColumns(data.gram, columns, y, cost > 0, given, certificate, n_jobs)

    def release(self, data: KernelData) -> None:
        """Let the next preparation that is made `like` this one take over the memory of its Gram matrix."""
        data.gram.release()

    def leave_one_out_doubt(self) -> str | None:
        """Return why the leave-one-out bound is only an estimate: with a free bias, or an indefinite kernel."""
        if self.bias == "free":
            return FREE_BIAS
        odd_power = self.kernel == "poly" and (self.coef0 < 0 or self.degree < 0 or self.degree % 1 != 0)
        return INDEFINITE if odd_power or self.kernel == "sigmoid" else None

    def self_kernel(self, data: KernelData, rows: Rows) -> Array:
        """Return K(x, x) of the rows, a folded bias included."""
        diag: Array = data.gram.diag[rows] + float(self.bias == "folded")
        return diag

    def flexibility(self, data: KernelData) -> tuple[float, ...]:
        """Return gamma, then C: the smallest is the smoothest."""
        return float(data.gram.kernel.gamma), float(self.C)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.bias is not False and self.bias not in ("free", "folded", "none"):
            raise ValueError(f"bias={self.bias!r} must be 'free', 'folded' or 'none'.")
