"""The conversion of a model, and the types of its inputs."""

from __future__ import annotations

from typing import Any

import numpy as np
from skl2onnx import convert_sklearn
from skl2onnx.common.data_types import DoubleTensorType, FloatTensorType, Int64TensorType, StringTensorType
from sklearn.compose import ColumnTransformer
from sklearn.utils.validation import check_is_fitted

from outputcodes.app.export.classifiers import CLASSIFIERS
from outputcodes.app.export.converters import OURS, convert_transformer, register, transformer_shapes
from outputcodes.app.export.door import onnx_inputs
from outputcodes.app.export.errors import refuse
from outputcodes.app.export.graph import OPSETS
from outputcodes.app.export.preprocessing import TRANSFORMERS

# The types of the columns of tables, by the kinds of `outputcodes.app.tables`.
KINDS = {"number": DoubleTensorType, "date": Int64TensorType, "category": StringTensorType, "words": StringTensorType}


def converted(model: Any, X: Any = None) -> Any:
    """Return a model in ONNX form, as `to_onnx` does."""
    while hasattr(model, "best_estimator_"):
        model = model.best_estimator_
    check_is_fitted(model)
    last = model[-1] if hasattr(model, "steps") else model
    if type(last) not in CLASSIFIERS:
        raise refuse(last, "has no converter", f"one of {', '.join(kind.__name__ for kind in CLASSIFIERS)}")
    register()
    ours = [kind for kind in TRANSFORMERS if kind not in OURS]
    types = _input_types(model, X)
    try:
        found = convert_sklearn(
            model,
            name=type(last).__name__,
            initial_types=types,
            target_opset=OPSETS,
            custom_conversion_functions=dict.fromkeys(ours, convert_transformer),
            custom_shape_calculators=dict.fromkeys(ours, transformer_shapes),
            options={id(last): {"zipmap": False}},
        )
    except (RuntimeError, NotImplementedError) as error:
        # Its converters refuse what they don't know, or some of its parameters.
        raise refuse("The pipeline", f"has a step that skl2onnx refuses: {str(error).splitlines()[0]}") from error
    _name_inputs(found.graph, [name for name, _ in types])
    return found


def _input_types(model: Any, X: Any) -> list[tuple[str, Any]]:
    first = model[0] if hasattr(model, "steps") else model
    if isinstance(first, ColumnTransformer) and hasattr(first, "feature_names_in_"):
        if X is not None and hasattr(X, "columns"):
            tensors = onnx_inputs(X[list(first.feature_names_in_)])
            return [(name, _tensor_type(values.dtype)([None, 1])) for name, values in tensors.items()]
        kinds = {name: kind for kind, _, names in first.transformers_ for name in np.atleast_1d(names)}
        if X is None and set(kinds.values()) <= set(KINDS):
            return [(str(name), KINDS[kinds[name]]([None, 1])) for name in first.feature_names_in_]
        raise refuse("The pipeline", "takes tables of unknown types", "to_onnx(model, X) with a data frame X")
    dtype = np.dtype(np.float64) if X is None else np.asarray(X[:1]).dtype
    return [("X", _tensor_type(dtype)([None, int(model.n_features_in_)]))]


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
    return DoubleTensorType if dtype.kind == "f" else StringTensorType
