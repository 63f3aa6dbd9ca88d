"""BoundSearch: parameter search by leave-one-out bounds, training every candidate once."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from numbers import Real
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import rankdata
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone
from sklearn.model_selection import ParameterGrid
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from outputcodes._ground import progress
from outputcodes._ground.blocks import one_blas_thread
from outputcodes._ground.choosing import sorting_key
from outputcodes._ground.validation import as_seed
from outputcodes.classifier import OutputCodeClassifier
from outputcodes.selection.leave_one_out import LeaveOneOut, as_judged, judge, refuse_multilabel
from outputcodes.training import TrainedCode


def _of_the_best(name: str) -> Callable[[Any], bool]:
    def check(search: BoundSearch) -> bool:
        if not search.refit:
            raise AttributeError(f"BoundSearch(refit=False) keeps no classifier and has no {name}; set refit=True.")
        getattr(getattr(search, "best_estimator_", search.estimator), name)
        return True

    return check


class BoundSearch(MetaEstimatorMixin, BaseEstimator):
    """Parameter search that trains every candidate once and scores it by its leave-one-out bound.

    Parameters
    ----------
    estimator : OutputCodeClassifier
        A classifier based on `KernelSVM`, whose leave-one-out error is bounded by `outputcodes.bounds.loo_error_bound`
        (estimated with a free bias or an indefinite kernel), or on `Ridge`, whose leave-one-out error is exact.
    param_grid : dict or list of dicts
        As for `GridSearchCV`: "estimator__gamma", "estimator__C", "decoder", "code", …
    refit : bool, default=True
        Whether to keep the best classifier, as trained during the search, and predict with it.
    ties_as_errors : bool, default=True
        Whether the bound counts a tie with a wrong class as an error, as in `leave_one_out`.
    verbose : int, default=0
        1 shows the candidates and the time left, as `OutputCodeClassifier(verbose=1)` does.

    Attributes
    ----------
    best_params_, best_index_ : the candidate with the smallest leave-one-out error
        Ties are broken by the smallest gamma, then the smallest C (for Ridge, the largest alpha), then the order of
        the grid.
    best_score_ : float
        1 − the leave-one-out error of the best candidate.
    best_estimator_ : OutputCodeClassifier
        The best classifier. Only available if `refit=True`.
    cv_results_ : dict of arrays
        The results in the order of the grid: "params", "param_…", "loo_error", "loo_kind" ("exact", "bound" or
        "estimate"), "mean_test_score" (1 − loo_error), "rank_test_score" and "mean_fit_time" in seconds.
    classes_, n_features_in_, feature_names_in_ : as in scikit-learn

    Notes
    -----
    Candidates that differ only in gamma and C are trained in sequence, by increasing gamma and then by increasing C.
    Each one starts from the dual variables of the previous one. Kernels that differ only in gamma share squared
    distances. Where gamma is an integer multiple of the previous gamma, as in grids of powers of 2 or 10, the kernel
    values are computed as powers of the previous ones. The code is drawn once for all candidates, unless the grid
    varies `random_state`.

    As a function of gamma, the bound has its minimum near the minimum of the error. As a function of C it need not:
    the bound counts dual variables, which may be as large as C. Set C to a single value, or choose it by
    cross-validation.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from outputcodes import OutputCodeClassifier
    >>> from outputcodes.learners import KernelSVM
    >>> X, y = load_iris(return_X_y=True)
    >>> model = OutputCodeClassifier(KernelSVM(bias="folded"), code="one-vs-all")
    >>> search = BoundSearch(model, {"estimator__gamma": [0.01, 0.1, 1.0]}).fit(X, y)
    >>> search.best_params_
    {'estimator__gamma': 1.0}
    >>> search.cv_results_["loo_error"].round(3)
    array([0.7  , 0.32 , 0.167])
    """

    def __init__(
        self, estimator: Any, param_grid: Any, *, refit: bool = True, ties_as_errors: bool = True, verbose: int = 0
    ) -> None:
        self.estimator = estimator
        self.param_grid = param_grid
        self.refit = refit
        self.ties_as_errors = ties_as_errors
        self.verbose = verbose

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Train and score every candidate."""
        as_judged(self.estimator)
        refuse_multilabel(y)
        candidates = list(ParameterGrid(self.param_grid))
        if not candidates:
            raise ValueError(f"param_grid={self.param_grid!r} holds no candidate; use {{}} for the estimator as is.")
        if isinstance(self.estimator.estimator, str) and any(
            name.startswith("estimator__") for params in candidates for name in params
        ):
            raise ValueError(
                f"param_grid={self.param_grid!r} varies parameters of estimator={self.estimator.estimator!r}, which "
                "is a name; pass an instance, KernelSVM() or Ridge()."
            )
        # Candidates share no objects with each other or with the user's grid.
        models = [clone(self.estimator).set_params(**clone(params, safe=False)) for params in candidates]
        learners = [as_judged(model) for model in models]
        for doubt in sorted({doubt for learner in learners if (doubt := learner.leave_one_out_doubt())}):
            warnings.warn(doubt, UserWarning, stacklevel=2)
        seed = as_seed(self.estimator.random_state)
        judged: dict[int, LeaveOneOut] = {}
        seconds = np.empty(len(candidates))
        best: tuple[Any, ...] = (np.inf,)
        before: TrainedCode | None = None
        with progress.showing(self.verbose), progress.phase("BoundSearch", len(candidates), "candidates"):
            for done, index in enumerate(_path(candidates)):
                progress.reached(done, len(candidates), "candidates", str(candidates[index]))
                start = time.perf_counter()
                model, learner = models[index], learners[index]
                if before is not None:
                    before.problem.learner.release(before.problem.data)
                given = model.random_state
                model.random_state = as_seed(given) if "random_state" in candidates[index] else seed
                with one_blas_thread(), progress.inside():
                    before = model.train(X, y, sample_weight, like=before)
                    judged[index] = judge(before, model.decoder_, self.ties_as_errors)
                model.random_state = given
                seconds[index] = time.perf_counter() - start
                rank = (sorting_key(judged[index].error), *learner.flexibility(before.problem.data), index)
                if rank < best:
                    best, kept = rank, model
                models[index] = None
        self._record(candidates, judged, seconds, best[-1])
        for name in ("classes_", "n_features_in_", "feature_names_in_"):
            if hasattr(kept, name):
                setattr(self, name, getattr(kept, name))
        if self.refit:
            self.best_estimator_ = kept
        return self

    def _record(
        self, candidates: list[dict[str, Any]], judged: dict[int, LeaveOneOut], seconds: NDArray[Any], best: int
    ) -> None:
        error = np.array([judged[i].error for i in range(len(candidates))])
        results: dict[str, Any] = {"params": candidates}
        for name in sorted({name for params in candidates for name in params}):
            absent = [name not in params for params in candidates]
            column = np.empty(len(candidates), dtype=object)
            column[:] = [params.get(name) for params in candidates]
            results[f"param_{name}"] = np.ma.MaskedArray(column, mask=absent)
        self.cv_results_ = results | {
            "loo_error": error,
            "loo_kind": np.array([judged[i].kind for i in range(len(candidates))]),
            "mean_test_score": 1 - error,
            "rank_test_score": rankdata([sorting_key(one) for one in error], method="min").astype(np.int32),
            "mean_fit_time": seconds,
        }
        self.best_index_ = best
        self.best_params_ = candidates[best]
        self.best_score_ = float(1 - error[best])

    @available_if(_of_the_best("predict"))
    def predict(self, X: Any) -> NDArray[Any]:
        """Return the predictions of the best classifier."""
        predicted: NDArray[Any] = self._best().predict(X)
        return predicted

    @available_if(_of_the_best("decision_function"))
    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return the scores of the best classifier."""
        return self._best().decision_function(X)

    @available_if(_of_the_best("predict_proba"))
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the class probabilities of the best classifier, if it supports them."""
        probabilities: NDArray[np.float64] = self._best().predict_proba(X)
        return probabilities

    @available_if(_of_the_best("score"))
    def score(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Return the accuracy of the best classifier."""
        return float(self._best().score(X, y, sample_weight))

    def _best(self) -> OutputCodeClassifier:
        check_is_fitted(self)
        best: OutputCodeClassifier = self.best_estimator_
        return best

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = get_tags(self.estimator)
        for name in ("estimator_type", "classifier_tags", "target_tags", "input_tags"):
            setattr(tags, name, getattr(inner, name))
        if tags.classifier_tags is not None:
            # Leave-one-out errors are only available with one label per row.
            tags.classifier_tags.multi_label = False
        return tags


def _path(candidates: list[dict[str, Any]]) -> list[int]:
    """Return the training order: groups that differ only in gamma and C, by increasing gamma and then increasing C."""
    groups: dict[str, int] = {}

    def place(index: int) -> tuple[float, ...]:
        items = candidates[index].items()
        rising = {name: float(v) for name, v in items if name.endswith(("__gamma", "__C")) and isinstance(v, Real)}
        group = groups.setdefault(repr([item for item in items if item[0] not in rising]), len(groups))
        return group, *(rising[name] for name in sorted(rising, reverse=True))

    return sorted(range(len(candidates)), key=place)
