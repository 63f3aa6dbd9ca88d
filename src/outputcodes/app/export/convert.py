"""The conversion of a model, and the types of its inputs."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from skl2onnx import convert_sklearn
from skl2onnx.common.data_types import (
    BooleanTensorType,
    DoubleTensorType,
    FloatTensorType,
    Int64TensorType,
    StringTensorType,
)
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from outputcodes.app.export.classifiers import CLASSIFIERS, FOREIGN
from outputcodes.app.export.converters import (
    OURS,
    classifier_shapes,
    convert_classifier,
    convert_transformer,
    parse_classifier,
    register,
    transformer_shapes,
)
from outputcodes.app.export.door import onnx_inputs
from outputcodes.app.export.errors import refuse
from outputcodes.app.export.graph import OPSETS, TREES
from outputcodes.app.export.preprocessing import TRANSFORMERS
from outputcodes.app.export.tables import columns_of
from outputcodes.app.export.validity import check_graph, check_steps, foreign_steps
from outputcodes.app.tables import AsNumbersAndCategories
from outputcodes.app.tables.preprocessing import Bounded
from outputcodes.selection import Race
from outputcodes.selection.race.blend import Blend

# The types of the columns of tables, by the kinds of `outputcodes.app.tables`.
KINDS = {"number": DoubleTensorType, "date": Int64TensorType, "category": StringTensorType, "words": StringTensorType}


def converted(model: Any, X: Any = None) -> Any:
    """Return a model in ONNX form, as `to_onnx` does."""
    while hasattr(model, "best_estimator_"):
        model = model.best_estimator_
    check_is_fitted(model)
    types = _input_types(model, X)
    if isinstance(model, Race):
        model = _of_race(model)
    last = model[-1] if hasattr(model, "steps") else model
    known = (*CLASSIFIERS, *FOREIGN, Blend)
    if type(last) not in known:
        raise refuse(last, "has no converter", f"one of {', '.join(kind.__name__ for kind in known)}")
    check_steps(model)
    register()
    transformers = [kind for kind in TRANSFORMERS if kind not in OURS]
    try:
        found = convert_sklearn(
            model,
            name=type(last).__name__,
            initial_types=types,
            target_opset={domain: OPSETS[domain] for domain in ("", TREES)},
            custom_conversion_functions={
                **dict.fromkeys(transformers, convert_transformer),
                **dict.fromkeys(FOREIGN, convert_classifier),
            },
            custom_shape_calculators={
                **dict.fromkeys(transformers, transformer_shapes),
                **dict.fromkeys(FOREIGN, classifier_shapes),
            },
            custom_parsers=dict.fromkeys(FOREIGN, parse_classifier),
            options={id(last): {"zipmap": False}},
        )
    except (RuntimeError, NotImplementedError, IndexError, NameError) as error:
        # Its converters refuse what they don't know, or some parameters, or stumble over classifiers that transform.
        names = ", ".join(dict.fromkeys(type(one).__name__ for one in foreign_steps(model))) or type(last).__name__
        why = f"has a step that skl2onnx refuses, one of {names}: {str(error).splitlines()[0]}"
        raise refuse("The pipeline", why) from error
    _name_inputs(found.graph, [name for name, _ in types])
    check_graph(found, model)
    return found


def _of_race(race: Race) -> Any:
    """The winner of a race; before it a step that makes numbers of arrays of any type."""
    if hasattr(race, "feature_names_in_"):
        return race.model_
    numbers = Bounded().fit(np.empty((1, race.n_features_in_)))
    return Pipeline([("numbers", numbers), ("classifier", race.model_)])


def _input_types(model: Any, X: Any) -> list[tuple[str, Any]]:
    first = model[0] if hasattr(model, "steps") else model
    if isinstance(first, AsNumbersAndCategories):
        lists = {"number": first.numbers, "date": first.dates, "category": first.categories, "words": first.words}
        return _table_types(columns_of(first), {name: kind for kind, names in lists.items() for name in names}, X)
    if hasattr(first, "feature_names_in_") and isinstance(first, ColumnTransformer):
        kinds = {name: kind for kind, _, names in first.transformers_ for name in np.atleast_1d(names)}
        return _table_types(list(first.feature_names_in_), kinds, X)
    if hasattr(first, "feature_names_in_") and isinstance(first, Race):
        names = list(first.feature_names_in_)
        for name in names if hasattr(X, "columns") else ():
            if getattr(X[name].dtype, "kind", "O") == "b":
                raise refuse(f"The column {name!r}", "has the type bool", "numbers, before the race")
        return _table_types(names, dict.fromkeys(names, "unknown"), X)
    if X is not None and np.ndim(X) != 2:
        raise ValueError(f"X is {type(X).__name__} of shape {np.shape(X)}: pass some rows as a matrix or a data frame.")
    dtype = np.dtype(np.float64) if X is None else X.dtype if sparse.issparse(X) else np.asarray(X[:1]).dtype
    return [("X", _tensor_type(dtype)([None, _width(model)]))]


def _width(model: Any) -> int:
    return int(getattr(model, "estimator_", model).n_features_in_)


def _table_types(names: list[str], kinds: dict[str, str], X: Any) -> list[tuple[str, Any]]:
    """The types of the columns of a table: those of a sample, or by their kinds."""
    if X is not None and hasattr(X, "columns"):
        tensors = onnx_inputs(X[names])
        return [(name, _tensor_type(values.dtype)([None, 1])) for name, values in tensors.items()]
    if X is None and set(kinds.values()) <= set(KINDS):
        return [(str(name), KINDS[kinds[name]]([None, 1])) for name in names]
    raise refuse("The model", "takes tables of unknown types", "to_onnx(model, X) with a data frame X")


def _name_inputs(graph: Any, names: list[str]) -> None:
    """Call the inputs by the columns of the table; skl2onnx leaves out some characters."""
    changed = {one.name: name for one, name in zip(graph.input, names, strict=True)}
    for one in graph.input:
        one.name = changed[one.name]
    for node in graph.node:
        node.input[:] = [changed.get(name, name) for name in node.input]


def _tensor_type(dtype: np.dtype[Any]) -> Any:
    if dtype == np.float32:
        return FloatTensorType
    if dtype.kind in "iu":
        return Int64TensorType
    return {"f": DoubleTensorType, "b": BooleanTensorType}.get(dtype.kind, StringTensorType)
