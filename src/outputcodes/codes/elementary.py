"""Codes with a closed form: one-vs-all, all-pairs, the complete codes, ordinal."""

import math
from typing import Any

import numpy as np

from outputcodes._ground.drawn_code import MOST_ENTRIES, DrawnCode, MatrixCode
from outputcodes._ground.planning import MANY_CLASSES, Planning, Size, three_classes
from outputcodes._ground.tree_code import flat
from outputcodes._ground.user_warnings import warn_user
from outputcodes.codes.base import Code, Matrix, as_generator, checked_integer

MOST_CLASSES_IN_PAIRS, MOST_CLASSES_SPLIT = 50, 7
# One-vs-all of more classes is not written down.
MOST_CLASSES_WRITTEN = 1000


def _too_many_pairs(size: Size) -> str | None:
    k = size.classes
    return f"{k} classes have {k * (k - 1) // 2} pairs" if k > MOST_CLASSES_IN_PAIRS else None


def _too_many_splits(size: Size) -> str | None:
    k = size.classes
    return f"{k} classes can be split in 2^{k - 1} − 1 ways" if k > MOST_CLASSES_SPLIT else three_classes(size)


class OneVsAll(Code):
    """k columns, each with one class against all others; rho = 2.

    With more than 1,000 classes it is a `TreeCode` of one node: the k² entries are not written down, linear SVMs on
    sparse X have columns with few weights, and `decoders.Beam`, which finds the largest margin, is the default decoder.

    >>> OneVsAll().draw(3).matrix()
    array([[ 1, -1, -1],
           [-1,  1, -1],
           [-1, -1,  1]], dtype=int8)
    """

    planning = Planning(quick=True, cost=5)

    def _draw(self, k: int, rng: np.random.Generator, problem: Any) -> DrawnCode:
        return flat(k) if k > MOST_CLASSES_WRITTEN else MatrixCode(self._matrix(k, rng, problem))

    def _matrix(self, k: int, rng: np.random.Generator, problem: Any) -> Matrix:
        M = np.full((k, k), -1, dtype=np.int8)
        np.fill_diagonal(M, 1)
        return M

    def open(self, n_classes: int, random_state: Any = None, *, spare: bool = True, batch: Any = None) -> Matrix:
        """Return a column for each class, for two classes too."""
        return self._matrix(n_classes, as_generator(random_state), None)

    def grown(self, M: Matrix, n_classes: int, nearest: int | None = None) -> Matrix:
        """Return the code with a column for one more class.

        >>> OneVsAll().grown(OneVsAll().open(2), 2)
        array([[ 1, -1, -1],
               [-1,  1, -1],
               [-1, -1,  1]], dtype=int8)
        """
        return self._matrix(n_classes + 1, as_generator(None), None)


class AllPairs(Code):
    """k(k-1)/2 columns: class a (+1) against class b (-1), a < b in lexicographic order, 0 elsewhere.

    The name "all-pairs", the default of `OutputCodeClassifier`, warns above 200 classes; `AllPairs()` does not.

    >>> AllPairs().draw(3).matrix()
    array([[ 1,  1,  0],
           [-1,  0,  1],
           [ 0, -1, -1]], dtype=int8)
    """

    planning = Planning(quick=True, cost=10, unsuited=_too_many_pairs)

    def warn_if_named(self, n_classes: int) -> None:
        """Warn of the many columns of many classes; `AllPairs()` is meant, but the name may be the default."""
        if n_classes > MANY_CLASSES:
            warn_user(
                f"code='all-pairs' has {n_classes * (n_classes - 1) // 2} columns for {n_classes} classes, which take "
                "long to train: use code='one-vs-all' or code='tree'; AllPairs() trains them without this warning."
            )

    def _matrix(self, k: int, rng: np.random.Generator, problem: Any) -> Matrix:
        if k * k * (k - 1) // 2 > MOST_ENTRIES:
            raise ValueError(
                f"code='all-pairs' has {k * (k - 1) // 2} columns for {k} classes, which are too many; use "
                "'one-vs-all' or 'tree'."
            )
        first, second = np.triu_indices(k, 1)
        M = np.zeros((k, len(first)), dtype=np.int8)
        columns = np.arange(len(first))
        M[first, columns] = 1
        M[second, columns] = -1
        return M

    def open(self, n_classes: int, random_state: Any = None, *, spare: bool = True, batch: Any = None) -> Matrix:
        """Return the pairs, for two classes too."""
        return self._matrix(n_classes, as_generator(random_state), None)

    def grown(self, M: Matrix, n_classes: int, nearest: int | None = None) -> Matrix:
        """Return the code with a column for each class before (+1) and one more (-1).

        >>> AllPairs().grown(AllPairs().open(2), 2)
        array([[ 1,  1,  0],
               [-1,  0,  1],
               [ 0, -1, -1]], dtype=int8)
        """
        k, L = M.shape
        larger = np.zeros((k + 1, L + k), dtype=np.int8)
        larger[:k, :L] = M
        larger[np.arange(k), L + np.arange(k)] = 1
        larger[k, L:] = -1
        return larger


class Ordinal(Code):
    """k - 1 columns for ordered classes; column s separates the classes after s from the others; rho = 1.

    Rows belong to the classes in sorted order, as in every code. If this is not the intended order (labels such as low,
    mid, high), give the classifier a y that declares its order, an ordered `pandas.Categorical` or a Series of one, or
    a mapping {label: row} as the code. `classes_` stay sorted; the rows follow the declared order.

    >>> Ordinal().draw(4).matrix()
    array([[-1, -1, -1],
           [ 1, -1, -1],
           [ 1,  1, -1],
           [ 1,  1,  1]], dtype=int8)
    """

    ordered = True
    # Classes rarely have an order, and rarely that of their names.
    planning = Planning(tried=False)

    def _matrix(self, k: int, rng: np.random.Generator, problem: Any) -> Matrix:
        return np.where(np.arange(k)[:, None] > np.arange(k - 1), np.int8(1), np.int8(-1))


def complete_length(k: int) -> int:
    """Count the columns of the complete code: bipartitions of k classes into two non-empty sides."""
    return (1 << (k - 1)) - 1


def ternary_complete_length(k: int) -> int:
    """Count the columns over {-1, 0, +1} that have both signs, with a column and its negative counted once."""
    return int((3**k - 2 ** (k + 1) + 1) // 2)


class Complete(Code):
    """Every split of the classes into two non-empty sides, once: 2^(k-1) - 1 columns, rho = 2^(k-2).

    The first row is +1; the columns of the other rows are in lexicographic order. More than `max_classes` classes are
    an error.

    >>> Complete().draw(3).matrix()
    array([[ 1,  1,  1],
           [-1, -1,  1],
           [-1,  1, -1]], dtype=int8)
    """

    planning = Planning(cost=35, unsuited=_too_many_splits)

    def __init__(self, max_classes: int = 15) -> None:
        self.max_classes = max_classes

    def _check_parameters(self) -> None:
        checked_integer("max_classes", self.max_classes, 2, "it is the largest number of classes accepted")

    def _matrix(self, k: int, rng: np.random.Generator, problem: Any) -> Matrix:
        _check_size("complete", k, self.max_classes, complete_length(k))
        # The last of the 2^(k-1) columns is constant +1 and no split.
        return _counting(np.array([-1, 1], dtype=np.int8), k - 1, first_row=True)[:, :-1].copy()


class TernaryComplete(Code):
    """Every column over {-1, 0, +1} that has both signs, up to its sign; all pairs of rows have the same distance.

    It has (3^k - 2^(k+1) + 1)/2 columns in lexicographic order, with +1 as the first non-zero entry of each. More than
    `max_classes` classes are an error.

    >>> TernaryComplete().draw(3).matrix()
    array([[ 0,  1,  1,  1,  1,  1],
           [ 1, -1, -1, -1,  0,  1],
           [-1, -1,  0,  1, -1, -1]], dtype=int8)
    """

    planning = Planning(tried=False)

    def __init__(self, max_classes: int = 10) -> None:
        self.max_classes = max_classes

    def _check_parameters(self) -> None:
        checked_integer("max_classes", self.max_classes, 2, "it is the largest number of classes accepted")

    def _matrix(self, k: int, rng: np.random.Generator, problem: Any) -> Matrix:
        _check_size("ternary-complete", k, self.max_classes, ternary_complete_length(k))
        every_column = _counting(np.array([-1, 0, 1], dtype=np.int8), k)
        # In lexicographic order a column and its negative are symmetric about the zero column in the middle, so the
        # second half has those whose first non-zero entry is +1.
        positive = every_column[:, 3**k // 2 + 1 :]
        return np.ascontiguousarray(positive[:, (positive == -1).any(axis=0)])


def _counting(digits: Matrix, n_rows: int, first_row: bool = False) -> Matrix:
    """Return all columns of `n_rows` digits in lexicographic order, optionally below a row of +1."""
    base, n_columns = len(digits), len(digits) ** n_rows
    M = np.ones((n_rows + first_row, n_columns), dtype=np.int8)
    for row in range(n_rows):
        M[row + first_row] = np.tile(np.repeat(digits, base ** (n_rows - 1 - row)), base**row)
    return M


def _check_size(name: str, k: int, max_classes: int, n_columns: int) -> None:
    if k > max_classes:
        size = f"{n_columns}" if n_columns < 10**12 else f"more than 10^{math.floor(math.log10(n_columns))}"
        raise ValueError(
            f"code={name!r} would have {size} columns for n_classes={k} (max_classes={max_classes}): "
            f"use code='dense', 'sparse', 'one-vs-all' or 'all-pairs', or increase max_classes."
        )
