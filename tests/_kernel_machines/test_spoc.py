"""The solver of multiclass machines: against a general QP solver, the published examples, and its own certificate."""

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from outputcodes._ground.blocks import threads
from outputcodes._kernel_machines.gram import Gram
from outputcodes._kernel_machines.kernel_function import Kernel
from outputcodes._kernel_machines.spoc import reduced as kernels
from outputcodes._kernel_machines.spoc import solve
from outputcodes._kernel_machines.spoc import vectors as explicit

SIX = np.array([[1.0, 1], [1, -1], [-1, 1], [-1, -1], [1, 1], [1, -1]])
SIX_LABELS = np.array([0, 1, 2, 2, 1, 1])


def primal_solver(H, y, k, beta, b, w, paired):
    """The objective and M by a general solver, from the definition of the slacks."""
    M = cp.Variable((k, H.shape[1]))
    loss = 0
    for i in range(len(y)):
        scores = M @ H[i]
        excess = b[i] + scores - scores[y[i]]
        loss += w[i] * (sum(cp.pos(excess[r]) for r in range(k) if r != y[i]) if paired else cp.max(excess))
    problem = cp.Problem(cp.Minimize(beta / 2 * cp.sum_squares(M) + loss))
    return problem.solve(solver="CLARABEL"), M.value


def values(H, y, k, beta, b, w, tau, paired):
    """Objective at M(τ) and dual value at τ, from the definitions, one example at a time."""
    M = tau.T @ H / beta
    primal, dual = beta / 2 * (M**2).sum(), -beta / 2 * (M**2).sum() - (tau * b).sum()
    for i in range(len(y)):
        excess = [b[i, r] + H[i] @ M[r] - H[i] @ M[y[i]] for r in range(k)]
        wrong = [max(0, excess[r]) for r in range(k) if r != y[i]]
        primal += w[i] * (sum(wrong) if paired else max(excess))
        dual += w[i] * b[i, y[i]]
    return primal, dual


def some_problem(seed, arbitrary=False):
    rng = np.random.default_rng(seed)
    n, k, L = int(rng.integers(5, 25)), int(rng.integers(2, 11)), int(rng.integers(1, 5))
    H, y = rng.normal(size=(n, L)), rng.integers(k, size=n)
    b = rng.normal(size=(n, k)) if arbitrary else 1 - np.eye(k)[y]
    return H, y, k, float(10 ** rng.uniform(-1, 1)), b, rng.uniform(0.1, 2, n)


def as_gram(H, megabytes=1.0):
    return Gram(Kernel("linear"), H, np.float64, megabytes)


@pytest.mark.parametrize("paired", [False, True])
@pytest.mark.parametrize("seed", range(6))
def test_value_and_matrix_are_a_qp_solvers(seed, paired):
    H, y, k, beta, b, w = some_problem(seed, arbitrary=seed % 2 == 1 and not paired)
    H[0] = 0  # an example that no machine can see
    value, M = primal_solver(H, y, k, beta, b, w, paired)
    for data in (H, sparse.csr_matrix(H), as_gram(H)):
        answer = solve(data, y, k, beta=beta, weight=w, targets=b, paired=paired, tol=1e-7)
        assert answer.certificate.converged
        assert answer.certificate.value == pytest.approx(value, rel=1e-5)
        assert np.allclose(answer.tau.T @ H / beta, M, atol=1e-4)
        if answer.M is not None:
            assert np.allclose(answer.M, M, atol=1e-4)


@pytest.mark.parametrize(("beta", "value"), [(0.5, 7 / 3), (1, 8 / 3), (4, 4.25)])
def test_published_example(beta, value):
    for data in (SIX, as_gram(SIX)):
        answer = solve(data, SIX_LABELS, 3, beta=beta, tol=1e-10)
        assert answer.certificate.value == pytest.approx(value, rel=1e-9)
        if beta == 1:
            M = answer.tau.T @ SIX
            assert np.allclose(M, [[1 / 6, 1 / 6], [2 / 3, -1 / 3], [-5 / 6, 1 / 6]], atol=1e-8)


@pytest.mark.parametrize("paired", [False, True])
@pytest.mark.parametrize("max_iter", [1, 2, 5, 1000])
def test_the_certificate_is_true_wherever_the_solver_stops(paired, max_iter):
    for seed in range(4):
        H, y, k, beta, b, w = some_problem(seed)
        for data in (H, as_gram(H)):
            answer = solve(
                data, y, k, beta=beta, weight=w, targets=b, paired=paired, tol=1e-9, max_iter=max_iter, seed=seed
            )
            tau, certificate = answer.tau, answer.certificate
            primal, dual = values(H, y, k, beta, b, w, tau, paired)
            assert certificate.value == pytest.approx(primal, rel=1e-9)
            assert certificate.gap == pytest.approx(primal - dual, abs=1e-9 * primal)
            wrong = np.eye(k)[y] == 0
            assert np.abs(tau.sum(axis=1)).max() <= 1e-12 * w.max()
            assert (tau[wrong] <= 0).all()
            assert (tau[~wrong] <= w + 1e-12).all() or paired
            assert (tau >= -w[:, None] - 1e-12).all()
            F = b + H @ (tau.T @ H / beta).T
            psi = []
            for i in range(len(y)):
                below = [r for r in range(k) if tau[i, r] < w[i] * (r == y[i]) - 1e-12]
                up = [r for r in range(k) if r != y[i] and tau[i, r] > -w[i] + 1e-12]
                down = [r for r in range(k) if r != y[i] and tau[i, r] < -1e-12]
                own = F[i, y[i]]
                moves = [F[i, r] - own for r in up] + [own - F[i, r] for r in down] + [0]
                psi.append(max(moves) if paired else F[i].max() - min(F[i, below]))
            assert certificate.violation == pytest.approx(max(psi), abs=1e-8)
            factor = k - 1 if paired else 1
            assert -1e-12 <= certificate.gap <= factor * (w @ psi) + 1e-9


@pytest.mark.parametrize("paired", [False, True])
def test_the_dual_never_falls(monkeypatch, paired):
    monkeypatch.setattr("outputcodes._kernel_machines.spoc.gram.ClassesTogether.size", 20)
    rng = np.random.default_rng(3)
    H, y = rng.normal(size=(100, 4)), rng.integers(5, size=100)
    for data in (H, as_gram(H)):
        duals = []
        for max_iter in range(1, 12):
            c = solve(data, y, 5, paired=paired, tol=1e-12, max_iter=max_iter).certificate
            duals.append(c.value - c.gap)
        assert (np.diff(duals) >= -1e-12 * duals[-1]).all()
        assert duals[-1] > duals[0] >= 0


def test_published_reduced_problem():
    D = np.array([1, 0.2, 0.6, 0.8, 0.6, -1e30, -1e30, -1e30])
    theta = kernels.threshold(D, D.max() - 1, 1.0)
    assert theta == pytest.approx(0.5, abs=1e-12)
    assert np.minimum(theta, D)[:5] == pytest.approx([0.5, 0.2, 0.5, 0.5, 0.5])
    assert np.minimum(theta, D)[:5].sum() == pytest.approx(2.2)


@given(st.lists(st.floats(-100, 100), min_size=2, max_size=40), st.floats(1e-3, 100))
@settings(max_examples=200, deadline=None)
def test_threshold_by_sorting(entries, total):
    """The O(k log k) solution as published, with Φ."""
    D = np.full(-(-len(entries) // 8) * 8, -1e30)
    D[: len(entries)] = entries
    ordered, phi = sorted(entries, reverse=True), total
    for r in range(1, len(entries) + 1):
        following = phi - r * (ordered[r - 1] - ordered[r]) if r < len(entries) else -np.inf
        if phi > 0 >= following:
            expected = ordered[r - 1] - phi / r
            break
        phi = following
    assert kernels.threshold(D, D.max() - total, total) == pytest.approx(expected, rel=1e-12, abs=1e-11)


@pytest.mark.parametrize("paired", [False, True])
@pytest.mark.parametrize("square", [0.0, 0.3, 4.0])
def test_reduced_solution_is_a_qp_solvers(paired, square):
    rng = np.random.default_rng(5)
    for k in (2, 3, 7):
        F, cost, y = rng.normal(size=k), 0.7, int(rng.integers(k))
        padded = np.full(8, -1e30)
        padded[:k] = F
        eta, step = np.zeros(8), np.empty(8)
        eta[y] = cost
        _, most, mean, _ = kernels.judge(padded, eta, y, cost, paired)
        kernels.reduce(padded, eta, y, cost, square, paired, most, mean, step)
        tau = cp.Variable(k)
        wrong = np.arange(k) != y
        bounds = [tau[wrong] >= -cost, tau[wrong] <= 0] if paired else [tau <= cost * ~wrong]
        objective = square / 2 * cp.sum_squares(tau) + F @ tau
        best = cp.Problem(cp.Minimize(objective), [*bounds, cp.sum(tau) == 0]).solve(solver="CLARABEL")
        ours = step[:k]
        assert ours.sum() == pytest.approx(0, abs=1e-12)
        assert square / 2 * (ours**2).sum() + F @ ours == pytest.approx(best, abs=1e-7)


@pytest.mark.parametrize("paired", [False, True])
def test_weights_are_repetitions(paired):
    H, y, k, beta, _, _ = some_problem(8)
    times = np.arange(len(y)) % 4  # some of them 0
    repeated = np.repeat(np.arange(len(y)), times)
    once = solve(H, y, k, beta=beta, weight=times.astype(float), paired=paired, tol=1e-9)
    often = solve(H[repeated], y[repeated], k, beta=beta, paired=paired, tol=1e-9)
    assert once.certificate.value == pytest.approx(often.certificate.value, rel=1e-9)
    assert np.allclose(once.M, often.M, atol=1e-7)
    assert not once.tau[times == 0].any()
    on_gram = solve(as_gram(H), y, k, beta=beta, weight=times.astype(float), paired=paired, tol=1e-9)
    assert on_gram.certificate.value == pytest.approx(often.certificate.value, rel=1e-9)


def test_paired_machines_scale():
    H, y, k, beta, b, w = some_problem(9)
    one = solve(H, y, k, beta=beta, weight=w, paired=True, tol=1e-10)
    two = solve(H, y, k, beta=beta, weight=2 * w, targets=2 * b, paired=True, tol=1e-10)
    assert np.allclose(two.M, 2 * one.M, atol=1e-7)
    whole = solve(H, y, k, beta=beta, weight=w, tol=1e-10)
    assert one.certificate.value >= whole.certificate.value


@pytest.mark.parametrize("paired", [False, True])
def test_a_start_changes_only_the_way(paired):
    H, y, k, beta, _, w = some_problem(10)
    cold = solve(H, y, k, beta=beta, weight=w, paired=paired, tol=1e-9)
    for data in (H, as_gram(H)):
        again = solve(data, y, k, beta=beta, weight=w, paired=paired, start=cold.tau, tol=1e-8)
        assert again.certificate.iterations <= 1
        # Starts of other weights and another β, or wild ones, are brought within bounds.
        for start in (5 * cold.tau, np.random.default_rng(0).normal(size=cold.tau.shape)):
            warm = solve(data, y, k, beta=beta, weight=w, paired=paired, start=start, tol=1e-9)
            assert np.allclose(warm.tau.T @ H, cold.tau.T @ H, atol=1e-6)


def test_order_calls_and_rows_don_t_matter(monkeypatch):
    H, y, k, beta, _, w = some_problem(11)
    reference = solve(H, y, k, beta=beta, weight=w, tol=1e-9)
    order = np.random.default_rng(0).permutation(len(y))
    for seed in range(3):
        other = solve(H[order], y[order], k, beta=beta, weight=w[order], tol=1e-9, seed=seed)
        assert np.allclose(other.M, reference.M, atol=1e-7)
    # Work cut into many short calls takes the very same steps.
    monkeypatch.setattr(explicit, "VALUES_A_CALL", 1)
    in_pieces = solve(H, y, k, beta=beta, weight=w, tol=1e-9)
    assert np.array_equal(in_pieces.tau, reference.tau)


def test_small_working_sets_and_caches(monkeypatch):
    rng = np.random.default_rng(12)
    H = rng.normal(size=(300, 3))
    y = (H @ rng.normal(size=(3, 4)) + 0.3 * rng.normal(size=(300, 4))).argmax(axis=1)
    reference = solve(H, y, 4, tol=1e-6)
    monkeypatch.setattr("outputcodes._kernel_machines.spoc.gram.ClassesTogether.size", 40)
    answers = []
    for jobs in (1, 2):
        with threads(jobs) as run:
            # 0.1 MB hold 43 of the 300 rows.
            answers.append(solve(as_gram(H, 0.1), y, 4, tol=1e-6, run=run))
    roomy = solve(as_gram(H), y, 4, tol=1e-6)
    assert np.array_equal(answers[0].tau, answers[1].tau)
    assert np.allclose(answers[0].tau.T @ H, roomy.tau.T @ H, atol=1e-6)
    assert roomy.certificate.iterations > 5
    assert roomy.certificate.value == pytest.approx(reference.certificate.value, rel=1e-6)


@pytest.mark.parametrize("paired", [False, True])
def test_vectors_that_are_alike(paired):
    """Far from the origin single examples can only creep; strides of all of them get there."""
    H = np.random.RandomState(0).normal(loc=100, size=(100, 2))
    y = np.where(H[:, 0] > H[:, 0].mean(), 1, 0)
    value, _ = primal_solver(H, y, 2, 1.0, 1 - np.eye(2)[y], np.ones(100), paired)
    for data in (H, as_gram(H)):
        answer = solve(data, y, 2, paired=paired, tol=1e-3, max_iter=200_000)
        assert answer.certificate.converged
        assert answer.certificate.value == pytest.approx(value, rel=1e-5)


def test_norms_that_overflow_are_refused():
    with pytest.raises(ValueError, match="scale the features"):
        solve(np.array([[1e200], [1.0]]), np.array([0, 1]), 2)


def test_indefinite_kernels_are_refused():
    y = np.array([0, 1, 2])
    for K in (-np.eye(3), np.array([[1.0, -9, -9], [-9, 1, -9], [-9, -9, 1]])):
        with pytest.raises(ValueError, match="not positive semidefinite"):
            solve(Gram(Kernel("precomputed"), K, np.float64, 1), y, 3)
