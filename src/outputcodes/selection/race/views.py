"""Two views of a table: numbers for linear models, kernels and distances; codes with missing values for trees."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler

from outputcodes._ground.text_features import LOOKED_AT, TextFeatures, are_sentences

# Fewer different texts are categories; the rarest of more categories than can have indicators share one; components
# of words, for what takes no sparse matrix.
MOST_CATEGORIES, MOST_INDICATORS, COMPONENTS = 1000, 255, 64
# Such numbers are finite in single precision, in which forests have them, and so are sums of their squares in double.
LARGEST = 1e30


def plain_table(X: Any) -> Any:
    """Return X with numbers as float64, cut at ±1e30, dates as days, and everything else as text; NaN is missing.

    The columns of a data frame are called by their places, as some libraries refuse some names.

    >>> import pandas as pd
    >>> plain_table(pd.DataFrame({"a[b]": pd.array([1, None], dtype="Int64"), "c": [True, "x"]}))
         0     1
    0  1.0  True
    1  NaN     x
    """
    if sparse.issparse(X):
        return X
    if not hasattr(X, "iloc"):
        return np.clip(X, -LARGEST, LARGEST)
    import pandas as pd

    columns = {}
    for place in range(X.shape[1]):
        values = X.iloc[:, place]
        if pd.api.types.is_datetime64_any_dtype(values):
            days = (pd.to_datetime(values, utc=True) - pd.Timestamp(0, tz="UTC")) / pd.Timedelta(days=1)
            columns[str(place)] = days.to_numpy(dtype=np.float64, na_value=np.nan)
        elif pd.api.types.is_numeric_dtype(values):
            numbers = values.to_numpy(dtype=np.float64, na_value=np.nan)
            columns[str(place)] = np.clip(numbers, -LARGEST, LARGEST)
        else:
            missing = values.isna().to_numpy()
            columns[str(place)] = np.where(missing, np.nan, values.astype(str).to_numpy(dtype=object))
    return pd.DataFrame(columns, index=X.index)


class Kinds(NamedTuple):
    """The places of the columns that are numbers, categories and sentences."""

    numbers: list[int]
    categories: list[int]
    sentences: list[int]


def kinds_of(X: Any) -> Kinds:
    """Return the kinds of the columns of a data frame; those of an array are numbers.

    Columns that are not numbers are categories. Those of many different texts with words in common are sentences.

    >>> import pandas as pd
    >>> kinds_of(pd.DataFrame({"size": [1.0, 2.0], "colour": ["red", "blue"]}))
    Kinds(numbers=[0], categories=[1], sentences=[])
    """
    kinds = Kinds([], [], [])
    for place in range(X.shape[1]):
        values = X.iloc[:, place] if hasattr(X, "iloc") else None
        # The kind of a category is that of an object, whatever its categories are.
        if values is None or getattr(values.dtype, "kind", "O") in "biuf":
            kinds.numbers.append(place)
        else:
            (kinds.sentences if _are_sentences(values) else kinds.categories).append(place)
    return kinds


def _are_sentences(values: Any) -> bool:
    different = values.dropna().unique()
    some = different[:: max(1, len(different) // LOOKED_AT)]
    return len(different) > MOST_CATEGORIES and are_sentences(map(str, some))


def as_numbers(X: Any, kinds: Kinds, sparse_too: bool = False) -> Any:
    """Return a transformer to numbers: missing ones become medians, all are scaled, each category has an indicator.

    `sparse_too` says whether what comes next takes sparse matrices.
    """
    if sparse.issparse(X):
        return "passthrough"
    # A column stays a column even if a fold lacks all its values.
    scaled = make_pipeline(SimpleImputer(strategy="median", keep_empty_features=True), StandardScaler())
    return _by_kind(
        kinds, scaled, OneHotEncoder(handle_unknown="infrequent_if_exist", max_categories=MOST_INDICATORS), sparse_too
    )


def as_codes(kinds: Kinds) -> Any:
    """Return a transformer that leaves numbers as they are; categories become whole numbers, and come after them."""
    codes = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=np.nan)
    return _by_kind(kinds, "passthrough", codes, sparse_too=False)


def code_places(kinds: Kinds) -> list[int]:
    """Return which features are categories after `as_codes`."""
    first = len(kinds.numbers)
    return list(range(first, first + len(kinds.categories)))


def _by_kind(kinds: Kinds, numbers: Any, codes: Any, sparse_too: bool) -> Any:
    if not kinds.categories and not kinds.sentences:
        return numbers
    words = TextFeatures(None if sparse_too else COMPONENTS)
    parts = [("numbers", numbers), ("categories", codes), ("words", words)]
    used = [(name, part, places) for (name, part), places in zip(parts, kinds, strict=True) if places]
    return ColumnTransformer(used, sparse_threshold=0.3 if sparse_too and kinds.sentences else 0.0)
