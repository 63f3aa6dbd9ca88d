"""Trees as ONNX operators: a tree ensemble returns the leaf of each row, whose values are gathered in double precision.

Outputs of ONNX's tree ensembles are single precision; the numbers of leaves are exact there, values are not. Questions
that the ensemble does not know, about subsets, hyperplanes and spheres, become features of their own, with thresholds.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from onnx import numpy_helper

from outputcodes._histograms.questions import AXIS, LEAF, OBLIQUE, SPHERE, SUBSET, Nodes
from outputcodes.app.export.errors import refuse
from outputcodes.app.export.graph import INT64, TREES, Graph, Value
from outputcodes.learners.trees.boosted.forest import BoostedForest

Array = NDArray[np.float64]
Rows = NDArray[np.intp]

# Values of leaves that are gathered at a time, per row: more would need much memory for many rows.
VALUES_AT_A_TIME = 1024
# ONNX files are limited to 2 GiB.
LARGEST_CONSTANT = 1 << 30


def leaves_of(
    g: Graph, X: Value, n_features: int, nodes: Nodes, roots: Rows, right: Rows | None = None
) -> tuple[str, Rows]:
    """Return the number of the leaf (n, T) that each row reaches in each tree, and the node at each number.

    Leaves are numbered tree by tree. `right` are the nodes on the right, by default those behind the ones on the left.
    """
    X, nodes = _with_thresholds_only(g, X, n_features, nodes)
    stops = np.append(roots[1:], len(nodes.kind))
    tree = np.repeat(np.arange(len(roots)), stops - roots)
    number = np.arange(len(tree)) - roots[tree]
    inner = nodes.kind != LEAF
    left = np.where(inner, nodes.left - roots[tree], 0)
    right = left + 1 if right is None else right - roots[tree]
    at_leaf = np.flatnonzero(~inner)
    first = np.searchsorted(at_leaf, roots)
    within = np.arange(len(at_leaf)) - first[tree[at_leaf]]
    found = g(
        "TreeEnsembleRegressor",
        X,
        domain=TREES,
        n_targets=len(roots),
        post_transform="NONE",
        nodes_treeids=tree.tolist(),
        nodes_nodeids=number.tolist(),
        nodes_featureids=np.where(inner, nodes.feature, 0).tolist(),
        nodes_modes=["BRANCH_LEQ" if one else "LEAF" for one in inner],
        nodes_values_as_tensor=numpy_helper.from_array(np.where(inner, nodes.threshold, 0.0)),
        nodes_truenodeids=left.tolist(),
        nodes_falsenodeids=np.where(inner, right, 0).tolist(),
        nodes_missing_value_tracks_true=(inner & nodes.missing_left).astype(int).tolist(),
        target_treeids=tree[at_leaf].tolist(),
        target_nodeids=number[at_leaf].tolist(),
        target_ids=tree[at_leaf].tolist(),
        target_weights_as_tensor=numpy_helper.from_array(within.astype(np.float64)),
    )
    return g("Add", g.cast(found, INT64), first.astype(np.int64)), at_leaf


def forest_scores(g: Graph, X: Value, forest: BoostedForest) -> str:
    """Return the scores (n, width) of boosted trees."""
    if not len(forest.roots):
        return g.for_each_row(X, forest.base)
    width = len(forest.base)
    leaves, at_leaf = leaves_of(g, X, forest.n_features, forest.nodes, np.asarray(forest.roots))
    if len(at_leaf) * width > LARGEST_CONSTANT // 4:
        raise refuse(
            f"A forest of {len(at_leaf)} leaves for {width} columns",
            "is larger than an ONNX file can be",
            "fewer rounds or a shorter code",
        )
    values = _dense(forest, forest.leaf[at_leaf], width)
    scores: Value = forest.base
    step = max(1, VALUES_AT_A_TIME // width)
    for start in range(0, len(forest.roots), step):
        some = np.arange(start, min(start + step, len(forest.roots)))
        gathered = g.cast(g("Gather", values, g.columns(leaves, some), axis=0))
        scores = g("Add", g.total(gathered), scores)
    return str(scores)


def _dense(forest: BoostedForest, leaves: Rows, width: int) -> NDArray[np.float32]:
    """The values (leaves, width) of some leaves."""
    starts, where, stored = forest.leaves
    values = np.zeros((len(leaves), width), np.float32)
    length = starts[leaves + 1] - starts[leaves]
    row = np.repeat(np.arange(len(leaves)), length)
    at = np.arange(len(row)) - np.repeat(np.cumsum(length) - length, length) + np.repeat(starts[leaves], length)
    values[row, where[at]] = stored[at]
    return values


def _with_thresholds_only(g: Graph, X: Value, d: int, nodes: Nodes) -> tuple[Value, Nodes]:
    """Return X with a feature for every question that is not about a threshold, and nodes that ask about these."""
    kind, feature, threshold = nodes.kind.copy(), nodes.feature.copy(), nodes.threshold.copy()
    missing_left, parts = nodes.missing_left.copy(), [X]
    for other, add in ((SUBSET, _sides), (OBLIQUE, _projections), (SPHERE, _distances)):
        asked = np.flatnonzero(nodes.kind == other)
        if asked.size:
            parts.append(add(g, X, nodes, asked))
            kind[asked], feature[asked] = AXIS, d + np.arange(asked.size)
            d += asked.size
    subsets = np.flatnonzero(nodes.kind == SUBSET)
    # The side is -1 or +1, and 0 for a new category or a missing value.
    threshold[subsets] = np.where(missing_left[subsets], 0.5, -0.5)
    changed = nodes._replace(kind=kind, feature=feature, threshold=threshold, missing_left=missing_left)
    return (X if len(parts) == 1 else g("Concat", *parts, axis=1)), changed


def _sides(g: Graph, X: Value, nodes: Nodes, asked: Rows) -> str:
    """Return (n, questions) -1 for categories on the left, +1 on the right and 0 for others, from indicators."""
    about = [(int(nodes.feature[q]), nodes.pool[nodes.at[q] : nodes.at[q] + nodes.length[q]]) for q in asked]
    pairs = np.concatenate([np.column_stack([np.full(len(known), f, float), known]) for f, known in about])
    pairs, place = np.unique(pairs, axis=0, return_inverse=True)
    sides, at = np.zeros((len(pairs), len(asked))), 0
    for column, (_, known) in enumerate(about):
        rank = np.arange(len(known))
        sides[place.ravel()[at : at + len(known)], column] = np.where(rank < nodes.threshold[asked[column]], -1.0, 1.0)
        at += len(known)
    indicators = g.cast(g("Equal", g.columns(X, pairs[:, 0]), pairs[:, 1]))
    return g("MatMul", indicators, sides)


def _numbers(nodes: Nodes, asked: Rows) -> Array:
    """The coefficients or centres (questions, d) of some questions."""
    return np.stack([nodes.pool[nodes.at[q] : nodes.at[q] + nodes.length[q]] for q in asked])


def _projections(g: Graph, X: Value, nodes: Nodes, asked: Rows) -> str:
    """Return (n, questions) projections, NaN where a feature with a coefficient is missing."""
    a = _numbers(nodes, asked)
    present = g.columns(X, np.arange(a.shape[1]))
    missing = g("IsNaN", present)
    value = g("MatMul", g("Where", missing, 0.0, present), a.T)
    return _open_where(g, missing, (a != 0.0).T, value)


def _distances(g: Graph, X: Value, nodes: Nodes, asked: Rows) -> str:
    """Return (n, questions) distances from centres, NaN where a feature of the centre is missing."""
    centres = _numbers(nodes, asked)
    counts = ~np.isnan(centres)
    present = g.columns(X, np.arange(centres.shape[1]))
    missing = g("IsNaN", present)
    apart = g("Sub", g("Unsqueeze", g("Where", missing, 0.0, present), np.array([1])), np.where(counts, centres, 0.0))
    value = g("Sqrt", g.total(g("Mul", g.square(apart), counts.astype(np.float64)), axis=2))
    return _open_where(g, missing, counts.T, value)


def _open_where(g: Graph, missing: Value, used: NDArray[Any], value: Value) -> str:
    lacking = g("MatMul", g.cast(missing), used.astype(np.float64))
    return g("Where", g("Greater", lacking, 0.0), np.nan, value)
