"""Euclidean decoding, plain and attenuated: distances between margins and rows as points."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from outputcodes._ground.planning import Planning
from outputcodes.decoders.base import Array, Decoder, Scorer, signs_of


class Euclidean(Decoder):
    """The nearest row as a point: sqrt(Σ_s (f_s − M_rs)²), as in scikit-learn's OutputCodeClassifier.

    For codes without zeros it ranks as the linear loss.

    Examples
    --------
    >>> Euclidean().scores([[3.0, -4.0]], [[0, 0], [1, -1]]).round(4)
    array([[-5.    , -3.6056]])
    """

    planning = Planning(tried=False)

    def _scorer(self, M: NDArray[Any]) -> Scorer:
        plus, minus, zero = (part.T for part in signs_of(M))

        # Squares are summed separately: the expansion |f|² − 2f·m + |m|² would cancel if f is close to a row.
        def score(F: Array) -> Array:
            d = np.square(F - 1) @ plus + np.square(F + 1) @ minus + np.square(F) @ zero
            return -np.sqrt(d)

        return score


class AttenuatedEuclidean(Decoder):
    """Euclidean decoding with less weight for zeros and small margins: sqrt(Σ_s |M_rs|·|f_s|·(f_s − M_rs)²).

    Examples
    --------
    >>> AttenuatedEuclidean().scores([[3.0, -4.0]], [[0, 1], [1, -1]]).round(4)
    array([[-10.   ,  -6.9282]])
    """

    planning = Planning(tried=False)

    def _scorer(self, M: NDArray[Any]) -> Scorer:
        plus, minus, _ = (part.T for part in signs_of(M))

        def score(F: Array) -> Array:
            size = np.abs(F)
            d = (size * np.square(F - 1)) @ plus + (size * np.square(F + 1)) @ minus
            return -np.sqrt(d)

        return score
