"""The winner of a race as ONNX operators: the average of the calibrated probabilities of several pipelines."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from outputcodes.app.export.classifiers import Outputs, exported_classifier, labels
from outputcodes.app.export.errors import NotExportableError
from outputcodes.app.export.graph import Features, Graph
from outputcodes.app.export.preprocessing import TRANSFORMERS, joined
from outputcodes.app.export.tables import exported_features
from outputcodes.app.tables.preprocessing import DaysSinceEpoch
from outputcodes.selection.race.blend import Blend
from outputcodes.selection.race.trials import LEAST
from outputcodes.selection.race.views import LARGEST
from outputcodes.selection.renumbered import Renumbered


def blended(g: Graph, inputs: Sequence[Features], model: Blend) -> Outputs:
    """Return the outputs of an average of models."""
    table = [one if one.kind == "text" else Features(_numbers(g, one), one.width) for one in inputs]
    parts = []
    each = zip(model.models, model.temperatures, model.doubts, model.weights, strict=True)
    for member, temperature, doubt, weight in each:
        D = _scores(g, table, member, len(model.classes_))
        below = g("Div", g("Sub", D, g.largest(D)), temperature)
        trusted = g("Mul", g("Softmax", below, axis=1), weight * (1 - doubt))
        parts.append(g("Add", trusted, weight * doubt / len(model.classes_)))
    P = g("Sum", *parts)
    return Outputs(labels(g, model.classes_, g("ArgMax", P, axis=1, keepdims=0)), None, P)


def _numbers(g: Graph, columns: Features) -> str:
    """Numbers and days as `plain_table` has them."""
    X = TRANSFORMERS[DaysSinceEpoch](g, [columns], None) if columns.kind == "date" else g.cast(columns.name)
    return g("Where", g("IsNaN", X), X, g("Clip", X, -LARGEST, LARGEST))


def _scores(g: Graph, table: Sequence[Features], member: Pipeline, k: int) -> str:
    """Scores (n, k), as `scores_of` has them: logarithms of probabilities, where there are any."""
    *steps, last = (step for _, step in member.steps)
    if isinstance(last, Renumbered):
        last = last.estimator_
    features: Sequence[Features] = table
    try:
        for step in steps:
            features = exported_features(g, features, step)
        found = exported_classifier(g, joined(g, features), last)
    except NotExportableError as error:
        raise NotExportableError(
            f"{error} It is a part of what won the race; a race without it can be exported: name the others in "
            "contestants (--learners)."
        ) from error
    # As scikit-learn's own tools look it up.
    if hasattr(last, "predict_proba"):
        return g("Log", g("Max", _present(found.probabilities), LEAST))
    D = _present(found.scores)
    return D if k > 2 else g("MatMul", g("Unsqueeze", D, np.array([1])), np.array([[-0.5, 0.5]]))


def _present(value: Any) -> str:
    assert value is not None  # the classifier has this method
    return str(value)
