"""The table of margin losses L(z), z = y·f(x): values, two derivatives, and the conditions of the theorems."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit

from outputcodes._ground.planning import Planning
from outputcodes._ground.validation import unknown_name

Array = NDArray[np.float64]

# e^700 ≈ 1e304: thousands of such terms can be added before a float overflows. Decoders compare logarithms
# instead, so this limit never decides a prediction.
LARGEST_EXPONENT = 700.0


@dataclass(frozen=True)
class Loss:
    """A margin loss, its derivatives and its properties.

    Attributes
    ----------
    name : str
        The name in the table.
    value : callable
        L(z), elementwise.
    derivative : callable or None
        L'(z), elementwise; at a kink the derivative from the right. None if L jumps.
    second_derivative : callable or None
        L''(z), elementwise; where L' has a kink, the value on one side. None if L or L' jumps.
    at_zero : float
        L(0), the contribution of an entry 0 of the code.
    convex_at_zero : bool
        Condition (7) of Allwein, Schapire & Singer: (L(z) + L(-z))/2 ≥ L(0) > 0 for all z.
    nonnegative, nonincreasing : bool
        L(z) ≥ 0 for all z; L never increases.
    penalises_errors : bool
        L(z) ≥ L(0) > 0 for z < 0.
    odd : bool
        L(z) + L(−z) = 2L(0), so that decoders need only L(F).
    planning : Planning
        How a comparison treats decoding by this loss if it is not named.
    joint : callable or None
        L(z), L'(z) and L''(z) in one call, where that saves time.

    Examples
    --------
    >>> hinge = as_loss("hinge")
    >>> hinge(0.25), hinge.at_zero, hinge.convex_at_zero
    (np.float64(0.75), 1.0, True)
    """

    name: str
    value: Callable[[Array], Array]
    derivative: Callable[[Array], Array] | None
    second_derivative: Callable[[Array], Array] | None
    at_zero: float
    convex_at_zero: bool
    nonnegative: bool
    nonincreasing: bool
    penalises_errors: bool
    odd: bool = False
    planning: Planning = field(default_factory=Planning)
    joint: Callable[[Array], tuple[Array, Array, Array]] | None = None

    def __call__(self, z: ArrayLike) -> Array:
        """Return L(z)."""
        return self.value(np.asarray(z, dtype=np.float64))

    def with_derivatives(self, z: Array) -> tuple[Array, Array, Array]:
        """Return L(z), L'(z) and L''(z), for a loss that has both; `joint` shares what they have in common.

        >>> as_loss("logistic").with_derivatives(np.zeros(1))
        (array([0.69314718]), array([-1.]), array([1.]))
        """
        if self.joint is not None:
            return self.joint(z)
        assert self.derivative is not None
        assert self.second_derivative is not None
        return self.value(z), self.derivative(z), self.second_derivative(z)

    def scaled(self, factor: float) -> Loss:
        """Return the loss L(factor·z), for a positive factor; its properties are those of L.

        Examples
        --------
        >>> log_odds = as_loss("logistic").scaled(0.5)  # log(1 + e^-z)
        >>> log_odds(1.0).round(4)
        np.float64(0.3133)
        """

        def chain(function: Callable[[Array], Array] | None, order: int) -> Callable[[Array], Array] | None:
            return None if function is None else lambda z: factor**order * function(factor * z)

        def joint(z: Array) -> tuple[Array, Array, Array]:
            value, slope, bend = self.with_derivatives(factor * z)
            return value, factor * slope, factor**2 * bend

        return replace(
            self,
            value=lambda z: self.value(factor * z),
            derivative=chain(self.derivative, 1),
            second_derivative=chain(self.second_derivative, 2),
            joint=joint if self.joint is not None else None,
        )


def _hinge(z: Array) -> Array:
    return np.maximum(1.0 - z, 0.0)


def _hinge_slope(z: Array) -> Array:
    return -(z < 1.0).astype(np.float64)


def _squared_hinge(z: Array) -> Array:
    return np.square(_hinge(z))


def _squared_hinge_slope(z: Array) -> Array:
    return -2.0 * _hinge(z)


def _squared_hinge_bend(z: Array) -> Array:
    return np.where(z < 1.0, 2.0, 0.0)


def _exponential(z: Array) -> Array:
    return np.exp(np.minimum(-z, LARGEST_EXPONENT))


def _exponential_slope(z: Array) -> Array:
    return -_exponential(z)


def _logistic(z: Array) -> Array:
    # log(1 + e^(-2z)), without overflow on either side.
    return np.maximum(-2.0 * z, 0.0) + np.log1p(np.exp(-np.abs(2.0 * z)))


def _logistic_slope(z: Array) -> Array:
    # Not by `expit`, which takes twice as long: solvers spend much of their time here.
    return -2.0 / (1.0 + np.exp(np.minimum(2.0 * z, LARGEST_EXPONENT)))


def _logistic_bend(z: Array) -> Array:
    e = np.exp(-np.abs(2.0 * z))
    return 4.0 * e / np.square(1.0 + e)


def _logistic_joint(z: Array) -> tuple[Array, Array, Array]:
    # One exponential in place of three: solvers spend much of their time here.
    e = np.exp(-np.abs(2.0 * z))
    p = 1.0 / (1.0 + e)
    share = e * p
    return np.log1p(e) + np.maximum(-2.0 * z, 0.0), -2.0 * np.where(z > 0.0, share, p), 4.0 * share * p


def _squared(z: Array) -> Array:
    return np.square(1.0 - z)


def _squared_slope(z: Array) -> Array:
    return -2.0 * (1.0 - z)


def _squared_bend(z: Array) -> Array:
    return np.full_like(z, 2.0)


def _linear(z: Array) -> Array:
    return -z


def _linear_slope(z: Array) -> Array:
    return np.full_like(z, -1.0)


def _linear_bend(z: Array) -> Array:
    return np.zeros_like(z)


def _randomised(z: Array) -> Array:
    value: Array = expit(-2.0 * z)
    return value


def _randomised_slope(z: Array) -> Array:
    return -0.5 * _logistic_bend(z)


def _randomised_bend(z: Array) -> Array:
    return np.tanh(z) * _logistic_bend(z)


def _hamming(z: Array) -> Array:
    return (1.0 - np.sign(z)) / 2.0


# L, L', L'', L(0), (7), L ≥ 0, non-increasing, L(z<0) ≥ L(0) > 0, odd about 0
_ROWS: dict[str, tuple[Any, ...]] = {
    "hinge": (_hinge, _hinge_slope, None, 1.0, True, True, True, True),
    "squared-hinge": (_squared_hinge, _squared_hinge_slope, _squared_hinge_bend, 1.0, True, True, True, True),
    "exponential": (_exponential, _exponential_slope, _exponential, 1.0, True, True, True, True),
    "logistic": (_logistic, _logistic_slope, _logistic_bend, float(np.log(2.0)), True, True, True, True),
    "squared": (_squared, _squared_slope, _squared_bend, 1.0, True, True, False, True),
    "linear": (_linear, _linear_slope, _linear_bend, 0.0, False, False, True, False, True),
    "randomised": (_randomised, _randomised_slope, _randomised_bend, 0.5, True, True, True, True, True),
    "hamming": (_hamming, None, None, 0.5, True, True, True, True, True),
}

# Most learners minimise one of these, and decoder="loss" then decodes by it: the others are compared if they are named.
_NAMED_ONLY = Planning(tried=False)
_PLANNING = {
    **dict.fromkeys(("hinge", "squared-hinge", "logistic", "squared", "randomised"), _NAMED_ONLY),
    "hamming": Planning(quick=True, cost=10),
    "linear": Planning(cost=30),
    "exponential": Planning(cost=40),
}

_JOINT = {"logistic": _logistic_joint}

LOSSES: dict[str, Loss] = {
    name: replace(Loss(name, *row), planning=_PLANNING.get(name, Planning()), joint=_JOINT.get(name))
    for name, row in _ROWS.items()
}


def as_loss(loss: str | Loss | Callable[[Array], Array]) -> Loss:
    """Resolve a name, a `Loss` or a function of z to a `Loss`.

    The properties of a user's function are tested numerically, on the grid of `observe`.

    Examples
    --------
    >>> as_loss("logistic")(0.0)
    np.float64(0.693...)
    >>> as_loss(lambda z: np.maximum(1 - z, 0) ** 3).convex_at_zero
    True
    """
    if isinstance(loss, Loss):
        return loss
    if isinstance(loss, str):
        if loss in LOSSES:
            return LOSSES[loss]
        raise unknown_name("loss", loss, LOSSES)
    if callable(loss):
        return observe(loss)
    raise ValueError(f"loss={loss!r} must be one of {', '.join(LOSSES)}, or a function of the margin z.")


def softened_hinge(sharpness: float) -> Loss:
    """Return the smooth lower envelope of the hinge: quadratic for a width 1/sharpness below z = 1, linear beyond.

    Examples
    --------
    >>> softened_hinge(2.0)([0.0, 0.5, 0.75, 1.0])
    array([0.75  , 0.25  , 0.0625, 0.    ])
    """

    def slope(z: Array) -> Array:
        return -np.clip(sharpness * (1.0 - z), 0.0, 1.0)

    def value(z: Array) -> Array:
        inside = slope(z)
        return -inside * (1.0 - z + 0.5 / sharpness * inside)

    def bend(z: Array) -> Array:
        m = 1.0 - z
        return np.where((m > 0.0) & (sharpness * m < 1.0), sharpness, 0.0)

    return Loss("softened-hinge", value, slope, bend, float(value(np.zeros(1))[0]), True, True, True, True)


def observe(loss: Callable[[Array], Array], reach: float = 30.0, points: int = 6001) -> Loss:
    """Make a `Loss` of a user's function, with its conditions tested on a symmetric grid of margins.

    Examples
    --------
    >>> linear = observe(lambda z: -z)
    >>> linear.convex_at_zero, linear.nonincreasing
    (False, True)
    """
    z = np.linspace(-reach, reach, points)
    value = np.asarray(loss(z), dtype=np.float64)
    if value.shape != z.shape or not np.isfinite(value).all():
        raise ValueError(
            f"loss={loss!r} must map an array of margins to finite values of the same shape; "
            f"for {points} margins between ±{reach:g} it returned shape {value.shape}"
            f"{'' if np.isfinite(value).all() else ', with values that are not finite'}."
        )
    at_zero = float(np.asarray(loss(np.zeros(1)), dtype=np.float64)[0])
    slack = 1e-12 * (1.0 + np.abs(value))
    return Loss(
        name=getattr(loss, "__name__", type(loss).__name__),
        value=loss,
        derivative=None,
        second_derivative=None,
        at_zero=at_zero,
        convex_at_zero=at_zero > 0 and bool(np.all((value + value[::-1]) / 2 >= at_zero - slack)),
        nonnegative=bool(np.all(value >= 0)),
        nonincreasing=bool(np.all(np.diff(value) <= slack[1:])),
        penalises_errors=at_zero > 0 and bool(np.all(value[z < 0] >= at_zero - slack[z < 0])),
    )
