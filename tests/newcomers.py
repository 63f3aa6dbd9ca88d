"""A plug-in with one newcomer of each kind, each registered by one line: a code, a loss, a decoder and a learner.

As a pytest plug-in (`-p newcomers`) it registers them before the tests are collected.
"""

from dataclasses import replace
from typing import ClassVar

import numpy as np

from outputcodes.codes import CODES, Code
from outputcodes.decoders import DECODERS, Decoder
from outputcodes.learners import LEARNERS, FittedColumns, SharedLearner
from outputcodes.learners.shared import effective_rows, entry_weights
from outputcodes.losses import LOSSES, observe


class Circle(Code):
    """Each class and its neighbours on a circle against the others."""

    def _matrix(self, k, rng, problem):
        steps = (np.arange(k)[:, None] - np.arange(k)) % k
        near = (steps <= 1) if k > 3 else steps == 0
        return np.where(near, 1, -1).astype(np.int8)


def cubed_hinge(z):
    return np.maximum(1 - z, 0) ** 3


class Correlation(Decoder):
    """The correlation of the margins with each row."""

    def _scorer(self, M):
        rows = M / np.linalg.norm(M, axis=1, keepdims=True)
        return lambda F: F @ rows.T / np.maximum(np.linalg.norm(F, axis=1, keepdims=True), 1e-300)


class Means(SharedLearner):
    """The difference of the two weighted means of each column, with a threshold halfway."""

    loss: ClassVar[str] = "linear"

    def prepare(self, X, like=None):
        return self._as_features(X)

    def fit_columns(self, data, y, M, weight=None, column_weight=None, *, rows=None, init=None, n_jobs=None, seed=0):
        M = np.asarray(M)
        seen = effective_rows(y, M, weight, rows)
        own = np.ones(len(seen)) if weight is None else weight[seen]
        members = own * (np.arange(len(M))[:, None] == y[seen])
        sums, totals = members @ data[seen], members.sum(axis=1)
        share = entry_weights(M, column_weight)
        plus, minus = ((share * (M == sign)).T @ sums / ((share * (M == sign)).T @ totals)[:, None] for sign in (1, -1))
        return TwoMeans((plus - minus).T, ((plus**2).sum(axis=1) - (minus**2).sum(axis=1)) / 2)


class TwoMeans(FittedColumns):
    """A weight vector and a threshold per column."""

    def __init__(self, coef, threshold):
        self.coef = coef
        self.threshold = threshold

    def margins(self, X, rows=None):
        return np.asarray(X if rows is None else X[rows], dtype=float) @ self.coef - self.threshold


def register():
    CODES["circle"] = Circle
    LOSSES["cubed-hinge"] = replace(
        observe(cubed_hinge),
        derivative=lambda z: -3 * np.maximum(1 - z, 0) ** 2,
        second_derivative=lambda z: 6 * np.maximum(1 - z, 0),
    )
    DECODERS["correlation"] = Correlation
    LEARNERS["means"] = Means


def pytest_configure(config):
    register()
