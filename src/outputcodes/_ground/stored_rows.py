"""Rows that are prepared for training, in one or more blocks that stay where they are."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from outputcodes._ground.blocks import Run, serially
from outputcodes._ground.passes import Blocks, Sums
from outputcodes._ground.row_sequence import RowBlocks
from outputcodes._ground.sizes import numbered_as
from outputcodes._ground.validation import n_rows_of

Array = NDArray[np.float64]
Rows = NDArray[np.intp]


@dataclass(frozen=True)
class Part:
    """The rows of a block, and their rotation where there is one."""

    X: Any
    rotated: Any = None
    columns: None = None


class StoredRows:
    """Blocks of prepared rows.

    Attributes
    ----------
    blocks : Blocks
        Each with one `Part`.
    sizes : list of int
        The number of rows of each block.
    shape : tuple of int
    sparse : bool
    """

    def __init__(self, blocks: Blocks, sizes: list[int], n_features: int, sparse: bool) -> None:
        self.blocks, self.sizes, self.sparse = blocks, sizes, sparse
        self.shape = (sum(sizes), n_features)

    @classmethod
    def of(cls, X: RowBlocks, check: Callable[[Any], Any]) -> StoredRows:
        """Read every block once, check it, and keep it: in temporary files unless all blocks were in memory before."""
        first = X.first()
        sparse, width = sp.issparse(first), first.shape[1]
        blocks = X.kept(partial(_checked, check=check, sparse=sparse, width=width))
        return cls(blocks, X.sizes, width, sparse)

    @classmethod
    def whole(cls, X: Any, rotated: Any = None) -> StoredRows:
        """Return an array or sparse matrix as one block."""
        return cls(Blocks([[Part(X, rotated)]], serially), [X.shape[0]], X.shape[1], sp.issparse(X))

    def labelled(
        self, y: Rows, weight: Array | None, rows: Rows, make: Callable[..., Any], *state: Any, run: Run = serially
    ) -> Blocks:
        """Return blocks of the pieces make(parts, labels and weights of the block, its rows in `rows`, *state)."""
        given = [(y[block], None if weight is None else weight[block], own) for block, own in self._parts_of(rows)]
        return self.blocks.by(run).recut(make, given, *state)

    def total(self, work: Callable[..., Sums], *state: Any) -> Sums:
        """Return the sum of work(part, *state) over all blocks."""
        return self.blocks.total(work, *state)

    def through(self, work: Callable[..., Part], *state: Any) -> StoredRows:
        """Return the blocks of work(part, *state)."""
        return StoredRows(self.blocks.through(work, *state), self.sizes, self.shape[1], self.sparse)

    def each_row(self, rows: Rows | None, width: int, work: Callable[[Any], Array]) -> Array:
        """Return (len(rows), width) of work(X) on some rows, all by default, block by block."""
        rows = np.arange(self.shape[0]) if rows is None else rows
        found, block = np.empty((len(rows), width)), self._block_of(rows)
        given = [(own,) for _, own in self._parts_of(rows)]
        for b, values in enumerate(self.blocks.collected(_on_rows, work, given=given)):
            found[block == b] = values
        return found

    def taken(self, rows: Rows) -> StoredRows:
        """Return some rows, in their order within each block."""
        parts = list(self._parts_of(rows))
        sizes = [block.stop - block.start if own is None else len(own) for block, own in parts]
        taken = self.blocks.recut(_taken, [(own,) for _, own in parts])
        return StoredRows(taken, sizes, self.shape[1], self.sparse)

    def joined(self) -> Any:
        """Return all rows as one array or csr array."""
        every = self.blocks.collected(_features)
        if len(every) == 1:
            return every[0]
        return sp.vstack(every, format="csr") if self.sparse else np.concatenate(every)

    def slices(self) -> list[slice]:
        """Return which rows each block has."""
        ends = np.cumsum(self.sizes).tolist()
        return [slice(end - size, end) for size, end in zip(self.sizes, ends, strict=True)]

    def _parts_of(self, rows: Rows) -> Iterator[tuple[slice, Rows | None]]:
        """Yield the slice of each block, and which of its rows are among `rows`, from its first; None is all."""
        ascending = bool((rows[1:] > rows[:-1]).all())
        ends = np.searchsorted(rows, np.cumsum(self.sizes)) if ascending else np.zeros(len(self.sizes), dtype=np.intp)
        block, start, first = None if ascending else self._block_of(rows), 0, 0
        for b, (size, last) in enumerate(zip(self.sizes, ends.tolist(), strict=True)):
            own = (rows[first:last] if ascending else rows[block == b]) - start
            yield slice(start, start + size), own if len(own) < size or (np.diff(own) != 1).any() else None
            start, first = start + size, last

    def _block_of(self, rows: Rows) -> Rows:
        return np.searchsorted(np.cumsum(self.sizes), rows, side="right")


def _checked(block: Any, start: int, check: Callable[[Any], Any], sparse: bool, width: int) -> Part:
    """A block as a part; its first row is row `start` of all."""
    n = n_rows_of(block)
    with numbered_as(np.arange(start, start + n)):
        # A block without rows is normal, and has nothing to be checked.
        own = check(block).astype(np.float64, copy=False) if n else np.empty((0, width))
    if own.shape[1] != width:
        raise ValueError(f"The block from row {start} has {own.shape[1]} columns, and the first one has {width}.")
    return Part(_as(own, sparse))


def row_sum(part: Part) -> Sums:
    """Return the sum of the rows."""
    return (part.X.sum(axis=0),)


def centred(part: Part, centre: Array) -> Part:
    """Return the rows minus a centre."""
    return Part(part.X - centre)


def _taken(parts: list[Part], rows: Rows | None) -> list[Part]:
    return parts if rows is None else [Part(parts[0].X[rows])]


def _features(parts: list[Part]) -> Any:
    return parts[0].X


def _on_rows(parts: list[Part], rows: Rows | None, work: Callable[[Any], Array]) -> Array:
    return work(parts[0].X if rows is None else parts[0].X[rows])


def _as(X: Any, sparse: bool) -> Any:
    """X as a csr array or as an array whose rows lie in order: the bits of a product hang on how a matrix lies."""
    if sparse:
        return sp.csr_array(X)
    return np.ascontiguousarray(X.toarray() if sp.issparse(X) else X)
