"""Linear support vector machines for every column of a code at once."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import scipy.sparse

from outputcodes._ground.blocks import threads
from outputcodes._ground.drawn_code import AnyCode
from outputcodes._ground.planning import Planning
from outputcodes.learners.linear.base import (
    Array,
    FittedLinear,
    Intercept,
    LinearData,
    LinearLearner,
    Rows,
    check_positive,
)
from outputcodes.learners.linear.descent import DualDescent
from outputcodes.learners.linear.multipliers import minimise_hinge
from outputcodes.learners.linear.newton import JointNewton
from outputcodes.learners.linear.products import blocks_of
from outputcodes.learners.shared import effective_rows, warn_unless_converged
from outputcodes.losses import as_loss


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
    tol : float, default=1e-4
        A column has converged when its duality gap is at most this fraction of its objective.
    max_iter : int, default=1000
        The maximal number of Newton steps (dense X) or epochs (sparse X).

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
        tol: float = 1e-4,
        max_iter: int = 1000,
    ) -> None:
        self.C = C
        self.loss = loss
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
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
        squared, start = self.loss == "squared-hinge", self._start(data, init, M.shape[1])
        with threads(n_jobs) as run:
            if not scipy.sparse.issparse(data.X):
                blocks = blocks_of(data, y, cost > 0, weight, rows)
                if squared:
                    newton = JointNewton(data, blocks, signs, cost, start, as_loss(self.loss), run)
                    theta, certificate = newton.minimise(self.tol, self.max_iter)
                else:
                    theta, certificate = minimise_hinge(data, blocks, signs, cost, start, run, self.tol, self.max_iter)
            else:
                descent = DualDescent(data, y, weight, rows, as_loss(self.loss), run)
                # For the hinge α is not determined where margins are 1; measured, a warm start saves no epochs.
                warm = start if init is not None and squared else None
                theta, certificate = descent.minimise(signs, cost, warm, self.tol, self.max_iter, seed)
        warn_unless_converged(self, certificate)
        return self._fitted(data, theta, certificate)

    def _intercept(self) -> Intercept:
        return Intercept(float(self.intercept_scaling) if self.fit_intercept else 0.0, penalised=True)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_positive("intercept_scaling", self.intercept_scaling)
        if self.loss not in ("squared-hinge", "hinge"):
            raise ValueError(f"loss={self.loss!r} must be 'squared-hinge' or 'hinge'.")
