"""Errors per column, margins per class and per example: functions from arrays to arrays."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from outputcodes._ground.validation import check_margins, check_scores, check_weight

Array = NDArray[np.float64]


def column_errors(F: ArrayLike, y: ArrayLike, M: ArrayLike, weight: ArrayLike | None = None) -> Array:
    """Return the binary error of each column (L,) on the examples with a non-zero entry; a margin of 0 counts half.

    A column without examples has error ½, as it carries no information.

    Examples
    --------
    >>> column_errors([[2.0, -0.5], [0.0, -1.0]], [0, 1], [[+1, -1], [-1, +1]])
    array([0.25, 0.5 ])
    """
    F, labels, code = check_margins(F, y, M)
    target, weight = code[labels], check_weight(weight, len(labels))
    wrong = (1 - np.sign(target * F)) / 2
    mass = (target != 0) * (1.0 if weight is None else weight[:, None])
    total = mass.sum(axis=0)
    errors: Array = np.divide((wrong * mass).sum(axis=0), total, out=np.full(total.shape, 0.5), where=total > 0)
    return errors


def class_margins(F: ArrayLike, y: ArrayLike, M: ArrayLike, weight: ArrayLike | None = None) -> Array:
    """Return the mean of M(r, s)·f_s over the examples of class r, (k, L): below 0 where a column fails on a class.

    Entries are 0 where the code is 0, and in the row of a class without examples.

    Examples
    --------
    >>> class_margins([[2.0, -0.5], [0.0, -1.0]], [0, 1], [[+1, -1], [-1, +1]]) + 0.0
    array([[ 2. ,  0.5], [ 0. , -1. ]])
    """
    F, labels, code = check_margins(F, y, M)
    weight = check_weight(weight, len(labels))
    members = (labels == np.arange(len(code))[:, None]) * (1.0 if weight is None else weight)
    total = members.sum(axis=1, keepdims=True)
    mean: Array = np.divide(members @ F, total, out=np.zeros(code.shape), where=total > 0)
    return code * mean


def multiclass_margins(D: ArrayLike, y: ArrayLike) -> Array:
    """Return the score of the true class minus the best other score, (n,).

    It is positive only if the true class wins without a tie.

    Examples
    --------
    >>> multiclass_margins([[3.0, 1.0, 2.0], [0.0, 1.0, 5.0]], [0, 1])
    array([ 1., -4.])
    """
    D, labels = check_scores(D, y)
    own = np.arange(D.shape[1]) == labels[:, None]
    margins: Array = D[own] - D.max(axis=1, where=~own, initial=-np.inf)
    return margins


class MarginDistribution(NamedTuple):
    """Margins of a sample after some rounds of boosting.

    Attributes
    ----------
    rounds : ndarray of shape (R,)
        The numbers of rounds.
    margins : ndarray of shape (R, n)
        Multiclass margins in ascending order; a share (j + 1)/n of them is at most entry j.

    Examples
    --------
    >>> distribution = MarginDistribution(np.array([10]), np.array([[-0.2, 0.1, 0.4, 0.6]]))
    >>> distribution.share_at_most(0.1)
    array([0.5])
    """

    rounds: NDArray[np.intp]
    margins: Array

    def share_at_most(self, theta: float) -> Array:
        """Return the share of margins ≤ theta after each of the rounds, (R,), which the margin bounds limit."""
        share: Array = (self.margins <= theta).mean(axis=1)
        return share


def margin_distribution(
    staged_scores: Iterable[ArrayLike],
    y: ArrayLike,
    scale: ArrayLike | None = None,
    rounds: Collection[int] | None = None,
) -> MarginDistribution:
    """Return the distribution of margins after the rounds of a booster.

    Parameters
    ----------
    staged_scores : iterable of arrays (n, k), or (n,) for two classes
        Class scores after each round, as yielded by `staged_decision_function(X)`.
    y : array of shape (n,)
        Labels 0..k-1.
    scale : array of shape (T,), optional
        Divisors of the margins after each round; margins become 0 where it is 0. Twice the sum of the coefficients so
        far scales the margins of exponential and of linear decoding to [-1, 1].
    rounds : collection of int, optional
        The rounds to keep, counted from 1; None keeps all.

    Examples
    --------
    >>> stages = [[[1.0, 0.0], [1.0, 0.0]], [[1.0, 0.5], [1.0, 3.0]]]
    >>> distribution = margin_distribution(stages, [0, 1])
    >>> distribution.margins
    array([[-1. ,  1. ], [ 0.5,  2. ]])
    >>> distribution.share_at_most(0)
    array([0.5, 0. ])
    """
    kept, margins = [], []
    divisors = None if scale is None else np.asarray(scale, dtype=np.float64)
    if divisors is not None and not (divisors.ndim == 1 and (divisors >= 0).all()):
        raise ValueError(f"scale={scale!r} must contain one number of at least 0 per round.")
    for t, scores in enumerate(staged_scores):
        if rounds is None or t + 1 in rounds:
            D = np.asarray(scores, dtype=np.float64)
            ordered = np.sort(multiclass_margins(D if D.ndim == 2 else np.outer(D, [-0.5, 0.5]), y))
            if divisors is not None and t >= len(divisors):
                raise ValueError(f"scale has {len(divisors)} entries, but there are more rounds; give one per round.")
            margins.append(ordered if divisors is None else _divided(ordered, divisors[t]))
            kept.append(t + 1)
    if not kept:
        raise ValueError(f"staged_scores has no stage among rounds={rounds!r}; rounds are counted from 1.")
    return MarginDistribution(np.array(kept, dtype=np.intp), np.array(margins))


def _divided(margins: Array, scale: float) -> Array:
    return margins / scale if scale > 0 else np.zeros_like(margins)
