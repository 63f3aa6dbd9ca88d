"""Classifiers that need no code, by name, and the model of a learner or system for a table."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from inspect import signature
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from outputcodes._ground.planning import (
    Planning,
    few_classes,
    first_reason,
    many_classes,
    too_long_to_boost,
    too_many_rows,
)
from outputcodes._ground.validation import unknown_name
from outputcodes.app.run.labels import by_label
from outputcodes.app.run.parameters import set_parameters
from outputcodes.app.tables import Schema, categorical_features, preprocessing
from outputcodes.app.tables.preprocessing import ORDER
from outputcodes.boosting import AdaBoostMH, AdaBoostMO, AdaBoostMR, AdaBoostOC, GradientBoost, SmoothBoost
from outputcodes.classifier import OutputCodeClassifier
from outputcodes.direct import MulticlassSVC, NearestCentroids
from outputcodes.learners import LEARNERS
from outputcodes.learners.names import default_learner
from outputcodes.selection import CONTESTANTS
from outputcodes.selection.measure import fixed_code
from outputcodes.selection.renumbered import Renumbered

# From so many rows on, stumps look for thresholds among quantiles.
EXACT_UP_TO, BINS = 5_000, 128


@dataclass(frozen=True)
class System:
    """A classifier that needs no code: how to make one, how a plan treats it, and whether it trains on blocks."""

    make: Callable[[], Any]
    planning: Planning = field(default_factory=Planning)
    takes_blocks: bool = False

    def __call__(self) -> Any:
        """Return a new classifier."""
        return self.make()


KERNEL, BOOSTING = first_reason(too_many_rows, many_classes), first_reason(too_long_to_boost, many_classes)


def _catboost() -> Renumbered:
    # By itself it predicts labels in a column of a matrix.
    return Renumbered(CONTESTANTS["catboost"].make())


# Output codes are measured against these. To add one, add its line.
SYSTEMS: dict[str, System] = {
    "nearest-centroid": System(NearestCentroids, Planning(quick=True, cost=3, unsuited=few_classes)),
    "maxent": System(lambda: LogisticRegression(max_iter=1000), Planning(quick=True, cost=5, unsuited=many_classes)),
    "decision-tree": System(DecisionTreeClassifier, Planning(quick=True, cost=10, unsuited=many_classes)),
    # Its predictions are then those with the largest score, of which probabilities can be made.
    "svc": System(lambda: SVC(break_ties=True), Planning(quick=True, cost=25, unsuited=KERNEL)),
    "gradient-boost": System(GradientBoost, Planning(quick=True, cost=28), takes_blocks=True),
    "hist-gradient-boosting": System(HistGradientBoostingClassifier, Planning(cost=50, unsuited=BOOSTING)),
    "multiclass-svc": System(MulticlassSVC, Planning(quick=True, cost=35, unsuited=KERNEL)),
    "adaboost-mh": System(AdaBoostMH, Planning(quick=True, cost=45, unsuited=BOOSTING), takes_blocks=True),
    "adaboost-mo": System(AdaBoostMO, Planning(cost=65, unsuited=BOOSTING), takes_blocks=True),
    "adaboost-mr": System(AdaBoostMR, Planning(cost=70, unsuited=BOOSTING), takes_blocks=True),
    "adaboost-oc": System(AdaBoostOC, Planning(cost=75, unsuited=BOOSTING), takes_blocks=True),
    "smoothboost": System(SmoothBoost, Planning(cost=80, unsuited=BOOSTING), takes_blocks=True),
    # Contestants of races, to be fitted again by their names.
    **{
        name: System(CONTESTANTS[name].make, Planning(tried=False))
        for name in ("random-forest", "extra-trees", "neighbours", "lightgbm", "xgboost")
        if CONTESTANTS[name].is_here
    },
    **({"catboost": System(_catboost, Planning(tried=False))} if CONTESTANTS["catboost"].is_here else {}),
}


# What the command line and Python do where nothing is named is the same.
DEFAULT = OutputCodeClassifier()


def default_name() -> str:
    """Return the name of the default learner.

    >>> default_name() in LEARNERS
    True
    """
    return next(name for name, make in LEARNERS.items() if make is type(default_learner()))


def build(
    schema: Schema,
    learner: str | None = None,
    code: Any = None,
    decoder: Any = None,
    *,
    rows: int = 0,
    probability: Any = None,
    class_weight: Mapping[Any, float] | Literal["balanced"] | None = None,
    params: Mapping[str, Any] | None = None,
    seed: int = 0,
    n_jobs: int | None = None,
    device: str = "cpu",
) -> Pipeline:
    """Return a model that takes raw tables: preprocessing for the learner, then the classifier.

    Parameters
    ----------
    schema : Schema
        Of the training table.
    learner : str, optional
        A name in `outputcodes.learners.LEARNERS`, for which `code`, `decoder` and `probability` are those of
        `OutputCodeClassifier`; or one in `SYSTEMS`, which takes none of them. None of these named is
        `OutputCodeClassifier()`. The code "ordinal" follows the order of the classes in the schema.
    rows : int
        How many rows there will be: many of them are binned before stumps see them.
    class_weight : "balanced" or mapping from labels to numbers, optional
    params : mapping, optional
        Parameters of the learner or system, see `set_parameters`.
    device : {"cpu", "cuda", "auto"}
        Where learners train that can do so on a GPU.

    Examples
    --------
    >>> from outputcodes.app.tables import Column
    >>> build(Schema((Column("x", "number"),)), "stumps", "dense")[-1]
    OutputCodeClassifier(code='dense', estimator=BoostedStumps(...), random_state=0)
    """
    estimator = _estimator(schema, learner, rows)
    learner = default_name() if learner is None else learner
    model = estimator
    if learner in LEARNERS:
        if isinstance(code, str) and code == "ordinal" and schema.order:
            code = fixed_code(code, np.array(schema.order), seed)
        model = OutputCodeClassifier(
            estimator,
            code=DEFAULT.code if code is None else code,
            decoder=DEFAULT.decoder if decoder is None else decoder,
            probability=probability,
            random_state=seed,
        )
    elif code is not None:
        raise ValueError(f"learner={learner!r} is a classifier by itself and takes no code; codes need a binary one.")
    known = model.get_params(deep=False)
    # The n_jobs of scikit-learn's own does nothing, or is about to.
    ours = {"n_jobs": n_jobs} if _is_ours(model) else {}
    model.set_params(**{name: value for name, value in {"random_state": seed, **ours}.items() if name in known})
    if class_weight is not None:
        _weight_classes(model, learner, class_weight, schema)
    if uses_device(learner):
        estimator.set_params(device=device)
    set_parameters(estimator, params or {}, learner)
    return Pipeline([("table", preprocessing(schema, estimator)), ("classifier", model)])


def uses_device(learner: str | None) -> bool:
    """Return whether a learner, by default the default one, can be trained on a GPU.

    >>> uses_device("kernel-svm"), uses_device("ridge")
    (True, False)
    """
    name = default_name() if learner is None else learner
    return name in LEARNERS and "device" in signature(LEARNERS[name]).parameters


def _weight_classes(model: Any, learner: str, weights: Mapping[Any, float] | str, schema: Schema) -> None:
    if "class_weight" not in model.get_params(deep=False):
        able = [name for name, make in SYSTEMS.items() if "class_weight" in make().get_params(deep=False)]
        raise ValueError(
            f"learner={learner!r} has no class weights (--class-weight). Every learner with a code has, and so have "
            f"{', '.join(able)}."
        )
    if isinstance(weights, Mapping):
        weights = by_label(weights, schema.classes, "class_weight")
    model.set_params(class_weight=weights)


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


def _estimator(schema: Schema, name: str | None, rows: int) -> Any:
    known = learners_and_systems()
    if name is not None and name not in known:
        raise unknown_name("learner", name, known)
    estimator: Any = default_learner() if name is None else known[name]()
    parameters = estimator.get_params(deep=False)
    if "categorical_features" in parameters:
        told = categorical_features(schema)
        if "max_bins" in parameters and not _is_ours(estimator):
            # scikit-learn's boosting has a bin for each category, and takes the others as ordered numbers.
            told &= _category_counts(schema) <= parameters["max_bins"]
        estimator.set_params(categorical_features=np.flatnonzero(told).tolist())
    if "bins" in parameters and rows > EXACT_UP_TO:
        estimator.set_params(bins=BINS)
    return estimator


def _category_counts(schema: Schema) -> NDArray[np.intp]:
    """The number of categories of each feature after `preprocessing`."""
    count = {column.name: len(column.categories) for column in schema.columns}
    return np.array([count[name] for kind in ORDER for name in schema.names(kind)], dtype=np.intp)
