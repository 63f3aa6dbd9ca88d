"""The margins of fitted columns as ONNX operators: one function per kind of columns."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from outputcodes._ground.sizes import LARGEST_MARGIN
from outputcodes.app.export.errors import refuse
from outputcodes.app.export.graph import Graph, Value
from outputcodes.app.export.kernels import expanded
from outputcodes.app.export.trees import forest_scores, leaves_of
from outputcodes.boosting.weak import ConstantRounds, ForeignRounds, StumpRounds
from outputcodes.learners.base import FittedColumns
from outputcodes.learners.kernel.fitted import FittedKernelColumns
from outputcodes.learners.per_column import FittedPerColumn
from outputcodes.learners.single_call import FittedSingleCall
from outputcodes.learners.trained_columns import Columns
from outputcodes.learners.trees.boosted_trees import FittedBoostedTrees
from outputcodes.learners.trees.fitted_stumps import FittedStumps
from outputcodes.learners.trees.fitted_trees import FittedTrees


def exported_margins(g: Graph, X: Value, columns: Columns | FittedColumns) -> str:
    """Return the margins (n, L), as `columns.margins` does."""
    if not isinstance(columns, Columns):
        return _live_margins(g, X, columns)
    if columns.fitted is None:
        return g.for_each_row(X, columns.constant)
    live = g("Clip", _live_margins(g, X, columns.fitted), -LARGEST_MARGIN, LARGEST_MARGIN)
    if columns.live.all():
        return live
    places = np.eye(len(columns.live))[columns.live]
    return g("Add", g("MatMul", live, places), np.where(columns.live, 0.0, columns.constant))


def _live_margins(g: Graph, X: Value, fitted: FittedColumns) -> str:
    weights = fitted.coefficients()
    if weights is not None:
        return g("Add", g("MatMul", X, weights.T), fitted.intercepts())
    if type(fitted) not in MARGINS:
        raise refuse(fitted, "has no converter", f"columns of {', '.join(kind.__name__ for kind in MARGINS)}")
    return MARGINS[type(fitted)](g, X, fitted)


def _kernel(g: Graph, X: Value, fitted: FittedKernelColumns) -> str:
    return g("Add", expanded(g, X, fitted.kernel, *fitted.expansion()), fitted.intercept)


def _stumps(g: Graph, X: Value, fitted: FittedStumps) -> str:
    """Σ (left − right)·[x ≤ t] + right over all stumps, where the value is present; both sums are products.

    The sides are rounded so that all their sums are exact, in any order.
    """
    left, right = fitted.summable()
    T, L = fitted.feature.shape
    column = np.tile(np.arange(L), (T, 1))
    tests, place = np.unique(
        np.column_stack([fitted.feature.ravel(), fitted.threshold.ravel()]), axis=0, return_inverse=True
    )
    gains, otherwise = np.zeros((len(tests), L)), np.zeros((len(fitted.categorical), L))
    np.add.at(gains, (place.ravel(), column.ravel()), (left - right).ravel())
    np.add.at(otherwise, (fitted.feature.ravel(), column.ravel()), right.ravel())
    asked = tests[:, 0].astype(np.int64)
    parts = []
    for operator, some in (
        ("LessOrEqual", ~fitted.categorical[asked]),
        ("Equal", fitted.categorical[asked]),
    ):
        if some.any():
            passed = g.cast(g(operator, g.columns(X, asked[some]), tests[some, 1]))
            parts.append(g("MatMul", passed, gains[some]))
    used = np.unique(asked)
    present = g.cast(g("Not", g("IsNaN", g.columns(X, used))))
    return g("Sum", *parts, g("MatMul", present, otherwise[used]))


def _trees(g: Graph, X: Value, fitted: FittedTrees) -> str:
    leaves, at_leaf = leaves_of(g, X, fitted.n_features, fitted.nodes, np.asarray(fitted.roots))
    return g("Gather", fitted.answers[at_leaf], leaves, axis=0)


def _boosted(g: Graph, X: Value, fitted: FittedBoostedTrees) -> str:
    return forest_scores(g, X, fitted.forest)


def _constant(g: Graph, X: Value, fitted: ConstantRounds) -> str:
    return g.for_each_row(X, fitted.constant)


def _foreign(g: Graph, X: Value, fitted: Any) -> str:
    if isinstance(fitted, FittedSingleCall):
        fitted = fitted.fitted
    if isinstance(fitted, ForeignRounds):
        weak = fitted.rounds[0].hypothesis
        raise refuse(
            getattr(weak, "estimator", weak),
            "is the weak learner of a booster",
            "the stumps of the booster, estimator=None",
        )
    other = fitted.estimators[0]
    raise refuse(other, "is a column of another package and not linear in the features", "a learner of this package")


# What is linear in the features needs no line. To export another kind of columns, add its line.
MARGINS: dict[type[FittedColumns], Callable[[Graph, Value, Any], str]] = {
    FittedKernelColumns: _kernel,
    FittedStumps: _stumps,
    StumpRounds: _stumps,
    FittedTrees: _trees,
    FittedBoostedTrees: _boosted,
    ConstantRounds: _constant,
    ForeignRounds: _foreign,
    FittedPerColumn: _foreign,
    FittedSingleCall: _foreign,
}
