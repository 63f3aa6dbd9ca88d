"""The converters in the form of skl2onnx: what an operator returns, of which types, and the nodes of its graph."""

from __future__ import annotations

from typing import Any

import numpy as np
from skl2onnx import update_registered_converter
from skl2onnx.common.data_types import (
    BooleanTensorType,
    DoubleTensorType,
    Int64TensorType,
    StringTensorType,
)

from outputcodes._ground.text_features import TextFeatures
from outputcodes.app.export.classifiers import CLASSIFIERS, label_values, output_names
from outputcodes.app.export.graph import Graph
from outputcodes.app.export.preprocessing import TRANSFORMERS, joined, n_features_of
from outputcodes.app.tables.preprocessing import Bounded, DaysSinceEpoch

OURS = (Bounded, DaysSinceEpoch, TextFeatures)
LABEL_TYPES = {"O": StringTensorType, "b": BooleanTensorType, "i": Int64TensorType, "f": DoubleTensorType}


def register() -> None:
    """Register all converters, as the function of this name in `door` describes."""
    for model in CLASSIFIERS:
        name = f"Outputcodes{model.__name__}"
        update_registered_converter(
            model, name, _classifier_shapes, convert_classifier, parser=_parse_classifier, options={"zipmap": [False]}
        )
    for transformer in OURS:
        name = f"Outputcodes{transformer.__name__}"
        update_registered_converter(transformer, name, transformer_shapes, convert_transformer)


def convert_classifier(scope: Any, operator: Any, container: Any) -> None:
    """Add the nodes of a classifier."""
    g = Graph(scope, container)
    found = CLASSIFIERS[type(operator.raw_operator)](g, joined(g, operator.inputs), operator.raw_operator)
    for output, value in zip(operator.outputs, (one for one in found if one is not None), strict=True):
        g.named(output.full_name, value)


def convert_transformer(scope: Any, operator: Any, container: Any) -> None:
    """Add the nodes of a transformer, in double precision."""
    g = Graph(scope, container)
    model = operator.raw_operator
    g.named(operator.outputs[0].full_name, TRANSFORMERS[type(model)](g, operator.inputs, model))


def transformer_shapes(operator: Any) -> None:
    """Set the type of the features that a transformer returns."""
    operator.outputs[0].type = DoubleTensorType([None, n_features_of(operator.raw_operator)])


def _parse_classifier(scope: Any, model: Any, inputs: Any, custom_parsers: Any = None) -> Any:
    operator = scope.declare_local_operator(f"Outputcodes{type(model).__name__}", model)
    operator.inputs = inputs
    for name in output_names(model):
        operator.outputs.append(scope.declare_local_variable(name, _type_of(model, name)))
    return operator.outputs


def _classifier_shapes(operator: Any) -> None:
    for output, name in zip(operator.outputs, output_names(operator.raw_operator), strict=True):
        output.type = _type_of(operator.raw_operator, name)


def _type_of(model: Any, output: str) -> Any:
    k, multilabel = len(model.classes_), bool(getattr(model, "targets_", None) and model.targets_.multilabel)
    if output == "label":
        kind = np.asarray(label_values(model.classes_)).dtype.kind
        return Int64TensorType([None, k]) if multilabel else LABEL_TYPES[kind]([None])
    flat = output == "scores" and k == 2 and not multilabel
    return DoubleTensorType([None] if flat else [None, k])
