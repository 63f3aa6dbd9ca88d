"""What went right and wrong, column by column and class by class: arrays in, arrays out."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from outputcodes._validation import check_margins, check_scores, check_weight

Array = NDArray[np.float64]


def column_errors(F: ArrayLike, y: ArrayLike, M: ArrayLike, weight: ArrayLike | None = None) -> Array:
    """The binary error of each column (L,) over the examples it sees; a margin of 0 counts half.

    A column that sees no example has error ½: it tells nothing.

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
    """The mean of M(r, s)·f_s over the examples of class r, (k, L): below 0 where a column fails a class.

    0 where the code has a 0, and in the row of a class without examples.

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
    """The score of the true class minus the best other score, (n,): at most 0 where the example is not strictly right.

    Examples
    --------
    >>> multiclass_margins([[3.0, 1.0, 2.0], [0.0, 1.0, 5.0]], [0, 1])
    array([ 1., -4.])
    """
    D, labels = check_scores(D, y)
    own = np.arange(D.shape[1]) == labels[:, None]
    margins: Array = D[own] - D.max(axis=1, where=~own, initial=-np.inf)
    return margins
