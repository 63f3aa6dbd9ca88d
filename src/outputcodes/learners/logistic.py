"""Logistic regression for every column of a code at once."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from outputcodes._blocks import threads
from outputcodes.learners._linear import Array, FittedLinear, Intercept, LinearData, LinearLearner, Rows
from outputcodes.learners._newton import JointNewton, logistic
from outputcodes.learners._products import blocks_of
from outputcodes.learners.shared import effective_rows, warn_unless_converged


class Logistic(LinearLearner):
    """Logistic regression, every column of a code in joint Newton steps.

    Column j minimises ½‖w‖² + C Σ_i v_i log(1 + exp(-t_i (w·x_i + b))), as scikit-learn's LogisticRegression does; the
    intercept b is not penalised. Its margins, `decision_function` included, are *half* the log-odds, (w·x + b)/2, as
    they are the f of the library's logistic loss log(1 + e^(-2z)).

    Parameters
    ----------
    C : float, default=1.0
        What the losses weigh against the penalty.
    fit_intercept : bool, default=True
        Whether there is an intercept.
    tol : float, default=1e-4
        A column is done when its duality gap is at most this share of its objective.
    max_iter : int, default=100
        The largest number of Newton steps.

    Attributes
    ----------
    classes_ : ndarray, shape (2,)
    columns_ : FittedLinear
        `columns_.coef` (d, 1) and `columns_.intercept` (1,) are in units of log-odds.
    n_iter_ : int
        Newton steps taken.

    Notes
    -----
    Dense X is turned once into the eigenbasis of its Gram matrix (up to 2,000 features or rows), in which the Hessians
    of all columns are nearly diagonal: a few dozen products with X fit them all. That costs a copy of X in float32.
    Sparse X is used as it is.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from outputcodes import OutputCodeClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = OutputCodeClassifier(Logistic(), code="one-vs-all", decoder="logistic").fit(X, y)
    >>> model.margins(X).shape
    (150, 3)
    """

    loss: ClassVar[str] = "logistic"

    def __init__(self, C: float = 1.0, fit_intercept: bool = True, tol: float = 1e-4, max_iter: int = 100) -> None:
        self.C = C
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.max_iter = max_iter

    def fit_columns(
        self,
        data: LinearData,
        y: Rows,
        M: NDArray[np.int8],
        weight: Array | None = None,
        column_weight: Array | None = None,
        *,
        rows: Rows | None = None,
        init: Any = None,
        n_jobs: int | None = None,
        seed: int = 0,
    ) -> FittedLinear:
        """Train every column of M; nothing is drawn at random."""
        self._check_parameters()
        data, rows = self._own(data), effective_rows(y, M, weight, rows)
        signs, cost = M.astype(np.float64), self._costs(y, M, column_weight, rows)
        start = self._start(data, init, M.shape[1])
        with threads(n_jobs) as run:
            blocks = blocks_of(data, y, cost > 0, weight, rows)
            newton = JointNewton(data, blocks, signs, cost, start, logistic, run)
            theta, certificate = newton.minimise(self.tol, self.max_iter)
        warn_unless_converged(self, certificate)
        return self._fitted(data, theta, certificate, scale=0.5)

    def _intercept(self) -> Intercept:
        return Intercept(float(bool(self.fit_intercept)), penalised=False)
