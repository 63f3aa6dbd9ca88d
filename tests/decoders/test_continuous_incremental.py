"""Continuous codes chosen column after column: each addition by a general solver, and where nothing can be learned."""

from __future__ import annotations

import re
import warnings

import cvxpy as cp
import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning

from outputcodes import OutputCodeClassifier, codes
from outputcodes.decoders import _linear_programs, continuous
from outputcodes.decoders.continuous import Continuous

NORMS = ("l1", "l2", "linf")
BETA = 0.5


def a_problem(seed, n=64, k=8, L=5):
    """Margins that follow a dense code with several classes on either side of its columns."""
    rng = np.random.default_rng(seed)
    y = np.concatenate([np.arange(k), rng.integers(k, size=n - k)])
    M = codes.Dense(length=L).draw(k, random_state=seed).matrix()
    return M[y] + rng.normal(size=(n, L)), y, M


def losses(H, y, M):
    """max_r(h·M_r + [r ≠ y]) − h·M_y, by loops."""
    return np.array(
        [max(h @ M[r] + (r != own) for r in range(len(M))) - h @ M[own] for h, own in zip(H, y, strict=True)]
    )


def length(M, norm):
    return {"l1": np.abs(M).sum(), "l2": (M**2).sum() / 2, "linf": np.abs(M).max()}[norm]


def best_addition(H, y, D, norm, weight):
    """The columns for margins H that serve best beside scores D of columns that stay: their value, and they."""
    k = D.shape[1]
    M, xi = cp.Variable((k, H.shape[1])), cp.Variable(len(H))
    scores = H @ M.T + D
    own = cp.reshape(cp.sum(cp.multiply(scores, np.eye(k)[y]), axis=1) + xi, (len(H), 1), order="C")
    apart = [scores + (1 - np.eye(k)[y]) <= own @ np.ones((1, k))]
    entries = cp.vec(M, order="C")
    penalty = cp.sum_squares(M) / 2 if norm == "l2" else cp.norm(entries, 1 if norm == "l1" else "inf")
    value = cp.Problem(cp.Minimize(BETA * penalty + weight @ xi), apart).solve(solver=cp.CLARABEL)
    return value, M.value


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_every_addition_is_the_best_one_and_columns_that_gain_nothing_wait(norm, seed):
    H, y, code = a_problem(seed)
    weight = np.random.default_rng(seed).uniform(0.5, 1.5, size=len(y))
    fitted = Continuous(norm, beta=BETA, incremental=True, tol=1e-6).fit(H, y, code, weight)
    M, before, first, waited, spent = fitted.matrix_, weight.sum(), 0, 0, 0.0
    for last in range(1, H.shape[1] + 1):
        block = slice(first, last)
        value, matrix = best_addition(H[:, block], y, H[:, :first] @ M[:, :first].T, norm, weight)
        slack = fitted.slack_[last - 1]
        if value > before * (1 - 1e-6):
            assert slack == pytest.approx(before, rel=1e-12)
            waited += 1
            continue
        # Solutions of the linear programs need not be unique, their values are.
        spent += BETA * length(M[:, block], norm)
        assert BETA * length(M[:, block], norm) + slack == pytest.approx(value, rel=1e-5)
        assert slack == pytest.approx(weight @ losses(H[:, :last], y, M[:, :last]), rel=1e-9)
        assert slack <= before
        if norm == "l2":
            np.testing.assert_allclose(M[:, block], matrix, atol=1e-3)
        before, first = slack, last
    assert not M[:, first:].any()
    assert 0 < waited < H.shape[1]
    assert fitted.objective_ == pytest.approx(spent + before, rel=1e-9)
    assert 0 <= fitted.gap_ <= 1e-4 * fitted.objective_


@pytest.mark.parametrize("norm", NORMS)
def test_columns_that_gain_alone_do_not_wait(norm):
    """One class against the rest has all positive margins of its column."""
    _, y, _ = a_problem(3)
    M = codes.OneVsAll().draw(8).matrix()
    H = M[y] + 0.1 * np.random.default_rng(3).normal(size=(len(y), 8))
    fitted = Continuous(norm, beta=BETA, incremental=True, tol=1e-6).fit(H, y, M)
    assert (np.diff(fitted.slack_, prepend=len(y)) < -1e-3).all()
    whole = Continuous(norm, beta=BETA, tol=1e-6).fit(H, y, M)
    assert whole.objective_ <= fitted.slack_[-1] + BETA * length(fitted.matrix_, norm) + 1e-6


@pytest.mark.parametrize("norm", NORMS)
def test_on_a_short_dense_code_it_learns_and_can_predict_every_class(norm):
    X, y = load_digits(return_X_y=True)
    X, y = X[:300] / 16, y[:300]
    model = OutputCodeClassifier(
        "logistic", code=codes.Dense(length=6), decoder=Continuous(norm, incremental=True), random_state=0
    )
    slack = model.fit(X, y).decoder_.slack_
    assert (np.diff(slack, prepend=len(y)) <= 0).all()
    assert (model.predict(X) != y).sum() <= slack[-1] < len(y) / 2
    assert np.array_equal(np.unique(model.predict(X)), np.arange(10))


# No class has more than half of the margins of one sign, so pulling towards any class costs the others more than it
# wins: 0 is optimal for every norm, every β and every bound.
EVEN = np.repeat([1.0, 1.0, 1.0, -1.0, -1.0, -1.0], 5)[:, None], np.repeat(np.arange(6), 5)


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize(("form", "remedy"), [({"beta": 0.1}, "Decrease beta"), ({"bound": 3.0}, "Increase bound")])
@pytest.mark.parametrize("incremental", [False, True])
def test_where_nothing_can_be_learned_it_says_so_and_the_given_code_decides(norm, form, remedy, incremental):
    (H, y), M = EVEN, np.array([[1], [1], [1], [-1], [-1], [-1]])
    assert best_addition(H, y, np.zeros((30, 6)), norm, np.ones(30))[0] == pytest.approx(30, rel=1e-6)
    with pytest.warns(UserWarning, match=f"learned nothing.* 1 columns for 6 classes.*given code. {remedy}"):
        fitted = Continuous(norm, incremental=incremental, **form).fit(H, y, M)
    assert not fitted.matrix_.any()
    assert fitted.slack_.tolist() == [30.0]
    assert fitted.objective_ == 30.0
    F = np.array([[0.3], [-2.0]])
    assert np.array_equal(fitted.predict(F, M), [0, 3])
    np.testing.assert_allclose(fitted.scores(F, M), F @ M.T)


@pytest.mark.parametrize("kernel", ["rbf", lambda A, B: A @ B.T])
def test_kernels_too(kernel):
    (H, y), M = EVEN, np.array([[1], [1], [1], [-1], [-1], [-1]])
    with pytest.warns(UserWarning, match="learned nothing"):
        fitted = Continuous(kernel=kernel).fit(H if kernel != "rbf" else 0 * H, y, M)
    assert fitted.objective_ == fitted.slack_[0] == 30.0
    np.testing.assert_allclose(fitted.scores(H, M), H @ M.T)


@pytest.mark.parametrize(
    ("form", "remedy"),
    [({}, "increase beta or tol"), ({"kernel": "rbf"}, "increase beta"), ({"bound": 2.0}, "decrease bound")],
)
def test_what_helps_where_it_does_not_converge_fits_the_form(form, remedy, monkeypatch):
    exact = continuous._spoc.solve

    def unfinished(*args, **kwargs):
        answer = exact(*args, **kwargs)
        certificate = answer.certificate._replace(converged=False, gap=0.1 * answer.certificate.value)
        return answer._replace(certificate=certificate)

    monkeypatch.setattr(continuous._spoc, "solve", unfinished)
    with pytest.warns(ConvergenceWarning, match=re.escape(remedy)) as said:
        Continuous(**form).fit(*a_problem(0))
    assert all("beta" not in str(one.message) for one in said if "bound" in form)
    assert {one.filename for one in said} == {__file__}


@pytest.mark.filterwarnings("ignore:Continuous. SPOC stopped")
@pytest.mark.parametrize("norm", NORMS)
def test_columns_after_the_sample_is_separated_add_nothing(norm):
    rng = np.random.default_rng(1)
    y, code = np.arange(40) % 3, rng.choice([-1, 1], size=(3, 8))
    H = 2 * code[y] + rng.normal(size=(40, 8))
    fitted = Continuous(norm, incremental=True, bound=1.0).fit(H, y, code)
    slack = np.array([losses(H[:, :last], y, fitted.matrix_[:, :last]).sum() for last in range(1, 9)])
    np.testing.assert_allclose(fitted.slack_, slack, atol=1e-9)
    done = np.flatnonzero(fitted.slack_ <= 1e-12 * len(y))
    assert len(done) > 1
    assert not fitted.matrix_[:, done[1:]].any()


def test_a_bound_that_does_not_bind_is_no_worse_than_a_price():
    """Where one column cannot separate the classes and β tends to 0, SPOC stops short: what it found before counts."""
    rng = np.random.default_rng(0)
    y, code = np.arange(60) % 4, codes.Dense(length=12).draw(4, random_state=0).matrix()
    H = 2 * code[y][:, :1] + 0.1 * rng.normal(size=(60, 12))[:, :1]
    fitted = Continuous(bound=3.0).fit(H, y, code[:, :1])
    assert fitted.slack_[0] <= Continuous(beta=0.1, tol=1e-9).fit(H, y, code[:, :1]).slack_[0] + 1e-6
    assert fitted.gap_ < 1e-3 * fitted.slack_[0]


def test_small_margins_are_learned_from_too():
    """What counts is how much of the value is won, not how large M or the margins are."""
    H, y, M = a_problem(5)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        small = Continuous("l2", tol=1e-9, beta=1e-6).fit(1e-3 * H, y, M)
    assert small.objective_ == pytest.approx(Continuous("l2", tol=1e-9).fit(H, y, M).objective_, rel=1e-6)
    assert _linear_programs.size(small.matrix_, "l2") > 0
