"""How candidates are scored: scikit-learn's scorers on a classifier whose margins are known."""

from __future__ import annotations

import copy
import time
import traceback
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from outputcodes.decoders.classifier import DecodingClassifier

Scores = float | dict[str, float]


@dataclass
class Outcome:
    """What is known about a candidate on a fold: its scores, times in seconds, and the traceback of a failed `fit`."""

    test: Scores
    train: Scores | None = None
    fit_time: float = 0.0
    score_time: float = 0.0
    failure: str | None = None
    kind: str = "held-out"


@dataclass(frozen=True)
class Part:
    """Rows to score on: X, y and the scorer's parameters for them."""

    X: Any
    y: Any
    params: dict[str, Any]


@dataclass(frozen=True)
class Scoring:
    """A scorer of scikit-learn, one or several, and what a failure is worth.

    `accuracy` says that it is the accuracy, which need not check labels for each candidate again.
    """

    scorer: Callable[..., Any]
    names: tuple[str, ...] | None
    error_score: Any
    accuracy: bool = False

    def of(self, model: Any, part: Part) -> Scores:
        """Score a classifier on rows."""
        try:
            if self.accuracy and not part.params and np.ndim(part.y) == 1 and _counts_labels(model):
                return float(np.mean(model.predict(part.X) == np.asarray(part.y)))
            found = self.scorer(model, part.X, part.y, **part.params)
        except Exception:
            if self.error_score == "raise":
                raise
            warnings.warn(
                f"Scoring failed. The score on this split for these parameters is set to {self.error_score}. "
                f"Details: \n{traceback.format_exc()}",
                UserWarning,
                stacklevel=2,
            )
            return self.failed()
        if isinstance(found, dict):
            return {name: self._number(name, value) for name, value in found.items()}
        return self._number("score", found)

    def failed(self) -> Scores:
        """Return the scores of a candidate that could not be trained."""
        return float(self.error_score) if self.names is None else dict.fromkeys(self.names, float(self.error_score))

    def _number(self, name: str, value: Any) -> float:
        if isinstance(value, str):
            # One of several scorers failed: scikit-learn returns its traceback.
            warnings.warn(f"Scoring by {name} failed and is set to {self.error_score}:\n{value}", stacklevel=3)
            return float(self.error_score)
        if not np.isscalar(value) and not (isinstance(value, np.ndarray) and value.ndim == 0):
            raise ValueError(f"scoring must return a number, got {value!r} ({type(value)}) for {name}.")
        return float(value)  # type: ignore[arg-type]


def _counts_labels(model: Any) -> bool:
    """Return whether the score of a classifier is the share of rows whose one label is right."""
    return (
        isinstance(model, DecodingClassifier)
        and type(model).score is DecodingClassifier.score
        and not model.multilabel_
    )


def knowing(model: Any, known: list[tuple[Any, NDArray[np.float64]]]) -> Any:
    """Return a copy of a classifier that need not compute the margins of these X again."""
    view, compute = copy.copy(model), type(model).margins

    def margins(X: Any) -> NDArray[np.float64]:
        for given, F in known:
            if X is given:
                return F
        computed: NDArray[np.float64] = compute(view, X)
        return computed

    view.margins = margins
    return view


class Stopwatch:
    """Seconds since it was made or last read; it may begin at some seconds."""

    def __init__(self, seconds: float = 0.0) -> None:
        self._since = time.perf_counter() - seconds

    def lap(self) -> float:
        """Return the seconds since the last lap."""
        before, self._since = self._since, time.perf_counter()
        return self._since - before
