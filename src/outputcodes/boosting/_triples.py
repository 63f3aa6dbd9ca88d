"""Weights over triples (row, wrong label, right label), stored as products of one factor per label."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from outputcodes._ground.blocks import Run
from outputcodes.boosting._compiled_stumps import reweight_triples, weigh_triples

Array = NDArray[np.float64]
Signs = NDArray[np.int8]

# Number of rows that a thread processes at a time.
ROWS_PER_BLOCK = 4096


class TripleWeights:
    """D(i, l0, l1) = mass_i · share(i, l0) · share(i, l1) and its updates over the rounds; the sum is 1.

    Parameters
    ----------
    Y : ndarray of shape (n, k), ±1
        The right labels of each row; a row with all labels or none has no triples.
    weight : ndarray of shape (n,)
    V : ndarray of shape (blocks, n, LANES)
        Output: the signed weight of each label, ½ (mass of the triples where it is right - where it is wrong).
    run : Run
    """

    def __init__(self, Y: Signs, weight: Array, V: Array, run: Run) -> None:
        right = np.count_nonzero(Y > 0, axis=1)
        wrong = Y.shape[1] - right
        some = (right > 0) & (wrong > 0)
        self.Y, self.V, self.run = Y, V, run
        self.mass = np.where(some, weight, 0.0)
        self.mass /= self.mass.sum()
        self.share = 1 / np.where(Y > 0, right[:, None], wrong[:, None])
        self.blocks = [(first, min(first + ROWS_PER_BLOCK, len(Y))) for first in range(0, len(Y), ROWS_PER_BLOCK)]
        V[:] = 0.0
        self.reweight(np.zeros_like(Y), 0.0, 1.0)

    def weigh(self, H: Signs) -> tuple[float, float, float]:
        """Return the weight of the triples whose right label H ranks above, below, or equal to the wrong one."""
        parts = self.run(lambda block: weigh_triples(*block, H, self.Y, self.share, self.mass), self.blocks)
        better, worse, equal = (sum(part) for part in zip(*parts, strict=True))
        return better, worse, equal

    def reweight(self, H: Signs, rate: float, Z: float) -> None:
        """Multiply D(i, l0, l1) by exp(rate/2 · (h(l0) - h(l1))) / Z."""
        self.run(lambda block: reweight_triples(*block, rate, Z, H, self.Y, self.share, self.mass, self.V), self.blocks)
