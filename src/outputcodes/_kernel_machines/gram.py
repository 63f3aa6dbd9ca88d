"""The Gram matrix of a kernel: in memory as far as it fits, else an LRU of rows."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
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

# With so many features a distance takes longer to compute than to read, and is kept for other parameters; where none
# have been asked for as yet, only if it takes much longer, for it takes as much memory as the Gram matrix again.
KEPT_FEATURES, KEPT_AT_ONCE = 32, 256
# The highest power of computed rbf values that is taken for another gamma: so many units in the last place it may err.
HIGHEST_POWER = 4096


@dataclass
class Order:
    """Where each example's values are in a row, and the features in that order; it may change under the lock only.

    Gram matrices that share their geometry share the order and its lock.
    """

    place: Rows
    X: Any
    lock: Any = field(default_factory=RLock)


@dataclass(frozen=True)
class Geometry:
    """Rows of distances or products, (n, n), and which of them are there: what Gram matrices of one X share."""

    of_rbf: bool
    rows: NDArray[Any]
    known: NDArray[np.bool_]
    order: Order


class Gram:
    """Rows of the Gram matrix of X, computed when first asked for and kept up to `megabytes`.

    The rows least recently used make room for new ones. Where all fit, nothing is ever computed twice. Where they fit
    twice, Gram matrices made `like` others keep distances or inner products too, and take them from those; one of rbf
    with a whole multiple of the gamma of one that was released takes powers of its values.

    Attributes
    ----------
    store : ndarray of shape (capacity, n)
        The rows that are held, where `hold` says. Column place[i] is example i's, and if all rows fit, so is row
        place[i].
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
        self._released = False
        # Slots in which the value to the power of `_power` is still to be taken, and the gamma of the first such value.
        self._power, self._roots, self._first_gamma = 0, np.empty(0, dtype=bool), kernel.gamma
        if kernel.name == "precomputed":
            self.store = np.asarray(X, dtype=dtype)
            self._slot = self._row = np.arange(self.n)
        else:
            capacity = min(self.n, int(megabytes * 2**20 / (self.n * np.dtype(dtype).itemsize)))
            if capacity < min(self.n, 2):
                raise ValueError(
                    f"cache_size={megabytes} MB holds no two rows of the Gram matrix of {self.n} examples; "
                    f"raise it to {2 * self.n * np.dtype(dtype).itemsize / 2**20:.1f} or more."
                )
            # Pages of memory are taken only when rows are written to them.
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
        self._last_use = np.zeros(len(self._row), dtype=np.int64)

    @property
    def place(self) -> Rows:
        """Where in a row each example's value is: at its own number, unless `arrange` put it elsewhere."""
        return self._order.place

    @property
    def capacity(self) -> int:
        """How many rows can be held at a time."""
        return len(self._row)

    @property
    def side(self) -> int:
        """How many rows may have a Gram matrix of their own in the same memory."""
        return min(self.n, math.isqrt(self.store.size))

    @property
    def diag(self) -> Array:
        """K(x, x) of each row."""
        if self.capacity == self.n and self.store.dtype == np.float64 and (self._slot >= 0).all():
            held: Array = self.store.diagonal()[self.place]
            return held
        blocks = row_blocks(self.n, 1 << 13)
        X, kernel = self.X, self.kernel
        return np.concatenate([kernel.block(X[b], kernel.anchors(X, np.arange(self.n)[b])).diagonal() for b in blocks])

    def arrange(self, labels: Rows) -> None:
        """Put examples of the same label side by side, if all rows fit and nothing is computed as yet.

        >>> gram = Gram(Kernel("linear"), np.arange(3.0)[:, None], np.float32, 1)
        >>> gram.arrange(np.array([1, 0, 1]))
        >>> gram.store[gram.hold(np.array([2, 1]))]
        array([[2., 0., 4.],
               [1., 0., 2.]], dtype=float32)
        """
        with self._lock:
            untouched = (self._slot < 0).all() and (self._geometry is None or not self._geometry.known.any())
            if self.capacity == self.n and untouched and not self._power:
                order = np.argsort(labels, kind="stable")
                self._order.place, self._order.X = np.argsort(order), self.X[order]

    def hold(self, rows: Rows, run: Run = serially) -> Rows:
        """Where in `store` the rows (distinct, at most `capacity`) are, until the next call; computes the missing."""
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
        """As `hold`, while no other thread makes room for rows of its own."""
        with self._steady():
            yield self.hold(rows, run)

    @contextmanager
    def part(self, rows: Rows) -> Iterator[Gram]:
        """The Gram matrix of some rows alone, for a while, in the memory of the rows held, which are given up.

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
        """(len(rows), n) kernel values, a copy.

        >>> Gram(Kernel("linear"), np.arange(3.0)[:, None], np.float32, 1).rows(np.array([2, 1]))
        array([[0., 2., 4.],
               [0., 1., 2.]], dtype=float32)
        """
        with self.holding(rows, run) as slots:
            copy: NDArray[Any] = self.store[slots][:, self.place]
        return copy

    def holds(self, rows: Rows) -> bool:
        """Whether all rows fit, and these are in `store`, each at its place."""
        return self.capacity == self.n and bool((self._slot[rows] >= 0).all())

    def between(self, rows: Rows, others: Rows) -> Array:
        """(len(rows), len(others)) kernel values; from the rows held if all `others` are there, else computed."""
        with self._steady():
            if (self._slot[others] >= 0).all():
                out = np.empty((len(others), len(rows)))
                gather(self.store, self._slot[others], self.place[rows], out)
                return out.T
        return self.kernel.block(self.X[rows], self.kernel.anchors(self.X, others))

    def release(self) -> None:
        """Let the next Gram matrix that is made `like` this one take over its memory.

        After that this one holds nothing: its capacity is 0, and it has only its geometry to share.
        """
        self._released = True

    def remade(self, kernel: Kernel, X: Any, dtype: Any, megabytes: float) -> Gram:
        """Return the Gram matrix of these: this one, no longer released, if it is the same, else one made `like` it."""
        mine = (self.kernel.name, self.kernel.gamma, self.kernel.degree, self.kernel.coef0, self.megabytes)
        if (
            self.capacity > 0
            and mine == (kernel.name, kernel.gamma, kernel.degree, kernel.coef0, megabytes)
            and self.store.dtype == dtype
            and _equal(kernel.centre, self.kernel.centre)
            and _equal(X, self.X)
        ):
            self._released = False
            return self
        return Gram(kernel, X, dtype, megabytes, like=self)

    def _steady(self) -> AbstractContextManager[Any]:
        """While entered, rows that are held stay where they are."""
        return nullcontext() if self.capacity == self.n else self._lock

    def _given_up(self, dtype: Any, shape: tuple[int, int]) -> tuple[NDArray[Any], NDArray[np.bool_]] | None:
        """Return the memory and the slots in use, to one successor, if this is released and what that one needs."""
        with self._lock:
            if not self._released or (self.store.dtype, self.store.shape) != (dtype, shape):
                return None
            room, held = self.store, self._row >= 0
            self.store = np.empty((0, self.n), dtype)
            self._row = self._last_use = np.empty(0, dtype=np.intp)
            self._slot[:] = -1
            return room, held

    def _take_powers(self, like: Gram, held: NDArray[np.bool_]) -> None:
        """Go on from the rows that another Gram matrix has left in the memory, if their powers are rows of this one."""
        exact = like.store.dtype == np.float64 and self.kernel.gamma <= HIGHEST_POWER * like._first_gamma
        if exact and len(held) == self.n and _equal(self.X, like.X) and (power := self.kernel.power_of(like.kernel)):
            self._power, self._roots, self._first_gamma = power, held, like._first_gamma
            self._order = Order(like.place, like._order.X)

    def _kept(self, dtype: Any, megabytes: float, like: Gram | None) -> Geometry | None:
        """Room for distances or products beside the Gram matrix, or that of `like` if it is of the same X."""
        kernel, X = self.kernel, self.X
        if not isinstance(kernel.name, str) or kernel.name == "precomputed":
            return None
        whole = self.n**2 * np.dtype(dtype).itemsize
        # Who shares an order must hold all rows, for then only are they where the order says.
        if 2 * whole > megabytes * 2**20:
            return None
        if like is not None and (shared := like._geometry) is not None:
            same = shared.rows.dtype == dtype and shared.of_rbf == (kernel.name == "rbf")
            if same and _equal(X, like.X):
                self._order = shared.order
                return shared
        enough = KEPT_AT_ONCE if like is None else KEPT_FEATURES if dtype == np.float32 else 0
        if self._power or (X.shape[1] < enough and not sparse.issparse(X)):
            return None
        rows, known = np.empty((self.n, self.n), dtype), np.zeros(self.n, dtype=bool)
        return Geometry(kernel.name == "rbf", rows, known, self._order)

    def _compute(self, rows: Rows, slots: Rows) -> None:
        kernel, X, geometry = self.kernel, self._order.X, self._geometry
        if self._power:
            roots = self._roots[slots]
            # First of all, for whoever is interrupted here must not take the power of a power.
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
            # So few rows at a time that they stay near the processor; neighbours without a copy.
            views = self._views(slots) if _are_neighbours(rows) else []
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
        """The rows in some slots, not copied: together if they are neighbours, else one by one."""
        if len(slots) and _are_neighbours(slots):
            return [self.store[slots[0] : slots[-1] + 1]]
        return [self.store[slot] for slot in slots]


def _are_neighbours(numbers: Rows) -> bool:
    return bool((np.diff(numbers) == 1).all())


def _equal(A: Any, B: Any) -> bool:
    if A is B or A is None or B is None:
        return A is B
    if A.shape != B.shape or sparse.issparse(A) != sparse.issparse(B):
        return False
    return (A != B).nnz == 0 if sparse.issparse(A) else np.array_equal(A, B)
