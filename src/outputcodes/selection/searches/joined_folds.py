"""Folds trained at once: a row that a fold leaves out is a zero in the columns of that fold.

The rows of class r that fold f leaves out are the class (r, f) of a larger code. It has the columns of the code once
for every fold, and zeros where class and column have the same fold. The learner needs to know nothing of this: where a
training is mostly the overhead of its passes, as with few rows, the passes serve all folds.
"""

from __future__ import annotations

import copy
import time
import warnings
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from outputcodes._ground.blocks import one_blas_thread
from outputcodes._ground.drawn_code import DrawnCode, MatrixCode
from outputcodes._ground.folds import Rows
from outputcodes.classifier import OutputCodeClassifier
from outputcodes.codes import Code
from outputcodes.learners.trained_columns import Columns
from outputcodes.selection.searches.plan import Training, learner_of
from outputcodes.selection.searches.starts import Walk
from outputcodes.training import Posed, Problem, TrainedCode

# Scores of all rows in the columns of all folds: with more, passes are no overhead, and memory counts.
MOST_SCORES = 1 << 22


class OfFold(NamedTuple):
    """A classifier trained on one fold, ready to be read, and its share of the seconds that all folds took."""

    model: OutputCodeClassifier
    posed: Posed
    code: TrainedCode
    seconds: float


class Joint(NamedTuple):
    """The classes of the larger code for each row, -1 outside `rows`, and that code beside the one it is made of."""

    y: Rows
    rows: Rows
    whole: DrawnCode
    code: DrawnCode


class JoinedFolds:
    """Trainings on all folds of a sample at once; `folds` are their rows, None where they can't be joined."""

    def __init__(self, X: Any, y: Any, fit_params: dict[str, Any], folds: Sequence[Rows | None]) -> None:
        self.X, self.y, self.fit_params = X, y, fit_params
        self.folds = [rows for rows in folds if rows is not None]
        self.possible = 1 < len(self.folds) == len(folds) and not sparse.issparse(X)
        # What was prepared last.
        self.like: Posed | None = None
        self._joint: Joint | None = None

    def along(self, segment: Sequence[Training]) -> Iterator[list[OfFold]]:
        """Yield one training after another on all folds, until they are to be trained one by one."""
        walk = Walk(None)
        for training in segment:
            try:
                trained = self._train(training, walk)
            except Exception:  # raised again, and reported, where the fold is trained on its own
                trained = None
            if trained is None:
                self.possible = False
                return
            yield trained

    def _train(self, training: Training, walk: Walk) -> list[OfFold] | None:
        model, start = training.model, time.perf_counter()
        if not self.possible or not isinstance(model, OutputCodeClassifier) or not learner_of(model).joins_folds:
            return None
        models, posed = list[OutputCodeClassifier](), list[Posed]()
        with one_blas_thread(), warnings.catch_warnings():
            # What does not converge is trained fold by fold: columns share their iterations.
            warnings.simplefilter("error", ConvergenceWarning)
            for rows in self.folds:
                models.append(copy.copy(model))
                posed.append(models[-1].pose(self.X, self.y, like=self.like, rows=rows, **self.fit_params))
                self.like = posed[-1]
                if _depends_on_rows(posed[-1]):
                    return None
            self._joint = joined(posed, self._joint)
            if self._joint is None:
                return None
            trained = _problem(posed[0].problem, self._joint).train(self._joint.whole, walk.start(training.place))
        walk.reached(training.place, trained)
        parts = apart(trained, posed, self._joint.code)
        seconds = (time.perf_counter() - start) / len(parts)
        return [OfFold(*of_fold, seconds) for of_fold in zip(models, posed, parts, strict=True)]


def _depends_on_rows(posed: Posed) -> bool:
    """Return whether the code or weights are made from the rows of a fold."""
    learned = isinstance(posed.code, Code) and posed.code.needs_problem
    return learned or posed.problem.balanced or posed.problem.class_weight is not None


def _problem(fold: Problem, joint: Joint) -> Problem:
    """Return the problem of all folds, given that of one."""
    how: dict[str, Any] = {"like": fold.data, "n_jobs": fold.n_jobs, "seed": fold.seed}
    return Problem(fold.learner, fold.X, joint.y, fold.weight, rows=joint.rows, **how)


def joined(posed: Sequence[Posed], before: Joint | None) -> Joint | None:
    """Return the folds as one problem, or None if they can't be trained together.

    `posed` are the problems of one classifier on parts of the same data; `before` are the same folds, perhaps with
    another code.
    """
    first, problem = posed[0], posed[0].problem
    code, F, n = first.draw(), len(posed), len(problem.y)
    k, L = code.shape
    if not isinstance(code, MatrixCode) or n * L * F > MOST_SCORES:
        return None
    for one in posed[1:]:
        # With one seed, one code is drawn.
        same = isinstance(one.code, Code) and one.problem.seed == problem.seed
        if not np.array_equal(one.targets.classes, first.targets.classes) or not (same or code.same_as(one.draw())):
            return None
    if before is not None and code.same_as(before.code):
        return before
    member = np.zeros((F, n), dtype=bool)
    for own, one in zip(member, posed, strict=True):
        own[one.problem.rows] = True
    if member.sum() != sum(len(one.problem.rows) for one in posed):
        return None  # a row that is drawn twice counts twice
    rows = np.flatnonzero(member.any(axis=0))
    patterns, part = np.unique(np.packbits(member[:, rows], axis=0), axis=1, return_inverse=True)
    if patterns.shape[1] > F:
        return None  # with many kinds of rows, pieces are small, or most of their entries are zeros
    label = np.max([one.problem.y for one in posed], axis=0)[rows]
    classes, numbers = np.unique(part.ravel() * k + label, return_inverse=True)
    present = np.unpackbits(patterns, axis=0, count=F)[:, classes // k].astype(np.int8)
    M, y = code.matrix()[classes % k], np.full(n, -1)
    y[rows] = numbers
    whole = MatrixCode(np.hstack([M * own[:, None] for own in present]))
    if not np.logical_and(*whole.signs(np.arange(len(classes)))).all():
        return None  # a column that is constant on a fold is not trained there
    return Joint(y, rows, whole, code)


def apart(trained: TrainedCode, posed: Sequence[Posed], code: DrawnCode) -> list[TrainedCode]:
    """Return the trained code of each fold."""
    columns, parts = trained.columns, []
    assert columns.fitted is not None
    for one, own in zip(posed, np.split(np.arange(len(columns.live)), len(posed)), strict=True):
        fitted = columns.fitted.take(own)
        parts.append(TrainedCode(one.problem, code, Columns(fitted, columns.live[own], columns.constant[own])))
    return parts
