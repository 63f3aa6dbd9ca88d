"""The output of a fitted classifier for some rows: the arrays from which a report or an explanation is made."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.pipeline import Pipeline

from outputcodes._ground.validation import check_labels, n_rows_of
from outputcodes.app.report.features import FeatureParts, named_by_column
from outputcodes.decoders import Decoder
from outputcodes.decoders.classifier import DecodingClassifier
from outputcodes.selection import Race
from outputcodes.selection.race.blend import Blend
from outputcodes.selection.race.views import plain_table

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
        inside a search or a race.
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
    title = " ".join(repr(model).split()) if title is None else title
    classes = np.asarray(model.classes_)
    of_one = isinstance(model, Blend) and len(model.models) == 1
    output, parts = (_of_one_model if of_one else _of_classifier)(model, X, features, inputs)
    truth = None if y is None else _numbers(y, classes)
    grey = None if images is None else np.asarray(images, dtype=np.float64)
    if any(given is not None and len(given) != len(output.predicted) for given in (names, truth, grey)):
        raise ValueError(f"X has {len(output.predicted)} rows; y, names and images must have one entry for each.")
    return Answers(
        classes=classes,
        truth=truth,
        names=names,
        title=title,
        images=grey,
        inputs=inputs,
        parts=parts,
        **output._asdict(),
    )


class Output(NamedTuple):
    """What a classifier returns for n rows, as in `Answers`."""

    predicted: NDArray[np.intp]
    scores: Array | None
    probabilities: Array | None
    code: NDArray[np.int8] | None = None
    margins: Array | None = None
    decoder: Decoder | None = None


def _of_classifier(model: Any, X: Any, names: list[str] | None, inputs: Any) -> tuple[Output, FeatureParts]:
    output = _decoded(model, X) if isinstance(model, DecodingClassifier) else _plain(model, X)
    return output, FeatureParts(model, X, names, inputs)


def _decoded(model: DecodingClassifier, X: Any) -> Output:
    if model.multilabel_:
        raise ValueError(MULTILABEL)
    # Computed once: the margins of a kernel SVM are the expensive part.
    margins, decoder = model.margins(X), model.decoder_
    read = decoder.as_read(model.code_)
    probabilities = decoder.probabilities(margins, read) if decoder.has_probabilities else None
    scores, predicted = decoder.scores(margins, read), decoder.predict(margins, read)
    return Output(predicted, scores, probabilities, model.code_matrix_, margins, decoder)


def _plain(model: Any, X: Any) -> Output:
    labels = np.asarray(model.predict(X))
    if labels.ndim > 1 and labels.shape[1] > 1:
        raise ValueError(MULTILABEL)
    predicted = np.searchsorted(model.classes_, labels)
    probabilities = model.predict_proba(X) if hasattr(model, "predict_proba") else None
    scores = model.decision_function(X) if hasattr(model, "decision_function") else probabilities
    if scores is not None and scores.ndim == 1:
        scores = np.outer(scores, [-0.5, 0.5])
    # SVC, for one, predicts by votes that its scores may contradict: then they explain nothing.
    if scores is not None and (
        scores.shape != (len(predicted), len(model.classes_)) or (scores.argmax(axis=1) != predicted).any()
    ):
        scores = None
    return Output(predicted, scores, probabilities)


def _of_one_model(blend: Blend, X: Any, names: list[str] | None, inputs: Any) -> tuple[Output, FeatureParts]:
    """The calibrated probabilities of the winner of a race; columns, their scores and features are its model's."""
    model, inside, features = _innermost(blend.models[0], plain_table(X))
    parts = FeatureParts(model, inside, named_by_column(features, names), inputs)
    probabilities = blend.predict_proba(X)
    predicted = probabilities.argmax(axis=1)
    if isinstance(model, DecodingClassifier):
        coded = _decoded(model, inside)
        # Rounding may part them where classes are equally probable.
        if (coded.predicted == predicted).all():
            return coded._replace(probabilities=probabilities), parts
    return Output(predicted, probabilities, probabilities), parts


def _innermost(model: Any, X: Any) -> tuple[Any, Any, list[str] | None]:
    """The classifier itself inside pipelines, searches and races, the rows as they reach it, and their features' names.

    The names are None where some transformer does not tell them.
    """
    names = _columns(X)
    while True:
        if hasattr(model, "best_estimator_"):
            model = model.best_estimator_
        elif isinstance(model, Race):
            # Its models know columns by their places.
            X = X[list(model.feature_names_in_)] if hasattr(X, "columns") else X
            model, names = model.model_, _columns(X)
        elif isinstance(model, Pipeline):
            for _, step in model.steps[:-1]:
                if step not in (None, "passthrough"):
                    X = step.transform(X)
                    names = _columns(X) or _names_after(step, names)
            model = model.steps[-1][1]
        else:
            return model, X, names


def _columns(X: Any) -> list[str] | None:
    return [str(name) for name in X.columns] if hasattr(X, "columns") else None


def _names_after(step: Any, names: list[str] | None) -> list[str] | None:
    # A table may have more columns than the step was fitted to: then it knows by itself which ones it reads.
    for given in ((names,), ()):
        with suppress(AttributeError, ValueError, TypeError):
            return [str(name) for name in step.get_feature_names_out(*given)]
    return None


def _numbers(y: ArrayLike, classes: NDArray[Any]) -> NDArray[np.intp]:
    labels = np.asarray(y)
    if (unknown := np.setdiff1d(labels, classes)).size:
        raise ValueError(f"y holds {unknown[:5].tolist()}, which the model was not trained on.")
    return check_labels(np.searchsorted(classes, labels), len(classes))
