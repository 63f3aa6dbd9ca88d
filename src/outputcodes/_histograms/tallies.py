"""How often each value of a feature occurs, in parts that can be merged: exactly, or with a bounded error of ranks.

A tally has values in ascending order and counts: so many rows lie above the value before and up to this one. Merging
two tallies is exact. One with more than `most` values is cut down to values at equal steps of the ranks, which moves a
row up to a value that is at most n/most ranks away. After h mergers of a tree, ranks are within (h + 1)·n/most: the
errors of mergers add up, as in the summaries of Greenwald & Khanna, "Power-conserving computation of order-statistics
over sensor networks", PODS 2004.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Counts = NDArray[np.int64]


@dataclass(frozen=True)
class Tally:
    """The tally of every feature, and which of them are exact."""

    values: list[Array]
    counts: list[Counts]
    exact: NDArray[np.bool_]


def tally(X: Any, most: int) -> Tally:
    """Count the values of the rows of X; missing values (NaN) are left out.

    >>> tally(np.array([[2.0], [1.0], [np.nan], [2.0]]), most=10)
    Tally(values=[array([1., 2.])], counts=[array([1, 2])], exact=array([ True]))
    """
    found = [counted(X[:, f]) for f in range(X.shape[1])]
    return _cut_down([values for values, _ in found], [counts for _, counts in found], None, most)


def merged(left: Tally, right: Tally, most: int) -> Tally:
    """Return the tally of the rows of both.

    >>> few, more = (tally(np.array([own]).T, most=10) for own in ([1.0, 2.0], [2.0, 3.0]))
    >>> merged(few, more, most=10).counts
    [array([1, 2, 1])]
    """
    values, counts = [], []
    for f in range(len(left.values)):
        together = np.concatenate([left.values[f], right.values[f]])
        # Two runs in order: a stable sort finds them.
        order = np.argsort(together, kind="stable")
        together, weight = together[order], np.concatenate([left.counts[f], right.counts[f]])[order]
        new = np.flatnonzero(np.append(True, together[1:] != together[:-1])[: len(together)])
        values.append(together[new])
        counts.append(np.add.reduceat(weight, new) if len(new) else weight)
    return _cut_down(values, counts, left.exact & right.exact, most)


class Merging:
    """`merged` as a function of two tallies, which can be sent to other processes."""

    def __init__(self, most: int) -> None:
        self.most = most

    def __call__(self, left: Tally, right: Tally) -> Tally:
        """Return the tally of the rows of both."""
        return merged(left, right, self.most)


def quantile_ends(counts: Counts, bins: int) -> NDArray[np.intp]:
    """Return the numbers of the values at which at most `bins` bins with about equally many rows end.

    >>> quantile_ends(np.array([1, 1, 4, 1, 1]), 2)
    array([2, 4])
    """
    ranks = np.cumsum(counts)
    last = np.searchsorted(ranks, np.arange(1, bins) * ranks[-1] // bins - 1, side="right")
    return np.unique(np.append(last, len(counts) - 1))


def counted(x: Array) -> tuple[Array, Counts]:
    """Return the different values of a feature and how often each occurs, without missing ones."""
    values, counts = np.unique(x[~np.isnan(x)], return_counts=True)
    return values, counts.astype(np.int64, copy=False)


def _cut_down(values: list[Array], counts: list[Counts], exact: NDArray[np.bool_] | None, most: int) -> Tally:
    exact = np.ones(len(values), dtype=bool) if exact is None else exact.copy()
    for f, own in enumerate(counts):
        if len(own) <= most:
            continue
        ranks, exact[f] = np.cumsum(own), False
        targets = -(-np.arange(1, most + 1) * ranks[-1] // most)
        kept = np.unique(np.searchsorted(ranks, targets))
        values[f], counts[f] = values[f][kept], np.diff(ranks[kept], prepend=0)
    return Tally(values, counts, exact)
