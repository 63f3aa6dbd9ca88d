"""The base of the searches: parameters, scorers and routing as in scikit-learn's, and predictions by the best."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import nullcontext
from numbers import Integral, Real
from typing import Any, Literal, Self

import joblib
import numpy as np
from numpy.typing import NDArray
from sklearn import get_config
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone, is_classifier
from sklearn.metrics import check_scoring
from sklearn.model_selection import check_cv
from sklearn.utils import assert_all_finite, get_tags, indexable, resample
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from outputcodes._ground import progress
from outputcodes._ground.validation import n_rows_of
from outputcodes.classifier import OutputCodeClassifier
from outputcodes.selection.leave_one_out import as_judged, refuse_multilabel
from outputcodes.selection.searches.evaluation import Task, evaluate
from outputcodes.selection.searches.results import Outcomes, cv_results, names_of, report_failures
from outputcodes.selection.searches.scores import Scoring
from outputcodes.selection.searches.starts import on_other_rows
from outputcodes.training import TrainedCode

Results = dict[str, Any]
# Evaluates candidates on all rows of the folds or on a share of them, and returns the results so far.
Evaluate = Callable[..., Results]


def _of_the_best(name: str) -> Callable[[Any], bool]:
    def check(search: Search) -> bool:
        if not search.refit:
            raise AttributeError(
                f"{type(search).__name__}(refit=False) keeps no classifier and has no {name}; set refit=True."
            )
        getattr(getattr(search, "best_estimator_", search.estimator), name)
        return True

    return check


class Search(MetaEstimatorMixin, BaseEstimator):
    """Base of the searches. A subclass writes `_search(evaluate, X, y)`, which chooses what is evaluated."""

    judge: Literal["folds", "leave-one-out"]

    def __init__(
        self,
        estimator: Any,
        *,
        scoring: Any,
        n_jobs: int | None,
        refit: Any,
        cv: Any,
        verbose: int,
        error_score: Any,
        return_train_score: bool,
    ) -> None:
        self.estimator = estimator
        self.scoring = scoring
        self.n_jobs = n_jobs
        self.refit = refit
        self.cv = cv
        self.verbose = verbose
        self.error_score = error_score
        self.return_train_score = return_train_score

    def _search(self, evaluate: Evaluate, X: Any, y: Any) -> None:
        raise NotImplementedError

    def fit(self, X: Any, y: Any, **params: Any) -> Self:
        """Evaluate the candidates and fit the best one on all rows.

        Parameters
        ----------
        X, y : the sample
        **params : dict
            As in scikit-learn's searches: `groups` for the splitter, all others, such as `sample_weight`, for `fit` of
            the estimator. Those with an entry per row are cut to the rows of a fold. `sample_weight` also weights the
            scores. With scikit-learn's metadata routing on, all go to the objects that requested them.
        """
        self._check_parameters()
        scorer, names = self._scorer()
        X, y = indexable(X, y)
        _check_labels(self, y)
        fit_params, split_params, score_params = self._routed(params)
        splitter = check_cv(self.cv, y, classifier=is_classifier(self.estimator))
        splits: Any = None
        if self.judge == "folds":
            self.n_splits_ = splitter.get_n_splits(X, y, **split_params)
            splits = [(np.asarray(a), np.asarray(b)) for a, b in splitter.split(X, y, **split_params)]
            if len(splits) != self.n_splits_:
                raise ValueError(f"cv returns {len(splits)} splits, but its get_n_splits {self.n_splits_}.")
        else:
            self.n_splits_ = 1
            self._check_leave_one_out(y)
        accuracy = self.scoring is None or (isinstance(self.scoring, str) and self.scoring == "accuracy")
        scoring = Scoring(scorer, names, self.error_score, accuracy)
        pairwise = bool(get_tags(self.estimator).input_tags.pairwise)
        base = clone(self.estimator)
        tried: list[dict[str, Any]] = []
        outcomes: Outcomes = []
        more: dict[str, list[Any]] = {}
        results: Results = {}
        last: list[TrainedCode | None] = [None]

        def assess(
            candidates: Any, share: float | None = None, seed: Any = None, extra: dict[str, list[Any]] | None = None
        ) -> Results:
            candidates = list(candidates)
            if not candidates:
                raise ValueError("There are no candidates: no fits were performed.")
            # Candidates share no objects with each other or with the user's grid.
            models = [clone(base).set_params(**clone(one, safe=False)) for one in candidates]
            some = splits if share is None else [(part_of(a, share, seed), part_of(b, share, seed)) for a, b in splits]
            task = Task(X, y, some, fit_params, score_params, scoring, self.return_train_score, pairwise)
            total, done = len(candidates) * self.n_splits_, iter(range(len(candidates) * self.n_splits_))
            with progress.phase(type(self).__name__, total, "trainings"):
                found, trained = evaluate(models, task, lambda: progress.reached(next(done, total), total, "trainings"))
                outcomes.extend(found)
                last[:] = [trained]
                # Candidates that share a training are fewer trainings.
                progress.reached(total, total, "trainings")
            tried.extend(candidates)
            for name, values in (extra or {}).items():
                more.setdefault(name, []).extend(values)
            _same_names(outcomes)
            report_failures(outcomes, self.error_score)
            kinds = {} if splits is not None else {"loo_kind": [row[0].kind for row in outcomes]}
            results.clear()
            results.update(cv_results(tried, outcomes, more | kinds))
            return results

        workers = nullcontext() if self.n_jobs is None else joblib.parallel_config(n_jobs=self.n_jobs)
        with workers, progress.showing(self.verbose):
            self._search(assess, X, y)
            self.cv_results_, self.multimetric_ = results, names_of(outcomes) != ["score"]
            self._choose(results)
            if self.refit:
                start = time.perf_counter()
                self.best_estimator_ = clone(base).set_params(**clone(self.best_params_, safe=False))
                with progress.inside():
                    _fit(self.best_estimator_, X, y, last[0], fit_params)
                self.refit_time_ = time.perf_counter() - start
                if hasattr(self.best_estimator_, "feature_names_in_"):
                    self.feature_names_in_ = self.best_estimator_.feature_names_in_
        self.scorer_ = (
            scorer if names is None else {name: check_scoring(base, s) for name, s in self._several().items()}
        )
        return self

    def _choose(self, results: Results) -> None:
        """Set `best_index_`, `best_params_` and `best_score_`."""
        if self.multimetric_:
            known = [name[len("mean_test_") :] for name in results if name.startswith("mean_test_")]
            if self.refit is not False and not callable(self.refit) and self.refit not in known:
                raise ValueError(
                    "For multi-metric scoring, the parameter refit must be set to a scorer key or a callable to refit "
                    "an estimator with the best parameter setting on the whole data and make the best_* attributes "
                    "available for that metric. If this is not needed, refit should be set to False explicitly. "
                    f"{self.refit!r} was passed."
                )
        if self.multimetric_ and not self.refit:
            return
        metric = self.refit if self.multimetric_ else "score"
        self.best_index_ = self._best_index(results, metric)
        if not callable(self.refit):
            self.best_score_ = float(results[f"mean_test_{metric}"][self.best_index_])
        self.best_params_ = results["params"][self.best_index_]

    def _best_index(self, results: Results, metric: Any) -> int:
        if not callable(self.refit):
            return int(results[f"rank_test_{metric}"].argmin())
        index = self.refit(results)
        if not isinstance(index, Integral):
            raise TypeError("best_index_ returned is not an integer")
        if not 0 <= int(index) < len(results["params"]):
            raise IndexError("best_index_ index out of range")
        return int(index)

    def _check_parameters(self) -> None:
        if self.judge not in ("folds", "leave-one-out"):
            raise ValueError(f"judge={self.judge!r} must be 'folds' or 'leave-one-out'.")
        if self.error_score != "raise" and not isinstance(self.error_score, Real):
            raise ValueError(
                "error_score must be the string 'raise' or a numeric value. (Hint: if using 'raise', please make sure "
                "that it has been spelled correctly.)"
            )

    def _check_leave_one_out(self, y: Any) -> None:
        as_judged(self.estimator)
        refuse_multilabel(y)
        if self.scoring not in (None, "accuracy") or self.return_train_score:
            raise ValueError(
                f"judge='leave-one-out' counts errors: scoring={self.scoring!r} must be None or 'accuracy', and "
                f"return_train_score={self.return_train_score!r} must be False; use judge='folds' for others."
            )

    def _several(self) -> dict[str, Any]:
        """Return `scoring` as a mapping from names, if it has several metrics."""
        if isinstance(self.scoring, dict):
            return dict(self.scoring)
        return {name: name for name in self.scoring}

    def _scorer(self) -> tuple[Any, tuple[str, ...] | None]:
        """Return the scorer, and the names of its metrics if `scoring` lists them."""
        if callable(self.scoring):
            return self.scoring, None
        if self.scoring is None or isinstance(self.scoring, str):
            return check_scoring(self.estimator, self.scoring), None
        scorer = check_scoring(self.estimator, scoring=self.scoring, raise_exc=self.error_score == "raise")
        return scorer, tuple(self._several())

    def _routed(self, params: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
        """Return the arguments of `fit`, of the splitter and of the scorer."""
        if get_config()["enable_metadata_routing"]:
            routed = process_routing(self, "fit", **params)
            return dict(routed.estimator.fit), dict(routed.splitter.split), dict(routed.scorer.score)
        own = {name: value for name, value in params.items() if name != "groups" and value is not None}
        weight = {"sample_weight": own["sample_weight"]} if "sample_weight" in own else {}
        # A function of the user's may not take weights.
        return own, {"groups": params.get("groups")}, {} if callable(self.scoring) else weight

    def get_metadata_routing(self) -> MetadataRouter:
        """Return what `fit` and `score` pass on to the estimator, the scorer and the splitter."""
        router = MetadataRouter(owner=self)
        router.add(estimator=self.estimator, method_mapping=MethodMapping().add(caller="fit", callee="fit"))
        scoring = MethodMapping().add(caller="score", callee="score").add(caller="fit", callee="score")
        router.add(scorer=self._scorer()[0], method_mapping=scoring)
        router.add(splitter=self.cv, method_mapping=MethodMapping().add(caller="fit", callee="split"))
        return router

    @property
    def classes_(self) -> NDArray[Any]:
        """The labels that the best classifier can predict."""
        _of_the_best("classes_")(self)
        classes: NDArray[Any] = self.best_estimator_.classes_
        return classes

    @property
    def n_features_in_(self) -> int:
        """The number of features of the sample."""
        if not hasattr(self, "best_estimator_"):
            raise AttributeError(f"{type(self).__name__} object has no n_features_in_ attribute.")
        return int(self.best_estimator_.n_features_in_)

    @available_if(_of_the_best("predict"))
    def predict(self, X: Any) -> Any:
        """Return the predictions of the best classifier."""
        return self._best().predict(X)

    @available_if(_of_the_best("decision_function"))
    def decision_function(self, X: Any) -> Any:
        """Return the scores of the best classifier."""
        return self._best().decision_function(X)

    @available_if(_of_the_best("predict_proba"))
    def predict_proba(self, X: Any) -> Any:
        """Return the class probabilities of the best classifier."""
        return self._best().predict_proba(X)

    @available_if(_of_the_best("predict_log_proba"))
    def predict_log_proba(self, X: Any) -> Any:
        """Return the logarithms of the class probabilities of the best classifier."""
        return self._best().predict_log_proba(X)

    @available_if(_of_the_best("score_samples"))
    def score_samples(self, X: Any) -> Any:
        """Return the scores of rows under the best estimator, such as their log-density."""
        return self._best().score_samples(X)

    @available_if(_of_the_best("transform"))
    def transform(self, X: Any) -> Any:
        """Return X transformed by the best estimator."""
        return self._best().transform(X)

    @available_if(_of_the_best("inverse_transform"))
    def inverse_transform(self, X: Any) -> Any:
        """Return X transformed back by the best estimator."""
        return self._best().inverse_transform(X)

    @available_if(_of_the_best("score"))
    def score(self, X: Any, y: Any = None, **params: Any) -> float:
        """Return the score of the best classifier by `scoring`, or by its own `score`."""
        best = self._best()
        routing = get_config()["enable_metadata_routing"]
        if params and not routing:
            raise ValueError("score takes further arguments only with scikit-learn's metadata routing.")
        own = process_routing(self, "score", **params).scorer.score if routing else {}
        scorer = self.scorer_[self.refit] if isinstance(self.scorer_, dict) else self.scorer_
        found = scorer(best, X, y, **own)
        return float(found[self.refit] if isinstance(found, dict) else found)

    def _best(self) -> Any:
        check_is_fitted(self)
        return self.best_estimator_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = get_tags(self.estimator)
        for name in ("estimator_type", "classifier_tags", "regressor_tags", "target_tags", "input_tags"):
            setattr(tags, name, getattr(inner, name))
        return tags


def _fit(model: Any, X: Any, y: Any, like: TrainedCode | None, fit_params: dict[str, Any]) -> None:
    """Fit a model to all rows; what was prepared for the folds serves them too."""
    if like is None or not isinstance(model, OutputCodeClassifier):
        model.fit(X, y, **fit_params)
    else:
        like.problem.learner.release(like.problem.data)
        posed = model.pose(X, y, like=like, rows=np.arange(n_rows_of(X)), **fit_params)
        model.solve(posed, on_other_rows(like))


def _check_labels(search: Search, y: Any) -> None:
    """Raise ValueError for labels that no classifier takes, before they are split."""
    if y is None:
        raise ValueError(f"{type(search).__name__} requires y to be passed, but the target y is None.")
    if np.asarray(y).dtype.kind == "f":
        assert_all_finite(y, input_name="y")


def part_of(rows: NDArray[np.intp], share: float, seed: Any) -> NDArray[np.intp]:
    """Return a share of rows, drawn as scikit-learn's halving does: all rows, too, are in another order.

    What depends on the order of rows, such as a forest or the inner folds of a decoder, is then the same.
    """
    drawn: NDArray[np.intp] = resample(rows, replace=False, random_state=seed, n_samples=int(share * len(rows)))
    return drawn


def _same_names(outcomes: Outcomes) -> None:
    """Give candidates that failed the names of the scores, which a function's are known by only now."""
    named = next((one.test for row in outcomes for one in row if isinstance(one.test, dict)), None)
    if named is None:
        return
    for one in (one for row in outcomes for one in row):
        if not isinstance(one.test, dict):
            one.test = dict.fromkeys(named, one.test)
        if one.train is not None and not isinstance(one.train, dict):
            one.train = dict.fromkeys(named, one.train)
