"""The multinomial loss -Σ_i w_i ln P_i,y(i), P = softmax(F): gradients, sketches and Newton steps.

P is kept in place of F. A leaf with the values v multiplies the rows of P by exp(v), and their sums become 1 again in
the same pass: no exponential per row and class. The rows of P are stored up to a factor, `scale`.
"""

from __future__ import annotations

from math import log
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray
from scipy.special import softmax

from outputcodes._histograms.vector_growth import GrowingTree

FAST = {"reassoc", "contract", "nsz", "arcp"}
# No probability falls below this, and no step is longer than that.
LEAST, LONGEST = 1e-7, 4.0
# With more classes than this, those without a row in a leaf take one step together there.
MANY = 64

Floats = NDArray[np.float32]
Rows = NDArray[np.intp]


class Multinomial:
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

    def __init__(self, y: Rows, weight: NDArray[np.float64], k: int, rows: Rows) -> None:
        self.y, self.weight = y, weight.astype(np.float32)
        share = np.bincount(y[rows], weight[rows], k)
        # A class whose rows are all held out, or a given class without rows, still has a probability.
        self.base = np.log((share + 1e-3 * share.sum() / k) / (share.sum() * (1 + 1e-3)))
        self.P = np.tile(np.exp(self.base).astype(np.float32), (len(y), 1))
        self.scale = np.ones(len(y), np.float32)

    @property
    def width(self) -> int:
        """The number of classes."""
        return len(self.base)

    def continue_from(self, base: NDArray[np.float64], F: NDArray[np.float64]) -> None:
        """Start from scores (n, k) of earlier rounds, and from what these started from."""
        self.base, self.P = base, np.maximum(softmax(F, axis=1).astype(np.float32), np.float32(LEAST))

    def steps(self, tree: GrowingTree, leaves: range, rate: float, l2: float, values: Floats, room: Floats) -> None:
        """Set values[l], (k,), to the Newton steps of some leaves."""
        leaf_steps(
            self.P,
            self.scale,
            self.y,
            self.weight,
            tree.order,
            tree.segments,
            leaves.start,
            leaves.stop,
            np.float32(rate),
            np.float32(l2),
            self.width > MANY,
            values,
            room,
        )

    def advance(
        self, order: Any, segments: Any, leaves: range, factors: Floats, sketch: Floats, G: Floats, h: Floats
    ) -> None:
        """Multiply the probabilities by the factors of the leaves, and sketch the gradients that result."""
        state = self.P, self.scale, self.y, self.weight
        advance(*state, order, segments, leaves.start, leaves.stop, factors, sketch, G, h)

    def loss(self, rows: Rows) -> tuple[float, float]:
        """Return the mean loss and the share of errors of some rows."""
        lost, wrong, total = sum_losses(self.P, self.scale, self.y, self.weight, rows)
        return lost / total, wrong / total


@njit(nogil=True, cache=True)
def sum_losses(P, scale, y, weight, rows):  # type: ignore[no-untyped-def]
    """Return Σ -w ln p_y, the weight of the rows whose class is not the most probable one, and that of all rows."""
    lost, wrong, total = 0.0, 0.0, 0.0
    for i in rows:
        row, best = P[i], 0
        for c in range(1, len(row)):
            if row[c] > row[best]:
                best = c
        lost -= weight[i] * log(float(row[y[i]]) * scale[i])
        wrong += weight[i] if best != y[i] else 0.0
        total += weight[i]
    return lost, wrong, total


@njit(nogil=True, cache=True, fastmath=FAST)
def leaf_steps(P, scale, y, weight, order, segments, first, last, rate, l2, shared, values, curvature):  # type: ignore[no-untyped-def]
    """Set values[l] to the Newton steps rate · Σ w (e_y - p) / (Σ w p (1 - p) + l2) for the leaves first..last-1.

    With `shared`, the classes without a row in a leaf take one step together. As adding a number to all classes changes
    no probability, it is subtracted, and theirs are exactly 0.
    """
    k = P.shape[1]
    for leaf in range(first, last):
        g, h = values[leaf], curvature[leaf]
        for c in range(k):
            g[c] = 0.0
            h[c] = 0.0
        for p in range(segments[leaf, 0], segments[leaf, 1]):
            i = order[p]
            row, s, w = P[i], scale[i], weight[i]
            for c in range(k):
                x = row[c] * s
                g[c] -= w * x
                h[c] += w * (x - x * x)
        absent_g, absent_h = g.dtype.type(0.0), g.dtype.type(0.0)
        for c in range(k):
            absent_g += g[c]
            absent_h += h[c] + l2
        for p in range(segments[leaf, 0], segments[leaf, 1]):
            c = y[order[p]]
            if h[c] >= 0.0:
                absent_g -= g[c]
                absent_h -= h[c] + l2
                h[c] = -h[c] - l2  # marks a class that is here
            g[c] += weight[order[p]]
        together = g.dtype.type(0.0)
        if shared and absent_h > l2 / 2:
            together = min(max(rate * absent_g / absent_h, -LONGEST), LONGEST)
        for c in range(k):
            if h[c] < 0.0:
                g[c] = min(max(rate * g[c] / -h[c], -LONGEST), LONGEST) - together
            else:
                g[c] = 0.0 if shared else min(max(rate * g[c] / (h[c] + l2), -LONGEST), LONGEST)


@njit(nogil=True, cache=True, fastmath=FAST)
def advance(P, scale, y, weight, order, segments, first, last, factors, sketch, G, h):  # type: ignore[no-untyped-def]
    """Multiply the rows of P in the leaves first..last-1 by the factors of their leaf; sketch the new gradients.

    G[i] = w_i Σ_c sketch[:, c] (e_y - p)_c and h[i] = w_i (1 - Σ_c p_c²).
    """
    k, m = P.shape[1], len(sketch)
    for leaf in range(first, last):
        factor = factors[leaf]
        for q in range(segments[leaf, 0], segments[leaf, 1]):
            i = order[q]
            row, s = P[i], scale[i]
            total, squares = P.dtype.type(0.0), P.dtype.type(0.0)
            for c in range(k):
                x = max(row[c] * s * factor[c], P.dtype.type(LEAST))
                row[c] = x
                total += x
                squares += x * x
            inverse = P.dtype.type(1.0) / total
            scale[i] = inverse
            for j in range(m):
                signs = sketch[j]
                along = P.dtype.type(0.0)
                for c in range(k):
                    along += row[c] * signs[c]
                G[i, j] = weight[i] * (signs[y[i]] - along * inverse)
            h[i] = weight[i] * (P.dtype.type(1.0) - squares * inverse * inverse)
