"""GridSearch and RandomSearch: candidates of a grid, or drawn from distributions, that share their trainings."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from sklearn.model_selection import ParameterGrid, ParameterSampler

from outputcodes.selection.searches.base import Evaluate, Search
from outputcodes.selection.spaces import space_of


class GridSearch(Search):
    """Search over a grid of parameters; a replacement for `GridSearchCV` that shares work between candidates.

    The results are those of `GridSearchCV` with the same folds, up to the tolerance of the solvers. What the candidates
    have in common is done once:

    - the folds share what the learner prepares (kernels, rotations, products), and values of γ share the distances
      of 32 features or more;
    - C and α go along a path, where each training starts from the ones before or shares their sums, and columns of
      `KernelSVM` that another C leaves as they are aren't trained again; the folds of Ridge share their sums, and the
      last training, on all rows, uses what was prepared for the folds;
    - candidates that differ only in `decoder` or `probability` are read from the same margins;
    - fewer rounds of boosters, `BoostedStumps` and `BoostedTrees` are read from one training, unless held-out rows end
      it (`validation_fraction`);
    - the first steps of a pipeline are fitted once per fold.

    Any other classifier is trained for each candidate and fold.

    Parameters
    ----------
    estimator : classifier
        A classifier of this package or any other, or a pipeline that ends in one.
    param_grid : dict, list of dicts or None, default=None
        As for `GridSearchCV`. None is the grid of `outputcodes.selection.space_of`, of at most 24 candidates.
    scoring, refit, cv, error_score, return_train_score :
        As for `GridSearchCV`, several metrics and functions included.
    n_jobs : int, optional
        The number of threads of each training; the results don't depend on it.
    judge : {"folds", "leave-one-out"}, default="folds"
        "leave-one-out" trains each candidate once, on all rows, and counts the errors of leaving one out: exactly for
        `Ridge`, by a bound or an estimate for `KernelSVM`, as `BoundSearch` does.
    verbose : int, default=0
        1 shows the trainings and the time left.
    pre_dispatch : int or str, default="2*n_jobs"
        Has no effect: trainings are not sent to other processes. It is accepted because `GridSearchCV` has it.

    Attributes
    ----------
    cv_results_ : dict of arrays
        As in `GridSearchCV`. Times are shared by the candidates that share a training. With judge="leave-one-out",
        "loo_kind" is "exact", "bound" or "estimate".
    best_estimator_, best_params_, best_score_, best_index_, scorer_, n_splits_, refit_time_, multimetric_, classes_,
    n_features_in_, feature_names_in_ : as in `GridSearchCV`
        Candidates within 1e-9 of the best are equal, and the first wins.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from outputcodes import OutputCodeClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = OutputCodeClassifier("kernel-svm")
    >>> search = GridSearch(model, {"estimator__C": [0.1, 1, 10], "decoder": ["loss", "vote"]}).fit(X, y)
    >>> search.best_params_
    {'decoder': 'loss', 'estimator__C': 10}
    >>> len(search.cv_results_["mean_test_score"])
    6
    """

    def __init__(
        self,
        estimator: Any,
        param_grid: Any = None,
        *,
        scoring: Any = None,
        n_jobs: int | None = None,
        refit: Any = True,
        cv: Any = None,
        judge: Literal["folds", "leave-one-out"] = "folds",
        verbose: int = 0,
        pre_dispatch: Any = "2*n_jobs",
        error_score: Any = np.nan,
        return_train_score: bool = False,
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
        self.param_grid = param_grid
        self.judge = judge
        self.pre_dispatch = pre_dispatch

    def _search(self, evaluate: Evaluate, X: Any, y: Any) -> None:
        evaluate(grid_of(self.estimator, self.param_grid, X, y))


class RandomSearch(Search):
    """Search over parameters drawn at random; a replacement for `RandomizedSearchCV`.

    See `GridSearch`, with which it shares everything but its candidates.

    Parameters
    ----------
    estimator : classifier
    param_distributions : dict, list of dicts or None, default=None
        As for `RandomizedSearchCV`. None is what `outputcodes.selection.space_of` returns.
    n_iter : int, default=10
        The number of candidates.
    random_state : int, RandomState or None
        Seeds the candidates.
    scoring, n_jobs, refit, cv, judge, verbose, pre_dispatch, error_score, return_train_score : as in `GridSearch`

    Examples
    --------
    >>> from scipy.stats import loguniform
    >>> from sklearn.datasets import load_iris
    >>> from outputcodes import OutputCodeClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> grid = {"estimator__alpha": loguniform(1e-3, 1e3)}
    >>> search = RandomSearch(OutputCodeClassifier("ridge"), grid, n_iter=5, random_state=0).fit(X, y)
    >>> len(search.cv_results_["params"])
    5
    """

    def __init__(
        self,
        estimator: Any,
        param_distributions: Any = None,
        *,
        n_iter: int = 10,
        scoring: Any = None,
        n_jobs: int | None = None,
        refit: Any = True,
        cv: Any = None,
        judge: Literal["folds", "leave-one-out"] = "folds",
        verbose: int = 0,
        pre_dispatch: Any = "2*n_jobs",
        random_state: Any = None,
        error_score: Any = np.nan,
        return_train_score: bool = False,
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
        self.param_distributions = param_distributions
        self.n_iter = n_iter
        self.judge = judge
        self.pre_dispatch = pre_dispatch
        self.random_state = random_state

    def _search(self, evaluate: Evaluate, X: Any, y: Any) -> None:
        evaluate(drawn_from(self.estimator, self.param_distributions, self.n_iter, self.random_state, X, y))


# Candidates of a grid that nobody named.
MOST_CANDIDATES = 24


def grid_of(estimator: Any, param_grid: Any, X: Any, y: Any) -> list[dict[str, Any]]:
    """Return the candidates of a grid, or of the estimator's own space."""
    grid = space_of(estimator, X, y).grid(MOST_CANDIDATES) if param_grid is None else param_grid
    return list(ParameterGrid(grid))


def drawn_from(
    estimator: Any, param_distributions: Any, count: int, random_state: Any, X: Any, y: Any
) -> list[dict[str, Any]]:
    """Return candidates drawn from distributions, or from the estimator's own space."""
    if param_distributions is None:
        param_distributions = space_of(estimator, X, y).distributions()
    return list(ParameterSampler(param_distributions, count, random_state=random_state))
