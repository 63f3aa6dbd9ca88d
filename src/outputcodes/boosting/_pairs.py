"""Weights over pairs (example, wrong class), which AdaBoost.OC and SmoothBoost update in every round.

With coefficients a_t, colourings f_t and hypotheses h_t, S(i, r) = Σ_t a_t f_t(r) h_t(x_i) and

    μ(r|x_i) = e^S(i, r) / (e^S(i, y_i) + λ Σ_{r' ≠ y_i} e^S(i, r')),      D(i, r) ∝ w_i μ(y_i|x_i) μ(r|x_i),  r ≠ y_i

(Jin & Zhang 2005, figure 2). At λ = 0, μ(y_i|x_i) = 1 and D is that of AdaBoost.OC, with coefficients 2 a_t.

The state is log μ of the true class, log Σ μ of the wrong ones, and the part of each wrong class in that sum. A round
multiplies the parts by one of two numbers per example, e^a or e^-a, so that it needs no exponential per pair.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from outputcodes._ground.blocks import Run, row_blocks, serially
from outputcodes._ground.choosing import without_noise

Rows = NDArray[np.intp]
Array = NDArray[np.float64]


class Split(NamedTuple):
    """The effect of a colouring on the pairs.

    Attributes
    ----------
    colouring : ndarray of shape (k,), ±1
    share : float
        U, the share of the weight in the pairs it separates.
    weight : ndarray of shape (n,)
        The weight of the separated pairs of each example, with sum 1; zeros if U = 0.
    sides : ndarray of shape (2, n)
        For each example, the parts of the wrong classes coloured +1, and of those coloured −1.
    """

    colouring: NDArray[np.int8]
    share: float
    weight: Array
    sides: Array


class PairWeights:
    """μ and its updates over the rounds.

    Parameters
    ----------
    y : ndarray of shape (n,)
    n_classes : int
    weight : ndarray of shape (n,), optional
        Initial weights of the examples.
    lam : float
        λ; 0 for AdaBoost.OC.
    run : Run
        Threads over blocks of examples.

    Attributes
    ----------
    own : ndarray of shape (n,)
        log μ(y_i|x_i).
    wrong : ndarray of shape (n,)
        log Σ_{r ≠ y_i} μ(r|x_i).
    parts : ndarray of shape (k, n)
        μ(r|x_i) of the wrong classes as a share of that sum; 0 at y_i. One row per class, so that sums over classes
        are sums of rows.
    """

    def __init__(
        self, y: Rows, n_classes: int, weight: Array | None = None, lam: float = 0.0, run: Run = serially
    ) -> None:
        n = len(y)
        self.y, self.lam, self.run = y, lam, run
        self.weight = np.full(n, 1 / n) if weight is None else weight / weight.sum()
        self.own = np.full(n, -np.log1p(lam * (n_classes - 1)))
        self.wrong = self.own + np.log(n_classes - 1)
        self.parts = np.full((n_classes, n), 1 / (n_classes - 1))
        self.parts[y, np.arange(n)] = 0.0
        # A block stays in the processor cache while its rows are multiplied.
        self._blocks = list(row_blocks(n, 4 * n_classes))

    def split(self, colouring: NDArray[np.int8]) -> Split:
        """Return the effect of a colouring: which pairs it separates, and their weight."""
        sign = np.stack([colouring > 0, colouring < 0]).astype(np.float64)
        sides = np.hstack(self.run(lambda rows: sign @ self.parts[:, rows], self._blocks))
        mass = self._mass()
        separated = mass * np.where(colouring[self.y] > 0, sides[1], sides[0])
        total = float(separated.sum())
        if not total > 0:
            return Split(colouring, 0.0, np.zeros(len(mass)), sides)
        return Split(colouring, total / float(mass.sum()), separated / total, sides)

    def confusion(self) -> Array:
        """Return φ (k,) = Σ_i D(i, r) − Σ_{y_i = r} Σ_r' D(i, r'), up to a positive factor; rounding errors are 0."""
        mass = self._mass()
        into = np.sum(self.run(lambda rows: self.parts[:, rows] @ mass[rows], self._blocks), axis=0)
        return without_noise(into - np.bincount(self.y, mass, minlength=len(into)), into.max())

    def update(self, split: Split, h: NDArray[np.int8], a: float) -> None:
        """Update the weights after a round with predictions h (-1, 0 or +1) and coefficient a."""
        colouring, sides = split.colouring, split.sides
        factors = np.exp([[-a, 0.0, a], [a, 0.0, -a]]).take(h + 1, axis=1)
        mean = sides[0] * factors[0] + sides[1] * factors[1]  # between e^-a and e^a, as the parts sum to 1
        factors /= mean

        def change(rows: slice) -> None:
            plus, minus = factors[:, rows]
            for part, sign in zip(self.parts[:, rows], colouring, strict=True):
                part *= plus if sign > 0 else minus

        self.run(change, self._blocks)
        own, wrong = self.own + a * (h * colouring[self.y]), self.wrong + np.log(mean)
        # The sum was 1 before the round, so it is between e^-a and e^a as well.
        below = own if self.lam == 0 else np.log(np.exp(own) + self.lam * np.exp(wrong))
        self.own, self.wrong = own - below, wrong - below

    def _mass(self) -> Array:
        """Return the weight of all pairs of each example, w_i μ(y_i|x_i) Σ μ(r|x_i), with sum 1."""
        logarithm = self.own + self.wrong
        mass = self.weight * np.exp(logarithm - logarithm.max())
        normalised: Array = mass / mass.sum()
        return normalised
