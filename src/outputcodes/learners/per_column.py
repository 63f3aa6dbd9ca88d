"""Any scikit-learn estimator as a learner: one clone per column, trained on the rows of that column."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Sequence
from contextlib import nullcontext
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.utils import get_tags
from sklearn.utils.parallel import Parallel, delayed

from outputcodes._ground import progress
from outputcodes._ground.drawn_code import AnyCode
from outputcodes._ground.validation import NoStreamError, n_rows_of, take_rows
from outputcodes.learners.base import FittedColumns, Learner
from outputcodes.learners.foreign import (
    Reading,
    importances_of,
    linear_terms,
    read_margins,
    reading_of,
    returns_signs_only,
    targets_of,
    weight_argument,
)
from outputcodes.learners.per_column_stream import PerColumnStream
from outputcodes.losses import as_loss

Rows = NDArray[np.intp]
Array = NDArray[np.float64]


class PerColumn(Learner, BaseEstimator):
    """A learner that trains one clone of an estimator per column.

    `OutputCodeClassifier` wraps foreign estimators in it automatically. Use it directly to declare the margin loss and
    the scale of an estimator that the library does not know.

    Parameters
    ----------
    estimator : estimator or list of estimators
        One for all columns, or one per column of the code.
    margin_loss : str, optional
        The margin loss that the estimator minimises; None looks it up, see `outputcodes.learners.foreign`.
    scale : float, optional
        The factor that turns the estimator's output into the f of that loss; None looks it up.
    fit_params : dict, optional
        Further arguments of the estimator's `fit`; those with one entry per row are cut to the rows of a column.
    verbose : int, default=0
        1 shows the progress while the columns are trained, as `OutputCodeClassifier(verbose=1)` does.

    Examples
    --------
    >>> from sklearn.svm import SVC
    >>> PerColumn(SVC()).loss
    'hinge'
    """

    # The positions of the columns in the whole code, to which seeds and estimators belong.
    _places: Rows | None = None

    def __init__(
        self,
        estimator: Any,
        margin_loss: str | None = None,
        scale: float | None = None,
        fit_params: dict[str, Any] | None = None,
        verbose: int = 0,
    ) -> None:
        self.estimator = estimator
        self.margin_loss = margin_loss
        self.scale = scale
        self.fit_params = fit_params
        self.verbose = verbose

    @property
    def loss(self) -> str | None:  # type: ignore[override]
        """The margin loss of the columns; None if they differ."""
        return _common_loss(self._readings(self._estimators()))

    @property
    def estimators(self) -> list[Any]:
        """The one estimator, or that of each column."""
        return self._estimators()

    @property
    def positional(self) -> bool:
        """Whether each column has its own estimator."""
        return isinstance(self.estimator, (list, tuple))

    shares_rows = True

    def prepare(self, X: Any, like: Any = None) -> Any:
        """Return X itself, in a form that can be indexed by rows."""
        return X.tocsr() if hasattr(X, "tocsr") else X

    def take(self, columns: Rows, n_columns: int) -> PerColumn:
        """Return the learner for some columns of a code of `n_columns`; each keeps its own estimator and seed."""
        part = copy.copy(self)
        part._places = columns
        if self.positional:
            estimators = self._estimators(n_columns)
            part.estimator = [estimators[j] for j in columns]
        return part

    def for_rows(self, rows: Rows, n_rows: int) -> PerColumn:
        """Return the learner with its fit parameters cut to some rows."""
        if not self.fit_params:
            return self
        part = copy.copy(self)
        part.fit_params = rows_of_params(self.fit_params, n_rows, rows)
        return part

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
    ) -> FittedPerColumn:
        """Clone and fit one estimator per column with joblib; `init` is ignored."""
        M = np.asarray(M)
        estimators = self._estimators(M.shape[1])
        places = range(M.shape[1]) if self._places is None else self._places
        pairwise = get_tags(estimators[0]).input_tags.pairwise
        jobs = []
        for j, estimator in enumerate(estimators):
            seen = _rows_of_column(y, M[:, j], weight, column_weight, j, rows)
            column_weights = _weights_of_column(y, weight, column_weight, j, seen)
            seeded = _seeded(estimator, np.random.SeedSequence((seed, places[j])))
            params = rows_of_params(self.fit_params, len(y), seen)
            if column_weights is not None:
                params |= _weight_params(estimator, column_weights)
            target = targets_of(estimator, M[y if seen is None else y[seen], j])
            jobs.append(delayed(_fit)(seeded, data, seen, pairwise, target, params))
        # Within a classifier that shows its progress, the phase has begun.
        alone = self.verbose and not progress.is_watched()
        begun = progress.phase("training", len(jobs), "columns") if alone else nullcontext()
        with progress.showing(self.verbose), begun:
            # Results one by one only for progress reports: not every joblib backend supports generators.
            trained = Parallel(n_jobs=n_jobs, return_as="generator" if progress.is_watched() else "list")(jobs)
            fitted, seen_rows = zip(*_reported(trained, len(jobs)), strict=True)
        return self.finished(list(fitted), n_jobs, list(seen_rows) if pairwise else None)

    def finished(self, fitted: list[Any], n_jobs: int | None, rows: list[Rows | None] | None = None) -> FittedPerColumn:
        """Return fitted estimators as columns."""
        # For some estimators the kind of output, or its scale, is known only once they are fitted.
        return FittedPerColumn(fitted, rows, self._readings(fitted), n_jobs)

    def stream(self, n_jobs: int | None = None, seed: int = 0) -> PerColumnStream:
        """Return columns that learn from batches, for estimators that have `partial_fit`."""
        if lacking := [one for one in self._estimators() if not hasattr(one, "partial_fit")]:
            raise NoStreamError(
                f"{type(lacking[0]).__name__} has no partial_fit and can't learn from batches: use an estimator that "
                "has it, or 'ridge', 'logistic' or 'linear-svm'."
            )
        return PerColumnStream(self, n_jobs, seed)

    def new_estimator(self, j: int, seed: int) -> Any:
        """Return the estimator of column j with a seed of its own."""
        estimators = self._estimators() if self.positional else [self.estimator] * (j + 1)
        if j >= len(estimators):
            self._estimators(j + 1)  # raises: there is one per column
        return _seeded(estimators[j], np.random.SeedSequence((seed, j)))

    def _estimators(self, n_columns: int | None = None) -> list[Any]:
        if not self.positional:
            return [self.estimator] * (n_columns or 1)
        if n_columns is not None and len(self.estimator) != n_columns:
            raise ValueError(
                f"estimator is a list of {len(self.estimator)} estimators but the code has {n_columns} columns; "
                "give one estimator per column."
            )
        return list(self.estimator)

    def _readings(self, estimators: Sequence[Any]) -> list[Reading]:
        loss = None if self.margin_loss is None else as_loss(self.margin_loss).name
        if self.scale is not None and not (isinstance(self.scale, Real) and 0 < self.scale < np.inf):
            raise ValueError(f"scale={self.scale!r} must be a positive, finite number.")
        found = map(reading_of, estimators)
        return [Reading(loss or r.loss, r.scale if self.scale is None else self.scale) for r in found]


class FittedPerColumn(FittedColumns):
    """One fitted estimator per column.

    Attributes
    ----------
    estimators : list of fitted estimators
    rows : list of arrays, or None
        With a precomputed kernel, the training rows of each column, which are its columns of a new kernel matrix.
    loss : str or None
        The margin loss of the fitted estimators; None if they differ.
    signs_only : bool
        Whether some estimator has only `predict`.
    """

    def __init__(
        self,
        estimators: list[Any],
        rows: list[Rows | None] | None,
        readings: list[Reading],
        n_jobs: int | None,
    ) -> None:
        self.estimators = estimators
        self.rows = rows
        self.scales = [reading.scale for reading in readings]
        self.loss = _common_loss(readings)
        self.signs_only = any(map(returns_signs_only, estimators))
        self.n_jobs = n_jobs

    def loss_after_fit(self, declared: str | None) -> str | None:
        """Return the loss of the fitted estimators."""
        return self.loss

    def margins(self, X: Any, rows: Rows | None = None) -> Array:
        """Return (n, L) margins of X, or of some of its rows."""
        X = take_rows(X, rows)
        kernel_columns = self.rows or [None] * len(self.estimators)
        # Threads: prediction mostly runs outside the interpreter lock, and X need not be copied.
        columns = Parallel(n_jobs=self.n_jobs, prefer="threads")(
            delayed(read_margins)(estimator, X if seen is None else X[:, seen], scale)
            for estimator, scale, seen in zip(self.estimators, self.scales, kernel_columns, strict=True)
        )
        return np.column_stack(columns) if columns else np.empty((n_rows_of(X), 0))

    def coefficients(self) -> Array | None:
        """Return (L, d) weights of the features if all estimators are linear; apart from margins cut at ±1e9."""
        terms = self._linear_terms()
        return None if terms is None else np.array([scale * weights for scale, (weights, _) in terms])

    def intercepts(self) -> Array:
        """Return (L,) intercepts of linear estimators."""
        return np.array([scale * intercept for scale, (_, intercept) in self._linear_terms() or []])

    def feature_importances(self) -> Array | None:
        """Return the mean of the estimators' own importances, (d,), or None if some estimator has none."""
        found = [importances_of(estimator) for estimator in self.estimators]
        known = [one for one in found if one is not None]
        return np.mean(known, axis=0) if len(known) == len(found) else None

    def _linear_terms(self) -> list[tuple[float, tuple[Array, float]]] | None:
        # The columns of a precomputed kernel see different rows, which are no common features.
        found = [] if self.rows is not None else [linear_terms(estimator) for estimator in self.estimators]
        terms = [(scale, one) for scale, one in zip(self.scales, found, strict=False) if one is not None]
        return terms if len(terms) == len(self.estimators) else None


def _common_loss(readings: Sequence[Reading]) -> str | None:
    losses = {reading.loss for reading in readings}
    return losses.pop() if len(losses) == 1 else None


def rows_of_params(params: dict[str, Any] | None, n_rows: int, rows: Rows | None) -> dict[str, Any]:
    """Return the arguments of `fit`, those with one entry per row cut to some rows."""

    def cut(value: Any) -> Any:
        per_row = hasattr(value, "__len__") and not isinstance(value, str) and len(value) == n_rows
        return take_rows(value, rows) if per_row else value

    return {name: cut(value) for name, value in (params or {}).items()}


def _rows_of_column(
    y: Rows,
    column: NDArray[np.int8],
    weight: Array | None,
    column_weight: Array | None,
    j: int,
    rows: Rows | None,
) -> Rows | None:
    """Return the training rows of a column, without those of weight 0; None for all rows, so that none is copied."""
    takes_part = column != 0 if column_weight is None else (column != 0) & (column_weight[:, j] > 0)
    candidates = np.arange(len(y)) if rows is None else rows
    keep = takes_part[y[candidates]]
    if weight is not None:
        keep &= weight[candidates] > 0
    return None if rows is None and keep.all() else candidates[keep]


def _weights_of_column(
    y: Rows, weight: Array | None, column_weight: Array | None, j: int, seen: Rows | None
) -> Array | None:
    """Return weight[i]·column_weight[y_i, j] of the given rows; None without weights."""
    labels = y if seen is None else y[seen]
    own = None if weight is None else take_rows(weight, seen)
    if column_weight is None:
        return own
    classwise: Array = column_weight[labels, j]
    return classwise if own is None else own * classwise


def _weight_params(estimator: Any, weight: Array) -> dict[str, Array]:
    name = weight_argument(estimator)
    if name is not None:
        return {name: weight}
    if (weight == weight[0]).all():
        return {}  # rows of weight 0 are left out already, and the others have equal weights
    raise ValueError(
        f"weights were given (sample_weight, class_weight or column_weight), but {type(estimator).__name__}.fit takes "
        "none; omit them or use an estimator that accepts sample_weight."
    )


def _seeded(estimator: Any, sequence: np.random.SeedSequence) -> Any:
    """Return a clone in which every `random_state=None` is replaced by a seed of its own."""
    copy = clone(estimator)
    open_names = sorted(
        name
        for name, value in copy.get_params(deep=True).items()
        if value is None and (name == "random_state" or name.endswith("__random_state"))
    )
    states = sequence.generate_state(len(open_names)) if open_names else ()
    return copy.set_params(**{name: int(state >> 1) for name, state in zip(open_names, states, strict=True)})


def _fit(
    estimator: Any, X: Any, rows: Rows | None, pairwise: bool, target: Rows, params: dict[str, Any]
) -> tuple[Any, Rows | None]:
    X = take_rows(X, rows)
    if pairwise and rows is not None:
        X = X[:, rows]
    return estimator.fit(X, target, **params), rows


def _reported(results: Iterable[Any], total: int) -> Iterable[Any]:
    """Yield the results, and report how many there are."""
    for done, result in enumerate(results, start=1):
        progress.reached(done, total)
        yield result
