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
        Any sequence: one whose `__getitem__` reads a file keeps a single block in memory.

    Examples
    --------
    >>> X = RowBlocks([np.ones((2, 3)), np.zeros((1, 3))])
    >>> len(X), X.shape, X.joined().tolist()
    (2, (3, 3), [[1.0, 1.0, 1.0], [1.0, 1.0, 1.0], [0.0, 0.0, 0.0]])
    """

    def __init__(self, blocks: Sequence[Any]) -> None:
        if not len(blocks):
            raise ValueError("RowBlocks is empty; give at least one block of rows.")
        self.blocks = blocks
        self.each: Callable[[Any], Any] = _itself
        shapes = [(n_rows_of(block), block.shape[1]) for block in blocks]
        if len(widths := {width for _, width in shapes}) > 1:
            raise ValueError(f"The blocks have different numbers of columns, {sorted(widths)}; give them the same.")
        self.shape = sum(n for n, _ in shapes), shapes[0][1]

    def __len__(self) -> int:
        return len(self.blocks)

    def __iter__(self) -> Iterator[Any]:
        return map(self.each, self.blocks)

    def through(self, each: Callable[[Any], Any]) -> RowBlocks:
        """Return the same blocks, each passed through a function when it is read."""
        other = copy.copy(self)
        other.each = each
        return other

    def joined(self) -> Any:
        """Return all rows as one array, sparse array or data frame."""
        blocks = list(self)
        if hasattr(blocks[0], "iloc"):
            import pandas as pd

            return pd.concat(blocks)
        return sp.vstack(blocks, format="csr") if sp.issparse(blocks[0]) else np.concatenate(blocks)


def _itself(block: Any) -> Any:
    return block
