"""Models that learn from batches: saved between two of them, they go on as if nothing had happened."""

import numpy as np
import pytest

pytest.importorskip("skops")
pytest.importorskip("pandas")

import saved_models
from sklearn.linear_model import SGDClassifier

from outputcodes import OutputCodeClassifier
from outputcodes.app import persistence
from outputcodes.codes import Tree

X, y, NEW = saved_models.sample()
# The first batch lacks a class.
BATCHES = [np.flatnonzero((np.arange(60) < 30) & (y < 3)), np.arange(30, 45), np.arange(45, 60)]
MODELS = saved_models.streams() | {
    "sgd": lambda: OutputCodeClassifier(SGDClassifier(random_state=0), code="one-vs-all", random_state=0),
    "linear-svm-trees": lambda: OutputCodeClassifier("linear-svm", code=Tree(2, 2, n_trees=2), random_state=0),
    "sparse-code": lambda: OutputCodeClassifier("logistic", code="sparse", random_state=0),
    "balanced": lambda: OutputCodeClassifier("ridge", code="one-vs-all", class_weight="balanced"),
}


@pytest.mark.parametrize("predicted", [False, True], ids=["unread", "read"])
@pytest.mark.parametrize("name", MODELS)
def test_a_reopened_stream_goes_on_with_the_same_bits(tmp_path, name, predicted):
    whole, parts = MODELS[name](), MODELS[name]()
    for number, rows in enumerate(BATCHES):
        whole.partial_fit(X[rows], y[rows])
        parts.partial_fit(X[rows], y[rows])
        if predicted:
            parts.predict(NEW)
        path = tmp_path / f"{number}.skops"
        persistence.save(parts, path)
        parts, _ = persistence.load(path)
    assert parts.classes_.tolist() == [0, 1, 2, 3]
    assert np.array_equal(parts.code_matrix_, whole.code_matrix_)
    assert np.array_equal(parts.margins(NEW), whole.margins(NEW))
    assert np.array_equal(parts.decision_function(NEW), whole.decision_function(NEW))
