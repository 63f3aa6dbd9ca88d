"""Two views of a table: numbers for linear models, kernels and distances; codes with missing values for trees."""

from __future__ import annotations

from typing import Any, NamedTuple, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler

from outputcodes._ground.counted_texts import CountedTexts, CountedWords, counted_within
from outputcodes._ground.text_features import TextFeatures, hold_sentences

# The rarest of more categories than can have indicators share one; components of words, for what takes no sparse
# matrix.
MOST_INDICATORS, COMPONENTS = 255, 64
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
            declared = values.dtype.name == "category"
            sentences = hold_sentences(values.dropna().unique(), values.notna().sum(), declared)
            (kinds.sentences if sentences else kinds.categories).append(place)
    return kinds


def with_counted_texts(X: Any, kinds: Kinds, seconds: float) -> tuple[Any, CountedTexts | None]:
    """Count the words of sentences in about so many seconds; return the table with row numbers in their place."""
    counted = counted_within(X.iloc[:, kinds.sentences], seconds) if kinds.sentences else None
    if counted is None:
        return X, None
    places = [X.columns[place] for place in kinds.sentences]
    return X.assign(**dict.fromkeys(places, np.arange(float(len(X))))), counted


def of_texts(model: Any) -> Any:
    """Return a fitted pipeline for tables with texts in the place of row numbers."""
    table = model[0][0] if isinstance(model[0], Pipeline) else model[0]
    if isinstance(table, ColumnTransformer):
        plain = {name: part.of_texts() for name, part, _ in table.transformers_ if isinstance(part, CountedWords)}
        table.transformers_ = [(name, plain.get(name, part), at) for name, part, at in table.transformers_]
        unfitted = {name: clone(part) for name, part in plain.items()}
        table.transformers = [(name, unfitted.get(name, part), at) for name, part, at in table.transformers]
    return model


def as_numbers(X: Any, kinds: Kinds, sparse_too: bool = False, counted: CountedTexts | None = None) -> Any:
    """Return a transformer to numbers: missing ones become medians, all are scaled, each category has an indicator.

    `sparse_too` says whether what comes next takes sparse matrices.
    """
    if sparse.issparse(X):
        return "passthrough"
    # A column stays a column even if a fold lacks all its values.
    scaled = make_pipeline(SimpleImputer(strategy="median", keep_empty_features=True), StandardScaler())
    indicators = OneHotEncoder(handle_unknown="infrequent_if_exist", max_categories=MOST_INDICATORS)
    return _by_kind(kinds, scaled, indicators, sparse_too, counted)


def as_codes(kinds: Kinds, counted: CountedTexts | None = None) -> Any:
    """Return a transformer that leaves numbers as they are; categories become whole numbers, and come after them."""
    codes = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=np.nan)
    return _by_kind(kinds, "passthrough", codes, False, counted)


def as_categories(kinds: Kinds, counted: CountedTexts | None = None, whole_numbers: bool = False) -> Any:
    """Return a transformer as `as_codes`, to a data frame whose categories are known as such.

    They are of the kind category, or whole numbers, where -1 is a missing one.
    """
    codes = as_codes(kinds, counted)
    return make_pipeline(codes, Categories(code_places(kinds), whole_numbers)) if kinds.categories else codes


class Categories(TransformerMixin, BaseEstimator):
    """Columns of codes as categories in a data frame; a code that was not there in `fit` is missing.

    >>> table = Categories([1]).fit_transform(np.array([[0.5, 0.0], [1.5, 2.0], [2.5, np.nan]]))
    >>> table.dtypes.map(str).tolist(), table[1].tolist()
    (['float64', 'category'], [0, 2, nan])
    """

    def __init__(self, places: Any = (), whole_numbers: bool = False) -> None:
        self.places = places
        self.whole_numbers = whole_numbers

    def fit(self, X: Any, y: Any = None) -> Self:
        """Take note of the codes."""
        columns = np.asarray(X, dtype=np.float64)[:, self.places].T
        self.codes_ = [np.unique(column[~np.isnan(column)]) for column in columns]
        return self

    def transform(self, X: Any) -> Any:
        """Return a data frame."""
        import pandas as pd

        values = np.asarray(X, dtype=np.float64)
        columns: dict[int, Any] = dict(enumerate(values.T))
        for place, codes in zip(self.places, self.codes_, strict=True):
            found = pd.Categorical(values[:, place], categories=codes).codes.astype(np.int64)
            # XGBoost takes no floats as categories.
            names = codes.astype(np.int64)
            columns[place] = found if self.whole_numbers else pd.Categorical.from_codes(found, names)
        return pd.DataFrame(columns)


def code_places(kinds: Kinds) -> list[int]:
    """Return which features are categories after `as_codes`."""
    first = len(kinds.numbers)
    return list(range(first, first + len(kinds.categories)))


def _by_kind(kinds: Kinds, numbers: Any, codes: Any, sparse_too: bool, counted: CountedTexts | None) -> Any:
    if not kinds.categories and not kinds.sentences:
        return numbers
    components = None if sparse_too else COMPONENTS
    words = TextFeatures(components) if counted is None else CountedWords(counted, components)
    parts = [("numbers", numbers), ("categories", codes), ("words", words)]
    used = [(name, part, places) for (name, part), places in zip(parts, kinds, strict=True) if places]
    return ColumnTransformer(used, sparse_threshold=0.3 if sparse_too and kinds.sentences else 0.0)
