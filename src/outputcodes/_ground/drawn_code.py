"""A drawn code: the rows of k classes, which learners and decoders receive whether or not they fit into memory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

Matrix = NDArray[np.int8]
Rows = NDArray[np.intp]

# Larger matrices than 1 GiB are not built.
MOST_ENTRIES = 1 << 30


class ColumnBlock(NamedTuple):
    """Columns with the same classes.

    Attributes
    ----------
    columns : ndarray of shape (l,)
        Their positions in the code.
    classes : ndarray of shape (c,)
        The classes with an entry other than 0, in ascending order.
    entries : ndarray of int8, shape (c, l)
        -1 and +1.
    """

    columns: Rows
    classes: Rows
    entries: Matrix


class DrawnCode:
    """A code for a given number of classes, with entries in {-1, 0, +1}.

    A code that is too large for a matrix derives from this class and writes `shape`, `rows` and `blocks`; the
    other methods follow from these three. `np.asarray(code)` is `code.matrix()`.

    Attributes
    ----------
    shape : tuple of int
        (k, L): classes and columns.

    Examples
    --------
    >>> from outputcodes.codes import OneVsAll
    >>> code = OneVsAll().draw(4)
    >>> code.shape, code.rows([0, 3]).tolist()
    ((4, 4), [[1, -1, -1, -1], [-1, -1, -1, 1]])
    """

    shape: tuple[int, int]

    def rows(self, classes: ArrayLike) -> Matrix:
        """Return the rows of the given classes, (len(classes), L)."""
        raise NotImplementedError

    def blocks(self) -> Iterator[ColumnBlock]:
        """Yield the columns in blocks with the same classes; every column with an entry is in one block."""
        raise NotImplementedError

    def matrix(self) -> Matrix:
        """Return the whole code as an array (k, L), if it is small enough."""
        k, L = self.shape
        if k * L > MOST_ENTRIES:
            raise ValueError(
                f"A code of {k} classes and {L} columns has {k * L:,} entries, too many for a matrix: use a learner "
                "and a decoder that read it by `rows` and `blocks`."
            )
        return self.rows(np.arange(k))

    def take(self, columns: ArrayLike) -> DrawnCode:
        """Return the code of some columns."""
        return MatrixCode(self.matrix()[:, np.asarray(columns)])

    def signs(self, classes: Rows) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Return which columns have +1, and which have -1, among the given classes."""
        plus, minus = np.zeros(self.shape[1], dtype=bool), np.zeros(self.shape[1], dtype=bool)
        for block in self.blocks():
            seen = block.entries[np.isin(block.classes, classes)]
            plus[block.columns], minus[block.columns] = (seen > 0).any(axis=0), (seen < 0).any(axis=0)
        return plus, minus

    def same_as(self, other: DrawnCode) -> bool:
        """Return whether another code is known to have the same entries: the same object, or an equal matrix."""
        return self is other

    def __len__(self) -> int:
        return self.shape[0]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        # With copy=False NumPy raises an error if a copy would be needed, and so does this.
        return np.array(self.matrix(), dtype=dtype, copy=copy)


class MatrixCode(DrawnCode):
    """A code stored as a matrix.

    >>> code = MatrixCode([[1, 1, 0], [-1, 0, 1], [0, -1, -1]])
    >>> code.shape, code.rows([2]).tolist()
    ((3, 3), [[0, -1, -1]])
    >>> [(block.columns.tolist(), block.classes.tolist()) for block in code.blocks()]
    [([0], [0, 1]), ([1], [0, 2]), ([2], [1, 2])]
    """

    def __init__(self, entries: ArrayLike) -> None:
        self.entries: Matrix = np.ascontiguousarray(entries, dtype=np.int8)

    @property
    def shape(self) -> tuple[int, int]:  # type: ignore[override]
        """(k, L)."""
        k, L = self.entries.shape
        return k, L

    def rows(self, classes: ArrayLike) -> Matrix:
        """Return the rows of the given classes."""
        rows: Matrix = self.entries[np.asarray(classes, dtype=np.intp)]
        return rows

    def blocks(self) -> Iterator[ColumnBlock]:
        """Yield the columns in blocks with the same classes, in the order of their first columns."""
        _, first, block = np.unique(self.entries != 0, axis=1, return_index=True, return_inverse=True)
        for b in np.argsort(first):
            columns = np.flatnonzero(block.reshape(-1) == b)
            classes = np.flatnonzero(self.entries[:, columns[0]])
            yield ColumnBlock(columns, classes, self.entries[np.ix_(classes, columns)])

    def matrix(self) -> Matrix:
        """Return the entries; they are not copied."""
        return self.entries

    def signs(self, classes: Rows) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Return which columns have +1, and which have -1, among the given classes."""
        present = self.entries[classes]
        return np.asarray((present > 0).any(axis=0)), np.asarray((present < 0).any(axis=0))

    def same_as(self, other: DrawnCode) -> bool:
        """Return whether another code has the same matrix."""
        return self is other or (isinstance(other, MatrixCode) and np.array_equal(self.entries, other.entries))

    def __repr__(self) -> str:
        return f"MatrixCode({self.entries.tolist()})"


# What learners and decoders accept.
AnyCode = DrawnCode | Matrix


def as_drawn(code: DrawnCode | ArrayLike) -> DrawnCode:
    """Return a drawn code unchanged, and a matrix as a drawn code."""
    return code if isinstance(code, DrawnCode) else MatrixCode(code)


def alone_on_its_side(code: AnyCode, y: Rows) -> tuple[Rows, Rows]:
    """Return the examples that are the only ones with their sign in a column, and the column.

    Without them the column is constant.

    >>> alone_on_its_side(np.array([[1, 1], [-1, 0], [-1, -1]]), np.array([0, 1, 2, 2]))
    (array([0, 0]), array([0, 1]))
    """
    code = as_drawn(code)
    k, L = code.shape
    count = np.bincount(y, minlength=k)
    # Only of a class of one example: there are few.
    one = np.flatnonzero(count[y] == 1)
    plus, minus = np.zeros(L, dtype=np.intp), np.zeros(L, dtype=np.intp)
    for block in code.blocks() if one.size else ():
        members = count[block.classes]
        plus[block.columns], minus[block.columns] = members @ (block.entries > 0), members @ (block.entries < 0)
    sign = code.rows(y[one])
    alone, column = np.nonzero(((sign > 0) & (plus == 1)) | ((sign < 0) & (minus == 1)))
    return one[alone], column
