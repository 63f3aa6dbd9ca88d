"""The parameters of a model for a table, found by a search of its own space on folds."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import accuracy_score, make_scorer
from sklearn.pipeline import Pipeline

from outputcodes.app.run.splits import cross_validation
from outputcodes.app.tables import Table
from outputcodes.selection import GridSearch, space_of
from outputcodes.selection.race.folds import FEW_FOLDS, FOLDS, MANY_ROWS
from outputcodes.selection.searches.grid import MOST_CANDIDATES


def tuned_parameters(
    model: Pipeline,
    table: Table,
    learner: str,
    *,
    fixed: Collection[str] = (),
    class_weights: NDArray[np.float64] | None = None,
    seed: int = 0,
    n_jobs: int | None = None,
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the best parameters of a model, as its `set_params` takes them, and plain data on the search.

    Parameters
    ----------
    model : Pipeline
        As `build` returns it.
    table : Table
        Its groups stay together in the folds.
    learner : str
        What the model is called in messages.
    fixed : names
        Parameters of the learner that keep the values that they have.
    class_weights : array of shape (k,), optional
        With them, the best parameters are those with the least weighted error.

    Examples
    --------
    >>> from outputcodes.app.run.sources import open_table
    >>> from outputcodes.app.run.systems import build
    >>> table = open_table("iris")
    >>> best, facts = tuned_parameters(build(table.schema, "ridge", "all-pairs"), table, "ridge")
    >>> list(best), facts["folds"], facts["candidates"]
    (['classifier__estimator__alpha'], 5, 7)
    """
    y = table.target.to_numpy()
    space = space_of(model, table.frame, y)
    own = {one.name.rpartition("__")[2] for one in space.parameters}
    if not own:
        raise ValueError(f"learner={learner!r} has no parameters that are tuned: leave out tune=True (--tune).")
    # What is fixed takes no part in the number of candidates.
    free = [one for one in space.parameters if one.name.rpartition("__")[2] not in fixed]
    if not free:
        raise ValueError(
            f"All parameters of {learner!r} that are tuned, {', '.join(sorted(own))}, are given (--param): leave out "
            "tune=True (--tune)."
        )
    grid = type(space)(tuple(free), space.cost).grid(MOST_CANDIDATES)
    cv = min(FEW_FOLDS if len(y) > MANY_ROWS else FOLDS, max(2, int(table.target.value_counts().max())))
    if table.group is not None:
        cv = max(2, min(cv, table.group.nunique()))
    folds = cross_validation(y, cv, seed, table.group).pairs
    scoring = None
    if class_weights is not None:
        scoring = make_scorer(partial(_weighted_accuracy, dict(zip(table.schema.classes, class_weights, strict=True))))
    search = GridSearch(model, grid, cv=folds, scoring=scoring, n_jobs=n_jobs, refit=False).fit(table.frame, y)
    found = {name.rpartition("__")[2]: _plain(value) for name, value in search.best_params_.items()}
    facts = {
        "parameters": found,
        "error": 1 - float(search.best_score_),
        "folds": len(folds),
        "candidates": len(search.cv_results_["params"]),
    }
    return dict(search.best_params_), facts


def _weighted_accuracy(weights: Mapping[Any, float], y: NDArray[Any], predicted: NDArray[Any]) -> float:
    weight = [weights[label] for label in y.tolist()]
    return float(accuracy_score(y, predicted, sample_weight=weight))


def _plain(value: Any) -> Any:
    return value.item() if hasattr(value, "item") else value
