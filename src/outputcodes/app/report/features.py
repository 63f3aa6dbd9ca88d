"""The features of a row that moved its prediction: what each adds to the margins, for one class against another."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from outputcodes._ground.words import shorten
from outputcodes.app.report.values import in_a_word
from outputcodes.boosting import GradientBoost
from outputcodes.decoders.classifier import DecodingClassifier

Array = NDArray[np.float64]

# Features named for a class, and as many against it.
MOST_NAMED = 3
LONGEST_NAME = 40
# Parts below this share of the largest say nothing.
NEGLIGIBLE = 1e-3
# "3", "numbers__3" or "categories__3_red".
PLACE = re.compile(r"(?:numbers__|categories__)?(?P<number>\d+)(?P<category>_.*)?", re.DOTALL)


class FeatureParts:
    """What the features of each row add to the margins of a fitted classifier.

    Parameters
    ----------
    model : a fitted classifier
        Columns that are linear, stumps or trees, boosted trees, or a classifier with one vector of coefficients per
        class.
    X : the rows as they reach the classifier
    names : list of str or None
        Those of the features of X.
    inputs : the rows as the user gave them
    """

    def __init__(self, model: Any, X: Any, names: list[str] | None, inputs: Any) -> None:
        self.model, self.X, self.names, self.inputs = model, X, names, inputs
        self.columns = {str(name): place for place, name in enumerate(getattr(inputs, "columns", ()))}

    def of_row(self, i: int, predicted: int, rival: int) -> list[tuple[str, float]]:
        """Return features with their values, and what each adds in favour of the prediction; the largest first.

        The sum of all parts is ½ Σ_s (M(p, s) − M(r, s))·f_s less a constant, p and r being the two classes; for a
        classifier without a code, the difference of their scores less a constant. The list is empty where the
        classifier is not a sum over features.
        """
        parts = self.parts(i, predicted, rival)
        if parts is None:
            return []
        order = np.argsort(-np.abs(parts), kind="stable")
        least = NEGLIGIBLE * np.abs(parts).max(initial=0.0)
        told = [int(j) for j in order if np.abs(parts[j]) > least]
        chosen = [j for j in told if parts[j] > 0][:MOST_NAMED] + [j for j in told if parts[j] < 0][:MOST_NAMED]
        return [(self._named(i, j), float(parts[j])) for j in chosen]

    def parts(self, i: int, predicted: int, rival: int) -> Array | None:
        """Return what each feature of row i adds, (d,); None where the classifier is not a sum over features."""
        if (x := _numbers(self.X, i)) is None:
            return None
        if isinstance(self.model, DecodingClassifier):
            M = self.model.code_matrix_
            direction = (M[predicted].astype(np.float64) - M[rival]) / 2
            found: Array | None = self.model.columns_.feature_parts(x, direction)
            return found
        if isinstance(self.model, GradientBoost):
            direction = np.zeros(len(self.model.classes_))
            direction[predicted], direction[rival] = 1.0, -1.0
            return self.model.forest_.feature_parts(x, direction)
        weights = _class_weights(self.model)
        return None if weights is None else (weights[predicted] - weights[rival]) * x

    def _named(self, i: int, j: int) -> str:
        """A feature with the value that the user gave it; an indicator of a category with that category."""
        name = f"x{j}" if self.names is None else str(self.names[j])
        if not hasattr(self.inputs, "iloc"):
            x = _numbers(self.X, i)
            return shorten(name, LONGEST_NAME) + ("" if x is None else f" = {in_a_word(x[j])}")
        exact = [name] if name in self.columns else []
        for column in exact or (one for one in self.columns if name.startswith(f"{one}_")):
            value = self.inputs.iat[i, self.columns[column]]
            if exact or name == f"{column}_{value}":
                return f"{shorten(column, LONGEST_NAME)} = {shorten(in_a_word(value), LONGEST_NAME)}"
        return shorten(name, LONGEST_NAME)


def named_by_column(features: list[str] | None, columns: list[str] | None) -> list[str] | None:
    """Return the names of features by the columns of the table; the models of a race call these by their places.

    >>> named_by_column(["numbers__1", "categories__0_red", "text_0"], ["colour", "size"])
    ['size', 'colour_red', 'text_0']
    """
    if features is None or columns is None:
        return features
    places = [PLACE.fullmatch(name) for name in features]
    return [
        name if place is None else columns[int(place["number"])] + (place["category"] or "")
        for name, place in zip(features, places, strict=True)
    ]


def _numbers(X: Any, i: int) -> Array | None:
    """Row i as it reaches the classifier; None if it is no vector of numbers, but text or a row with categories."""
    if sparse.issparse(X):
        return np.asarray(X.tocsr()[[i]].toarray(), dtype=np.float64).ravel()
    try:
        return np.asarray(X.iloc[i] if hasattr(X, "iloc") else X[i], dtype=np.float64).ravel()
    except (ValueError, TypeError):
        return None


def _class_weights(model: Any) -> Array | None:
    """The coefficients (k, d) of a linear classifier, by scikit-learn's convention; None if it has none."""
    weights = np.asarray(getattr(model, "coef_", ()))
    if weights.dtype.kind != "f" or weights.ndim != 2:
        return None
    if len(model.classes_) == 2 and len(weights) == 1:
        return np.vstack([-weights, weights]) / 2
    return weights if len(weights) == len(model.classes_) else None
