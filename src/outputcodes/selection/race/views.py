"""Two views of a table: numbers for linear models, kernels and distances; codes with missing values for trees."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler


def category_columns(X: Any) -> NDArray[np.intp]:
    """Return the places of the columns of a data frame that are not numbers; none for an array.

    >>> import pandas as pd
    >>> category_columns(pd.DataFrame({"size": [1.0, 2.0], "colour": ["red", "blue"]}))
    array([1])
    """
    if not hasattr(X, "iloc"):
        return np.empty(0, dtype=np.intp)
    kinds = [getattr(kind, "kind", "O") for kind in X.dtypes]
    # The kind of a category is that of an object, whatever its categories are.
    return np.flatnonzero([kind not in "biuf" for kind in kinds])


def as_numbers(X: Any) -> Any:
    """Return a transformer to numbers: missing ones become medians, all are scaled, a category is an indicator each."""
    if sparse.issparse(X):
        return "passthrough"
    named = category_columns(X)
    others = np.setdiff1d(np.arange(X.shape[1]), named)
    # A column stays a column even if a fold lacks all its values.
    scaled = make_pipeline(SimpleImputer(strategy="median", keep_empty_features=True), StandardScaler())
    if not len(named):
        return scaled
    return _by_kind(scaled, others, OneHotEncoder(handle_unknown="ignore"), named)


def as_codes(X: Any) -> Any:
    """Return a transformer that leaves numbers as they are; categories, which come last, become whole numbers."""
    named = category_columns(X)
    if not len(named):
        return "passthrough"
    others = np.setdiff1d(np.arange(X.shape[1]), named)
    codes = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=np.nan)
    return _by_kind("passthrough", others, codes, named)


def codes_mask(X: Any) -> list[bool]:
    """Return which features are categories after `as_codes`."""
    named = len(category_columns(X))
    return [False] * (X.shape[1] - named) + [True] * named


def _by_kind(numbers: Any, others: Any, categories: Any, named: Any) -> ColumnTransformer:
    parts = [("numbers", numbers, others.tolist()), ("categories", categories, named.tolist())]
    return ColumnTransformer([part for part in parts if part[2]], sparse_threshold=0.0)
