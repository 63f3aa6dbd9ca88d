"""Foreign estimators that have `partial_fit`: one per column, each given the rows of its column in every batch."""

from __future__ import annotations

from inspect import signature
from typing import Any

import numpy as np

from outputcodes._ground.validation import take_rows
from outputcodes.learners.base import FittedColumns
from outputcodes.learners.foreign import targets_of
from outputcodes.learners.stream import Array, Matrix, Rows, Stream


class PerColumnStream(Stream):
    """One estimator per column; a column that comes later starts with its first batch.

    Parameters
    ----------
    learner : PerColumn
    """

    def __init__(self, learner: Any, n_jobs: int | None, seed: int) -> None:
        self.learner, self.n_jobs, self.seed = learner, n_jobs, seed
        self.estimators: list[Any] = []

    def add(self, X: Any, y: Rows, M: Matrix, weight: Array | None, column_weight: Array) -> None:
        """Call `partial_fit` of every column that has rows in the batch."""
        while len(self.estimators) < M.shape[1]:
            self.estimators.append(self.learner.new_estimator(len(self.estimators), self.seed))
        own = np.ones(len(y)) if weight is None else weight
        for j, estimator in enumerate(self.estimators):
            mass = own * column_weight[y, j]
            seen = np.flatnonzero((M[y, j] != 0) & (mass > 0))
            if not seen.size:
                continue
            options: dict[str, Any] = {}
            known = signature(estimator.partial_fit).parameters
            if "sample_weight" in known:
                options["sample_weight"] = mass[seen]
            elif (mass[seen] != mass[seen[0]]).any():
                raise ValueError(
                    f"weights were given (sample_weight, class_weight or column_weight), but "
                    f"{type(estimator).__name__}.partial_fit takes none; omit them."
                )
            target = targets_of(estimator, M[y[seen], j])
            if "classes" in known:
                options["classes"] = targets_of(estimator, np.array([-1, 1], dtype=np.int8))
            estimator.partial_fit(take_rows(X, seen), target, **options)

    def columns(self, M: Matrix, column_weight: Array, live: Rows) -> FittedColumns:
        """Return the estimators of some columns."""
        fitted: FittedColumns = self.learner.finished([self.estimators[j] for j in live], self.n_jobs)
        return fitted
