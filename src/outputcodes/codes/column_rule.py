"""The best column for a given binary classifier (Crammer and Singer 2002, section 4)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from outputcodes._ground.choosing import first_largest, sorting_keys
from outputcodes._ground.validation import check_labels, check_weight
from outputcodes.codes.base import checked_n_classes

Array = NDArray[np.float64]
Column = NDArray[np.int8]


def first_column(h: ArrayLike, y: ArrayLike, n_classes: int, weight: ArrayLike | None = None) -> tuple[Column, float]:
    """Return the best column for the binary classifier h, and its success xi.

    The classifier predicts h(x) in {-1, +1}, and the class is drawn uniformly among those with this entry in the
    column: xi is the expected share of examples for which their own class is drawn. The search is exact, in
    O(n + k² log k): among the columns with p entries +1, the best has them at the p classes with the largest
    share(+)/p - share(-)/(k - p). Ties go to the smaller p, then to the lower classes.

    Parameters
    ----------
    h : array of -1 and +1, shape (n,)
    y : array of labels 0..k-1, shape (n,)
    n_classes : int
    weight : array of shape (n,), optional

    Returns
    -------
    column : ndarray of int8, shape (k,)
        It has both signs.
    success : float
        xi, at least 1/k.

    Examples
    --------
    >>> column, success = first_column([1, 1, 1, -1, -1, -1, 1, 1, -1, -1], [0, 0, 0, 0, 1, 1, 1, 2, 2, 2], 3)
    >>> column, success
    (array([ 1, -1, -1], dtype=int8), 0.5)
    """
    k = checked_n_classes(n_classes)
    labels = check_labels(y, k)
    answers = np.asarray(h)
    if answers.shape != labels.shape or not np.isin(answers, (-1, 1)).all():
        raise ValueError(f"h must be -1 or +1 for each of the {len(labels)} labels of y; use the sign of margins.")
    mass = check_weight(weight, len(labels))
    plus, minus = (np.bincount(labels, _masked(mass, answers == sign), minlength=k) for sign in (1, -1))
    total = plus.sum() + minus.sum()
    # Multiplied by p·(k - p), all numbers are integers if the weights are.
    p = np.arange(1, k)[:, None]
    gain = plus * (k - p) - minus * p
    order = np.argsort(-sorting_keys(gain), axis=1, kind="stable")
    best_gain = np.cumsum(np.take_along_axis(gain, order, axis=1), axis=1)[np.arange(k - 1), np.arange(k - 1)]
    scaled = (minus.sum() * p[:, 0] + best_gain) / (p[:, 0] * (k - p[:, 0]))
    best = int(first_largest(scaled, total))
    column = np.full(k, -1, dtype=np.int8)
    column[order[best, : best + 1]] = 1
    return column, float(scaled[best] / total)


def column_success(column: Column, h: Any, y: NDArray[np.intp], weight: Array) -> float:
    """Return xi of any column with both signs; `weight` sums to 1.

    >>> y = np.array([0, 0, 0, 0, 1, 1, 1, 2, 2, 2])
    >>> h = np.array([1, 1, 1, -1, -1, -1, 1, 1, -1, -1])
    >>> column_success(np.array([1, 1, -1], dtype=np.int8), h, y, np.full(10, 0.1))
    0.4
    """
    share = np.where(h > 0, 1 / np.count_nonzero(column > 0), 1 / np.count_nonzero(column < 0))
    return float(weight @ (share * (column[y] == h)))


def _masked(mass: Array | None, mask: NDArray[np.bool_]) -> Array:
    return mask.astype(np.float64) if mass is None else np.where(mask, mass, 0.0)
