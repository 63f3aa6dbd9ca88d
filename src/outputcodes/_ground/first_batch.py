"""The first batch of a stream, as a code that is made from data sees it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Rows = NDArray[np.intp]


class FirstBatch:
    """Rows with their classes, under the names that a `training.Problem` has; there is no learner.

    Parameters
    ----------
    X : the features
    y : ndarray of shape (n,)
        Class numbers; some of the classes may have no rows.
    weight : ndarray of shape (n,) or None
    classes : ndarray of shape (k,)
        The labels of the class numbers.
    """

    def __init__(self, X: Any, y: Rows, weight: Array | None, classes: NDArray[Any]) -> None:
        self.X, self.y, self.weight, self.classes = X, y, weight, classes
        self.rows = np.arange(len(y))

    @property
    def labels(self) -> Rows:
        """The class numbers of the rows."""
        return self.y

    def row_weight(self) -> Array | None:
        """Return the weights of the rows."""
        return self.weight
