"""Explanations against plain loops over the definitions."""

import json

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.datasets import load_iris
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from outputcodes import AdaBoostMO, OutputCodeClassifier
from outputcodes.app.report import answers, explain
from outputcodes.decoders import DECODERS, AccuracyWeighted, Continuous, Decoder, LossBased
from outputcodes.learners import Ridge
from outputcodes.losses import as_loss

iris = load_iris()
X, y = iris.data, iris.target_names[iris.target]


def fitted(**options):
    return OutputCodeClassifier(Ridge(), random_state=0, **options).fit(X, y)


@pytest.mark.parametrize("code", ["one-vs-all", "all-pairs", "dense"])
@pytest.mark.parametrize("truth", [None, "versicolor"])
def test_facts_are_those_of_the_model(code, truth):
    model = fitted(code=code)
    for i in range(50, 100, 7):
        found = explain(model, X[i], truth)
        f, M = model.margins(X[[i]])[0], model.code_matrix_
        own = list(model.classes_).index(truth or model.predict(X[[i]])[0])
        assert model.classes_[found.predicted] == model.predict(X[[i]])[0]
        assert list(found.wrong) == [s for s in range(M.shape[1]) if M[own, s] * f[s] < 0]
        np.testing.assert_array_equal(found.scores, model.decision_function(X[[i]])[0])
        others = [c for c in range(3) if c != found.predicted]
        missed = truth is not None and found.predicted != own
        assert found.rival == (own if missed else max(others, key=lambda c: found.scores[c]))
        assert json.loads(json.dumps(found.data(), allow_nan=False)) == found.data()
        text = str(found)
        assert f"Predicted {model.classes_[found.predicted]}" in text
        assert ("← truth" in text) == (truth is not None)


SUMS = [
    *("hamming", "loss", "linear", "hinge", LossBased("squared", zeros="ignore"), Continuous(), "accuracy-weighted"),
    *("exponential", LossBased("exponential", zeros="ignore"), AccuracyWeighted("exponential")),
]


@pytest.mark.parametrize("decoder", SUMS, ids=str)
def test_leads_of_the_columns_add_up_to_that_of_the_score(decoder):
    model = fitted(decoder=decoder)
    for i in (0, 70, 133):
        found = explain(model, X[i])
        assert found.lead.sum() == pytest.approx(found.scores[found.predicted] - found.scores[found.rival])


def test_lead_of_a_column_is_its_difference_of_losses():
    found = explain(fitted(decoder="logistic", code="all-pairs"), X[70], "versicolor")
    loss = as_loss("logistic")
    M, f = found.code, found.margins
    for s in range(3):
        assert found.lead[s] == pytest.approx(loss(M[found.rival, s] * f[s]) - loss(M[found.predicted, s] * f[s]))


def test_leads_of_the_exponential_loss_are_as_large_as_its_scores():
    decoder, M = LossBased("exponential"), 2 * np.eye(3) - 1
    F = np.array([[80.0, -60.0, 1000.0]])
    parts, D = decoder.contributions(F, M), decoder.scores(F, M)
    np.testing.assert_allclose(parts.sum(axis=2), D)
    # The sum of class 0 is dominated by the margin of column 2, which contradicts it.
    np.testing.assert_allclose(parts[0, 0], [0, 0, D[0, 0]], atol=1e-9)


@pytest.mark.parametrize("name", [name for name in DECODERS if not DECODERS[name]().searches])
def test_every_decoder_has_leads_and_those_of_a_new_one_are_differences_of_scores(name):
    model = fitted(decoder=name, code="all-pairs")
    decoder, M = model.decoder_, model.code_matrix_
    F = model.margins(X[[70, 133]])
    parts = decoder.contributions(F, M)
    assert parts.shape == (2, *M.shape)
    for i, f in enumerate(F):
        found = explain(model, X[[70, 133][i]])
        np.testing.assert_allclose(found.lead, parts[i, found.predicted] - parts[i, found.rival], atol=1e-9)
        assert "most: " in str(found)
        for s in range(M.shape[1]):
            without = np.where(np.arange(len(f)) == s, 0.0, f)
            change = decoder.scores(f[None], M) - decoder.scores(without[None], M)
            np.testing.assert_allclose(Decoder.contributions(decoder, F, M)[i, :, s], change[0], atol=1e-12)


def test_a_code_too_large_for_differences_has_no_leads(monkeypatch):
    monkeypatch.setattr("outputcodes.decoders.base.MOST_STEPS", 26)
    found = explain(fitted(decoder="vote"), X[0])
    assert found.lead is None
    assert "most: " not in str(found)
    assert explain(fitted(decoder="hamming"), X[0]).lead is not None


def test_rows_of_every_kind_and_models_inside_others():
    frame = pd.DataFrame(X, columns=iris.feature_names)
    plain = fitted()
    expected = explain(plain, X[3]).scores
    for row in (X[3], X[3:4], X[3].tolist()):
        np.testing.assert_array_equal(explain(plain, row).scores, expected)
    framed = OutputCodeClassifier(make_pipeline(Ridge()), random_state=0).fit(frame, y)
    for row in (frame.iloc[3], frame.iloc[[3]]):
        assert framed.classes_[explain(framed, row).predicted] == framed.predict(frame.iloc[[3]])[0]
    thin = OutputCodeClassifier(SVC(kernel="linear")).fit(sparse.csr_matrix(X), y)
    row = sparse.csr_matrix(X)[3]
    np.testing.assert_array_equal(explain(thin, row).scores, thin.decision_function(row)[0])
    whole = make_pipeline(StandardScaler(), OutputCodeClassifier(Ridge())).fit(X, y)
    np.testing.assert_array_equal(explain(whole, X[3]).scores, whole.decision_function(X[[3]])[0])
    search = GridSearchCV(plain, {"estimator__alpha": [0.1, 10.0]}, cv=2).fit(X, y)
    np.testing.assert_array_equal(explain(search, X[3]).scores, search.decision_function(X[[3]])[0])
    booster = AdaBoostMO(n_rounds=5, random_state=0).fit(X, y)
    np.testing.assert_array_equal(explain(booster, X[3]).margins, booster.margins(X[[3]])[0])
    words = OutputCodeClassifier(make_pipeline(CountVectorizer(), SVC(kernel="linear")), decoder="linear")
    words.fit(["red", "green", "blue", "red red"], ["r", "g", "b", "r"])
    assert words.classes_[explain(words, "green green").predicted] == "g"
    with pytest.raises(ValueError, match="2 rows; explain takes one"):
        explain(plain, X[:2])


def test_systems_without_a_code_have_scores_but_no_columns():
    tree = DecisionTreeClassifier(random_state=0).fit(X, y)
    found = explain(tree, X[70], "versicolor")
    assert found.code is None
    assert found.lead is None
    assert len(found.wrong) == 0
    np.testing.assert_array_equal(found.probabilities, tree.predict_proba(X[[70]])[0])
    assert "codeword" not in str(found)
    two = SVC().fit(X[:100], y[:100])
    held = answers(two, X[:100])
    np.testing.assert_allclose(held.scores[:, 1] - held.scores[:, 0], two.decision_function(X[:100]))


class Contradicting(SVC):
    def decision_function(self, X):
        return -super().decision_function(X)


def test_scores_that_contradict_the_predictions_are_left_out():
    assert answers(Contradicting().fit(X, y), X).scores is None


def test_what_does_not_fit_is_refused():
    model = fitted()
    with pytest.raises(ValueError, match="rose"):
        answers(model, X[:2], ["setosa", "rose"])
    with pytest.raises(ValueError, match="one entry for each"):
        answers(model, X[:2], names=["a"])


def test_one_column_is_not_called_columns():
    X, y = load_iris(return_X_y=True)
    model = OutputCodeClassifier("ridge").fit(X[y < 2], y[y < 2])
    assert model.code_matrix_.shape == (2, 1)
    assert "The one column that sees 0 agrees with its codeword." in explain(model, X[0]).summary()
