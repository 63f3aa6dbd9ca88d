"""SmoothBoost against plain loops round by round, its relation to AdaBoost.OC, its codings and edges."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_digits, load_iris, load_wine
from sklearn.model_selection import train_test_split
from sklearn.tree import DecisionTreeClassifier

import colouring_oracles as oracles
from colouring_oracles import problem, same_rounds
from outputcodes.boosting.oc import AdaBoostOC
from outputcodes.boosting.smooth import GAMMAS, SmoothBoost
from outputcodes.bounds import training_error
from outputcodes.bounds.boosting import smooth_potential, smooth_potential_drop, smooth_weights
from outputcodes.learners.trees.stumps import hold_out

CODINGS = ["random", "probabilistic", "deterministic"]


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    k=st.integers(2, 5),
    lam=st.sampled_from([0.0, 0.1, 0.5, 2.0]),
    missing=st.sampled_from([0.0, 0.2]),
    rate=st.sampled_from([1.0, 0.3]),
)
def test_each_round_is_that_of_the_loops(seed, k, lam, missing, rate):
    X, y, weight = problem(seed, k=k, missing=missing)
    for w, categorical in ((None, None), (weight, [1])):
        model = SmoothBoost(6, lam, learning_rate=rate, categorical_features=categorical, random_state=seed)
        model.fit(X, y, w)
        rounds = oracles.smooth_boost(X, y, k, model.code_matrix_.T, lam, w, categorical or (), rate)
        same_rounds(model, rounds, X)


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**6), k=st.integers(2, 5))
def test_the_deterministic_code_is_that_of_the_loops(seed, k):
    X, y, _ = problem(seed, k=k)

    def choose(phi):
        phi = np.where(np.abs(phi) < 1e-9, 0.0, phi)
        if not phi.any():
            return [-1] * (k // 2) + [1] * (k - k // 2)
        return [-1 if p > 0 else 1 for p in phi]

    rounds = oracles.smooth_boost(X, y, k, [choose] * 5, 0.5)
    model = SmoothBoost(5, 0.5, "deterministic", random_state=0).fit(X, y)
    if len(rounds) == 5:  # none of its colourings was without an edge, so that nothing was drawn
        same_rounds(model, rounds, X)


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10**6), k=st.integers(2, 5), missing=st.sampled_from([0.0, 0.2]))
def test_without_smoothing_it_is_adaboost_oc(seed, k, missing):
    X, y, weight = problem(seed, k=k, missing=missing)
    smooth = SmoothBoost(8, lam=0, random_state=seed).fit(X, y, weight)
    # Both from the definitions, on the same colourings: same hypotheses, errors, separations and example weights.
    f = smooth.code_matrix_.T
    oc, sb = oracles.adaboost_oc(X, y, k, f, weight=weight), oracles.smooth_boost(X, y, k, f, 0.0, weight)
    for a, b in zip(oc, sb, strict=True):
        assert (a["stump"], list(a["h"])) == (b["stump"], list(b["h"]))
        assert np.allclose([a["e"], a["U"], a["alpha"]], [b["e"], b["U"], 2 * b["alpha"]], rtol=1e-8)
        assert np.allclose(a["weight"], b["weight"])
    same_rounds(smooth, sb, X)
    fitted = AdaBoostOC(8, random_state=seed).fit(X, y, weight)
    assert np.array_equal(fitted.code_matrix_, smooth.code_matrix_)
    assert np.allclose(fitted.margins(X), 2 * smooth.margins(X))
    assert np.array_equal(fitted.predict(X), smooth.predict(X))


@pytest.mark.parametrize("coding", CODINGS)
@pytest.mark.parametrize("lam", [0.1, 1.0])
def test_the_potential_falls_and_bounds_the_error(coding, lam):
    X, y = load_wine(return_X_y=True)
    weight = np.random.default_rng(0).uniform(0.2, 2, size=len(y))
    model = SmoothBoost(25, lam, coding, gamma=2.0, decoder="linear", random_state=0).fit(X, y, weight)
    mu, before = smooth_weights(np.zeros((len(y), 3)), y, lam), np.inf
    for t, D in enumerate(model.staged_decision_function(X)):
        promised = smooth_potential(mu, y, lam, weight) - smooth_potential_drop(
            mu, y, lam, model.history_["error"][t], model.history_["separated"][t], weight
        )
        mu = smooth_weights(D, y, lam)
        after = smooth_potential(mu, y, lam, weight)
        assert after <= min(promised, before) + 1e-9
        assert training_error(D, y) <= smooth_potential(mu, y, lam) + 1e-9
        before = after


def test_gamma_zero_is_the_random_code():
    X, y = load_iris(return_X_y=True)
    random = SmoothBoost(15, random_state=2).fit(X, y)
    zero = SmoothBoost(15, coding="probabilistic", gamma=0.0, random_state=2).fit(X, y)
    assert np.array_equal(random.code_matrix_, zero.code_matrix_)
    assert np.array_equal(random.margins(X), zero.margins(X))
    assert not hasattr(zero.set_params(coding="random").fit(X, y), "gamma_")  # of the earlier fit


def test_gamma_is_the_smallest_of_the_best_on_held_out_rows_and_then_trains_on_all():
    X, y = load_digits(n_class=6, return_X_y=True)
    X, _, y, _ = train_test_split(X, y, train_size=300, stratify=y, random_state=0)
    chosen = SmoothBoost(10, coding="probabilistic", random_state=5).fit(X, y)
    train, held = hold_out(np.arange(300), y, 0.2, int(np.random.default_rng(5).integers(2**31 - 1)))
    assert abs(len(held) - 60) < 6
    assert (np.bincount(y[held]) == np.bincount(y) // 5).all()
    trials = [SmoothBoost(10, coding="probabilistic", gamma=gamma, random_state=5) for gamma in GAMMAS]
    errors = [1 - trial.fit(X[train], y[train]).score(X[held], y[held]) for trial in trials]
    assert len(set(errors)) > 1
    assert chosen.gamma_ == min(gamma for gamma, error in zip(GAMMAS, errors, strict=True) if error == min(errors))
    given_gamma = SmoothBoost(10, coding="probabilistic", gamma=chosen.gamma_, random_state=5).fit(X, y)
    assert np.array_equal(chosen.margins(X), given_gamma.margins(X))
    # A learner that knows everything makes no error under any gamma: ties go to 0.
    perfect = SmoothBoost(10, coding="probabilistic", estimator=DecisionTreeClassifier(), random_state=0)
    assert perfect.fit(np.repeat(np.eye(4), 10, axis=0), np.repeat(np.arange(4), 10)).gamma_ == 0
    with pytest.raises(ValueError, match="gamma=None holds out 20%"):
        SmoothBoost(coding="probabilistic").fit(X[:8], np.arange(8) // 2)


class Negated(SmoothBoost):
    def _colour(self, pairs, draws, rng):
        return -super()._colour(pairs, draws, rng)


@pytest.mark.parametrize("coding", CODINGS)
def test_the_sign_of_a_colouring_does_not_matter(coding):
    X, y = load_wine(return_X_y=True)
    one, other = (make(15, 0.5, coding, 2.0, random_state=0).fit(X, y) for make in (SmoothBoost, Negated))
    assert np.array_equal(one.code_matrix_, -other.code_matrix_)
    assert np.allclose(one.margins(X), -other.margins(X))
    assert np.allclose(one.decision_function(X), other.decision_function(X))


def test_a_deterministic_code_without_an_edge_is_replaced_by_a_random_one():
    # The first deterministic colouring of balanced classes is class 0 against 1 and 2, which nothing tells apart.
    X = np.array([[0.0], [1.0], [0.0], [0.0], [1.0], [1.0]])
    y = np.array([0, 0, 1, 1, 2, 2])
    model = SmoothBoost(3, coding="deterministic", random_state=0).fit(X, y)
    assert model.n_rounds_ == 3
    assert model.code_matrix_[:, 0].tolist() != [-1, 1, 1]


def test_a_colouring_that_separates_next_to_nothing_is_replaced():
    # Class 0 is told apart for good in two rounds, and of 1 and 2 the balanced φ says nothing: it is 0 for ever.
    X, y = np.repeat([[0.0], [1.0], [2.0]], 4, axis=0), np.repeat([0, 1, 2], 4)
    model = SmoothBoost(6, coding="deterministic", random_state=0).fit(X, y)
    assert (model.history_["separated"] > 1e-10).all()
    assert model.score(X, y) == 1


def test_threads_change_no_bit_and_early_stopping_stops():
    X, y = load_digits(return_X_y=True)
    one, two = (SmoothBoost(12, coding="probabilistic", gamma=1, n_jobs=j, random_state=0).fit(X, y) for j in (1, 3))
    assert np.array_equal(one.margins(X), two.margins(X))
    X, y = load_wine(return_X_y=True)
    stopped = SmoothBoost(300, 0.1, validation_fraction=0.3, n_iter_no_change=4, random_state=0).fit(X, y)
    assert stopped.n_rounds_ < 300


def test_what_cannot_be_is_refused():
    X, y = load_iris(return_X_y=True)
    for parameters, message in (
        ({"lam": -0.1}, "lam=-0.1 must be"),
        ({"lam": "much"}, "lam='much' must be"),
        ({"lam": 1e308}, r"lam=1e\+308 must be a number between 0 and 1e\+06"),
        ({"gamma": -1}, "gamma=-1 must be"),
        ({"coding": "probabilistik"}, "did you mean 'probabilistic'"),
        ({"n_rounds": 1.5}, "n_rounds=1.5"),
    ):
        with pytest.raises(ValueError, match=message):
            SmoothBoost(**parameters).fit(X, y)
