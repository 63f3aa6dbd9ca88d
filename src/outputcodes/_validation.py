"""The door: what users hand in is checked here once, and trusted inside."""

from __future__ import annotations

from numbers import Number
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import validate_data


def check_features(estimator: Any, X: Any, tags: Any, *, reset: bool) -> Any:
    """X as `estimator` may use it, feature names and counts recorded (`reset`) or compared.

    Arrays and sparse matrices are checked here. Data frames, and whatever an estimator takes that is no
    two-dimensional array (texts, say), are passed on untouched: only the foreign estimator knows them.
    """
    if not tags.two_d_array or hasattr(X, "columns"):
        return validate_data(estimator, X, reset=reset, skip_check_array=True)
    X = validate_data(
        estimator,
        X,
        reset=reset,
        accept_sparse=["csr", "csc"] if tags.sparse else False,
        dtype=None,
        ensure_all_finite=not tags.allow_nan,
    )
    if reset and tags.pairwise and X.shape[0] != X.shape[1]:
        raise ValueError(f"X is a precomputed kernel and must be square to train on; its shape is {X.shape}.")
    return X


def check_weight(weight: ArrayLike | None, n_rows: int) -> NDArray[np.float64] | None:
    """`sample_weight` as a vector of finite, non-negative numbers, not all zero; None stays None."""
    if weight is None:
        return None
    if isinstance(weight, Number):
        weight = np.full(n_rows, weight)
    checked = np.asarray(weight, dtype=np.float64)
    if checked.ndim != 1:
        raise ValueError(f"sample_weight must be 1-dimensional, one weight a row; its shape is {checked.shape}.")
    if checked.shape[0] != n_rows:
        raise ValueError(f"sample_weight has {checked.shape[0]} entries and X has {n_rows} rows; give one a row.")
    if not np.isfinite(checked).all() or (checked < 0).any():
        row = int(np.flatnonzero(~np.isfinite(checked) | (checked < 0))[0])
        raise ValueError(f"sample_weight[{row}]={checked[row]} must be finite and at least 0.")
    if not checked.any():
        raise ValueError("sample_weight is zero for every row; at least two classes need positive weight.")
    return checked


def n_rows_of(X: Any) -> int:
    """The number of rows of an array, sparse matrix, data frame or list."""
    return int(X.shape[0]) if hasattr(X, "shape") else len(X)


def take_rows(X: Any, rows: NDArray[np.intp] | None) -> Any:
    """Some rows of X, whatever its kind; None takes all and copies nothing."""
    if rows is None:
        return X
    if hasattr(X, "iloc"):
        return X.iloc[rows]
    if hasattr(X, "shape"):
        return X[rows]
    return [X[i] for i in rows]
