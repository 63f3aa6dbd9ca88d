"""A code trained on one sample: live columns by the learner, one-sided ones by rule, held-out margins by folds."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import check_cv

from outputcodes._validation import n_rows_of
from outputcodes.learners import FittedColumns, Learner

Rows = NDArray[np.intp]
Array = NDArray[np.float64]
Folds = list[tuple[Rows, Rows]]


class Columns:
    """The trained columns of a code.

    Attributes
    ----------
    fitted : FittedColumns or None
        The live columns, as the learner returned them; None if there are none.
    live : ndarray of bool, shape (L,)
        Which columns had both signs on the sample.
    constant : ndarray, shape (L,)
        What the other columns always answer: the one sign they had, or 0 if they had no example.
    """

    def __init__(self, fitted: FittedColumns | None, live: NDArray[np.bool_], constant: Array) -> None:
        self.fitted = fitted
        self.live = live
        self.constant = constant

    def margins(self, X: Any, rows: Rows | None = None) -> Array:
        """(n, L) margins of new X, or of some rows of prepared data."""
        if self.fitted is None:
            return np.tile(self.constant, (n_rows_of(X) if rows is None else len(rows), 1))
        live = self.fitted.margins(X, rows)
        if self.live.all():
            return live
        F = np.tile(self.constant, (len(live), 1))
        F[:, self.live] = live
        return F


class Problem:
    """A sample with its learner, prepared once: what the classifier trains on, and what data-driven codes see.

    Attributes
    ----------
    X, y, weight : the sample; y in 0..k-1 (-1 outside `rows`), weight an array or None
    rows : ndarray
        The rows that count, those without weight left out.
    """

    def __init__(
        self,
        learner: Learner,
        X: Any,
        y: Rows,
        weight: Array | None = None,
        *,
        rows: Rows | None = None,
        n_jobs: int | None = None,
        seed: int = 0,
    ) -> None:
        self.learner = learner
        self.X, self.y, self.weight = X, y, weight
        self.rows = np.arange(len(y)) if rows is None else rows
        self.n_jobs = n_jobs
        self.seed = seed
        self.data = learner.prepare(X)
        self._remembered: dict[tuple[int, bytes, int], Array] = {}
        self._splits: list[tuple[Any, Folds]] = []

    def fit(self, M: NDArray[np.int8], rows: Rows | None = None, columns: Rows | None = None) -> Columns:
        """Train all columns of M, or some of them, on all rows, or on some."""
        rows = self.rows if rows is None else rows
        n_columns, columns = M.shape[1], np.arange(M.shape[1]) if columns is None else columns
        M = M[:, columns]
        positive, negative = _signs_present(M, self.y[rows])
        live = positive & negative
        # What a column with one sign answers is that sign; nothing else could be learned from it.
        constant = np.where(live, 0.0, positive.astype(float) - negative.astype(float))
        if not live.any():
            return Columns(None, live, constant)
        learner = self.learner
        if hasattr(learner, "take"):
            learner = learner.take(columns[live], n_columns)
        everything = len(rows) == len(self.y)
        fitted = learner.fit_columns(
            self.data,
            self.y,
            M[:, live],
            self.weight,
            rows=None if everything else rows,
            n_jobs=self.n_jobs,
            seed=self.seed,
        )
        return Columns(fitted, live, constant)

    def margins(self, M: NDArray[np.int8], held_out: Any = None) -> Array:
        """(len(rows), L) margins of the sample's own rows; columns already trained are remembered.

        `held_out` is None for training margins; a number of folds or a scikit-learn splitter for margins of
        columns trained without the row, NaN where a fold lacked a sign of the column.
        """
        splits = self._folds(held_out)
        # Equal columns are one column, unless each has an estimator of its own.
        positional = getattr(self.learner, "positional", False)
        keys = [(id(splits), column.tobytes(), j if positional else 0) for j, column in enumerate(M.T)]
        new = np.array([j for j, key in enumerate(keys) if key not in self._remembered], dtype=np.intp)
        if new.size:
            if splits is None:
                F = self.fit(M, columns=new).margins(self.data, self.rows)
            else:
                F = self._cross_fitted(M, new, splits)
            self._remembered |= {keys[j]: f for j, f in zip(new, F.T, strict=True)}
        return np.column_stack([self._remembered[key] for key in keys])

    def _folds(self, held_out: Any) -> Folds | None:
        """The folds of a number or splitter, the same ones whenever it is asked for again."""
        if held_out is None:
            return None
        for known, splits in self._splits:
            if known is held_out or (isinstance(known, int) and known == held_out):
                return splits
        self._splits.append((held_out, folds(self.y[self.rows], held_out, self.seed)))
        return self._splits[-1][1]

    def _cross_fitted(self, M: NDArray[np.int8], columns: Rows, splits: Folds) -> Array:
        F = np.full((len(self.rows), len(columns)), np.nan)
        for train, test in splits:
            fitted = self.fit(M, self.rows[train], columns)
            F[np.ix_(test, fitted.live)] = fitted.margins(self.data, self.rows[test])[:, fitted.live]
        return F


def folds(y: Rows, cv: Any, seed: int) -> Folds:
    """Folds stratified by class for a number `cv`, else what the splitter says.

    Unlike StratifiedKFold it deals classes with fewer rows than folds as well: one deck, sorted by class.

    >>> [test.tolist() for _, test in folds(np.array([0, 0, 0, 0, 1]), 2, seed=0)]
    [[0, 1, 4], [2, 3]]
    """
    if not isinstance(cv, int | np.integer):
        return list(check_cv(cv, y, classifier=True).split(np.zeros(len(y)), y))
    if not 2 <= cv <= len(y):
        raise ValueError(f"cv={cv} must be between 2 and the number of rows, {len(y)}.")
    shuffled = np.random.default_rng((seed, len(y))).permutation(len(y))
    deck = shuffled[np.argsort(y[shuffled], kind="stable")]
    fold = np.empty(len(y), dtype=np.intp)
    fold[deck] = np.arange(len(y)) % cv
    return [(np.flatnonzero(fold != f), np.flatnonzero(fold == f)) for f in range(cv)]


def warn_of_constant_columns(columns: Columns) -> None:
    """Say which columns of a trained code answer a constant."""
    constant = np.flatnonzero(~columns.live)
    if constant.size:
        shown = ", ".join(map(str, constant[:10])) + (", …" if constant.size > 10 else "")
        warnings.warn(
            f"{constant.size} of {columns.live.size} columns of the code have only one sign, or none, on this "
            f"sample and answer a constant: {shown}.",
            UserWarning,
            stacklevel=3,
        )


def _signs_present(M: NDArray[np.int8], y: Rows) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    present = M[np.unique(y)]
    return np.asarray((present > 0).any(axis=0)), np.asarray((present < 0).any(axis=0))
