"""Linear columns with few weights each, kept as a sparse matrix of float32, whose margins are computed on demand."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse
from numba import njit
from numpy.typing import NDArray
from sklearn.utils import check_array

from outputcodes._ground.blocks import row_blocks
from outputcodes._ground.drawn_code import MOST_ENTRIES
from outputcodes._ground.margins_on_demand import MarginsOnDemand
from outputcodes._ground.sizes import is_huge, linear_scores
from outputcodes._ground.user_warnings import warn_user
from outputcodes._ground.validation import take_rows
from outputcodes.learners.base import Certificate, FittedColumns
from outputcodes.learners.linear.base import FittedLinear, LinearData

Array = NDArray[np.float64]
Rows = NDArray[np.intp]

# Sums of products with such features stay finite in single precision.
LARGEST_SINGLE_FEATURE = 1e15


@dataclass(frozen=True)
class Pruned:
    """What `prune` dropped.

    Attributes
    ----------
    limit : float
        Weights whose size, times the root mean square of the feature's values, is smaller were dropped.
    dropped, left : int
        Numbers of weights other than 0.
    changed, rows : int
        How many rows of the training were changed, and how many there are: with a tree code, the rows for which another
        child than before has the largest margin, summed over the nodes; otherwise the rows with a margin of another
        sign.
    """

    limit: float
    dropped: int
    left: int
    changed: int
    rows: int

    def warn_if_nothing_is_left(self) -> None:
        """Warn if every weight was dropped: all rows then have the same margins."""
        if self.dropped and not self.left:
            warn_user(
                f"prune={self.limit:g} dropped all {self.dropped} weights, so that all rows have the same margins: "
                "lower it, or use prune=None."
            )

    def __repr__(self) -> str:
        weights = f"{self.dropped} of {self.dropped + self.left} weights dropped"
        return f"Pruned(limit={self.limit:g}: {weights}, {self.changed} of {self.rows} rows changed)"


class FittedSparseLinear(FittedColumns):
    """Trained linear columns: margins are X @ weights + intercept.

    Attributes
    ----------
    weights : csr_array of float32, shape (d, L)
    intercept : ndarray of float32, shape (L,)
    certificate : Certificate
        Of the columns before weights were dropped: the duality gap divided by the objective.
    pruned : Pruned
    """

    certificate: Certificate | None

    def __init__(
        self, weights: scipy.sparse.csr_array, intercept: NDArray[np.float32], certificate: Certificate, pruned: Pruned
    ) -> None:
        self.weights, self.intercept = weights, intercept
        self.certificate, self.pruned = certificate, pruned
        pruned.warn_if_nothing_is_left()

    def margins(self, X: Any, rows: Rows | None = None) -> Array:
        """Return (n, L) margins of X, or of some of its rows; X may be the prepared data."""
        X = take_rows(_features(X, rows), rows)
        if X.shape[0] * self.weights.shape[1] > MOST_ENTRIES:
            raise ValueError(
                f"The margins of {X.shape[0]} rows in {self.weights.shape[1]} columns are too many for one array; "
                "use predict or predict_topk, which compute those that they need."
            )
        if scipy.sparse.issparse(X) and not is_huge(X):
            F: Array = (X @ self.weights.astype(np.float64)).toarray()
            F += self.intercept
            return F
        return linear_scores(X, self.weights.toarray().astype(np.float64), self.intercept.astype(np.float64))

    def on_demand(self, X: Any) -> MarginsOnDemand:
        """Return the margins of X, each computed when it is needed."""
        X = scipy.sparse.csr_array(_features(X, None))
        if X.nnz and max(X.data.max(), -X.data.min()) > LARGEST_SINGLE_FEATURE:
            return super().on_demand(X)
        return _SparseMargins(self, X)

    def coefficients(self) -> Array | None:
        """Return (L, d) weights of the features in the margins; None if they are too many for an array."""
        d, L = self.weights.shape
        return self.weights.toarray().astype(np.float64).T if d * L <= MOST_ENTRIES >> 3 else None

    def intercepts(self) -> Array:
        """Return (L,) intercepts of the margins."""
        return self.intercept.astype(np.float64)


def feature_scale(X: Any, rows: Rows, weight: Array | None) -> Array:
    """Return the root mean square of the non-zero values of each feature in some rows of X, dense or csr.

    A weight counts as a row that is there so many times.

    >>> feature_scale(np.array([[3.0, 0], [4, 2], [9, 9]]), np.array([0, 1]), np.array([1.0, 3.0, 5.0]))
    array([3.77491722, 2.        ])
    """
    X = X if len(rows) == X.shape[0] and np.array_equal(rows, np.arange(len(rows))) else X[rows]
    mass = None if weight is None else weight[rows]
    if scipy.sparse.issparse(X):
        times = None if mass is None else np.repeat(mass, np.diff(X.indptr))
        squares = np.square(X.data, dtype=np.float64) if times is None else times * np.square(X.data, dtype=np.float64)
        count = np.bincount(X.indices, weights=times, minlength=X.shape[1])
        squares = np.bincount(X.indices, weights=squares, minlength=X.shape[1])
    else:
        mass = np.ones(len(X)) if mass is None else mass
        count, squares = mass @ (X != 0), np.einsum("i,ij,ij->j", mass, X, X)
    scale: Array = np.sqrt(squares / np.where(count > 0, count, 1))
    return scale


def without_small_weights(
    fitted: FittedLinear, X: Any, rows: Rows, weight: Array | None, prune: float
) -> FittedSparseLinear:
    """Return linear columns as sparse ones, without the weights that `prune` drops."""
    scale = feature_scale(X, rows, weight)
    weights = np.where(np.abs(fitted.coef) * scale[:, None] < prune, 0.0, fitted.coef)
    left, dropped = np.count_nonzero(weights), np.count_nonzero(fitted.coef) - np.count_nonzero(weights)
    changed = 0
    for block in row_blocks(len(rows), weights.shape[1]):
        some = X[rows[block]]
        before, after = some @ fitted.coef + fitted.intercept > 0, some @ weights + fitted.intercept > 0
        changed += int(np.count_nonzero((before != after).any(axis=1)))
    assert fitted.certificate is not None
    return FittedSparseLinear(
        scipy.sparse.csr_array(weights.astype(np.float32)),
        fitted.intercept.astype(np.float32),
        fitted.certificate,
        Pruned(prune, int(dropped), int(left), changed, len(rows)),
    )


def _features(X: Any, rows: Rows | None) -> Any:
    if isinstance(X, LinearData):
        return X.X
    return check_array(X, accept_sparse="csr", dtype=[np.float64, np.float32]) if rows is None else X


class _SparseMargins(MarginsOnDemand):
    """Reads the weights of a range of columns for the features of a row."""

    def __init__(self, columns: FittedSparseLinear, X: Any) -> None:
        self.columns, self.X, self.n_rows = columns, X, X.shape[0]

    def of(self, rows: Rows, first: Rows, count: Rows) -> NDArray[np.float32]:
        """Return the margins of each row in its range of columns, one after the other."""
        X, W = self.X, self.columns.weights
        ends = np.cumsum(count)
        found = np.empty(int(ends[-1]) if len(ends) else 0, dtype=np.float32)
        values, weights = (X.data, X.indices, X.indptr), (W.data, W.indices, W.indptr)
        _range_margins(values, weights, self.columns.intercept, rows, first, count, found)
        return found


@njit(nogil=True, cache=True)
def _range_margins(X, W, intercept, rows, first, count, found):  # type: ignore[no-untyped-def]
    values, features, ends = X
    weights, columns, stops = W
    at = 0
    for q in range(rows.size):
        begin, end = first[q], first[q] + count[q]
        for j in range(count[q]):
            found[at + j] = intercept[begin + j]
        for s in range(ends[rows[q]], ends[rows[q] + 1]):
            low, stop, value = stops[features[s]], stops[features[s] + 1], np.float32(values[s])
            high = stop
            while low < high:
                middle = (low + high) >> 1
                if columns[middle] < begin:
                    low = middle + 1
                else:
                    high = middle
            while low < stop and columns[low] < end:
                found[at + columns[low] - begin] += value * weights[low]
                low += 1
        at += count[q]
