"""The margin losses as ONNX operators, by the names of `outputcodes.losses`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from outputcodes.app.export.errors import refuse
from outputcodes.app.export.graph import Graph, Value
from outputcodes.losses import LARGEST_EXPONENT, LOSSES, Loss, as_loss


def _hinge(g: Graph, z: Value) -> str:
    return g("Max", g("Sub", 1.0, z), 0.0)


def _exponential(g: Graph, z: Value) -> str:
    return g("Exp", g("Min", g("Neg", z), LARGEST_EXPONENT))


def _randomised(g: Graph, z: Value) -> str:
    return g("Div", 1.0, g("Add", 1.0, g("Exp", g("Min", g("Mul", z, 2.0), LARGEST_EXPONENT))))


# To add the ONNX form of a loss, add its line.
VALUES: dict[str, Callable[[Graph, Value], str]] = {
    "hinge": _hinge,
    "squared-hinge": lambda g, z: g.square(_hinge(g, z)),
    "exponential": _exponential,
    "logistic": lambda g, z: g.softplus(g("Mul", z, -2.0)),
    "squared": lambda g, z: g.square(g("Sub", 1.0, z)),
    "linear": lambda g, z: g("Neg", z),
    "randomised": _randomised,
    "hamming": lambda g, z: g("Div", g("Sub", 1.0, g("Sign", z)), 2.0),
}


def exported_loss(given: Any) -> tuple[Loss, Callable[[Graph, Value], str]]:
    """Return a loss, and its values as operators; raise an error if it is not in the table."""
    loss = as_loss(given)
    if loss.name not in VALUES or LOSSES.get(loss.name) is not loss:
        raise refuse(f"The loss {loss.name!r}", "is a function of your own", f"one of {', '.join(VALUES)}")
    return loss, VALUES[loss.name]
