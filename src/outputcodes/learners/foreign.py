"""How the output of scikit-learn estimators becomes margins: which method, which loss, which scale.

A margin must be the f of the loss that its learner minimises. Log-odds are 2f for the logistic loss
log(1 + e^(-2z)), so they are halved; AdaBoost divides its f by the sum of its weights, so it is multiplied by them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn import get_config
from sklearn.base import is_regressor
from sklearn.utils import InputTags, get_tags
from sklearn.utils.metadata_routing import get_routing_for_object
from sklearn.utils.validation import has_fit_parameter

from outputcodes._ground.sizes import LARGEST_MARGIN, in_single_precision
from outputcodes.learners.attributes import FeatureAttributes
from outputcodes.learners.base import Learner

Array = NDArray[np.float64]

SMALLEST_PROBABILITY = 1e-12


class Reading(NamedTuple):
    """How an output becomes a margin: f = scale · output is the margin of `loss`."""

    loss: str | None
    scale: float


def _adaboost(estimator: Any) -> Reading:
    # Its output is 4f divided by the sum of its weights, which is known once it is fitted.
    return Reading("exponential", float(np.sum(getattr(estimator, "estimator_weights_", 4.0))) / 4)


_LOG_ODDS = Reading("logistic", 0.5)
_HINGE = Reading("hinge", 1.0)
_SQUARED_HINGE = Reading("squared-hinge", 1.0)
_SQUARED = Reading("squared", 1.0)

# How the output of `decision_function` becomes margins, by class name: a reading, or one for each value of the
# estimator's `loss`, or a function of the estimator.
DECISION_FUNCTIONS: dict[str, Reading | dict[str, Reading] | Callable[[Any], Reading]] = {
    "AdaBoostClassifier": _adaboost,
    "GradientBoostingClassifier": {"log_loss": _LOG_ODDS, "exponential": Reading("exponential", 1.0)},
    "HistGradientBoostingClassifier": _LOG_ODDS,
    "LinearDiscriminantAnalysis": _LOG_ODDS,
    "LinearSVC": {"hinge": _HINGE, "squared_hinge": _SQUARED_HINGE},
    "LogisticRegression": _LOG_ODDS,
    "LogisticRegressionCV": _LOG_ODDS,
    "NuSVC": _HINGE,
    "PassiveAggressiveClassifier": {"hinge": _HINGE, "squared_hinge": _SQUARED_HINGE},
    "Perceptron": _HINGE,
    "QuadraticDiscriminantAnalysis": _LOG_ODDS,
    "RidgeClassifier": _SQUARED,
    "RidgeClassifierCV": _SQUARED,
    "SGDClassifier": {
        "hinge": _HINGE,
        "log_loss": _LOG_ODDS,
        "modified_huber": _SQUARED_HINGE,
        "perceptron": _HINGE,
        "squared_hinge": _SQUARED_HINGE,
        # Regression losses on ±1.
        "squared_error": _SQUARED,
        "huber": _SQUARED,
        "epsilon_insensitive": _SQUARED,
        "squared_epsilon_insensitive": _SQUARED,
    },
    "SVC": _HINGE,
}

# Where the output of an estimator with a `coef_` is X @ coef_ + intercept_, and the exceptions: a function of that.
LINEAR_MODULES = ("sklearn.discriminant_analysis", "sklearn.linear_model.", "sklearn.svm.")
WITH_A_LINK = frozenset({"GammaRegressor", "PoissonRegressor", "TweedieRegressor"})

# The attributes in which wrappers keep the inner estimator whose output they return, the fitted one first.
_INNER = ("best_estimator_", "final_estimator_", "estimator_", "final_estimator", "estimator")


def input_tags(estimator: Any) -> Any:
    """Return the tags of the X that an estimator accepts, including text, which pipelines don't declare themselves."""
    if not hasattr(estimator, "__sklearn_tags__"):
        return InputTags()
    tags = get_tags(estimator).input_tags
    tags.two_d_array = get_tags(entrance(estimator)).input_tags.two_d_array
    return tags


def accepted_input(estimators: Sequence[Any]) -> Any:
    """Return the tags of the X that all the estimators accept."""
    each, common = [input_tags(one) for one in estimators], InputTags()
    for name in ("sparse", "allow_nan", "two_d_array", "pairwise"):
        setattr(common, name, all(getattr(one, name) for one in each))
    return common


def may_impute(estimators: Sequence[Any]) -> bool:
    """Return whether X is to reach an estimator with its NaN: a pipeline may begin with an imputer.

    Where none of its steps takes NaN, one of them will say so.
    """
    return any(entrance(one) is not one for one in estimators)


def refuses_weight(estimator: Any) -> bool:
    """Return whether metadata routing was told not to pass sample weights to the estimator."""
    own = getattr(get_routing_for_object(estimator), "fit", None)
    return own is not None and own.requests.get("sample_weight") is False


def entrance(estimator: Any) -> Any:
    """Return the estimator that receives X first: a pipeline's first step, a search's candidate."""
    if hasattr(estimator, "steps"):
        return entrance(estimator.steps[0][1])
    return entrance(estimator.estimator) if _is_search(estimator) else estimator


def _is_search(estimator: Any) -> bool:
    return hasattr(estimator, "refit") and hasattr(estimator, "cv") and hasattr(estimator, "estimator")


def returns_signs_only(estimator: Any) -> bool:
    """Return whether a classifier has only `predict`, so that its margins are ±1."""
    return not is_regressor(estimator) and not (
        hasattr(estimator, "decision_function") or hasattr(estimator, "predict_proba")
    )


def reading_of(estimator: Any) -> Reading:
    """Return the loss and the scale of an estimator's margins.

    Examples
    --------
    >>> from sklearn.linear_model import SGDClassifier
    >>> reading_of(SGDClassifier(loss="log_loss"))
    Reading(loss='logistic', scale=0.5)
    """
    if isinstance(estimator, Learner):
        return Reading(estimator.loss, 1.0)
    if is_regressor(estimator):
        return _SQUARED
    if hasattr(estimator, "decision_function"):
        return _decision_reading(estimator)
    if hasattr(estimator, "predict_proba"):
        return Reading("logistic", 1.0)
    return Reading("hamming", 1.0)


def _decision_reading(estimator: Any) -> Reading:
    for base in type(estimator).__mro__:
        known = DECISION_FUNCTIONS.get(base.__name__) if base.__module__.startswith("sklearn.") else None
        if isinstance(known, dict):
            return known.get(estimator.loss, _HINGE)
        if known is not None:
            return known if isinstance(known, Reading) else known(estimator)
    if hasattr(estimator, "steps"):
        return _decision_reading(estimator.steps[-1][1])
    inner = next((getattr(estimator, name) for name in _INNER if hasattr(estimator, name)), None)
    return _HINGE if inner is None else _decision_reading(inner)


def linear_terms(estimator: Any) -> tuple[Array, float] | None:
    """Return the weights (d,) and the intercept of a fitted estimator's output, or None if it is not linear in X.

    >>> from sklearn.linear_model import LinearRegression
    >>> weights, intercept = linear_terms(LinearRegression().fit([[0.0], [1.0]], [1.0, 3.0]))
    >>> weights, round(intercept, 6)
    (array([2.]), 1.0)
    """
    ours = isinstance(estimator, FeatureAttributes)
    bases = type(estimator).__mro__
    known = any(base.__module__.startswith(LINEAR_MODULES) for base in bases)
    linked = not WITH_A_LINK.isdisjoint(base.__name__ for base in bases)
    # Some estimators, such as support vector machines, are linear with some parameters only.
    if not (ours or (known and not linked)) or not hasattr(estimator, "coef_"):
        return None
    weights = estimator.coef_.toarray() if hasattr(estimator.coef_, "toarray") else estimator.coef_
    return np.asarray(weights, dtype=np.float64).ravel(), float(np.ravel(estimator.intercept_)[0])


def importances_of(estimator: Any) -> Array | None:
    """Return `feature_importances_` of a fitted estimator, or None."""
    found = getattr(estimator, "feature_importances_", None)
    return None if found is None else np.asarray(found, dtype=np.float64)


def targets_of(estimator: Any, signs: NDArray[np.int8]) -> NDArray[Any]:
    """Return the training targets: ±1 for a regressor, classes 0 and 1 (some require these) for a classifier."""
    return signs.astype(np.float64) if is_regressor(estimator) else (signs > 0).astype(np.intp)


def output_of(method: Callable[[Any], Any], X: Any) -> Array:
    """Return the output of a fitted estimator's method on X.

    If the estimator refuses features that single precision can't hold, they count as the largest number that it can.
    """
    try:
        # The conversion of such features overflows before the estimator refuses them.
        with np.errstate(over="ignore", invalid="ignore"):
            output = method(X)
    except ValueError:
        if (cut := in_single_precision(X)) is X:
            raise
        output = method(cut)
    return np.asarray(output, dtype=np.float64)


def read_margins(estimator: Any, X: Any, scale: float) -> Array:
    """Return the margins of one fitted column, positive on the side of +1."""
    if not is_regressor(estimator) and hasattr(estimator, "decision_function"):
        f = output_of(estimator.decision_function, X)
        f = f[:, -1] - f[:, 0] if f.ndim == 2 and f.shape[1] == 2 else f.reshape(-1)
    elif not is_regressor(estimator) and hasattr(estimator, "predict_proba"):
        positive = list(estimator.classes_).index(1)
        p = output_of(estimator.predict_proba, X)[:, positive]
        p = np.clip(p, SMALLEST_PROBABILITY, 1 - SMALLEST_PROBABILITY)
        f = np.log(p / (1 - p)) / 2
    else:
        f = output_of(estimator.predict, X).reshape(-1)
        f = f if is_regressor(estimator) else 2 * f - 1
    if np.isnan(f).any():
        raise ValueError(f"{estimator!r} returned NaN for row {int(np.flatnonzero(np.isnan(f))[0])} of X.")
    return np.clip(scale * f, -LARGEST_MARGIN, LARGEST_MARGIN)


def weight_argument(estimator: Any) -> str | None:
    """Return the name of the argument of `estimator.fit` for sample weights, or None if it has none."""
    if has_fit_parameter(estimator, "sample_weight"):
        return "sample_weight"
    if hasattr(estimator, "steps"):
        name, last = estimator.steps[-1]
        inner = weight_argument(last)
        # With metadata routing on, a pipeline routes by request and takes no prefixed names.
        return inner if inner is None or get_config()["enable_metadata_routing"] else f"{name}__{inner}"
    return weight_argument(estimator.estimator) if _is_search(estimator) else None
