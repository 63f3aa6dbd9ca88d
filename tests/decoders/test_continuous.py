"""Continuous codes against a general solver, the worked example, the dual programs and the published properties."""

from __future__ import annotations

from contextlib import nullcontext

import cvxpy as cp
import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import RidgeClassifier

from outputcodes import OutputCodeClassifier, codes
from outputcodes.decoders import _linear_programs, as_decoder
from outputcodes.decoders.continuous import Continuous

NORMS = ("l1", "l2", "linf")
VECTOR_NORM = {"l1": 1, "l2": 2, "linf": "inf"}


def a_problem(seed, n=40, k=4, L=3):
    rng = np.random.default_rng(seed)
    y = np.concatenate([np.arange(k), rng.integers(k, size=n - k)])
    M = np.where(np.arange(L) == (np.arange(k) % L)[:, None], 1, -1)
    M[-1] = 1
    return M[y] + rng.normal(size=(n, L)), y, M


def losses(H, y, M, b=None):
    """max_r(h·M_r + b_r) − h·M_y, by loops."""
    k = len(M)
    out = []
    for i, (h, label) in enumerate(zip(H, y, strict=True)):
        rows = [h @ M[r] + (float(r != label) if b is None else b[i, r]) for r in range(k)]
        out.append(max(rows) - h @ M[label])
    return np.array(out)


def general_solver(H, y, k, norm, beta=None, bound=None, weight=None):
    M, xi = cp.Variable((k, H.shape[1])), cp.Variable(len(H))
    weight = np.ones(len(H)) if weight is None else weight
    apart = [xi[i] + H[i] @ M[y[i]] - H[i] @ M[r] >= float(r != y[i]) for i in range(len(H)) for r in range(k)]
    length = cp.norm(cp.vec(M, order="C"), VECTOR_NORM[norm])
    if bound is not None:
        program = cp.Problem(cp.Minimize(weight @ xi), [*apart, length <= bound])
    else:
        penalty = beta / 2 * cp.sum_squares(M) if norm == "l2" else beta * length
        program = cp.Problem(cp.Minimize(penalty + weight @ xi), apart)
    return program.solve(solver=cp.CLARABEL), M.value


EXAMPLE = np.array([[1, 1], [1, -1], [-1, 1], [-1, -1], [1, 1], [1, -1]], dtype=float), np.array([0, 1, 2, 2, 1, 1])


@pytest.mark.parametrize(("beta", "values"), [(0.5, (3, 7 / 3, 2.375)), (1.0, (4, 8 / 3, 2.75)), (4.0, (6, 4.25, 5))])
def test_worked_example(beta, values):
    H, y = EXAMPLE
    code = np.array([[1, 1], [1, -1], [-1, 1]])
    for norm, value in zip(NORMS, values, strict=True):
        decoder = Continuous(norm, beta=beta, tol=1e-8)
        with pytest.warns(UserWarning, match="Decrease beta") if value == len(y) else nullcontext():
            decoder.fit(H, y, code)
        assert decoder.objective_ == pytest.approx(value, rel=1e-6)
    if beta == 1.0:
        expected = [[1 / 6, 1 / 6], [2 / 3, -1 / 3], [-5 / 6, 1 / 6]]
        np.testing.assert_allclose(Continuous(beta=1.0, tol=1e-8).fit(H, y, code).matrix_, expected, atol=1e-6)


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("seed", range(3))
def test_a_general_solver_finds_the_same_optimum(norm, seed):
    H, y, M = a_problem(seed)
    weight = np.random.default_rng(seed).uniform(0.2, 2.0, size=len(y))
    for beta in (0.3, 3.0):
        fitted = Continuous(norm, beta=beta, tol=1e-7).fit(H, y, M, weight)
        value, matrix = general_solver(H, y, len(M), norm, beta, weight=weight)
        assert fitted.objective_ == pytest.approx(value, rel=1e-5)
        assert 0 <= fitted.gap_ <= 1e-5 * value
        # The value reported is the value of the matrix reported.
        length = {"l1": np.abs(fitted.matrix_).sum(), "linf": np.abs(fitted.matrix_).max()}
        penalty = beta / 2 * (fitted.matrix_**2).sum() if norm == "l2" else beta * length[norm]
        assert penalty + weight @ losses(H, y, fitted.matrix_) == pytest.approx(fitted.objective_, rel=1e-9)
        if norm == "l2":
            np.testing.assert_allclose(fitted.matrix_, matrix, atol=1e-3)
            np.testing.assert_allclose(fitted.matrix_.sum(axis=0), 0.0, atol=1e-9)


@pytest.mark.parametrize("norm", NORMS)
def test_a_general_solver_agrees_under_a_hard_bound(norm):
    H, y, M = a_problem(5)
    for bound in (0.1, 0.7, 50.0):
        fitted = Continuous(norm, bound=bound, tol=1e-7).fit(H, y, M)
        value, _ = general_solver(H, y, len(M), norm, bound=bound)
        size = {"l1": np.abs(fitted.matrix_).sum(), "l2": np.sqrt((fitted.matrix_**2).sum())}
        assert size.get(norm, np.abs(fitted.matrix_).max()) <= bound * (1 + 1e-6)
        assert losses(H, y, fitted.matrix_).sum() == pytest.approx(value, rel=1e-5, abs=1e-5)
        assert fitted.slack_[-1] == pytest.approx(fitted.objective_, rel=1e-9, abs=1e-9)
        assert 0 <= fitted.gap_ <= 1e-4 * len(y)


def test_the_dual_programs_have_the_same_value():
    H, y, M = a_problem(7)
    n, k = len(H), len(M)
    b = 1.0 - np.eye(k)[y]
    for beta in (0.5, 2.0):
        for norm in ("l1", "linf"):
            eta = cp.Variable((n, k), nonneg=True)
            pull = H.T @ (np.eye(k)[y] - eta)
            within = cp.max(cp.abs(pull)) <= beta if norm == "l1" else cp.sum(cp.abs(pull)) <= beta
            dual = cp.Problem(cp.Maximize(cp.sum(cp.multiply(eta, b))), [cp.sum(eta, axis=1) == 1, within])
            assert Continuous(norm, beta=beta).fit(H, y, M).objective_ == pytest.approx(
                dual.solve(solver=cp.CLARABEL), rel=1e-6
            )


@pytest.mark.parametrize("kernel", ["rbf", "poly", lambda A, B: (1.0 + A @ B.T) ** 2])
def test_kernels_reach_the_dual_optimum(kernel):
    H, y, M = a_problem(11)
    n, k, beta = len(H), len(M), 0.7
    decoder = Continuous(kernel=kernel, gamma=0.5, degree=2, coef0=1.0, beta=beta, tol=1e-7).fit(H, y, M)
    distances = ((H[:, None] - H) ** 2).sum(axis=2)
    K = np.exp(-0.5 * distances) if kernel == "rbf" else (1.0 + (0.5 if kernel == "poly" else 1.0) * H @ H.T) ** 2
    values, vectors = np.linalg.eigh(K)
    root = vectors * np.sqrt(np.maximum(values, 0))
    tau = cp.Variable((n, k))
    b = 1.0 - np.eye(k)[y]
    dual = cp.Problem(
        cp.Maximize(-cp.sum_squares(root.T @ tau) / (2 * beta) - cp.sum(cp.multiply(tau, b))),
        [tau <= np.eye(k)[y], cp.sum(tau, axis=1) == 0],
    )
    assert decoder.objective_ == pytest.approx(dual.solve(solver=cp.CLARABEL), rel=1e-5)
    assert 0 <= decoder.gap_ <= 1e-5 * decoder.objective_
    D = decoder.scores(H, M)
    assert decoder.slack_[-1] == pytest.approx(losses(D, y, np.eye(k)).sum(), rel=1e-6)
    np.testing.assert_allclose(decoder.scores(H, M), K @ tau.value / beta, atol=1e-4)


@pytest.mark.parametrize("norm", NORMS)
def test_published_properties(norm):
    H, y, M = a_problem(13, n=80)
    sizes = []
    for beta in (0.1, 1.0, 10.0, 1000.0):
        fitted = Continuous(norm, beta=beta, tol=1e-6)
        with pytest.warns(UserWarning, match="Decrease beta") if beta == 1000.0 and norm != "l2" else nullcontext():
            fitted.fit(H, y, M)
        assert fitted.objective_ <= len(y) * (1 + 1e-9)
        error = (fitted.predict(H, M) != y).mean()
        assert error <= losses(H, y, fitted.matrix_).mean() + 1e-12
        sizes.append(_linear_programs.size(fitted.matrix_, norm))
    assert (np.diff(sizes) <= 1e-6).all()
    if norm == "l2":
        # Where every example has a loss, the matrix is a sum over the examples divided by beta.
        ten_times = Continuous(norm, beta=10_000.0, tol=1e-9).fit(H, y, M).matrix_
        once = Continuous(norm, beta=1000.0, tol=1e-9).fit(H, y, M).matrix_
        np.testing.assert_allclose(once, 10 * ten_times, atol=1e-8)
    else:
        assert not fitted.matrix_.any()


@pytest.mark.parametrize("norm", NORMS)
def test_weights_are_repetitions(norm):
    H, y, M = a_problem(19)
    times = np.random.default_rng(0).integers(0, 3, size=len(y))
    weighted = Continuous(norm, tol=1e-7).fit(H, y, M, times.astype(float))
    repeated = Continuous(norm, tol=1e-7).fit(np.repeat(H, times, axis=0), np.repeat(y, times), M)
    assert weighted.objective_ == pytest.approx(repeated.objective_, rel=1e-6)


def test_in_the_classifier_it_predicts_by_its_own_matrix():
    X, y = load_iris(return_X_y=True)
    M = codes.Dense().draw(3, random_state=0).matrix()
    for margins in ("train", "held-out"):
        model = OutputCodeClassifier(RidgeClassifier(), code=M, decoder=Continuous(margins=margins)).fit(X, y)
        F = model.margins(X)
        np.testing.assert_allclose(model.decision_function(X), F @ model.decoder_.matrix_.T)
        assert (model.predict(X) == (F @ model.decoder_.matrix_.T).argmax(axis=1)).all()


def test_margins_that_no_fold_could_give_say_nothing():
    H, y, M = a_problem(23)
    missing = H.copy()
    missing[::5, 1] = np.nan
    zero = np.nan_to_num(missing)
    np.testing.assert_array_equal(Continuous("l1").fit(missing, y, M).matrix_, Continuous("l1").fit(zero, y, M).matrix_)


def test_a_program_too_large_says_what_to_do(monkeypatch):
    monkeypatch.setattr(_linear_programs, "MOST_NONZEROS", 100)
    with pytest.raises(ValueError, match=r"norm='l1' on 40 examples, 4 classes and 3 columns .* Use norm='l2'"):
        Continuous("l1").fit(*a_problem(0))


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"norm": "l3"}, "norm='l3' is unknown"),
        ({"beta": -1.0}, "beta=-1.0 must be"),
        ({"beta": 0.0}, "beta=0.0 must be positive"),
        ({"bound": 0.0}, "bound=0.0 must be"),
        ({"norm": "l1", "kernel": "rbf"}, "kernel='rbf' needs norm='l2'"),
        ({"kernel": "rbf", "incremental": True}, "incremental=True needs kernel='linear'"),
        ({"kernel": "rbf", "bound": 1.0}, "bound=1.0 needs kernel='linear'"),
        ({"kernel": "rbf", "gamma": "scale"}, "gamma='scale' must be a positive number"),
        ({"kernel": "poly", "degree": -1}, "degree=-1 must be"),
        ({"margins": "test"}, "margins='test' is unknown"),
    ],
)
def test_bad_parameters(parameters, message):
    with pytest.raises(ValueError, match=message):
        Continuous(**parameters).fit(*a_problem(0))


@pytest.mark.parametrize("norm", NORMS)
def test_the_unit_of_the_margins_does_not_matter_under_a_bound(norm):
    H, y, M = a_problem(31)
    slack = [Continuous(norm, bound=0.5 / unit, tol=1e-6).fit(unit * H, y, M).objective_ for unit in (1e-6, 1.0, 1e6)]
    np.testing.assert_allclose(slack, slack[1], rtol=1e-4)


@pytest.mark.parametrize("name", ["accuracy-weighted", "likelihood", "coupling", "continuous"])
def test_what_was_learned_from_other_columns_is_refused(name):
    H, y, M = a_problem(37)
    decoder = as_decoder(name)
    with pytest.raises(NotFittedError):
        decoder.scores(H, M)
    fitted = decoder.fit(H, y, M)
    with pytest.raises(ValueError, match="was fitted on 3 columns but this code has 2"):
        fitted.scores(H[:, :2], M[:, :2])


def test_beta_zero_is_for_the_linear_programs():
    H, y, M = a_problem(29, n=12)
    for norm in ("l1", "linf"):
        fitted = Continuous(norm, beta=0.0).fit(H, y, M)
        value, _ = general_solver(H, y, len(M), norm, beta=0.0)
        assert fitted.objective_ == pytest.approx(value, abs=1e-5)
