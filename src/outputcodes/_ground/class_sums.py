"""Sums of the rows of each class over batches, for codes that ask which class is nearest to a new one."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from outputcodes._ground.choosing import first_smallest

Array = NDArray[np.float64]
Rows = NDArray[np.intp]


class ClassSums:
    """The weight of the rows of each class so far, and the sum of these rows.

    >>> first = ClassSums().plus(np.array([[0.0], [2.0], [9.0]]), np.array([0, 0, 1]), None, 2)
    >>> first.plus(np.array([[3.0], [4.0]]), np.array([2, 2]), None, 3).nearest(2)
    0
    """

    def __init__(self, mass: Array | None = None, sums: Any = None) -> None:
        self.mass = np.zeros(0) if mass is None else mass
        # Dense or sparse as X is; None before the first batch.
        self.sums = sums

    def plus(self, X: Any, y: Rows, weight: Array | None, k: int) -> ClassSums:
        """Return the sums of `k` classes with those of a batch; these are unchanged, in case the batch is refused."""
        own = np.ones(len(y)) if weight is None else weight
        member = sp.csr_array((own, y, np.arange(len(y) + 1)), shape=(len(y), k)).T.tocsr()
        sums = member @ _numbers(X)
        if self.sums is not None:
            before = self.sums
            if sp.issparse(before):
                before = before.copy()
                before.resize(sums.shape)
            else:
                before = np.pad(before, ((0, k - len(before)), (0, 0)))
            sums = before + sums
        return ClassSums(np.pad(self.mass, (0, k - len(self.mass))) + np.bincount(y, own, k), sums)

    def nearest(self, r: int) -> int:
        """Return the class before class r whose mean is nearest to its mean; the first of those equally near."""
        if sp.issparse(self.sums):
            means = sp.diags_array(1 / self.mass[: r + 1]) @ self.sums[: r + 1]
            squares = np.asarray(means.multiply(means).sum(axis=1)).reshape(-1)
            products = (means @ means[[r]].T).toarray().reshape(-1)
            distances, scale = squares[:r] + squares[r] - 2 * products[:r], 2 * squares.max()
        else:
            means = self.sums[: r + 1] / self.mass[: r + 1, None]
            distances = ((means[:r] - means[r]) ** 2).sum(axis=1)
            scale = distances.max()
        return int(first_smallest(distances, scale))


def _numbers(X: Any) -> Any:
    """Return X as numbers, or raise ValueError: means of other features don't exist."""
    remedy = "name all classes in the first call, partial_fit(X, y, classes=…), or use another code"
    try:
        table = sp.csr_array(X, dtype=np.float64) if sp.issparse(X) else np.asarray(X, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"X is not a table of numbers, and the code grows by the means of classes; {remedy}: {error}"
        ) from error
    if not np.isfinite(table.data if sp.issparse(table) else table).all():
        raise ValueError(f"X has missing or infinite values, and the code grows by the means of classes: {remedy}.")
    return table
