"""AdaBoost.MO against its definition, round by round, and against what is known of it."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import random_code
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_digits, load_iris
from sklearn.tree import DecisionTreeClassifier

from boosting_oracles import margins, pairs_rounds, small_problem
from outputcodes.boosting.mo import AdaBoostMO

HYPOTHESES = ["confidence", "discrete", "abstaining"]
may_be_poor = pytest.mark.filterwarnings("ignore:.*kept no round", "ignore:rows that no column opposes")


def check_rounds(model, expected, X, Y, w, categorical=()):
    """Stumps, coefficients, normalisers, errors and, through the margins, weights of the rounds are the expected."""
    T, L = len(expected), Y.shape[1]
    assert model.n_rounds_ == T
    if T == 0:
        return
    for name in ("Z", "error"):
        assert np.allclose(model.history_[name], [one[name] for one in expected], rtol=1e-9, atol=1e-12)
    stumps = model.columns_
    for t, one in enumerate(expected):
        assert (stumps.feature[t] == one["feature"]).all()
        assert (stumps.threshold[t] == one["threshold"]).all()
        assert np.allclose([stumps.left[t], stumps.right[t]], one["answers"], rtol=1e-8, atol=1e-9)
    assert np.allclose(model.margins(X), margins(X, expected, L, categorical), rtol=1e-8, atol=1e-8)
    for F, one in zip(stumps.staged_margins(X), expected, strict=True):
        D = np.where(Y == 0, 0.0, w[:, None] * np.exp(-Y * F))
        D /= D.sum()
        assert all(D[pair] == pytest.approx(weight, rel=1e-7, abs=1e-9) for pair, weight in one["D"].items())


@may_be_poor
@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    hypotheses=st.sampled_from(HYPOTHESES),
    missing=st.sampled_from([0.0, 0.3]),
    rate=st.sampled_from([1.0, 0.3]),
)
def test_each_round_is_the_definitions(seed, hypotheses, missing, rate):
    X, y, weight, rng = small_problem(seed, missing=missing)
    M = random_code(rng, 3, 4)
    model = AdaBoostMO(M, 5, hypotheses, categorical_features=[1], learning_rate=rate).fit(X, y, weight)
    seen = weight > 0
    X, Y, w = X[seen], M[y[seen]], weight[seen]
    check_rounds(model, pairs_rounds(X, Y, w, 5, hypotheses, (1,), rate), X, Y, w, (1,))


@pytest.mark.parametrize("hypotheses", HYPOTHESES)
def test_more_columns_than_lanes(hypotheses):
    X, y, _, rng = small_problem(1, n=24, k=4)
    M = random_code(rng, 4, 19)
    model = AdaBoostMO(M, 4, hypotheses).fit(X, y)
    check_rounds(model, pairs_rounds(X, M[y], np.ones(24), 4, hypotheses), X, M[y], np.ones(24))


@pytest.mark.parametrize("hypotheses", HYPOTHESES)
def test_classes_longer_than_the_bins_are_summed_before_they_are_parted_by_sign(hypotheses):
    rng = np.random.default_rng(0)
    X = rng.integers(3, size=(90, 2)).astype(float)
    y = np.arange(90) % 3 * (rng.random(90) < 0.8)
    M = random_code(rng, 3, 3)
    model = AdaBoostMO(M, 3, hypotheses).fit(X, y)
    check_rounds(model, pairs_rounds(X, M[y], np.ones(90), 3, hypotheses), X, M[y], np.ones(90))


@pytest.mark.parametrize("hypotheses", HYPOTHESES)
@pytest.mark.parametrize("code", ["one-vs-all", "all-pairs", "dense"])
def test_the_product_of_z_is_the_mean_exponential_loss(code, hypotheses):
    X, y = load_digits(return_X_y=True)
    weight = 0.5 + np.arange(len(y)) % 3
    model = AdaBoostMO(code, 30, hypotheses, random_state=0, learning_rate=0.7).fit(X, y, weight)
    Y = model.code_matrix_[y]
    loss = np.average(np.exp(-Y * model.margins(X)), weights=(Y != 0) * weight[:, None])
    assert model.history_["Z"].prod() == pytest.approx(loss, rel=1e-9)
    if hypotheses == "discrete":
        e, a = model.history_["error"], model.history_["coefficient"]
        assert np.allclose(a, 0.7 * np.log((1 - e) / e) / 2)


@pytest.mark.parametrize("hypotheses", HYPOTHESES)
def test_weights_are_repetitions(hypotheses):
    X, y, _, rng = small_problem(3, n=40, k=4)
    counts = rng.integers(3, size=40)
    counts[:4] = 2
    weighted = AdaBoostMO("dense", 8, hypotheses, random_state=0).fit(X, y, counts)
    again = np.repeat(np.arange(40), counts)
    repeated = AdaBoostMO("dense", 8, hypotheses, random_state=0).fit(X[again], y[again])
    assert np.array_equal(weighted.columns_.threshold, repeated.columns_.threshold)
    assert np.allclose(weighted.margins(X), repeated.margins(X), rtol=1e-9)


def test_the_scale_of_weights_matters_to_the_smoothing_alone():
    X, y, _, _ = small_problem(4, n=30)
    weight = 1.0 + np.arange(30) % 3
    plain = AdaBoostMO(n_rounds=5).fit(X, y, weight)
    scaled = AdaBoostMO(n_rounds=5, smoothing=1 / (3 * weight.sum())).fit(X, y, weight / weight.sum())
    assert np.allclose(plain.margins(X), scaled.margins(X), rtol=1e-9)
    # Weights below 1 are no fewer examples.
    tiny, unweighted = (AdaBoostMO(n_rounds=5).fit(X, y, w).margins(X) for w in (np.full(30, 1e-6), None))
    assert np.allclose(tiny, unweighted, rtol=1e-9)
    small, large = (AdaBoostMO(n_rounds=5, smoothing=e).fit(X, y).margins(X) for e in (1e-3, 10.0))
    assert np.abs(large).max() < np.abs(small).max()


@pytest.mark.parametrize("hypotheses", HYPOTHESES)
def test_the_same_bits_for_any_number_of_threads(hypotheses):
    X, y = load_digits(return_X_y=True)
    one, two, three = (AdaBoostMO("dense", 10, hypotheses, random_state=0, n_jobs=n).fit(X, y) for n in (1, 2, 3))
    assert np.array_equal(one.margins(X), two.margins(X))
    assert np.array_equal(one.margins(X), three.margins(X))


class SharedTest(ClassifierMixin, BaseEstimator):
    """On pairs (x, one-hot column): the test of least weighted error, with the heavier sign per column and side."""

    def __init__(self, n_features=2):
        self.n_features = n_features

    def fit(self, X, y, sample_weight):
        self.classes_ = np.unique(y)
        signed = np.where(y > 0, 1, -1) * sample_weight
        column = X[:, self.n_features :].argmax(axis=1)
        best = -math.inf
        for f in range(self.n_features):
            values = np.unique(X[:, f])
            for cut in [-math.inf, *(values[:-1] + values[1:]) / 2]:
                v = np.zeros((2, X.shape[1] - self.n_features))
                np.add.at(v, ((X[:, f] > cut).astype(int), column), signed)
                if np.abs(v).sum() > best + 1e-9:
                    best, self.test_, self.answers_ = np.abs(v).sum(), (f, cut), (v > -1e-9).astype(int)
        return self

    def predict(self, X):
        f, cut = self.test_
        return self.answers_[(X[:, f] > cut).astype(int), X[:, self.n_features :].argmax(axis=1)]


@pytest.mark.parametrize("code", ["all-pairs", "dense"])
def test_a_foreign_shared_stump_is_the_built_in_one(code):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 2))
    y = np.digitize(X[:, 0] + X[:, 1] ** 2, [-0.3, 0.7, 1.5])
    ours = AdaBoostMO(code, 8, "discrete", random_state=0).fit(X, y)
    foreign = AdaBoostMO(code, 8, "discrete", estimator=SharedTest(), random_state=0).fit(X, y)
    for name in ("coefficient", "error", "Z"):
        assert np.allclose(ours.history_[name], foreign.history_[name])
    assert np.allclose(ours.margins(X), foreign.margins(X))


@pytest.mark.parametrize("hypotheses", ["confidence", "discrete"])
def test_foreign_trees_keep_the_identity_of_z(hypotheses):
    X, y = load_iris(return_X_y=True)
    tree = DecisionTreeClassifier(max_depth=2, min_samples_leaf=5)
    model = AdaBoostMO("all-pairs", 10, hypotheses, estimator=tree, random_state=0).fit(X, y)
    Y = model.code_matrix_[y]
    assert np.exp(-Y * model.margins(X))[Y != 0].mean() == pytest.approx(model.history_["Z"].prod(), rel=1e-9)
    edge = np.tanh(model.history_["coefficient"])  # as the coefficient is ½ ln((1 + r)/(1 - r))
    assert (model.history_["Z"] <= np.sqrt(1 - edge**2) + 1e-12).all()
    D, total = np.where(Y == 0, 0.0, 1.0), np.count_nonzero(Y)
    for one, error in zip(model.columns_.rounds, model.history_["error"], strict=True):
        h = one.hypothesis.answers(X)
        assert error == pytest.approx((D * (1 - np.sign(Y * h)) / 2).sum() / total)
        D = D * np.exp(-one.coefficient * Y * h)
        D *= total / D.sum()


def test_without_error_the_round_is_the_last():
    X = np.array([[0.0], [1.0], [2.0], [3.0]])
    y = np.array([0, 0, 1, 1])
    model = AdaBoostMO(n_rounds=10, hypotheses="discrete").fit(X, y)
    assert model.n_rounds_ == 1
    assert model.history_["coefficient"][0] == pytest.approx(math.log((1 - 1e-10) / 1e-10) / 2)
    assert AdaBoostMO(n_rounds=10).fit(X, y).n_rounds_ == 1
    assert AdaBoostMO(n_rounds=10, estimator=DecisionTreeClassifier()).fit(X, y).n_rounds_ == 1


@pytest.mark.parametrize("hypotheses", HYPOTHESES)
def test_without_edge_the_most_frequent_class(hypotheses):
    X = np.zeros((7, 2))
    y = np.array([0, 0, 1, 1, 1, 2, 2])
    # Of equal weight on both sides of each column, the examples differ in nothing.
    weight = np.array([1.5, 1.5, 1, 1, 1, 1.5, 1.5])
    with pytest.warns(UserWarning, match="kept no round"):
        model = AdaBoostMO("all-pairs", 5, hypotheses).fit(X, y, weight)
    assert model.n_rounds_ == 0
    assert model.predict(X).tolist() == [0] * 7
    assert not list(model.staged_predict(X))
    weight[0] = 1.6
    model = AdaBoostMO("all-pairs", 5, hypotheses).fit(X, y, weight)
    assert model.n_rounds_ > 0
    assert model.predict(X).tolist() == [0] * 7


def test_a_mapping_may_hold_a_class_that_the_sample_lacks():
    X, y = load_iris(return_X_y=True)
    code = {0: [1, 1, 1], 1: [-1, 1, -1], 2: [-1, -1, 1], 7: [1, -1, -1]}
    model = AdaBoostMO(code, 20).fit(X, y)
    assert model.classes_.tolist() == [0, 1, 2, 7]
    plain = AdaBoostMO([code[r] for r in range(3)], 20).fit(X, y)
    assert np.array_equal(model.margins(X), plain.margins(X))
    with pytest.raises(ValueError, match=r"no row for the classes \[2\]"):
        AdaBoostMO({0: [1, 1], 1: [-1, 1]}).fit(X, y)


@pytest.mark.filterwarnings("ignore:rows that no column opposes")
@pytest.mark.parametrize("estimator", [None, DecisionTreeClassifier(max_depth=2, random_state=0)])
def test_a_column_of_one_sign_answers_it_and_says_so(estimator):
    X, y = load_iris(return_X_y=True)
    X, y = X[:100], y[:100]
    with pytest.warns(UserWarning, match=r"1 of 2 columns of the code have only one sign.*: 1\.") as said:
        model = AdaBoostMO({0: [1, 1], 1: [-1, 1], 2: [-1, -1]}, 5, estimator=estimator).fit(X, y)
    assert {one.filename for one in said if "one sign" in str(one.message)} == {__file__}
    assert model.code_matrix_.shape == (3, 2)
    assert (model.margins(X)[:, 1] == 1).all()
    alone = AdaBoostMO([[1], [-1]], 5, estimator=estimator).fit(X, y)
    assert np.array_equal(model.margins(X)[:, 0], alone.margins(X)[:, 0])
    *_, last = model.staged_decision_function(X)
    assert np.array_equal(last, model.decision_function(X))
    with pytest.raises(ValueError, match="No column of the code has both signs"):
        AdaBoostMO({0: [1, 0], 1: [0, 1], 2: [-1, -1]}, 5, estimator=estimator).fit(X, y)


def test_ties_are_decided_alike_by_the_model_and_its_last_stage():
    X = np.array([[1, 0], [2, 1], [2, 1], [0, 1], [1, 1], [1, 1], [1, 2], [1, 0]])
    y = [0, 1, 1, 1, 0, 1, 0, 1]
    model = AdaBoostMO(n_rounds=8, hypotheses="discrete").fit(X, y)
    *_, last = model.staged_predict(X)
    assert np.array_equal(model.predict(X), last)
