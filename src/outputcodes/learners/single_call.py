"""The single-call reduction: one training run on pairs ((x, column), sign) instead of one run per column."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import get_tags

from outputcodes._ground.drawn_code import AnyCode
from outputcodes._ground.validation import n_rows_of, take_rows
from outputcodes.learners.base import FittedColumns, Learner
from outputcodes.learners.per_column import FittedPerColumn, PerColumn, rows_of_params

Rows = NDArray[np.intp]
Array = NDArray[np.float64]


class SingleCall(Learner, BaseEstimator):
    """One estimator for all columns, trained on x followed by the one-hot index s of the column, with label M(y, s).

    A linear learner then has one weight vector for all columns, which differ only by an offset; boosted stumps in this
    form are AdaBoost.MO. The estimator is trained on up to n·L rows.

    Parameters
    ----------
    learner : PerColumn
        The estimator, and how its output becomes margins.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from outputcodes import OutputCodeClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> tree = DecisionTreeClassifier(max_depth=6, random_state=0)
    >>> OutputCodeClassifier(tree, variant="single-call").fit(X, y).score(X, y) > 0.9
    True
    """

    joint: ClassVar[bool] = True

    def __init__(self, learner: PerColumn) -> None:
        self.learner = learner

    @property
    def loss(self) -> str | None:  # type: ignore[override]
        """The margin loss of the one estimator."""
        return self.learner.loss

    @property
    def estimators(self) -> list[Any]:
        """The one estimator."""
        return self.learner.estimators

    def prepare(self, X: Any, like: Any = None) -> Any:
        """Return X as numbers, dense or csr."""
        if get_tags(self.learner.estimator).input_tags.pairwise:
            raise ValueError("variant='single-call' can't add columns to a precomputed kernel; use 'multi-call'.")
        X = X.tocsr() if sp.issparse(X) else np.asarray(X)
        if X.ndim != 2:
            raise ValueError(
                "variant='single-call' adds columns to a table of numbers, but X is none; use 'multi-call'."
            )
        return X

    def for_rows(self, rows: Rows, n_rows: int) -> SingleCall:
        """Return the learner with its fit parameters cut to some rows."""
        return SingleCall(self.learner.for_rows(rows, n_rows))

    def fit_columns(
        self,
        data: Any,
        y: Rows,
        M: AnyCode,
        weight: Array | None = None,
        column_weight: Array | None = None,
        *,
        rows: Rows | None = None,
        init: Any = None,
        n_jobs: int | None = None,
        seed: int = 0,
    ) -> FittedSingleCall:
        """Stack all pairs (i, s) with M[y_i, s] ≠ 0, column after column, and train once."""
        M = np.asarray(M)
        rows = np.arange(len(y)) if rows is None else rows
        i, s = np.nonzero(M[y[rows]])
        order = np.argsort(s, kind="stable")
        i, s = rows[i[order]], s[order]
        signs = (M[y[i], s] > 0).astype(np.intp)
        if weight is not None or column_weight is not None:
            total = np.ones(len(i)) if weight is None else weight[i]
            weight = total if column_weight is None else total * column_weight[y[i], s]
        one_problem = np.array([[-1], [+1]], dtype=np.int8)
        params = {"fit_params": rows_of_params(self.learner.fit_params, len(y), i)}
        fitted = PerColumn(**{**self.learner.get_params(deep=False), **params}).fit_columns(
            with_column(take_rows(data, i), s, M.shape[1]),
            signs,
            one_problem,
            weight,
            n_jobs=n_jobs,
            seed=seed,
        )
        return FittedSingleCall(fitted, M.shape[1])


class FittedSingleCall(FittedColumns):
    """The fitted estimator, called once per column.

    Attributes
    ----------
    fitted : FittedPerColumn
        Holds the single estimator.
    n_columns : int
    """

    def __init__(self, fitted: FittedPerColumn, n_columns: int) -> None:
        self.fitted = fitted
        self.loss = fitted.loss
        self.signs_only = fitted.signs_only
        self.n_columns = n_columns

    def loss_after_fit(self, declared: str | None) -> str | None:
        """Return the loss of the fitted estimator."""
        return self.loss

    def coefficients(self) -> Array | None:
        """Return (L, d) weights of the features, the same in all columns, if the estimator is linear."""
        weights = self.fitted.coefficients()
        return None if weights is None else np.tile(weights[:, : -self.n_columns], (self.n_columns, 1))

    def intercepts(self) -> Array:
        """Return (L,) intercepts of a linear estimator: its own plus the weight of each column's index."""
        weights = self.fitted.coefficients()
        assert weights is not None
        offsets: Array = self.fitted.intercepts() + weights[0, -self.n_columns :]
        return offsets

    def feature_importances(self) -> Array | None:
        """Return the estimator's importances of the features, (d,), without those of the column's index."""
        found = self.fitted.feature_importances()
        if found is None:
            return None
        whole = found[: -self.n_columns].sum()
        return found[: -self.n_columns] / (whole or 1.0)

    def margins(self, X: Any, rows: Rows | None = None) -> Array:
        """Return (n, L) margins of X, or of some of its rows."""
        X = take_rows(X, rows)
        X = X.tocsr() if sp.issparse(X) else np.asarray(X)
        F = np.empty((n_rows_of(X), self.n_columns))
        for s in range(self.n_columns):
            F[:, s] = self.fitted.margins(with_column(X, np.full(len(F), s), self.n_columns))[:, 0]
        return F


def with_column(X: Any, s: Rows, n_columns: int) -> Any:
    """Return X with the one-hot index of the column appended to each row."""
    if sp.issparse(X):
        # Indices of X's own type: many estimators reject 64-bit ones.
        places = s.astype(X.indices.dtype), np.arange(len(s) + 1, dtype=X.indptr.dtype)
        one_hot = sp.csr_array((np.ones(len(s)), *places), shape=(len(s), n_columns))
        return sp.hstack([X, one_hot], format="csr")
    return np.hstack([X, np.eye(n_columns)[s]])
