"""A code designed column by column by training the learner (after Crammer and Singer 2002)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from outputcodes._ground.choosing import clearly_less, first_smallest
from outputcodes._ground.planning import Planning
from outputcodes.codes._data_driven import Array, DataDriven, HeldOut, check_problem
from outputcodes.codes.base import Matrix, as_generator, checked_integer, checked_n_classes
from outputcodes.codes.column_rule import Column, column_success, first_column

# The maximal number of alternations per column; almost always they end after one or two.
MOST_STEPS = 20


@dataclass(frozen=True)
class Design:
    """The course of a design.

    Attributes
    ----------
    matrix : ndarray of int8, shape (k, L)
        The code: the columns up to the smallest error with distinct rows.
    errors : list of float
        The held-out error after each column that was tried, including those after the last one of `matrix`.
    successes : list of list of float
        For each of these columns, xi after each training in its alternation.
    """

    matrix: Matrix
    errors: list[float]
    successes: list[list[float]]


class Designed(DataDriven):
    """A code whose columns are added one by one, each adapted to what the learner can separate.

    Candidates are drawn as halves of the classes and trained. The classes of each are reassigned by the rule of
    `first_column`, and it is trained again, as long as its success xi increases. Among the drawn and the reassigned
    columns, the one with the smallest held-out error of the whole code is appended. The design ends when the error no
    longer decreases, or when no new column is found, and returns to its minimum. The code is dense, and its rows are
    distinct.

    Parameters
    ----------
    max_length : int, optional
        The maximal number of columns; None means ceil(10 log2 k). It is exceeded only while rows are still equal.
    n_candidates : int, default=8
        The number of columns drawn for each position.
    patience : int, default=5
        The design ends after this many columns without a smaller error.
    cv : int, splitter or None, default=3
        The folds of the held-out margins, by which columns are reassigned and selected.

    Notes
    -----
    The error is that of loss-based decoding with the learner's own loss; equal rows share their examples evenly. Each
    column takes about 2·n_candidates·cv trainings, whose margins are cached by the problem.

    References
    ----------
    K. Crammer, Y. Singer. On the learnability and design of output codes for multiclass problems. Machine Learning
    47, 2002. The rule for one column is theirs; selecting several by held-out error is ours.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from outputcodes import OutputCodeClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> OutputCodeClassifier("ridge", code=Designed(), random_state=0).fit(X, y).code_matrix_
    array([[-1, -1],
           [ 1, -1],
           [ 1,  1]], dtype=int8)
    """

    planning = Planning(tried=False)

    def __init__(self, max_length: int | None = None, n_candidates: int = 8, patience: int = 5, cv: Any = 3) -> None:
        self.max_length = max_length
        self.n_candidates = n_candidates
        self.patience = patience
        self.cv = cv

    def _check_parameters(self) -> None:
        if self.max_length is not None:
            checked_integer(
                "max_length", self.max_length, 1, "it is the maximal number of columns; None uses the default"
            )
        checked_integer("n_candidates", self.n_candidates, 1, "it is the number of columns drawn for each position")
        checked_integer(
            "patience", self.patience, 1, "it is the number of columns without improvement after which the design ends"
        )

    def _from_problem(self, k: int, rng: np.random.Generator, problem: Any) -> Matrix:
        return self._design(k, rng, problem).matrix

    def trace(self, n_classes: int, random_state: Any = None, problem: Any = None) -> Design:
        """Return the design with the errors and successes along the way; `draw` returns the code alone."""
        self._check_parameters()
        check_problem(self, problem)
        return self._design(checked_n_classes(n_classes), as_generator(random_state), problem)

    def _design(self, k: int, rng: np.random.Generator, problem: Any) -> Design:
        held_out = HeldOut(problem, k, self.cv)
        longest = int(self.max_length or math.ceil(10 * math.log2(k)))
        columns: list[Column] = []
        errors: list[float] = []
        successes: list[list[float]] = []
        total = np.zeros((len(held_out.y), k))
        group = np.zeros(k, dtype=np.intp)  # classes with equal rows so far
        best, smallest, draws = 0, np.inf, range(self.n_candidates)
        while best == 0 or (len(columns) < longest and len(columns) - best < self.patience):
            drawn = [_canonical(np.where(rng.permutation(k) < k // 2, 1, -1).astype(np.int8)) for _ in draws]
            known = {column.tobytes() for column in columns}
            found = [one for one in settle(held_out, drawn) if one.column.tobytes() not in known]
            if group.max() < k - 1:
                found = [one for one in found if _parted(group, one.column).max() > group.max()]
                found = found or settle(held_out, [_part_first(group, drawn[0])], steps=0)
            if not found:
                break
            losses = [held_out.losses(one.margins, one.column) for one in found]
            trials = [held_out.error(total + loss) for loss in losses]
            chosen = int(first_smallest(trials))
            columns.append(found[chosen].column)
            successes.append(found[chosen].successes)
            errors.append(trials[chosen])
            total += losses[chosen]
            group = _parted(group, columns[-1])
            if group.max() == k - 1 and clearly_less(errors[-1], smallest):
                best, smallest = len(columns), errors[-1]
        return Design(np.ascontiguousarray(np.column_stack(columns[:best])), errors, successes)


@dataclass(frozen=True)
class Trained:
    """A column, its held-out margins, and xi after each training of it and its predecessors."""

    column: Column
    margins: Array
    successes: list[float]


def settle(held_out: HeldOut, columns: list[Column], steps: int = MOST_STEPS) -> list[Trained]:
    """Train the columns, then those that `first_column` derives from them, as long as xi increases."""
    found = moving = [_after(held_out, column, f) for column, f in _with_margins(held_out, columns)]
    for _ in range(steps):
        dealt = [(before, _dealt(held_out, before)) for before in moving]
        dealt = [(before, column) for before, column in dealt if (column != before.column).any()]
        trained = _with_margins(held_out, [column for _, column in dealt])
        after = [
            _after(held_out, column, f, before.successes)
            for (before, _), (column, f) in zip(dealt, trained, strict=True)
        ]
        # The learner does not maximise xi itself, so training may lose what the reassignment has gained.
        moving = [one for one in after if clearly_less(one.successes[-2], one.successes[-1])]
        found = found + moving
    return found


def _with_margins(held_out: HeldOut, columns: list[Column]) -> list[tuple[Column, Array]]:
    return list(zip(columns, held_out.margins(np.column_stack(columns)).T, strict=True)) if columns else []


def _after(held_out: HeldOut, column: Column, f: Array, before: list[float] | None = None) -> Trained:
    success = column_success(column, _answers(f), held_out.y, held_out.weight)
    return Trained(column, f, [*(before or []), success])


def _dealt(held_out: HeldOut, trained: Trained) -> Column:
    return _canonical(first_column(_answers(trained.margins), held_out.y, held_out.k, held_out.weight)[0])


def _answers(f: Array) -> NDArray[np.int8]:
    return np.where(f >= 0, 1, -1).astype(np.int8)


def _canonical(column: Column) -> Column:
    """Return the column or its negative, which is the same binary problem, with -1 for the first class."""
    return -column if column[0] > 0 else column


def _parted(group: NDArray[np.intp], column: Column) -> NDArray[np.intp]:
    """Return the groups of classes that still have equal rows after one more column, numbered from 0."""
    return np.unique(2 * group + (column > 0), return_inverse=True)[1]


def _part_first(group: NDArray[np.intp], column: Column) -> Column:
    """Return the column with one entry changed, so that it separates two classes of one group."""
    order = np.argsort(group, kind="stable")
    place = int(np.flatnonzero(np.diff(group[order]) == 0)[0])
    changed = column.copy()
    changed[order[place + 1]] = -changed[order[place]]
    return _canonical(changed)
