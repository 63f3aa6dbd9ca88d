"""The transformers of tables as ONNX operators, in double precision.

skl2onnx has converters for scikit-learn's own, but some of them compute in single precision, don't know missing
categories, mix single with double precision (PolynomialFeatures) or count the threshold as above it (Binarizer). A
missing category is an empty text here, and a date the number of microseconds since 1970.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.impute import SimpleImputer
from sklearn.preprocessing import Binarizer, OneHotEncoder, OrdinalEncoder, PolynomialFeatures, StandardScaler

from outputcodes._ground.text_features import TextFeatures
from outputcodes.app.export.errors import refuse
from outputcodes.app.export.graph import TREES, Features, Graph, Value
from outputcodes.app.export.words import words
from outputcodes.app.tables.preprocessing import LARGEST, Bounded, DaysSinceEpoch

# As NumPy writes a missing date.
NOT_A_TIME = np.iinfo(np.int64).min
MICROSECONDS_PER_DAY = 86_400_000_000

Inputs = Sequence[Features]


def joined(g: Graph, inputs: Inputs) -> str:
    """Return the inputs of an operator as one matrix of doubles."""
    parts = [g.cast(one.name) for one in inputs]
    return parts[0] if len(parts) == 1 else g("Concat", *parts, axis=1)


def _bounded(g: Graph, inputs: Inputs, model: Bounded) -> str:
    # NaN stays: the comparisons of Min and Max would leave open what becomes of it.
    X = joined(g, inputs)
    return g("Where", g("IsNaN", X), X, g("Clip", X, -LARGEST, LARGEST))


def _days(g: Graph, inputs: Inputs, model: DaysSinceEpoch) -> str:
    parts = [one.name for one in inputs]
    moments = parts[0] if len(parts) == 1 else g("Concat", *parts, axis=1)
    days = g("Div", g.cast(moments), float(MICROSECONDS_PER_DAY))
    return g("Where", g("Equal", moments, NOT_A_TIME), np.nan, days)


def _imputed(g: Graph, inputs: Inputs, model: SimpleImputer) -> str:
    if model.add_indicator or not (isinstance(model.missing_values, float) and np.isnan(model.missing_values)):
        raise refuse(model, "adds indicators, or replaces other values than NaN", "add_indicator=False and NaN")
    if np.isnan(model.statistics_.astype(float)).any():
        raise refuse(model, "drops columns without values", "keep_empty_features=True")
    X = joined(g, inputs)
    return g("Where", g("IsNaN", X), model.statistics_.astype(np.float64), X)


def _scaled(g: Graph, inputs: Inputs, model: StandardScaler) -> str:
    X = joined(g, inputs)
    X = g("Sub", X, model.mean_) if model.with_mean else X
    return g("Div", X, model.scale_) if model.with_std else X


def _binary(g: Graph, inputs: Inputs, model: Binarizer) -> str:
    return g.cast(g("Greater", joined(g, inputs), float(model.threshold)))


def _products(g: Graph, inputs: Inputs, model: PolynomialFeatures) -> str:
    # A product of few features is filled up with a feature that is 1, so that all products have as many factors.
    X = joined(g, inputs)
    powers, one = model.powers_, model.n_features_in_
    degree = max(1, int(powers.sum(axis=1).max()))
    factors = np.full((len(powers), degree), one)
    for row, power in zip(factors, powers, strict=True):
        row[: power.sum()] = np.repeat(np.arange(one), power)
    with_one = g("Concat", X, g.for_each_row(X, np.ones(1)), axis=1)
    found = g.columns(with_one, factors[:, 0])
    for t in range(1, degree):
        found = g("Mul", found, g.columns(with_one, factors[:, t]))
    return found


def _ordinal(g: Graph, inputs: Inputs, model: OrdinalEncoder) -> str:
    codes = []
    for column, known in zip(_columns(g, inputs, model), model.categories_, strict=True):
        # The number of a category is its place; that of a missing one is `encoded_missing_value`.
        values = np.arange(len(known), dtype=np.float64)
        values[[_is_missing(one) for one in known]] = model.encoded_missing_value
        unknown = model.unknown_value if model.handle_unknown == "use_encoded_value" else np.nan
        place = _place(g, column, known)
        codes.append(g("Gather", np.append(values, float(unknown)), place, axis=0))
    return codes[0] if len(codes) == 1 else g("Concat", *codes, axis=1)


def _one_hot(g: Graph, inputs: Inputs, model: OneHotEncoder) -> str:
    if model.drop is not None or model.handle_unknown == "error":
        raise refuse(model, "drops categories, or refuses unknown ones", "drop=None and handle_unknown='ignore'")
    parts = []
    for column, known, rare in zip(_columns(g, inputs, model), model.categories_, _rare(model), strict=True):
        # The rare ones share the last indicator, with those that are new, if the encoder says so.
        frequent = np.cumsum(~rare) - 1
        shared = rare.any()
        width = int(frequent[-1]) + 1 + int(shared)
        places = np.append(np.where(rare, width - 1, frequent), width)
        if shared and model.handle_unknown != "ignore":
            places[-1] = width - 1
        place = g("Gather", places.astype(np.int64), _place(g, column, known), axis=0)
        parts.append(g.cast(g("Equal", place, np.arange(width))))
    return parts[0] if len(parts) == 1 else g("Concat", *parts, axis=1)


def _rare(model: OneHotEncoder) -> list[NDArray[np.bool_]]:
    """Which categories of each column share an indicator."""
    few = getattr(model, "infrequent_categories_", None) or [None] * len(model.categories_)
    return [
        np.zeros(len(known), dtype=bool) if rare is None else np.isin(_as_keys(known), _as_keys(rare))
        for known, rare in zip(model.categories_, few, strict=True)
    ]


def _as_keys(known: NDArray[Any]) -> list[str]:
    """Categories as texts; a missing one is empty."""
    return ["" if _is_missing(one) else str(one) for one in known]


def _columns(g: Graph, inputs: Inputs, model: OneHotEncoder | OrdinalEncoder) -> list[Value]:
    """The columns (n, 1) of text."""
    found: list[Value] = []
    for name, width, kind in inputs:
        if kind != "text":
            raise refuse(model, "encodes numbers", "categories as text, such as X.astype(str)")
        found += [name] if width == 1 else [g.columns(name, np.array([j])) for j in range(width)]
    return found


def _place(g: Graph, column: Value, known: NDArray[Any]) -> str:
    """Return the place (n, 1) of each text among known categories, or their number for another text."""
    keys = _as_keys(known)
    if len(set(keys)) < len(keys):
        raise refuse("A table", "has both an empty text and a missing value in one column", "one of them")
    return g(
        "LabelEncoder",
        column,
        domain=TREES,
        keys_strings=keys,
        values_int64s=list(range(len(keys))),
        default_int64=len(keys),
    )


def _is_missing(category: Any) -> bool:
    return category is None or bool(category != category)


# To export another transformer, add its line, and a line in `n_features_of` if its features are not those it gets.
TRANSFORMERS: dict[type, Callable[[Graph, Inputs, Any], str]] = {
    Bounded: _bounded,
    DaysSinceEpoch: _days,
    SimpleImputer: _imputed,
    StandardScaler: _scaled,
    Binarizer: _binary,
    PolynomialFeatures: _products,
    OrdinalEncoder: _ordinal,
    OneHotEncoder: _one_hot,
    TextFeatures: words,
}


def n_features_of(model: Any) -> int:
    """Return the number of features that a transformer returns."""
    if isinstance(model, OneHotEncoder):
        return sum(int((~rare).sum()) + int(rare.any()) for rare in _rare(model))
    if isinstance(model, TextFeatures):
        return len(model.get_feature_names_out())
    if isinstance(model, PolynomialFeatures):
        return int(model.n_output_features_)
    return int(model.n_features_in_)
