"""The trained columns of a code: those that a learner fitted, and those that are constant on the sample."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from outputcodes._ground.margins_on_demand import MarginsByBlock, MarginsOnDemand
from outputcodes._ground.row_sequence import RowBlocks
from outputcodes._ground.sizes import cut_margins
from outputcodes._ground.validation import n_rows_of, take_rows
from outputcodes.learners.base import FittedColumns

Rows = NDArray[np.intp]
Array = NDArray[np.float64]


class Columns:
    """The trained columns of a code.

    Attributes
    ----------
    fitted : FittedColumns or None
        The live columns, as the learner returned them; None if there are none.
    live : ndarray of bool, shape (L,)
        Which columns had both signs on the sample.
    constant : ndarray, shape (L,)
        The output of the other columns: the one sign they had, or 0 if they had no example.
    """

    def __init__(self, fitted: FittedColumns | None, live: NDArray[np.bool_], constant: Array) -> None:
        self.fitted = fitted
        self.live = live
        self.constant = constant

    @property
    def device(self) -> str:
        """Where the columns were trained: "cpu" or "cuda"."""
        return "cpu" if self.fitted is None else self.fitted.device

    def margins(self, X: Any, rows: Rows | None = None) -> Array:
        """Return (n, L) margins of new X, or of some rows of prepared data, cut at ±1e9."""
        if isinstance(X, RowBlocks):
            return np.concatenate([self.margins(block) for block in X if n_rows_of(block)])
        if self.fitted is None:
            return np.tile(self.constant, (n_rows_of(X) if rows is None else len(rows), 1))
        return self.with_constants(cut_margins(self.fitted.margins(X, rows)))

    def beyond(self, before: Columns, steps: float) -> Columns:
        """Return a guess of the columns farther along a path, which led here from `before`: where a training starts."""
        if self.fitted is None or before.fitted is None or not np.array_equal(self.live, before.live):
            return self
        return Columns(self.fitted.beyond(before.fitted, steps), self.live, self.constant)

    def on_demand(self, X: Any) -> MarginsOnDemand:
        """Return the margins of new X for a search that reads a part of them."""
        if isinstance(X, RowBlocks):
            X = X.joined()
        if self.fitted is not None and self.live.all():
            return self.fitted.on_demand(X)
        return MarginsByBlock(n_rows_of(X), lambda rows: self.margins(take_rows(X, np.arange(rows.start, rows.stop))))

    def staged_margins(self, X: Any) -> Iterator[Array]:
        """Yield the margins (n, L) of new X after each round; for columns that are trained in rounds."""
        return iter(()) if self.fitted is None else map(self.with_constants, self.fitted.staged_margins(X))

    def with_constants(self, live: Array) -> Array:
        """Return the margins of all columns, given those of the live ones."""
        if self.live.all():
            return live
        F = np.tile(self.constant, (len(live), 1))
        F[:, self.live] = live
        return F

    def coefficients(self) -> Array | None:
        """Return (L, d) weights of the features, 0 in constant columns; None unless all live columns are linear."""
        live = None if self.fitted is None else self.fitted.coefficients()
        if live is None or self.live.all():
            return live
        weights = np.zeros((len(self.live), live.shape[1]))
        weights[self.live] = live
        return weights

    def intercepts(self) -> Array:
        """Return (L,) margins of a row of zeros; for columns with `coefficients`."""
        intercepts = self.constant.copy()
        if self.fitted is not None:
            intercepts[self.live] = self.fitted.intercepts()
        return intercepts

    def feature_importances(self) -> Array | None:
        """Return (d,) shares of the features in the work of the live columns, or None if they are not known."""
        return None if self.fitted is None else self.fitted.feature_importances()

    def feature_parts(self, x: Array, direction: Array) -> Array | None:
        """Return (d,) what each feature of a row adds to its margins @ direction, or None if that is not known."""
        return None if self.fitted is None else self.fitted.feature_parts(x, direction[self.live])

    def dual(self) -> Array:
        """Return the dual variables (n, L) of the training rows, 0 in columns that were not trained."""
        if self.fitted is None:
            raise ValueError("No column of the code has both signs on the sample: there are no dual variables.")
        live = self.fitted.dual()
        if self.live.all():
            return live
        alpha = np.zeros((len(live), len(self.live)))
        alpha[:, self.live] = live
        return alpha


def warn_of_constant_columns(columns: Columns, stacklevel: int = 5, labels: bool = False) -> None:
    """Warn about columns of a trained code that return a constant; in a multilabel problem they are `labels`."""
    constant = np.flatnonzero(~columns.live)
    if constant.size:
        shown = ", ".join(map(str, constant[:10])) + (", …" if constant.size > 10 else "")
        what = (
            "labels are the same in all rows of this sample, and so in all predictions"
            if labels
            else "columns of the code have only one sign, or none, on this sample and return a constant"
        )
        warnings.warn(
            f"{constant.size} of {columns.live.size} {what}: {shown}.",
            UserWarning,
            stacklevel=stacklevel,
        )
