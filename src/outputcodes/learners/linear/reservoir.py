"""A sample of the rows of a stream, in which every row so far is with the same probability."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

Rows = NDArray[np.intp]
Array = NDArray[np.float64]


class Reservoir:
    """At most `size` rows, with their classes and weights (Vitter, Random sampling with a reservoir, 1985).

    >>> sample = Reservoir(3, seed=0)
    >>> for row in range(10):
    ...     sample.add(np.full((1, 2), float(row)), np.array([row]), np.ones(1))
    >>> sample.seen, sample.X[:, 0].tolist() == sample.y.tolist(), len(set(sample.y.tolist()))
    (10, True, 3)
    """

    def __init__(self, size: int, seed: int) -> None:
        self.size, self.seen, self.rng = size, 0, np.random.default_rng(np.random.SeedSequence((seed, size)))
        self.X: Any = None
        self.y, self.weight = np.zeros(0, dtype=np.intp), np.zeros(0)

    def add(self, X: Any, y: Rows, weight: Array) -> None:
        """Take rows of a batch in, in the place of others where it is full."""
        n, held = len(y), len(self.y)
        order = self.seen + 1 + np.arange(n)
        # Row i of the stream comes in with probability size/i, in the place of any.
        places = np.where(order <= self.size, order - 1, (self.rng.random(n) * order).astype(np.intp))
        self.seen += n
        coming = np.flatnonzero(places < self.size)
        # The last of several rows for one place stays.
        last = dict(zip(places[coming].tolist(), coming.tolist(), strict=True))
        if not last:
            return
        total = min(self.size, self.seen)
        source = np.arange(total)  # rows of what is held, followed by those of the batch
        source[list(last)] = held + np.fromiter(last.values(), dtype=np.intp)
        self.y, self.weight = np.append(self.y, y)[source], np.append(self.weight, weight)[source]
        if self.X is None:
            self.X = X[source]
        else:
            self.X = (sp.vstack([self.X, X], format="csr") if sp.issparse(X) else np.concatenate([self.X, X]))[source]

    def some(self, count: int) -> Rows:
        """Return a few of its rows, without repetition."""
        found: Rows = self.rng.permutation(len(self.y))[:count]
        return found
