"""The table of losses against plain formulas, numerical derivatives, extreme margins and the table of conditions."""

import numpy as np
import oracles
import pytest

from outputcodes.losses import LOSSES, as_loss, observe

# L(0), (7), L >= 0, non-increasing, L(z) >= L(0) > 0 for z < 0.
CONDITIONS = {
    "hinge": (1, True, True, True, True),
    "squared-hinge": (1, True, True, True, True),
    "exponential": (1, True, True, True, True),
    "logistic": (np.log(2), True, True, True, True),
    "squared": (1, True, True, False, True),
    "randomised": (0.5, True, True, True, True),
    "hamming": (0.5, True, True, True, True),
    "linear": (0, False, False, True, False),
}
everyone = pytest.mark.parametrize("name", LOSSES)


@everyone
def test_value_is_the_formula(name):
    z = np.linspace(-20, 20, 401)
    assert np.allclose(LOSSES[name](z), [oracles.LOSSES[name](v) for v in z], rtol=1e-13, atol=1e-15)


@everyone
def test_declared_conditions_are_those_of_the_table_and_of_the_numbers(name):
    loss = LOSSES[name]
    conditions = (
        loss.at_zero,
        loss.convex_at_zero,
        loss.nonnegative,
        loss.nonincreasing,
        loss.penalises_errors,
    )
    assert conditions == CONDITIONS[name]
    assert loss.at_zero == loss(0.0)
    seen = observe(loss.value)
    assert (seen.convex_at_zero, seen.nonnegative, seen.nonincreasing, seen.penalises_errors) == conditions[1:]


@everyone
def test_derivative_is_the_slope(name):
    loss = LOSSES[name]
    if loss.derivative is None:
        assert name == "hamming"
        return
    z = np.linspace(-5, 5, 200)  # no point on a kink
    step = 1e-6
    slope = (loss(z + step) - loss(z - step)) / (2 * step)
    assert np.allclose(loss.derivative(z), slope, rtol=1e-6, atol=1e-6)


@everyone
def test_extreme_margins_neither_overflow_nor_turn_nan(name):
    loss = LOSSES[name]
    z = np.array([-1e9, -1e3, 1e3, 1e9])
    assert np.isfinite(loss(z)).all()
    assert not loss.nonincreasing or (np.diff(loss(z)) <= 0).all()
    if loss.derivative is not None:
        assert np.isfinite(loss.derivative(z)).all()


def test_logistic_keeps_its_digits_far_out():
    # log(1 + e^-2z) ~ e^-2z for large z: the naive form answers 0 beyond z = 19.
    assert LOSSES["logistic"](30.0) == pytest.approx(np.exp(-60.0), rel=1e-12)


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


def test_a_callable_must_answer_elementwise_and_finite():
    with pytest.raises(ValueError, match="same shape"):
        as_loss(lambda z: np.zeros(3))
    with pytest.raises(ValueError, match="finite"):
        as_loss(lambda z: np.where(z < 0, np.inf, 0))
