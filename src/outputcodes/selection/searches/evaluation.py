"""Evaluates candidates on folds: what they share is prepared, trained and read once."""

from __future__ import annotations

import copy
import traceback
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import joblib
import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import clone
from sklearn.pipeline import Pipeline

from outputcodes._ground.blocks import one_blas_thread
from outputcodes._ground.validation import n_rows_of, take_rows
from outputcodes.boosting import Booster, GradientBoost
from outputcodes.classifier import OutputCodeClassifier
from outputcodes.selection.leave_one_out import judge
from outputcodes.selection.searches.joined_folds import JoinedFolds, OfFold
from outputcodes.selection.searches.plan import READING, Path, Training, paths, reads_rounds, rounds_of
from outputcodes.selection.searches.scores import Outcome, Part, Scoring, Stopwatch, knowing
from outputcodes.selection.searches.starts import Walk, on_other_rows
from outputcodes.training import Posed, TrainedCode

Rows = NDArray[np.intp]


@dataclass(frozen=True)
class Task:
    """The sample of a search, its folds, and how candidates are scored on them.

    Attributes
    ----------
    X, y : the sample
    splits : list of (train, test)
        Row numbers; None instead of the list judges each training by its leave-one-out error.
    fit_params, score_params : dict
        Arguments of `fit` and of the scorer; those with an entry per row are cut to the rows.
    scoring : Scoring
    train_scores : bool
    pairwise : bool
        Whether X holds kernel values between all pairs of rows.
    """

    X: Any
    y: Any
    splits: list[tuple[Rows, Rows]] | None
    fit_params: dict[str, Any]
    score_params: dict[str, Any]
    scoring: Scoring
    train_scores: bool = False
    pairwise: bool = False

    def rows_of(self, params: dict[str, Any], rows: Rows) -> dict[str, Any]:
        """Return parameters for some rows."""
        n = n_rows_of(self.X)
        return {name: take_rows(value, rows) if _per_row(value, n) else value for name, value in params.items()}


@dataclass
class Fold:
    """A fold as the classifier sees it.

    Attributes
    ----------
    number : int
    test, train : Part or None
        The rows to score on.
    rows, others : ndarray or None
        The training and the test rows in the X of the sample; None if the sample has the training rows alone.
    before : TrainedCode or None
        The last training of the fold.
    """

    number: int
    test: Part | None
    train: Part | None
    rows: Rows | None = None
    others: Rows | None = None
    before: TrainedCode | None = None


@dataclass
class Sample:
    """Rows that are prepared together, and the folds that lie in them."""

    X: Any
    y: Any
    fit_params: dict[str, Any]
    folds: list[Fold]


def evaluate(
    models: Sequence[Any], task: Task, report: Callable[[], None]
) -> tuple[list[list[Outcome]], TrainedCode | None]:
    """Return the outcome of each model on each fold; `report` is called before each training.

    The last training, if it prepared all rows of X, comes with them: what is fitted to all rows may begin with it.
    """
    last: TrainedCode | None = None
    n_folds = 1 if task.splits is None else len(task.splits)
    outcomes: list[list[Any]] = [[None] * n_folds for _ in models]
    for head, finals in _by_head(models, task):
        made: dict[bool, list[Sample]] = {}
        for path in paths(finals):
            if path.shares_rows not in made:
                try:
                    made[path.shares_rows] = list(_samples(head, task, path.shares_rows))
                except Exception:
                    _fail(outcomes, path, range(n_folds), task.scoring)
                    continue
            for sample in made[path.shares_rows]:
                trained: list[TrainedCode] = []
                for number, index, outcome in _along(path, sample, task, report, trained):
                    outcomes[index][number] = outcome
                if trained and sample.X is task.X:
                    last = trained[0]
    return outcomes, last


def _along(
    path: Path, sample: Sample, task: Task, report: Callable[[], None], last: list[TrainedCode]
) -> Iterator[tuple[int, int, Outcome]]:
    """Train along a path and yield the outcomes: fold, candidate, outcome; `last` holds the last training."""
    like: TrainedCode | Posed | None = None
    together = JoinedFolds(sample.X, sample.y, sample.fit_params, [fold.rows for fold in sample.folds])
    for fold in sample.folds:
        fold.before = None
    for segment in path.segments:
        rest = list(segment)
        for of_folds in together.along(segment):
            training = rest.pop(0)
            for fold, found in zip(sample.folds, of_folds, strict=True):
                report()
                _, outcomes = _tried(partial(_taken_over, found), training, fold, task, found.seconds)
                fold.before = found.code
                last[:] = [found.code]
                yield from outcomes
        like, neighbour = together.like or like, None
        for fold in sample.folds:
            # The last segment began with the same value of the last parameter, and so did the fold before.
            walk = Walk(fold.before or on_other_rows(neighbour))
            for training in rest:
                report()
                train = partial(_train, training.model, sample, fold, like, walk.start(training.place))
                trained, outcomes = _tried(train, training, fold, task)
                if trained is None:
                    walk.lost(fold.before)
                elif trained.code is not None:
                    like = trained.code
                    last[:] = [trained.code]
                    walk.reached(training.place, trained.code)
                yield from outcomes
            fold.before = neighbour = walk.first


@dataclass(frozen=True)
class Trained:
    """A fitted model and, where it has one, its trained code."""

    model: Any
    code: TrainedCode | None = None
    posed: Posed | None = None


def _train(
    model: Any, sample: Sample, fold: Fold, like: TrainedCode | Posed | None, start: TrainedCode | None
) -> Trained:
    # A training changes no parameter of ours, nor the estimator: folds may share them.
    model = copy.copy(model) if isinstance(model, OutputCodeClassifier) else clone(model)
    if isinstance(model, OutputCodeClassifier):
        if like is not None:
            like.problem.learner.release(like.problem.data)
        posed = model.pose(sample.X, sample.y, like=like, rows=fold.rows, **sample.fit_params)
        if like is None and fold.rows is not None:
            held_out = [one.others for one in sample.folds if one.others is not None]
            classes = np.zeros(n_rows_of(sample.y), np.intp)
            if np.ndim(sample.y) == 1:
                classes = np.unique(np.asarray(sample.y), return_inverse=True)[1]
            posed.problem.learner.foresee(posed.problem.data, held_out, classes)
        return Trained(model, model.solve(posed, start), posed)
    if isinstance(model, Booster):
        return Trained(model, model.train(sample.X, sample.y, **sample.fit_params))
    return Trained(model.fit(sample.X, sample.y, **sample.fit_params))


def _taken_over(found: OfFold) -> Trained:
    """Return the model of a fold that was trained together with others."""
    return Trained(found.model.read(found.posed, found.code), found.code, found.posed)


def _tried(
    train: Callable[[], Trained], training: Training, fold: Fold, task: Task, seconds: float = 0.0
) -> tuple[Trained | None, list[tuple[int, int, Outcome]]]:
    """Return what `train` returns, None if it fails, and the outcomes; `seconds` were spent on it before."""
    watch = Stopwatch(seconds)
    with one_blas_thread():
        try:
            trained = train()
        except Exception:
            return None, _failed(training, fold, watch.lap(), task.scoring)
        seconds = watch.lap() / len(training.readers)
        found = _readings(training, trained, fold, task, seconds)
        return trained, [(fold.number, index, outcome) for index, outcome in found]


def _readings(
    training: Training, trained: Trained, fold: Fold, task: Task, seconds: float
) -> Iterator[tuple[int, Outcome]]:
    """Yield the outcome of each candidate that reads a training."""
    known: dict[int, list[tuple[Any, Any]]] = {}
    for index, wanted in training.readers:
        watch = Stopwatch()
        try:
            rounds = rounds_of(wanted) if reads_rounds(wanted) else 0
            model, code = _read(wanted, trained, rounds)
        except Exception:
            if task.scoring.error_score == "raise":
                raise
            yield index, _failure(seconds + watch.lap(), task.scoring)
            continue
        fitting = seconds + watch.lap()
        if task.splits is None:
            assert code is not None
            found = judge(code, model.decoder_)
            yield index, Outcome(1 - found.error, None, fitting, watch.lap(), kind=found.kind)
            continue
        assert fold.test is not None
        if code is not None:
            if rounds not in known:
                known[rounds] = list(_margins(model, code, fold))
            model = knowing(model, known[rounds])
        test = task.scoring.of(model, fold.test)
        scored = watch.lap()
        train = None if fold.train is None else task.scoring.of(model, fold.train)
        yield index, Outcome(test, train, fitting, scored)


def _margins(model: Any, code: TrainedCode, fold: Fold) -> Iterator[tuple[Any, Any]]:
    """Yield the margins of the rows to score on."""
    for part, rows in ((fold.test, fold.others), (fold.train, fold.rows)):
        if part is not None:
            data = code.problem.data
            yield part.X, model.margins(part.X) if rows is None else code.columns.margins(data, rows)


def _read(wanted: Any, trained: Trained, rounds: int) -> tuple[Any, TrainedCode | None]:
    """Return a candidate as a training fits it."""
    if isinstance(wanted, GradientBoost):
        return (trained.model.with_rounds(rounds) if rounds else trained.model), None
    if trained.code is None:
        return trained.model, None
    code = trained.code.first_rounds(rounds) if rounds else trained.code
    if not rounds and all(getattr(wanted, name, None) is getattr(trained.model, name, None) for name in READING):
        return trained.model, code
    view = copy.copy(trained.model)
    for name, value in clone(wanted).get_params(deep=False).items():
        setattr(view, name, value)
    return (view.read(trained.posed, code) if trained.posed is not None else view.read(code)), code


def _failure(seconds: float, scoring: Scoring) -> Outcome:
    return Outcome(scoring.failed(), scoring.failed(), seconds, 0.0, traceback.format_exc())


def _failed(training: Training, fold: Fold, seconds: float, scoring: Scoring) -> list[tuple[int, int, Outcome]]:
    """Return the outcomes of a training that raised, or raise again."""
    if scoring.error_score == "raise":
        raise
    return [(fold.number, index, _failure(seconds, scoring)) for index, _ in training.readers]


def _fail(outcomes: list[list[Any]], path: Path, folds: range, scoring: Scoring) -> None:
    if scoring.error_score == "raise":
        raise
    for segment in path.segments:
        for training in segment:
            for index, _ in training.readers:
                outcomes[index] = [_failure(0.0, scoring) for _ in folds]


def _by_head(models: Sequence[Any], task: Task) -> Iterator[tuple[Any, list[tuple[int, Any]]]]:
    """Yield the first steps of pipelines, or None, with the classifiers that follow them."""
    groups: dict[Any, tuple[Any, list[tuple[int, Any]]]] = {}
    for index, model in enumerate(models):
        head, final, key = None, model, "none"
        if isinstance(model, Pipeline) and len(model.steps) > 1 and not task.fit_params:
            last = model.steps[-1][1]
            if isinstance(last, OutputCodeClassifier | Booster | GradientBoost):
                head, final = model[:-1], last
                try:
                    key = joblib.hash([(name, step) for name, step in head.steps])
                except Exception:  # what can't be compared is fitted on its own
                    key = f"alone {index}"
        groups.setdefault(key, (head, []))[1].append((index, final))
    yield from groups.values()


def _samples(head: Any, task: Task, together: bool) -> Iterator[Sample]:
    """Yield the samples of all folds: one if they are prepared `together`, otherwise one per fold."""
    X, y, params = task.X, task.y, task.fit_params
    if task.splits is None:
        X = X if head is None else clone(head).fit_transform(X, y)
        yield Sample(X, y, params, [Fold(0, None, None)])
        return
    folds: list[Fold] = []
    for number, (train, test) in enumerate(task.splits):
        if together and head is None and not task.train_scores:
            # The training rows are read where they are.
            X_test = _rows(X, test, train if task.pairwise else None)
            scored = Part(X_test, take_rows(y, test), task.rows_of(task.score_params, test))
            folds.append(Fold(number, scored, None, train, test))
            continue
        parts = [
            Part(_rows(X, rows, train if task.pairwise else None), take_rows(y, rows), {}) for rows in (train, test)
        ]
        X_train, X_test = (part.X for part in parts)
        if head is not None:
            first = clone(head)
            X_train = first.fit_transform(X_train, parts[0].y)
            X_test = first.transform(X_test)
        scored = Part(X_test, parts[1].y, task.rows_of(task.score_params, test))
        trained = Part(X_train, parts[0].y, task.rows_of(task.score_params, train)) if task.train_scores else None
        if together and head is None:
            folds.append(Fold(number, scored, trained, train, test))
        elif together and _joins(X_train, X_test):
            joined, labels = _joined(X_train, X_test), _joined(*(part.y for part in parts))
            rows = np.arange(n_rows_of(joined))
            inside, outside = np.split(rows, [n_rows_of(X_train)])
            yield Sample(joined, labels, {}, [Fold(number, scored, trained, inside, outside)])
        else:
            yield Sample(X_train, parts[0].y, task.rows_of(params, train), [Fold(number, scored, trained)])
    if folds:
        yield Sample(X, y, params, folds)


def _rows(X: Any, rows: Rows, columns: Rows | None) -> Any:
    """Return some rows of X, and of kernel values the columns of the training rows."""
    return take_rows(X, rows) if columns is None else np.asarray(X)[np.ix_(rows, columns)]


def _joins(A: Any, B: Any) -> bool:
    return (sparse.issparse(A) and sparse.issparse(B)) or (isinstance(A, np.ndarray) and isinstance(B, np.ndarray))


def _joined(A: Any, B: Any) -> Any:
    if sparse.issparse(A):
        return sparse.vstack([A, B], "csr")
    return np.concatenate([np.asarray(A), np.asarray(B)])


def _per_row(value: Any, n: int) -> bool:
    sized = hasattr(value, "__len__") or bool(getattr(value, "shape", ()))
    return sized and not isinstance(value, str | dict) and n_rows_of(value) == n
