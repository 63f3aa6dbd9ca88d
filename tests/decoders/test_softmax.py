"""Softmax: the temperature against a general optimiser; the prediction stays the decoder's."""

import numpy as np
import oracles
import pytest
from scipy.optimize import minimize_scalar
from scipy.special import log_softmax, softmax

from outputcodes.decoders import DECODERS, Likelihood, LossBased, Softmax, as_decoder

rng = np.random.default_rng(0)
M = oracles.all_pairs(4)
y = rng.integers(0, 4, 150)
F = M[y] + 1.2 * rng.normal(size=(150, 6))
weight = rng.random(150)


@pytest.mark.parametrize("name", [name for name in DECODERS if name not in ("loss", "inverse-hamming")])
def test_scores_and_predictions_are_the_decoders_and_probabilities_their_softmax(name):
    decoder = Softmax(name).fit(F, y, M)
    inner = decoder.decoder_
    D, P = inner.scores(F, M), decoder.probabilities(F, M)
    assert np.array_equal(decoder.scores(F, M), D)
    assert np.array_equal(decoder.predict(F, M), inner.predict(F, M))
    assert np.array_equal(decoder.ties(F, M), inner.ties(F, M))
    assert np.array_equal(P.argmax(axis=1), D.argmax(axis=1))
    assert np.allclose(P, softmax(D / decoder.temperature_, axis=1))


@pytest.mark.parametrize("name", ["hinge", "hamming", "exponential"])
def test_the_temperature_is_the_most_probable(name):
    decoder = Softmax(name).fit(F, y, M, weight)
    D = as_decoder(name).scores(F, M)
    aim = np.empty((150, 4))
    for i, label in enumerate(y):
        N = weight[y == label].sum()
        aim[i] = 1 / (N + 2) / 3
        aim[i, label] = (N + 1) / (N + 2)
    best = minimize_scalar(
        lambda t: -(weight[:, None] * aim * log_softmax(D / np.exp(t), axis=1)).sum(),
        bounds=(-10, 10),
        method="bounded",
        options={"xatol": 1e-10},
    )
    assert decoder.temperature_ == pytest.approx(np.exp(best.x), rel=1e-6)
    scaled = Softmax(LossBased("linear")).fit(1000 * F, y, M).temperature_
    assert scaled == pytest.approx(1000 * Softmax(LossBased("linear")).fit(F, y, M).temperature_)


def test_with_two_classes_it_is_platts_sigmoid_without_its_offset():
    two = np.array([[-1], [1]])
    labels = np.arange(60) % 2
    f = np.concatenate([two[labels] + rng.normal(size=(60, 1))] * 2) * np.repeat([[1], [-1]], 60, axis=0)
    labels = np.concatenate([labels, 1 - labels])  # symmetric, so that the best offset is 0
    sigmoid = Likelihood().fit(f, labels, two)
    assert sigmoid.offset_ == pytest.approx(0, abs=1e-9)
    # The linear scores of the two classes are ∓f: their difference over T is the log-odds.
    assert 2 / Softmax("linear").fit(f, labels, two).temperature_ == pytest.approx(-sigmoid.slope_[0], rel=1e-6)


def test_rows_without_all_margins_are_left_out():
    holes = F.copy()
    holes[::3, 2] = np.nan
    whole = ~np.isnan(holes).any(axis=1)
    assert Softmax("hinge").fit(holes, y, M).temperature_ == Softmax("hinge").fit(F[whole], y[whole], M).temperature_


def test_scores_that_tell_nothing_give_equal_probabilities_and_the_same_prediction():
    for margins in (-F, np.full(F.shape, np.nan), np.zeros(F.shape)):
        with pytest.warns(UserWarning, match="no more than equal probabilities"):
            decoder = Softmax("hinge").fit(margins, y, M)
        P = decoder.probabilities(F, M)
        assert np.allclose(P, 0.25)
        assert np.array_equal(P.argmax(axis=1), as_decoder("hinge").predict(F, M))


def test_separated_scores_have_a_finite_temperature():
    assert 0 < Softmax("linear").fit(5.0 * M[y], y, M).temperature_ < np.inf


def test_a_fitted_decoder_stays_as_it_is():
    fitted = as_decoder("accuracy-weighted").fit(F[:50], y[:50], M)
    assert Softmax(fitted).fit(F, y, M).decoder_ is fitted
    assert Softmax().for_loss("hinge").fit(F, y, M).decoder_.loss == "hinge"
    with pytest.raises(ValueError, match="name one of"):
        Softmax().fit(F, y, M)
