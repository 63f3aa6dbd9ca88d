"""Coupling against general optimisers, the published iteration for pairs, and probabilities that agree exactly."""

import cvxpy as cp
import numpy as np
import oracles
import pytest
from scipy.optimize import minimize
from scipy.special import expit, logit
from sklearn.exceptions import ConvergenceWarning

from outputcodes.decoders import Coupling, _coupling
from outputcodes.decoders._coupling import divergence_coupling, pairwise_coupling

rng_for = np.random.default_rng


def columns_of(p, M):
    """What each column would say of class probabilities p."""
    up, down = p @ (M > 0), p @ (M < 0)
    return up / (up + down)


def contradictory(rng, n, M, noise=1.5):
    """Columns that agree with no class probabilities."""
    r = columns_of(rng.dirichlet(np.ones(len(M)), size=n), M)
    return expit(logit(r) + noise * rng.normal(size=r.shape))


def divergence(p, r, M, weight):
    """The definition, term by term."""
    total = 0.0
    for s in range(M.shape[1]):
        up = sum(p[i] for i in range(len(p)) if M[i, s] > 0)
        down = sum(p[i] for i in range(len(p)) if M[i, s] < 0)
        q = up / (up + down)
        total += weight[s] * (r[s] * np.log(r[s] / q) + (1 - r[s]) * np.log((1 - r[s]) / (1 - q)))
    return total


def codes(rng):
    yield "one-vs-all", oracles.one_vs_all(4)
    yield "all-pairs", oracles.all_pairs(4)
    yield "dense", oracles.random_code(rng, 5, 9, zeros=False)
    yield "zeros", oracles.random_code(rng, 5, 12)
    yield "two classes", np.array([[-1], [1]])


@pytest.mark.parametrize("kind", ["one-vs-all", "all-pairs", "dense", "zeros", "two classes"])
def test_columns_that_agree_are_answered_exactly(kind):
    rng = rng_for(0)
    M = dict(codes(rng))[kind]
    p = rng.dirichlet(np.ones(len(M)), size=50)
    solved = divergence_coupling(M, np.ones(M.shape[1]))(logit(columns_of(p, M)))
    assert np.allclose(solved.p, p, atol=1e-8)
    assert solved.gap.max() <= 1e-10
    if kind == "all-pairs":
        assert np.allclose(pairwise_coupling(M)(logit(columns_of(p, M))).p, p, atol=1e-10)


@pytest.mark.parametrize("kind", ["one-vs-all", "all-pairs", "dense", "zeros"])
def test_the_divergence_is_the_least_that_a_general_optimiser_finds(kind):
    rng = rng_for(1)
    M = dict(codes(rng))[kind]
    weight = rng.random(M.shape[1]) + 0.5
    r = contradictory(rng, 6, M)
    solved = divergence_coupling(M, weight)(logit(r))
    assert solved.gap.max() <= 1e-10
    for i in range(len(r)):

        def value(theta, i=i):
            p = np.exp(theta - theta.max())
            return divergence(p / p.sum(), r[i], M, weight)

        found = [
            minimize(value, start, method="BFGS", options={"gtol": 1e-9}).fun
            for start in (np.zeros(len(M)), rng.normal(size=len(M)))
        ]
        assert divergence(solved.p[i], r[i], M, weight) <= min(found) + 1e-9


def test_codes_without_zeros_are_solved_as_by_a_cone_solver():
    rng = rng_for(2)
    M = oracles.random_code(rng, 5, 9, zeros=False)
    r = contradictory(rng, 5, M, noise=3)  # far from agreement: some classes come out impossible
    solved = divergence_coupling(M, np.ones(9))(logit(r))
    assert (solved.p.min(axis=1) < 1e-8).any()
    for i in range(len(r)):
        p = cp.Variable(5)
        up, down = (M > 0).T.astype(float) @ p, (M < 0).T.astype(float) @ p
        problem = cp.Problem(cp.Maximize(r[i] @ cp.log(up) + (1 - r[i]) @ cp.log(down)), [cp.sum(p) == 1, p >= 0])
        problem.solve(solver=cp.CLARABEL, tol_gap_abs=1e-13, tol_gap_rel=1e-13, tol_feas=1e-13)
        assert np.allclose(solved.p[i], p.value, atol=1e-5)


def test_pairs_are_coupled_as_by_the_published_iteration():
    rng = rng_for(3)
    M = oracles.all_pairs(4)
    counts = rng.integers(5, 50, size=6).astype(float)
    pairs = [(a, b) for a in range(4) for b in range(a + 1, 4)]
    for r in contradictory(rng, 5, M):
        R, N = np.zeros((4, 4)), np.zeros((4, 4))
        for (a, b), q, n in zip(pairs, r, counts, strict=True):
            R[a, b], R[b, a], N[a, b], N[b, a] = q, 1 - q, n, n
        p = np.full(4, 0.25)
        for step in range(20000):
            i = step % 4
            others = [j for j in range(4) if j != i]
            p[i] *= sum(N[i, j] * R[i, j] for j in others) / sum(N[i, j] * p[i] / (p[i] + p[j]) for j in others)
            p /= p.sum()
        assert np.allclose(divergence_coupling(M, counts)(logit(r[None])).p[0], p, atol=1e-8)


def test_wu_lin_weng_is_their_least_squares_problem():
    rng = rng_for(4)
    M = oracles.all_pairs(4)
    pairs = [(a, b) for a in range(4) for b in range(a + 1, 4)]
    r = contradictory(rng, 6, M, noise=3)
    solved = pairwise_coupling(M)(logit(r))
    assert solved.gap.max() < 1e-12
    for q, answer in zip(r, solved.p, strict=True):
        p = cp.Variable(4)
        terms = [cp.square((1 - s) * p[a] - s * p[b]) for (a, b), s in zip(pairs, q, strict=True)]
        cp.Problem(cp.Minimize(sum(terms)), [cp.sum(p) == 1, p >= 0]).solve(solver=cp.CLARABEL)
        assert np.allclose(answer, p.value, atol=1e-5)


@pytest.mark.parametrize("sharpness", [1, 30, 1e4])
@pytest.mark.parametrize("kind", ["one-vs-all", "all-pairs", "dense", "zeros"])
def test_columns_that_are_sure_of_themselves_converge(kind, sharpness):
    rng = rng_for(5)
    M = dict(codes(rng))[kind]
    decoder = fitted(Coupling(), M)
    F = rng.normal(size=(200, M.shape[1])) * sharpness
    P, D = decoder.probabilities(F, M), decoder.scores(F, M)
    assert np.isfinite(D).all()
    assert np.allclose(P.sum(axis=1), 1)
    assert np.array_equal(P.argmax(axis=1), D.argmax(axis=1))
    assert np.array_equal(P.argmax(axis=1), decoder.predict(F, M))


def fitted(decoder, M):
    L = M.shape[1]
    decoder.slope_, decoder.offset_, decoder.column_mass_ = np.full(L, -1.0), np.zeros(L), np.ones(L)
    return decoder


def test_the_decoder_couples_the_sigmoids_of_its_columns():
    rng = rng_for(6)
    M = oracles.all_pairs(3)
    y = rng.integers(0, 3, 80)
    F, weight = M[y] + rng.normal(size=(80, 3)), rng.random(80)
    decoder = Coupling().fit(F, y, M, weight)
    r = expit(-(decoder.slope_ * F + decoder.offset_))
    mass = np.array([weight[M[y, s] != 0].sum() for s in range(3)])
    assert np.allclose(decoder.column_mass_, mass)
    assert np.allclose(decoder.probabilities(F, M), divergence_coupling(M, mass)(logit(r)).p, atol=1e-12)
    same = Coupling("hastie-tibshirani").fit(F, y, M, weight)
    assert np.array_equal(same.probabilities(F, M), decoder.probabilities(F, M))
    pairwise = Coupling("wu-lin-weng").fit(F, y, M, weight)
    assert np.allclose(pairwise.probabilities(F, M), pairwise_coupling(M)(logit(r)).p, atol=1e-12)


def test_columns_with_one_sign_claim_nothing():
    rng = rng_for(8)
    M = oracles.one_vs_all(3)
    F = rng.normal(size=(20, 3))
    more = np.hstack([M, [[1], [0], [1]], [[-1], [-1], [-1]]])
    wide = np.hstack([F, rng.normal(size=(20, 2))])
    assert np.allclose(fitted(Coupling(), more).probabilities(wide, more), fitted(Coupling(), M).probabilities(F, M))
    with pytest.raises(ValueError, match="no column of this code has both signs"):
        fitted(Coupling(), np.array([[1], [0]])).scores([[1.0]], np.array([[1], [0]]))


def test_blocks_of_rows_do_not_matter(monkeypatch):
    rng = rng_for(7)
    M = oracles.random_code(rng, 5, 12)
    odds = logit(contradictory(rng, 50, M))
    whole = divergence_coupling(M, np.ones(12))(odds).p
    monkeypatch.setattr("outputcodes._ground.blocks.BLOCK_VALUES", 1000)
    assert np.allclose(divergence_coupling(M, np.ones(12))(odds).p, whole, atol=1e-12)
    assert divergence_coupling(M, np.ones(12))(odds[:0]).p.shape == (0, 5)


def test_what_did_not_converge_says_so(monkeypatch):
    monkeypatch.setattr(_coupling, "MAX_ITER", 1)
    M = oracles.one_vs_all(3)
    with pytest.warns(ConvergenceWarning, match="2 of 2 rows did not converge"):
        fitted(Coupling(), M).scores([[1.0, 2.0, 3.0], [0.0, 1.0, -5.0]], M)


def test_methods_for_pairs_refuse_other_codes():
    for method in ("hastie-tibshirani", "wu-lin-weng"):
        with pytest.raises(ValueError, match="every pair of classes"):
            fitted(Coupling(method), oracles.one_vs_all(3)).scores(np.zeros((1, 3)), oracles.one_vs_all(3))
    with pytest.raises(ValueError, match="method='qp' must be one of"):
        fitted(Coupling("qp"), oracles.one_vs_all(3)).scores(np.zeros((1, 3)), oracles.one_vs_all(3))
