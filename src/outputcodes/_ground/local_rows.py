"""Some rows of a sparse matrix with only the features that occur in them, so that tables over these stay in cache."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray


class LocalRows(NamedTuple):
    """Rows in compressed form; `features` are the columns of the whole matrix that the indices stand for."""

    data: NDArray[np.float32]
    indices: NDArray[np.int32]
    indptr: NDArray[np.int64]
    features: NDArray[np.int32]


def unnumbered(n_features: int) -> NDArray[np.int32]:
    """Return the scratch that `local_rows` leaves as it found it."""
    return np.full(n_features, -1, dtype=np.int32)


def local_rows(X: Any, rows: NDArray[np.intp], scratch: NDArray[np.int32]) -> LocalRows:
    """Return some rows of a csr matrix as float32.

    >>> import scipy.sparse as sp
    >>> X = sp.csr_array([[0, 0, 5.0, 0], [1, 0, 0, 0], [0, 0, 2, 3]])
    >>> local = local_rows(X, np.array([0, 2]), unnumbered(4))
    >>> local.indices.tolist(), local.data.tolist(), local.features.tolist()
    ([0, 0, 1], [5.0, 2.0, 3.0], [2, 3])
    """
    return LocalRows(*_gather(X.data, X.indices, X.indptr, rows, scratch))


@njit(nogil=True, cache=True)
def _gather(data, indices, indptr, rows, number):  # type: ignore[no-untyped-def]
    size = 0
    for i in rows:
        size += indptr[i + 1] - indptr[i]
    values, places = np.empty(size, np.float32), np.empty(size, np.int32)
    ends, features = np.empty(rows.size + 1, np.int64), np.empty(min(size, number.size), np.int32)
    known = at = 0
    ends[0] = 0
    for i in range(rows.size):
        for s in range(indptr[rows[i]], indptr[rows[i] + 1]):
            j = indices[s]
            if number[j] < 0:
                number[j] = known
                features[known] = j
                known += 1
            values[at], places[at] = data[s], number[j]
            at += 1
        ends[i + 1] = at
    for q in range(known):
        number[features[q]] = -1
    return values, places, ends, features[:known].copy()
