"""McNemar's exact test of two classifiers on the same test rows, by the rows that only one of them misses."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats


class McNemar(NamedTuple):
    """The numbers of rows that only the first and only the second misses, and the two-sided p-value."""

    first_only: int
    second_only: int
    p_value: float


def mcnemar(first: ArrayLike, second: ArrayLike) -> McNemar:
    """Test whether two classifiers have the same error, on rows that neither was trained on.

    If they do, a row that exactly one of them misses is missed by either with probability 1/2. The p-value is that of
    the binomial distribution, exact for any number of rows.

    Parameters
    ----------
    first, second : arrays of n booleans
        Whether each row is missed.

    Examples
    --------
    >>> mcnemar([True, True, True, True, True, False], [False, False, False, False, False, False])
    McNemar(first_only=5, second_only=0, p_value=0.0625)

    References
    ----------
    Q. McNemar, Psychometrika 12, 1947; T. G. Dietterich, Neural Computation 10, 1998.
    """
    a, b = np.asarray(first), np.asarray(second)
    if a.ndim != 1 or a.shape != b.shape or a.dtype != bool or b.dtype != bool:
        raise ValueError(
            f"first {a.shape} and second {b.shape} must be booleans for the same rows: whether each is missed."
        )
    only = int((a & ~b).sum()), int((b & ~a).sum())
    return McNemar(*only, float(stats.binomtest(only[0], sum(only)).pvalue) if any(only) else 1.0)
