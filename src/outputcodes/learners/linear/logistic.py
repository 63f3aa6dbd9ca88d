"""Logistic regression for every column of a code at once."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import scipy.sparse

from outputcodes._ground.blocks import threads
from outputcodes._ground.drawn_code import AnyCode
from outputcodes._ground.planning import Planning
from outputcodes.learners.base import Certificate
from outputcodes.learners.linear.base import Array, FittedLinear, LinearData, LinearLearner, Rows
from outputcodes.learners.linear.descent import DualDescent
from outputcodes.learners.linear.implicit_steps import ImplicitSteps
from outputcodes.learners.linear.newton import JointNewton
from outputcodes.learners.linear.products import cut
from outputcodes.learners.linear.rotation import Intercept
from outputcodes.learners.shared import effective_rows, warn_unless_converged
from outputcodes.losses import Loss, as_loss

# The loss as a function of log-odds, log(1 + e^-z); the margins of the table are half of these.
LOSS = as_loss("logistic").scaled(0.5)
# Coordinate descent reduces the gap to NEAR in a dozen epochs; if it needs more than MOST_EPOCHS, Newton is faster.
NEAR = 1e-6
MOST_EPOCHS = 50
# Above this relative gap, Newton's method does not start from the result of coordinate descent.
FAR = 0.5


class Logistic(LinearLearner):
    """Logistic regression for every column of a code at once.

    Column j minimises ½‖w‖² + C Σ_i v_i log(1 + exp(-t_i (w·x_i + b))), as scikit-learn's LogisticRegression does; the
    intercept b is not penalised. Margins and `decision_function` are *half* the log-odds, (w·x + b)/2: the f of the
    library's logistic loss log(1 + e^(-2z)).

    Parameters
    ----------
    C : float, default=1.0
        The weight of the losses relative to the penalty.
    fit_intercept : bool, default=True
        Whether there is an intercept.
    tol : float, default=1e-4
        A column has converged when its duality gap is at most this fraction of its objective.
    max_iter : int, default=100
        The maximal number of Newton steps, and of epochs for sparse X.

    Attributes
    ----------
    classes_ : ndarray, shape (2,)
    coef_, intercept_ : ndarrays, shapes (1, d) and (1,)
        `decision_function` is X @ coef_.T + intercept_; half of the log-odds, as the margins are.
    columns_ : FittedLinear
        `columns_.coef` (d, 1) and `columns_.intercept` (1,) are in units of log-odds.
    n_iter_ : int
        Newton steps, or epochs, taken.

    Notes
    -----
    Dense X is rotated once into the eigenbasis of its Gram matrix (up to 2,000 features or rows), in which the Hessians
    of all columns are nearly diagonal: a few dozen products with X fit them all. This needs a copy of X in float32.
    Sparse X: dual coordinate descent that updates an example in all columns together. Newton steps finish the columns
    that it does not solve: those with a tolerance below 1e-6 or with strongly correlated features.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from outputcodes import OutputCodeClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = OutputCodeClassifier(Logistic(), code="one-vs-all", decoder="logistic").fit(X, y)
    >>> model.margins(X).shape
    (150, 3)
    """

    planning = Planning(quick=True, cost=20)
    loss = "logistic"
    warm_starts: ClassVar[bool] = True
    shares_rows: ClassVar[bool] = True
    joins_folds = True
    path = ("C",)
    exact_parameters: ClassVar[dict[str, Any]] = {"tol": 1e-16}

    def __init__(self, C: float = 1.0, fit_intercept: bool = True, tol: float = 1e-4, max_iter: int = 100) -> None:
        self.C = C
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.max_iter = max_iter

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
    ) -> FittedLinear:
        """Train every column of M; `seed` determines the order of the examples (sparse X)."""
        M = np.asarray(M)
        self._check_parameters()
        data, rows = self._own(data), effective_rows(y, M, weight, rows)
        signs, cost = M.astype(np.float64), self._costs(y, M, column_weight, rows)
        L = M.shape[1]
        theta = start = self._start(data, init, L)
        certificate = Certificate(np.full(L, np.inf), np.zeros(L, dtype=np.intp), np.zeros(L, dtype=bool))
        with threads(n_jobs) as run:
            # Coordinate descent visits rows in random order: of X in blocks, Newton's method reads one after another.
            if scipy.sparse.issparse(data.X):
                descent = DualDescent(data, y, weight, rows, LOSS, run)
                warm = None if init is None else theta
                epochs = min(self.max_iter, MOST_EPOCHS)
                theta, certificate = descent.minimise(signs, cost, warm, max(self.tol, NEAR), epochs, seed)
                # Far from the optimum, the w of the dual saturates the losses and can make Newton's method diverge.
                far = certificate.gap > FAR
                theta[:, far] = start[:, far]
            left = np.flatnonzero(certificate.gap > self.tol)
            if left.size:
                signs, cost = signs[:, left], cost[:, left]
                blocks = cut(data.stored, y, cost > 0, weight, rows, run)
                newton = JointNewton(data, blocks, signs, cost, theta[:, left], LOSS)
                theta[:, left], finished = newton.minimise(self.tol, self.max_iter)
                certificate.gap[left], certificate.converged[left] = finished.gap, finished.converged
                certificate.iterations[left] += finished.iterations
        warn_unless_converged(self, certificate)
        return self._fitted(data, theta, certificate, scale=0.5)

    def stream(self, n_jobs: int | None = None, seed: int = 0) -> ImplicitSteps:
        """Return columns that learn from batches by implicit stochastic steps."""
        self._check_parameters()
        return ImplicitSteps(self, self._intercept(), 0.5, n_jobs, seed)

    @property
    def smooth_loss(self) -> Loss:
        """The loss of a score, in units of log-odds."""
        return LOSS

    def _intercept(self) -> Intercept:
        return Intercept(float(bool(self.fit_intercept)), penalised=False)
