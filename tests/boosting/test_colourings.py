"""Colourings against their laws, pair weights against plain sums, the stump kernel against every stump there is."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import colouring_oracles as oracles
from outputcodes._ground.blocks import serially, threads
from outputcodes._histograms.binning import bin_features
from outputcodes.boosting._pairs import PairWeights
from outputcodes.boosting.binary_weak import StumpLearner
from outputcodes.boosting.colourings import deterministic_colouring, probabilistic_colouring, random_colouring
from outputcodes.bounds.boosting import smooth_weights


def law(chances):
    """The probabilities of all colourings but the two constant ones."""
    weight = {
        f: np.prod([p if s > 0 else 1 - p for p, s in zip(chances, f, strict=True)])
        for f in itertools.product([-1, 1], repeat=len(chances))
        if len(set(f)) == 2
    }
    return {f: w / sum(weight.values()) for f, w in weight.items()}


@pytest.mark.parametrize(("phi", "gamma"), [([0.3, -0.1, -0.2], 2.0), ([0.3, -0.1, -0.2], 0.0), ([0.0, 0.0], 5.0)])
def test_probabilistic_colourings_have_their_law(phi, gamma):
    rng, n = np.random.default_rng(0), 4000
    phi = np.array(phi)
    drawn = [tuple(probabilistic_colouring(phi, gamma, rng).tolist()) for _ in range(n)]
    chances = 1 / (1 + np.exp(-gamma * phi / (np.abs(phi).max() or 1)))
    expected = law(chances)
    assert set(drawn) <= set(expected)
    counts = [drawn.count(f) for f in expected]
    assert stats.chisquare(counts, n * np.array(list(expected.values()))).pvalue > 1e-3


def test_gamma_zero_is_the_random_colouring_draw_by_draw():
    one, other = np.random.default_rng(3), np.random.default_rng(3)
    phi = np.array([0.5, -0.1, -0.4])
    for _ in range(50):
        assert np.array_equal(random_colouring(3, one), probabilistic_colouring(phi, 0.0, other))


def test_deterministic_colourings():
    assert deterministic_colouring(np.array([0.3, -0.1, -0.2])).tolist() == [-1, 1, 1]
    assert deterministic_colouring(np.array([0.3, 0.0, -0.3])).tolist() == [-1, 1, 1]
    for k in range(2, 8):
        assert deterministic_colouring(np.zeros(k)).tolist() == [-1] * (k // 2) + [1] * (k - k // 2)


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10**6), lam=st.sampled_from([0.0, 0.3, 2.0]))
def test_pair_weights_are_the_plain_sums(seed, lam):
    rng = np.random.default_rng(seed)
    n, k = 12, int(rng.integers(2, 6))
    y, weight = rng.integers(k, size=n), rng.uniform(0.2, 2, size=n)
    share = weight / weight.sum()
    pairs = PairWeights(y, k, weight, lam)
    mu, S = np.full((n, k), 1 / (1 + lam * (k - 1))), np.zeros((n, k))
    for _ in range(4):
        f = random_colouring(k, rng)
        split = pairs.split(f)
        D = [[share[i] * mu[i, y[i]] * mu[i, r] if r != y[i] else 0.0 for r in range(k)] for i in range(n)]
        if len(set(f[y])) == 2 or k > 2:
            U, expected = oracles.separation(np.array(D) / np.sum(D), y, f)
            assert split.share == pytest.approx(U)
            assert np.allclose(np.abs(pairs.rows.V) / split.total, expected)
            assert np.array_equal(np.sign(pairs.rows.V), np.sign(f[y] * expected))
        phi = oracles.phi(mu, y, share)
        found = pairs.confusion()
        assert found.sum() == pytest.approx(0, abs=1e-9 * (np.abs(found).max() + 1))
        assert np.allclose(found * np.sum(D), phi, atol=1e-9)
        h, a = rng.choice([-1, 0, 1], size=n).astype(np.int8), rng.uniform(0, 3)
        pairs.update(h, a)
        mu, S = oracles.updated(mu, y, f, h, a, lam), S + a * np.outer(h, f)
        rows = pairs.rows
        assert np.allclose(rows.own, np.log(mu[np.arange(n), y]))
        wrong = np.arange(k) != y[:, None]
        found = (np.exp(rows.wrong) * rows.parts).T
        assert np.allclose(found[wrong], mu[wrong])
        assert np.allclose(found[wrong], smooth_weights(S, y, lam)[wrong])
        assert not found[~wrong].any()


def test_first_phi_measures_the_classes_shares():
    y, lam = np.array([0, 0, 0, 1, 2, 2]), 0.4
    pairs = PairWeights(y, 3, None, lam)
    c = 1 / (1 + lam * 2)
    assert np.allclose(2 * c**2 * pairs.confusion(), c**2 * (1 - 3 * np.bincount(y) / 6))  # Σ D = 1 there, 2c² here
    balanced = PairWeights(np.repeat(np.arange(7), 11), 7, None, lam)
    assert not balanced.confusion().any()  # exactly 0: rounding would decide the colours


@pytest.mark.parametrize("lam", [0.0, 0.5])
def test_weights_survive_thousands_of_nats(lam):
    y = np.array([0, 1, 2, 0])
    pairs = PairWeights(y, 3, None, lam)
    f = np.array([1, -1, -1], dtype=np.int8)
    for _ in range(300):
        pairs.split(f)
        pairs.update(np.array([1, -1, -1, -1], dtype=np.int8), 5.0)  # example 3 is always wrong
    split = pairs.split(f)
    # At λ = 0 example 3 weighs e^3000 times the others; else what f separates weighs e^-3000 of what it does not.
    weight = np.abs(pairs.rows.V) / (split.total if lam == 0 else 1)
    assert np.allclose(weight, [0, 0, 0, 1] if lam == 0 else 0)
    assert split.share == (1 if lam == 0 else 0)
    assert np.isfinite(pairs.rows.own).all()
    assert np.isfinite(pairs.rows.wrong).all()


def sample(seed, n=25, d=3, missing=0.0):
    rng = np.random.default_rng(seed)
    X = rng.integers(5, size=(n, d)).astype(float)
    X[rng.random(X.shape) < missing] = np.nan
    weight = rng.choice([0.5, 1.0, 2.0], size=n)
    return X, rng.choice([-1, 1], size=n).astype(np.int8), weight / weight.sum()


@settings(max_examples=100, deadline=None)
@given(seed=st.integers(0, 10**6), missing=st.sampled_from([0.0, 0.3]), categorical=st.booleans())
def test_the_stump_is_the_first_of_the_best(seed, missing, categorical):
    X, signs, weight = sample(seed, missing=missing)
    mask = np.array([False, categorical, False])
    found = StumpLearner(bin_features(X, "exact", mask), serially).fit(signs * weight, 1.0)
    error, j, threshold, polarity, h = oracles.best_stump(X, signs, weight, np.flatnonzero(mask))
    stump = found.hypothesis
    assert (stump.feature, stump.left, stump.right) == (j, polarity, -polarity)
    assert stump.threshold == pytest.approx(threshold)
    assert found.answers.tolist() == h == stump.answers(X).tolist()
    assert found.wrong + (1 - found.right - found.wrong) / 2 == pytest.approx(error)
    assert found.wrong == pytest.approx(weight[found.answers == -signs].sum(), abs=1e-12)


def test_a_pure_split_has_an_error_of_exactly_zero():
    X = np.array([[1.0], [2.0], [3.0]] * 7)
    signs = np.where(X[:, 0] > 1, 1, -1).astype(np.int8)
    weight = np.random.default_rng(0).random(21)
    found = StumpLearner(bin_features(X, "exact", np.array([False])), serially).fit(signs * weight, weight.sum())
    assert found.wrong == 0
    assert (found.hypothesis.threshold, found.hypothesis.left) == (1.5, -1)


def test_negated_signs_give_the_negated_stump_and_threads_the_same():
    rng = np.random.default_rng(0)
    X, signs, weight = rng.normal(size=(400, 30)), rng.choice([-1, 1], size=400).astype(np.int8), rng.random(400)
    weight /= weight.sum()
    binned = bin_features(X, "exact", np.zeros(30, dtype=bool))
    one, negated = (StumpLearner(binned, serially).fit(s * weight, 1.0) for s in (signs, -signs))
    assert (one.right, one.wrong) == (negated.right, negated.wrong)
    assert np.array_equal(one.answers, -negated.answers)
    with threads(3) as run:
        again = StumpLearner(binned, run).fit(signs * weight, 1.0)
    assert again.hypothesis == one.hypothesis
    assert (again.right, again.wrong) == (one.right, one.wrong)
