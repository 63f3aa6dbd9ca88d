"""Ridge regression on batches: running sums, and from them the solution of all rows so far, exactly."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from outputcodes._ground.blocks import one_blas_thread
from outputcodes.learners.base import FittedColumns
from outputcodes.learners.linear.ridge_blocks import ClassRows, gram_of_rows, sums_of_classes
from outputcodes.learners.linear.ridge_pairs import PairSolution
from outputcodes.learners.linear.ridge_systems import MOST_GRAM_VALUES, Systems
from outputcodes.learners.shared import entry_weights
from outputcodes.learners.stream import Array, Matrix, Rows, Stream

# The key of the Gram matrix of all rows; those of classes are 0, 1, … An integer, too, so that a stream can be saved.
ALL_ROWS = -1


class RidgeStream(Stream):
    """Sums over the rows of each class: weights, rows and, unless all columns weigh all rows alike, Gram matrices.

    Rows are counted from the mean of the first batch, so that sums of products lose no accuracy.
    """

    def __init__(self, learner: Any, n_jobs: int | None) -> None:
        self.learner, self.n_jobs = learner, n_jobs
        self.centre: Array | None = None
        self.sizes, self.totals = np.zeros(0), np.zeros(0)
        self.sums = np.zeros((0, 0))
        # The Gram matrix of each class, or that of all rows.
        self.grams: dict[int, Array] = {}
        self.by_class = True

    def add(self, X: Any, y: Rows, M: Matrix, weight: Array | None, column_weight: Array) -> None:
        """Add a batch to the sums."""
        X, k = self.learner._as_features(X), len(M)
        d = X.shape[1]
        if self.centre is None:
            self.centre = np.zeros(d) if sp.issparse(X) else X.mean(axis=0)
            self.sums = np.zeros((0, d))
            # Columns that weigh all rows alike need one matrix.
            self.by_class = bool((M == 0).any() or (column_weight != 1).any())
        self._refuse_many(k, d)
        if not self.by_class and ((M == 0).any() or (column_weight != 1).any()):
            raise ValueError("The weights of the columns changed from equal to different ones; start again.")
        X = X if sp.issparse(X) else X - self.centre
        mass = np.ones(len(y)) if weight is None else weight
        with one_blas_thread():
            sizes, totals, sums = sums_of_classes(ClassRows(X, y, mass), k)
            grown = k - len(self.sizes)
            self.sizes = np.pad(self.sizes, (0, grown)) + sizes
            self.totals = np.pad(self.totals, (0, grown)) + totals
            self.sums = np.pad(self.sums, ((0, grown), (0, 0))) + sums
            for key in np.unique(y).tolist() if self.by_class else [ALL_ROWS]:
                own = slice(None) if key == ALL_ROWS else np.flatnonzero(y == key)
                gram = gram_of_rows(X[own], np.sqrt(mass[own]))
                self.grams[key] = self.grams[key] + gram if key in self.grams else gram

    def columns(self, M: Matrix, column_weight: Array, live: Rows) -> FittedColumns:
        """Solve the columns on all rows so far."""
        systems = StreamSystems(self).with_alpha(float(self.learner.alpha))
        weights = entry_weights(M, column_weight)[:, live]
        fitted: FittedColumns = self.learner.solved(systems, M[:, live], weights, self.centre, self.n_jobs)
        return fitted

    def _refuse_many(self, k: int, d: int) -> None:
        if (k if self.by_class else 1) * d * d > MOST_GRAM_VALUES:
            raise ValueError(
                f"Ridge learns from batches by Gram matrices, and {k if self.by_class else 1} of {d} × {d} numbers are "
                "too many; use Logistic or LinearSVM, or a code without zeros (one-vs-all, dense), which needs one."
            )


class StreamSystems(Systems):
    """The linear systems of running sums."""

    def __init__(self, stream: RidgeStream) -> None:
        self.stream, self.totals, self.sums = stream, stream.totals, stream.sums
        self.start = np.append(0, np.cumsum(stream.sizes.astype(np.intp)))
        d = self.sums.shape[1]
        # At least as many rows as features: rows are gone, and their space with them.
        self.shape = max(int(self.start[-1]), d), d
        self._known = {}
        self.whole = lambda n_jobs: None

    def _is_cheaper_by_steps(self, a: Array, n_columns: int, leverage: bool) -> bool:
        return False

    def _pairs(self, patterns: Array, targets: list[Array], n_jobs: int | None) -> dict[int, PairSolution]:
        return {}

    def gram(self, a: NDArray[Any], n_jobs: int | None) -> Array:
        """Return the upper triangle of Σ_r a_r G_r."""
        grams = self.stream.grams
        if ALL_ROWS in grams:
            return np.asfortranarray(grams[ALL_ROWS])
        d = self.sums.shape[1]
        total = np.zeros((d, d), order="F")
        for r in np.flatnonzero(a).tolist():
            if r in grams:
                total += a[r] * grams[r]
        return total
