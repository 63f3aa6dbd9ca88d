"""What the rounds lower, and how they move it: the base of `Multinomial` and `LogisticColumns`."""

from __future__ import annotations

import copy
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from outputcodes._histograms.vectors.growth import GrowingTree
from outputcodes.learners.trees.boosted.sketches import LeafValues, Sketch

Rows = NDArray[np.intp]
Floats = NDArray[np.float32]
# The smallest numbers of single precision with all digits.
TINY = float(np.finfo(np.float32).tiny)
LARGEST_POWER = 1000.0
# What is done with leaves: add up the slopes of their rows, find the steps, take them.
SUM, FIND, TAKE = 1, 2, 4


def near_one(weight: NDArray[np.float64]) -> tuple[Floats, float]:
    """Return weights in single precision, and the power of two by which they were multiplied.

    The largest is about 1, unless all are below 1e-301, and a weight other than 0 never becomes 0.

    >>> near_one(np.array([2.0**200, -(2.0**199)]))[0]
    array([ 1. , -0.5], dtype=float32)
    """
    unit = 2.0 ** min(-float(np.round(np.log2(np.abs(weight).max()))), LARGEST_POWER)
    return (np.sign(weight) * np.maximum(np.abs(weight * unit), TINY)).astype(np.float32), unit


class BoostedLoss:
    """A loss of the scores of all rows, which the steps of leaves change.

    Attributes
    ----------
    base : ndarray of shape (width,)
        The scores before the first round.
    y : ndarray of shape (n,)
    weight : ndarray of float32, shape (n,)
    weight_unit : float
        What the given weights were multiplied by; so is the penalty.
    bound : float
        So many times its diagonal bounds the Hessian at every point: Newton steps divide by that.
    """

    base: NDArray[np.float64]
    y: Rows
    weight: Floats
    weight_unit: float
    bound: ClassVar[float] = 1.0

    @property
    def width(self) -> int:
        """The number of classes, or of columns."""
        return len(self.base)

    @property
    def lanes(self) -> int:
        """The length of what it takes and returns for each row or leaf, which may be padded."""
        return self.width

    @property
    def asks_for_classes(self) -> bool:
        """Whether `find` reads which classes a leaf has."""
        return False

    def on(self, y: Rows, weight: Floats) -> Self:
        """Return the same loss of other rows, whose scores are still to be set."""
        other = copy.copy(self)
        other.__dict__ = {name: value for name, value in vars(self).items() if name not in self.state_names()}
        other.y, other.weight = y, weight
        return other

    @classmethod
    def state_names(cls) -> tuple[str, ...]:
        """Return the names of the arrays that the steps change; they are made when they are first read."""
        raise NotImplementedError

    @property
    def state(self) -> tuple[Floats, ...]:
        """The arrays that the steps change."""
        return tuple(getattr(self, name) for name in self.state_names())

    @state.setter
    def state(self, arrays: tuple[Floats, ...]) -> None:
        vars(self).update(zip(self.state_names(), arrays, strict=True))

    def step(
        self, tree: GrowingTree, leaves: range, rate: float, l2: float, values: LeafValues, sketch: Sketch
    ) -> None:
        """Give some leaves their Newton steps, take these, and sketch the gradients that result."""
        how = SUM | FIND | TAKE, np.float32(rate), np.float32(l2)
        self._step(tree.order, tree.leaves, leaves, how, values, sketch)

    def advance(self, order: Any, segments: Any, values: LeafValues, sketch: Sketch) -> None:
        """Take the steps that all leaves have, and sketch the gradients that result."""
        self._step(order, segments, range(len(segments)), (TAKE, np.float32(0), np.float32(0)), values, sketch)

    def add_slopes(self, order: Any, segments: Any, values: LeafValues, sketch: Sketch) -> None:
        """Add up the slopes of the rows of all leaves, for `find`; those of several losses may be added up."""
        self._step(order, segments, range(len(segments)), (SUM, np.float32(0), np.float32(0)), values, sketch)

    def find(self, order: Any, segments: Any, rate: float, l2: float, values: LeafValues, sketch: Sketch) -> None:
        """Give leaves their Newton steps by sums of slopes; only the classes of the rows in `order` are read."""
        how = FIND, np.float32(rate), np.float32(l2)
        self._step(order, segments, range(len(segments)), how, values, sketch)

    def _step(
        self, order: Any, segments: Any, leaves: range, how: tuple[Any, ...], values: LeafValues, sketch: Sketch
    ) -> None:
        """Work on some leaves; `how` is what to do with them, the learning rate and the penalty."""
        raise NotImplementedError

    def continue_from(self, base: NDArray[np.float64], F: NDArray[np.float64]) -> None:
        """Start from scores (n, width) of earlier rounds, and from what these started from."""
        raise NotImplementedError

    def loss(self, rows: Rows) -> tuple[float, float]:
        """Return the mean loss and the share of errors of some rows."""
        lost, wrong, total = self.loss_sums(rows)
        return lost / total, wrong / total

    def loss_sums(self, rows: Rows) -> tuple[float, float, float]:
        """Return the loss, the weight of the errors, and the weight of all, summed over some rows."""
        raise NotImplementedError
