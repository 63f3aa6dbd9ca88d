"""Classifiers of scikit-learn that take part in races, as ONNX operators: scores and probabilities.

skl2onnx has converters for them, but these compute in single precision, or know no categories.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import ExtraTreesClassifier, HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

from outputcodes._histograms.questions import AXIS, LEAF, SUBSET, Nodes, empty_nodes
from outputcodes._kernel_machines.kernel_function import squared_norms
from outputcodes.app.export.errors import refuse
from outputcodes.app.export.graph import FLOAT, Graph, Value, dense
from outputcodes.app.export.trees import LARGEST_CONSTANT, VALUES_AT_A_TIME, leaves_of

# Scores, where the classifier has them, and probabilities.
Found = tuple[str | None, str]


def _logistic(g: Graph, X: Value, model: LogisticRegression) -> Found:
    F = g("Add", g("MatMul", X, model.coef_.T), model.intercept_)
    if len(model.classes_) == 2:
        return _of_two(g, F)
    if model.solver == "liblinear" or getattr(model, "multi_class", "") == "ovr":
        raise refuse(model, "is trained one class against the rest", "OutputCodeClassifier('logistic')")
    return F, g("Softmax", F, axis=1)


def _of_two(g: Graph, F: Value) -> Found:
    """The scores (n,) and probabilities of two classes, of the log-odds (n, 1)."""
    return g("Squeeze", F, np.array([1])), g("Concat", g("Sigmoid", g("Neg", F)), g("Sigmoid", F), axis=1)


def _trees(g: Graph, X: Value, model: DecisionTreeClassifier | RandomForestClassifier | ExtraTreesClassifier) -> Found:
    """The mean of the probabilities of all trees; scikit-learn compares features in single precision."""
    if model.n_outputs_ > 1:
        raise refuse(model, "is trained on several outputs", "one output")
    trees = [one.tree_ for one in getattr(model, "estimators_", [model])]
    n_nodes = [tree.node_count for tree in trees]
    roots = np.cumsum([0, *n_nodes[:-1]])
    shift = np.repeat(roots, n_nodes)
    left, right = (np.concatenate([getattr(tree, f"children_{side}") for tree in trees]) for side in ("left", "right"))
    nodes = empty_nodes(len(shift), 0)
    nodes.kind[:] = np.where(left < 0, LEAF, AXIS)
    nodes.feature[:] = np.maximum(np.concatenate([tree.feature for tree in trees]), 0)
    nodes.threshold[:] = np.concatenate([tree.threshold for tree in trees])
    nodes.missing_left[:] = np.concatenate([tree.missing_go_to_left for tree in trees])
    nodes.left[:] = left + shift
    rounded = g.cast(g.cast(X, FLOAT))
    leaves, at_leaf = leaves_of(g, rounded, model.n_features_in_, nodes, roots, right + shift)
    values = np.concatenate([tree.value[:, 0] for tree in trees])[at_leaf]
    if values.size > LARGEST_CONSTANT // 8:
        raise refuse(model, f"has {len(values)} leaves, more than an ONNX file can hold", "fewer or smaller trees")
    step = max(1, VALUES_AT_A_TIME // values.shape[1])
    sums = [
        g.total(g("Gather", values, g.columns(leaves, np.arange(start, min(start + step, len(trees)))), axis=0))
        for start in range(0, len(trees), step)
    ]
    return None, g("Div", g("Sum", *sums), float(len(trees)))


def _boosted(g: Graph, X: Value, model: HistGradientBoostingClassifier) -> Found:
    """Softmax, or sigmoid, of sums over trees, each of which belongs to a class."""
    rounds, base = _inside(model, "_predictors"), np.ravel(_inside(model, "_baseline_prediction"))
    trees = [tree for one in rounds for tree in one]
    stored, n_nodes = np.concatenate([tree.nodes for tree in trees]), [len(tree.nodes) for tree in trees]
    roots = np.cumsum([0, *n_nodes[:-1]])
    shift = np.repeat(roots, n_nodes)
    nodes = _questions(model, stored, [trees[t] for t in np.repeat(np.arange(len(trees)), n_nodes)])
    nodes.left[:] = stored["left"].astype(np.int64) + shift
    right = stored["right"].astype(np.int64) + shift
    leaves, at_leaf = leaves_of(g, X, model.n_features_in_, nodes, roots, right)
    values = g("Gather", stored["value"][at_leaf].astype(np.float64), leaves, axis=0)
    of_class = np.tile(np.eye(len(base)), (len(rounds), 1))
    F = g("Add", g("MatMul", values, of_class), base)
    return (F, g("Softmax", F, axis=1)) if len(base) > 1 else _of_two(g, F)


def _questions(model: HistGradientBoostingClassifier, stored: Any, tree_of: list[Any]) -> Nodes:
    """The questions of boosted trees; for each that is about categories, those that go left come first in the pool."""
    is_category, categories = _categories(model)
    # Inside, features that are categories come first.
    order = np.concatenate([np.flatnonzero(is_category), np.flatnonzero(~is_category)])
    leaf = stored["is_leaf"] == 1
    nodes, pool = empty_nodes(len(stored), 0), [np.empty(0)]
    nodes.kind[:] = np.where(leaf, LEAF, AXIS)
    nodes.feature[:] = order[np.where(leaf, 0, stored["feature_idx"])]
    nodes.threshold[:] = stored["num_threshold"]
    nodes.missing_left[:] = stored["missing_go_to_left"] == 1
    place = 0
    for node in np.flatnonzero(~leaf & (stored["is_categorical"] == 1)):
        known = categories[int(stored["feature_idx"][node])]
        bits = tree_of[node].raw_left_cat_bitsets[stored["bitset_idx"][node]]
        number = np.arange(len(known))
        goes_left = (bits[number // 32] >> (number % 32).astype(np.uint32)) & 1 == 1
        pool.append(np.concatenate([known[goes_left], known[~goes_left]]))
        nodes.kind[node], nodes.threshold[node] = SUBSET, goes_left.sum()
        nodes.at[node], nodes.length[node] = place, len(known)
        place += len(known)
    return nodes._replace(pool=np.concatenate(pool))


def _categories(model: HistGradientBoostingClassifier) -> tuple[NDArray[np.bool_], list[NDArray[np.float64]]]:
    """Which features are categories, and the categories of each, by their number inside."""
    if model.is_categorical_ is None:
        return np.zeros(model.n_features_in_, dtype=bool), []
    encoder = _inside(model, "_preprocessor").named_transformers_["encoder"]
    known = [np.asarray(one, dtype=np.float64) for one in encoder.categories_]
    # A missing one has no number.
    return np.asarray(model.is_categorical_), [one[~np.isnan(one)] for one in known]


def _neighbours(g: Graph, X: Value, model: KNeighborsClassifier) -> Found:
    """The shares of the classes among the nearest rows; those at a distance of 0 count alone."""
    euclidean = model.effective_metric_ == "euclidean"
    if not euclidean or model.weights not in ("uniform", "distance"):
        raise refuse(
            f"KNeighborsClassifier(metric={model.effective_metric_!r}, weights={model.weights!r})",
            "has another metric or weights of your own",
            "euclidean distances",
        )
    rows, y = dense(_inside(model, "_fit_X")), np.ravel(_inside(model, "_y"))
    products = g("MatMul", X, -2.0 * rows.T)
    squares = g("Add", g("Add", products, g.total(g.square(X), keep=True)), squared_norms(rows))
    nearest, place = g.smallest(g("Max", squares, 0.0), int(model.n_neighbors))
    indicators = g("Gather", np.eye(len(model.classes_))[y], place, axis=0)
    if model.weights == "uniform":
        return None, g("Div", g.total(indicators), float(model.n_neighbors))
    equal = g("Equal", nearest, 0.0)
    weight = g("Where", equal, 0.0, g("Div", 1.0, g("Sqrt", g("Where", equal, 1.0, nearest))))
    some = g("Greater", g.total(g.cast(equal), keep=True), 0.0)
    weight = g("Where", some, g.cast(equal), weight)
    shares = g("Div", weight, g.total(weight, keep=True))
    return None, g.total(g("Mul", indicators, g("Unsqueeze", shares, np.array([2]))))


def _inside(model: Any, name: str) -> Any:
    """Return a part of a fitted model for which scikit-learn has no public name; saved models hold it by this one."""
    state: dict[str, Any] = model.__getstate__()
    if name not in state:
        raise refuse(model, "is not stored as scikit-learn 1.7 to 1.9 do", "one of these versions of scikit-learn")
    return state[name]


# To export another classifier of scikit-learn, add its line.
SCORES_AND_PROBABILITIES: dict[type, Callable[[Graph, Value, Any], Found]] = {
    LogisticRegression: _logistic,
    DecisionTreeClassifier: _trees,
    RandomForestClassifier: _trees,
    ExtraTreesClassifier: _trees,
    HistGradientBoostingClassifier: _boosted,
    KNeighborsClassifier: _neighbours,
}
