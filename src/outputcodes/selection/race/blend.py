"""Calibrated scores, their averages, and the classifier that averages several models."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from outputcodes._ground.choosing import clearly_less
from outputcodes.decoders import Softmax
from outputcodes.selection.metrics import row_losses
from outputcodes.selection.race.trials import scores_of
from outputcodes.selection.race.views import plain_table

Array = NDArray[np.float64]
Rows = NDArray[np.intp]

# Steps of the greedy search, and models in the end.
STEPS, MOST_MEMBERS = 20, 5


@dataclass(frozen=True)
class Calibration:
    """Probabilities (1 - ε) softmax(D/T) + ε/k of scores D."""

    temperature: float
    doubt: float

    @classmethod
    def of(cls, D: NDArray[Any], y: Rows) -> Calibration:
        """Fit T and ε to scores of rows that were held out."""
        with warnings.catch_warnings():
            # Scores may be worthless; their probabilities are then equal.
            warnings.simplefilter("ignore", UserWarning)
            softmax = Softmax("linear").fit_scores(D, y)
        return cls(softmax.temperature_, softmax.doubt_)

    def __call__(self, D: NDArray[Any]) -> Array:
        """Return the probabilities (n, k)."""
        odds = np.exp((D - D.max(axis=1, keepdims=True)) / self.temperature, dtype=np.float64)
        P: Array = (1 - self.doubt) * odds / odds.sum(axis=1, keepdims=True) + self.doubt / D.shape[1]
        return P


def losses_of(P: NDArray[Any], y: Rows, metric: str) -> NDArray[Any]:
    """Return the loss of each row under a metric."""
    return row_losses(metric, y, P.argmax(axis=1), P, np.arange(P.shape[1]))


def greedy_weights(P: Sequence[NDArray[Any]], y: Rows, metric: str) -> Array:
    """Return the weights of an average: step by step the model joins that lowers the loss most (Caruana et al. 2004).

    A model may join again, which raises its weight. Equal errors are told apart by the log-loss.

    >>> y = np.array([0, 0, 1, 1])
    >>> sure, wrong = np.array([[0.9, 0.1], [0.4, 0.6], [0.2, 0.8], [0.3, 0.7]]), np.full((4, 2), 0.5)
    >>> greedy_weights([sure, wrong], y, "error")
    array([1., 0.])
    """
    counts, total = np.zeros(len(P)), np.zeros(P[0].shape)
    best, best_counts = (np.inf, np.inf), counts
    for step in range(1, STEPS + 1):
        full = np.count_nonzero(counts) >= MOST_MEMBERS
        tried = [j for j in range(len(P)) if counts[j] or not full]
        found = [_both((total + P[j]) / step, y, metric) for j in tried]
        at = 0
        for other in range(1, len(found)):
            if _better(found[other], found[at]):
                at = other
        counts[tried[at]] += 1
        total += P[tried[at]]
        if _better(found[at], best):
            best, best_counts = found[at], counts.copy()
    return np.asarray(best_counts / best_counts.sum())


def _both(P: NDArray[Any], y: Rows, metric: str) -> tuple[float, float]:
    log_loss = float(losses_of(P, y, "log-loss").mean())
    return (log_loss if metric == "log-loss" else float(losses_of(P, y, metric).mean())), log_loss


def _better(a: tuple[float, float], b: tuple[float, float]) -> bool:
    return clearly_less(a[0], b[0]) or (not clearly_less(b[0], a[0]) and clearly_less(a[1], b[1]))


class Blend(ClassifierMixin, BaseEstimator):
    """The average of the calibrated probabilities of fitted models; the prediction is the most probable class.

    Parameters
    ----------
    models : list of fitted classifiers
        Of class numbers.
    temperatures, doubts : lists of float
        How the scores of each become probabilities.
    weights : list of float
    classes : list
        The label of each class number.
    """

    def __init__(
        self, models: Any = (), temperatures: Any = (), doubts: Any = (), weights: Any = (), classes: Any = ()
    ) -> None:
        self.models = models
        self.temperatures = temperatures
        self.doubts = doubts
        self.weights = weights
        self.classes = classes

    def __sklearn_is_fitted__(self) -> bool:
        return len(self.models) > 0

    @property
    def classes_(self) -> NDArray[Any]:
        """The labels."""
        return np.asarray(self.classes)

    def fit(self, X: Any, y: Any) -> Blend:
        """Fit each model again; how they are calibrated and weighted stays."""
        numbers = np.searchsorted(self.classes_, np.asarray(y))
        table = plain_table(X)
        for model in self.models:
            model.fit(table, numbers)
        return self

    def predict_proba(self, X: Any) -> Array:
        """Return class probabilities (n, k)."""
        check_is_fitted(self)
        X = plain_table(X)
        P: Array = np.zeros(())
        each = zip(self.models, self.temperatures, self.doubts, self.weights, strict=True)
        for model, temperature, doubt, weight in each:
            P = P + weight * Calibration(temperature, doubt)(scores_of(model, X))
        return P

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the most probable class of each row."""
        labels: NDArray[Any] = self.classes_[self.predict_proba(X).argmax(axis=1)]
        return labels
