"""A code trained on a sample: `Problem`, the sample with its learner → `TrainedCode`, margins and decoders on them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from outputcodes._ground import progress
from outputcodes._ground.drawn_code import AnyCode, DrawnCode, MatrixCode, alone_on_its_side, as_drawn
from outputcodes._ground.folds import Folds, Rows, check_number_of_folds, folds, folds_of, held_out_share
from outputcodes._ground.row_sequence import RowBlocks
from outputcodes._ground.targets import Targets
from outputcodes._ground.validation import check_class_numbers, check_n_jobs, take_rows
from outputcodes.codes import Code, check_code
from outputcodes.decoders import Decoder
from outputcodes.decoders.classifier import decoder_for, resolved_for
from outputcodes.learners import Learner
from outputcodes.learners.trained_columns import Columns

__all__ = ["Columns", "Posed", "Problem", "RowBlocks", "TrainedCode"]

Array = NDArray[np.float64]


class Problem:
    """A sample with its learner, prepared once: codes are trained on it, and some are drawn from it.

    Parameters
    ----------
    learner : Learner
        `outputcodes.learners.as_learner` makes one of a name or a scikit-learn estimator.
    X : the features as the learner takes them, or `RowBlocks`
    y : ndarray of shape (n,)
        Class numbers 0..k-1; -1 outside `rows`.
    weight : ndarray of shape (n,), optional
    rows : ndarray, optional
        The rows that count; None is all. Rows without weight are to be left out.
    held_out : ndarray, optional
        Further rows, which no column is trained on: decoders that need held-out margins learn from those of these rows.
        Without them, such margins are cross-fitted.
    class_weight : ndarray of shape (k,), optional
        Multiplies the weights of each class, in columns and decoders.
    balanced : bool, default=False
        Whether each column gives its two sides equal weight.
    given : tuple of ndarrays (labels, kept), optional
        The labels of the sample before rows were left out, and which of its rows `rows` are: what a splitter splits.
    classes : ndarray of shape (k,), optional
        The labels of the class numbers, for codes that know classes by their labels.
    like : data, optional
        What the learner prepared for the same X, perhaps with other parameters: parts of it are used again.
    n_jobs, seed : as in `Learner.fit_columns`

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from outputcodes.codes import OneVsAll
    >>> from outputcodes.learners import Ridge
    >>> X, y = load_iris(return_X_y=True)
    >>> trained = Problem(Ridge(), X, y).train(OneVsAll().draw(3))
    >>> trained.loss, trained.margins(X).shape, trained.held_out_margins(5).shape
    ('squared', (150, 3), (150, 3))
    >>> decoder = trained.decoder("likelihood")
    >>> decoder.predict(trained.margins(X[[0, 60, 120]]), trained.code)
    array([0, 1, 2])
    """

    def __init__(
        self,
        learner: Learner,
        X: Any,
        y: Rows,
        weight: Array | None = None,
        *,
        rows: Rows | None = None,
        held_out: Rows | None = None,
        class_weight: Array | None = None,
        balanced: bool = False,
        given: tuple[NDArray[Any], Rows] | None = None,
        classes: NDArray[Any] | None = None,
        like: Any = None,
        n_jobs: int | None = None,
        seed: int = 0,
    ) -> None:
        if not isinstance(learner, Learner):
            raise ValueError(f"learner={learner!r} must be a Learner; as_learner makes one of a name or an estimator.")
        y = check_class_numbers(y)
        self.learner = learner
        self.X = X.joined() if isinstance(X, RowBlocks) and not learner.takes_blocks else X
        self.y, self.weight = y, weight
        self.class_weight, self.balanced = class_weight, balanced
        self.rows = np.arange(len(y)) if rows is None else rows
        self.held_out = held_out
        self.given = (y[self.rows], np.arange(len(self.rows))) if given is None else given
        self.classes = classes
        self.n_jobs = check_n_jobs(n_jobs)
        self.seed = seed
        self.data = learner.prepare(self.X, like=like)
        # The X that a classifier was given, before it was checked, None if it is not known; and the y, with its labels.
        self.source: Any = None
        self.source_labels: tuple[Any, Any] = object(), None
        self._remembered: dict[tuple[int, bytes, int], Array] = {}
        self._splits: list[tuple[Any, Folds]] = []

    @property
    def labels(self) -> Rows:
        """The class numbers of the rows that count."""
        return self.y[self.rows]

    def train(self, code: AnyCode, init: TrainedCode | None = None) -> TrainedCode:
        """Train all columns of a code; those of `init` are where the training starts, if the learner `warm_starts`.

        `init` is of no use if it has another code or another kind of learner.
        """
        code = as_drawn(code)
        usable = init is not None and self.learner.warm_starts and type(init.problem.learner) is type(self.learner)
        start = init.columns if init is not None and usable and code.same_as(init.code) else None
        return TrainedCode(self, code, self.fit(code, init=start))

    def grow(self) -> TrainedCode:
        """Train a learner that grows its own code."""
        weight = self.row_weight(np.arange(len(self.y)))
        with progress.phase("training", 1, "code"):
            code, fitted = self.learner.grow_columns(self.data, self.y, weight, self.rows, self.n_jobs, self.seed)
        L = code.shape[1]
        return TrainedCode(self, code, Columns(fitted, np.ones(L, dtype=bool), np.zeros(L)))

    def fit(
        self,
        code: AnyCode,
        rows: Rows | None = None,
        columns: Rows | None = None,
        init: Columns | None = None,
        *,
        doing: str = "training",
    ) -> Columns:
        """Train all or some columns of a code on all or some rows; `init` are the same columns, trained on others.

        `doing` is the name of this work in reports of progress.
        """
        code, rows = as_drawn(code), self.rows if rows is None else rows
        n_columns = code.shape[1]
        if columns is None:
            columns = np.arange(n_columns)
        else:
            code = code.take(columns)
        positive, negative = code.signs(np.flatnonzero(np.bincount(self.y[rows])))
        # A node may lack the rows of some child; its columns are then all negative there.
        by_nodes = not self.balanced and self.learner.trains_nodes(self.data, code)
        live = positive & negative | (by_nodes or self.learner.trains_one_sided)
        # All that can be learned from one sign is that sign.
        constant = np.where(live, 0.0, positive.astype(float) - negative.astype(float))
        if not live.any():
            return Columns(None, live, constant)
        code = code if live.all() else code.take(np.flatnonzero(live))
        everything = np.array_equal(rows, np.arange(len(self.y)))
        with progress.phase(doing, code.shape[1], "columns"):
            fitted = self.learner.take(columns[live], n_columns).fit_columns(
                self.data,
                self.y,
                code,
                self.row_weight(np.arange(len(self.y))) if by_nodes else self.weight,
                None if by_nodes else self._column_weight(code, rows),
                rows=None if everything else rows,
                init=init.fitted if init is not None and np.array_equal(init.live, live) else None,
                n_jobs=self.n_jobs,
                seed=self.seed,
            )
        return Columns(fitted, live, constant)

    def row_weight(self, rows: Rows | None = None) -> Array | None:
        """Return the weight of each of `rows` in all columns; None if they are equal."""
        rows = self.rows if rows is None else rows
        own = None if self.weight is None else self.weight[rows]
        if self.class_weight is None:
            return own
        classwise: Array = self.class_weight[self.y[rows]]
        return classwise if own is None else own * classwise

    def _column_weight(self, code: DrawnCode, rows: Rows) -> Array | None:
        """(k, L): the weight of an example of class r in column s, apart from its own weight; None for 1."""
        k, L = code.shape
        if not self.balanced:
            return None if self.class_weight is None else np.tile(self.class_weight[:, None], L)
        M = code.matrix()
        classwise = np.ones(k) if self.class_weight is None else self.class_weight
        own = None if self.weight is None else self.weight[rows]
        mass = classwise * np.bincount(self.y[rows], weights=own, minlength=k)
        plus, minus = mass @ (M > 0), mass @ (M < 0)
        return classwise[:, None] * np.where(M > 0, (plus + minus) / (2 * plus), (plus + minus) / (2 * minus))

    def margins(self, code: AnyCode, held_out: Any = None, init: Columns | None = None) -> Array:
        """Return (len(rows), L) margins of the sample's own rows; columns already trained are remembered.

        `held_out` is None for training margins; a number of folds or a scikit-learn splitter for margins of
        columns trained without the row, NaN where a fold lacked a sign of the column. `init`, the columns of the code
        trained on all rows, is where folds start if the learner `warm_starts`.
        """
        code, splits = as_drawn(code), self._folds(held_out)
        if not isinstance(code, MatrixCode):
            # Columns that are not written down can't be recognised again.
            return self._margins(code, None, splits, init)
        M = code.matrix()
        # Equal columns are one column, unless each has an estimator of its own or all are trained as one.
        joint = self.learner.joint
        placed = joint or self.learner.positional
        keys = [(id(splits), (M if joint else column).tobytes(), j if placed else 0) for j, column in enumerate(M.T)]
        new = np.array([j for j, key in enumerate(keys) if key not in self._remembered], dtype=np.intp)
        if new.size:
            F = self._margins(code, new, splits, init if len(new) == len(keys) else None)
            self._remembered |= {keys[j]: f for j, f in zip(new, F.T, strict=True)}
        return np.column_stack([self._remembered[key] for key in keys])

    def leave_one_out_margins(self, code: AnyCode) -> Array:
        """Return leave-one-out margins of a learner with a closed form; NaN where the row was all of its side."""
        code, y = as_drawn(code), self.labels
        F = np.full((len(self.rows), code.shape[1]), np.nan)
        positive, negative = code.signs(np.flatnonzero(np.bincount(y)))
        live = np.flatnonzero(positive & negative)
        if not live.size:
            return F
        code = code if len(live) == code.shape[1] else code.take(live)
        F[:, live] = self.learner.leave_one_out_margins(
            self.data,
            self.y,
            code,
            self.weight,
            self._column_weight(code, self.rows),
            rows=self.rows,
            n_jobs=self.n_jobs,
        )
        alone, column = alone_on_its_side(code, y)
        F[alone, live[column]] = np.nan
        return F

    def _folds(self, held_out: Any) -> Folds | None:
        """The folds of a number or splitter, the same ones whenever it is asked for again."""
        if held_out is None:
            return None
        for known, splits in self._splits:
            if known is held_out or (isinstance(known, int) and known == held_out):
                return splits
        number = isinstance(held_out, int | np.integer)
        splits = folds(self.labels, held_out, self.seed) if number else folds_of(held_out, *self.given)
        self._splits.append((held_out, splits))
        return self._splits[-1][1]

    def _margins(self, code: DrawnCode, columns: Rows | None, splits: Folds | None, init: Columns | None) -> Array:
        """Margins of all or some columns of a code, trained on all rows or without the row."""
        if splits is None:
            return self.fit(code, columns=columns).margins(self.data, self.rows)
        F = np.full((len(self.rows), code.shape[1] if columns is None else len(columns)), np.nan)
        # Only where the start leaves the result unchanged: boosting would continue rounds that saw the held-out rows.
        init = init if self.learner.warm_starts else None
        for number, (train, test) in enumerate(splits, start=1):
            doing = f"held-out margins, fold {number} of {len(splits)}"
            fitted = self.fit(code, self.rows[train], columns, init, doing=doing)
            # Test sets may overlap: what another split has found stays where this one has nothing.
            F[test] = np.where(fitted.live, fitted.margins(self.data, self.rows[test]), F[test])
        return F


@dataclass(frozen=True)
class Posed:
    """A sample that was checked against a classifier's parameters, ready for training.

    Attributes
    ----------
    problem : Problem
    code : Code or DrawnCode
        The code to draw; of a multilabel y the label sets of the sample.
    targets : OneLabel or ManyLabels
        What y holds.
    decoder : Decoder
        The decoder that was asked for.
    """

    problem: Problem
    code: Code | DrawnCode
    targets: Targets
    decoder: Decoder

    def draw(self) -> DrawnCode:
        """Draw the code, from the problem if it is made from data, and check it."""
        if isinstance(self.code, DrawnCode):
            return self.code
        drawn = self.code.draw(len(self.targets.classes), random_state=self.problem.seed, problem=self.problem)
        # What is not written down has its distinct rows by construction.
        return MatrixCode(check_code(drawn)) if isinstance(drawn, MatrixCode) else drawn


class TrainedCode:
    """A code trained on a problem: margins of new rows and of its own, and decoders fitted on them.

    Attributes
    ----------
    problem : Problem
    code : DrawnCode
    columns : Columns
    loss : str or None
        The margin loss that the columns minimise.
    """

    def __init__(self, problem: Problem, code: AnyCode, columns: Columns) -> None:
        self.problem = problem
        self.code = as_drawn(code)
        self.columns = columns
        declared = problem.learner.loss
        self.loss = declared if columns.fitted is None else columns.fitted.loss_after_fit(declared)

    @property
    def signs_only(self) -> bool:
        """Whether some column has no real-valued output, so that its margins are ±1."""
        return self.columns.fitted is not None and self.columns.fitted.signs_only

    def margins(self, X: Any) -> Array:
        """Return (n, L) margins of new X."""
        return self.columns.margins(X)

    def first_rounds(self, n_rounds: int) -> TrainedCode:
        """Return the code as fewer rounds train it; for learners `in_stages`."""
        columns = self.columns
        if columns.fitted is None:
            return self
        fitted = columns.fitted.first_rounds(n_rounds)
        if not fitted.round_per_column:
            return TrainedCode(self.problem, self.code, Columns(fitted, columns.live, columns.constant))
        some = np.arange(min(n_rounds, self.code.shape[1]))
        return TrainedCode(
            self.problem, self.code.take(some), Columns(fitted, columns.live[some], columns.constant[some])
        )

    def training_margins(self) -> Array:
        """Return (len(rows), L) margins of the sample's own rows."""
        return self.columns.margins(self.problem.data, self.problem.rows)

    def held_out_margins(self, cv: Any = None) -> Array:
        """Return (len(rows), L) margins of columns that were trained without the row, NaN where that was impossible.

        For a number `cv`, a learner with leave-one-out margins in closed form returns those instead of folds; None is
        5, as in scikit-learn. A column that is constant on the whole sample has its constant.
        """
        cv = 5 if cv is None else cv
        if isinstance(cv, int | np.integer) and self.problem.learner.leave_one_out == "exact":
            check_number_of_folds(cv, len(self.problem.rows))
            return self.leave_one_out_margins()
        return self._with_constants(self.problem.margins(self.code, cv, init=self.columns))

    def leave_one_out_margins(self) -> Array:
        """Return (len(rows), L) margins of columns trained without the row; for learners with a closed form."""
        return self._with_constants(self.problem.leave_one_out_margins(self.code))

    def objection(self, decoder: str | Decoder) -> str | None:
        """Return why a decoder can't serve these columns, or None."""
        resolved = resolved_for(decoder, self.loss, self.code)
        return resolved.objection_to(self.code)

    def decoder(self, decoder: str | Decoder) -> Decoder:
        """Return a decoder for these columns, fitted on the margins that it needs."""
        return self.fit_decoder(decoder_for(decoder, self.loss, self.code))

    def fit_decoder(self, decoder: Decoder) -> Decoder:
        """Fit a decoder of these columns on the margins that it needs, and return it."""
        if not isinstance(decoder, Decoder):
            raise ValueError(
                f"fit_decoder takes a Decoder, not {decoder!r}; decoder(...) makes one of a name and fits it."
            )
        if decoder.needs is None:
            return decoder
        if decoder.searches:
            return self._fit_search(decoder)
        problem, rows = self.problem, self.problem.rows
        if decoder.needs == "train":
            F = self.training_margins()
        elif problem.held_out is None:
            F = self.held_out_margins(decoder.cv)
        else:
            rows = problem.held_out
            F = self.columns.margins(problem.data, rows)
        return decoder.fit(F, problem.y[rows], decoder.as_read(self.code), problem.row_weight(rows))

    def _fit_search(self, decoder: Decoder) -> Decoder:
        """Fit a decoder that searches on margins that are never all computed, of rows that were held out."""
        problem, columns, held_out = self.problem, self.columns, self.problem.held_out
        if held_out is None:
            train, test = held_out_share(problem.labels, 0.1, problem.seed)
            held_out = problem.rows[test]
            columns = problem.fit(self.code, problem.rows[train], doing="columns for held-out margins")
        margins = columns.on_demand(take_rows(problem.X, held_out))
        return decoder.fit_on_demand(margins, problem.y[held_out], self.code, problem.row_weight(held_out))

    def _with_constants(self, F: Array) -> Array:
        constant = ~self.columns.live
        F[:, constant] = self.columns.constant[constant]
        return F
