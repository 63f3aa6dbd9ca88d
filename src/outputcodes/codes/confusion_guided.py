"""A code extended by columns that separate the classes it confuses (ECOC-ONE)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from outputcodes._ground.choosing import clearly_less, first_smallest, to_six_digits
from outputcodes._ground.planning import Planning
from outputcodes.codes._data_driven import Array, DataDriven, HeldOut
from outputcodes.codes.base import Matrix, checked_integer
from outputcodes.codes.resolve import as_code


class ConfusionGuided(DataDriven):
    """Another code, extended by columns for its most confused pairs of classes while the held-out error decreases.

    For the most confused pair on held-out rows, columns of growing support are trained: the two classes alone, then
    with the classes that are most confused with them, on the sides that separate further confusions or on those that
    join them. The column with the smallest held-out error of the whole code is appended if it decreases the error;
    otherwise the next pair is tried.

    Parameters
    ----------
    code : str, Code or matrix, default="one-vs-all"
        The code to extend.
    max_columns : int, optional
        The maximal number of columns added; None means k.
    n_pairs : int, default=3
        The extension ends when this many pairs were tried without success.
    cv : int, splitter or None, default=3
        The folds of the held-out margins.

    Notes
    -----
    The error is that of loss-based decoding with the learner's own loss. Each pair takes about 2·log2(k)·cv trainings.

    References
    ----------
    O. Pujol, S. Escalera, P. Radeva. An incremental node embedding technique for error correcting output codes.
    Pattern Recognition 41, 2008. They weight the columns by their error in decoding; here this is left to the decoder.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from outputcodes import OutputCodeClassifier
    >>> X, y = load_digits(return_X_y=True)
    >>> model = OutputCodeClassifier("ridge", code=ConfusionGuided(max_columns=1), random_state=0).fit(X, y)
    >>> model.code_matrix_[[1, 8], 10]  # the most confused digits
    array([-1,  1], dtype=int8)
    """

    planning = Planning(tried=False)

    def __init__(self, code: Any = "one-vs-all", max_columns: int | None = None, n_pairs: int = 3, cv: Any = 3) -> None:
        self.code = code
        self.max_columns = max_columns
        self.n_pairs = n_pairs
        self.cv = cv

    def _check_parameters(self) -> None:
        if self.max_columns is not None:
            checked_integer("max_columns", self.max_columns, 0, "it is the maximal number of columns added")
        checked_integer("n_pairs", self.n_pairs, 1, "it is the number of pairs tried")

    def _from_problem(self, k: int, rng: np.random.Generator, problem: Any) -> Matrix:
        M: Matrix = as_code(self.code).draw(k, random_state=rng, problem=problem).matrix()
        held_out = HeldOut(problem, k, self.cv)
        total = held_out.total(M)
        for _ in range(k if self.max_columns is None else self.max_columns):
            found = self._extension(held_out, total)
            if found is None:
                break
            column, total = found
            M = np.column_stack([M, column])
        return np.ascontiguousarray(M)

    def _extension(self, held_out: HeldOut, total: Array) -> tuple[NDArray[np.int8], Array] | None:
        """Return the column to append and the losses with it; None if no pair gives one that decreases the error."""
        confusion, error = held_out.confusion(total), held_out.error(total)
        between = to_six_digits(np.triu(confusion + confusion.T, 1))
        for pair in np.argsort(-between, axis=None, kind="stable")[: self.n_pairs]:
            a, b = (int(place) for place in np.unravel_index(pair, between.shape))
            if between[a, b] == 0:
                return None
            columns = np.column_stack(growing_columns(a, b, between + between.T))
            totals = [
                total + held_out.losses(f, column)
                for f, column in zip(held_out.margins(columns).T, columns.T, strict=True)
            ]
            errors = [held_out.error(one) for one in totals]
            best = int(first_smallest(errors))
            if clearly_less(errors[best], error):
                return columns[:, best], totals[best]
        return None


def growing_columns(a: int, b: int, between: Array) -> list[NDArray[np.int8]]:
    """Return columns with -1 for class a, +1 for b, and 0, 1, 3, 7, … and all further classes, most confused first.

    >>> [column.tolist() for column in growing_columns(0, 1, np.array([[0, 5, 2], [5, 0, 1], [2, 1, 0]]))]
    [[-1, 1, 0], [-1, 1, 1], [-1, 1, -1]]
    """
    k = len(between)
    start = np.zeros(k, dtype=np.int8)
    start[[a, b]] = -1, 1
    order = np.argsort(-(between[a] + between[b]), kind="stable")
    others = [int(c) for c in order if c not in (a, b)]
    columns = [start]
    for sign in (-1, 1):  # on the side opposite to the classes it is confused with, or on their side
        column = start.copy()
        for place, c in enumerate(others, start=1):
            column[c] = 1 if sign * (between[c] @ column) >= 0 else -1
            if place & (place + 1) == 0 or place == len(others):
                columns.append(column.copy())
    return columns
