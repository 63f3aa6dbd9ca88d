"""Arrays in temporary files that are mapped into memory: the system writes them out when memory is short.

The files have no names, so that nothing is left of them when the process ends, however it ends. They are where Python's
`tempfile` puts its files; the environment variable TMPDIR names another folder.
"""

from __future__ import annotations

import math
import mmap
import tempfile
import threading
import weakref
from bisect import bisect_left, insort
from collections import deque
from dataclasses import fields, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

# Smaller arrays stay in memory.
FEWEST_BYTES = 1 << 12
# Places lie together in files of this size: a process may map only some ten thousands of files.
FILE_BYTES = 1 << 28
PAGE = 1 << 12


def mapped(array: NDArray[Any]) -> NDArray[Any]:
    """Return a copy of an array in a temporary file.

    >>> mapped(np.eye(2))
    array([[1., 0.],
           [0., 1.]])
    """
    copy = _empty(array.nbytes)[: array.nbytes].view(array.dtype).reshape(array.shape)
    copy[...] = array
    return copy


def mapped_empty(shape: tuple[int, ...], dtype: Any) -> NDArray[Any]:
    """Return an array in a temporary file, to be written to.

    >>> mapped_empty((2, 3), np.uint8).shape
    (2, 3)
    """
    n_bytes = math.prod(shape) * np.dtype(dtype).itemsize
    empty: NDArray[Any] = _empty(n_bytes)[:n_bytes].view(dtype).reshape(shape)
    return empty


def mapped_features(X: Any) -> Any:
    """Return a copy of features, dense or csr, in temporary files; X itself if it lies in a file already."""
    if not sp.issparse(X):
        return X if is_mapped(X) else mapped(X)
    return sp.csr_array((mapped(X.data), mapped(X.indices), mapped(X.indptr)), shape=X.shape)


def is_mapped(array: Any) -> bool:
    """Return whether an array lies in a file that is mapped into memory, as that of a `numpy.memmap` does.

    >>> is_mapped(mapped(np.eye(2))[1:]), is_mapped(np.eye(2)[1:])
    (True, False)
    """
    while array is not None:
        if isinstance(array, mmap.mmap):
            return True
        array = array.obj if isinstance(array, memoryview) else getattr(array, "base", None)
    return False


class Place:
    """A part of a file, held by the arrays that lie in it."""

    def __init__(self, region: NDArray[np.uint8]) -> None:
        self.base = region
        self.__array_interface__ = region.__array_interface__


class WorkingFiles:
    """Keeps what pieces have learned in temporary files; when the last array in a place is gone, it is used again."""

    def __init__(self) -> None:
        self._rest = np.empty(0, dtype=np.uint8)
        self._lock = threading.Lock()
        # Filled when arrays are deleted, at any moment; emptied under the lock.
        self._left: deque[NDArray[np.uint8]] = deque()
        self._free: list[NDArray[np.uint8]] = []

    def keep(self, piece: Any) -> Any:
        """Return a piece, a dataclass, whose large arrays lie in files."""
        changed = {}
        for field in fields(piece):
            value = getattr(piece, field.name)
            if sp.issparse(value) and value.nnz and not is_mapped(value.data):
                changed[field.name] = mapped_features(value)
            elif isinstance(value, np.ndarray) and value.nbytes >= FEWEST_BYTES and not is_mapped(value):
                changed[field.name] = self._put(value)
        return replace(piece, **changed) if changed else piece

    def _put(self, value: NDArray[Any]) -> NDArray[Any]:
        place = Place(self._reserved(value.nbytes))
        weakref.finalize(place, self._left.append, place.base)
        # In the same order as in memory, as the order in which NumPy adds hangs on it.
        turned = value.flags.f_contiguous and not value.flags.c_contiguous
        own: NDArray[Any] = np.asarray(place)[: value.nbytes].view(value.dtype)
        own = own.reshape(value.shape, order="F" if turned else "C")
        own[...] = value
        return own

    def _reserved(self, n_bytes: int) -> NDArray[np.uint8]:
        whole = -(-n_bytes // PAGE) * PAGE
        with self._lock:
            while self._left:
                insort(self._free, self._left.popleft(), key=len)
            place = bisect_left(self._free, whole, key=len)
            if place < len(self._free):
                return self._free.pop(place)
            if self._rest.nbytes < whole:
                self._rest = _empty(max(whole, FILE_BYTES))
            region, self._rest = self._rest[:whole], self._rest[whole:]
        return region


def _empty(n_bytes: int) -> NDArray[np.uint8]:
    if not n_bytes:
        return np.empty(0, dtype=np.uint8)
    with tempfile.TemporaryFile(prefix="outputcodes-") as file:
        file.truncate(n_bytes)
        # The mapping keeps the file after it is closed.
        return np.frombuffer(mmap.mmap(file.fileno(), n_bytes), dtype=np.uint8)
