"""AdaBoost.MH: the same as AdaBoost.MO with one label a row, label sets by definition, indicators in and out."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_digits, make_multilabel_classification
from sklearn.metrics import hamming_loss
from sklearn.tree import DecisionTreeClassifier

from boosting_oracles import margins, pairs_rounds, small_problem
from outputcodes.boosting.mh import AdaBoostMH
from outputcodes.boosting.mo import AdaBoostMO

HYPOTHESES = ["confidence", "discrete", "abstaining"]


def label_sets(rng, n, k):
    return (rng.random((n, k)) < 0.4).astype(int)


@pytest.mark.filterwarnings("ignore:.*kept no round")
@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10**6), hypotheses=st.sampled_from(HYPOTHESES), missing=st.sampled_from([0.0, 0.3]))
def test_each_round_with_several_labels_is_the_definitions(seed, hypotheses, missing):
    X, _, weight, rng = small_problem(seed, missing=missing)
    indicators = label_sets(rng, len(X), 3)
    model = AdaBoostMH(5, hypotheses).fit(X, indicators, weight)
    seen = weight > 0
    X, Y = X[seen], 2 * indicators[seen] - 1
    expected = pairs_rounds(X, Y, weight[seen], 5, hypotheses)
    assert model.n_rounds_ == len(expected)
    if expected:
        assert model.columns_.feature[:, 0].tolist() == [one["feature"] for one in expected]
        assert model.columns_.threshold[:, 0].tolist() == [one["threshold"] for one in expected]
        assert np.allclose(model.history_["Z"], [one["Z"] for one in expected], rtol=1e-9)
        assert np.allclose(model.decision_function(X), margins(X, expected, 3), rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("hypotheses", HYPOTHESES)
def test_hamming_loss_is_at_most_the_product_of_z(hypotheses):
    X, Y = make_multilabel_classification(n_samples=300, n_classes=9, random_state=1)
    model = AdaBoostMH(40, hypotheses).fit(X, Y)
    bounds = np.cumprod(model.history_["Z"])
    for predicted, scores, bound in zip(
        model.staged_predict(X), model.staged_decision_function(X), bounds, strict=True
    ):
        assert hamming_loss(Y, predicted) <= bound
        assert np.exp(-(2 * Y - 1) * scores).mean() == pytest.approx(bound, rel=1e-9)
        assert np.array_equal(predicted, scores > 0)
    assert np.array_equal(predicted, model.predict(X))


@pytest.mark.parametrize("hypotheses", HYPOTHESES)
@pytest.mark.parametrize("n_class", [2, 6])
def test_one_label_a_row_is_one_vs_all(n_class, hypotheses):
    X, y = load_digits(n_class=n_class, return_X_y=True)
    mh, mo = AdaBoostMH(15, hypotheses).fit(X, y), AdaBoostMO("one-vs-all", 15, hypotheses).fit(X, y)
    assert np.array_equal(mh.margins(X), mo.margins(X))
    assert np.array_equal(mh.decision_function(X), mo.decision_function(X))
    # The same as label sets of one label each, two margins for two classes.
    sets = AdaBoostMH(15, hypotheses).fit(X, np.eye(n_class, dtype=int)[y])
    F = sets.decision_function(X)
    assert np.allclose(F if n_class > 2 else F[:, 1:], mh.margins(X), rtol=1e-9)


def test_abstaining_never_has_a_larger_z_than_discrete_in_the_first_round():
    for seed in range(20):
        X, _, _, rng = small_problem(seed, n=30)
        Y = label_sets(rng, 30, 3)
        discrete, abstaining = (AdaBoostMH(1, kind).fit(X, Y) for kind in ("discrete", "abstaining"))
        assert abstaining.history_["Z"][0] <= discrete.history_["Z"][0] + 1e-10


def test_indicators_dense_sparse_and_of_minus_one():
    X, Y = make_multilabel_classification(n_samples=80, n_classes=4, random_state=0)
    dense = AdaBoostMH(10).fit(X, Y)
    assert dense.multilabel_
    assert dense.predict(X).shape == Y.shape
    sparse = AdaBoostMH(10).fit(X, sp.csr_matrix(Y))
    assert sp.issparse(sparse.predict(X))
    assert np.array_equal(sparse.predict(X).toarray(), dense.predict(X))
    assert np.array_equal(AdaBoostMH(10).fit(X, 2 * Y - 1).predict(X), dense.predict(X))
    assert isinstance(sparse.predict(X), sp.csr_matrix)
    assert isinstance(AdaBoostMH(10).fit(X, sp.csr_array(Y)).predict(X), sp.csr_array)
    for other in (Y + 4, Y - 1):
        with pytest.raises(ValueError, match="not an indicator matrix"):
            AdaBoostMH(10).fit(X, other)
    with pytest.raises(ValueError, match="its decoder can't be changed"):
        dense.with_decoder("hamming")
    for unread in ("vote", "likelihood"):
        assert np.array_equal(AdaBoostMH(10, decoder=unread).fit(X, Y).predict(X), dense.predict(X))


def test_a_label_that_all_rows_have_and_one_that_none_has():
    X, Y = make_multilabel_classification(n_samples=80, n_classes=4, random_state=0)
    Y[:, 0], Y[:, 1] = 1, 0
    predicted = AdaBoostMH(5).fit(X, Y).predict(X)
    assert predicted[:, 0].all()
    assert not predicted[:, 1].any()


def test_labels_without_edge_are_predicted_by_their_frequency():
    X = np.zeros((4, 1))
    Y = np.array([[1, 0], [1, 0], [0, 1], [0, 1]])
    with pytest.warns(UserWarning, match="kept no round"):
        model = AdaBoostMH(5).fit(X, Y)
    assert not model.predict(X).any()
    Y[:, 1] = 1
    with pytest.warns(UserWarning, match="kept no round"):
        assert AdaBoostMH(5).fit(np.full((4, 1), np.nan), Y).predict(X).tolist() == [[0, 1]] * 4


def test_foreign_estimators_and_held_out_rows_with_several_labels():
    X, Y = make_multilabel_classification(n_samples=150, n_classes=4, random_state=0)
    tree = DecisionTreeClassifier(max_depth=3)
    model = AdaBoostMH(8, estimator=tree, random_state=0).fit(X, Y)
    loss = np.exp(-(2 * Y - 1) * model.decision_function(X)).mean()
    assert loss == pytest.approx(model.history_["Z"].prod(), rel=1e-9)
    stopped = AdaBoostMH(100, validation_fraction=0.3, n_iter_no_change=3, random_state=0).fit(X, Y)
    assert 0 < stopped.n_rounds_ < 100
