"""Folds trained at once: a row that a fold leaves out is a zero in the columns of that fold.

The rows of class r that fold f leaves out are the class (r, f) of a larger code. It has the columns of the code once
for every fold, and zeros where class and column have the same fold. The learner needs to know nothing of this: where a
training is mostly the overhead of its passes, as with few rows, the passes serve all folds.
"""

from __future__ import annotations

import copy
import time
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

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
    """A training on one fold, and its share of the seconds that all folds took."""

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
        self.before: TrainedCode | None = None
        self.like: TrainedCode | None = None
        self._joint: Joint | None = None

    def along(self, segment: Sequence[Training]) -> list[list[OfFold]]:
        """Return the first trainings of a segment, each on all folds; none if folds are to be trained one by one."""
        walk, found = Walk(self.before), list[list[OfFold]]()
        for training in segment:
            try:
                trained = self._train(training, walk)
            except Exception:  # raised again, and reported, where the fold is trained on its own
                trained = None
            if trained is None:
                self.possible = False
                break
            found.append(trained)
        self.before = walk.first
        return found

    def _train(self, training: Training, walk: Walk) -> list[OfFold] | None:
        model = training.model
        if not self.possible or not isinstance(model, OutputCodeClassifier) or not learner_of(model).joins_folds:
            return None
        start, posed = time.perf_counter(), list[Posed]()
        with one_blas_thread():
            for rows in self.folds:
                like = posed[0] if posed else self.like
                posed.append(copy.copy(model).pose(self.X, self.y, like=like, rows=rows, **self.fit_params))
            joint = self._joint = joined(posed, self._joint)
            if joint is None:
                return None
            own = posed[0].problem
            how: dict[str, Any] = {"like": own.data, "n_jobs": own.n_jobs, "seed": own.seed}
            problem = Problem(own.learner, own.X, joint.y, own.weight, rows=joint.rows, **how)
            trained = problem.train(joint.whole, walk.start(training.place))
        walk.reached(training.place, trained)
        if (parts := apart(trained, posed, joint.code)) is None:
            return None
        self.like = parts[0]
        seconds = (time.perf_counter() - start) / len(parts)
        return [OfFold(one, part, seconds) for one, part in zip(posed, parts, strict=True)]


def joined(posed: Sequence[Posed], before: Joint | None) -> Joint | None:
    """Return the folds as one problem, or None if they can't be trained together.

    `posed` are the problems of one classifier on parts of the same data; `before` are the same folds, perhaps with
    another code.
    """
    first, problem = posed[0], posed[0].problem
    if (
        problem.balanced
        or problem.class_weight is not None
        or (isinstance(first.code, Code) and first.code.needs_problem)
    ):
        return None  # weights or the code are made from the rows of a fold
    code = first.draw()
    alike = all(
        np.array_equal(one.targets.classes, first.targets.classes)
        and (isinstance(one.code, Code) or code.same_as(one.code))
        for one in posed
    )
    (k, L), F, n = code.shape, len(posed), len(problem.y)
    if not alike or not isinstance(code, MatrixCode) or n * L * F > MOST_SCORES:
        return None
    if before is not None and code.same_as(before.code):
        return before
    member = np.zeros((F, n), dtype=bool)
    for own, one in zip(member, posed, strict=True):
        own[one.problem.rows] = True
    rows = np.flatnonzero(member.any(axis=0))
    patterns, part = np.unique(np.packbits(member[:, rows], axis=0), axis=1, return_inverse=True)
    # With rows that are drawn twice, or that several folds leave out, there is more to a fold than a zero.
    if patterns.shape[1] > F or member.sum() != sum(len(one.problem.rows) for one in posed):
        return None
    label = np.max([one.problem.y for one in posed], axis=0)[rows]
    classes, numbers = np.unique(part.ravel() * k + label, return_inverse=True)
    present = np.unpackbits(patterns, axis=0, count=F)[:, classes // k].astype(np.int8)
    M, y = code.matrix()[classes % k], np.full(n, -1)
    y[rows] = numbers
    return Joint(y, rows, MatrixCode(np.hstack([M * own[:, None] for own in present])), code)


def apart(trained: TrainedCode, posed: Sequence[Posed], code: DrawnCode) -> list[TrainedCode] | None:
    """Return the trained code of each fold, or None if some column of some fold is constant."""
    columns = trained.columns
    if columns.fitted is None or not columns.live.all():
        return None
    parts = []
    for one, own in zip(posed, np.split(np.arange(len(columns.live)), len(posed)), strict=True):
        fitted = columns.fitted.take(own)
        parts.append(TrainedCode(one.problem, code, Columns(fitted, columns.live[own], columns.constant[own])))
    return parts
