"""The error of the best of several: an honest estimate from rows that were held out."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import stats

DRAWS = 300
# Losses are not believed to fall faster than in proportion to the training rows.
STEEPEST = 1.0


class Estimate(NamedTuple):
    """The expected loss of the winner, and a 95 % interval."""

    loss: float
    low: float
    high: float


def loss_of_best(losses: NDArray[Any], seed: int = 0) -> Estimate:
    """Estimate the loss of whichever is best, given the losses (n, m) of m entries on the same held-out rows.

    The smallest of several means is too small, as some of it is luck. In each of many bootstrap samples of the rows,
    the best entry is chosen by the rows that were drawn, and judged by those that were not (Tsamardinos, Greasidou &
    Borboudakis, 2018).

    >>> rng = np.random.default_rng(0)
    >>> losses = rng.random((300, 20)) < 0.5
    >>> bool(losses.mean(axis=0).min() < 0.47 < loss_of_best(losses).loss)
    True
    """
    values = np.asarray(losses, dtype=np.float64)
    n = len(values)
    rng, found, shares = np.random.default_rng(seed), [], []
    for _ in range(DRAWS):
        drawn = rng.multinomial(n, np.full(n, 1 / n))
        out = drawn == 0
        if out.any():
            # Rounded, so that the last bits don't choose.
            best = np.round(drawn @ values / n, 9).argmin()
            found.append(values[out, best].mean())
            shares.append(out.mean())
    loss = float(np.mean(found))
    # What was not drawn is about a third of the rows; the interval is that of all rows.
    half = 1.96 * float(np.std(found) * np.sqrt(np.mean(shares)))
    return no_narrower(Estimate(loss, max(0.0, loss - half), loss + half), losses)


def of_one(losses: NDArray[Any]) -> Estimate:
    """Return the mean of losses on rows that had no part in the choice, and its interval.

    >>> round(of_one(np.zeros(100, dtype=bool)).high, 3)
    0.037
    """
    values = losses.astype(np.float64)
    mean, half = float(values.mean()), 1.96 * float(values.std() / np.sqrt(len(values)))
    return no_narrower(Estimate(mean, max(0.0, mean - half), mean + half), losses)


def no_narrower(estimate: Estimate, losses: NDArray[Any]) -> Estimate:
    """Return an estimate of an error with at least the interval of a share of the rows, also if none was wrong."""
    if losses.dtype != bool:
        return estimate
    wilson = stats.binomtest(round(estimate.loss * len(losses)), len(losses)).proportion_ci(method="wilson")
    return Estimate(estimate.loss, min(estimate.low, float(wilson.low)), max(estimate.high, float(wilson.high)))


class Point(NamedTuple):
    """The loss of trainings on so many rows."""

    rows: int
    loss: float


def on_more_rows(estimate: Estimate, fewer: Point, own: Point, n: int) -> Estimate:
    """Return the estimate for a training on n rows, where the folds trained on fewer: losses fall like a power of them.

    The power is that between two points of the learning curve, those with the rows of the estimate and with `fewer`.

    >>> on_more_rows(Estimate(0.5, 0.25, 0.75), Point(200, 0.2), Point(400, 0.1), 800)
    Estimate(loss=0.25, low=0.125, high=0.375)
    """
    if fewer.loss <= 0 or own.loss <= 0:
        return estimate
    power = np.log(fewer.loss / own.loss) / np.log(own.rows / fewer.rows)
    factor = (own.rows / n) ** float(np.clip(power, 0.0, STEEPEST))
    return Estimate(*(factor * one for one in estimate))
