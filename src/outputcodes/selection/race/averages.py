"""Whether an average of the finalists wins, judged on folds that had no part in its choice."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from outputcodes.selection.mcnemar import mcnemar
from outputcodes.selection.race.blend import greedy_weights, losses_of

Array = NDArray[np.float64]
Rows = NDArray[np.intp]

# The p-values of paired tests below which an average has clearly less loss, and clearly more.
LESS, MORE = 0.1, 0.2


class Average(NamedTuple):
    """The weights of the finalists, and the probabilities of the held-out rows with weights that other folds chose."""

    weights: Array
    P: Array


def winning_average(P: list[NDArray[Any]], y: Rows, fold: Rows, metric: str) -> Average | None:
    """Return the average of finalists if it is clearly better than one of them, else None.

    Both are chosen on all folds but one and judged on that one, in turn: the best of several by all folds would owe
    some of its lead to luck. An average wins with clearly less loss, or with clearly less log-loss and not clearly more
    loss.

    Parameters
    ----------
    P : list of arrays (n, k)
        Probabilities of the held-out rows.
    y, fold : arrays of n integers
        The classes of the rows, and the folds that they were held out by.
    metric : str

    Examples
    --------
    Two models that err on different rows:

    >>> y, fold = np.zeros(80, dtype=np.intp), np.arange(80) % 2
    >>> one, other = np.full((80, 2), 0.5), np.full((80, 2), 0.5)
    >>> one[:40], one[40:], other[:40], other[40:] = (0.9, 0.1), (0.4, 0.6), (0.4, 0.6), (0.9, 0.1)
    >>> winning_average([one, other], y, fold, "error").weights
    array([0.5, 0.5])
    >>> winning_average([one, one], y, fold, "error") is None
    True
    """

    # Errors are too few to tell which members are worth their place.
    def averaged(P: list[NDArray[Any]], y: Rows) -> Array:
        return greedy_weights(P, y, "log-loss" if metric == "error" else metric)

    def single(P: list[NDArray[Any]], y: Rows) -> Array:
        means = [[round(float(losses_of(one, y, what).mean()), 9) for what in (metric, "log-loss")] for one in P]
        weights: Array = np.eye(len(P))[means.index(min(means))]
        return weights

    many, one = (_by_other_folds(P, y, fold, choose) for choose in (averaged, single))
    loss, other_loss = losses_of(many, y, metric), losses_of(one, y, metric)
    if _p_of_less(loss, other_loss) >= LESS:
        more_certain = _p_of_less(losses_of(many, y, "log-loss"), losses_of(one, y, "log-loss")) < LESS
        if not more_certain or _p_of_less(other_loss, loss) < MORE:
            return None
    return Average(averaged(P, y), many)


def _by_other_folds(
    P: list[NDArray[Any]], y: Rows, fold: Rows, choose: Callable[[list[NDArray[Any]], Rows], Array]
) -> Array:
    """Averages for the rows of each fold, with weights that the other folds chose."""
    averages = np.empty(P[0].shape)
    for f in np.unique(fold):
        own = fold == f
        weights = choose([one[~own] for one in P], y[~own])
        averages[own] = sum(w * one[own] for w, one in zip(weights, P, strict=True) if w > 0)
    return averages


def _p_of_less(a: NDArray[Any], b: NDArray[Any]) -> float:
    """The p-value of a being less than b."""
    if a.dtype == bool:
        test = mcnemar(a, b)
        return test.p_value / 2 if test.first_only < test.second_only else 1 - test.p_value / 2
    return 1.0 if np.ptp(a - b) == 0 else float(stats.ttest_rel(a, b, alternative="less").pvalue)
