"""The multinomial loss -Σ_i w_i ln P_i,y(i), P = softmax(F): gradients, sketches and Newton steps.

P is kept in place of F. A leaf with the values v multiplies the rows of P by exp(v), and their sums become 1 again in
the same pass: no exponential per row and class. The rows of P are stored up to a factor, `scale`, and are padded with
zeros to whole vectors of a processor.
"""

from __future__ import annotations

from functools import cached_property
from math import exp, log
from typing import Any, ClassVar

import numpy as np
from numba import njit
from numpy.typing import NDArray
from scipy.special import softmax

from outputcodes._ground.compiling import ENTRY
from outputcodes._ground.lanes import aligned_zeros
from outputcodes.learners.trees.boosted.loss import FIND, SUM, TAKE, BoostedLoss, near_one
from outputcodes.learners.trees.boosted.sketches import LeafValues, Sketch

FAST = {"reassoc", "contract", "nsz", "arcp"}
# No probability falls below this, and no step is longer than that.
LEAST, LONGEST = 1e-7, 4.0
# With more classes than this, those without a row in a leaf take one step together there.
MANY = 64

Rows = NDArray[np.intp]


class Multinomial(BoostedLoss):
    """The probabilities of all rows, which boosting moves towards their classes.

    Parameters
    ----------
    y : ndarray of shape (n,)
        Class numbers, 0..k-1.
    weight : ndarray of shape (n,)
    k : int
    rows : ndarray
        The rows that give the shares of the classes.
    """

    # Σ w (diag(p) - p pᵀ) has the row sums 0: as much beside the diagonal as on it. With two classes
    # the step is Newton's.
    bound: ClassVar[float] = 2.0

    def __init__(self, y: Rows, weight: NDArray[np.float64], k: int, rows: Rows) -> None:
        self.y, (self.weight, self.weight_unit) = y, near_one(weight)
        share = np.bincount(y[rows], weight[rows], k)
        # A class whose rows are all held out, or a given class without rows, still has a probability.
        self.base = np.log((share + 1e-3 * share.sum() / k) / (share.sum() * (1 + 1e-3)))
        self.least = np.zeros(whole_vectors(k), np.float32)
        self.least[:k] = LEAST

    @property
    def asks_for_classes(self) -> bool:
        """Whether the classes without a row in a leaf take one step together."""
        return self.width > MANY

    @classmethod
    def state_names(cls) -> tuple[str, ...]:
        """Return the names of the arrays that the steps change."""
        return "P", "scale"

    @cached_property
    def P(self) -> NDArray[np.float32]:
        """The probabilities (n, lanes), up to factors."""
        P = aligned_zeros(len(self.y), self.lanes, dtype=np.float32)
        P[:, : self.width] = np.exp(self.base)
        return P

    @cached_property
    def scale(self) -> NDArray[np.float32]:
        """The factors, (n,)."""
        return np.ones(len(self.y), np.float32)

    @property
    def lanes(self) -> int:
        """The length of a row of P."""
        return len(self.least)

    def continue_from(self, base: NDArray[np.float64], F: NDArray[np.float64]) -> None:
        """Start from scores (n, k) of earlier rounds, and from what these started from."""
        self.base, self.P[:, : self.width] = base, np.maximum(softmax(F, axis=1), LEAST)

    def _step(
        self, order: Any, segments: Any, leaves: range, how: tuple[Any, ...], values: LeafValues, sketch: Sketch
    ) -> None:
        m = None if len(sketch.code) == 6 else len(sketch.code)
        state, classes = (self.P, self.scale, self.y, self.weight, self.least), (self.width, self.asks_for_classes)
        step_leaves(*state, order, segments, leaves.start, leaves.stop, *how, *classes, values, sketch, m)

    def loss_sums(self, rows: Rows) -> tuple[float, float, float]:
        """Return the loss, the weight of the errors, and the weight of all, summed over some rows."""
        sums: tuple[float, float, float] = sum_losses(self.P, self.scale, self.y, self.weight, rows)
        return sums


def whole_vectors(k: int) -> int:
    """Return the smallest multiple of 16 (of 8 for few classes) that is at least k.

    >>> [whole_vectors(k) for k in (3, 10, 26)]
    [8, 16, 32]
    """
    return 8 if k <= 8 else -(-k // 16) * 16


@njit(**ENTRY, fastmath=FAST)
def sum_losses(P, scale, y, weight, rows):  # type: ignore[no-untyped-def]
    """Return Σ -w ln p_y, the weight of the rows whose class is not the most probable one, and that of all rows."""
    lost, wrong, total = 0.0, 0.0, 0.0
    for i in rows:
        row, own = P[i], P[i, y[i]]
        best = own
        for c in range(len(row)):
            best = row[c] if row[c] > best else best  # `max` would be compiled apart
        missed = best > own
        for c in range(y[i]):
            # Of equal ones the first class is the answer.
            missed |= row[c] == best
        lost -= weight[i] * log(float(own) * scale[i])
        wrong += weight[i] if missed else 0.0
        total += weight[i]
    return lost, wrong, total


@njit(inline="always")
def shortened(step):  # type: ignore[no-untyped-def]
    """Return a step that is not too long; `min` and `max` would be compiled apart."""
    return LONGEST if step > LONGEST else (-LONGEST if step < -LONGEST else step)


@njit(inline="always")
def sum_slopes(P, scale, y, weight, rows, g, h, before):  # type: ignore[no-untyped-def]
    """Set g to Σ w (e_y - p) and h to Σ w p (1 - p) of a leaf with these rows, and `before` to Σ -w p."""
    lanes = P.shape[1]
    for c in range(lanes):
        g[c] = 0.0
        h[c] = 0.0
    for i in rows:
        row, s, w = P[i], scale[i], weight[i]
        for c in range(lanes):
            x = row[c] * s
            g[c] -= w * x
            h[c] += w * (x - x * x)
    for c in range(lanes):
        before[c] = g[c]
    for i in rows:
        g[y[i]] += weight[i]


@njit(inline="always")
def find_steps(y, rows, rate, l2, k, shared, g, h, before):  # type: ignore[no-untyped-def]
    """Turn the sums of a leaf, g, into the Newton steps rate · g / (h + l2).

    With `shared`, the classes without a row in a leaf take one step together. As adding a number to all classes changes
    no probability, it is subtracted, and theirs are exactly 0.
    """
    together = g.dtype.type(0.0)
    if shared:
        absent_g, absent_h = g.dtype.type(0.0), g.dtype.type(0.0)
        for c in range(k):
            absent_g += before[c]
            absent_h += h[c] + l2
        for i in rows:
            c = y[i]
            if h[c] >= 0.0:
                absent_g -= before[c]
                absent_h -= h[c] + l2
                h[c] = -h[c] - l2  # marks a class that is here
        if absent_h > l2 / 2:
            together = shortened(rate * absent_g / absent_h)
    for c in range(k):
        if h[c] < 0.0:
            g[c] = shortened(rate * g[c] / -h[c]) - together
        else:
            g[c] = 0.0 if shared else shortened(rate * g[c] / (h[c] + l2))


@njit(inline="always")
def advance_rows(P, scale, y, weight, least, rows, factor, code, G, h):  # type: ignore[no-untyped-def]
    """Multiply some rows of P by the factors of their leaf; sketch the new gradients.

    G[i] = w_i Σ_c code[:, c] (e_y - p)_c and h[i] = w_i (1 - Σ_c p_c²).
    """
    lanes, m, zero = P.shape[1], len(code), np.float32(0.0)
    for i in rows:
        row, s = P[i], scale[i]
        total, squares = zero, zero
        for c in range(lanes):
            x = row[c] * s * factor[c]
            x = x if x > least[c] else least[c]
            row[c] = x
            total += x
            squares += x * x
        inverse = np.float32(1.0) / total
        scale[i] = inverse
        for j in range(m):
            signs, along = code[j], zero
            for c in range(lanes):
                along += row[c] * signs[c]
            G[i, j] = weight[i] * (signs[y[i]] - along * inverse)
        h[i] = weight[i] * (np.float32(1.0) - squares * inverse * inverse)


@njit(inline="always")
def advance_six(P, scale, y, weight, least, rows, factor, code, G, h):  # type: ignore[no-untyped-def]
    """Do the same for a code of six columns, the usual number, with one pass over the classes for all six sums."""
    one, two, three, four, five, six, zero = code[0], code[1], code[2], code[3], code[4], code[5], np.float32(0.0)
    for i in rows:
        row, s, w, own = P[i], scale[i], weight[i], y[i]
        total, squares, a, b, c, d, e, f = zero, zero, zero, zero, zero, zero, zero, zero
        for q in range(len(row)):
            x = row[q] * s * factor[q]
            x = x if x > least[q] else least[q]
            row[q] = x
            total += x
            squares += x * x
        for q in range(len(row)):
            x = row[q]
            a += x * one[q]
            b += x * two[q]
            c += x * three[q]
            d += x * four[q]
            e += x * five[q]
            f += x * six[q]
        inverse = np.float32(1.0) / total
        scale[i] = inverse
        G[i, 0], G[i, 1] = w * (one[own] - a * inverse), w * (two[own] - b * inverse)
        G[i, 2], G[i, 3] = w * (three[own] - c * inverse), w * (four[own] - d * inverse)
        G[i, 4], G[i, 5] = w * (five[own] - e * inverse), w * (six[own] - f * inverse)
        h[i] = w * (np.float32(1.0) - squares * inverse * inverse)


@njit(**ENTRY, fastmath=FAST)
def step_leaves(  # type: ignore[no-untyped-def]
    P, scale, y, weight, least, order, segments, first, last, what, rate, l2, k, shared, values, sketch, m
):
    """Work on the leaves first..last-1, one after the other: its rows are in cache only once.

    `what` is any of SUM, FIND and TAKE together. m = None stands for six columns, the usual number; others are then not
    compiled. All of it is one compiled function: one that several others contain is optimised again in each of them,
    and its last bits would depend on which of them was loaded first.
    """
    code = sketch.code
    for leaf in range(first, last):
        rows = order[segments[leaf, 0] : segments[leaf, 1]]
        steps, factor, curvature = values.steps[leaf], values.factors[leaf], values.curvature[leaf]
        if what & SUM:
            sum_slopes(P, scale, y, weight, rows, steps, curvature, factor)
        if what & FIND:
            find_steps(y, rows, rate, l2, k, shared, steps, curvature, factor)
            for c in range(len(steps)):
                factor[c] = exp(steps[c])
        if what & TAKE:
            if m is None:
                advance_six(P, scale, y, weight, least, rows, factor, code, sketch.G, sketch.h)
            else:
                advance_rows(P, scale, y, weight, least, rows, factor, code, sketch.G, sketch.h)
