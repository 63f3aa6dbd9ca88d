"""Classifiers as ONNX operators: labels, scores and probabilities, as the methods of the classifier return them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from outputcodes.app.export.columns import exported_margins
from outputcodes.app.export.decoders import exported_choice, exported_scores
from outputcodes.app.export.errors import refuse
from outputcodes.app.export.foreign import SCORES_AND_PROBABILITIES
from outputcodes.app.export.graph import INT64, Graph, Value, dense
from outputcodes.app.export.kernels import expanded
from outputcodes.app.export.posteriors import exported_probabilities
from outputcodes.app.export.trees import forest_scores, leaves_of
from outputcodes.boosting import AdaBoostMH, AdaBoostMO, AdaBoostMR, AdaBoostOC, GradientBoost, SmoothBoost
from outputcodes.boosting.gradient import GRAIN
from outputcodes.classifier import OutputCodeClassifier
from outputcodes.decoders.classifier import DecodingClassifier
from outputcodes.direct import DecisionTree, MulticlassSVC, NearestCentroids
from outputcodes.selection.probable import ScoresAsProbabilities


class Outputs(NamedTuple):
    """What a classifier returns: `predict`, `decision_function` and `predict_proba`, None where it has no such."""

    label: str
    scores: str | None
    probabilities: str | None


def decoded(g: Graph, X: Value, model: DecodingClassifier) -> Outputs:
    """Return the outputs of a classifier that decodes margins."""
    decoder = model.decoder_
    if decoder.searches:
        exported_scores(g, X, decoder, np.empty((0, 0)))  # raises the error that names it
    M = np.asarray(decoder.as_read(model.code_))
    F = exported_margins(g, X, model.columns_)
    D = exported_scores(g, F, decoder, M)
    k = len(model.classes_)
    P = exported_probabilities(g, D, decoder, k) if decoder.has_probabilities else None
    if model.multilabel_:
        return Outputs(_indicators(g, D), D, P)
    best = exported_choice(g, D, F, decoder, M)
    return Outputs(labels(g, model.classes_, best), _decision(g, D, k), P)


def _gradient_boost(g: Graph, X: Value, model: GradientBoost) -> Outputs:
    F = g("Mul", g("Round", g("Div", forest_scores(g, X, model.forest_), GRAIN)), GRAIN)
    if model.targets_.multilabel:
        return Outputs(_indicators(g, F), F, g("Sigmoid", g("Mul", F, 2.0)))
    best = g("ArgMax", F, axis=1, keepdims=0)
    return Outputs(labels(g, model.classes_, best), _decision(g, F, len(model.classes_)), g("Softmax", F, axis=1))


def _multiclass_svc(g: Graph, X: Value, model: MulticlassSVC) -> Outputs:
    if hasattr(model, "coef_"):
        D = g("Add", g("MatMul", X, model.coef_.T), model.intercept_)
    else:
        D = expanded(g, X, *model.expansion())
    best = g("ArgMax", D, axis=1, keepdims=0)
    return Outputs(labels(g, model.classes_, best), _decision(g, D, len(model.classes_)), None)


def _nearest_centroids(g: Graph, X: Value, model: NearestCentroids) -> Outputs:
    weights, intercepts = model.linear_terms()
    D = g("Add", g("MatMul", X, dense(weights)), intercepts)
    best = g("ArgMax", D, axis=1, keepdims=0)
    return Outputs(labels(g, model.classes_, best), _decision(g, D, len(model.classes_)), None)


def _decision_tree(g: Graph, X: Value, model: DecisionTree) -> Outputs:
    tree = model.tree_
    leaves, at_leaf = leaves_of(g, X, model.n_features_in_, tree.nodes, np.zeros(1, dtype=np.intp))
    reached = g("Squeeze", leaves, np.array([1]))
    best = g("Gather", tree.labels[at_leaf].astype(np.int64), reached, axis=0)
    P = g("Gather", tree.probabilities[at_leaf], reached, axis=0)
    return Outputs(labels(g, model.classes_, best), None, P)


def _foreign(g: Graph, X: Value, model: Any) -> Outputs:
    D, P = SCORES_AND_PROBABILITIES[type(model)](g, X, model)
    return Outputs(labels(g, model.classes_, g("ArgMax", P, axis=1, keepdims=0)), D, P)


def _with_probabilities(g: Graph, X: Value, model: ScoresAsProbabilities) -> Outputs:
    found = exported_classifier(g, X, model.estimator_)
    assert found.scores is not None  # it was trained by them
    k = len(model.classes_)
    D = found.scores if k > 2 else g("MatMul", g("Unsqueeze", found.scores, np.array([1])), np.array([[-0.5, 0.5]]))
    return Outputs(found.label, g("Identity", D), exported_probabilities(g, D, model.softmax_, k))


def labels(g: Graph, classes: NDArray[Any], best: Value) -> str:
    """Return the labels of class numbers (n,)."""
    return g("Gather", label_values(classes), best, axis=0)


def label_values(classes: NDArray[Any]) -> NDArray[Any]:
    """Return labels in a type that ONNX has: text, whole numbers, numbers or booleans.

    >>> label_values(np.array([1, 2], dtype=np.int16)).dtype
    dtype('int64')
    """
    kind = classes.dtype.kind
    if kind == "b":
        return classes
    if kind in "iu":
        return classes.astype(np.int64)
    if kind == "f":
        return classes.astype(np.float64)
    if all(isinstance(one, str) for one in classes.tolist()):
        return classes.astype(object)
    raise refuse(f"A classifier with labels such as {classes[0]!r}", "has labels that are neither text nor numbers")


def _indicators(g: Graph, D: Value) -> str:
    return g.cast(g("Greater", D, 0.0), INT64)


def _decision(g: Graph, D: Value, k: int) -> str:
    """The scores in scikit-learn's form: of two classes the second minus the first."""
    if k > 2:
        return g("Identity", D)
    return g("Squeeze", g("MatMul", D, np.array([[-1.0], [1.0]])), np.array([1]))


# To export another kind of classifier, add its line.
CLASSIFIERS: dict[type, Callable[[Graph, Value, Any], Outputs]] = {
    **dict.fromkeys(
        (OutputCodeClassifier, AdaBoostMH, AdaBoostMO, AdaBoostMR, AdaBoostOC, SmoothBoost),
        decoded,
    ),
    GradientBoost: _gradient_boost,
    MulticlassSVC: _multiclass_svc,
    DecisionTree: _decision_tree,
    NearestCentroids: _nearest_centroids,
    ScoresAsProbabilities: _with_probabilities,
}
# Those of scikit-learn, for which skl2onnx has converters of its own.
FOREIGN: dict[type, Callable[[Graph, Value, Any], Outputs]] = dict.fromkeys(SCORES_AND_PROBABILITIES, _foreign)


def exported_classifier(g: Graph, X: Value, model: Any) -> Outputs:
    """Return the outputs of a fitted classifier of numbers."""
    known = CLASSIFIERS | FOREIGN
    if type(model) not in known:
        raise refuse(model, "has no converter", f"one of {', '.join(kind.__name__ for kind in known)}")
    return known[type(model)](g, X, model)


def output_names(model: Any) -> list[str]:
    """Return which of "label", "scores" and "probabilities" a fitted classifier has."""
    check_is_fitted(model)
    known = {"scores": "decision_function", "probabilities": "predict_proba"}
    return ["label", *(name for name, method in known.items() if hasattr(model, method))]
