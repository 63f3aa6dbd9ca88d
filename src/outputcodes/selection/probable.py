"""Probabilities for systems that return scores only: a softmax, fitted to scores of rows that were held out."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.utils.validation import check_is_fitted

from outputcodes._ground.folds import folds
from outputcodes._ground.validation import take_rows
from outputcodes.decoders import Softmax

Array = NDArray[np.float64]

FOLDS = 3


class ScoresAsProbabilities(MetaEstimatorMixin, ClassifierMixin, BaseEstimator):
    """A classifier with `decision_function` that also has probabilities; its predictions are unchanged.

    Scores D become (1 − ε) softmax(D/T) + ε/k, as in `outputcodes.decoders.Softmax`. T and ε are fitted to the scores
    of rows that were held out in folds; then the classifier is fitted to all rows.

    Parameters
    ----------
    estimator : classifier
        Its predictions are the classes with the largest score.
    cv : int, default=3
    seed : int, default=0
        That of the folds.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.svm import SVC
    >>> X, y = load_iris(return_X_y=True)
    >>> ScoresAsProbabilities(SVC(break_ties=True)).fit(X, y).predict_proba(X[:1]).round(2)
    array([[0.95, 0.05, 0.  ]])
    """

    def __init__(self, estimator: Any, cv: int = FOLDS, seed: int = 0) -> None:
        self.estimator = estimator
        self.cv = cv
        self.seed = seed

    def fit(self, X: Any, y: ArrayLike) -> Self:
        """Fit the classifier to all rows, and the probabilities to held-out ones."""
        labels = np.asarray(y)
        self.estimator_ = clone(self.estimator).fit(X, labels)
        self.classes_ = self.estimator_.classes_
        k = len(self.classes_)
        D, numbers = held_out_scores(self.estimator, X, labels, self.cv, self.seed)
        # The scores are the margins of a code with a column for each class, which is its own score.
        self.softmax_ = Softmax("linear").fit(D, numbers, np.eye(k, dtype=np.int8))
        return self

    def decision_function(self, X: Any) -> Array:
        """Return the scores of the classifier, (n, k), also for two classes."""
        check_is_fitted(self)
        return scores_of(self.estimator_, X)

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the predictions of the classifier."""
        check_is_fitted(self)
        predicted: NDArray[Any] = self.estimator_.predict(X)
        return predicted

    def predict_proba(self, X: Any) -> Array:
        """Return class probabilities (n, k), largest for the prediction."""
        return self.softmax_.probabilities(self.decision_function(X), np.eye(len(self.classes_), dtype=np.int8))


def held_out_scores(model: Any, X: Any, y: NDArray[Any], cv: int, seed: int) -> tuple[Array, NDArray[np.intp]]:
    """Return scores (n, k) of each row by a clone that was trained without it, and class numbers.

    A class that a fold does not train has the smallest score. Scores are NaN where only one class could be trained.
    """
    classes, numbers = np.unique(y, return_inverse=True)
    D = np.full((len(y), len(classes)), np.nan)
    for train, test in folds(numbers, min(cv, len(y)), seed):
        known = np.unique(numbers[train])
        if len(known) < 2:
            continue
        found = scores_of(clone(model).fit(take_rows(X, train), y[train]), take_rows(X, test))
        D[test] = found.min(axis=1, keepdims=True)
        D[np.ix_(test, known)] = found
    return D, numbers


def scores_of(model: Any, X: Any) -> Array:
    """Return the scores of a fitted classifier as an array (n, k)."""
    D: Array = np.asarray(model.decision_function(X), dtype=np.float64)
    return np.outer(D, [-0.5, 0.5]) if D.ndim == 1 else D
