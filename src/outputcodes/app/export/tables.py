"""Tables in a graph: their columns, as pipelines and column transformers pass them on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer

from outputcodes.app.export.errors import refuse
from outputcodes.app.export.graph import Features, Graph
from outputcodes.app.export.preprocessing import TRANSFORMERS, n_features_of
from outputcodes.app.tables import AsNumbersAndCategories
from outputcodes.app.tables.preprocessing import Bounded, DaysSinceEpoch

Inputs = Sequence[Features]


def exported_features(g: Graph, inputs: Inputs, step: Any) -> list[Features]:
    """Return what a fitted transformer makes of columns."""
    # A fitted column transformer has the second in the place of the first.
    if step == "passthrough" or (isinstance(step, FunctionTransformer) and step.func is None):
        return list(inputs)
    if isinstance(step, Pipeline):
        for _, part in step.steps:
            inputs = exported_features(g, inputs, part)
        return list(inputs)
    if isinstance(step, ColumnTransformer):
        used = [(part, places) for _, part, places in step.transformers_ if part != "drop" and len(places)]
        return [one for part, places in used for one in exported_features(g, _picked(g, inputs, places), part)]
    if type(step) not in TRANSFORMERS:
        raise refuse(step, "has no converter", f"one of {', '.join(kind.__name__ for kind in TRANSFORMERS)}")
    return [Features(TRANSFORMERS[type(step)](g, inputs, step), n_features_of(step))]


def _picked(g: Graph, inputs: Inputs, places: Any) -> list[Features]:
    """The columns at some places."""
    single = [
        Features(one.name if one.width == 1 else g.columns(one.name, np.array([j])), 1, one.kind)
        for one in inputs
        for j in range(one.width)
    ]
    return [single[place] for place in np.arange(len(single))[places]]


def columns_of(model: AsNumbersAndCategories) -> list[str]:
    """Return the columns of a table in the order in which this step returns them."""
    return [*model.numbers, *model.dates, *model.categories, *model.words]


def exported_table(g: Graph, inputs: dict[str, Features], model: AsNumbersAndCategories) -> list[str]:
    """Return a matrix (n, 1) for each column: numbers, days, and texts, empty where they are missing."""
    numbers = [TRANSFORMERS[Bounded](g, [inputs[name]], None) for name in model.numbers]
    days = [TRANSFORMERS[DaysSinceEpoch](g, [inputs[name]], None) for name in model.dates]
    return [*numbers, *days, *(inputs[name].name for name in [*model.categories, *model.words])]
