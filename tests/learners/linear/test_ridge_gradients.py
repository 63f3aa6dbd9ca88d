"""Ridge by conjugate gradients is Ridge by factorisation, within the tolerance, on any sparse sample."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning

from outputcodes.learners import Ridge
from outputcodes.learners.linear import ridge_gradients, ridge_systems


@pytest.fixture
def by_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """Solve every sparse system by conjugate gradients."""
    monkeypatch.setattr(ridge_systems, "ALWAYS_FACTORISED", 0)
    monkeypatch.setattr(ridge_systems, "PRICE_OF_A_VALUE", 0)
    monkeypatch.setattr(ridge_systems, "pays", lambda *sizes: False)
    monkeypatch.setattr(ridge_gradients, "SMALL_RESIDUAL", 1e-10)


def sample(n: int, d: int, k: int, seed: int = 0) -> tuple[sp.csr_array, np.ndarray, np.ndarray]:
    """Return sparse rows with features in very different units, classes and weights, some of them 0."""
    rng = np.random.default_rng(seed)
    X = sp.random_array((n, d), density=0.2, rng=rng, format="csr")
    X = sp.csr_array(X @ sp.diags_array(10.0 ** rng.integers(-2, 3, d)))
    return X, np.arange(n) % k, rng.integers(0, 4, n) / 2


def code(k: int, L: int, seed: int = 0) -> np.ndarray:
    """Return a ternary code whose columns have both signs."""
    M = np.random.default_rng(seed).integers(-1, 2, (k, L)).astype(np.int8)
    M[0], M[1] = 1, -1
    return M


@pytest.mark.parametrize("shape", [(90, 30), (40, 70)], ids=["tall", "wide"])
@pytest.mark.parametrize("alpha", [0.3, 10.0])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_same_columns_as_by_factorisation(shape, alpha, weighted, by_steps):
    X, y, weight = sample(*shape, k=5)
    # More columns than fit in a tile, in a group of their own, and groups with absent classes.
    M = np.hstack([np.where(code(5, 20) > 0, 1, -1), code(5, 4)]).astype(np.int8)
    M[0], M[1] = 1, -1
    column_weight = np.linspace(0.5, 2, 5)[:, None] * np.ones(M.shape[1]) if weighted else None
    learner = Ridge(alpha=alpha)
    given = (y, M, weight if weighted else None, column_weight)
    sparse = learner.fit_columns(learner.prepare(X), *given)
    dense = learner.fit_columns(learner.prepare(X.toarray()), *given)
    scale = np.abs(dense.coef).max(axis=1, initial=1e-300)[:, None]
    assert (sparse.certificate.iterations > 1).all()
    assert sparse.certificate.converged.all()
    np.testing.assert_allclose(sparse.coef / scale, dense.coef / scale, atol=1e-5)
    np.testing.assert_allclose(sparse.margins(X), dense.margins(X.toarray()), atol=1e-6)


def test_the_shortest_solution_without_a_penalty(by_steps):
    X, y, _ = sample(20, 50, k=2)
    X.data[:] = np.random.default_rng(1).normal(size=X.nnz)
    learner, M = Ridge(alpha=0.0), np.array([[-1], [1]], dtype=np.int8)
    sparse = learner.fit_columns(learner.prepare(X), y, M)
    dense = learner.fit_columns(learner.prepare(X.toarray()), y, M)
    np.testing.assert_allclose(sparse.coef, dense.coef, atol=1e-6)


def test_the_residual_is_that_of_the_normal_equations(by_steps, monkeypatch):
    monkeypatch.setattr(ridge_gradients, "MOST_STEPS", 3)
    X, y, _ = sample(60, 30, k=3)
    M = code(3, 2)
    learner = Ridge(alpha=0.01)
    with pytest.warns(ConvergenceWarning, match="did not converge"):
        fitted = learner.fit_columns(learner.prepare(X), y, M)
    for j in range(2):
        seen = np.flatnonzero(M[y, j])
        Z, t = X.toarray()[seen], M[y[seen], j].astype(float)
        Z, t = Z - Z.mean(axis=0), t - t.mean()
        left = Z.T @ t - Z.T @ (Z @ fitted.coef[:, j]) - 0.01 * fitted.coef[:, j]
        assert fitted.certificate.gap[j] == pytest.approx(np.linalg.norm(left) / np.linalg.norm(Z.T @ t), rel=1e-6)


def test_the_same_bits_for_any_number_of_threads(by_steps):
    X, y, weight = sample(80, 40, k=6)
    M = np.where(np.eye(6, 40, dtype=int) + np.roll(np.eye(6, 40, dtype=int), 7, axis=1), 1, -1).astype(np.int8)
    learner = Ridge()
    one, two = (learner.fit_columns(learner.prepare(X), y, M, weight, n_jobs=jobs) for jobs in (1, 2))
    assert np.array_equal(one.coef, two.coef)
    assert np.array_equal(one.intercept, two.intercept)


def test_size_decides(monkeypatch):
    X, y, _ = sample(60, 90, k=3)
    M = code(3, 3)
    learner = Ridge()
    assert (learner.fit_columns(learner.prepare(X), y, M).certificate.iterations == 1).all()
    monkeypatch.setattr(ridge_systems, "ALWAYS_FACTORISED", 10)
    monkeypatch.setattr(ridge_systems, "MOST_GRAM_VALUES", 30 * 30)
    large = learner.fit_columns(learner.prepare(X), y, M)
    # A column without zeros sees 60 rows, more than 30; one with a class less sees 40, one with two classes too.
    assert (large.certificate.iterations > 1).all()
    # A small group in a large sample computes a kernel matrix of its own rows.
    monkeypatch.setattr(ridge_systems, "ALWAYS_FACTORISED", 45)
    mixed = learner.fit_columns(learner.prepare(X), y, M := np.array([[1, 1], [-1, -1], [1, 0]], dtype=np.int8))
    assert mixed.certificate.iterations[0] > 1
    assert mixed.certificate.iterations[1] == 1
    dense = learner.fit_columns(learner.prepare(X.toarray()), y, M)
    np.testing.assert_allclose(mixed.margins(X), dense.margins(X.toarray()), atol=1e-3)


def test_leave_one_out_margins_of_a_large_sample_are_refused(monkeypatch):
    monkeypatch.setattr(ridge_systems, "MOST_FACTOR_VALUES", 100)
    X, y, _ = sample(60, 90, k=3)
    learner = Ridge()
    with pytest.raises(ValueError, match=r"60 rows and 90 features need a matrix of 60 × 60 .* use folds"):
        learner.leave_one_out_margins(learner.prepare(X), y, np.array([[1], [-1], [1]], dtype=np.int8))
