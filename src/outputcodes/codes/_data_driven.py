"""The base of the codes made from data: they need a problem, and evaluate codes on held-out rows."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from outputcodes._ground.choosing import TIE, without_noise
from outputcodes.codes.base import Code, Matrix
from outputcodes.losses import as_loss

Array = NDArray[np.float64]


class DataDriven(Code):
    """Base of the codes made from data: a subclass writes `_from_problem` for three classes and more."""

    needs_problem = True

    def _matrix(self, k: int, rng: np.random.Generator, problem: Any) -> Matrix:
        check_problem(self, problem)
        return self._from_problem(k, rng, problem)

    def _from_problem(self, k: int, rng: np.random.Generator, problem: Any) -> Matrix:
        raise NotImplementedError(f"{type(self).__name__} must write _from_problem(k, rng, problem).")


def check_problem(code: Code, problem: Any) -> None:
    """Raise ValueError if a code made from data is drawn without data."""
    if problem is None:
        name = type(code).__name__
        raise ValueError(f"{name} is made from data: use it in a classifier, OutputCodeClassifier(code={name}()).")


def labels_and_weight(problem: Any) -> tuple[NDArray[np.intp], Array]:
    """Return the labels of the rows with positive weight, and their weights with sum 1."""
    y = problem.y[problem.rows]
    weight = problem.row_weight()
    return y, np.full(len(y), 1 / len(y)) if weight is None else weight / weight.sum()


class HeldOut:
    """The evaluation of codes by loss-based decoding of held-out margins, with ties shared evenly.

    The loss is the learner's own, or the Hamming loss if it has none. Sharing makes unfinished codes comparable: one of
    the classes with equal rows is drawn, and the error of a single column is 1 - xi of Crammer and Singer.

    Attributes
    ----------
    y, weight : labels of the rows with positive weight, and their weights with sum 1
    """

    def __init__(self, problem: Any, k: int, cv: Any) -> None:
        self.problem, self.k, self.cv = problem, k, 5 if cv is None else cv
        self.y, self.weight = labels_and_weight(problem)
        self.loss = as_loss(problem.learner.loss or "hamming")

    def margins(self, M: Matrix) -> Array:
        """Return (n, L) held-out margins; 0 where a fold could not train the column, or for rounding errors."""
        F: Array = np.nan_to_num(self.problem.margins(np.ascontiguousarray(M), self.cv))
        return without_noise(F, np.abs(F).max(axis=0, initial=0.0))

    def losses(self, f: Array, column: NDArray[np.int8]) -> Array:
        """Return (n, k) losses of each class on the margins f of one column."""
        entries = [self.loss(f), np.full_like(f, self.loss.at_zero), self.loss(-f)]
        # Selected, not computed as a product: classes with equal rows then have exactly equal losses.
        return np.stack(entries)[1 - column].T

    def total(self, M: Matrix) -> Array:
        """Return (n, k) losses of each class under the whole code."""
        F = self.margins(M)
        return sum((self.losses(f, column) for f, column in zip(F.T, M.T, strict=True)), np.zeros((len(F), self.k)))

    def shares(self, total: Array) -> Array:
        """Return (n, k) probabilities that each class is predicted: equal among those of smallest loss."""
        least = total.min(axis=1, keepdims=True)
        cheapest = total <= least + TIE * np.abs(least)
        shares: Array = cheapest / cheapest.sum(axis=1, keepdims=True)
        return shares

    def error(self, total: Array) -> float:
        """Return the weighted share of rows that are decoded wrongly, averaged over ties."""
        return float(1 - self.weight @ self.shares(total)[np.arange(len(self.y)), self.y])

    def confusion(self, total: Array) -> Array:
        """Return (k, k) weights of the rows of class a that are predicted as class b."""
        members = self.weight * (np.arange(self.k)[:, None] == self.y)
        confusion: Array = members @ self.shares(total)
        return confusion
