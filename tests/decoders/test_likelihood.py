"""Likelihood decoding against all 2^L codewords, worked numbers, logistic decoding and other packages' sigmoids."""

import itertools
import warnings

import numpy as np
import oracles
import pytest
from scipy.optimize import minimize
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.calibration import CalibratedClassifierCV
from sklearn.frozen import FrozenEstimator

from outputcodes.decoders import Likelihood, as_decoder
from outputcodes.decoders import _overlap as overlap


def with_sigmoids(slope, offset, L=None):
    decoder = Likelihood()
    decoder.slope_ = np.broadcast_to(np.asarray(slope, dtype=float), L or np.shape(slope))
    decoder.offset_ = np.broadcast_to(np.asarray(offset, dtype=float), L or np.shape(offset))
    return decoder


def by_enumeration(f, M, slope, offset):
    """P(y | f): every codeword with its probability, given in equal parts to its owners, or to all if it has none."""
    answer = np.zeros(len(M))
    for word in itertools.product([-1, 1], repeat=len(f)):
        bits = [1 / (1 + np.exp(b * (a * z + c))) for b, a, z, c in zip(word, slope, f, offset, strict=True)]
        owners = [r for r in range(len(M)) if all(m in (0, b) for m, b in zip(M[r], word, strict=True))]
        for r in owners or range(len(M)):
            answer[r] += np.prod(bits) / (len(owners) or len(M))
    return answer


OVERLAPPING = {
    "two share": [[1, 0, 1], [0, 1, 1], [-1, -1, -1]],
    "three share": [[1, 0, 0, 1, -1], [0, 1, 0, 1, -1], [0, 0, 1, 1, -1], [-1, -1, -1, -1, 1]],
    "a chain": [[1, 0, 0, 0], [0, 1, -1, 0], [0, 0, 1, 1], [-1, -1, 0, -1]],
}


@pytest.mark.parametrize("kind", ["dense", "zeros", "one-vs-all", "all-pairs", *OVERLAPPING])
def test_probabilities_are_those_of_all_codewords(kind):
    rng = np.random.default_rng(0)
    for _ in range(6):
        M = {
            "dense": lambda: oracles.random_code(rng, 4, 6, zeros=False),
            "zeros": lambda: oracles.random_code(rng, 4, 5),
            "one-vs-all": lambda: oracles.one_vs_all(4),
            "all-pairs": lambda: oracles.all_pairs(4),
        }.get(kind, lambda: np.array(OVERLAPPING[kind]))()
        L = M.shape[1]
        slope, offset = rng.normal(-1, 0.5, L), rng.normal(size=L)
        F = rng.normal(size=(8, L)) * 3
        decoder = with_sigmoids(slope, offset)
        expected = np.array([by_enumeration(f, M, slope, offset) for f in F])
        assert np.allclose(decoder.probabilities(F, M), expected, atol=1e-12, rtol=0)
        assert np.array_equal(decoder.predict(F, M), expected.argmax(axis=1))


def test_random_codes_do_overlap_here():
    rng = np.random.default_rng(0)
    assert any(overlap.compatible(oracles.random_code(rng, 4, 5)).any() for _ in range(6))


@pytest.mark.parametrize("kind", OVERLAPPING)
def test_listing_sets_and_listing_codewords_agree(kind, monkeypatch):
    rng = np.random.default_rng(1)
    M = np.array(OVERLAPPING[kind])
    F = rng.normal(size=(20, M.shape[1])) * rng.choice([1, 30, 1e3], size=(20, 1))
    decoder = with_sigmoids(-1.0, 0.1, L=M.shape[1])
    by_sets = decoder.scores(F, M), decoder.probabilities(F, M)
    monkeypatch.setattr(overlap, "MOST_SETS", 0)
    assert np.allclose(decoder.scores(F, M), by_sets[0], rtol=1e-9, atol=1e-9)
    assert np.allclose(decoder.probabilities(F, M), by_sets[1], atol=1e-12)


def test_a_code_with_too_many_shared_codewords_is_refused():
    # 30 classes, each with one bit of its own and nothing against the others, and a last one against all.
    k = 30
    M = np.vstack([np.eye(k, dtype=int), -np.ones((1, k), dtype=int)])
    with pytest.raises(ValueError, match="more than 4096"):
        with_sigmoids(-1.0, 0.0, L=k).scores(np.zeros((1, k)), M)
    few = np.vstack([np.eye(14, dtype=int), -np.ones((1, 14), dtype=int)])
    F = np.random.default_rng(2).normal(size=(3, 14))
    expected = np.zeros((3, 15))
    q = 1 / (1 + np.exp(-F))  # of +1
    for i in range(3):
        for word in itertools.product([0, 1], repeat=14):
            p = np.prod(np.where(word, q[i], 1 - q[i]))
            expected[i] += p * (np.append(word, 0) / sum(word) if any(word) else np.eye(15)[14])
    assert np.allclose(with_sigmoids(-1.0, 0.0, L=14).probabilities(F, few), expected, atol=1e-12)


def test_worked_numbers():
    f = [[1.0, -0.5, 0.7]]
    decoder = with_sigmoids(-1.0, 0.0, L=3)
    for M, expected, spread in (
        (oracles.all_pairs(3), (0.388589, 0.292288, 0.319124), 0.112584),
        (oracles.one_vs_all(3), (0.385479, 0.268177, 0.346344), 0.234486),
        (np.array(OVERLAPPING["two share"]), (0.525647, 0.289431, 0.184921), 0.129374),
    ):
        P = decoder.probabilities(f, M)[0]
        assert np.allclose(P, expected, atol=1e-6)
        assert np.allclose(P - np.exp(decoder.scores(f, M)[0]), spread, atol=1e-6)


@pytest.mark.parametrize("k", [3, 5])
def test_minus_two_and_zero_is_logistic_decoding(k):
    rng = np.random.default_rng(3)
    for M in (oracles.all_pairs(k), oracles.random_code(rng, k, 7, zeros=False), oracles.random_code(rng, k, 30)):
        F = rng.normal(size=(50, M.shape[1])) * 5
        logistic = -as_decoder("logistic").scores(F, M)
        if overlap.compatible(M).any():
            continue
        ours = -with_sigmoids(-2.0, 0.0, L=M.shape[1]).scores(F, M)
        assert np.allclose(ours + (M == 0).sum(axis=1) * np.log(2), logistic)


@pytest.mark.parametrize("L", [300, 5000])
def test_thousands_of_columns_neither_underflow_nor_tie(L):
    rng = np.random.default_rng(4)
    M = rng.choice([-1, 1], size=(20, L))
    F = rng.normal(size=(50, L)) * 3
    decoder = with_sigmoids(-2.0, 0.0, L=L)
    D, P = decoder.scores(F, M), decoder.probabilities(F, M)
    assert np.isfinite(D).all()
    assert (np.sort(D, axis=1)[:, -1] > np.sort(D, axis=1)[:, -2]).all()
    assert np.allclose(P.sum(axis=1), 1, atol=1e-12)
    assert np.array_equal(P.argmax(axis=1), decoder.predict(F, M))
    assert np.array_equal(D.argmax(axis=1), as_decoder("logistic").predict(F, M))


def test_a_tie_is_the_same_tie_everywhere():
    decoder = with_sigmoids(-1.0, 0.0, L=3)
    M = oracles.one_vs_all(3)
    for f in ([[0.0, 0.0, 0.0]], [[1.0, 2.0, 2.0]], [[-800.0, -800.0, -800.0]], [[900.0, 901.0, 901.0]]):
        best = decoder.predict(f, M)
        assert best == decoder.scores(f, M).argmax(axis=1) == decoder.probabilities(f, M).argmax(axis=1)


# The sigmoids.


def held_out(rng, n, M, sharpness=1.0):
    y = rng.integers(0, len(M), n)
    return M[y] * sharpness + rng.normal(size=(n, M.shape[1])) * rng.choice([1, 1, 4], size=M.shape[1]), y


def platt(f, sign, weight, plain=False):
    """The best sigmoid by a general optimiser on the definition, in longer and longer runs from zero."""
    plus, minus = weight[sign > 0].sum(), weight[sign < 0].sum()
    t = np.where(sign > 0, 1.0, 0.0) if plain else np.where(sign > 0, (plus + 1) / (plus + 2), 1 / (minus + 2))

    def value(theta):
        z = theta[0] * f + theta[1]
        return (weight * (t * np.logaddexp(0, z) + (1 - t) * np.logaddexp(0, -z))).sum()

    theta = np.zeros(2)
    for _ in range(5):
        theta = minimize(value, theta, method="Nelder-Mead", options={"xatol": 1e-11, "fatol": 1e-15}).x
    return theta


@pytest.mark.parametrize("targets", ["platt", "plain"])
def test_the_sigmoids_are_the_most_probable(targets):
    rng = np.random.default_rng(5)
    M = oracles.random_code(rng, 4, 5)
    F, y = held_out(rng, 120, M)
    F[rng.random(F.shape) < 0.1] = np.nan
    weight = rng.integers(0, 4, 120).astype(float)
    decoder = Likelihood(targets=targets).fit(F, y, M, weight)
    for s in range(5):
        seen = (M[y, s] != 0) & ~np.isnan(F[:, s])
        a, b = platt(F[seen, s], M[y[seen], s], weight[seen], targets == "plain")
        assert decoder.slope_[s] == pytest.approx(a, rel=1e-6, abs=1e-7)
        assert decoder.offset_[s] == pytest.approx(b, rel=1e-6, abs=1e-7)
    assert (decoder.gap_ <= 1e-12).all()
    repeated = Likelihood(targets=targets).fit(np.repeat(F, weight.astype(int), 0), np.repeat(y, weight.astype(int)), M)
    assert np.allclose(repeated.slope_, decoder.slope_)
    assert np.allclose(repeated.offset_, decoder.offset_)


class Margins(ClassifierMixin, BaseEstimator):
    """Its one feature is its decision function."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def decision_function(self, X):
        return X[:, 0]

    def predict(self, X):
        return self.classes_[(X[:, 0] > 0).astype(int)]


@pytest.mark.filterwarnings("ignore:Since FrozenEstimator does not appear to accept")
@pytest.mark.parametrize("weighted", [False, True])
def test_the_sigmoids_are_scikit_learns(weighted):
    rng = np.random.default_rng(6)
    F, y = held_out(rng, 300, np.array([[-1], [1]]))
    weight = rng.random(300) * 3 if weighted else None
    peer = CalibratedClassifierCV(FrozenEstimator(Margins().fit(F, y)), method="sigmoid", ensemble=False)
    peer.fit(F, y, sample_weight=weight)
    ours = Likelihood().fit(F, y, [[-1], [1]], weight).probabilities(F, [[-1], [1]])
    # They stop L-BFGS at 64·machine epsilon of the value: five or six digits of the parameters.
    assert np.allclose(ours, peer.predict_proba(F), atol=1e-5)


@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e9, 1e90])
@pytest.mark.parametrize("shift", [0.0, 50.0])
def test_the_units_of_the_margins_do_not_matter(scale, shift):
    rng = np.random.default_rng(7)
    M = oracles.all_pairs(3)
    F, y = held_out(rng, 90, M)
    plain, scaled = Likelihood().fit(F, y, M), Likelihood().fit((F + shift) * scale, y, M)
    assert np.allclose(scaled.slope_ * scale, plain.slope_)
    assert np.allclose(scaled.probabilities((F + shift) * scale, M), plain.probabilities(F, M))


@pytest.mark.filterwarnings("ignore:.*point the wrong way")
@pytest.mark.parametrize("n", [2, 5, 40, 3000])
@pytest.mark.parametrize("kind", ["heavy tails", "few values", "outliers", "far from zero", "tightly separated"])
def test_odd_margins_have_a_best_sigmoid_too(kind, n):
    rng = np.random.default_rng(9)
    M, y = np.array([[-1] * 5, [1] * 5]), np.arange(n) % 2
    noise = rng.normal(size=(n, 5))
    F = {
        "heavy tails": 1e5 * rng.standard_cauchy((n, 5)),
        "few values": np.round(noise + M[y]),
        "outliers": np.where(rng.random((n, 5)) < 0.03, 1e9, noise + M[y]),
        "far from zero": M[y] + 1e8 + noise,
        "tightly separated": np.where(M[y] > 0, 1 + np.abs(noise), 1 - 1e-9 - np.abs(noise)),
    }[kind]
    decoder = Likelihood().fit(F, y, M)
    assert (decoder.gap_ <= 1e-12).all()
    N = np.bincount(y)
    t = np.where(y == 1, (N[1] + 1) / (N[1] + 2), 1 / (N[0] + 2))[:, None]

    def value(slope, offset, centre):
        z = slope * (F - centre) + offset
        return (t * np.logaddexp(0, z) + (1 - t) * np.logaddexp(0, -z)).sum(axis=0)

    # Convex in (slope, offset): a minimum among its neighbours is the minimum.
    centre = np.median(F, axis=0)
    slope, offset = decoder.slope_, decoder.offset_ + decoder.slope_ * centre
    for a, b in ((1e-3, 0), (-1e-3, 0), (0, 1e-3), (0, -1e-3)):
        around = value(slope + a * np.maximum(np.abs(slope), 1e-9), offset + b, centre)
        assert (value(slope, offset, centre) <= around * (1 + 1e-12)).all()


def test_separated_margins_have_platts_sigmoid_and_no_plain_one():
    M = np.array([[-1], [1]])
    F, y = np.array([[-2.0], [-1.0], [-1.5], [1.0], [3.0]]), np.array([0, 0, 0, 1, 1])
    fitted = Likelihood().fit(F, y, M)
    assert [fitted.slope_[0], fitted.offset_[0]] == pytest.approx(platt(F[:, 0], M[y, 0], np.ones(5)), rel=1e-6)
    with pytest.warns(UserWarning, match="targets='plain' has no best sigmoid.*: 0"):
        plain = Likelihood(targets="plain").fit(F, y, M)
    assert plain.slope_ == pytest.approx(fitted.slope_)
    # Two values of the margin only: the sigmoid meets Platt's targets exactly.
    two = Likelihood().fit(np.sign(F), y, M).probabilities([[-1.0], [1.0]], M)
    assert two[:, 1] == pytest.approx([1 / 5, 3 / 4])


def test_columns_that_cannot_be_fitted_say_so():
    rng = np.random.default_rng(8)
    M = oracles.all_pairs(3)
    F, y = held_out(rng, 60, M)
    F[y == 0, 0] = np.nan
    with pytest.warns(UserWarning, match="1 of 3 columns .* no held-out margins of both signs.*: 0"):
        decoder = Likelihood().fit(F, y, M)
    assert (decoder.slope_[0], decoder.offset_[0]) == (-2, 0)
    F, y = held_out(rng, 60, M)
    F[:, 1] *= -1
    with pytest.warns(UserWarning, match="1 of 3 columns .* point the wrong way.*: 1"):
        decoder = Likelihood().fit(F, y, M)
    assert decoder.slope_[1] > 0


def test_constant_margins_answer_the_frequencies():
    M = np.array([[-1], [1]])
    decoder = Likelihood(targets="plain").fit(np.full((10, 1), 3.0), [0] * 7 + [1] * 3, M)
    assert decoder.slope_[0] == 0
    assert decoder.probabilities([[3.0], [-1.0]], M) == pytest.approx(np.array([[0.7, 0.3], [0.7, 0.3]]))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((np.zeros((2, 3)), [0, 1], [[1], [-1]]), "don't match"),
        ((np.array([[np.inf], [0.0]]), [0, 1], [[1], [-1]]), "infinite"),
        ((np.zeros((2, 1)), [0, 2], [[1], [-1]]), "between 0 and 1"),
    ],
)
def test_bad_margins_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        Likelihood().fit(*arguments)


def test_bad_targets_and_other_columns_are_refused():
    with pytest.raises(ValueError, match="targets='hard' must be"):
        Likelihood(targets="hard").fit([[0.0], [1.0]], [0, 1], [[1], [-1]])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        decoder = Likelihood().fit([[0.0], [1.0]], [0, 1], [[1], [-1]])
    with pytest.raises(ValueError, match="fitted on 1 columns but this code has 3"):
        decoder.scores(np.zeros((1, 3)), oracles.one_vs_all(3))


def test_a_remainder_far_below_rounding_is_exact():
    M = np.where(np.eye(3, dtype=bool), 1, -1)
    decoder = Likelihood()
    decoder.slope_, decoder.offset_ = np.full(3, -1.0), np.zeros(3)
    wrong = np.exp(-40.0)  # of each bit, to the last digit
    P = decoder.probabilities(np.array([[40.0, -40.0, -40.0]]), M)[0]
    # Of the 8 codewords, those with one wrong bit that are no class's share their mass among three.
    np.testing.assert_allclose(P[1:], wrong, rtol=1e-12)


@pytest.mark.parametrize("scale", [1e-200, 1e-100, 1e90])
def test_plain_sigmoids_know_proportions_of_weights_alone(scale):
    rng = np.random.default_rng(0)
    y, M = rng.integers(2, size=60), np.array([[-1], [1]])
    F = rng.normal(size=(60, 1)) + M[y]
    weight = rng.uniform(1, 2, size=60)
    plain, scaled = (Likelihood(targets="plain").fit(F, y, M, w) for w in (weight, scale * weight))
    np.testing.assert_allclose(scaled.slope_, plain.slope_, rtol=1e-6)
