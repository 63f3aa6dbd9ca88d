"""AdaBoost.OC against plain loops round by round, its bounds on what it trained, and its edges."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_digits, load_iris, load_wine
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

import colouring_oracles as oracles
from colouring_oracles import problem, same_rounds, scores
from outputcodes.boosting.oc import AdaBoostOC
from outputcodes.bounds import training_error
from outputcodes.bounds.boosting import oc_error_bound

VARIANTS = ["binary", "pseudo"]


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    k=st.integers(2, 5),
    variant=st.sampled_from(VARIANTS),
    missing=st.sampled_from([0.0, 0.2]),
    rate=st.sampled_from([1.0, 0.3]),
)
def test_each_round_is_that_of_the_loops(seed, k, variant, missing, rate):
    X, y, weight = problem(seed, k=k, missing=missing)
    for w, categorical in ((None, None), (weight, [1])):
        model = AdaBoostOC(6, variant, learning_rate=rate, categorical_features=categorical, random_state=seed)
        model.fit(X, y, w)
        # The colourings that were drawn are read off the model; the loops skip none of those kept.
        rounds = oracles.adaboost_oc(X, y, k, model.code_matrix_.T, variant, w, categorical or (), rate)
        same_rounds(model, rounds, X)
        if w is None and rate == 1:
            bound = oc_error_bound(model.history_["error"], model.history_["separated"], k, variant)
            assert training_error(scores(model, X), y) <= bound + 1e-9


@pytest.mark.parametrize("variant", VARIANTS)
def test_training_error_is_bounded(variant):
    for X, y in (load_iris(return_X_y=True), load_wine(return_X_y=True)):
        for seed in range(5):
            model = AdaBoostOC(30, variant, random_state=seed).fit(X, y)
            for t, D in enumerate(model.staged_decision_function(X), start=1):
                e, U = model.history_["error"][:t], model.history_["separated"][:t]
                assert training_error(D, y) <= oc_error_bound(e, U, len(model.classes_), variant) + 1e-9


def test_two_classes_are_plain_adaboost():
    X, y = load_wine(return_X_y=True)
    X, y = X[y < 2, :3], y[y < 2]
    model = AdaBoostOC(8, random_state=0).fit(X, y)
    D = np.full(len(y), 1 / len(y))
    for t in range(model.n_rounds_):
        h = np.sign(model.margins(X)[:, t]) * model.code_matrix_[1, t]  # +1 says class 1
        wrong = h != 2 * y - 1
        error = D[wrong].sum()
        assert model.history_["error"][t] == pytest.approx(error)
        assert model.history_["separated"][t] == pytest.approx(1)
        D = np.where(wrong, D / (2 * error), D / (2 * (1 - error)))
    assert model.decision_function(X).shape == (len(y),)


def test_an_error_of_zero_is_floored_and_boosting_goes_on():
    X, y = np.array([[0.0], [0.0], [1.0], [1.0]]), np.array([0, 0, 1, 1])
    model = AdaBoostOC(3, random_state=0).fit(X, y)
    assert model.history_["error"].tolist() == [1e-10, 1e-10, 1e-10]
    assert np.allclose(np.abs(model.margins(X)), np.log(1e10) / 2, rtol=1e-9)
    same_rounds(model, oracles.adaboost_oc(X, y, 2, model.code_matrix_.T), X)


def test_a_round_without_an_edge_is_skipped():
    # Class 0 is soon told from the rest for good; nothing tells 1 from 2, and all rounds after that are skipped.
    X = np.repeat([[0.0], [1.0], [1.0]], 4, axis=0)
    y = np.repeat([0, 1, 2], 4)
    model = AdaBoostOC(20, random_state=0).fit(X, y)
    assert 0 < model.n_rounds_ < 20
    assert (model.history_["error"] < 0.5).all()
    longer = AdaBoostOC(40, random_state=0).fit(X, y)
    assert np.array_equal(longer.margins(X), model.margins(X))
    assert model.score(X, y) == pytest.approx(2 / 3)
    with pytest.warns(UserWarning, match="kept no round"):
        blind = AdaBoostOC(5, random_state=0).fit(np.zeros((4, 1)), [0, 0, 1, 1])
    assert blind.n_rounds_ == 0
    assert blind.predict([[3.0]]).tolist() == [0]
    assert list(blind.staged_predict([[3.0]])) == []
    with pytest.warns(UserWarning, match="kept no round"):
        AdaBoostOC(5, random_state=0).fit(np.full((4, 2), np.nan), [0, 0, 1, 1])


def test_threads_change_no_bit():
    X, y = load_digits(return_X_y=True)
    X = X + np.random.default_rng(0).random(X.shape)
    one, two = (AdaBoostOC(15, n_jobs=jobs, random_state=0).fit(X, y) for jobs in (1, 3))
    assert np.array_equal(one.margins(X), two.margins(X))
    assert np.array_equal(one.code_matrix_, two.code_matrix_)


def test_foreign_estimators():
    X, y = load_iris(return_X_y=True)
    for estimator in (DecisionTreeClassifier(max_depth=2), LogisticRegression(C=0.1)):
        model = AdaBoostOC(6, estimator=estimator, random_state=0).fit(X, y)
        assert model.n_rounds_ == 6
        D = np.full((len(y), 3), 1.0)
        D[np.arange(len(y)), y] = 0
        for t in range(6):
            f = model.code_matrix_[:, t]
            h = np.sign(model.margins(X)[:, t])
            U, weight = oracles.separation(D / D.sum(), y, f)
            e = max(np.array(weight)[h != f[y]].sum(), 1e-10)
            assert np.allclose([model.history_["error"][t], model.history_["separated"][t]], [e, U])
            alpha = np.log((1 - e) / e) / 2
            assert np.allclose(np.abs(model.margins(X)[:, t]), alpha)
            D *= np.exp(alpha * ((f[y] != h)[:, None].astype(int) + (f == h[:, None])))
        again = AdaBoostOC(6, estimator=estimator, random_state=0).fit(X, y)
        assert np.array_equal(again.margins(X), model.margins(X))


def test_a_weight_of_two_is_a_row_given_twice_to_a_foreign_estimator_too():
    X, y = load_iris(return_X_y=True)
    weight = np.random.default_rng(0).integers(4, size=len(y))
    booster = AdaBoostOC(4, estimator=LogisticRegression(C=0.1, tol=1e-10), random_state=0)
    weighed = booster.fit(X, y, weight).margins(X)
    assert np.allclose(booster.fit(X.repeat(weight, axis=0), y.repeat(weight)).margins(X), weighed)


def test_stages_end_in_the_model_and_are_refused_by_decoders_that_learn():
    X, y = load_iris(return_X_y=True)
    model = AdaBoostOC(12, random_state=1).fit(X, y)
    *_, last = model.staged_decision_function(X)
    assert np.array_equal(last, model.decision_function(X))
    predictions = list(model.staged_predict(X))
    for t, predicted in enumerate(predictions, start=1):
        short = AdaBoostOC(t, random_state=1).fit(X, y)
        assert np.array_equal(short.predict(X), predicted)
    learned = model.with_decoder("accuracy-weighted", X, y)
    assert np.array_equal(
        learned.predict(X), AdaBoostOC(12, decoder="accuracy-weighted", random_state=1).fit(X, y).predict(X)
    )
    for stages in (learned.staged_predict, learned.staged_decision_function):
        with pytest.raises(ValueError, match="learned from all 12 columns and can't read fewer"):
            next(stages(X))


def test_what_cannot_be_is_refused():
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match="variant='ternary' must be"):
        AdaBoostOC(variant="ternary").fit(X, y)
    with pytest.raises(ValueError, match="n_rounds=0"):
        AdaBoostOC(0).fit(X, y)
    with pytest.raises(ValueError, match="sample_weight"):
        AdaBoostOC(estimator=KNeighborsClassifier()).fit(X, y)


def test_decoders_of_other_codes_are_refused_before_the_training(monkeypatch):
    X, y = load_iris(return_X_y=True)
    monkeypatch.setattr(AdaBoostOC, "_boost", lambda *_: pytest.fail("a round was trained"))
    for name in ("vote", "dag"):
        with pytest.raises(ValueError, match="all-pairs"):
            AdaBoostOC(decoder=name).fit(X, y)


class Counting(AdaBoostOC):
    def _colour(self, pairs, draws, rng):
        self.drawn_ = getattr(self, "drawn_", 0) + 1
        return super()._colour(pairs, draws, rng)


def test_a_blind_round_draws_100_colourings():
    with pytest.warns(UserWarning, match="kept no round"):
        model = Counting(2, random_state=0).fit(np.zeros((18, 1)), np.arange(18) % 9)
    assert model.drawn_ == 200
    assert {name: len(values) for name, values in model.history_.items()} == dict.fromkeys(
        ("coefficient", "error", "separated"), 0
    )
