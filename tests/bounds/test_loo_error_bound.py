"""The leave-one-out bound is the theorem's formula, and never below the error of n trainings without the example."""

import numpy as np
import oracles
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_iris, load_wine
from sklearn.exceptions import NotFittedError
from sklearn.preprocessing import minmax_scale

from outputcodes.bounds.leave_one_out import (
    decoded_wrongly,
    loo_error_bound,
    pessimistic_margins,
    possible_loo_errors,
)
from outputcodes.codes import Dense, Sparse
from outputcodes.decoders import AccuracyWeighted, Decoder, LossBased, Softmax
from outputcodes.decoders.likelihood import Likelihood
from outputcodes.learners import KernelSVM
from outputcodes.losses import LOSSES

NONINCREASING = [name for name, loss in LOSSES.items() if loss.nonincreasing]


def random_problem(seed, k, L):
    rng = np.random.default_rng(seed)
    M = oracles.random_code(rng, k, L, zeros=bool(rng.integers(2)))
    y = rng.integers(k, size=30)
    F = rng.uniform(0, 2) * M[y] + rng.normal(size=(30, L))
    alpha = rng.uniform(0, 2, size=F.shape) * (M[y] != 0) * (rng.random(F.shape) < 0.7)
    return F, y, M, alpha, rng.uniform(0.2, 2, size=F.shape)


def likelihood(slope, offset):
    """A likelihood decoder with known sigmoids."""
    decoder = Likelihood()
    decoder.slope_, decoder.offset_ = slope, offset
    return decoder


problems = st.builds(random_problem, st.integers(0, 2**32), st.integers(2, 6), st.integers(3, 9))


def theorem_4_1(f, y, M, a, G):
    """θ(−g + max U_q), term by term."""
    others = [q for q in range(len(M)) if q != y]
    p = max(others, key=lambda q: M[q] @ f)
    U = [(M[q] - M[p]) @ f + sum(M[y, s] * (M[y, s] - M[q, s]) * a[s] * G[s] for s in range(len(f))) for q in others]
    g = M[y] @ f - M[p] @ f
    return -g + max(U) > 0, max(U)


def corollary_4_1(f, y, M, a, G, loss):
    def distance(r):
        return sum(loss(M[r, s] * f[s] - a[s] * G[s] * M[y, s] * M[r, s]) for s in range(len(f)))

    return distance(y) - min(distance(q) for q in range(len(M)) if q != y) > 1e-12


@settings(max_examples=80, deadline=None)
@given(problem=problems)
def test_theorem_4_1_and_corollary_4_1(problem):
    F, y, M, alpha, G = problem
    rows = range(len(y))
    theorem = [theorem_4_1(F[i], y[i], M, alpha[i], G[i])[0] for i in rows]
    assert possible_loo_errors(F, y, M, alpha, G).tolist() == theorem
    assert loo_error_bound(F, y, M, alpha, G) == pytest.approx(np.mean(theorem))
    for name in NONINCREASING:
        expected = [corollary_4_1(F[i], y[i], M, alpha[i], G[i], oracles.loss(name)) for i in rows]
        counted = possible_loo_errors(F, y, M, alpha, G, name)
        assert counted.tolist() == expected, name
        # Never below the training error; an example without dual variables keeps its training verdict.
        trained = decoded_wrongly(F, y, M, name)
        assert (counted >= trained).all()
        untouched = ~alpha.any(axis=1)
        assert (counted == trained)[untouched].all()
        assert (possible_loo_errors(F, y, M, alpha, G, name, ties_as_errors=True) >= counted).all()


@settings(max_examples=60, deadline=None)
@given(problem=problems)
def test_likelihood_decoding_of_disjoint_codes(problem):
    F, y, M, alpha, G = problem
    rng = np.random.default_rng(len(M))
    A, B = -rng.uniform(0, 3, size=M.shape[1]), rng.normal(size=M.shape[1])
    decoder = likelihood(A, B)
    disjoint = all((M[a] * M[b] < 0).any() for a in range(len(M)) for b in range(a))
    if not disjoint:
        with pytest.raises(ValueError, match="share codewords"):
            loo_error_bound(F, y, M, alpha, G, decoder)
        return
    pessimistic = pessimistic_margins(F, y, M, alpha, G)

    def log_p(f, row):
        return -sum(np.logaddexp(0, m * (a * z + b)) for m, a, z, b in zip(row, A, f, B, strict=True) if m)

    best = np.array([[log_p(f, row) for row in M] for f in pessimistic])
    expected = [best[i].max() > best[i, y[i]] + 1e-12 for i in range(len(y))]
    assert possible_loo_errors(F, y, M, alpha, G, decoder).tolist() == expected
    # Columns whose sigmoid falls count with their margins as they are.
    A[0] = 1.5
    falling = possible_loo_errors(F, y, M, alpha, G, decoder)
    unmoved = np.where(np.arange(M.shape[1]) == 0, 0, alpha)
    assert np.array_equal(falling, possible_loo_errors(F, y, M, unmoved, G, decoder))


@pytest.mark.parametrize("k", [3, 4, 6])
def test_how_much_one_example_can_change(k):
    # Where f ties all others, max U is the change itself: C·kappa·max(nnz(m_y) − m_y·m_q) if all α are at C.
    rng = np.random.default_rng(k)
    dense = rng.choice([-1, 1], size=(k, 9))
    C, kappa = 1.5, 2.0
    for M, limit in (
        (oracles.one_vs_all(k), 4 * C * kappa),
        (oracles.all_pairs(k), k * C * kappa),
        (dense, 2 * 9 * C * kappa),
    ):
        y, L = 0, M.shape[1]
        G, a = np.full(L, kappa), C * np.abs(M[y])
        worst = max(np.count_nonzero(M[y]) - M[y] @ M[q] for q in range(1, k))
        assert theorem_4_1(np.zeros(L), y, M, a, G)[1] == pytest.approx(C * kappa * worst)
        assert C * kappa * worst <= limit
        if M is not dense:
            assert C * kappa * worst == limit
        for _ in range(30):
            a, f = rng.uniform(0, C, size=L) * np.abs(M[y]), rng.normal(size=L)
            assert theorem_4_1(f, y, M, a, rng.uniform(0, kappa, size=L))[1] <= C * kappa * worst + 1e-12
    # One-vs-all: U_q = 2(f_q − f_p) + 2G(a^y + a^q).
    M, f, a = oracles.one_vs_all(k), rng.normal(size=k), rng.uniform(size=k)
    p = 1 + int(np.argmax(f[1:]))
    U = [2 * (f[q] - f[p]) + 2 * 0.7 * (a[0] + a[q]) for q in range(1, k)]
    assert theorem_4_1(f, 0, M, a, np.full(k, 0.7))[1] == pytest.approx(max(U))


def test_points_that_know_nothing_of_each_other():
    # K = identity, C = 1: all α are 1, f = ±1 and f' = 0, a tie everywhere.
    X, y, M = np.eye(3), np.arange(3), oracles.one_vs_all(3)
    learner = KernelSVM(C=1.0, kernel="linear", bias="none", tol=1e-10)
    data = learner.prepare(X)
    fitted = learner.fit_columns(data, y, M.astype(np.int8))
    F, alpha = fitted.margins(data), fitted.dual()
    assert np.allclose(alpha, 1)
    assert np.allclose(pessimistic_margins(F, y, M, alpha, np.ones(3)), 0)
    assert loo_error_bound(M.astype(float), y, M, np.ones((3, 3)), np.ones(3)) == 0
    assert loo_error_bound(M.astype(float), y, M, np.ones((3, 3)), np.ones(3), ties_as_errors=True) == 1


def left_out_margins(learner, data, y, M):
    """Margins of each example by columns trained without it, at the same C."""
    everyone = np.arange(len(y))
    F = np.empty((len(y), M.shape[1]))
    for i in everyone:
        F[i] = learner.fit_columns(data, y, M, rows=everyone[everyone != i]).margins(data, np.array([i]))
    return F


@pytest.mark.parametrize("bias", ["none", "folded"])
@pytest.mark.parametrize("code", ["one-vs-all", "all-pairs", "dense", "sparse"])
@pytest.mark.parametrize(("data_set", "C", "gamma"), [(load_iris, 10.0, 3.0), (load_wine, 1.0, 0.5)])
def test_never_below_n_trainings(data_set, C, gamma, code, bias):
    X, y = data_set(return_X_y=True)
    X, y = minmax_scale(X)[2::6], y[2::6]
    M = {
        "one-vs-all": oracles.one_vs_all(3).astype(np.int8),
        "all-pairs": oracles.all_pairs(3).astype(np.int8),
        "dense": Dense().draw(3, random_state=0).matrix(),
        "sparse": Sparse().draw(3, random_state=0).matrix(),
    }[code]
    learner = KernelSVM(C=C, gamma=gamma, bias=bias, tol=1e-9)
    data = learner.prepare(X)
    fitted = learner.fit_columns(data, y, M)
    F, alpha, G = fitted.margins(data), fitted.dual(), np.full(len(y), 1.0 + (bias == "folded"))
    left_out, target = left_out_margins(learner, data, y, M), M[y]
    # The lemma: y f − α K(x, x) ≤ y f^i ≤ y f, and columns that don't see the example stay as they are.
    assert (target * left_out <= target * F + 1e-6).all()
    assert (target * left_out >= target * F - alpha * G[:, None] - 1e-6).all()
    assert np.allclose(left_out[target == 0], F[target == 0], atol=1e-6)
    for decoder in [*NONINCREASING, *(["vote", "dag"] if code == "all-pairs" else [])]:
        truth = decoded_wrongly(left_out, y, M, decoder)
        counted = possible_loo_errors(F, y, M, alpha, G, decoder, ties_as_errors=True)
        assert (truth <= counted).all(), decoder
        assert truth.mean() <= loo_error_bound(F, y, M, alpha, G, decoder, ties_as_errors=True)
        # As it stands, the theorem leaves out ties, of the truth as of the bound.
        outright = decoded_wrongly(left_out, y, M, decoder, ties_as_errors=False)
        assert (outright <= possible_loo_errors(F, y, M, alpha, G, decoder)).all(), decoder
        assert not counted.all()
    if all((M[a] * M[b] < 0).any() for a in range(3) for b in range(a)):
        for slope in (-1.7, 0.6):  # of the first column; a sigmoid may fall
            A = np.where(np.arange(M.shape[1]) == 0, slope, -1.7)
            decoder = likelihood(A, np.full(M.shape[1], 0.3))
            truth = decoded_wrongly(left_out, y, M, decoder)
            assert (truth <= possible_loo_errors(F, y, M, alpha, G, decoder, ties_as_errors=True)).all()


def test_a_free_bias_breaks_the_lemma_and_a_folded_one_does_not():
    M, worst = np.array([[-1], [1]], dtype=np.int8), {"free": [], "folded": []}
    for seed in (7, 11, 32, 36):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(12, 2)), (rng.random(12) < 0.4).astype(int)
        for bias, violations in worst.items():
            learner = KernelSVM(gamma=1.0, bias=bias, tol=1e-9)
            data = learner.prepare(X)
            fitted = learner.fit_columns(data, y, M)
            least = M[y] * pessimistic_margins(fitted.margins(data), y, M, fitted.dual(), [1 + (bias == "folded")] * 12)
            violations.append((least - M[y] * left_out_margins(learner, data, y, M)).max())
    assert max(worst["free"]) > 0.3
    assert max(worst["folded"]) < 1e-6


def test_decoders_for_which_the_theorem_fails_are_refused():
    F, y, M, alpha, G = random_problem(0, 4, 7)
    M = np.array([[1, 1, 0, 1, 1, 1, 0], [-1, 1, 1, 1, 1, 1, 1], [1, -1, 1, -1, 1, 1, 1], [1, 1, -1, -1, -1, -1, -1]])
    alpha = alpha * (M[y] != 0)
    weighted = AccuracyWeighted().fit(F, y, M)
    for decoder, reason in [
        ("squared", "increases for large margins"),
        (LossBased("hinge", zeros="ignore"), "fewer non-zero entries"),
        (weighted, "not known"),
        ("euclidean", "not known"),
        (lambda z: (z - 1) ** 2, "increases for large margins"),
    ]:
        resolved = LossBased(decoder) if callable(decoder) else decoder
        with pytest.raises(ValueError, match=reason):
            loo_error_bound(F, y, M, alpha, G, resolved)
    # With as many zeros in every row, those that are ignored make no difference.
    pairs = oracles.all_pairs(4)
    F, alpha = F[:, :6], np.ones((30, 6)) * (pairs[y] != 0)
    ignoring = possible_loo_errors(F, y, pairs, alpha, np.ones(30), LossBased("hinge", zeros="ignore"))
    assert np.array_equal(ignoring, possible_loo_errors(F, y, pairs, alpha, np.ones(30), "hinge"))
    with pytest.raises(ValueError, match="vote"):
        loo_error_bound(
            F[:, :3], np.arange(3).repeat(10), oracles.one_vs_all(3), np.zeros((30, 3)), np.ones(30), "vote"
        )


def test_bad_arguments():
    M, F, y = oracles.all_pairs(3), np.zeros((2, 3)), [0, 1]
    for alpha, diag, message in [
        (np.zeros((2, 2)), np.ones(2), "do not match F"),
        (np.zeros((2, 3)), np.ones(3), "do not match F"),
        (-np.ones((2, 3)), np.ones(2), "alpha must be"),
        (np.ones((2, 3)), np.ones(2), "0 where the code"),
        (np.full((2, 3), np.nan), np.ones(2), "alpha must be"),
        (np.full((2, 3), np.inf), np.ones(2), "alpha must be"),
        (np.zeros((2, 3)), -np.ones(2), "diag contains"),
    ]:
        with pytest.raises(ValueError, match=message):
            loo_error_bound(F, y, M, alpha, diag)
    # One kernel for all columns is the same as that kernel for each.
    F, y, M, alpha, G = random_problem(1, 3, 5)
    each = pessimistic_margins(F, y, M, alpha, np.repeat(G[:, :1], 5, axis=1))
    assert np.array_equal(pessimistic_margins(F, y, M, alpha, G[:, 0]), each)


def test_a_decoder_answers_for_itself():
    class Clipped(Decoder):
        """Inner products with margins cut at ±1: they follow the margins of the own class."""

        def _scorer(self, M):
            return lambda F: np.clip(F, -1, 1) @ M.T

        def loo_objection(self, M):
            return None

    F, y, M, alpha, G = random_problem(3, 4, 7)
    worst = np.clip(pessimistic_margins(F, y, M, alpha, G), -1, 1) @ M.T
    expected = worst.max(axis=1) > worst[np.arange(len(y)), y] + 1e-9
    assert np.array_equal(possible_loo_errors(F, y, M, alpha, G, Clipped()), expected)
    # Softmax decodes as the decoder in it, objects as it does, and knows its falling sigmoids.
    dense = oracles.random_code(np.random.default_rng(0), 4, 7, zeros=False)
    slope = np.where(np.arange(7) < 2, 1.5, -1.5)
    for decoder in ("hinge", likelihood(slope, np.zeros(7))):
        plain = possible_loo_errors(F, y, dense, alpha, G, decoder)
        assert np.array_equal(possible_loo_errors(F, y, dense, alpha, G, Softmax(decoder)), plain)
    with pytest.raises(ValueError, match="increases for large margins"):
        loo_error_bound(F, y, dense, alpha, G, Softmax("squared"))
    with pytest.raises(NotFittedError):
        loo_error_bound(F, y, dense, alpha, G, Likelihood())
