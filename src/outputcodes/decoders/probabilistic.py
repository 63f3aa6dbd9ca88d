"""Decoders with class probabilities that never contradict their scores."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from outputcodes.decoders.base import Array, Decoder, blocks_of, winners


class ProbabilisticDecoder(Decoder):
    """Base of the decoders whose scores have class probabilities.

    A subclass writes `_posterior(M)`, which returns a function from a block of scores (n, k) to probabilities.
    """

    def _posterior(self, M: NDArray[Any]) -> Callable[[Array], Array]:
        raise NotImplementedError

    def probabilities(self, F: ArrayLike, M: ArrayLike) -> Array:
        """Return class probabilities (n, k); the first largest one of each row is the prediction."""
        F, M, scorer = self._open(F, M)
        posterior = self._posterior(M)
        P = np.empty((F.shape[0], M.shape[0]))
        for rows in blocks_of(F, M):
            D = scorer(F[rows])
            best = winners(D, F[rows], M)[0] if self.breaks_ties else D.argmax(axis=1)
            P[rows] = _agreeing(posterior(D), best)
        return P


def _agreeing(P: Array, best: NDArray[np.intp]) -> Array:
    """Return P with the best class of each row increased by a unit in the last place if rounding has tied it."""
    odd = np.flatnonzero(P.argmax(axis=1) != best)
    P[odd, best[odd]] = np.nextafter(P[odd].max(axis=1), 2.0)
    return P
