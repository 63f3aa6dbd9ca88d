"""Classifiers that need no code, by name, and the model of a learner or system for a table."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from outputcodes._ground.planning import Planning, too_long_to_boost, too_many_rows
from outputcodes._ground.validation import unknown_name
from outputcodes.app.tables import Schema, categorical_features, preprocessing
from outputcodes.app.tables.preprocessing import ORDER
from outputcodes.boosting import AdaBoostMH, AdaBoostMO, AdaBoostMR, AdaBoostOC, SmoothBoost
from outputcodes.classifier import OutputCodeClassifier
from outputcodes.direct import MulticlassSVC
from outputcodes.learners import LEARNERS

# From so many rows on, stumps look for thresholds among quantiles.
EXACT_UP_TO, BINS = 5_000, 128


@dataclass(frozen=True)
class System:
    """A classifier that needs no code: how to make one, and how a plan treats it."""

    make: Callable[[], Any]
    planning: Planning = field(default_factory=Planning)

    def __call__(self) -> Any:
        """Return a new classifier."""
        return self.make()


# Output codes are measured against these. To add one, add its line.
SYSTEMS: dict[str, System] = {
    "maxent": System(lambda: LogisticRegression(max_iter=1000), Planning(quick=True, cost=5)),
    "decision-tree": System(DecisionTreeClassifier, Planning(quick=True, cost=10)),
    # Its predictions are then those with the largest score, of which probabilities can be made.
    "svc": System(lambda: SVC(break_ties=True), Planning(quick=True, cost=25, unsuited=too_many_rows)),
    "gradient-boosting": System(HistGradientBoostingClassifier, Planning(cost=50, unsuited=too_long_to_boost)),
    "multiclass-svc": System(MulticlassSVC, Planning(quick=True, cost=35, unsuited=too_many_rows)),
    "adaboost-mh": System(AdaBoostMH, Planning(quick=True, cost=45, unsuited=too_long_to_boost)),
    "adaboost-mo": System(AdaBoostMO, Planning(cost=65, unsuited=too_long_to_boost)),
    "adaboost-mr": System(AdaBoostMR, Planning(cost=70, unsuited=too_long_to_boost)),
    "adaboost-oc": System(AdaBoostOC, Planning(cost=75, unsuited=too_long_to_boost)),
    "smoothboost": System(SmoothBoost, Planning(cost=80, unsuited=too_long_to_boost)),
}


def build(
    schema: Schema,
    learner: str,
    code: Any = None,
    decoder: Any = "loss",
    *,
    rows: int = 0,
    probability: Any = None,
    seed: int = 0,
    n_jobs: int | None = None,
) -> Pipeline:
    """Return a model that takes raw tables: preprocessing for the learner, then the classifier.

    Parameters
    ----------
    schema : Schema
        Of the training table.
    learner : str
        A name in `outputcodes.learners.LEARNERS`, for which `code`, `decoder` and `probability` are those of
        `OutputCodeClassifier`; or one in `SYSTEMS`, which takes none of them.
    rows : int
        How many rows there will be: many of them are binned before stumps see them.

    Examples
    --------
    >>> from outputcodes.app.tables import Column
    >>> build(Schema((Column("x", "number"),)), "stumps", "dense")[-1]
    OutputCodeClassifier(code='dense', estimator=BoostedStumps(...), random_state=0)
    """
    estimator = _estimator(schema, learner, rows)
    model = estimator
    if learner in LEARNERS:
        model = OutputCodeClassifier(
            estimator, code=code or "all-pairs", decoder=decoder, probability=probability, random_state=seed
        )
    elif code is not None:
        raise ValueError(f"learner={learner!r} is a classifier by itself and takes no code; codes need a binary one.")
    known = model.get_params(deep=False)
    # The n_jobs of scikit-learn's own does nothing, or is about to.
    ours = {"n_jobs": n_jobs} if _is_ours(model) else {}
    model.set_params(**{name: value for name, value in {"random_state": seed, **ours}.items() if name in known})
    return Pipeline([("table", preprocessing(schema, estimator)), ("classifier", model)])


def learners_and_systems() -> dict[str, Callable[[], Any]]:
    """Return everything that can be named as a learner, those of plug-ins included."""
    return {**LEARNERS, **SYSTEMS}


def is_ours(name: str) -> bool:
    """Return whether a learner or a system is this library's own, and so compiled when it is first used.

    >>> is_ours("ridge"), is_ours("svc")
    (True, False)
    """
    return _is_ours(learners_and_systems()[name]())


def _is_ours(model: Any) -> bool:
    return type(model).__module__.startswith("outputcodes.")


def _estimator(schema: Schema, name: str, rows: int) -> Any:
    known = learners_and_systems()
    if name not in known:
        raise unknown_name("learner", name, known)
    estimator = known[name]()
    parameters = estimator.get_params(deep=False)
    if "categorical_features" in parameters:
        told = categorical_features(schema)
        if "max_bins" in parameters:
            # scikit-learn's boosting has a bin for each category, and takes the others as ordered numbers.
            told &= _category_counts(schema) <= parameters["max_bins"]
        estimator.set_params(categorical_features=told.tolist())
    if "bins" in parameters and rows > EXACT_UP_TO:
        estimator.set_params(bins=BINS)
    return estimator


def _category_counts(schema: Schema) -> NDArray[np.intp]:
    """The number of categories of each feature after `preprocessing`."""
    count = {column.name: len(column.categories) for column in schema.columns}
    return np.array([count[name] for kind in ORDER for name in schema.names(kind)], dtype=np.intp)
