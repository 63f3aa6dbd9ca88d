"""X in blocks of rows, which are read one after another and need not be in memory together."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from functools import partial
from os import PathLike
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from outputcodes._ground.blocks import serially
from outputcodes._ground.passes import Blocks
from outputcodes._ground.validation import n_rows_of, take_rows
from outputcodes._ground.working_files import WorkingFiles, is_mapped

# A block of float64 of this many values has 256 MiB.
VALUES_PER_BLOCK = 1 << 25
READ_FILES = "outputcodes.app.tables.read_blocks reads a file, a folder or a pattern of files."


class RowBlocks:
    """Blocks of rows with the same columns, in order.

    A learner that `takes_blocks` reads them one after another in `prepare`; for the others they are joined first. A
    block may have one row or none.

    Parameters
    ----------
    blocks : iterable of arrays, sparse matrices or data frames
        A list of blocks, or anything that yields the same blocks again whenever it is iterated: a sequence whose
        `__getitem__` reads a file, an object with `__iter__`, or a function that returns a generator. A learner that
        takes blocks then holds one of them at a time.

    Examples
    --------
    >>> X = RowBlocks([np.ones((2, 3)), np.zeros((1, 3))])
    >>> len(X), X.shape, X.joined().tolist()
    (2, (3, 3), [[1.0, 1.0, 1.0], [1.0, 1.0, 1.0], [0.0, 0.0, 0.0]])
    >>> def halves():
    ...     yield np.ones((2, 3))
    ...     yield np.zeros((1, 3))
    >>> RowBlocks(halves).shape
    (3, 3)
    """

    def __init__(self, blocks: Any) -> None:
        if isinstance(blocks, str | PathLike):
            raise ValueError(f"RowBlocks takes tables, not the name of a file or folder, {str(blocks)!r}: {READ_FILES}")
        if hasattr(blocks, "shape") or isinstance(blocks, Iterator) or not (iterates(blocks) or callable(blocks)):
            raise ValueError(
                "RowBlocks takes blocks that can be read more than once: a sequence, such as [X[:1000], X[1000:]], or "
                f"a function that returns a generator; not {type(blocks)}. RowBlocks.of(X) cuts an array."
            )
        self.blocks = blocks
        self.each: Callable[[Any], Any] = _itself
        self.sizes: list[int] = []
        kind: Any = None
        widths: set[int | None] = set()
        for number, block in enumerate(self._read()):
            own = BlockKind.of(block, number)
            self.sizes.append(n_rows_of(block))
            if kind is not None and (difference := own.difference(kind)) is not None:
                raise ValueError(f"Block {number} and block 0 have {difference}")
            kind = own
            if isinstance(block, list):
                widths.update(len(row) if isinstance(row, list | tuple) else None for row in block)
        if not self.sizes:
            raise ValueError("RowBlocks is empty; give at least one block of rows.")
        self.kind: BlockKind | None = kind
        # Texts, and rows of different lengths, have no columns.
        width = tuple(widths) if len(widths) == 1 and None not in widths else kind.width
        self.shape: tuple[int, ...] = (sum(self.sizes), *width)

    @classmethod
    def of(cls, X: Any, rows: int | None = None) -> RowBlocks:
        """Cut an array, memory map, sparse matrix or data frame into blocks of `rows` rows; None is 2^25 values.

        >>> RowBlocks.of(np.ones((5, 3)), rows=2).sizes
        [2, 2, 1]
        """
        if len(getattr(X, "shape", ())) != 2:
            raise ValueError(f"RowBlocks.of takes a table of rows and columns, not {type(X)}.")
        n, d = X.shape
        step = rows_per_block(rows, d, VALUES_PER_BLOCK)
        table = X.tocsr() if sp.issparse(X) else getattr(X, "iloc", X)
        return cls([table[start : start + step] for start in range(0, max(n, 1), step)])

    @classmethod
    def counted(cls, blocks: Any, sizes: list[int], width: int) -> RowBlocks:
        """Return blocks whose numbers of rows and columns are known already, without reading them."""
        counted = object.__new__(cls)
        counted.blocks, counted.each, counted.sizes = blocks, _itself, sizes
        counted.kind, counted.shape = None, (sum(sizes), width)
        return counted

    @property
    def in_memory(self) -> bool:
        """Whether the blocks are in memory already: a list of arrays that are not mapped from files."""
        return isinstance(self.blocks, list | tuple) and not any(map(_is_mapped, self.blocks))

    def __len__(self) -> int:
        return len(self.sizes)

    def __iter__(self) -> Iterator[Any]:
        number = -1
        for number, block in enumerate(self._read()):
            expected = self.sizes[number] if number < len(self.sizes) else 0
            kind = BlockKind.of(block, number)
            other = kind.difference(self.kind) is not None if self.kind is not None else kind.width != self.shape[1:]
            if n_rows_of(block) != expected or other:
                raise ValueError(
                    f"Block {number} has changed since it was first read: it had {expected} rows of "
                    f"{self.kind or f'{self.shape[1]} columns'}, and has {n_rows_of(block)} rows of {kind}. Train on "
                    "data that stay as they are."
                )
            # Functions are for rows; a block without any is normal.
            with naming_block(number):
                checked = self.each(block) if expected else block
            yield checked
        if number + 1 != len(self.sizes):
            raise ValueError(
                f"There were {len(self.sizes)} blocks when they were first read, and {number + 1} now. Give blocks "
                "that can be read more than once, such as a list or a function that returns a new generator."
            )

    def _read(self) -> Iterator[Any]:
        blocks = self.blocks() if callable(self.blocks) else self.blocks
        if not iterates(blocks) or hasattr(blocks, "shape"):
            raise ValueError(
                f"The function that RowBlocks was given returned {type(blocks).__name__}; it must return "
                "all blocks at each call, in a list or a new generator."
            )
        return iter(blocks)

    def first(self) -> Any:
        """Return the first block with rows; without any, the first block."""
        return next((block for block in self if n_rows_of(block)), None) if self.shape[0] else next(iter(self))

    def kept(self, make: Callable[[Any, int], Any]) -> Blocks:
        """Return blocks of one piece each, make(block, its first row), read and computed once.

        They are kept in temporary files unless all blocks were in memory before.
        """
        files, made, start = None if self.in_memory else WorkingFiles(), [], 0
        for number, block in enumerate(self):
            with naming_block(number):
                piece = make(block, start)
            made.append([piece if files is None else files.keep(piece)])
            start += n_rows_of(block)
        return Blocks(made, serially, files)

    def through(self, each: Callable[[Any], Any]) -> RowBlocks:
        """Return the same blocks, each passed through a function when it is read; it must keep all rows."""
        if not callable(each):
            raise ValueError(
                f"through takes a function of a block, such as a transformer's transform, not {type(each)}."
            )
        other = copy.copy(self)
        other.each = partial(_passed_on, self.each, each)
        return other

    def checked(self, check: Callable[..., Any], *, reset: bool) -> RowBlocks:
        """Return the blocks through check(block, reset=False) when they are read; the first is checked with `reset`."""
        # Without any rows, it is not one block that is wrong.
        number = next((number for number, size in enumerate(self.sizes) if size), None)
        with naming_block(number) if number is not None else nullcontext():
            check(self.first(), reset=reset)
        return self.through(partial(check, reset=False))

    def taken(self, rows: NDArray[np.intp]) -> RowBlocks:
        """Return the blocks of some rows, which ascend.

        >>> RowBlocks([np.eye(3), np.eye(3)]).taken(np.array([1, 2, 5])).sizes
        [2, 1]
        """
        return TakenRows(self, self._own_rows(rows))

    def _own_rows(self, rows: NDArray[np.intp]) -> list[NDArray[np.intp]]:
        """Which rows of each block are among `rows`, counted from its first."""
        ends = np.cumsum(self.sizes)
        own = np.split(rows, np.searchsorted(rows, ends)[:-1])
        return [some - start for some, start in zip(own, (ends - self.sizes).tolist(), strict=True)]

    def joined(self) -> Any:
        """Return all rows as one array, sparse array or data frame."""
        # One without rows was not checked, and may be of another kind.
        blocks = [block for block in self if n_rows_of(block)] or [self.first()]
        if hasattr(blocks[0], "iloc"):
            import pandas as pd

            return pd.concat(blocks)
        if isinstance(blocks[0], list):
            return [row for block in blocks for row in block]
        return sp.vstack(blocks, format="csr") if sp.issparse(blocks[0]) else np.concatenate(blocks)


def _passed_on(before: Callable[[Any], Any], each: Callable[[Any], Any], block: Any) -> Any:
    given = before(block)
    made = each(given)
    if n_rows_of(made) != n_rows_of(given):
        raise ValueError(
            f"the function given to through returned {n_rows_of(made)} rows for {n_rows_of(given)}: it must keep every "
            "row, in place. Leave rows out before, together with their labels."
        )
    return made


class TakenRows(RowBlocks):
    """Some rows of blocks, taken whenever these are read; all rows are checked."""

    def __init__(self, whole: RowBlocks, own: list[NDArray[np.intp]]) -> None:
        self.whole, self.own = whole, own
        self.sizes = [len(rows) for rows in own]
        self.kind, self.shape = whole.kind, (sum(self.sizes), *whole.shape[1:])

    @property
    def in_memory(self) -> bool:
        """Whether the blocks are in memory already."""
        return self.whole.in_memory

    def __iter__(self) -> Iterator[Any]:
        for block, rows in zip(self.whole, self.own, strict=True):
            yield block if len(rows) == n_rows_of(block) else take_rows(block, rows)

    def through(self, each: Callable[[Any], Any]) -> RowBlocks:
        """Return the same blocks, each passed through a function when it is read."""
        return TakenRows(self.whole.through(each), self.own)


def some_rows(X: Any, rows: NDArray[np.intp]) -> Any:
    """Return some rows of X, which ascend; blocks stay blocks."""
    if not isinstance(X, RowBlocks):
        return take_rows(X, rows)
    return X if len(rows) == X.shape[0] else X.taken(rows)


def rows_per_block(rows: int | None, width: int, values: int) -> int:
    """Return the number of rows of a block, by default such that it has so many `values`.

    >>> rows_per_block(None, 3, 12), rows_per_block(5, 3, 12)
    (4, 5)
    """
    if rows is None:
        return max(1, values // max(1, width))
    if isinstance(rows, bool) or not isinstance(rows, int | np.integer) or rows < 1:
        raise ValueError(f"rows={rows!r} must be an integer of at least 1, or None.")
    return int(rows)


class BlockKind(NamedTuple):
    """What blocks of one sample have in common: their container, number of columns, types and names of columns."""

    container: str
    width: tuple[int, ...]
    types: tuple[str, ...]
    names: tuple[Any, ...] | None

    @classmethod
    def of(cls, block: Any, number: int) -> BlockKind:
        """Return the kind of a block; what is no table is refused."""
        if isinstance(block, list):
            return cls("list", (), (), None)
        shape = getattr(block, "shape", None)
        # Text, say, has rows and no columns.
        if shape is None or len(shape) != 2:
            found = type(block).__name__ if shape is None else f"an array of shape {shape}"
            raise ValueError(
                f"Block {number} is {found}; a block is a table of rows and columns (an array, a sparse matrix or a "
                "data frame) or a list of rows."
                f"{f' {READ_FILES}' if isinstance(block, str | PathLike) else ''}"
            )
        width = (int(block.shape[1]),)
        if hasattr(block, "columns"):
            types = block.dtypes if hasattr(block, "dtypes") else ()
            return cls("data frame", width, tuple(map(str, types)), tuple(block.columns))
        types = (str(block.dtype),) if hasattr(block, "dtype") else ()
        return cls("sparse matrix" if sp.issparse(block) else "array", width, types, None)

    def difference(self, first: BlockKind) -> str | None:
        """Return in what a block differs from the first one, and what to do about it; None if in nothing."""
        if self.width != first.width:
            return f"different numbers of columns, {sorted({*first.width, *self.width})}; give them the same."
        if self.container != first.container:
            return f"different types, {self.container} and {first.container}; give them the same."
        if self.names != first.names and self.names is not None and first.names is not None:
            place = next(i for i, (a, b) in enumerate(zip(self.names, first.names, strict=True)) if a != b)
            return (
                f"different columns: column {place} is {self.names[place]!r} in the one and {first.names[place]!r} in "
                "the other; give them the same columns in the same order."
            )
        if self.types != first.types:
            place = next((i for i, (a, b) in enumerate(zip(self.types, first.types, strict=False)) if a != b), 0)
            where = "" if self.names is None else f" of column {self.names[place]!r}"
            return f"different dtypes{where}, {self.types[place]} and {first.types[place]}; convert them with astype."
        return None

    def __str__(self) -> str:
        return f"{self.width[0] if self.width else 1} columns ({self.container}, {', '.join(sorted(set(self.types)))})"


@contextmanager
def naming_block(number: int) -> Iterator[None]:
    """Name the block in which something is wrong."""
    try:
        yield
    except (TypeError, ValueError) as error:
        # Those of other classes name a row among all rows, or a file.
        if type(error) not in (TypeError, ValueError):
            raise
        rows = ", with its rows counted from 0" if re.search(r"\brow \d", str(error)) else ""
        raise type(error)(f"In block {number}{rows}: {error}") from error


def iterates(blocks: Any) -> bool:
    """Return whether blocks can be read by iteration."""
    return hasattr(blocks, "__iter__") or hasattr(blocks, "__getitem__")


def _itself(block: Any) -> Any:
    return block


def _is_mapped(block: Any) -> bool:
    return is_mapped(block.data if sp.issparse(block) else block)
