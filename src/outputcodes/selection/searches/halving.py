"""HalvingSearch and HalvingRandomSearch: successive halving of a grid, or of candidates drawn from distributions."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from outputcodes.selection.searches.grid import drawn_from, grid_of
from outputcodes.selection.searches.successive import SuccessiveHalving, check_count


class HalvingSearch(SuccessiveHalving):
    """Search by successive halving; a replacement for `HalvingGridSearchCV`.

    All candidates are evaluated on few rows; the best of them, one in `factor`, on `factor` times as many rows, and so
    on. See `GridSearch` for what candidates share.

    Parameters
    ----------
    estimator : classifier
    param_grid : dict, list of dicts or None, default=None
        As in `GridSearch`.
    factor : float, default=3
        How many times fewer candidates, and more rows, each iteration has.
    resource : str, default="n_samples"
        What grows: the rows, or an integer parameter of the estimator, such as "n_rounds".
    min_resources : {"exhaust", "smallest"} or int, default="exhaust"
        The rows of the first iteration. "smallest" is twice the number of folds per class, or 1 for a parameter;
        "exhaust" is as many as let the last iteration have nearly all.
    max_resources : "auto" or int, default="auto"
        The most rows of an iteration; "auto" is all.
    aggressive_elimination : bool, default=False
        Where there are too few rows for the iterations that the candidates need: True repeats the first iteration, on
        fewer candidates each time, until the last iteration has at most `factor` of them.
    random_state : int, RandomState or None
        Seeds the choice of rows.
    refit : bool or function, default=True
        A function gets `cv_results_` and returns `best_index_`, as the documentation of `HalvingGridSearchCV` says.
        (scikit-learn 1.9 accepts the function, but does not call it.)
    return_train_score : bool, default=True
        False saves the predictions for the training rows, and copies of these rows.
    scoring, n_jobs, cv, verbose, error_score : as in `GridSearch`
        `scoring` is one metric.

    Attributes
    ----------
    n_resources_, n_candidates_ : list of int
        Of each iteration.
    n_remaining_candidates_ : int
        Those that another iteration would have.
    min_resources_, max_resources_ : int
        Of the first iteration, and the most that there are.
    n_iterations_, n_required_iterations_, n_possible_iterations_ : int
        The iterations that were run, that leave at most `factor` candidates for the last one, and that the resources
        allow.
    cv_results_ : dict of arrays
        As in `GridSearch`, with "iter" and "n_resources". Ranks are those among all iterations.
    best_index_, best_params_, best_score_ :
        The best candidate of the last iteration.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from outputcodes import OutputCodeClassifier
    >>> X, y = load_digits(return_X_y=True)
    >>> grid = {"estimator__alpha": [0.01, 0.1, 1, 10, 100, 1000]}
    >>> search = HalvingSearch(OutputCodeClassifier("ridge"), grid, random_state=0).fit(X, y)
    >>> search.n_candidates_, search.n_resources_
    ([6, 2], [599, 1797])
    """

    def __init__(
        self,
        estimator: Any,
        param_grid: Any = None,
        *,
        factor: float = 3,
        resource: str = "n_samples",
        min_resources: int | Literal["exhaust", "smallest"] = "exhaust",
        max_resources: int | Literal["auto"] = "auto",
        aggressive_elimination: bool = False,
        scoring: Any = None,
        n_jobs: int | None = None,
        refit: Any = True,
        cv: Any = 5,
        verbose: int = 0,
        random_state: Any = None,
        error_score: Any = np.nan,
        return_train_score: bool = True,
    ) -> None:
        super().__init__(
            estimator,
            factor=factor,
            resource=resource,
            min_resources=min_resources,
            max_resources=max_resources,
            aggressive_elimination=aggressive_elimination,
            scoring=scoring,
            n_jobs=n_jobs,
            refit=refit,
            cv=cv,
            verbose=verbose,
            random_state=random_state,
            error_score=error_score,
            return_train_score=return_train_score,
        )
        self.param_grid = param_grid

    def _candidates(self, X: Any, y: Any) -> list[dict[str, Any]]:
        return grid_of(self.estimator, self.param_grid, X, y)


class HalvingRandomSearch(SuccessiveHalving):
    """Search by successive halving of candidates drawn at random; a replacement for `HalvingRandomSearchCV`.

    See `HalvingSearch`, with which it shares everything but its candidates.

    Parameters
    ----------
    estimator : classifier
    param_distributions : dict, list of dicts or None, default=None
        As in `RandomSearch`.
    n_candidates : "exhaust" or int, default="exhaust"
        The candidates of the first iteration. "exhaust" is as many as let the last iteration have nearly all rows.
    min_resources : {"smallest", "exhaust"} or int, default="smallest"
        As in `HalvingSearch`; "exhaust" needs a number as `n_candidates`.
    random_state : int, RandomState or None
        Seeds the candidates and the choice of rows.
    factor, resource, max_resources, aggressive_elimination, refit, return_train_score : as in `HalvingSearch`
    scoring, n_jobs, cv, verbose, error_score : as in `HalvingSearch`

    Examples
    --------
    >>> from scipy.stats import loguniform
    >>> from sklearn.datasets import load_iris
    >>> from outputcodes import OutputCodeClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> drawn = {"estimator__alpha": loguniform(1e-3, 1e3)}
    >>> search = HalvingRandomSearch(OutputCodeClassifier("ridge"), drawn, random_state=0).fit(X, y)
    >>> search.n_candidates_, search.n_resources_
    ([5, 2], [30, 90])
    """

    def __init__(
        self,
        estimator: Any,
        param_distributions: Any = None,
        *,
        n_candidates: int | Literal["exhaust"] = "exhaust",
        factor: float = 3,
        resource: str = "n_samples",
        min_resources: int | Literal["exhaust", "smallest"] = "smallest",
        max_resources: int | Literal["auto"] = "auto",
        aggressive_elimination: bool = False,
        scoring: Any = None,
        n_jobs: int | None = None,
        refit: Any = True,
        cv: Any = 5,
        verbose: int = 0,
        random_state: Any = None,
        error_score: Any = np.nan,
        return_train_score: bool = True,
    ) -> None:
        super().__init__(
            estimator,
            factor=factor,
            resource=resource,
            min_resources=min_resources,
            max_resources=max_resources,
            aggressive_elimination=aggressive_elimination,
            scoring=scoring,
            n_jobs=n_jobs,
            refit=refit,
            cv=cv,
            verbose=verbose,
            random_state=random_state,
            error_score=error_score,
            return_train_score=return_train_score,
        )
        self.param_distributions = param_distributions
        self.n_candidates = n_candidates

    def _candidates(self, X: Any, y: Any) -> list[dict[str, Any]]:
        count = self.n_candidates
        if count == "exhaust":
            count = self.max_resources_ // self.min_resources_
        return drawn_from(self.estimator, self.param_distributions, count, self.random_state, X, y)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_count("n_candidates", self.n_candidates, ("exhaust",))
        if self.n_candidates == self.min_resources == "exhaust":
            raise ValueError(
                "n_candidates='exhaust' and min_resources='exhaust' depend on each other; set one of them to a number, "
                "or min_resources='smallest'."
            )
