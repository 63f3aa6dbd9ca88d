"""Kernel expansions f_j(x) = b_j + Σ_i β_ij K(x_i, x), evaluated in blocks whose kernel values serve all columns."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from outputcodes._ground.blocks import over_blocks, row_blocks
from outputcodes._ground.sizes import largest_entry, without_huge
from outputcodes._kernel_machines.kernel_function import Kernel, NonFiniteKernelError

Rows = NDArray[np.intp]
Array = NDArray[np.float64]
# Some support vectors, the columns that contain them, and β there.
Piece = tuple[slice, Rows, Array]


def expand(
    n: int, values: Callable[[slice], Array], n_support: int, pieces: list[Piece], bias: Array, n_jobs: int | None
) -> Array:
    """Return the (n, L) values of the expansions; `values(block)` are kernel values with support vectors."""
    F = np.repeat(bias[:, None], n, axis=1)

    def add(block: slice) -> None:
        K = values(block).T
        for some, columns, beta in pieces:
            if len(columns) == len(F):
                F[:, block] += beta.T @ K[some]
            else:
                F[columns, block] += beta.T @ K[some]

    over_blocks(add, row_blocks(n, n_support), n_jobs)
    return F.T


def expand_new(X: Any, kernel: Kernel, anchors: Any, pieces: list[Piece], bias: Array, n_jobs: int | None) -> Array:
    """Return the (n, L) values of the expansions at new rows X; `anchors` are the support vectors.

    Features beyond ±1e100 count as ±1e100.
    """

    def values(block: slice) -> Array:
        try:
            return kernel.block(kernel.features(without_huge(X[block])), anchors)
        except NonFiniteKernelError as error:
            row, column = largest_entry(X[block])
            raise ValueError(f"{error} The largest feature is X[{block.start + row}, {column}].") from error

    return np.ascontiguousarray(expand(X.shape[0], values, anchors.shape[0], pieces, bias, n_jobs))
