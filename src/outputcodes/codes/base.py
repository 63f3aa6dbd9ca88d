"""The base class of codes: `draw(n_classes)` returns one row over {-1, 0, +1} per class."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator

from outputcodes._ground.drawn_code import DrawnCode, Matrix, MatrixCode
from outputcodes._ground.planning import Planning

__all__ = ["Code", "Matrix", "as_entries", "as_generator", "checked_integer", "checked_n_classes"]


def checked_integer(name: str, value: Any, minimum: int, remedy: str) -> int:
    """Return `value` as an int, or raise ValueError if it is not an integer of at least `minimum`."""
    if isinstance(value, bool) or not isinstance(value, Integral) or value < minimum:
        raise ValueError(f"{name} must be an integer of at least {minimum}, got {value!r}: {remedy}.")
    return int(value)


def checked_n_classes(n_classes: Any) -> int:
    """Return the number of classes as an int of at least 2."""
    return checked_integer("n_classes", n_classes, 2, "a code separates at least two classes")


def as_generator(random_state: Any) -> np.random.Generator:
    """Return a Generator from None, an int, a RandomState or a Generator; the last two advance."""
    if isinstance(random_state, np.random.RandomState):
        random_state = random_state.randint(2**32, size=4, dtype=np.uint64)
    try:
        return np.random.default_rng(random_state)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"random_state must be None, a nonnegative integer, a RandomState or a Generator, got {random_state!r}."
        ) from error


def as_entries(M: ArrayLike) -> Matrix:
    """Return a matrix, a drawn code or the rows of a mapping from labels as a (k, L) int8 array over {-1, 0, +1}.

    >>> as_entries([[1.0, -1.0], [0.0, 1.0]])
    array([[ 1, -1],
           [ 0,  1]], dtype=int8)
    """
    if isinstance(M, str | Code):
        raise ValueError(f"{M!r} is a code without a number of classes; draw it first: as_code(...).draw(k).")
    if isinstance(M, Mapping):
        M = list(M.values())
    try:
        given = np.asarray(M)
        if given.dtype.kind not in "biuf":
            given = given.astype(float)
    except (TypeError, ValueError) as error:
        raise ValueError(f"a code must be a rectangular table of numbers: {error}") from error
    if given.ndim != 2 or given.shape[0] < 2 or given.shape[1] < 1:
        raise ValueError(
            f"a code must have shape (classes, columns) with at least 2 classes and 1 column, got shape {given.shape}."
        )
    foreign = (given != 0) & (given != 1) & (given != -1)
    if foreign.any():
        row, column = np.argwhere(foreign)[0]
        raise ValueError(
            f"the entries of a code are -1, 0 and +1, got {given[row, column]} in row {row}, column {column} "
            f"({foreign.sum()} such entries in all): map your entries to these three values."
        )
    return np.ascontiguousarray(given, dtype=np.int8)


class Code(BaseEstimator):
    """Base of the codes: a subclass writes `_matrix` for three classes and more.

    A code whose matrix would be too large writes `_draw` instead, which returns a `DrawnCode` of its own. Parameters
    are stored by `__init__` and checked in `draw`.

    >>> class TwoAndRest(Code):
    ...     def _matrix(self, k, rng, problem):
    ...         return np.where(np.arange(k)[:, None] == [0, 1], 1, -1).astype(np.int8)
    >>> TwoAndRest().draw(3).matrix()
    array([[ 1, -1],
           [-1,  1],
           [-1, -1]], dtype=int8)
    >>> TwoAndRest().draw(2).matrix()
    array([[-1],
           [ 1]], dtype=int8)
    """

    # Whether the code is made from data: then only a classifier, which has a `problem`, can draw it.
    needs_problem: ClassVar[bool] = False

    # Whether `open` makes it from the first batch of a stream; the other codes made from data need all rows.
    opens_from_batch: ClassVar[bool] = False

    # Whether `grown` asks for the class that is nearest to the new one.
    grows_beside_nearest: ClassVar[bool] = False

    # Whether the rows follow the order of the classes: that which y declares, otherwise the sorted order of the labels.
    ordered: ClassVar[bool] = False

    # How a comparison treats the code if it is not named.
    planning: ClassVar[Planning] = Planning()

    def warn_if_named(self, n_classes: int) -> None:
        """Warn if it is not for so many classes; only where it was given by its name, perhaps as a default."""

    def draw(self, n_classes: int, random_state: Any = None, problem: Any = None) -> DrawnCode:
        """Return the code for `n_classes` classes; for two classes every code is [[-1], [+1]].

        `random_state` is None, an int (same int, same code), a RandomState or a Generator.
        `problem` is for codes made from data; the others ignore it.
        """
        k = checked_n_classes(n_classes)
        rng = as_generator(random_state)
        self._check_parameters()
        return MatrixCode([[-1], [1]]) if k == 2 else self._draw(k, rng, problem)

    def open(self, n_classes: int, random_state: Any = None, *, spare: bool = True, batch: Any = None) -> Matrix:
        """Return the rows of `n_classes` classes, followed by `spare` rows for classes that come later, if it has any.

        A code that `grows` has two columns or more for two classes, or one that fits what it grows to. `batch` is the
        first one, a `FirstBatch`, for codes that are made from it.
        """
        return self.draw(n_classes, random_state).matrix()

    def grown(self, M: Matrix, n_classes: int, nearest: int | None = None) -> Matrix:
        """Return a code of `n_classes` classes, and perhaps spare rows, with a row for one more class.

        Columns that are added come last. `nearest` is the row of the class whose mean is nearest to that of the new
        one, if the code `grows_beside_nearest`. A code that can't grow raises ValueError.
        """
        raise ValueError(
            f"{type(self).__name__} has a row for each of its {n_classes} classes and can't grow: name all classes in "
            "the first call, partial_fit(X, y, classes=…), or use code='one-vs-all', 'all-pairs', 'dense', 'sparse' or "
            "'tree'."
        )

    def _draw(self, k: int, rng: np.random.Generator, problem: Any) -> DrawnCode:
        M = as_entries(self._matrix(k, rng, problem))
        if len(M) != k:
            raise ValueError(
                f"{type(self).__name__}._matrix returned {len(M)} rows for {k} classes; return one per class."
            )
        return MatrixCode(M)

    def _check_parameters(self) -> None:
        """Raise ValueError for parameters that are wrong for any number of classes."""

    def _matrix(self, k: int, rng: np.random.Generator, problem: Any) -> Matrix:
        raise NotImplementedError(f"{type(self).__name__} must implement _matrix(k, rng, problem).")
