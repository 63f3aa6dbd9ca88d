"""Outputs of a fitted model for a Dask collection, block by block when they are computed."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from outputcodes._ground.blocks import one_blas_thread
from outputcodes._ground.row_sequence import naming_block
from outputcodes._ground.validation import n_rows_of


def lazily(model: Any, method: str, X: Any, columns: NDArray[Any] | None, dtype: Any) -> Any:
    """Return what a method of a model returns, as a Dask collection with the blocks of X.

    Parameters
    ----------
    model : a fitted classifier
        It goes to the workers once, as a task of its own.
    method : str
    X : dask array or DataFrame
        Of an array the result is an array; of a DataFrame a Series or a DataFrame with its index.
    columns : ndarray or None
        The names of the columns of the result; None for a vector.
    dtype : the type of the result
    """
    from dask import delayed

    there = delayed(model, traverse=False)
    if hasattr(X, "npartitions") and hasattr(X, "columns"):
        import pandas as pd

        meta = pd.Series([], dtype=dtype) if columns is None else pd.DataFrame(columns=columns, dtype=dtype)
        return X.map_partitions(_frame, there, method, columns, np.dtype(dtype), meta=meta)
    import dask.array as da

    if X.ndim != 2:
        raise ValueError(f"X has {X.ndim} dimensions; a table of rows and columns has 2.")
    X = X.rechunk({1: -1}) if X.numblocks[1] > 1 else X
    given = method, None if columns is None else len(columns), np.dtype(dtype)
    if columns is None:
        return da.map_blocks(_outputs, X, there, *given, drop_axis=1, dtype=dtype, meta=np.empty(0, dtype=dtype))
    meta = np.empty((0, 0), dtype=dtype)
    return da.map_blocks(_outputs, X, there, *given, chunks=(X.chunks[0], (len(columns),)), dtype=dtype, meta=meta)


def _outputs(
    block: Any, model: Any, method: str, width: int | None, dtype: Any, block_id: tuple[int, ...] | None = None
) -> NDArray[Any]:
    """Dask passes the number of the block as `block_id`."""
    # A block without rows is normal.
    if not n_rows_of(block):
        return np.empty((0,) if width is None else (0, width), dtype=dtype)
    with one_blas_thread(), nullcontext() if block_id is None else naming_block(block_id[0]):
        found = getattr(model, method)(block)
    dense: NDArray[Any] = found.toarray() if sp.issparse(found) else found
    return dense


def _frame(
    block: Any,
    model: Any,
    method: str,
    columns: NDArray[Any] | None,
    dtype: Any,
    partition_info: dict[str, Any] | None = None,
) -> Any:
    """Dask passes the number of the block in `partition_info`."""
    import pandas as pd

    number = None if partition_info is None else (partition_info["number"],)
    found = _outputs(block, model, method, None if columns is None else len(columns), dtype, number)
    if columns is None:
        return pd.Series(found, index=block.index, dtype=dtype)
    return pd.DataFrame(found, index=block.index, columns=columns)
