"""The transformers of tables as ONNX operators, in double precision.

skl2onnx has converters for scikit-learn's own, but some of them compute in single precision, or don't know missing
categories. A missing category is an empty text here, and a date the number of microseconds since 1970.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.impute import SimpleImputer
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler

from outputcodes._ground.text_features import TextFeatures
from outputcodes.app.export.errors import refuse
from outputcodes.app.export.graph import TREES, Graph, Value
from outputcodes.app.tables.preprocessing import LARGEST, Bounded, DaysSinceEpoch

# As NumPy writes a missing date.
NOT_A_TIME = np.iinfo(np.int64).min
MICROSECONDS_PER_DAY = 86_400_000_000


def joined(g: Graph, inputs: Any) -> str:
    """Return the inputs of an operator as one matrix of doubles."""
    parts = [g.cast(one.full_name) for one in inputs]
    return parts[0] if len(parts) == 1 else g("Concat", *parts, axis=1)


def _bounded(g: Graph, inputs: Any, model: Bounded) -> str:
    # NaN stays: the comparisons of Min and Max would leave open what becomes of it.
    X = joined(g, inputs)
    return g("Where", g("IsNaN", X), X, g("Clip", X, -LARGEST, LARGEST))


def _days(g: Graph, inputs: Any, model: DaysSinceEpoch) -> str:
    parts = [one.full_name for one in inputs]
    moments = parts[0] if len(parts) == 1 else g("Concat", *parts, axis=1)
    days = g("Div", g.cast(moments), float(MICROSECONDS_PER_DAY))
    return g("Where", g("Equal", moments, NOT_A_TIME), np.nan, days)


def _imputed(g: Graph, inputs: Any, model: SimpleImputer) -> str:
    if model.add_indicator or not (isinstance(model.missing_values, float) and np.isnan(model.missing_values)):
        raise refuse(model, "adds indicators, or replaces other values than NaN", "add_indicator=False and NaN")
    if np.isnan(model.statistics_.astype(float)).any():
        raise refuse(model, "drops columns without values", "keep_empty_features=True")
    X = joined(g, inputs)
    return g("Where", g("IsNaN", X), model.statistics_.astype(np.float64), X)


def _scaled(g: Graph, inputs: Any, model: StandardScaler) -> str:
    X = joined(g, inputs)
    X = g("Sub", X, model.mean_) if model.with_mean else X
    return g("Div", X, model.scale_) if model.with_std else X


def _ordinal(g: Graph, inputs: Any, model: OrdinalEncoder) -> str:
    codes = []
    for column, known in zip(_columns(g, inputs), model.categories_, strict=True):
        # The number of a category is its place; that of a missing one is `encoded_missing_value`.
        values = np.arange(len(known), dtype=np.float64)
        values[[_is_missing(one) for one in known]] = model.encoded_missing_value
        unknown = model.unknown_value if model.handle_unknown == "use_encoded_value" else np.nan
        place = _place(g, column, known)
        codes.append(g("Gather", np.append(values, float(unknown)), place, axis=0))
    return codes[0] if len(codes) == 1 else g("Concat", *codes, axis=1)


def _one_hot(g: Graph, inputs: Any, model: OneHotEncoder) -> str:
    if model.drop is not None or model.handle_unknown == "error":
        raise refuse(model, "drops categories, or refuses unknown ones", "drop=None and handle_unknown='ignore'")
    if any(len(names) != len(known) for names, known in zip(_kept(model), model.categories_, strict=True)):
        raise refuse(model, "puts rare categories together", "max_categories=None and min_frequency=None")
    parts = [
        g.cast(g("Equal", _place(g, column, known), np.arange(len(known))))
        for column, known in zip(_columns(g, inputs), model.categories_, strict=True)
    ]
    return parts[0] if len(parts) == 1 else g("Concat", *parts, axis=1)


def _kept(model: OneHotEncoder) -> list[NDArray[Any]]:
    rare = getattr(model, "infrequent_categories_", None) or [None] * len(model.categories_)
    return [
        known if few is None else known[: len(known) - len(few)]
        for known, few in zip(model.categories_, rare, strict=True)
    ]


def _words(g: Graph, inputs: Any, model: TextFeatures) -> str:
    raise refuse(model, "cuts sentences into words by rules that ONNX does not have", "a table without sentences")


def _columns(g: Graph, inputs: Any) -> list[Value]:
    """The columns (n, 1) of text."""
    found: list[Value] = []
    for one in inputs:
        width = one.type.shape[1] or 1
        found += [one.full_name] if width == 1 else [g.columns(one.full_name, np.array([j])) for j in range(width)]
    return found


def _place(g: Graph, column: Value, known: NDArray[Any]) -> str:
    """Return the place (n, 1) of each text among known categories, or their number for another text."""
    keys = ["" if _is_missing(one) else str(one) for one in known]
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
TRANSFORMERS: dict[type, Callable[[Graph, Any, Any], str]] = {
    Bounded: _bounded,
    DaysSinceEpoch: _days,
    SimpleImputer: _imputed,
    StandardScaler: _scaled,
    OrdinalEncoder: _ordinal,
    OneHotEncoder: _one_hot,
    TextFeatures: _words,
}


def n_features_of(model: Any) -> int:
    """Return the number of features that a transformer returns."""
    if isinstance(model, OneHotEncoder):
        return sum(map(len, model.categories_))
    if isinstance(model, TextFeatures):
        return len(model.get_feature_names_out())
    return int(model.n_features_in_)
