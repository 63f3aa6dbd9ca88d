"""Weights over pairs (example, wrong class), which AdaBoost.OC and SmoothBoost update in every round.

With coefficients a_t, colourings f_t and hypotheses h_t, S(i, r) = Σ_t a_t f_t(r) h_t(x_i) and

    μ(r|x_i) = e^S(i, r) / (e^S(i, y_i) + λ Σ_{r' ≠ y_i} e^S(i, r')),      D(i, r) ∝ w_i μ(y_i|x_i) μ(r|x_i),  r ≠ y_i

(Jin & Zhang 2005, figure 2). At λ = 0, μ(y_i|x_i) = 1 and D is that of AdaBoost.OC, with coefficients 2 a_t.

The state is log μ of the true class, log Σ μ of the wrong ones, and the part of each wrong class in that sum. A round
multiplies the parts by one of two numbers per example, e^a or e^-a, so that it needs no exponential per pair.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from outputcodes._ground.blocks import row_blocks
from outputcodes._ground.choosing import without_noise
from outputcodes.boosting._compiled.pairs import scale_by_colour, sum_by_colour, weigh_classes

Rows = NDArray[np.intp]
Array = NDArray[np.float64]
Signs = NDArray[np.int8]


@dataclass(frozen=True)
class PairRows:
    """Some examples, and μ of their pairs.

    Attributes
    ----------
    y : ndarray of shape (n,)
    weight : ndarray of shape (n,)
        Initial weights of the examples.
    own : ndarray of shape (n,)
        log μ(y_i|x_i).
    wrong : ndarray of shape (n,)
        log Σ_{r ≠ y_i} μ(r|x_i).
    parts : ndarray of shape (k, n)
        μ(r|x_i) of the wrong classes as a share of that sum; 0 at y_i. One row per class, so that sums over classes
        are sums of rows.
    sides : ndarray of shape (2, n)
        For the last colouring, the parts of the wrong classes coloured +1, and of those coloured -1.
    V : ndarray of shape (n,)
        The weight of the pairs of each example that it separates, up to a factor, times the colour of its class.
    """

    y: Rows
    weight: Array
    own: Array
    wrong: Array
    parts: Array
    sides: Array
    V: Array

    def colour(self, rows: slice, colouring: Signs, shift: float, mass: Array) -> None:
        """Set `sides` and `V` of some rows for a colouring, and their mass, the weight of all pairs of each."""
        sum_by_colour(self.parts, colouring, rows.start, rows.stop, self.sides)
        own = self.mass(rows, shift)
        plus = colouring[self.y[rows]] > 0
        mass[rows] = own
        self.V[rows] = np.where(plus, own * self.sides[1, rows], -own * self.sides[0, rows])

    def mass(self, rows: slice, shift: float) -> Array:
        """Return w_i μ(y_i|x_i) Σ μ(r|x_i) of some rows, times exp(-shift)."""
        mass: Array = self.weight[rows] * np.exp(self.own[rows] + self.wrong[rows] - shift)
        return mass

    def confuse(self, rows: slice, shift: float) -> Array:
        """Return the mass of the pairs into each class and out of it (2, k)."""
        mass, found = self.mass(rows, shift), np.empty((2, len(self.parts)))
        weigh_classes(self.parts, mass, rows.start, rows.stop, found[0])
        found[1] = np.bincount(self.y[rows], mass, minlength=len(self.parts))
        return found

    def change(self, rows: slice, colouring: Signs, h: Signs, a: float, lam: float) -> float:
        """Update μ of some rows after predictions h of all (-1, 0 or +1); return the largest logarithm of a mass."""
        answers = h[rows]
        factors = np.exp([[-a, 0.0, a], [a, 0.0, -a]]).take(answers + 1, axis=1)
        # Between e^-a and e^a, as the parts sum to 1.
        mean = self.sides[0, rows] * factors[0] + self.sides[1, rows] * factors[1]
        factors /= mean
        scale_by_colour(self.parts, colouring, rows.start, rows.stop, factors)
        own, wrong = self.own[rows] + a * (answers * colouring[self.y[rows]]), self.wrong[rows] + np.log(mean)
        # The sum was 1 before the round, so it is between e^-a and e^a as well.
        below = own if lam == 0 else np.log(np.exp(own) + lam * np.exp(wrong))
        self.own[rows], self.wrong[rows] = own - below, wrong - below
        return float((self.own[rows] + self.wrong[rows]).max())

    def stretches(self, first: int = 0, last: int | None = None) -> list[slice]:
        """Cut rows into what stays in the processor cache while it is multiplied."""
        last = len(self.y) if last is None else last
        return [slice(first + s.start, first + s.stop) for s in row_blocks(last - first, 4 * len(self.parts))]


def first_pairs(y: Rows, n_classes: int, weight: Array, lam: float) -> PairRows:
    """Return examples before the first round."""
    n, own = len(y), first_logarithm(n_classes, lam)
    parts = np.full((n_classes, n), 1 / (n_classes - 1))
    parts[y, np.arange(n)] = 0.0
    wrong = np.full(n, own + np.log(n_classes - 1))
    return PairRows(y, weight, np.full(n, own), wrong, parts, np.empty((2, n)), np.empty(n))


def first_logarithm(n_classes: int, lam: float) -> float:
    """Return log μ of every class before the first round."""
    return -float(np.log1p(lam * (n_classes - 1)))


def phi_of(confused: Array) -> Array:
    """Return φ (k,) = Σ_i D(i, r) − Σ_{y_i = r} Σ_r' D(i, r'), given both sums; rounding errors are 0."""
    into, out_of = confused / confused[1].sum()
    return without_noise(into - out_of, into.max())
