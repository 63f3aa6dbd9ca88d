"""Fitted columns of boosted stumps: sums of stumps, evaluated feature by feature from tables."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_array

from outputcodes._ground.blocks import row_blocks
from outputcodes._ground.stored_rows import StoredRows
from outputcodes._histograms.binned_blocks import BinnedBlocks
from outputcodes._histograms.binning import Binned
from outputcodes._histograms.importances import shares
from outputcodes.learners.base import Certificate, FittedColumns

Rows = NDArray[np.intp]
Array = NDArray[np.float64]

# Columns whose tables are built together, so that their thresholds are searched once.
COLUMNS_PER_TABLE = 64


class FittedStumps(FittedColumns):
    """Boosted columns.

    Attributes
    ----------
    feature, threshold, left, right : ndarray of shape (T, L)
        The stump of column s in round t returns left[t, s] where x[feature] <= threshold (== for a categorical
        feature), right[t, s] elsewhere, and 0 where the value is missing. Rounds that a column did not keep return 0.
    n_rounds : ndarray of shape (L,)
        Rounds kept.
    stopped : ndarray of bool, shape (L,)
        Columns that further rounds would not change.
    categorical : ndarray of bool, shape (d,)
    certificate : Certificate
        gap = mean exponential loss on the training rows, iterations = rounds kept.
    """

    certificate: Certificate | None

    def __init__(
        self,
        feature: NDArray[np.int64],
        threshold: Array,
        left: Array,
        right: Array,
        n_rounds: NDArray[np.int64],
        stopped: NDArray[np.bool_],
        categorical: NDArray[np.bool_],
        certificate: Certificate | None,
    ) -> None:
        self.feature = feature
        self.threshold = threshold
        self.left = left
        self.right = right
        self.n_rounds = n_rounds
        self.stopped = stopped
        self.categorical = categorical
        self.certificate = certificate

    def margins(self, X: Any, rows: Rows | None = None) -> Array:
        """Return (n, L) margins of X, or of some rows of prepared data; the cost does not grow with the rounds."""
        if isinstance(X, BinnedBlocks | StoredRows):
            stored = X.stored if isinstance(X, BinnedBlocks) else X
            return stored.each_row(rows, self.feature.shape[1], self._sums)
        return self._sums(self._features(X, rows))

    def _sums(self, X: Array) -> Array:
        L = self.feature.shape[1]
        F = np.zeros((X.shape[0], L))
        sides = self.summable()
        for first in range(0, L, COLUMNS_PER_TABLE):
            columns = slice(first, first + COLUMNS_PER_TABLE)
            for f in np.unique(self.feature[:, columns]):
                questions, table = self._table(int(f), columns, sides)
                for block in row_blocks(X.shape[0], table.shape[1]):
                    F[block, columns] += table[_answers(X[block, f], questions, bool(self.categorical[f]))]
        return F

    def feature_importances(self) -> Array:
        """Return (d,): how much tests of each feature change the margins, Σ |left − right|, as shares of the whole.

        For one column of discrete stumps these are the shares of the coefficients α, as in scikit-learn's AdaBoost.
        """
        change = np.where(np.isneginf(self.threshold), 0.0, np.abs(self.left - self.right))
        total: Array = np.bincount(self.feature.ravel(), change.ravel(), len(self.categorical)).astype(np.float64)
        return shares(total)

    def feature_parts(self, x: Array, direction: Array) -> Array:
        """Return (d,) the sum of the outputs of the stumps on each feature, weighted by the directions of columns."""
        value = x[self.feature]
        on_left = np.where(self.categorical[self.feature], value == self.threshold, value <= self.threshold)
        outputs = np.where(np.isnan(value), 0.0, np.where(on_left, self.left, self.right)) * direction
        # A constant stump tests no feature.
        outputs[np.isneginf(self.threshold)] = 0.0
        total: Array = np.bincount(self.feature.ravel(), outputs.ravel(), len(self.categorical)).astype(np.float64)
        return total

    def first_rounds(self, n_rounds: int) -> FittedStumps:
        """Return the columns after their first rounds."""
        return self.truncated(n_rounds)

    def truncated(self, n_rounds: int) -> FittedStumps:
        """Return the first rounds, to continue from; without a certificate, as their loss is not known."""
        return FittedStumps(
            self.feature[:n_rounds],
            self.threshold[:n_rounds],
            self.left[:n_rounds],
            self.right[:n_rounds],
            np.minimum(self.n_rounds, n_rounds),
            self.stopped & (self.n_rounds <= n_rounds),
            self.categorical,
            None,
        )

    def staged_margins(self, X: Any) -> Iterator[Array]:
        """Yield the margins of X after each round."""
        X = self._features(X)
        F = np.zeros((X.shape[0], self.feature.shape[1]))
        for feature, threshold, left, right in zip(self.feature, self.threshold, *self.summable(), strict=True):
            x = X[:, feature]
            on_left = np.where(self.categorical[feature], x == threshold, x <= threshold)
            F += np.where(np.isnan(x), 0.0, np.where(on_left, left, right))
            yield F.copy()

    def _features(self, X: Any, rows: Rows | None = None) -> Array:
        if isinstance(X, Binned):
            features: Array = X.X if rows is None else X.X[rows]
            return features
        checked: Array = check_array(X, dtype=np.float64, ensure_all_finite="allow-nan")
        if checked.shape[1] != len(self.categorical):
            raise ValueError(
                f"X has {checked.shape[1]} features, but the stumps were trained on {len(self.categorical)}."
            )
        return checked if rows is None else checked[rows]

    def summable(self) -> tuple[Array, Array]:
        """Return `left` and `right` rounded to multiples of a power of two, so that sums over a column are exact.

        Margins then don't depend on the order of summation: tables and the last round agree, ties included.
        """
        largest = np.maximum(np.abs(self.left), np.abs(self.right)).sum(axis=0)
        unit = np.exp2(np.frexp(largest)[1] - 50.0)
        return np.rint(self.left / unit) * unit, np.rint(self.right / unit) * unit

    def _table(self, f: int, columns: slice, sides: tuple[Array, Array]) -> tuple[Array, Array]:
        """Return the thresholds of all stumps on feature f, and the sum of their outputs for each interval.

        Row p is for values above p of the thresholds. For a categorical feature it is for the p-th value, the last row
        but one for all other values. The last row is for missing values.
        """
        t, s = np.nonzero(self.feature[:, columns] == f)
        questions, place = np.unique(self.threshold[:, columns][t, s], return_inverse=True)
        n, width = len(questions), self.feature[0, columns].size
        flat = place * width + s
        left, right = (np.bincount(flat, answers[:, columns][t, s], n * width).reshape(n, width) for answers in sides)
        table = np.zeros((n + 2, width))
        if self.categorical[f]:
            table[:n] = left - right
            table[: n + 1] += right.sum(axis=0)
        else:
            table[:n] = np.cumsum(left[::-1], axis=0)[::-1]
            table[1 : n + 1] += np.cumsum(right, axis=0)
        return questions, table


def _answers(x: Array, questions: Array, categorical: bool) -> Rows:
    """Return the row of the table for each value."""
    place = np.searchsorted(questions, x)
    if categorical:
        place[questions[np.minimum(place, len(questions) - 1)] != x] = len(questions)
    place[np.isnan(x)] = len(questions) + 1
    return place
