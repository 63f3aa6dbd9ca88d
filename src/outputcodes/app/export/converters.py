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
from outputcodes.app.export.blends import blended
from outputcodes.app.export.classifiers import CLASSIFIERS, exported_classifier, label_values, output_names
from outputcodes.app.export.graph import Features, Graph
from outputcodes.app.export.preprocessing import TRANSFORMERS, joined, n_features_of
from outputcodes.app.export.tables import columns_of, exported_table
from outputcodes.app.tables import AsNumbersAndCategories
from outputcodes.app.tables.preprocessing import Bounded, DaysSinceEpoch
from outputcodes.selection.probable import ScoresAsProbabilities
from outputcodes.selection.race.blend import Blend

OURS = (Bounded, DaysSinceEpoch, TextFeatures)
LABEL_TYPES = {"O": StringTensorType, "b": BooleanTensorType, "i": Int64TensorType, "f": DoubleTensorType}


def register() -> None:
    """Register all converters, as the function of this name in `door` describes."""
    for model in (*CLASSIFIERS, Blend):
        update_registered_converter(
            model,
            alias_of(model),
            classifier_shapes,
            convert_classifier,
            parser=parse_classifier,
            options={"zipmap": [False]},
        )
    for transformer in OURS:
        update_registered_converter(transformer, alias_of(transformer), transformer_shapes, convert_transformer)
    table = AsNumbersAndCategories
    update_registered_converter(table, alias_of(table), _table_shapes, _convert_table, parser=_parse_table)


def alias_of(kind: type) -> str:
    """Return the name of a kind of operator."""
    return f"Outputcodes{kind.__name__}"


def _features(variables: Any) -> list[Features]:
    kinds: dict[type, Any] = {StringTensorType: "text", Int64TensorType: "date"}
    return [Features(one.full_name, one.type.shape[1] or 1, kinds.get(type(one.type), "number")) for one in variables]


def convert_classifier(scope: Any, operator: Any, container: Any) -> None:
    """Add the nodes of a classifier."""
    g, model, inputs = Graph(scope, container), operator.raw_operator, _features(operator.inputs)
    found = blended(g, inputs, model) if isinstance(model, Blend) else exported_classifier(g, joined(g, inputs), model)
    for output, value in zip(operator.outputs, (one for one in found if one is not None), strict=True):
        g.named(output.full_name, value)


def convert_transformer(scope: Any, operator: Any, container: Any) -> None:
    """Add the nodes of a transformer, in double precision."""
    g = Graph(scope, container)
    model = operator.raw_operator
    g.named(operator.outputs[0].full_name, TRANSFORMERS[type(model)](g, _features(operator.inputs), model))


def transformer_shapes(operator: Any) -> None:
    """Set the type of the features that a transformer returns."""
    operator.outputs[0].type = DoubleTensorType([None, n_features_of(operator.raw_operator)])


def _parse_table(scope: Any, model: Any, inputs: Any, custom_parsers: Any = None) -> Any:
    operator = scope.declare_local_operator(alias_of(type(model)), model)
    operator.inputs = inputs
    for kind in _kinds(model):
        operator.outputs.append(scope.declare_local_variable("column", kind))
    return operator.outputs


def _table_shapes(operator: Any) -> None:
    for output, kind in zip(operator.outputs, _kinds(operator.raw_operator), strict=True):
        output.type = kind


def _kinds(model: AsNumbersAndCategories) -> list[Any]:
    texts = {*model.categories, *model.words}
    return [(StringTensorType if name in texts else DoubleTensorType)([None, 1]) for name in columns_of(model)]


def _convert_table(scope: Any, operator: Any, container: Any) -> None:
    g = Graph(scope, container)
    # By their own names: skl2onnx changes some.
    inputs = dict(zip((one.raw_name for one in operator.inputs), _features(operator.inputs), strict=True))
    for output, value in zip(operator.outputs, exported_table(g, inputs, operator.raw_operator), strict=True):
        g.named(output.full_name, value)


def parse_classifier(scope: Any, model: Any, inputs: Any, custom_parsers: Any = None) -> Any:
    """Declare the outputs of a classifier."""
    operator = scope.declare_local_operator(alias_of(type(model)), model)
    operator.inputs = inputs
    for name in output_names(model):
        operator.outputs.append(scope.declare_local_variable(name, _type_of(model, name)))
    return operator.outputs


def classifier_shapes(operator: Any) -> None:
    """Set the types of the outputs of a classifier."""
    for output, name in zip(operator.outputs, output_names(operator.raw_operator), strict=True):
        output.type = _type_of(operator.raw_operator, name)


def _type_of(model: Any, output: str) -> Any:
    k, multilabel = len(model.classes_), bool(getattr(model, "targets_", None) and model.targets_.multilabel)
    if output == "label":
        kind = np.asarray(label_values(model.classes_)).dtype.kind
        return Int64TensorType([None, k]) if multilabel else LABEL_TYPES[kind]([None])
    flat = output == "scores" and k == 2 and not multilabel and not isinstance(model, ScoresAsProbabilities)
    return DoubleTensorType([None] if flat else [None, k])
