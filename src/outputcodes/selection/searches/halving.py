"""HalvingSearch: all candidates on few rows or rounds, then ever fewer candidates on more."""

from __future__ import annotations

from math import ceil, floor, log
from numbers import Integral
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from outputcodes._ground.choosing import sorting_keys
from outputcodes._ground.validation import n_rows_of
from outputcodes.selection.searches.base import Evaluate, Results, Search
from outputcodes.selection.searches.grid import grid_of


class HalvingSearch(Search):
    """Search by successive halving; a replacement for `HalvingGridSearchCV`.

    All candidates are evaluated on few rows; the best of them, one in `factor`, on `factor` times as many rows, and so
    on. See `GridSearch` for what candidates share.

    Parameters
    ----------
    estimator : classifier
    param_grid : dict, list of dicts or None, default=None
        As in `GridSearch`.
    factor : int, default=3
        How many times fewer candidates, and more rows, each iteration has.
    resource : str, default="n_samples"
        What grows: the rows, or an integer parameter of the estimator, such as "n_rounds".
    min_resources : {"exhaust", "smallest"} or int, default="exhaust"
        The rows of the first iteration. "smallest" is twice the number of folds per class, or 1 for a parameter;
        "exhaust" is as many as let the last iteration have nearly all.
    max_resources : "auto" or int, default="auto"
        The most rows of an iteration; "auto" is all.
    random_state : int, RandomState or None
        Seeds the choice of rows.
    scoring, n_jobs, refit, cv, verbose, error_score, return_train_score : as in `GridSearch`
        One metric; `cv` must return the same folds each time it is asked. `refit` is True or False.

    Attributes
    ----------
    n_resources_, n_candidates_ : list of int
        Of each iteration.
    cv_results_ : dict of arrays
        As in `GridSearch`, with "iter" and "n_resources".
    best_index_ : int
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
        factor: int = 3,
        resource: str = "n_samples",
        min_resources: int | Literal["exhaust", "smallest"] = "exhaust",
        max_resources: int | Literal["auto"] = "auto",
        scoring: Any = None,
        n_jobs: int | None = None,
        refit: bool = True,
        cv: Any = 5,
        verbose: int = 0,
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
        self.param_grid = param_grid
        self.factor = factor
        self.resource = resource
        self.min_resources = min_resources
        self.max_resources = max_resources
        self.random_state = random_state

    # A bound on few rows says little about many.
    judge = "folds"

    def _search(self, evaluate: Evaluate, X: Any, y: Any) -> None:
        candidates, n = grid_of(self.estimator, self.param_grid, X, y), n_rows_of(X)
        if self.resource != "n_samples" and any(self.resource in one for one in candidates):
            raise ValueError(f"resource={self.resource!r} is one of the searched parameters; remove it from the grid.")
        needed = 1 + floor(log(len(candidates), self.factor) + 1e-9)
        least, most = self._limits(n, len(np.unique(np.asarray(y), axis=0)), needed)
        possible = 1 + floor(log(most // least, self.factor) + 1e-9)
        self.n_resources_, self.n_candidates_ = [], []
        for iteration in range(min(needed, possible)):
            size = min(self.factor**iteration * least, most)
            self.n_resources_.append(size)
            self.n_candidates_.append(len(candidates))
            more = {"iter": [iteration] * len(candidates), "n_resources": [size] * len(candidates)}
            if self.resource == "n_samples":
                results = evaluate(candidates, share=size / n, seed=self.random_state, extra=more)
            else:
                candidates = [one | {self.resource: size} for one in candidates]
                results = evaluate(candidates, extra=more)
            candidates = [results["params"][i] for i in _best(results, iteration, ceil(len(candidates) / self.factor))]

    def _limits(self, n: int, n_classes: int, needed: int) -> tuple[int, int]:
        """Return the resources of the first iteration, and the most that there are."""
        if self.max_resources == "auto" and self.resource != "n_samples":
            raise ValueError(f"max_resources='auto' is all rows; give the largest {self.resource}.")
        most = n if self.max_resources == "auto" else int(self.max_resources)
        if isinstance(self.min_resources, Integral):
            least = int(self.min_resources)
        else:
            least = 2 * self.n_splits_ * n_classes if self.resource == "n_samples" else 1
            if self.min_resources == "exhaust":
                least = max(least, most // self.factor ** (needed - 1))
        if not 0 < least <= most:
            raise ValueError(f"min_resources={least} must be at least 1 and at most max_resources, {most}.")
        return least, most

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if not isinstance(self.factor, Integral) or self.factor < 2:
            raise ValueError(f"factor={self.factor!r} must be an integer of at least 2.")
        if not isinstance(self.refit, bool) or isinstance(self.scoring, list | tuple | dict | set):
            raise ValueError("HalvingSearch compares by one metric: refit is True or False, and scoring one metric.")

    def _best_index(self, results: Results, metric: Any) -> int:
        return int(_best(results, int(results["iter"].max()), 1)[0])


def _best(results: Results, iteration: int, count: int) -> NDArray[np.intp]:
    """Return the numbers of the best candidates of an iteration, the first ones if they are equal."""
    own = np.flatnonzero(results["iter"] == iteration)
    scores = results["mean_test_score"][own]
    worst = np.nanmin(scores) - 1 if np.isfinite(scores).any() else 0.0
    order = np.argsort(-sorting_keys(np.where(np.isnan(scores), worst, scores)), kind="stable")
    return own[order[:count]]
