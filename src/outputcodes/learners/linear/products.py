"""Pieces of rows for products with many columns at once, each with the columns in which its classes take part."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from outputcodes._ground.blocks import BLOCK_VALUES, Run
from outputcodes._ground.passes import Blocks
from outputcodes._ground.stored_rows import Part, StoredRows

Array = NDArray[np.float64]
Rows = NDArray[np.intp]

# Smaller pieces are joined with their neighbours: their products would be mostly overhead.
FEWEST_ROWS = 64


@dataclass(frozen=True)
class Piece:
    """Some rows, and the columns in which they take part.

    Hessian products use `rotated`: rows of the rotation, or X itself. F (n, columns) holds the scores, S their changes
    along a step, D the second derivatives of the losses; `shift` is subtracted from each signed score before its loss.
    """

    X: Any
    rotated: Any
    y: Rows
    weight: Array | None
    columns: Rows
    F: Any = None
    S: Any = None
    D: Any = None
    shift: Any = 0.0

    def having(self, **changed: Any) -> Piece:
        """Return the piece with other values of some fields; much faster than `dataclasses.replace`."""
        other = object.__new__(Piece)
        other.__dict__.update(self.__dict__, **changed)
        return other

    def keep(self, going: Rows) -> Piece:
        """Return the piece with some of its present columns, renumbered."""
        local, columns = restricted(self.columns, going)
        changed = {
            # `take` keeps rows together in memory: the order in which NumPy adds hangs on it.
            name: value.take(local, axis=1)
            for name in ("F", "S", "D", "shift")
            if np.ndim(value := getattr(self, name)) and value is not None
        }
        return self.having(columns=columns, **changed)

    def table(self, by_class: Array) -> Array:
        """Return the entries of a (k, L) table for the classes of the rows, in the piece's columns."""
        # `take` lays rows in order whatever it is given, and the bits of products hang on that.
        return by_class.take(self.columns, axis=1).take(self.y, axis=0)

    def costs(self, by_class: Array) -> Array:
        """Return the weight of each entry."""
        cost = self.table(by_class)
        return cost if self.weight is None else cost * self.weight[:, None]


def restricted(columns: Rows, going: Rows) -> tuple[Rows, Rows]:
    """Return which of `columns` are in `going`, and their positions there; both are in ascending order."""
    if not going.size:
        return going, going
    places = going.searchsorted(columns)
    local = (going[np.minimum(places, going.size - 1)] == columns).nonzero()[0]
    return local, places[local]


# A BLAS library may compute with what is left in its buffers and not use the result: in single precision, halves of old
# doubles look like NaN, and NumPy would warn of an invalid value. If a number is truly invalid, the objective shows it.


def forward(X: Any, constant: float, theta: Array) -> Any:
    """Return [X, constant] @ theta."""
    with np.errstate(invalid="ignore"):
        F = X @ (theta[:-1] if constant else theta)
    if constant:
        F += theta.dtype.type(constant) * theta[-1]
    return F


def backward(X: Any, constant: float, R: Array) -> Any:
    """Return [X, constant]ᵀ @ R."""
    with np.errstate(invalid="ignore"):
        G = X.T @ R
    return np.vstack([G, constant * R.sum(axis=0, keepdims=True)]) if constant else G


def cut(stored: StoredRows, y: Rows, present: NDArray[np.bool_], weight: Array | None, rows: Rows, run: Run) -> Blocks:
    """Return blocks of `Piece`s of some rows, in which the columns see the classes that `present` (k, L) marks."""
    return stored.labelled(y, weight, rows, _pieces, present, run=run)


def _pieces(
    parts: list[Part], y: Rows, weight: Array | None, rows: Rows | None, present: NDArray[np.bool_]
) -> Iterator[Piece]:
    (part,) = parts
    return pieces_of(part.X, part.rotated, y, weight, np.arange(len(y)) if rows is None else rows, present)


def pieces_of(
    X: Any, rotated: Any, y: Rows, weight: Array | None, rows: Rows, present: NDArray[np.bool_]
) -> Iterator[Piece]:
    """Cut `rows` of a block into pieces, where classes are absent from columns sorted by the columns they take part in.

    `present` (k, L) marks the columns in which a class takes part; absent rows then cost nothing.
    """
    takes_all, y = bool(present.all()), y.astype(np.intp, copy=False)
    kind = y if takes_all else _kinds(present)[y]
    if not takes_all:
        rows = rows[np.argsort(kind[rows], kind="stable")]
    everything = np.array_equal(rows, np.arange(len(y)))  # then pieces are views
    whole = np.arange(present.shape[1])
    for part in _cuts(X, kind[rows], takes_all):
        index = part if everything else rows[part]
        own, labels = _rows_of(X, index), y[index]
        columns = whole if takes_all else np.flatnonzero(present[np.unique(labels)].any(axis=0))
        yield Piece(
            own, own if rotated is None else rotated[index], labels, None if weight is None else weight[index], columns
        )


def _kinds(present: NDArray[np.bool_]) -> Rows:
    """Return for each class the first one that takes part in the same columns."""
    _, first, kind = np.unique(np.packbits(present, axis=1), axis=0, return_index=True, return_inverse=True)
    return np.asarray(first[kind.ravel()])


def _cuts(X: Any, labels: Rows, takes_all: bool) -> Iterator[slice]:
    """Yield slices of rows with about BLOCK_VALUES values, and of one kind of class where these matter."""
    n, d = len(labels), X.shape[1]
    if scipy.sparse.issparse(X):
        # Each piece's part of a gradient is a dense (d, L) array: pieces must hold several values per feature.
        step = max(1, n // max(1, min(16, X.nnz // (4 * d))) + 1)
    else:
        step = max(FEWEST_ROWS, BLOCK_VALUES // d)
    start = 0
    while start < n:
        stop = min(start + step, n)
        if not takes_all:
            ends = np.searchsorted(labels, labels[min(start + FEWEST_ROWS, n) - 1], side="right")
            stop = min(stop, int(ends))
        yield slice(start, stop)
        start = stop


def _rows_of(X: Any, index: Any) -> Any:
    """Return some rows; a slice of a csr matrix shares its memory."""
    if not scipy.sparse.issparse(X) or not isinstance(index, slice):
        return X[index]
    first, last = X.indptr[index.start], X.indptr[index.stop]
    parts = X.data[first:last], X.indices[first:last], X.indptr[index.start : index.stop + 1] - first
    return scipy.sparse.csr_array(parts, shape=(index.stop - index.start, X.shape[1]))
