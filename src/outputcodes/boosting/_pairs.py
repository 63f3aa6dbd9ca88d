"""Weights over pairs (example, wrong class) of rows in memory, and what they have in common with those in blocks."""

from __future__ import annotations

from itertools import islice
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from outputcodes._ground.blocks import Run, serially, sum_in_order
from outputcodes._histograms import stumps
from outputcodes.boosting._pair_rows import first_logarithm, first_pairs, phi_of

Rows = NDArray[np.intp]
Array = NDArray[np.float64]
Signs = NDArray[np.int8]


class Split(NamedTuple):
    """The effect of a colouring on the pairs.

    Attributes
    ----------
    colouring : ndarray of shape (k,), ±1
    share : float
        U, the share of the weight in the pairs it separates.
    total : float
        The weight of these pairs, in the unit of the signed weights `V`.
    """

    colouring: Signs
    share: float
    total: float

    @classmethod
    def of(cls, colouring: Signs, separated: float, mass: float) -> Split:
        """Return the effect of a colouring that separates this weight of all."""
        return cls(colouring, separated / mass if separated > 0 else 0.0, separated)


class Scale:
    """What is subtracted from the logarithms of masses: the largest one before the last update.

    The largest one after it is known only after a pass over the rows. An update changes logarithms by at most 46.
    """

    def __init__(self, n_classes: int, lam: float) -> None:
        self.shift = self.largest = 2 * first_logarithm(n_classes, lam) + float(np.log(n_classes - 1))

    def update(self) -> None:
        """Take note of an update; `largest` follows."""
        self.shift = self.largest


class PairWeights:
    """μ and its updates over the rounds, of rows in memory.

    Sums over all rows are sums over pieces of `BLOCK_ROWS` rows, in their order: those of rows in blocks.

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
    rows : PairRows
    """

    def __init__(
        self, y: Rows, n_classes: int, weight: Array | None = None, lam: float = 0.0, run: Run = serially
    ) -> None:
        n = len(y)
        self.rows = first_pairs(y, n_classes, np.full(n, 1 / n) if weight is None else weight / weight.sum(), lam)
        self.lam, self.run, self._mass = lam, run, np.empty(n)
        self.scale = Scale(n_classes, lam)
        self._pieces = [slice(s, min(s + stumps.BLOCK_ROWS, n)) for s in range(0, n, stumps.BLOCK_ROWS)]
        self._stretches = [self.rows.stretches(piece.start, piece.stop) for piece in self._pieces]
        self._all = [rows for piece in self._stretches for rows in piece]
        self._phi: Array | None = None

    def split(self, colouring: Signs) -> Split:
        """Return the effect of a colouring: which pairs it separates, and their weight."""
        self._colouring = colouring
        self.run(lambda rows: self.rows.colour(rows, colouring, self.scale.shift, self._mass), self._all)
        sums = [np.array([np.abs(self.rows.V[piece]).sum(), self._mass[piece].sum()]) for piece in self._pieces]
        return Split.of(colouring, *sum_in_order(sums).tolist())

    def confusion(self) -> Array:
        """Return φ (k,), which measures how often each class is confused."""
        if self._phi is None:
            found = iter(self.run(lambda rows: self.rows.confuse(rows, self.scale.shift), self._all))
            self._phi = phi_of(sum_in_order(sum_in_order(islice(found, len(piece))) for piece in self._stretches))
        return self._phi

    def update(self, h: Signs, a: float) -> None:
        """Update the weights after a round with the last colouring, predictions h (-1, 0 or +1) and coefficient a."""
        changed = self.run(lambda rows: self.rows.change(rows, self._colouring, h, a, self.lam), self._all)
        self.scale.update()
        self._phi = None
        self.scale.largest = max(changed)
