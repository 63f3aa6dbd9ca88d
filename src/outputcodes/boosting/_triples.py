"""Weights over triples (row, wrong label, right label), stored as products of one factor per label."""

from __future__ import annotations

from itertools import islice

import numpy as np
from numpy.typing import NDArray

from outputcodes._ground.blocks import Run, sum_in_order
from outputcodes.boosting._compiled.stumps import reweight_triples, weigh_triples

Array = NDArray[np.float64]
Signs = NDArray[np.int8]
# The first row, and the one after the last.
Stretch = tuple[int, int]

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
    pieces : list of pairs of int
        Sums over all rows are sums over these pieces, in their order.
    run : Run
    """

    def __init__(self, Y: Signs, weight: Array, V: Array, pieces: list[Stretch], run: Run) -> None:
        self.Y, self.V, self.run = Y, V, run
        self.mass, self.share = equal_shares(Y, weight)
        self.mass /= sum_in_order(self.mass[first:last].sum() for first, last in pieces)
        self.pieces = [stretches(*piece) for piece in pieces]
        V[:] = 0.0
        self.reweight(np.zeros_like(Y), 0.0, 1.0)

    def weigh(self, H: Signs) -> tuple[float, float, float]:
        """Return the weight of the triples whose right label H ranks above, below, or equal to the wrong one."""
        parts = iter(self.run(lambda rows: weigh_triples(*rows, H, self.Y, self.share, self.mass), self._stretches()))
        sums = sum_in_order(sum_in_order(islice(parts, len(piece))) for piece in self.pieces)
        better, worse, equal = sums.tolist()
        return better, worse, equal

    def reweight(self, H: Signs, rate: float, Z: float) -> None:
        """Multiply D(i, l0, l1) by exp(rate/2 · (h(l0) - h(l1))) / Z."""
        arrays = H, self.Y, self.share, self.mass, self.V
        self.run(lambda rows: reweight_triples(*rows, rate, Z, *arrays), self._stretches())

    def _stretches(self) -> list[Stretch]:
        return [rows for piece in self.pieces for rows in piece]


def equal_shares(Y: Signs, weight: Array) -> tuple[Array, Array]:
    """Return the mass (n,) and the shares (n, k) of the first round, where the mass is not yet scaled to 1."""
    right = np.count_nonzero(Y > 0, axis=1)
    wrong = Y.shape[1] - right
    return np.where((right > 0) & (wrong > 0), weight, 0.0), 1 / np.where(Y > 0, right[:, None], wrong[:, None])


def stretches(first: int, last: int) -> list[Stretch]:
    """Cut rows first..last-1 into what a thread processes at a time."""
    return [(start, min(start + ROWS_PER_BLOCK, last)) for start in range(first, last, ROWS_PER_BLOCK)]
