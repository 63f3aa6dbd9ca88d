"""Linear support vector machines for every column of a code at once."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import numpy as np
import scipy.sparse

from outputcodes._ground.blocks import threads
from outputcodes._ground.drawn_code import AnyCode
from outputcodes._ground.planning import Planning
from outputcodes._ground.stored_rows import StoredRows
from outputcodes._ground.tree_code import TreeCode
from outputcodes.learners.linear.base import (
    Array,
    FittedLinear,
    LinearData,
    LinearLearner,
    Rows,
    check_positive,
)
from outputcodes.learners.linear.descent import DualDescent
from outputcodes.learners.linear.implicit_steps import ImplicitSteps
from outputcodes.learners.linear.multipliers import minimise_hinge
from outputcodes.learners.linear.newton import JointNewton
from outputcodes.learners.linear.node_descent import solve_tree
from outputcodes.learners.linear.node_solver import Settings
from outputcodes.learners.linear.products import cut
from outputcodes.learners.linear.rotation import Intercept
from outputcodes.learners.linear.sparse_columns import FittedSparseLinear, without_small_weights
from outputcodes.learners.shared import effective_rows, warn_unless_converged
from outputcodes.losses import Loss, as_loss, softened_hinge

# What "auto" drops, and the margin from which a row is confused with a wrong child; both were chosen on a tenth of the
# training rows of two data sets of text.
PRUNE, CONFUSED = 0.05, -0.5
# Dense X is trained by Newton steps on all columns of a tree code together if it has at most so many entries.
LARGEST_DENSE = 1 << 25
# On batches, the hinge is quadratic from 1 − 1/s to 1.
STREAM_SHARPNESS = 4.0


class LinearSVM(LinearLearner):
    """Linear support vector machine as in LIBLINEAR, for every column of a code at once.

    Column j minimises ½(‖w‖² + u²) + C Σ_i v_i ℓ(t_i (w·x_i + b)) with b = u·intercept_scaling: u is the coefficient of
    a constant feature, penalised like any other. Margins are w·x + b.

    Parameters
    ----------
    C : float, default=1.0
        The weight of the losses relative to the penalty.
    loss : {"squared-hinge", "hinge"}, default="squared-hinge"
        ℓ(z) = max(0, 1 - z)², or max(0, 1 - z).
    fit_intercept : bool, default=True
        Whether there is an intercept.
    intercept_scaling : float, default=1.0
        The value of the constant feature; the larger, the less the intercept is penalised.
    tol : float or "auto", default="auto"
        A column has converged when its duality gap is at most this fraction of its objective. "auto" is 1e-4, and for
        the columns of a tree code, which need no such accuracy, eight epochs; their gaps are reported all the same.
    max_iter : int, default=1000
        The maximal number of Newton steps (dense X) or epochs (sparse X).
    prune : float, "auto" or None, default="auto"
        Drop weight j of a column where |w_j| times the root mean square of feature j's non-zero values is smaller. The
        columns are then a sparse matrix of float32, and `columns_.fitted.pruned` of the classifier reports what was
        dropped. "auto" is 0.05 for tree codes and for one-vs-all with more than 1,000 columns, on sparse X, and
        otherwise None: nothing is dropped.
    negatives : {"matched", "own"}, default="matched"
        The negative examples of a node in a tree code: "matched" adds to the rows below the node those that the node
        above it confuses with them, where their margin is above -0.5; "own" does not.

    Attributes
    ----------
    classes_ : ndarray, shape (2,)
    coef_, intercept_ : ndarrays, shapes (1, d) and (1,)
        `decision_function` is X @ coef_.T + intercept_.
    columns_ : FittedLinear
        With `columns_.coef` (d, 1) and `columns_.intercept` (1,).
    n_iter_ : int
        Newton steps or epochs taken.

    Notes
    -----
    Dense X: joint Newton steps as in `Logistic`; the hinge by a series of smooth problems. Sparse X: dual coordinate
    descent that updates an example in all columns together, without copying X; columns with few rows, such as those of
    all-pairs, are trained on a temporary copy of these rows. Both methods give the same result within the tolerance.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from outputcodes import OutputCodeClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = OutputCodeClassifier(LinearSVM(), code="one-vs-all", decoder="squared-hinge").fit(X, y)
    >>> model.margins(X).shape
    (150, 3)
    """

    planning = Planning(cost=40)
    warm_starts: ClassVar[bool] = True
    shares_rows: ClassVar[bool] = True
    path = ("C",)
    exact_parameters: ClassVar[dict[str, Any]] = {"tol": 1e-15, "max_iter": 100_000}

    loss: str

    def __init__(
        self,
        C: float = 1.0,
        loss: str = "squared-hinge",
        fit_intercept: bool = True,
        intercept_scaling: float = 1.0,
        tol: float | Literal["auto"] = "auto",
        max_iter: int = 1000,
        prune: float | Literal["auto"] | None = "auto",
        negatives: Literal["matched", "own"] = "matched",
    ) -> None:
        self.C = C
        self.loss = loss
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.tol = tol
        self.max_iter = max_iter
        self.prune = prune
        self.negatives = negatives

    @property
    def joins_folds(self) -> bool:
        """Whether several folds cost less as the columns of one training; what is pruned depends on the rows."""
        return self.prune is None or self.prune == "auto"

    def trains_nodes(self, data: LinearData, code: AnyCode) -> bool:
        """Return whether a tree code is trained node by node: on sparse X, and where its matrix would be large."""
        if not isinstance(code, TreeCode) or isinstance(data.X, StoredRows):
            return False
        return scipy.sparse.issparse(data.X) or code.shape[0] * code.shape[1] > LARGEST_DENSE

    def fit_columns(
        self,
        data: LinearData,
        y: Rows,
        M: AnyCode,
        weight: Array | None = None,
        column_weight: Array | None = None,
        *,
        rows: Rows | None = None,
        init: Any = None,
        n_jobs: int | None = None,
        seed: int = 0,
    ) -> FittedLinear | FittedSparseLinear:
        """Train every column of M; `seed` determines the order of the examples (sparse X)."""
        self._check_parameters()
        if isinstance(M, TreeCode) and column_weight is None and self.trains_nodes(data, M):
            return self._fit_nodes(data, y, M, weight, rows, n_jobs, seed)
        M = np.asarray(M)
        if not isinstance(data.X, StoredRows) and data.X.dtype != np.float64:
            data = LinearData(data.X.astype(np.float64), data.intercept, data.rotation)
        tol = 1e-4 if self.tol == "auto" else self.tol
        data, rows = self._own(data), effective_rows(y, M, weight, rows)
        signs, cost = M.astype(np.float64), self._costs(y, M, column_weight, rows)
        squared, start = self.loss == "squared-hinge", self._start(data, init, M.shape[1])
        with threads(n_jobs) as run:
            if not scipy.sparse.issparse(data.X):
                blocks = cut(data.stored, y, cost > 0, weight, rows, run)
                if squared:
                    newton = JointNewton(data, blocks, signs, cost, start, as_loss(self.loss))
                    theta, certificate = newton.minimise(tol, self.max_iter)
                else:
                    theta, certificate = minimise_hinge(data, blocks, signs, cost, start, tol, self.max_iter)
            else:
                descent = DualDescent(data, y, weight, rows, as_loss(self.loss), run)
                # For the hinge α is not determined where margins are 1; measured, a warm start saves no epochs.
                warm = start if init is not None and squared else None
                theta, certificate = descent.minimise(signs, cost, warm, tol, self.max_iter, seed)
        warn_unless_converged(self, certificate)
        fitted = self._fitted(data, theta, certificate)
        if self.prune is None or self.prune == "auto":
            return fitted
        X = data.X.joined() if isinstance(data.X, StoredRows) else data.X
        return without_small_weights(fitted, X, rows, weight, float(self.prune))

    def stream(self, n_jobs: int | None = None, seed: int = 0) -> ImplicitSteps:
        """Return columns that learn from batches by implicit stochastic steps; the hinge is smoothed at its kink."""
        self._check_parameters()
        return ImplicitSteps(self, self._intercept(), 1.0, n_jobs, seed)

    @property
    def smooth_loss(self) -> Loss:
        """The loss of a score, with two derivatives."""
        return as_loss(self.loss) if self.loss == "squared-hinge" else softened_hinge(STREAM_SHARPNESS)

    def _fit_nodes(
        self, data: LinearData, y: Rows, code: TreeCode, weight: Array | None, rows: Rows | None, n_jobs: Any, seed: int
    ) -> FittedSparseLinear:
        rows = np.arange(len(y)) if rows is None else rows
        if weight is not None:
            rows = rows[weight[rows] > 0]
        settings = Settings(
            C=float(self.C),
            squared=self.loss == "squared-hinge",
            constant=self._intercept().constant,
            tol=None if self.tol == "auto" else float(self.tol),
            max_iter=self.max_iter,
            prune=PRUNE if self.prune == "auto" else float(self.prune or 0.0),
            confused=CONFUSED if self.negatives == "matched" else None,
        )
        X = data.X if scipy.sparse.issparse(data.X) else scipy.sparse.csr_array(data.X)
        with threads(n_jobs) as run:
            fitted = solve_tree(X, y, code, weight, rows, settings, run, seed)
        assert fitted.certificate is not None
        warn_unless_converged(self, fitted.certificate)
        return fitted

    def _checks(self) -> dict[str, Any]:
        # Tree codes are trained in single precision: X of that precision need not be copied.
        return {**super()._checks(), "dtype": [np.float64, np.float32]}

    def _as_features(self, X: Any) -> Any:
        X = super()._as_features(X)
        return X if scipy.sparse.issparse(X) else X.astype(np.float64, copy=False)

    def _intercept(self) -> Intercept:
        return Intercept(float(self.intercept_scaling) if self.fit_intercept else 0.0, penalised=True)

    def _check_parameters(self) -> None:
        for name in ("C", *(["tol"] if self.tol != "auto" else [])):
            check_positive(name, getattr(self, name))
        self._check_max_iter()
        if isinstance(self.prune, bool) or self.prune == 0:
            raise ValueError(f"prune={self.prune!r} must be a number greater than 0, 'auto', or None to drop nothing.")
        if self.prune not in (None, "auto"):
            check_positive("prune", self.prune)
        if self.negatives not in ("matched", "own"):
            raise ValueError(f"negatives={self.negatives!r} must be 'matched' or 'own'.")
        check_positive("intercept_scaling", self.intercept_scaling)
        if self.loss not in ("squared-hinge", "hinge"):
            raise ValueError(f"loss={self.loss!r} must be 'squared-hinge' or 'hinge'.")
