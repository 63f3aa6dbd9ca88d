"""The output of a fitted classifier for some rows: the arrays from which a report or an explanation is made."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.pipeline import Pipeline

from outputcodes._ground.validation import check_labels, n_rows_of
from outputcodes.app.report.features import FeatureParts
from outputcodes.decoders import Decoder
from outputcodes.decoders.classifier import DecodingClassifier

Array = NDArray[np.float64]
MULTILABEL = "the model is multilabel; explanations are for models that predict one label per row."


@dataclass(frozen=True, eq=False)
class Answers:
    """The output of a classifier for n rows, and its code where it has one.

    Attributes
    ----------
    classes : ndarray of shape (k,)
        The labels.
    predicted : ndarray of shape (n,)
        Class numbers, 0..k-1.
    truth : ndarray of shape (n,) or None
        Class numbers, where they are known.
    scores : ndarray of shape (n, k) or None
        Larger is better; the largest is that of the prediction.
    probabilities : ndarray of shape (n, k) or None
    code, margins, decoder : (k, L), (n, L) and Decoder, or None all three
        None for a classifier that decodes nothing.
    names : sequence
        What to call each row, such as the index of a data frame.
    title : str
        The classifier in words.
    images : ndarray of shape (n, height, width) or None
    inputs : the rows as the model was given them, or None
    parts : FeatureParts or None
        What the features add to the margins.
    """

    classes: NDArray[Any]
    predicted: NDArray[np.intp]
    truth: NDArray[np.intp] | None
    scores: Array | None
    probabilities: Array | None
    code: NDArray[np.int8] | None
    margins: Array | None
    decoder: Decoder | None
    names: Sequence[Any]
    title: str = ""
    images: Array | None = None
    inputs: Any = None
    parts: FeatureParts | None = None


def answers(
    model: Any,
    X: Any,
    y: ArrayLike | None = None,
    *,
    names: Sequence[Any] | None = None,
    title: str | None = None,
    images: ArrayLike | None = None,
) -> Answers:
    """Return the output of a fitted classifier for the rows of X; for an honest report it was not trained on them.

    Parameters
    ----------
    model : a fitted classifier
        An `OutputCodeClassifier`, a booster, or any scikit-learn classifier; also as the last step of a pipeline, or
        inside a search.
    X : rows as the model takes them
    y : array of shape (n,), optional
        The labels.
    names : sequence of n names, optional
        By default the index of a data frame, else 0..n-1.
    title : str, optional
        What to call the classifier; by default, as it prints.
    images : array of shape (n, height, width), optional
        Grey values, where the rows are pictures, to be shown with the explanations.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from outputcodes import OutputCodeClassifier
    >>> from outputcodes.learners import Ridge
    >>> X, y = load_iris(return_X_y=True)
    >>> model = OutputCodeClassifier(Ridge(), code="one-vs-all").fit(X[::2], y[::2])
    >>> held_out = answers(model, X[1::2], y[1::2])
    >>> held_out.margins.shape, held_out.scores.shape
    ((75, 3), (75, 3))
    """
    if names is None:
        names = list(X.index) if hasattr(X, "index") and not callable(X.index) else range(n_rows_of(X))
    inputs = X
    model, X, features = _innermost(model, X)
    if isinstance(model, DecodingClassifier) and model.multilabel_:
        raise ValueError(MULTILABEL)
    title = " ".join(repr(model).split()) if title is None else title
    classes = np.asarray(model.classes_)
    code, margins, decoder = None, None, None
    if isinstance(model, DecodingClassifier):
        code, margins, decoder = model.code_matrix_, model.margins(X), model.decoder_
        # Computed once: the margins of a kernel SVM are the expensive part.
        read = decoder.as_read(model.code_)
        scores: Array | None = decoder.scores(margins, read)
        probabilities = decoder.probabilities(margins, read) if decoder.has_probabilities else None
        predicted = decoder.predict(margins, read)
    else:
        labels = np.asarray(model.predict(X))
        if labels.ndim > 1 and labels.shape[1] > 1:
            raise ValueError(MULTILABEL)
        predicted = np.searchsorted(classes, labels)
        probabilities = model.predict_proba(X) if hasattr(model, "predict_proba") else None
        scores = model.decision_function(X) if hasattr(model, "decision_function") else probabilities
        if scores is not None and scores.ndim == 1:
            scores = np.outer(scores, [-0.5, 0.5])
        # SVC, for one, predicts by votes that its scores may contradict: then they explain nothing.
        if scores is not None and (
            scores.shape != (len(predicted), len(classes)) or (scores.argmax(axis=1) != predicted).any()
        ):
            scores = None
    truth = None if y is None else _numbers(y, classes)
    grey = None if images is None else np.asarray(images, dtype=np.float64)
    if any(given is not None and len(given) != len(predicted) for given in (names, truth, grey)):
        raise ValueError(f"X has {len(predicted)} rows; y, names and images must have one entry for each.")
    parts = FeatureParts(model, X, features, inputs)
    return Answers(
        classes, predicted, truth, scores, probabilities, code, margins, decoder, names, title, grey, inputs, parts
    )


def _innermost(model: Any, X: Any) -> tuple[Any, Any, list[str] | None]:
    """The classifier itself inside pipelines and searches, the rows as they reach it, and the names of their features.

    The names are None where some transformer does not tell them.
    """
    names = [str(name) for name in X.columns] if hasattr(X, "columns") else None
    while True:
        if hasattr(model, "best_estimator_"):
            model = model.best_estimator_
        elif isinstance(model, Pipeline):
            for _, step in model.steps[:-1]:
                if step not in (None, "passthrough"):
                    X, names = step.transform(X), _names_after(step, names)
            model = model.steps[-1][1]
        else:
            return model, X, names


def _names_after(step: Any, names: list[str] | None) -> list[str] | None:
    try:
        return [str(name) for name in step.get_feature_names_out(names)]
    except (AttributeError, ValueError, TypeError):
        return None


def _numbers(y: ArrayLike, classes: NDArray[Any]) -> NDArray[np.intp]:
    labels = np.asarray(y)
    if (unknown := np.setdiff1d(labels, classes)).size:
        raise ValueError(f"y holds {unknown[:5].tolist()}, which the model was not trained on.")
    return check_labels(np.searchsorted(classes, labels), len(classes))
