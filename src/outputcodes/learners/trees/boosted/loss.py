"""What the rounds lower, and how they move it: the base of `Multinomial` and `LogisticColumns`."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from outputcodes._histograms.vector_growth import GrowingTree
from outputcodes.learners.trees.boosted.sketches import LeafValues, Sketch

Rows = NDArray[np.intp]


class BoostedLoss:
    """A loss of the scores of all rows, which the steps of leaves change."""

    base: NDArray[np.float64]

    @property
    def width(self) -> int:
        """The number of classes, or of columns."""
        return len(self.base)

    @property
    def lanes(self) -> int:
        """The length of what it takes and returns for each row or leaf, which may be padded."""
        return self.width

    def step(
        self, tree: GrowingTree, leaves: range, rate: float, l2: float, values: LeafValues, sketch: Sketch
    ) -> None:
        """Give some leaves their Newton steps, take these, and sketch the gradients that result."""
        self._step(tree.order, tree.leaves, leaves, (True, np.float32(rate), np.float32(l2)), values, sketch)

    def advance(self, order: Any, segments: Any, values: LeafValues, sketch: Sketch) -> None:
        """Take the steps that all leaves have, and sketch the gradients that result."""
        known = False, np.float32(0), np.float32(0)
        self._step(order, segments, range(len(segments)), known, values, sketch)

    def _step(
        self, order: Any, segments: Any, leaves: range, how: tuple[Any, ...], values: LeafValues, sketch: Sketch
    ) -> None:
        """Take the steps of some leaves; `how` is whether to find them first, the learning rate and the penalty."""
        raise NotImplementedError

    def continue_from(self, base: NDArray[np.float64], F: NDArray[np.float64]) -> None:
        """Start from scores (n, width) of earlier rounds, and from what these started from."""
        raise NotImplementedError

    def loss(self, rows: Rows) -> tuple[float, float]:
        """Return the mean loss and the share of errors of some rows."""
        raise NotImplementedError
