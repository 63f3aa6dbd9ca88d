"""Explanations of models that are out of the ordinary."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_iris, make_multilabel_classification

from outputcodes import GradientBoost, OutputCodeClassifier
from outputcodes.app.report.answers import answers
from outputcodes.decoders import Continuous
from outputcodes.selection.metrics import row_losses


@pytest.mark.parametrize("model", [OutputCodeClassifier("ridge", code="one-vs-all"), GradientBoost(2)])
def test_multilabel_models_are_refused_in_words(model):
    X, Y = make_multilabel_classification(n_samples=50, n_classes=3, random_state=0)
    with pytest.raises(ValueError, match="one label per row"):
        answers(model.fit(X, Y), X[:3])


def test_contributions_sum_to_the_scores_where_nothing_was_learned():
    X, y = load_iris(return_X_y=True)
    model = OutputCodeClassifier("ridge", code="one-vs-all").fit(X, y)
    with pytest.warns(UserWarning, match="learned nothing"):
        stuck = model.with_decoder(Continuous(norm="l1", beta=1e6), X, y)
    F = stuck.margins(X[:5])
    parts = stuck.decoder_.contributions(F, stuck.code_matrix_)
    assert np.allclose(parts.sum(axis=2), stuck.decoder_.scores(F, stuck.code_matrix_))


def test_probabilities_that_are_no_numbers_are_refused():
    y = np.array(["a", "b"])
    with pytest.raises(ValueError, match="not finite"):
        row_losses("log-loss", y, y, np.array([[0.5, 0.5], [np.nan, np.nan]]), y)
