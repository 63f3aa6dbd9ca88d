"""Softmax: temperature and doubt against a general optimiser; the prediction stays the decoder's."""

import numpy as np
import oracles
import pytest
from scipy.optimize import differential_evolution
from scipy.special import softmax

from outputcodes.decoders import DECODERS, LossBased, Softmax, as_decoder

rng = np.random.default_rng(0)
M = oracles.all_pairs(4)
y = rng.integers(0, 4, 150)
F = M[y] + 1.2 * rng.normal(size=(150, 6))
weight = rng.random(150)


@pytest.mark.parametrize("name", [name for name in DECODERS if name not in ("loss", "inverse-hamming", "beam")])
def test_scores_and_predictions_are_the_decoders_and_probabilities_their_softmax_with_doubt(name):
    decoder = Softmax(name).fit(F, y, M)
    inner = decoder.decoder_
    D, P = inner.scores(F, M), decoder.probabilities(F, M)
    assert np.array_equal(decoder.scores(F, M), D)
    assert np.array_equal(decoder.predict(F, M), inner.predict(F, M))
    assert np.array_equal(decoder.ties(F, M), inner.ties(F, M))
    assert np.array_equal(P.argmax(axis=1), D.argmax(axis=1))
    doubt = decoder.doubt_
    assert np.allclose(P.sum(axis=1), 1)
    assert np.allclose(P, (1 - doubt) * softmax(D / decoder.temperature_, axis=1) + doubt / 4)


def penalised_loss(D, y, weight, temperature, doubt):
    """By its definition: -log P(y) + u / ((n + 2) T), summed over the rows."""
    below = D.max(axis=1) - D.mean(axis=1)
    order = np.argsort(below)
    order = order[below[order] > 0]
    u = below[order[np.searchsorted(np.cumsum(weight[order]), weight[order].sum() / 2)]]
    P = (1 - doubt) * softmax(D / temperature, axis=1)[np.arange(len(y)), y] + doubt / D.shape[1]
    return -weight @ np.log(P) + weight.sum() * u / ((weight.sum() + 2) * temperature)


@pytest.mark.parametrize("name", ["hinge", "hamming", "exponential"])
@pytest.mark.parametrize("wrong", [0, 9])
def test_temperature_and_doubt_are_those_of_the_least_loss(name, wrong):
    labels, D = y.copy(), as_decoder(name).scores(F, M)
    labels[:wrong] = D[:wrong].argmin(axis=1)  # rows whose scores mislead altogether
    decoder = Softmax(name).fit(F, labels, M, weight)
    least = 1 / (weight.sum() + 2)
    best = differential_evolution(
        lambda at: penalised_loss(D, labels, weight, np.exp(at[0]), at[1]), [(-5, 8), (least, 1)], seed=0, tol=1e-10
    )
    assert decoder.temperature_ == pytest.approx(np.exp(best.x[0]), rel=1e-4)
    assert decoder.doubt_ == pytest.approx(best.x[1], rel=1e-3)
    reached = penalised_loss(D, labels, weight, decoder.temperature_, decoder.doubt_)
    assert reached <= best.fun + 1e-9
    assert (decoder.doubt_ > 1.5 * least) == (wrong > 0)


def test_the_temperature_has_the_unit_of_the_scores_and_a_weight_is_a_number_of_rows():
    linear = Softmax(LossBased("linear"))
    once = linear.fit(F, y, M)
    T, doubt = once.temperature_, once.doubt_
    scaled = linear.fit(1000 * F, y, M)
    assert (scaled.temperature_, scaled.doubt_) == pytest.approx((1000 * T, doubt), rel=1e-6)
    times = np.arange(150) % 4
    weighted = Softmax("hinge").fit(F, y, M, times)
    repeated = Softmax("hinge").fit(np.repeat(F, times, axis=0), np.repeat(y, times), M)
    assert weighted.temperature_ == pytest.approx(repeated.temperature_, rel=1e-6)
    assert weighted.doubt_ == pytest.approx(repeated.doubt_, rel=1e-6)


def test_rows_that_mislead_neither_raise_the_temperature_nor_get_probability_0():
    clean = Softmax("linear").fit(F, y, M).temperature_
    misled = Softmax("linear").fit(np.concatenate([F, -1e6 * M[[0, 1]]]), np.concatenate([y, [0, 1]]), M)
    assert misled.temperature_ == pytest.approx(clean, rel=0.1)
    assert misled.probabilities(-1e6 * M[:1], M)[0, 0] >= 1 / 154 / 4


def test_rows_without_all_margins_are_left_out():
    holes = F.copy()
    holes[::3, 2] = np.nan
    whole = ~np.isnan(holes).any(axis=1)
    assert Softmax("hinge").fit(holes, y, M).temperature_ == Softmax("hinge").fit(F[whole], y[whole], M).temperature_


def test_scores_that_tell_nothing_give_equal_probabilities_and_the_same_prediction():
    for margins in (-F, np.full(F.shape, np.nan), np.zeros(F.shape)):
        with pytest.warns(UserWarning, match="no better than equal probabilities"):
            decoder = Softmax("hinge").fit(margins, y, M)
        P = decoder.probabilities(F, M)
        assert np.allclose(P, 0.25)
        assert np.array_equal(P.argmax(axis=1), as_decoder("hinge").predict(F, M))


def test_separated_scores_are_trusted_as_far_as_the_number_of_rows_allows():
    for code, classes in ((M, y), (oracles.all_pairs(26), np.arange(600) % 26), (np.array([[-1], [1]]), y % 2)):
        decoder = Softmax("linear").fit(5.0 * code[classes], classes, code)
        n = len(classes)
        assert 0 < decoder.temperature_ < np.inf
        assert decoder.doubt_ == 1 / (n + 2)
        wrong = 1 - decoder.probabilities(5.0 * code, code).max(axis=1)
        assert (wrong > 0.9 * (1 - 1 / len(code)) / (n + 2)).all()
        assert (wrong < 4 / n).all()


def test_weights_that_sum_to_one_still_tell_more_than_nothing():
    assert Softmax("hinge").fit(F, y, M, weight / weight.sum()).temperature_ < np.inf


def test_a_fitted_decoder_stays_as_it_is():
    fitted = as_decoder("accuracy-weighted").fit(F[:50], y[:50], M)
    assert Softmax(fitted).fit(F, y, M).decoder_ is fitted
    assert Softmax().for_loss("hinge").fit(F, y, M).decoder_.loss == "hinge"
    with pytest.raises(ValueError, match="name one of"):
        Softmax().fit(F, y, M)
