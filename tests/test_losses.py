"""The table of losses: plain formulas, published values, derivatives, extreme margins, and the declared properties."""

import numpy as np
import oracles
import pytest

from outputcodes.losses import LOSSES, as_loss, observe, softened_hinge

# From Allwein, Schapire & Singer's table and text: L(0), (7), L >= 0, non-increasing, L(z) >= L(0) > 0 for z < 0.
PUBLISHED = {
    "hinge": (1, True, True, True, True),
    "squared-hinge": (1, True, True, True, True),
    "exponential": (1, True, True, True, True),
    "logistic": (np.log(2), True, True, True, True),
    "squared": (1, True, True, False, True),
    "randomised": (0.5, True, True, True, True),
    "hamming": (0.5, True, True, True, True),
    "linear": (0, False, False, True, False),
}
# Every row of the table, and what is made of them.
EVERY = {
    **LOSSES,
    "softened hinge, blunt": softened_hinge(0.7),
    "softened hinge, sharp": softened_hinge(5.0),
    "logistic of log-odds": LOSSES["logistic"].scaled(0.5),
}
everyone = pytest.mark.parametrize("loss", EVERY.values(), ids=EVERY)


def properties(loss):
    return loss.at_zero, loss.convex_at_zero, loss.nonnegative, loss.nonincreasing, loss.penalises_errors


@pytest.mark.parametrize("name", LOSSES)
def test_value_is_the_formula(name):
    if name not in oracles.LOSSES:
        pytest.skip("no reference version in tests/oracles.py")
    z = np.linspace(-20, 20, 401)
    assert np.allclose(LOSSES[name](z), [oracles.LOSSES[name](v) for v in z], rtol=1e-13, atol=1e-15)


@pytest.mark.parametrize("name", PUBLISHED)
def test_properties_are_the_published_ones(name):
    assert properties(LOSSES[name]) == PUBLISHED[name]


@everyone
def test_declared_properties_hold_on_a_grid(loss):
    assert loss.at_zero == loss(0.0)
    assert properties(loss) == properties(observe(loss.value))
    z = np.linspace(0, 30, 301)
    assert loss.odd == np.allclose(loss(z) + loss(-z), 2 * loss.at_zero, rtol=1e-12)


@everyone
@pytest.mark.parametrize("order", [1, 2])
def test_derivatives_are_the_slopes(loss, order):
    below, above = [(loss.value, loss.derivative), (loss.derivative, loss.second_derivative)][order - 1]
    if above is None:
        # Only a function that jumps has no derivative; the slope across the jump grows without end.
        z = np.linspace(-5, 5, 10_001)
        assert below is None or np.abs(np.diff(below(z))).max() > 0.4
        return
    z, step = np.linspace(-5, 5, 200), 1e-6  # no point on a kink
    assert np.allclose(above(z), (below(z + step) - below(z - step)) / (2 * step), rtol=1e-6, atol=1e-6)


@everyone
@pytest.mark.parametrize("factor", [1.0, 0.5])
def test_values_and_derivatives_in_one_call(loss, factor):
    loss, z = loss.scaled(factor), np.linspace(-40, 40, 801)
    if loss.second_derivative is not None:
        parts = loss(z), loss.derivative(z), loss.second_derivative(z)
        for together, alone in zip(loss.with_derivatives(z), parts, strict=True):
            np.testing.assert_allclose(together, alone, rtol=1e-12, atol=1e-300)


@everyone
def test_extreme_margins_neither_overflow_nor_turn_nan(loss):
    z = np.array([-1e9, -1e3, 1e3, 1e9])
    assert np.isfinite(loss(z)).all()
    assert not loss.nonincreasing or (np.diff(loss(z)) <= 0).all()
    for derivative in (loss.derivative, loss.second_derivative):
        assert derivative is None or np.isfinite(derivative(z)).all()


def test_logistic_keeps_its_digits_far_out():
    # log(1 + e^-2z) ~ e^-2z for large z: the naive form returns 0 beyond z = 19.
    logistic = LOSSES["logistic"]
    assert logistic(30.0) == pytest.approx(np.exp(-60.0), rel=1e-12)
    assert logistic.derivative(30.0) == pytest.approx(-2 * np.exp(-60.0), rel=1e-12)
    assert logistic.second_derivative(30.0) == pytest.approx(4 * np.exp(-60.0), rel=1e-12)


def test_a_softened_hinge_is_the_moreau_envelope_of_the_hinge():
    # min over u of hinge(u) + s(u - z)²/2
    z, u = np.linspace(-2, 3, 51), np.linspace(-5, 5, 200_001)
    for sharpness in (0.7, 5.0):
        envelope = [(LOSSES["hinge"](u) + sharpness / 2 * (u - at) ** 2).min() for at in z]
        assert np.allclose(softened_hinge(sharpness)(z), envelope, atol=1e-8)


def test_shifted_linear_loss_breaks_theorem_1_although_it_meets_condition_7():
    shifted = as_loss(lambda z: 1 - z)
    assert shifted.convex_at_zero
    assert not shifted.nonnegative


@pytest.mark.parametrize(
    ("bad", "message"),
    [("hinged", "did you mean 'hinge'"), ("zzz", "Known names"), (3, "must be one of")],
)
def test_unknown_losses_are_named(bad, message):
    with pytest.raises(ValueError, match=message):
        as_loss(bad)


def test_a_callable_must_be_elementwise_and_finite():
    with pytest.raises(ValueError, match="same shape"):
        as_loss(lambda z: np.zeros(3))
    with pytest.raises(ValueError, match="not finite"):
        as_loss(lambda z: np.where(z < 0, np.inf, 0))
