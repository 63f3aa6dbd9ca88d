"""Sigmoids: the probability of +1 given the margin of a column, fitted for all columns at once."""

from __future__ import annotations

import warnings
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import ConvergenceWarning

from outputcodes._ground.blocks import row_blocks
from outputcodes._ground.validation import check_labels, check_weight

Array = NDArray[np.float64]

# The sigmoid of a column without held-out margins of both signs: that of margins of logistic regression.
SLOPE, OFFSET = -2.0, 0.0
TOLERANCE, MAX_ITER = 1e-12, 100
LONGEST_STEP, TINY = 50.0, 1e-100


class Sigmoids(NamedTuple):
    """P(+1 | f) = 1/(1 + exp(slope·f + offset)) for each column, and the accuracy of the fit.

    `mass` is the weight of the examples of each column; `gap` the Newton decrement per unit of weight.
    """

    slope: Array
    offset: Array
    mass: Array
    gap: Array
    iterations: NDArray[np.intp]


def fit_sigmoids(
    F: ArrayLike,
    y: ArrayLike,
    M: ArrayLike,
    weight: ArrayLike | None = None,
    targets: Literal["platt", "plain"] = "platt",
) -> Sigmoids:
    """Fit the maximum-likelihood sigmoids to margins F (n, L), NaN where there is none, of examples with labels y.

    The targets "platt" are (N₊ + 1)/(N₊ + 2) and 1/(N₋ + 2) for the two signs (Platt, Probabilistic outputs for support
    vector machines, 1999). The targets "plain" are 1 and 0, for which a column with separated margins has no best
    sigmoid: it gets Platt's targets, with a warning.
    """
    if targets not in ("platt", "plain"):
        raise ValueError(f"targets={targets!r} must be 'platt' or 'plain'.")
    F, code = np.asarray(F, dtype=np.float64), np.asarray(M)
    if F.ndim != 2 or code.ndim != 2 or F.shape != (np.size(y), code.shape[1]):
        raise ValueError(
            f"The shapes of F {F.shape}, y {np.shape(y)} and M {code.shape} don't match: they must be (n, L), (n,) and "
            "(k, L)."
        )
    if np.isinf(F).any():
        raise ValueError("F has infinite margins; use NaN where a column has no margin.")
    labels = check_labels(y, len(code))
    mass = check_weight(weight, len(labels))
    mass = np.ones(len(labels)) if mass is None else mass
    parts, separated = [], []
    # The arrays of a column are as long as the number of its examples, which are selected from all rows.
    longest = int((np.bincount(labels, minlength=len(code)) @ (code != 0)).max(initial=0))
    for columns in row_blocks(code.shape[1], 4 * max(longest, len(labels) // 16)):
        f, sign, w = _gathered(F[:, columns], code[:, columns][labels], mass)
        answer, plainly_separated = _fit_block(f, sign, w, targets == "plain")
        parts.append(answer)
        separated.append(plainly_separated)
    sigmoids = Sigmoids(*(np.concatenate(field) for field in zip(*parts, strict=True)))
    _report(sigmoids, np.concatenate(separated))
    return sigmoids


def _gathered(F: Array, signs: NDArray[Any], mass: Array) -> tuple[Array, Array, Array]:
    """Return margins, signs and weights (m, L), each column's own examples first, padded with weight 0."""
    used = (signs != 0) & ~np.isnan(F) & (mass > 0)[:, None]
    column, row = np.nonzero(used.T)
    count = used.sum(axis=0)
    at = np.arange(len(row)) - np.repeat(np.cumsum(count) - count, count)
    f, sign, w = np.zeros((3, max(1, count.max()), len(count)))
    f[at, column], sign[at, column], w[at, column] = F[row, column], signs[row, column], mass[row]
    return f, sign, w


def _fit_block(f: Array, sign: Array, w: Array, plain: bool) -> tuple[Sigmoids, NDArray[np.bool_]]:
    """Fit every column of a block by Newton's method; return also which columns with plain targets were separated."""
    plus, minus = (w * (sign > 0)).sum(axis=0), (w * (sign < 0)).sum(axis=0)
    both = (plus > 0) & (minus > 0)
    total = np.where(both, plus + minus, 1.0)
    centre, spread = _units(f, w > 0)
    x = np.where(w > 0, f - centre, 0.0) / spread
    apart = _separated(f, sign) & both if plain else np.zeros(len(both), dtype=bool)
    smooth = apart | (not plain)
    high, low = (plus + smooth) / (plus + 2 * smooth + ~both), smooth / (minus + 2 * smooth + ~both)
    t = np.where(sign > 0, high, low)
    # Apart from the targets only the proportions of weights matter, and sums of extreme weights would overflow.
    w = w / total
    theta = np.stack([np.zeros_like(plus), np.log((minus + 1) / (plus + 1))])
    value, gap = _likelihood(theta, x, t, w), np.full(len(both), np.inf)
    iterations, active = np.zeros(len(both), dtype=np.intp), np.flatnonzero(both)
    for _ in range(MAX_ITER):
        if not active.size:
            break
        step, decrement = _newton_step(theta[:, active], x[:, active], t[:, active], w[:, active])
        gap[active] = decrement
        iterations[active] += 1
        _descend(theta, value, step, decrement, active, x, t, w)
        active = active[gap[active] > TOLERANCE]
    gap[~both] = 0.0
    slope = np.where(both, theta[0] / spread, SLOPE)
    offset = np.where(both, theta[1] - slope * centre, OFFSET)
    return Sigmoids(slope, offset, plus + minus, gap, iterations), apart


def _units(f: Array, present: NDArray[np.bool_]) -> tuple[Array, Array]:
    """Return the centre and spread of each column's margins, in which its problem is well scaled despite outliers.

    These are the median and the median distance of about a thousand rows. The spread is infinite for a column with
    constant margins, for which only the offset matters.
    """
    some = slice(None, None, max(1, len(f) // 1000))

    def median(values: Array) -> Array:
        ordered = np.sort(np.where(present[some], values, np.inf), axis=0)
        middle = np.take_along_axis(ordered, present[some].sum(axis=0, keepdims=True) // 2, axis=0)[0]
        return np.where(np.isfinite(middle), middle, 0.0)

    centre = median(f[some])
    distance = np.where(present, np.abs(f - centre), 0.0)
    largest = distance.max(axis=0)
    typical = median(distance[some])
    # If most margins are equal, they become 0, and the others determine the scale.
    typical = np.where(typical > 0, np.maximum(typical, 1e-12 * largest), largest)
    return centre, np.where(largest > 1e-14 * np.abs(f).max(axis=0), typical, np.inf)


def _likelihood(theta: Array, x: Array, t: Array, w: Array) -> Array:
    """Return −Σ w (t ln p + (1 − t) ln(1 − p)) of each column, p = 1/(1 + e^z), z = slope·x + offset."""
    z = theta[0] * x + theta[1]
    # ln(1 + e^z) without log1p, which is slower; the last digits that it would keep are lost in the sum anyway.
    softplus = np.log(1 + np.exp(-np.abs(z))) + np.maximum(z, 0)
    value: Array = (w * (softplus - (1 - t) * z)).sum(axis=0)
    return value


def _newton_step(theta: Array, x: Array, t: Array, w: Array) -> tuple[Array, Array]:
    """Return the step (2, L) and half the decrement gᵀH⁻¹g."""
    with np.errstate(over="ignore"):
        p = 1 / (1 + np.exp(theta[0] * x + theta[1]))
    slope, curvature = w * (t - p), w * p * (1 - p)
    g = np.stack([(slope * x).sum(axis=0), slope.sum(axis=0)])
    a, b, c = (curvature * x * x).sum(axis=0), (curvature * x).sum(axis=0), curvature.sum(axis=0)
    # Keeps the system regular if all margins with a relevant weight are equal, or there are none.
    a, c = a + 1e-13 * a + TINY, c + 1e-13 * c + TINY
    determinant = np.maximum(a * c - b * b, 1e-13 * a * c)
    step = -np.stack([c * g[0] - b * g[1], a * g[1] - b * g[0]]) / determinant
    # Where sigmoids are flat, Newton steps would be too long.
    step /= np.maximum(np.abs(step).max(axis=0) / LONGEST_STEP, 1.0)
    return step, -0.5 * (g * step).sum(axis=0)


def _descend(
    theta: Array, value: Array, step: Array, decrement: Array, active: Any, x: Array, t: Array, w: Array
) -> None:
    """Take the step of each active column, halved until its likelihood improves; update theta and value."""
    left, length = np.arange(len(active)), 1.0
    while left.size and length > 1e-10:
        columns = active[left]
        trial = theta[:, columns] + length * step[:, left]
        found = _likelihood(trial, x[:, columns], t[:, columns], w[:, columns])
        # Near the optimum the improvement is lost in rounding.
        enough = found <= value[columns] - 2e-4 * length * decrement[left] + 1e-13 * np.abs(value[columns])
        theta[:, columns[enough]], value[columns[enough]] = trial[:, enough], found[enough]
        left, length = left[~enough], length / 2


def _separated(f: Array, sign: Array) -> NDArray[np.bool_]:
    """Return whether some threshold separates all examples of +1 from all of −1, in either direction."""
    lowest = [np.where(sign == s, f, np.inf).min(axis=0) for s in (+1, -1)]
    highest = [np.where(sign == s, f, -np.inf).max(axis=0) for s in (+1, -1)]
    # Equal margins are not separated: the best slope is 0.
    apart = (lowest[0] >= highest[1]) | (lowest[1] >= highest[0])
    return np.asarray(apart & (np.maximum(*highest) > np.minimum(*lowest)))


def _report(sigmoids: Sigmoids, separated: NDArray[np.bool_]) -> None:
    """Warn about columns that were not fitted, or whose fit is unusual."""
    unfitted = sigmoids.iterations == 0
    for odd, what in (
        (unfitted, f"have no held-out margins of both signs; they get slope {SLOPE:g} and offset {OFFSET:g}"),
        (separated, "have separated held-out margins, for which targets='plain' has no best sigmoid; Platt's are used"),
        (sigmoids.slope > 0, "have held-out margins that point the wrong way, so that their sigmoids decrease"),
    ):
        if odd.any():
            shown = ", ".join(map(str, np.flatnonzero(odd)[:10])) + (", …" if odd.sum() > 10 else "")
            warnings.warn(f"{odd.sum()} of {odd.size} columns of the code {what}: {shown}.", UserWarning, stacklevel=4)
    if (missed := sigmoids.gap > TOLERANCE).any():
        warnings.warn(
            f"{missed.sum()} of {missed.size} sigmoids did not converge in {MAX_ITER} steps; the worst gap is "
            f"{sigmoids.gap.max():.2g}.",
            ConvergenceWarning,
            stacklevel=4,
        )
