"""What Dask computes later: recognised without importing Dask, and labels and weights fetched."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp


def is_dask(X: Any) -> bool:
    """Return whether X is a collection of Dask, such as an array or a DataFrame, without importing it.

    >>> is_dask(np.eye(2))
    False
    """
    known = type(X).__module__.partition(".")[0] in ("dask", "dask_expr") and hasattr(X, "dask")
    return known and not is_delayed(X)


def is_delayed(X: Any) -> bool:
    """Return whether X is an object that Dask computes later, without importing it."""
    return type(X).__module__ == "dask.delayed"


def is_computed_later(X: Any) -> bool:
    """Return whether X is a Dask collection, a delayed table or a list of these."""
    parts = X if isinstance(X, list) and X else [X]
    return all(is_dask(one) or is_delayed(one) for one in parts)


def at_hand(y: Any) -> Any:
    """Return labels or weights that are delayed, or delayed in parts, as one array; anything else unchanged.

    >>> at_hand([1, 2])
    [1, 2]
    """
    parts = y if isinstance(y, list | tuple) and len(y) else [y]
    # The first part tells: there may be a million labels.
    if not is_delayed(parts[0]):
        return y
    import dask

    found = list(dask.compute(*parts))
    if any(map(sp.issparse, found)):
        return sp.vstack(found, format="csr")
    if len(found) == 1 and parts[0] is y:
        return found[0]
    # A list of labels, each of them delayed, is a vector.
    return np.concatenate([np.atleast_1d(np.asarray(part)) for part in found])
