"""Ridge regression on ±1 for all columns, with one factorisation per set of classes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from numbers import Real
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils import check_array

from outputcodes._ground.drawn_code import AnyCode
from outputcodes._ground.planning import Planning
from outputcodes._ground.row_sequence import RowBlocks
from outputcodes._ground.sizes import linear_scores
from outputcodes._ground.stored_rows import StoredRows, centred, row_sum
from outputcodes.learners.base import Certificate, FittedColumns
from outputcodes.learners.linear.ridge_blocks import BlockSystems
from outputcodes.learners.linear.ridge_gradients import SMALL_RESIDUAL
from outputcodes.learners.linear.ridge_parts import Parts
from outputcodes.learners.linear.ridge_stream import RidgeStream
from outputcodes.learners.linear.ridge_systems import ALWAYS_FACTORISED, Systems
from outputcodes.learners.shared import SharedLearner, effective_rows, entry_weights, warn_unless_converged

Rows = NDArray[np.intp]
Array = NDArray[np.float64]


@dataclass(frozen=True)
class Centred:
    """X minus the mean of its rows (sparse X is unchanged), so that sums of products lose no accuracy.

    The sums over the rows of the last training are kept for other values of alpha; so are those of the `parts` that
    trainings will be unions of.
    """

    X: Any
    centre: Array
    given: Any = None
    last: list[tuple[tuple[Any, ...], Systems]] = field(default_factory=list)
    taken: list[tuple[Rows, Any]] = field(default_factory=list)
    parts: list[Parts] = field(default_factory=list)

    def take(self, rows: Rows | None) -> Any:
        """Return centred rows; the last ones are kept, as other values of alpha ask for the same."""
        if isinstance(self.X, StoredRows):
            whole = self.X.joined()
            return whole if rows is None else whole[rows]
        if rows is None:
            return self.X
        if not (self.taken and np.array_equal(self.taken[0][0], rows)):
            self.taken[:] = [(rows, self.X[rows])]
        return self.taken[0][1]

    def systems(self, y: Rows, n_classes: int, weight: Array | None, rows: Rows) -> Systems:
        """Return the linear systems of a training, with the sums of the last one if it had the same rows."""
        labels, own = y[rows], None if weight is None else weight[rows]
        key: tuple[Any, ...] = (n_classes, rows, labels, own)
        if self.last and all(np.array_equal(a, b) for a, b in zip(self.last[0][0], key, strict=True)):
            return self.last[0][1]
        if isinstance(self.X, StoredRows) and self.X.shape[1] <= len(rows):
            self.last[:] = [(key, BlockSystems(self.X, y, n_classes, weight, rows))]
            return self.last[0][1]
        X = self.X.joined() if isinstance(self.X, StoredRows) else self.X
        systems = Systems(X, rows, labels, n_classes, own)
        if self.parts:
            systems.whole = lambda n_jobs: self.parts[0].total(rows, weight, partial(self._gram, n_jobs))
        self.last[:] = [(key, systems)]
        return systems

    def _gram(self, n_jobs: int | None, rows: Rows, weight: Array | None) -> Array:
        return Systems(self.X, rows, np.zeros(len(rows), dtype=np.intp), 1, weight).gram(np.ones(1), n_jobs)


class Ridge(SharedLearner):
    """Ridge regression: min Σ_i v_i (t_i − w·x_i − b)² + alpha·‖w‖², as in scikit-learn's RidgeClassifier.

    Columns with the same classes share one factorisation, so that a code without zeros costs little more than one
    binary problem, whatever its length: the targets are constant on each class, and every column is a combination of
    the same k class sums.

    Parameters
    ----------
    alpha : float, default=1.0
        The penalty on the weights; the intercept is not penalised. 0 is least squares, with the solution of least norm.

    Notes
    -----
    Many sparse rows of many features are solved by conjugate gradients, to a residual of 1e-6 of the right-hand side:
    the memory beyond X and the weights does not grow with their numbers.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from outputcodes import OutputCodeClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> OutputCodeClassifier(Ridge(alpha=0.1), code="all-pairs").fit(X, y).columns_.fitted.coef.shape
    (4, 3)
    """

    planning = Planning(cost=15)
    loss = "squared"
    takes_sparse = True
    takes_blocks = True
    multiplies_features = True
    leave_one_out = "exact"
    shares_rows = True
    path = ("alpha",)

    def __init__(self, alpha: float = 1.0) -> None:
        self.alpha = alpha

    def prepare(self, X: Any, like: Any = None) -> Centred:
        """Centre dense X once for all columns."""
        if isinstance(like, Centred) and like.given is X:
            return like
        if isinstance(X, RowBlocks):
            return self._prepared_blocks(X)
        given, X = X, self._as_features(X)
        centre = np.zeros(X.shape[1]) if sp.issparse(X) else X.mean(axis=0)
        return Centred(X if sp.issparse(X) else X - centre, centre, given)

    def foresee(self, data: Centred, parts: Sequence[Rows], y: Rows) -> None:
        """Let trainings whose rows are unions of parts share the sums of products over each part."""
        dense = isinstance(data.X, np.ndarray)
        found = Parts.of(len(data.X), parts) if dense else None
        data.parts[:] = [] if found is None else [found]

    def _prepared_blocks(self, X: RowBlocks) -> Centred:
        stored = StoredRows.of(X, self._as_features)
        n, d = stored.shape
        if d > n or (stored.sparse and d > ALWAYS_FACTORISED):
            # Solved in row space, or without matrices of d × d numbers.
            return self.prepare(stored.joined())
        if stored.sparse:
            return Centred(stored, np.zeros(d), X)
        centre = stored.total(row_sum)[0] / n
        return Centred(stored.through(centred, centre), centre, X)

    def fit_columns(
        self,
        data: Centred,
        y: Rows,
        M: AnyCode,
        weight: Array | None = None,
        column_weight: Array | None = None,
        *,
        rows: Rows | None = None,
        init: Any = None,
        n_jobs: int | None = None,
        seed: int = 0,
    ) -> FittedRidge:
        """Solve the normal equations of each group of columns; `init` and `seed` are ignored."""
        M, rows = np.asarray(M), effective_rows(y, np.asarray(M), weight, rows)
        self._check_alpha()
        systems = data.systems(y, len(M), weight, rows).with_alpha(float(self.alpha))
        return self.solved(systems, M, entry_weights(M, column_weight), data.centre, n_jobs)

    def stream(self, n_jobs: int | None = None, seed: int = 0) -> RidgeStream:
        """Return columns that learn from batches, exactly: after each, they are those of all rows so far."""
        self._check_alpha()
        return RidgeStream(self, n_jobs)

    def solved(
        self, systems: Systems, M: NDArray[np.int8], class_weight: Array, centre: Array, n_jobs: int | None
    ) -> FittedRidge:
        """Solve the columns of M on sums over rows; class_weight (k, L) is 0 where a class is absent from a column."""
        L, groups = M.shape[1], systems.solve(M, class_weight, n_jobs)
        # All columns of one group are there already, in their order: no copy is made.
        coef = groups[0].coef if len(groups) == 1 else np.empty((len(centre), L))
        intercept, gap, steps, factorised = np.empty(L), np.empty(L), np.ones(L, dtype=np.intp), np.ones(L, dtype=bool)
        for group in groups:
            if len(groups) > 1:
                coef[:, group.columns] = group.coef
            intercept[group.columns], gap[group.columns] = group.intercept, group.residual
            if group.steps is not None:
                steps[group.columns], factorised[group.columns] = group.steps, False
        # The residual of a factorisation is that of rounding.
        certificate = Certificate(gap, steps, factorised | (gap <= 2 * SMALL_RESIDUAL))
        warn_unless_converged(self, certificate)
        return FittedRidge(coef, intercept, centre, certificate)

    def leave_one_out_margins(
        self,
        data: Centred,
        y: Rows,
        M: AnyCode,
        weight: Array | None = None,
        column_weight: Array | None = None,
        *,
        rows: Rows | None = None,
        n_jobs: int | None = None,
    ) -> Array:
        """Return (n, L) margins of each row by columns trained without it: f_i − h_i/(1 − h_i)·(t_i − f_i).

        h_i is the leverage of row i. Rows that are absent from a column, by their entry or a weight of 0, have its
        ordinary margin; rows of leverage 1, whose fit the others don't determine (alpha=0), have 0. The result is
        aligned with `rows`.

        >>> from sklearn.datasets import load_iris
        >>> X, y = load_iris(return_X_y=True)
        >>> learner, M = Ridge(), np.array([[1, 0], [-1, 1], [0, -1]], dtype=np.int8)
        >>> data = learner.prepare(X)
        >>> without_the_first = learner.fit_columns(data, y, M, rows=np.arange(1, 150))
        >>> np.allclose(learner.leave_one_out_margins(data, y, M)[0], without_the_first.margins(X[:1])[0])
        True
        """
        M = np.asarray(M)
        rows = np.arange(len(y)) if rows is None else rows
        target = M[y[rows]]
        coef, intercept = np.empty((data.X.shape[1], M.shape[1])), np.empty(M.shape[1])
        leverage = np.empty(target.shape)
        self._check_alpha()
        # Leverages need the rows in memory.
        whole = Centred(data.X.joined(), data.centre) if isinstance(data.X, StoredRows) else data
        systems = whole.systems(y, len(M), weight, rows).with_alpha(float(self.alpha))
        for group in systems.solve(M, entry_weights(M, column_weight), n_jobs, leverage=True):
            coef[:, group.columns], intercept[group.columns] = group.coef, group.intercept
            assert group.leverage is not None
            leverage[:, group.columns] = group.leverage[:, None]
        F: Array = data.take(rows) @ coef + intercept
        alone = leverage > 1 - 1e-10
        F -= leverage / np.where(alone, 1, 1 - leverage) * (target - F)
        F[alone] = 0
        return F

    def flexibility(self, data: Centred) -> tuple[float, ...]:
        """Return −alpha: the strongest penalty is the smoothest."""
        return (-float(self.alpha),)

    def _check_alpha(self) -> None:
        if not isinstance(self.alpha, Real) or not 0 <= self.alpha < np.inf:
            raise ValueError(f"alpha={self.alpha!r} must be a finite number of at least 0.")


class FittedRidge(FittedColumns):
    """One weight vector and intercept per column.

    Attributes
    ----------
    coef : ndarray of shape (d, L)
    intercept : ndarray of shape (L,)
        For centred rows, x − centre.
    centre : ndarray of shape (d,)
    certificate : Certificate
        The gap is the residual of the normal equations, relative to their right-hand side.
    """

    def __init__(self, coef: Array, intercept: Array, centre: Array, certificate: Certificate) -> None:
        self.coef = coef
        self.intercept = intercept
        self.centre = centre
        self.certificate: Certificate | None = certificate

    def margins(self, X: Any, rows: Rows | None = None) -> Array:
        """Return (n, L) margins of new X, or of rows of prepared data."""
        if isinstance(X, Centred):
            if isinstance(X.X, StoredRows):
                return X.X.each_row(rows, len(self.intercept), self._scores)
            X, shift = X.take(rows), self.intercept
        else:
            X, shift = check_array(X, accept_sparse="csr", dtype=np.float64), self.intercepts()
        return linear_scores(X, self.coef, shift)

    def _scores(self, centred: Any) -> Array:
        return linear_scores(centred, self.coef, self.intercept)

    def coefficients(self) -> Array:
        """Return (L, d) weights of the features."""
        return self.coef.T

    def intercepts(self) -> Array:
        """Return (L,) intercepts for rows that are not centred."""
        shifted: Array = self.intercept - self.centre @ self.coef
        return shifted
