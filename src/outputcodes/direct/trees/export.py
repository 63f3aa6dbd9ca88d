"""Trees as text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from outputcodes._histograms.questions import AXIS, LEAF, OBLIQUE, SUBSET
from outputcodes.direct.trees.structure import GrownTree


def export_text(model: Any, feature_names: Sequence[str] | None = None, decimals: int = 2) -> str:
    """Return a fitted `DecisionTree` as text, one line per node; "no" follows "yes".

    Examples
    --------
    >>> from outputcodes.direct.trees import DecisionTree
    >>> model = DecisionTree().fit([[0, 1], [1, 1], [1, 0], [1, 0]], ["ash", "oak", "elm", "elm"])
    >>> print(export_text(model, ["leaves", "fruit"]))
    fruit <= 0.50
    |   yes: elm (2)
    |   no: leaves <= 0.50
    |   |   yes: ash (1)
    |   |   no: oak (1)
    """
    check_is_fitted(model)
    names = names_of_features(model, feature_names)
    tree: GrownTree = model.tree_
    nodes, labels = tree.nodes, model.classes_[tree.labels]
    lines: list[str] = []
    stack = [(0, 0, "")]
    while stack:
        node, depth, answer = stack.pop()
        if nodes.kind[node] == LEAF:
            text = f"{labels[node]} ({tree.counts[node].sum():g})"
        else:
            text = question_text(tree, node, names, decimals)
            stack += [(nodes.left[node] + 1, depth + 1, "no: "), (nodes.left[node], depth + 1, "yes: ")]
        lines.append("|   " * depth + answer + text)
    return "\n".join(lines)


def names_of_features(model: Any, given: Sequence[str] | None) -> list[str]:
    """Return the given names, those recorded by `fit`, or x0, x1, …"""
    n_features = model.n_features_in_
    if given is None:
        given = getattr(model, "feature_names_in_", [f"x{j}" for j in range(n_features)])
    if len(given) != n_features:
        raise ValueError(f"feature_names must have {n_features} names, one per feature, got {len(given)}.")
    return [str(name) for name in given]


def question_text(tree: GrownTree, node: int, names: list[str], decimals: int, most: int | None = None) -> str:
    """Return the question of a node, with at most `most` coefficients, coordinates or categories."""
    nodes = tree.nodes
    kind, threshold, name = nodes.kind[node], nodes.threshold[node], names[nodes.feature[node]]
    numbers = nodes.pool[nodes.at[node] : nodes.at[node] + nodes.length[node]]
    if kind == AXIS:
        return f"{name} is known" if threshold == np.inf else f"{name} <= {threshold:.{decimals}f}"
    if kind == SUBSET:
        return f"{name} in {{{_shortened([f'{value:g}' for value in numbers[: int(threshold)]], ', ', most)}}}"
    if kind == OBLIQUE:
        largest = [j for j in np.argsort(-np.abs(numbers), kind="stable") if numbers[j] != 0]
        terms = _shortened([f"{numbers[j]:+.{decimals}f} {names[j]}" for j in largest], " ", most)
        return f"{terms} <= {threshold:.{decimals}f}"
    centre = [f"{names[j]} {value:.{decimals}f}" for j, value in enumerate(numbers) if not np.isnan(value)]
    return f"distance from ({_shortened(centre, ', ', most)}) <= {threshold:.{decimals}f}"


def _shortened(parts: list[str], between: str, most: int | None) -> str:
    if most is not None and len(parts) > most:
        parts = [*parts[:most], "…"]
    return between.join(parts)
