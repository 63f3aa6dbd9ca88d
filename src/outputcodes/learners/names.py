"""The names of the learners, and how a name or an estimator becomes one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

from sklearn.base import is_classifier, is_regressor
from sklearn.linear_model import LogisticRegression

from outputcodes._ground.validation import unknown_name
from outputcodes.learners.base import Learner
from outputcodes.learners.kernel.kernel_svm import KernelSVM
from outputcodes.learners.linear.linear_svm import LinearSVM
from outputcodes.learners.linear.logistic import Logistic
from outputcodes.learners.linear.ridge import Ridge
from outputcodes.learners.per_column import PerColumn
from outputcodes.learners.single_call import SingleCall
from outputcodes.learners.trees.boosted_trees import BoostedTrees
from outputcodes.learners.trees.column_tree import ColumnTree
from outputcodes.learners.trees.stumps import BoostedStumps

LEARNERS: dict[str, Callable[[], Learner]] = {
    "boosted-trees": BoostedTrees,
    "kernel-svm": KernelSVM,
    "linear-svm": LinearSVM,
    "logistic": Logistic,
    "ridge": Ridge,
    "stumps": BoostedStumps,
    "tree": ColumnTree,
}


def default_learner() -> Learner:
    """Return the default learner, "linear-svm".

    Over the papers' data sets no other combination of learner, code and decoder has a significantly better mean rank
    than this one with all-pairs and loss-based decoding, the other defaults; docs/published-results.md, "Defaults",
    has its place. `make reproduce ARGS="defaults"` measures it again.
    """
    return LinearSVM()


def named_estimator(name: str | None, foreign: bool = False) -> Any:
    """Return the estimator of a name, or the default of None: a `foreign` one where our own learners can't serve."""
    if name is None:
        return LogisticRegression(max_iter=1000) if foreign else default_learner()
    return _by_name(name)


def estimators_in(estimator: Any) -> list[Any]:
    """Return the estimators in the classifier's `estimator`: one, one per column, or the default for None."""
    if isinstance(estimator, PerColumn):
        return estimators_in(estimator.estimator)
    if isinstance(estimator, (list, tuple)):
        return list(estimator)
    if estimator is None or isinstance(estimator, str):
        estimator = named_estimator(estimator)
    return estimator.estimators if isinstance(estimator, Learner) else [estimator]


def as_learner(
    estimator: Any,
    variant: Literal["multi-call", "single-call"] = "multi-call",
    fit_params: dict[str, Any] | None = None,
) -> Learner:
    """Resolve an estimator, a list of them, a learner, its name or None (`default_learner`) to a learner.

    Examples
    --------
    >>> from sklearn.linear_model import RidgeClassifier
    >>> as_learner(RidgeClassifier()).loss
    'squared'
    """
    if variant not in ("multi-call", "single-call"):
        raise ValueError(f"variant={variant!r} must be 'multi-call' or 'single-call'.")
    if estimator is None or isinstance(estimator, str):
        # Our own learners support neither.
        estimator = named_estimator(estimator, foreign=variant == "single-call" or bool(fit_params))
    if isinstance(estimator, Learner) and not isinstance(estimator, PerColumn):
        if variant == "single-call" or fit_params:
            named = ", ".join(fit_params or ())
            option = "variant='single-call'" if variant == "single-call" else f"fit parameters ({named})"
            raise ValueError(f"{type(estimator).__name__} trains all columns at once and does not support {option}.")
        return estimator
    inner = estimators_in(estimator)
    if not inner:
        raise ValueError("estimator=[] is an empty list; give one estimator per column of the code.")
    for one in inner:
        fitting = hasattr(one, "fit") and (hasattr(one, "predict") or is_classifier(one) or is_regressor(one))
        if isinstance(one, type) or not fitting:
            raise ValueError(
                f"estimator={one!r} must be an instance of a scikit-learn classifier or regressor, such as "
                "LogisticRegression()."
            )
    given = estimator if isinstance(estimator, PerColumn) else PerColumn(estimator)
    learner = PerColumn(
        inner if given.positional else inner[0],
        given.margin_loss,
        given.scale,
        {**(given.fit_params or {}), **(fit_params or {})},
        given.verbose,
    )
    if variant == "multi-call":
        return learner
    if given.positional:
        raise ValueError("variant='single-call' trains one estimator for all columns; give one estimator, not a list.")
    return SingleCall(learner)


def _by_name(name: str) -> Learner:
    if name in LEARNERS:
        return LEARNERS[name]()
    raise unknown_name("estimator", name, LEARNERS)
