"""Working sets on a Gram matrix, shared by the decompositions for columns and for classes.

Both work in rounds (Joachims 1999). A working set consists of the worst violators and part of the last set (Serafini &
Zanni 2005). It is solved on its own Gram matrix, which stays in cache, and then the gradients of all rows are updated.
Rounding errors accumulate in the gradients, so they are computed from scratch before the certificate, and the rounds
continue if some row still violates the optimality conditions.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from outputcodes._ground.blocks import BLOCK_VALUES, Run, row_blocks
from outputcodes._ground.lanes import LANES
from outputcodes._kernel_machines.gram import Gram
from outputcodes._kernel_machines.smo.pairs import gather

Rows = NDArray[np.intp]
Array = NDArray[np.float64]

# The share of the worst violators in a working set; the rest is kept from previous sets.
FRESH = 0.75
# A working set is solved to this fraction of its violation, because full precision is not needed early on.
INNER = 0.1
# How often the solver continues after computing the gradients from scratch, before it gives up.
REFRESHES = 10
# Support vectors per tile when kernel values are computed; with all of them, a block would have too few rows.
ANCHORS = 1024


def next_set(working: Rows, violators: Rows, size: int, least: int) -> Rows:
    """Return the worst violators, which come first, then the rows of the last set, newest first.

    >>> next_set(np.array([7, 3, 1]), np.array([3, 4, 5, 6]), size=4, least=1)
    array([3, 4, 5, 7])
    """
    offered = first_of_each(violators)[: max(least, int(FRESH * size) if len(working) else size)]
    return first_of_each(np.concatenate([offered, working]))[:size]


def first_of_each(values: Rows) -> Rows:
    """Return the distinct values in the order of their first occurrence."""
    _, first = np.unique(values, return_index=True)
    return values[np.sort(first)]


def padded(rows: int, columns: int, dtype: Any) -> NDArray[Any]:
    """Return an empty matrix for kernel values; its columns are padded with zeros to whole lanes."""
    K = np.empty((rows, -(-columns // LANES) * LANES), dtype=dtype)
    K[:, columns:] = 0
    return K


def local_gram(gram: Gram, slots: Rows, columns: Rows, run: Run) -> NDArray[Any]:
    """Return the Gram matrix of a working set, whose rows are held in `slots`, padded to whole lanes."""
    K = padded(len(slots), len(columns), gram.store.dtype)
    run(lambda b: gather(gram.store, slots[b], columns, K[b]), row_blocks(len(slots), 8 * len(columns)))
    return K


def exact_products(gram: Gram, rows: Rows, coefficients: Array, run: Run) -> Array:
    """Return K·coefficients (n, L) of some rows in float64, from unrounded kernel values."""
    support = np.flatnonzero(coefficients.any(axis=1))
    if not len(support):
        return np.zeros_like(coefficients)
    kept, anchors = coefficients[support], gram.kernel.anchors(gram.X, rows[support])
    tiles = list(row_blocks(len(support), BLOCK_VALUES // ANCHORS))

    def of_block(block: slice) -> Array:
        A, f = gram.X[rows[block]], np.zeros((block.stop - block.start, kept.shape[1]))
        for tile in tiles:
            f += gram.kernel.block(A, anchors[tile]) @ kept[tile]
        return f

    return np.concatenate(run(of_block, row_blocks(len(rows), min(len(support), ANCHORS))))
