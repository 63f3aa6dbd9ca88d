"""A code trained on one sample: live columns by the learner, one-sided ones by rule, margins held out by folds."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from outputcodes._ground.folds import Folds, Rows, check_number_of_folds, folds, folds_of
from outputcodes._ground.validation import n_rows_of
from outputcodes.learners import FittedColumns, Learner

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
    class_weight : ndarray of shape (k,) or None
        Multiplies the weights of each class, in columns and decoders.
    balanced : bool
        Whether each column weighs its two sides alike.
    given : tuple of ndarrays (labels, kept)
        The labels of the sample before rows were left out, and which of its rows `rows` are: what a splitter splits.
    """

    def __init__(
        self,
        learner: Learner,
        X: Any,
        y: Rows,
        weight: Array | None = None,
        *,
        rows: Rows | None = None,
        class_weight: Array | None = None,
        balanced: bool = False,
        given: tuple[NDArray[Any], Rows] | None = None,
        n_jobs: int | None = None,
        seed: int = 0,
    ) -> None:
        self.learner = learner
        self.X, self.y, self.weight = X, y, weight
        self.class_weight, self.balanced = class_weight, balanced
        self.rows = np.arange(len(y)) if rows is None else rows
        self.given = (y[self.rows], np.arange(len(self.rows))) if given is None else given
        self.n_jobs = n_jobs
        self.seed = seed
        self.data = learner.prepare(X)
        self._remembered: dict[tuple[int, bytes, int], Array] = {}
        self._splits: list[tuple[Any, Folds]] = []

    def fit(
        self,
        M: NDArray[np.int8],
        rows: Rows | None = None,
        columns: Rows | None = None,
        init: Columns | None = None,
    ) -> Columns:
        """Train all columns of M, or some of them, on all rows, or on some; `init` are the same columns on others."""
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
        everything = np.array_equal(rows, np.arange(len(self.y)))
        fitted = learner.fit_columns(
            self.data,
            self.y,
            M[:, live],
            self.weight,
            self._column_weight(M[:, live], rows),
            rows=None if everything else rows,
            init=init.fitted if init is not None and np.array_equal(init.live, live) else None,
            n_jobs=self.n_jobs,
            seed=self.seed,
        )
        return Columns(fitted, live, constant)

    def row_weight(self) -> Array | None:
        """What each of `rows` weighs in all columns; None if all weigh the same."""
        own = None if self.weight is None else self.weight[self.rows]
        if self.class_weight is None:
            return own
        classwise: Array = self.class_weight[self.y[self.rows]]
        return classwise if own is None else own * classwise

    def _column_weight(self, M: NDArray[np.int8], rows: Rows) -> Array | None:
        """(k, L): what an example of class r weighs in column s, apart from its own weight; None for 1."""
        if not self.balanced:
            return None if self.class_weight is None else np.tile(self.class_weight[:, None], M.shape[1])
        classwise = np.ones(len(M)) if self.class_weight is None else self.class_weight
        own = None if self.weight is None else self.weight[rows]
        mass = classwise * np.bincount(self.y[rows], weights=own, minlength=len(M))
        plus, minus = mass @ (M > 0), mass @ (M < 0)
        return classwise[:, None] * np.where(M > 0, (plus + minus) / (2 * plus), (plus + minus) / (2 * minus))

    def margins(self, M: NDArray[np.int8], held_out: Any = None, init: Columns | None = None) -> Array:
        """(len(rows), L) margins of the sample's own rows; columns already trained are remembered.

        `held_out` is None for training margins; a number of folds or a scikit-learn splitter for margins of
        columns trained without the row, NaN where a fold lacked a sign of the column. `init`, the columns of M
        trained on all rows, is where folds start if the learner says that it `warm_starts`.
        """
        splits = self._folds(held_out)
        # Equal columns are one column, unless each has an estimator of its own or all are trained as one.
        joint = getattr(self.learner, "joint", False)
        placed = joint or getattr(self.learner, "positional", False)
        keys = [(id(splits), (M if joint else column).tobytes(), j if placed else 0) for j, column in enumerate(M.T)]
        new = np.array([j for j, key in enumerate(keys) if key not in self._remembered], dtype=np.intp)
        if new.size:
            if splits is None:
                F = self.fit(M, columns=new).margins(self.data, self.rows)
            else:
                F = self._cross_fitted(M, new, splits, init if len(new) == len(keys) else None)
            self._remembered |= {keys[j]: f for j, f in zip(new, F.T, strict=True)}
        return np.column_stack([self._remembered[key] for key in keys])

    def margins_for_decoder(self, M: NDArray[np.int8], cv: Any, trained: Columns) -> Array:
        """Held-out margins (len(rows), L) for a decoder to learn from, `trained` being the columns of M.

        For a number `cv`, a learner that knows its leave-one-out margins in closed form gives those in place of folds;
        None is 5, as in scikit-learn. A column that is constant on the whole sample has its constant.
        """
        cv = 5 if cv is None else cv
        if isinstance(cv, int | np.integer) and hasattr(self.learner, "leave_one_out_margins"):
            check_number_of_folds(cv, len(self.rows))
            F = self._left_out(M)
        else:
            F = self.margins(M, cv, init=trained)
        F[:, ~trained.live] = trained.constant[~trained.live]
        return F

    def _folds(self, held_out: Any) -> Folds | None:
        """The folds of a number or splitter, the same ones whenever it is asked for again."""
        if held_out is None:
            return None
        for known, splits in self._splits:
            if known is held_out or (isinstance(known, int) and known == held_out):
                return splits
        number = isinstance(held_out, int | np.integer)
        splits = folds(self.y[self.rows], held_out, self.seed) if number else folds_of(held_out, *self.given)
        self._splits.append((held_out, splits))
        return self._splits[-1][1]

    def _cross_fitted(self, M: NDArray[np.int8], columns: Rows, splits: Folds, init: Columns | None) -> Array:
        F = np.full((len(self.rows), len(columns)), np.nan)
        # Only where the start does not show in the answer: boosting, say, would go on from rounds that saw the rows.
        init = init if getattr(self.learner, "warm_starts", False) else None
        for train, test in splits:
            fitted = self.fit(M, self.rows[train], columns, init)
            # What another split has found, test sets being free to overlap, stays.
            F[test] = np.where(fitted.live, fitted.margins(self.data, self.rows[test]), F[test])
        return F

    def _left_out(self, M: NDArray[np.int8]) -> Array:
        """Leave-one-out margins of a learner that has them in closed form; NaN where the row was all of its side."""
        F = np.full((len(self.rows), M.shape[1]), np.nan)
        y = self.y[self.rows]
        positive, negative = _signs_present(M, y)
        live = np.flatnonzero(positive & negative)
        if not live.size:
            return F
        M = M[:, live]
        answer = self.learner.leave_one_out_margins(  # type: ignore[attr-defined]
            self.data,
            self.y,
            M,
            self.weight,
            self._column_weight(M, self.rows),
            rows=self.rows,
            n_jobs=self.n_jobs,
        )
        F[:, live] = answer
        alone, column = alone_on_its_side(M, y)
        F[alone, live[column]] = np.nan
        return F


def alone_on_its_side(M: NDArray[np.int8], y: Rows) -> tuple[Rows, Rows]:
    """Examples that are the only ones with their sign in a column, and the column; without them it is constant.

    >>> alone_on_its_side(np.array([[1, 1], [-1, 0], [-1, -1]]), np.array([0, 1, 2, 2]))
    (array([0, 0]), array([0, 1]))
    """
    count = np.bincount(y, minlength=len(M))
    # Only of a class of one example: there are few.
    one = np.flatnonzero(count[y] == 1)
    sign = M[y[one]]
    alone, column = np.nonzero(((sign > 0) & (count @ (M > 0) == 1)) | ((sign < 0) & (count @ (M < 0) == 1)))
    return one[alone], column


def warn_of_constant_columns(columns: Columns, stacklevel: int = 4) -> None:
    """Say which columns of a trained code answer a constant: to who is so many frames above, this one included."""
    constant = np.flatnonzero(~columns.live)
    if constant.size:
        shown = ", ".join(map(str, constant[:10])) + (", …" if constant.size > 10 else "")
        warnings.warn(
            f"{constant.size} of {columns.live.size} columns of the code have only one sign, or none, on this "
            f"sample and answer a constant: {shown}.",
            UserWarning,
            stacklevel=stacklevel,
        )


def _signs_present(M: NDArray[np.int8], y: Rows) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    present = M[np.unique(y)]
    return np.asarray((present > 0).any(axis=0)), np.asarray((present < 0).any(axis=0))
