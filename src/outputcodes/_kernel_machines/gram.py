"""Gram matrix of a kernel, held in memory if it fits, else in an LRU cache of rows."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from itertools import pairwise, product
from threading import RLock
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from outputcodes._ground.blocks import Run, row_blocks, serially
from outputcodes._kernel_machines.kernel_function import ROWS_AT_A_TIME, Kernel, rbf_block, to_the_power
from outputcodes._kernel_machines.rows import gather

Rows = NDArray[np.intp]
Array = NDArray[np.float64]

# With at least KEPT_FEATURES features, a distance takes longer to compute than to read, so distances are kept for other
# kernel parameters. The first Gram matrix needs KEPT_AT_ONCE, because the distances double the memory.
KEPT_FEATURES, KEPT_AT_ONCE = 32, 256
# The highest power of rbf values used for another gamma; the error is up to this many units in the last place.
HIGHEST_POWER = 4096
# Rows in more runs of neighbours than this are copied one by one.
MOST_RUNS = 32


@dataclass
class Order:
    """Position of each example within a row, and the features in that order; only changed while holding the lock.

    Gram matrices that share their geometry share the order and its lock. `key` is what rows are to be sorted by where
    trainings on parts of them are foreseen.
    """

    place: Rows
    X: Any
    key: Rows | None = None
    lock: Any = field(default_factory=RLock)


@dataclass(frozen=True)
class Geometry:
    """Rows of distances or products (n, n), and a mask of the computed ones, shared by Gram matrices of the same X."""

    of_rbf: bool
    rows: NDArray[Any]
    known: NDArray[np.bool_]
    order: Order


class Gram:
    """Rows of the Gram matrix of X, computed when first needed and cached up to `megabytes`.

    The least recently used rows are evicted first. If all rows fit, nothing is computed twice. If they fit twice, Gram
    matrices made `like` others also keep distances or inner products and share them. An rbf Gram matrix whose gamma is
    an integer multiple of the gamma of a released one reuses its values by taking powers.

    Attributes
    ----------
    store : ndarray of shape (capacity, n)
        The cached rows, at the positions that `hold` returns. Column place[i] belongs to example i. If all rows fit,
        row place[i] does as well.
    """

    def __init__(
        self,
        kernel: Kernel,
        X: Any,
        dtype: Any,
        megabytes: float,
        like: Gram | None = None,
        room: NDArray[Any] | None = None,
    ) -> None:
        self.kernel, self.X, self.megabytes = kernel, X, megabytes
        self.n = int(X.shape[0])
        self._order = Order(np.arange(self.n), X)
        if like is not None and like.n == self.n:
            self._order.key = like._order.key
        self._spent = False
        # `_roots` marks slots whose values must be raised to `_power`; `_first_gamma` is the gamma computed first.
        self._power, self._roots, self._first_gamma = 0, np.empty(0, dtype=bool), kernel.gamma
        if kernel.name == "precomputed":
            self.store = np.asarray(X, dtype=dtype)
            self._slot = self._row = np.arange(self.n)
        else:
            capacity = min(self.n, int(megabytes * 2**20 / (self.n * np.dtype(dtype).itemsize)))
            if capacity < min(self.n, 2):
                raise ValueError(
                    f"cache_size={megabytes} MB is too small for two rows of the Gram matrix of {self.n} examples; "
                    f"raise it to {2 * self.n * np.dtype(dtype).itemsize / 2**20:.1f} or more."
                )
            # The operating system allocates pages only when rows are written to them.
            shape = capacity, self.n
            left = like._given_up(dtype, shape) if like is not None else None
            if room is not None:
                self.store = room[: capacity * self.n].reshape(shape)
            elif like is not None and left is not None:
                self.store = left[0]
                self._take_powers(like, left[1])
            else:
                self.store = np.empty(shape, dtype=dtype)
            self._slot = np.full(self.n, -1)
            self._row = np.full(capacity, -1)
        self._geometry = self._kept(dtype, megabytes, like) if room is None else None
        self._lock = self._order.lock
        self._square: tuple[Rows, Array] | None = None
        # The X that was prepared, before it was checked and centred.
        self.given: Any = None
        self._last_use = np.zeros(len(self._row), dtype=np.int64)

    @property
    def shape(self) -> tuple[int, ...]:
        """Return the shape of X."""
        return tuple(self.X.shape)

    @property
    def place(self) -> Rows:
        """Return the position of each example within a row: its own number, unless `arrange` moved it."""
        return self._order.place

    @property
    def capacity(self) -> int:
        """Return how many rows can be held at a time."""
        return len(self._row)

    @property
    def side(self) -> int:
        """Return the size of the largest square Gram matrix that fits in the same memory."""
        return min(self.n, math.isqrt(self.store.size))

    @property
    def diag(self) -> Array:
        """Return K(x, x) of each row."""
        if self.capacity == self.n and self.store.dtype == np.float64 and (self._slot >= 0).all():
            held: Array = self.store.diagonal()[self.place]
            return held
        blocks = row_blocks(self.n, 1 << 13)
        X, kernel = self.X, self.kernel
        return np.concatenate([kernel.block(X[b], kernel.anchors(X, np.arange(self.n)[b])).diagonal() for b in blocks])

    def anchors(self, rows: Rows) -> Any:
        """Return the `anchors` argument of `Kernel.block` for some rows."""
        return self.kernel.anchors(self.X, rows)

    @property
    def foreseen(self) -> bool:
        """Return whether several trainings on parts of the rows are to come, for which all kernel values fit."""
        return self._order.key is not None and self.capacity == self.n

    @property
    def readable_in_place(self) -> bool:
        """Return whether all kernel values fit, and compiled functions can read them where they are.

        A precomputed matrix may be read-only or stored column by column: functions would be compiled for it again.
        """
        return self.capacity == self.n and self.kernel.name != "precomputed"

    def keep_together(self, parts: Sequence[Rows], labels: Rows) -> None:
        """Take note that the rows of a part, sorted by label in it, should be neighbours when `arrange` sorts rows."""
        part = np.full(self.n, len(parts))
        for number, rows in enumerate(parts):
            part[rows] = number
        with self._lock:
            self._order.key = part * (labels.max() + 1) + labels

    def arrange(self, labels: Rows) -> None:
        """Place examples with the same label next to each other, if all rows fit and nothing has been computed.

        >>> gram = Gram(Kernel("linear"), np.arange(3.0)[:, None], np.float32, 1)
        >>> gram.arrange(np.array([1, 0, 1]))
        >>> gram.store[gram.hold(np.array([2, 1]))]
        array([[2., 0., 4.],
               [1., 0., 2.]], dtype=float32)
        """
        with self._lock:
            untouched = (self._slot < 0).all() and (self._geometry is None or not self._geometry.known.any())
            if self.capacity == self.n and untouched and not self._power:
                key = labels if self._order.key is None else self._order.key
                order = np.argsort(key, kind="stable")
                self._order.place, self._order.X = np.argsort(order), self.X[order]

    def hold(self, rows: Rows, run: Run = serially) -> Rows:
        """Compute missing rows; return the slots of `rows` (distinct, at most `capacity`) until the next call."""
        with self._lock:
            held = self._slot[rows]
            self._last_use[held[held >= 0]] = self._last_use.max() + 1
            missing = rows[held < 0]
            if len(missing):
                if self.capacity == self.n:
                    missing = missing[np.argsort(self.place[missing])]
                    slots = self.place[missing]
                else:
                    slots = np.sort(np.argsort(self._last_use, kind="stable")[: len(missing)])
                evicted = self._row[slots]
                self._slot[evicted[evicted >= 0]] = -1
                self._row[slots] = -1
                blocks = [slice(s, s + ROWS_AT_A_TIME) for s in range(0, len(missing), ROWS_AT_A_TIME)]
                run(lambda block: self._compute(missing[block], slots[block]), blocks)
                self._slot[missing], self._row[slots] = slots, missing
                self._last_use[slots] = self._last_use.max() + 1
            return self._slot[rows]

    @contextmanager
    def holding(self, rows: Rows, run: Run = serially) -> Iterator[Rows]:
        """Hold rows as `hold` does, while no other thread can evict them."""
        with self._steady():
            yield self.hold(rows, run)

    @contextmanager
    def part(self, rows: Rows) -> Iterator[Gram]:
        """Yield a temporary Gram matrix of some rows, using the memory of the cached rows, which are discarded.

        >>> gram = Gram(Kernel("linear"), np.arange(3.0)[:, None], np.float32, 24 / 2**20)
        >>> with gram.part(np.array([1, 2])) as part:
        ...     part.rows(np.array([0, 1]))
        array([[1., 2.],
               [2., 4.]], dtype=float32)
        """
        with self._lock:
            self._slot[:] = self._row[:] = -1
            self._power = 0
            yield Gram(self.kernel, self.X[rows], self.store.dtype, self.store.nbytes / 2**20, room=self.store.ravel())

    def rows(self, rows: Rows, run: Run = serially) -> NDArray[Any]:
        """Return a copy of the (len(rows), n) kernel values.

        >>> Gram(Kernel("linear"), np.arange(3.0)[:, None], np.float32, 1).rows(np.array([2, 1]))
        array([[0., 2., 4.],
               [0., 1., 2.]], dtype=float32)
        """
        with self.holding(rows, run) as slots:
            copy: NDArray[Any] = self.store[slots][:, self.place]
        return copy

    def square(self, rows: Rows) -> Array:
        """Return the kernel values between rows that `holds` confirms; those of the last call are kept.

        >>> gram = Gram(Kernel("linear"), np.arange(3.0)[:, None], np.float64, 1)
        >>> gram.hold(np.arange(3))
        array([0, 1, 2])
        >>> gram.square(np.array([2, 1]))
        array([[4., 2.],
               [2., 1.]])
        """
        with self._lock:
            if self._square is None or not np.array_equal(self._square[0], rows):
                self._square = None  # its memory is free before the next is made
                self._square = rows.copy(), self._copied(rows)
            return self._square[1]

    def _copied(self, rows: Rows) -> NDArray[Any]:
        """Return the kernel values, as they are stored, between rows that `holds` confirms; neighbours go together."""
        places, square = self.place[rows], np.empty((len(rows), len(rows)), dtype=self.store.dtype)
        cuts = [0, *(1 + np.flatnonzero(np.diff(places) != 1)).tolist(), len(rows)]
        if len(cuts) > MOST_RUNS:
            gather(self.store, places, places, square)
            return square
        runs = [(slice(a, b), slice(places[a], places[a] + b - a)) for a, b in pairwise(cuts)]
        for (to, at), (across, along) in product(runs, runs):
            square[to, across] = self.store[at, along]
        return square

    def holds(self, rows: Rows) -> bool:
        """Return whether all rows fit and these rows are in `store`, each at its place."""
        return self.capacity == self.n and bool((self._slot[rows] >= 0).all())

    def between(self, rows: Rows, others: Rows) -> Array:
        """Return (len(rows), len(others)) kernel values, from the cache if all `others` are cached, else computed."""
        with self._steady():
            if (self._slot[others] >= 0).all():
                out = np.empty((len(others), len(rows)))
                gather(self.store, self._slot[others], self.place[rows], out)
                return out.T
        return self.kernel.block(self.X[rows], self.kernel.anchors(self.X, others))

    def serves(self, kernel: Kernel, X: Any, dtype: Any, megabytes: float) -> bool:
        """Return whether a new Gram matrix with these arguments would equal this one."""
        mine = (self.kernel.name, self.kernel.gamma, self.kernel.degree, self.kernel.coef0, self.megabytes)
        return (
            self.capacity > 0
            and mine == (kernel.name, kernel.gamma, kernel.degree, kernel.coef0, megabytes)
            and self.store.dtype == dtype
            and _equal(kernel.centre, self.kernel.centre)
            and _equal(X, self.X)
        )

    def release(self) -> None:
        """Release the memory of this Gram matrix when it is no longer used.

        The next Gram matrix made `like` this one takes over its memory. After that, this one holds no rows (its
        capacity is 0) and shares only its geometry.
        """
        self._spent = True

    def reclaimed(self) -> Gram:
        """Undo `release` and return this Gram matrix."""
        self._spent = False
        return self

    def _steady(self) -> AbstractContextManager[Any]:
        """Return a context in which the held rows keep their slots."""
        return nullcontext() if self.capacity == self.n else self._lock

    def _given_up(self, dtype: Any, shape: tuple[int, int]) -> tuple[NDArray[Any], NDArray[np.bool_]] | None:
        """Return the memory of a released Gram matrix and its used slots, or None if the memory does not match."""
        with self._lock:
            if not self._spent or (self.store.dtype, self.store.shape) != (dtype, shape):
                return None
            room, held = self.store, self._row >= 0
            self._square = None
            self.store = np.empty((0, self.n), dtype)
            self._row = self._last_use = np.empty(0, dtype=np.intp)
            self._slot[:] = -1
            return room, held

    def _take_powers(self, like: Gram, held: NDArray[np.bool_]) -> None:
        """Reuse the rows that another Gram matrix left in the memory, if their powers are rows of this one."""
        exact = self.store.dtype == np.float64 and self.kernel.gamma <= HIGHEST_POWER * like._first_gamma
        if exact and len(held) == self.n and _equal(self.X, like.X) and (power := self.kernel.power_of(like.kernel)):
            self._power, self._roots, self._first_gamma = power, held, like._first_gamma
            self._order = Order(like.place, like._order.X, like._order.key)

    def _kept(self, dtype: Any, megabytes: float, like: Gram | None) -> Geometry | None:
        """Return storage for distances or products; it is shared with `like` if that has the same X."""
        kernel, X = self.kernel, self.X
        if not isinstance(kernel.name, str) or kernel.name == "precomputed":
            return None
        whole = self.n**2 * np.dtype(dtype).itemsize
        # Sharing an order requires holding all rows: only then are they stored in that order.
        if 2 * whole > megabytes * 2**20:
            return None
        if like is not None and (shared := like._geometry) is not None:
            same = shared.rows.dtype == dtype and shared.of_rbf == (kernel.name == "rbf")
            if same and _equal(X, like.X):
                self._order = shared.order
                return shared
        enough = KEPT_AT_ONCE if like is None else KEPT_FEATURES
        if self._power or (X.shape[1] < enough and not sparse.issparse(X)):
            return None
        rows, known = np.empty((self.n, self.n), dtype), np.zeros(self.n, dtype=bool)
        return Geometry(kernel.name == "rbf", rows, known, self._order)

    def _compute(self, rows: Rows, slots: Rows) -> None:
        kernel, X, geometry = self.kernel, self._order.X, self._geometry
        if self._power:
            roots = self._roots[slots]
            # Mark the rows first, so that an interrupt here cannot lead to taking a power twice.
            self._roots[slots] = False
            for values in self._views(slots[roots]):
                to_the_power(self._power, values)
            rows, slots = rows[~roots], slots[~roots]
        if not len(rows):
            return
        rows = self.place[rows]
        if geometry is not None:
            new = rows[~geometry.known[rows]]
            if len(new):
                geometry.rows[new] = kernel.geometry(X[new], X)
                geometry.known[new] = True
            # Few rows at a time, so that they stay in cache; adjacent rows need no copy.
            views = self._views(slots) if are_neighbours(rows) else []
            for block in row_blocks(len(rows), 16 * self.n):
                if len(views) == 1:
                    views[0][block] = geometry.rows[rows[0] + block.start : rows[0] + block.stop]
                    kernel.values(views[0][block])
                else:
                    self.store[slots[block]] = kernel.values(geometry.rows[rows[block]])
        elif kernel.name == "rbf" and self.store.dtype == np.float32:
            rbf_block(kernel, X[rows], X, self.store, slots)
        elif isinstance(kernel.name, str) and self.store.dtype == np.float64 and len(view := self._views(slots)) == 1:
            kernel.block(X[rows], X, *view)
        else:
            self.store[slots] = kernel.block(X[rows], X)

    def _views(self, slots: Rows) -> list[NDArray[Any]]:
        """Return views of the rows in some slots: one view if the slots are adjacent, else one per row."""
        if len(slots) and are_neighbours(slots):
            return [self.store[slots[0] : slots[-1] + 1]]
        return [self.store[slot] for slot in slots]


def are_neighbours(numbers: Rows) -> bool:
    """Return whether the numbers are consecutive."""
    return bool((np.diff(numbers) == 1).all())


def _equal(A: Any, B: Any) -> bool:
    if A is B or A is None or B is None:
        return A is B
    if A.shape != B.shape or sparse.issparse(A) != sparse.issparse(B):
        return False
    return (A != B).nnz == 0 if sparse.issparse(A) else np.array_equal(A, B)
