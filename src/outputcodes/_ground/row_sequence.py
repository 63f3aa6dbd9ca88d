"""X in blocks of rows, which are read one after another and need not be in memory together."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from outputcodes._ground.validation import n_rows_of


class RowBlocks:
    """Blocks of rows with the same columns, in order.

    A learner that `takes_blocks` reads them one after another in `prepare`; for the others they are joined first.

    Parameters
    ----------
    blocks : sequence of arrays, sparse matrices or data frames
        Any sequence: if its `__getitem__` reads a file, a learner that takes blocks holds one of them at a time.

    Examples
    --------
    >>> X = RowBlocks([np.ones((2, 3)), np.zeros((1, 3))])
    >>> len(X), X.shape, X.joined().tolist()
    (2, (3, 3), [[1.0, 1.0, 1.0], [1.0, 1.0, 1.0], [0.0, 0.0, 0.0]])
    """

    def __init__(self, blocks: Sequence[Any]) -> None:
        if hasattr(blocks, "shape") or not hasattr(blocks, "__len__"):
            raise ValueError(f"RowBlocks takes a sequence of blocks, such as [X[:1000], X[1000:]], not {type(blocks)}.")
        if not len(blocks):
            raise ValueError("RowBlocks is empty; give at least one block of rows.")
        self.blocks = blocks
        self.each: Callable[[Any], Any] = _itself
        n_rows, widths = 0, set()
        for number, block in enumerate(blocks):
            shape = getattr(block, "shape", None)
            # Text, say, has rows and no columns.
            if not isinstance(block, list) and (shape is None or len(shape) != 2):
                found = type(block).__name__ if shape is None else f"an array of shape {shape}"
                raise ValueError(
                    f"Block {number} is {found}; a block is a table of rows and columns (an array, a sparse matrix or "
                    "a data frame) or a list of rows."
                )
            n_rows += n_rows_of(block)
            widths |= set() if shape is None else {shape[1]}
        if len(widths) > 1:
            raise ValueError(f"The blocks have different numbers of columns, {sorted(widths)}; give them the same.")
        self.shape = (n_rows, *widths)

    def __len__(self) -> int:
        return len(self.blocks)

    def __iter__(self) -> Iterator[Any]:
        return map(self.each, self.blocks)

    def through(self, each: Callable[[Any], Any]) -> RowBlocks:
        """Return the same blocks, each passed through a function when it is read."""
        before, other = self.each, copy.copy(self)
        other.each = lambda block: each(before(block))
        return other

    def joined(self) -> Any:
        """Return all rows as one array, sparse array or data frame."""
        blocks = list(self)
        if hasattr(blocks[0], "iloc"):
            import pandas as pd

            return pd.concat(blocks)
        if isinstance(blocks[0], list):
            return [row for block in blocks for row in block]
        return sp.vstack(blocks, format="csr") if sp.issparse(blocks[0]) else np.concatenate(blocks)


def _itself(block: Any) -> Any:
    return block
