"""Successive halving: all candidates on few rows or rounds, then ever fewer candidates on more."""

from __future__ import annotations

from math import ceil, floor, log
from numbers import Integral, Real
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import is_classifier
from sklearn.utils.multiclass import check_classification_targets

from outputcodes._ground.choosing import sorting_keys
from outputcodes._ground.validation import n_rows_of
from outputcodes.selection.searches.base import Evaluate, Results, Search


class SuccessiveHalving(Search):
    """Base of the halving searches. A subclass writes `_candidates(X, y)`, those of the first iteration."""

    def __init__(
        self,
        estimator: Any,
        *,
        factor: float,
        resource: str,
        min_resources: int | Literal["exhaust", "smallest"],
        max_resources: int | Literal["auto"],
        aggressive_elimination: bool,
        scoring: Any,
        n_jobs: int | None,
        refit: Any,
        cv: Any,
        verbose: int,
        random_state: Any,
        error_score: Any,
        return_train_score: bool,
    ) -> None:
        super().__init__(
            estimator,
            scoring=scoring,
            n_jobs=n_jobs,
            refit=refit,
            cv=cv,
            verbose=verbose,
            error_score=error_score,
            return_train_score=return_train_score,
        )
        self.factor = factor
        self.resource = resource
        self.min_resources = min_resources
        self.max_resources = max_resources
        self.aggressive_elimination = aggressive_elimination
        self.random_state = random_state

    # A bound on few rows says little about many.
    judge = "folds"
    min_resources_: int
    max_resources_: int

    def _candidates(self, X: Any, y: Any) -> list[dict[str, Any]]:
        raise NotImplementedError

    def _search(self, evaluate: Evaluate, X: Any, y: Any) -> None:
        n = n_rows_of(X)
        self._set_limits(n, y)
        candidates = self._candidates(X, y)
        self._check_candidates(candidates)
        # Logarithms are rounded as in scikit-learn, so that the iterations are the same: 243 candidates need five
        # iterations by a factor of 3, not six, because log(243, 3) is a little less than 5.
        required = 1 + floor(log(len(candidates), self.factor))
        if self.min_resources == "exhaust":
            self.min_resources_ = max(self.min_resources_, int(self.max_resources_ // self.factor ** (required - 1)))
        possible = 1 + floor(log(self.max_resources_ // self.min_resources_, self.factor))
        self.n_required_iterations_, self.n_possible_iterations_ = required, possible
        self.n_iterations_ = required if self.aggressive_elimination else min(required, possible)
        self.n_resources_, self.n_candidates_ = [], []
        for iteration in range(self.n_iterations_):
            # Aggressive elimination repeats the first size as long as all later sizes are still needed.
            power = max(0, iteration - required + possible) if self.aggressive_elimination else iteration
            size = min(int(self.factor**power * self.min_resources_), self.max_resources_)
            self.n_resources_.append(size)
            self.n_candidates_.append(len(candidates))
            more = {"iter": [iteration] * len(candidates), "n_resources": [size] * len(candidates)}
            if self.resource == "n_samples":
                results = evaluate(candidates, share=size / n, seed=self.random_state, extra=more)
            else:
                candidates = [one | {self.resource: size} for one in candidates]
                results = evaluate(candidates, extra=more)
            self._check_one_metric(results)
            candidates = [results["params"][i] for i in _best(results, iteration, ceil(len(candidates) / self.factor))]
        self.n_remaining_candidates_ = len(candidates)

    def _set_limits(self, n: int, y: Any) -> None:
        """Set the resources of the first iteration, before "exhaust" adds to them, and the most that there are."""
        by_rows = self.resource == "n_samples"
        if self.max_resources == "auto" and not by_rows:
            raise ValueError(f"max_resources='auto' is all rows; give the largest {self.resource}.")
        self.max_resources_ = n if self.max_resources == "auto" else int(self.max_resources)
        if by_rows and self.max_resources_ > n:
            raise ValueError(f"max_resources={self.max_resources} is more than the {n} rows; use 'auto' for all rows.")
        if isinstance(self.min_resources, Integral):
            self.min_resources_ = int(self.min_resources)
        else:
            self.min_resources_ = 2 * self.n_splits_ * _n_labels(self.estimator, y) if by_rows else 1
        if self.min_resources_ > self.max_resources_:
            given = "" if self.min_resources_ == self.min_resources else f", {self.min_resources_} here,"
            raise ValueError(
                f"min_resources={self.min_resources!r}{given} must be at most max_resources, {self.max_resources_}; "
                "use fewer folds or a smaller min_resources."
            )

    def _check_candidates(self, candidates: list[dict[str, Any]]) -> None:
        if not candidates:
            raise ValueError("There are no candidates: no fits were performed.")
        if self.resource != "n_samples" and any(self.resource in one for one in candidates):
            raise ValueError(f"resource={self.resource!r} is one of the searched parameters; remove it from the grid.")

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if not isinstance(self.factor, Real) or not self.factor > 1:
            raise ValueError(f"factor={self.factor!r} must be a number above 1, such as 2 or 3.")
        check_count("min_resources", self.min_resources, ("exhaust", "smallest"))
        check_count("max_resources", self.max_resources, ("auto",))
        if not isinstance(self.aggressive_elimination, bool | np.bool_):
            raise ValueError(f"aggressive_elimination={self.aggressive_elimination!r} must be True or False.")
        if self.resource != "n_samples" and self.resource not in self.estimator.get_params():
            raise ValueError(
                f"resource={self.resource!r} must be 'n_samples' or a parameter of {type(self.estimator).__name__}."
            )
        if isinstance(self.scoring, list | tuple | dict | set):
            raise ValueError(f"scoring={self.scoring!r} has several metrics; {type(self).__name__} compares by one.")

    def _check_one_metric(self, results: Results) -> None:
        # What a function returns is known only now.
        if "mean_test_score" not in results:
            raise ValueError(
                f"scoring={self.scoring!r} returns several metrics; {type(self).__name__} compares by one: return a "
                "number."
            )

    def _choose(self, results: Results) -> None:
        super()._choose(results)
        # There is one metric, so that a candidate chosen by a function has a score too.
        self.best_score_ = float(results["mean_test_score"][self.best_index_])

    def _best_index(self, results: Results, metric: Any) -> int:
        if callable(self.refit):
            return super()._best_index(results, metric)
        return int(_best(results, int(results["iter"].max()), 1)[0])


def check_count(name: str, value: Any, words: tuple[str, ...]) -> None:
    """Raise ValueError unless a parameter is a positive integer or one of some words."""
    counts = isinstance(value, Integral) and not isinstance(value, bool) and int(value) > 0
    if not counts and not (isinstance(value, str) and value in words):
        raise ValueError(f"{name}={value!r} must be an integer of at least 1, or {' or '.join(map(repr, words))}.")


def _n_labels(estimator: Any, y: Any) -> int:
    """Return the number of different labels: 2 for multilabel y, and 1 for what is not a classifier."""
    if not is_classifier(estimator):
        return 1
    check_classification_targets(y)
    return 2 if sparse.issparse(y) else len(np.unique(np.asarray(y)))


def _best(results: Results, iteration: int, count: int) -> NDArray[np.intp]:
    """Return the numbers of the best candidates of an iteration, in ascending order of their scores as in scikit-learn.

    Of equal candidates the first ones are kept. In scikit-learn it depends on the processor which of them are.
    """
    own = np.flatnonzero(results["iter"] == iteration)
    scores = results["mean_test_score"][own]
    worst = np.nanmin(scores) - 1 if not np.isnan(scores).all() else 0.0
    filled = np.where(np.isnan(scores), worst, scores)
    keys = sorting_keys(filled) if np.isfinite(filled).all() else filled
    kept = np.sort(np.argsort(-keys, kind="stable")[:count])
    return own[kept[np.argsort(keys[kept], kind="stable")]]
