"""Decoders for the all-pairs code: the vote, and the decision directed acyclic graph."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from outputcodes._ground.planning import Planning
from outputcodes.decoders.base import Array, Decoder, Scorer


class Vote(Decoder):
    """The class that wins most of its pairs; ties go to the larger sum of margins, then to the lower index.

    Scores are votes (½ for a margin of 0) plus a sixth of s/(1 + |s|), where s is the sum of margins of the class, so
    that it can't outweigh half a vote. `decoder="hamming"` with the all-pairs code is the plain vote.

    Examples
    --------
    >>> from outputcodes.codes import AllPairs
    >>> Vote().scores([[1.0, -2.0, 0.5]], AllPairs().draw(3).matrix()).round(3)
    array([[0.917, 0.944, 1.1  ]])
    """

    planning = Planning(quick=True, cost=50)

    def objection(self, M: NDArray[Any]) -> str | None:
        """Object to a code that is not all-pairs."""
        return not_all_pairs(M, "vote", "hamming")

    def loo_objection(self, M: NDArray[Any]) -> str | None:
        """Return None: a pair that a class wins never harms it."""
        return None

    def _scorer(self, M: NDArray[Any]) -> Scorer:
        rows = M.astype(np.float64)
        pairs = np.count_nonzero(M[0])

        def score(F: Array) -> Array:
            votes = (pairs + np.sign(F) @ rows.T) / 2
            margins = F @ rows.T
            D: Array = votes + margins / (6 * (1 + np.abs(margins)))
            return D

        return score


class Dag(Decoder):
    """The decision DAG: the first and last class of a list are compared, and the loser is removed, in k − 1 tests.

    The winner has score k, the last one removed k − 1, the first one removed 1. A margin of 0 removes the later class.

    Examples
    --------
    >>> from outputcodes.codes import AllPairs
    >>> Dag().scores([[1.0, -2.0, 0.5]], AllPairs().draw(3).matrix())
    array([[1., 3., 2.]])
    """

    planning = Planning(tried=False)
    breaks_ties = False

    def objection(self, M: NDArray[Any]) -> str | None:
        """Object to a code that is not all-pairs."""
        return not_all_pairs(M, "dag", "hamming")

    def loo_objection(self, M: NDArray[Any]) -> str | None:
        """Return None: a pair that a class wins never harms it."""
        return None

    def _scorer(self, M: NDArray[Any]) -> Scorer:
        k = M.shape[0]
        first = np.argmax(M != 0, axis=0)
        last = k - 1 - np.argmax(M[::-1] != 0, axis=0)
        column = np.zeros((k, k), dtype=np.intp)
        column[first, last] = np.arange(M.shape[1])
        orientation = M[first, np.arange(M.shape[1])]

        def score(F: Array) -> Array:
            n = F.shape[0]
            rows = np.arange(n)
            low, high = np.zeros(n, dtype=np.intp), np.full(n, k - 1)
            D = np.full((n, k), float(k))
            for step in range(1, k):
                test = column[low, high]
                high_leaves = F[rows, test] * orientation[test] >= 0
                D[rows, np.where(high_leaves, high, low)] = step
                high = high - high_leaves
                low = low + ~high_leaves
            return D

        return score


def not_all_pairs(M: NDArray[Any], name: str, instead: str) -> str | None:
    """Return why a decoder for pairs can't serve the code, or None."""
    k, L = M.shape
    first, last = np.argmax(M != 0, axis=0), k - 1 - np.argmax(M[::-1] != 0, axis=0)
    columns = np.arange(L)
    opposed = M[first, columns] * M[last, columns] == -1
    if (
        k * (k - 1) // 2 == L
        and opposed.all()
        and np.count_nonzero(M) == 2 * L
        and len(np.unique(first * k + last)) == L
    ):
        return None
    return (
        f"decoder={name!r} needs every pair of classes in one column, and this code of {k} classes × {L} columns "
        f"is not all-pairs; use code='all-pairs' or decoder={instead!r}."
    )
