"""Columns that learn from one batch of rows after another: what a learner returns that can do so."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from outputcodes.learners.base import FittedColumns
from outputcodes.learners.trained_columns import Columns

Rows = NDArray[np.intp]
Array = NDArray[np.float64]
Matrix = NDArray[np.int8]


class Stream:
    """The columns of a code that may grow: later batches may come with more rows and columns of the code.

    A learner that can learn from batches returns one from `Learner.stream`.
    """

    def check(self, X: Any) -> None:
        """Raise ValueError for a batch that can't follow those before; by default, any can."""
        return

    def add(self, X: Any, y: Rows, M: Matrix, weight: Array | None, column_weight: Array) -> None:
        """Learn from a batch: rows X of the classes y, which are row numbers of the code M (k, L).

        Example i has the weight weight[i]·column_weight[y_i, j] in column j, and 0 where M[y_i, j] is 0.
        """
        raise NotImplementedError

    def columns(self, M: Matrix, column_weight: Array, live: Rows) -> FittedColumns:
        """Return some columns of the code as they are now: those of which both signs were seen."""
        raise NotImplementedError

    def trained(self, M: Matrix, column_weight: Array, seen: NDArray[np.bool_]) -> Columns:
        """Return all columns of the code; those that lack a sign among the classes `seen` are constant."""
        positive, negative = (M[seen] > 0).any(axis=0), (M[seen] < 0).any(axis=0)
        live: NDArray[np.bool_] = np.asarray(positive & negative)
        constant = np.where(live, 0.0, positive.astype(float) - negative.astype(float))
        if not live.any():
            return Columns(None, live, constant)
        solve = partial(self.columns, M, column_weight, np.flatnonzero(live))
        return Columns(ColumnsWhenNeeded(solve), live, constant)


class ColumnsWhenNeeded(FittedColumns):
    """Columns that are computed when they are first used: a batch need not pay for a solution that nobody reads."""

    def __init__(self, solve: Callable[[], FittedColumns]) -> None:
        self._solve: Callable[[], FittedColumns] | None = solve
        self._solved: FittedColumns | None = None

    @property
    def solved(self) -> FittedColumns:
        """The columns themselves."""
        if self._solved is None:
            assert self._solve is not None
            self._solved, self._solve = self._solve(), None
            self.certificate, self.signs_only = self._solved.certificate, self._solved.signs_only
        return self._solved

    def margins(self, X: Any, rows: Rows | None = None) -> Array:
        """Return (n, L) margins of new X."""
        return self.solved.margins(X, rows)

    def coefficients(self) -> Array | None:
        """Return (L, d) weights of the features, if the columns are linear."""
        return self.solved.coefficients()

    def intercepts(self) -> Array:
        """Return (L,) intercepts of linear columns."""
        return self.solved.intercepts()

    def feature_importances(self) -> Array | None:
        """Return (d,) shares of the features, where they are known."""
        return self.solved.feature_importances()

    def loss_after_fit(self, declared: str | None) -> str | None:
        """Return the margin loss of the columns; only foreign estimators show it once they are fitted."""
        return self.solved.loss_after_fit(declared) if declared is None else declared

    def __getstate__(self) -> dict[str, Any]:
        # A saved model has the solution, not the method that would find it.
        _ = self.solved
        return vars(self)

    def __getattr__(self, name: str) -> Any:
        # What the columns have beyond the capabilities of all, such as `coef` or `estimators`.
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self.solved, name)
