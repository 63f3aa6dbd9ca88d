"""Loss-based decoding as ONNX operators: weighted sums of losses over the columns."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from outputcodes.app.export.graph import Graph, Value
from outputcodes.app.export.losses import exported_loss
from outputcodes.decoders.base import signs_of
from outputcodes.decoders.loss import SAFE_EXPONENT
from outputcodes.losses import LOSSES

Array = NDArray[np.float64]


def loss_scores(
    g: Graph, F: Value, given: Any, M: NDArray[Any], weight: Array, divisor: NDArray[np.intp] | None = None
) -> str:
    """Return −Σ_s weight_rs·L(M_rs·f_s) / divisor_r, for the exponential loss its logarithm, as `loss_scorer` does."""
    loss, value = exported_loss(given)
    exponential = loss is LOSSES["exponential"]
    margins = g("Clip", F, -SAFE_EXPONENT, SAFE_EXPONENT) if exponential else F
    if loss.odd:
        inner = g("Sub", value(g, margins), loss.at_zero)
        D = g("MatMul", inner, -(weight * M).T)
        constant = -loss.at_zero * weight.sum(axis=1)
    else:
        plus, minus, zero = signs_of(M)
        both = g("Concat", value(g, margins), value(g, g("Neg", margins)), axis=1)
        D = g("MatMul", both, -np.hstack([weight * plus, weight * minus]).T)
        constant = -loss.at_zero * (weight * zero).sum(axis=1)
    if constant.any():
        D = g("Add", D, constant)
    if not exponential:
        return D if divisor is None else g("Div", D, divisor.astype(np.float64))
    D = _exact_where_large(g, F, g("Neg", g("Log", g("Neg", D))), M, weight)
    return D if divisor is None else g("Add", D, np.log(divisor))


def _exact_where_large(g: Graph, F: Value, D: Value, M: NDArray[Any], weight: Array) -> str:
    """Replace the scores of the few rows whose margins are too large for sums of exponentials."""
    large = g("Greater", g("Squeeze", g.largest(g("Abs", F)), np.array([1])), SAFE_EXPONENT)
    rows = g("Transpose", g("NonZero", large), perm=[1, 0])
    rare = g("Unsqueeze", g("GatherND", F, rows), np.array([1]))
    terms = g("Where", weight > 0, g("Mul", rare, -M.astype(np.float64)), -np.inf)
    most = g.largest(terms, axis=2)
    total = g.total(g("Mul", g("Exp", g("Sub", terms, most)), weight), axis=2)
    exact = g("Neg", g("Add", g("Log", total), g("Squeeze", most, np.array([2]))))
    return g("ScatterND", D, rows, exact)
