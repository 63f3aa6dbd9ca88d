"""Errors of scikit-learn about X, raised again with the place and the remedy."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import scipy.sparse as sp

# Learners that accept missing values, and those that accept sparse X.
WITH_NAN = ("boosted-trees", "tree", "stumps")
WITH_SPARSE = ("logistic", "linear-svm", "ridge", "kernel-svm")


@contextmanager
def naming_learners(estimator: Any) -> Iterator[None]:
    """Where X is sparse or has missing values, name our learners that accept it in place of scikit-learn's advice."""
    try:
        yield
    except TypeError as error:
        if not str(error).startswith("Sparse data was passed for X"):
            raise
        learner = getattr(estimator, "estimator", None)
        who = type(estimator).__name__ + (f" with estimator={learner!r}" if learner is not None else "")
        raise TypeError(
            f"X is sparse, and {who} takes dense X only: pass X.toarray() if that fits in memory, or use "
            f"OutputCodeClassifier with a learner that accepts sparse X, such as {', '.join(map(repr, WITH_SPARSE))}."
        ) from error
    except ValueError as error:
        if not str(error).startswith("Input X contains NaN") or "HistGradientBoosting" not in str(error):
            raise
        raise ValueError(
            f"Input X contains NaN, and {type(estimator).__name__} takes no missing values here: fill them in, "
            "such as by sklearn.impute.SimpleImputer in a pipeline, or choose a learner that accepts them: "
            f"{', '.join(map(repr, WITH_NAN))}."
        ) from error


@contextmanager
def naming_place(X: Any) -> Iterator[None]:
    """Name the first row and column of X with NaN or infinity, where that is what is wrong."""
    try:
        yield
    except ValueError as error:
        found = re.match("Input X contains (NaN|infinity)", str(error))
        place = None if found is None else first_place(X, np.isnan if found[1] == "NaN" else np.isinf)
        if place is None:
            raise
        column = list(X.columns)[place[1]] if hasattr(X, "columns") else place[1]
        raise ValueError(f"{error} The first is in row {place[0]}, column {column!r}.") from error


def first_place(X: Any, wrong: Callable[[Any], Any]) -> tuple[int, int] | None:
    """Return row and column of the first value of a table that is wrong; None without one, or if X is no table.

    >>> first_place([[1.0, 2.0], [3.0, np.inf]], np.isinf)
    (1, 1)
    """
    try:
        if sp.issparse(X):
            entries = X.tocoo()
            bad = wrong(entries.data)
            places = sorted(zip(entries.row[bad].tolist(), entries.col[bad].tolist(), strict=True))
        else:
            places = np.argwhere(wrong(np.asarray(X, dtype=np.float64)))[:1].tolist()
    except (TypeError, ValueError):
        return None
    return (places[0][0], places[0][1]) if places and len(places[0]) == 2 else None


@contextmanager
def naming_text(estimator: Any, X: Any) -> Iterator[None]:
    """Name the column with text, and the remedy, where X can't be converted to numbers."""
    try:
        yield
    except ValueError as error:
        if not re.search("could not convert string|Cannot cast", str(error)) or (found := first_text(X)) is None:
            raise
        row, place, value = found
        column = list(X.columns)[place] if hasattr(X, "columns") else place
        remedy = "by sklearn.preprocessing.OneHotEncoder"
        if "categorical_features" in estimator.get_params(deep=False):
            remedy = f"by sklearn.preprocessing.OrdinalEncoder, with categorical_features=[{place}]"
        raise ValueError(
            f"X has text in column {column!r} ({value!r} in row {row}), but {type(estimator).__name__} takes numbers: "
            f"encode its categories, {remedy}."
        ) from error


def first_text(X: Any) -> tuple[int, int, str] | None:
    """Return row, column and value of a string in the first column with one that is no number; None without one.

    >>> first_text([["1", 2.0], ["3", "red"]])
    (1, 1, 'red')
    """
    table = np.asarray(X, dtype=object)
    for place, column in enumerate(table.T if table.ndim == 2 else ()):
        for row, value in enumerate(column):
            if isinstance(value, str) and not _is_number(value):
                return row, place, str(value)
    return None


def first_date(X: Any) -> Any:
    """Return the first column of a data frame with dates or times, or None; dates written as text don't count.

    >>> import pandas as pd
    >>> first_date(pd.DataFrame({"size": [1.0], "when": pd.to_datetime(["2020-01-01"])}))
    'when'
    """
    types: Any = getattr(getattr(X, "dtypes", None), "items", tuple)()
    return next((name for name, one in types if getattr(one, "kind", "") in ("M", "m")), None)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
