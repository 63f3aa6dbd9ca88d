"""The logistic loss Σ_ij w_ij ln(1 + exp(-2 s_ij F_ij)) of all columns of a code: gradients, sketches and Newton steps.

s_ij = M[y_i, j] is the sign of row i in column j, and w_ij its weight there, 0 where the row is absent. The factor 2
makes F half of the log-odds, as it is for the exponential loss.
"""

from __future__ import annotations

from functools import cached_property
from math import exp
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from outputcodes._ground.compiling import ENTRY
from outputcodes.learners.trees.boosted.loss import FIND, SUM, TAKE, BoostedLoss, near_one
from outputcodes.learners.trees.boosted.multinomial import FAST, LONGEST
from outputcodes.learners.trees.boosted.sketches import LeafValues, Sketch

Rows = NDArray[np.intp]


class LogisticColumns(BoostedLoss):
    """The margins of all rows in all columns.

    Parameters
    ----------
    y : ndarray of shape (n,)
        Rows of the code.
    weight : ndarray of shape (n,)
    signed : ndarray of shape (k, L)
        The sign of each class in each column times its weight there.
    rows : ndarray
        The rows that give the shares of the signs.
    """

    def __init__(self, y: Rows, weight: NDArray[np.float64], signed: NDArray[np.float64], rows: Rows) -> None:
        self.y, (self.weight, of_rows), (self.signed, of_signs) = y, near_one(weight), near_one(signed)
        self.weight_unit = of_rows * of_signs
        of_class = np.bincount(y[rows], weight[rows], len(signed))
        plus, minus = of_class @ np.maximum(signed, 0), of_class @ np.maximum(-signed, 0)
        few = 1e-3 * (plus + minus)
        self.base = np.log((plus + few) / (minus + few)) / 2

    @classmethod
    def state_names(cls) -> tuple[str, ...]:
        """Return the names of the arrays that the steps change."""
        return ("F",)

    @cached_property
    def F(self) -> NDArray[np.float32]:
        """The margins (n, L)."""
        return np.tile(self.base.astype(np.float32), (len(self.y), 1))

    def continue_from(self, base: NDArray[np.float64], F: NDArray[np.float64]) -> None:
        """Start from margins (n, L) of earlier rounds, and from what these started from."""
        self.base, self.F = base, F.astype(np.float32)

    def _step(
        self, order: Any, segments: Any, leaves: range, how: tuple[Any, ...], values: LeafValues, sketch: Sketch
    ) -> None:
        state, room = (self.F, self.y, self.weight, self.signed), np.empty(self.width, np.float32)
        step_leaves(*state, order, segments, leaves.start, leaves.stop, *how, values, sketch, room)

    def loss_sums(self, rows: Rows) -> tuple[float, float, float]:
        """Return the loss, the weight of the wrong signs, and that of all, summed over rows and columns."""
        signed = self.signed[self.y[rows]].astype(np.float64) * self.weight[rows, None]
        z, size = np.sign(signed) * self.F[rows], np.abs(signed)
        lost, wrong = size.ravel() @ np.logaddexp(0, -2 * z).ravel(), size.ravel() @ (z <= 0).ravel()
        return float(lost), float(wrong), float(size.sum())


@njit(inline="always")
def slope_of(sign, margin):  # type: ignore[no-untyped-def]
    """Return (gradient, curvature) of -ln σ(2 s F) towards the sign, for a weight of |s|."""
    if sign == 0.0:
        return 0.0, 0.0
    p = 1.0 / (1.0 + exp(-2.0 * margin))
    size = abs(sign)
    return 2.0 * size * ((1.0 if sign > 0.0 else 0.0) - p), 4.0 * size * p * (1.0 - p)


@njit(inline="always")
def sum_slopes(F, y, weight, signed, rows, g, h):  # type: ignore[no-untyped-def]
    """Set g to Σ gradients and h to Σ curvatures of a leaf with these rows, column by column."""
    L = F.shape[1]
    for j in range(L):
        g[j] = 0.0
        h[j] = 0.0
    for i in rows:
        w, signs = weight[i], signed[y[i]]
        for j in range(L):
            slope, bend = slope_of(signs[j], F[i, j])
            g[j] += w * slope
            h[j] += w * bend


@njit(inline="always")
def find_steps(rate, l2, g, h):  # type: ignore[no-untyped-def]
    """Turn the sums of a leaf, g, into the Newton steps rate · g / (h + l2)."""
    for j in range(len(g)):
        g[j] = min(max(rate * g[j] / (h[j] + l2), -LONGEST), LONGEST) if h[j] > 0.0 else 0.0


@njit(inline="always")
def advance_rows(F, y, weight, signed, rows, step, sketch, along):  # type: ignore[no-untyped-def]
    """Add the steps of their leaf to some rows of F; set G[i] = w_i Σ_j code[:, j] gradient_ij and h[i] likewise."""
    L, m = F.shape[1], len(sketch.code)
    for i in rows:
        signs, total = signed[y[i]], 0.0
        for j in range(L):
            F[i, j] += step[j]
            along[j], bend = slope_of(signs[j], F[i, j])
            total += bend
        for q in range(m):
            column, sum_along = sketch.code[q], np.float32(0.0)
            for j in range(L):
                sum_along += column[j] * along[j]
            sketch.G[i, q] = weight[i] * sum_along
        sketch.h[i] = weight[i] * total


@njit(**ENTRY, fastmath=FAST)
def step_leaves(F, y, weight, signed, order, segments, first, last, what, rate, l2, values, sketch, room):  # type: ignore[no-untyped-def]
    """Work on the leaves first..last-1, as for the multinomial loss."""
    for leaf in range(first, last):
        rows, steps = order[segments[leaf, 0] : segments[leaf, 1]], values.steps[leaf]
        if what & SUM:
            sum_slopes(F, y, weight, signed, rows, steps, values.curvature[leaf])
        if what & FIND:
            find_steps(rate, l2, steps, values.curvature[leaf])
        if what & TAKE:
            advance_rows(F, y, weight, signed, rows, steps, sketch, room)
