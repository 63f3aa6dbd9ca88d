"""The base of the linear learners: features prepared for many solves, and fitted columns that are one matrix."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse
from numpy.typing import NDArray
from sklearn.utils import check_array

from outputcodes._ground.row_sequence import RowBlocks
from outputcodes._ground.sizes import linear_scores
from outputcodes._ground.stored_rows import StoredRows
from outputcodes._ground.validation import take_rows
from outputcodes.learners.base import Certificate, FittedColumns
from outputcodes.learners.linear.rotation import Intercept, Rotation, rotated
from outputcodes.learners.shared import SharedLearner, entry_weights

Array = NDArray[np.float64]
Rows = NDArray[np.intp]

# An eigenbasis costs about 10·r³ flops; above this rank that is no longer small compared with the fit.
LARGEST_ROTATION = 2000


@dataclass(frozen=True)
class LinearData:
    """X, dense, csr or in blocks, and its rotation where there is one.

    The values of the rotation of X in blocks are kept beside X.
    """

    X: Any
    intercept: Intercept
    rotation: Rotation | None
    given: Any = None

    @property
    def stored(self) -> StoredRows:
        """The rows as blocks: an array or csr array is one."""
        if isinstance(self.X, StoredRows):
            return self.X
        return StoredRows.whole(self.X, None if self.rotation is None else self.rotation.values)

    @property
    def sparse(self) -> bool:
        """Whether X is sparse."""
        return self.X.sparse if isinstance(self.X, StoredRows) else bool(scipy.sparse.issparse(self.X))


class FittedLinear(FittedColumns):
    """Trained linear columns: margins are scale · (X @ coef + intercept).

    Attributes
    ----------
    coef : ndarray, shape (d, L)
    intercept : ndarray, shape (L,)
    scale : float
        1/2 for logistic columns, whose coefficients are in units of log-odds; otherwise 1.
    certificate : Certificate
        The gap is the duality gap divided by the objective: the optimum is at most this fraction lower.
    """

    certificate: Certificate | None

    def __init__(self, coef: Array, intercept: Array, scale: float, certificate: Certificate) -> None:
        self.coef = coef
        self.intercept = intercept
        self.scale = scale
        self.certificate = certificate

    def margins(self, X: Any, rows: Rows | None = None) -> Array:
        """Return (n, L) margins of X, or of some of its rows; X may be the prepared data."""
        if isinstance(X, LinearData):
            X = X.X
            if isinstance(X, StoredRows):
                return X.each_row(rows, self.coef.shape[1], self._scores)
        elif rows is None:
            X = check_array(X, accept_sparse="csr", dtype=np.float64)
        return self._scores(take_rows(X, rows))

    def _scores(self, X: Any) -> Array:
        F = linear_scores(X, self.coef, self.intercept)
        F *= self.scale
        return F

    def beyond(self, before: FittedColumns, steps: float) -> FittedColumns:
        """Return the columns on the line through these and those before."""
        if not isinstance(before, FittedLinear) or before.coef.shape != self.coef.shape:
            return self
        coef = self.coef + steps * (self.coef - before.coef)
        intercept = self.intercept + steps * (self.intercept - before.intercept)
        assert self.certificate is not None
        return FittedLinear(coef, intercept, self.scale, self.certificate)

    def take(self, columns: Rows) -> FittedLinear:
        """Return some of the columns."""
        whole = self.certificate
        assert whole is not None
        certificate = Certificate(whole.gap[columns], whole.iterations[columns], whole.converged[columns])
        # Bits of products hang on how numbers lie in memory.
        coef = np.ascontiguousarray(self.coef[:, columns])
        return FittedLinear(coef, self.intercept[columns], self.scale, certificate)

    def coefficients(self) -> Array:
        """Return (L, d) weights of the features in the margins."""
        return self.scale * self.coef.T

    def intercepts(self) -> Array:
        """Return (L,) intercepts of the margins."""
        return self.scale * self.intercept


class LinearLearner(SharedLearner):
    """Base of the linear learners: preparation, and checks of their common parameters."""

    takes_sparse = True
    takes_blocks = True
    multiplies_features = True
    starts_from_other_rows = True

    def _intercept(self) -> Intercept:
        raise NotImplementedError

    def _check_parameters(self) -> None:
        for name in ("C", "tol"):
            check_positive(name, getattr(self, name))
        self._check_max_iter()

    def _check_max_iter(self) -> None:
        if not isinstance(self.max_iter, int | np.integer) or self.max_iter < 1:
            raise ValueError(f"max_iter={self.max_iter!r} must be an integer of at least 1.")

    def prepare(self, X: Any, like: Any = None) -> LinearData:
        """Validate X; dense X of moderate rank is rotated once for all columns, folds and values of C."""
        self._check_parameters()
        given, intercept = X, self._intercept()
        if isinstance(like, LinearData) and like.given is X and like.intercept == intercept:
            return like
        if isinstance(X, RowBlocks):
            return self._prepared_blocks(X, intercept)
        X = self._as_features(X)
        rotates = not scipy.sparse.issparse(X) and min(X.shape) <= LARGEST_ROTATION
        return LinearData(X, intercept, rotated(StoredRows.whole(X), intercept)[0] if rotates else None, given)

    def _prepared_blocks(self, X: RowBlocks, intercept: Intercept) -> LinearData:
        stored = StoredRows.of(X, self._as_features)
        n, d = stored.shape
        if stored.sparse or min(n, d) > LARGEST_ROTATION:
            return LinearData(stored, intercept, None, X)
        if d > n:
            # Few rows: their basis is that of all of them together.
            return self.prepare(stored.joined())
        rotation, stored = rotated(stored, intercept)
        return LinearData(stored, intercept, rotation, X)

    def _own(self, data: LinearData) -> LinearData:
        """Return the data as this learner prepares them: a different intercept needs a different rotation."""
        return (
            data if data.intercept == self._intercept() else self.prepare(data.X if data.given is None else data.given)
        )

    def _costs(self, y: Rows, M: NDArray[np.int8], column_weight: Array | None, rows: Rows) -> Array:
        """Return (k, L) weights of the loss of an example of each class, apart from its own weight; 0 = absent."""
        cost = self.C * entry_weights(M, column_weight)
        counted = np.bincount(y[rows], minlength=len(M)) > 0
        for sign in (+1, -1):
            lacks = ~((M == sign) & (cost > 0))[counted].any(axis=0)
            if lacks.any():
                raise ValueError(
                    f"column {int(np.argmax(lacks))} has no example of sign {sign:+d} with positive weight; "
                    "remove the column, or give examples of both signs positive weight."
                )
        return np.asarray(cost)

    def _start(self, data: LinearData, init: Any, n_columns: int) -> Array:
        """Return the coefficients of an earlier fit, that of the constant feature last; zeros without one."""
        d, constant = data.X.shape[1], data.intercept.constant
        theta = np.zeros((d + (constant != 0), n_columns))
        if init is not None:
            if init.coef.shape != (d, n_columns):
                raise ValueError(f"init has coefficients of shape {init.coef.shape}; these data need {(d, n_columns)}.")
            theta[:d] = init.coef
            if constant:
                theta[d] = init.intercept / constant
        return theta if data.rotation is None else data.rotation.reachable(theta)

    def _fitted(self, data: LinearData, theta: Array, certificate: Certificate, scale: float = 1.0) -> FittedLinear:
        d, constant = data.X.shape[1], data.intercept.constant
        intercept = constant * theta[d] if constant else np.zeros(theta.shape[1])
        return FittedLinear(np.ascontiguousarray(theta[:d]), intercept, scale, certificate)


def check_positive(name: str, value: Any) -> None:
    """Raise ValueError unless the value is a finite number greater than 0."""
    if not isinstance(value, Real) or not 0 < float(value) < np.inf:
        raise ValueError(f"{name}={value!r} must be a finite number greater than 0.")
