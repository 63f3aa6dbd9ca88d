"""Whether a graph is valid: converters may mix types, which a runtime notices only when it opens the file."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from onnx.checker import ValidationError, check_model
from onnx.shape_inference import InferenceError
from sklearn.compose import ColumnTransformer
from sklearn.neighbors import KNeighborsTransformer
from sklearn.pipeline import FeatureUnion, Pipeline

from outputcodes.app.export.errors import refuse
from outputcodes.app.export.graph import TOKENS
from outputcodes.app.export.preprocessing import TRANSFORMERS

# What skl2onnx converts to a valid graph with other values.
WRONG = (KNeighborsTransformer,)


def check_steps(model: Any) -> None:
    """Refuse a pipeline with a step whose conversion by skl2onnx is known to be wrong."""
    for step in foreign_steps(model):
        if isinstance(step, WRONG):
            raise refuse(step, "has other values in the graph of skl2onnx", "transform the rows before the pipeline")


def check_graph(found: Any, model: Any) -> None:
    """Refuse an ONNX model whose nodes do not fit together, with the names of the steps that skl2onnx converted."""
    steps = list(dict.fromkeys(type(one).__name__ for one in foreign_steps(model)))
    # The types that a tokenizer of onnxruntime returns are unknown to ONNX, whose check then ends with the process.
    if not steps or any(node.domain == TOKENS for node in found.graph.node):
        return
    try:
        check_model(found, full_check=True)
    except (ValidationError, InferenceError) as error:
        raise refuse(
            f"A pipeline with {', '.join(steps)}",
            f"has no valid graph with the converters of skl2onnx: {str(error).splitlines()[0]}",
            "transform the rows before the pipeline, or export with float32 rows as X",
        ) from error


def foreign_steps(model: Any) -> list[Any]:
    """Return the transformers of a pipeline that skl2onnx converts, those inside of other steps included.

    >>> from sklearn.decomposition import PCA
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from outputcodes import OutputCodeClassifier
    >>> foreign_steps(make_pipeline(StandardScaler(), PCA(), OutputCodeClassifier()))
    [PCA()]
    """
    transformers = list(_leaves(model))[:-1]
    return [one for one in transformers if type(one) not in TRANSFORMERS and not _is_ours(one)]


def _is_ours(step: Any) -> bool:
    return type(step).__module__.startswith("outputcodes.")


def _leaves(model: Any) -> Iterator[Any]:
    """The steps that hold no others, in their order."""
    if isinstance(model, Pipeline):
        inner = [step for _, step in model.steps]
    elif isinstance(model, FeatureUnion):
        inner = [step for _, step in model.transformer_list]
    elif isinstance(model, ColumnTransformer):
        inner = [step for _, step, _ in model.transformers_]
    else:
        inner = []
        # "drop" and "passthrough" are no steps.
        if not isinstance(model, str):
            yield model
    for step in inner:
        yield from _leaves(step)
