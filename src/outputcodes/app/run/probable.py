"""Models for tables with probabilities, where a system returns scores only."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray
from sklearn.pipeline import Pipeline

from outputcodes.decoders import Softmax
from outputcodes.decoders.classifier import DecodingClassifier
from outputcodes.selection.probable import FOLDS, ScoresAsProbabilities, held_out_scores

__all__ = ["ScoresAsProbabilities", "fit_with_probabilities", "held_out_scores"]


def fit_with_probabilities(model: Pipeline, frame: Any, y: NDArray[Any], seed: int = 0) -> Pipeline:
    """Fit a model for tables, and give its classifier probabilities if it has none; predictions are unchanged."""
    *steps, (name, final) = model.steps
    # As scikit-learn's own tools look it up.
    if hasattr(final, "predict_proba"):
        return model.fit(frame, y)
    if not isinstance(final, DecodingClassifier):
        return Pipeline([*steps, (name, ScoresAsProbabilities(final, seed=seed))]).fit(frame, y)
    # A booster keeps its columns in view, for reports and explanations: only its decoder is replaced.
    model.fit(frame, y)
    D, numbers = held_out_scores(final, model[:-1].transform(frame), y, FOLDS, seed)
    final.decoder_ = Softmax(final.decoder_).fit_scores(D, numbers)
    return model
