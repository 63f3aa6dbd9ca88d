"""Conditional maximum entropy, the row "maxent" of a comparison: p(r|x) ∝ exp(w_r·x) by its optimality and its dual."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import entr, logsumexp
from sklearn.datasets import load_iris, load_wine
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

from outputcodes.app.run import SYSTEMS, make_plan
from outputcodes.selection import Cell

DATA = {"iris": load_iris(return_X_y=True), "wine": load_wine(return_X_y=True)}
DATA = {name: (StandardScaler().fit_transform(X), y) for name, (X, y) in DATA.items()}


def maxent(**parameters):
    """The classifier that is compared, solved to the end."""
    return SYSTEMS["maxent"]().set_params(tol=1e-12, max_iter=100_000, **parameters)


def probabilities(W, X):
    D = X @ W.T
    return np.exp(D - logsumexp(D, axis=1, keepdims=True))


def primal(W, X, y, penalty):
    """−(1/m) Σ ln p(y_i|x_i) + λ Σ ‖w_r‖²."""
    D = X @ W.T
    return (logsumexp(D, axis=1) - D[np.arange(len(y)), y]).mean() + penalty * np.square(W).sum()


def mismatch(P, X, y):
    """What features are on average in the sample less what P expects them to be, (k, d)."""
    return (np.eye(P.shape[1])[y] - P).T @ X / len(y)


def dual(P, X, y, penalty):
    """(1/m) Σ H(p(·|x_i)) − (1/4λ) Σ_r ‖mismatch_r‖²: the entropy, expectations being held to the sample's."""
    return entr(P).sum() / len(y) - np.square(mismatch(P, X, y)).sum() / (4 * penalty)


def test_it_is_a_row_of_every_plan():
    for quick in (True, False):
        assert Cell("maxent") in make_plan(1_000, 5, 10, quick=quick).cells
    assert isinstance(SYSTEMS["maxent"](), LogisticRegression)


@pytest.mark.parametrize("name", DATA)
@pytest.mark.parametrize("C", [0.01, 1.0, 10.0])
def test_the_gradient_vanishes_and_the_rows_sum_to_zero(name, C):
    X, y = DATA[name]
    model = maxent(C=C).fit(X, y)
    P, penalty = model.predict_proba(X), 1 / (2 * C * len(y))
    assert np.allclose(mismatch(P, X, y), 2 * penalty * model.coef_, atol=1e-6)
    # The intercept is not penalised: classes are expected exactly as often as they are.
    assert np.allclose(P.mean(axis=0), np.bincount(y) / len(y), atol=1e-6)
    assert np.allclose(model.coef_.sum(axis=0), 0, atol=1e-6)


def test_two_classes_are_two_opposite_rows_at_twice_the_penalty():
    X, y = DATA["iris"][0][50:], DATA["iris"][1][50:] - 1
    model = maxent(fit_intercept=False).fit(X, y)
    W = np.vstack([-model.coef_, model.coef_]) / 2
    assert np.allclose(probabilities(W, X), model.predict_proba(X))
    assert np.allclose(mismatch(probabilities(W, X), X, y), 2 / len(y) * W, atol=1e-6)


@pytest.mark.parametrize("name", DATA)
def test_strong_duality(name):
    X, y = DATA[name]
    penalty = 1 / (2 * len(y))
    W = maxent(fit_intercept=False).fit(X, y).coef_
    P = probabilities(W, X)
    assert dual(P, X, y, penalty) == pytest.approx(primal(W, X, y, penalty), rel=1e-8)
    assert np.allclose(W, mismatch(P, X, y) / (2 * penalty), atol=1e-5)


@settings(max_examples=50, deadline=None)
@given(seed=st.integers(0, 10**6), scale=st.floats(0, 3), penalty=st.floats(1e-4, 10))
def test_weak_duality(seed, scale, penalty):
    X, y = DATA["iris"]
    rng = np.random.default_rng(seed)
    W, P = rng.normal(size=(3, 4)) * scale, rng.dirichlet(np.ones(3), size=len(y))
    assert dual(P, X, y, penalty) <= primal(W, X, y, penalty) + 1e-9


def test_no_other_distributions_with_these_expectations_have_more_entropy():
    cvxpy = pytest.importorskip("cvxpy")
    X, y = (part[::5] for part in DATA["iris"])
    model = maxent(C=0.5).fit(X, y)
    P, Q = model.predict_proba(X), cvxpy.Variable((len(y), 3))
    same = [Q.T @ X == P.T @ X, cvxpy.sum(Q, axis=0) == P.sum(axis=0), cvxpy.sum(Q, axis=1) == 1]
    cvxpy.Problem(cvxpy.Maximize(cvxpy.sum(cvxpy.entr(Q))), same).solve(solver=cvxpy.CLARABEL)
    assert np.allclose(Q.value, P, atol=1e-4)
    assert entr(Q.value).sum() == pytest.approx(entr(P).sum(), rel=1e-6)


def test_large_scores_neither_overflow_nor_vanish():
    X, y = DATA["wine"]
    model = SYSTEMS["maxent"]().fit(X, y)
    D = model.decision_function(1e6 * X)
    expected = D - logsumexp(D, axis=1, keepdims=True)
    assert np.allclose(model.predict_proba(1e6 * X), np.exp(expected))
    assert np.allclose(model.predict_proba(1e6 * X).sum(axis=1), 1)


def test_a_negative_penalty_is_refused():
    with pytest.raises(ValueError, match="'C' parameter"):
        maxent(C=-1.0).fit(*DATA["iris"])
