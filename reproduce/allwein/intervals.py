"""Synthetic data of Figure 3, classes that are intervals of |x|, and AdaBoost with three readings of its learner."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from outputcodes.learners import BoostedStumps

Array = NDArray[np.float64]
Reading = Literal["literal", "signed", "inside"]

READINGS: tuple[Reading, ...] = ("literal", "signed", "inside")
PER_CLASS = 100
# Hypotheses whose edges differ by less are equally good, and the first is taken. Errors are at least this large.
TIE = 1e-10


def draw_sample(k: int, seed: tuple[int, ...]) -> tuple[Array, Array, NDArray[np.intp], NDArray[np.intp]]:
    """Return points for training and for testing, and their classes: exactly 100 training points per class.

    >>> _, _, y, _ = draw_sample(3, (0,))
    >>> np.bincount(y)
    array([100, 100, 100])
    """
    rng = np.random.default_rng(seed)
    x, x_test = rng.standard_normal((2, PER_CLASS * k))
    thresholds = np.sort(np.abs(x))[PER_CLASS::PER_CLASS]
    y, y_test = (np.searchsorted(thresholds, np.abs(points), side="right") for points in (x, x_test))
    return x, x_test, y, y_test


def boosted(x: Array, y: NDArray[np.intp], M: NDArray[np.int8], x_test: Array, reading: Reading, rounds: int) -> Array:
    """Return the margins (n, L) at `x_test` of columns that are boosted one by one."""
    if reading == "inside":
        return boosted_inside(np.abs(x), M[y], np.abs(x_test), rounds)
    view = np.abs if reading == "literal" else np.positive
    learner = BoostedStumps(rounds, "discrete")
    fitted = learner.fit_columns(learner.prepare(view(x)[:, None]), y, M, n_jobs=1, seed=0)
    margins: Array = fitted.margins(view(x_test)[:, None])
    return margins


def boosted_inside(u: Array, signs: NDArray[np.int8], u_test: Array, rounds: int) -> Array:
    """Run AdaBoost with hypotheses that are +1 below a threshold and −1 above it, never the reverse."""
    order = np.argsort(u)
    signs, u = signs[order], u[order]
    thresholds = np.concatenate([[-np.inf], (u[:-1] + u[1:]) / 2, [np.inf]])
    D = np.full(signs.shape, 1 / len(u))
    F = np.zeros((len(u_test), signs.shape[1]))
    going = np.ones(signs.shape[1], dtype=bool)
    for _ in range(rounds):
        below = np.concatenate([np.zeros((1, signs.shape[1])), np.cumsum(D * signs, axis=0)])
        edges = 2 * below - below[-1]
        most = edges.max(axis=0)
        best = (edges >= most - TIE).argmax(axis=0)
        wrong = np.clip((1 - most) / 2, TIE, 0.5)
        coefficient = np.where(going, np.log((1 - wrong) / wrong) / 2, 0.0)
        # A column without error has nothing left to learn.
        going &= wrong > TIE
        F += coefficient * np.where(u_test[:, None] <= thresholds[best], 1, -1)
        D *= np.exp(-coefficient * signs * np.where(np.arange(len(u))[:, None] < best, 1, -1))
        D /= D.sum(axis=0)
    return F
