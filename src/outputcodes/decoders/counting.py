"""Decoders that use only the signs of the margins: how many bits of a row agree, how many contradict."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainc, betaincinv

from outputcodes._ground.planning import Planning
from outputcodes.decoders.base import Array, Decoder, Scorer, matches


class Laplacian(Decoder):
    """The smoothed share of agreeing bits: (α + 1)/(α + β + 2) for α matches and β mismatches of non-zero bits.

    Examples
    --------
    >>> Laplacian().scores([[2.0, -1.0, 0.3]], [[1, 0, 0], [1, -1, -1]]).round(3)
    array([[0.667, 0.6  ]])
    """

    planning = Planning(tried=False)
    breaks_ties = False

    def _scorer(self, M: NDArray[Any]) -> Scorer:
        def score(F: Array) -> Array:
            agree, contradict = matches(F, M)
            return (agree + 1) / (agree + contradict + 2)

        return score


class BetaDensity(Decoder):
    """The pessimistic estimate of the share of agreeing bits under a Beta(α + 1, β + 1) density.

    The score is ν − s: the mode ν = α/(α + β), decreased until a third of the mass lies between, or to 0 if less mass
    lies below the mode.

    Examples
    --------
    >>> BetaDensity().scores([[2.0, -1.0, 0.3]], [[1, 0, 0], [1, -1, -1]]).round(3)
    array([[0.816, 0.463]])
    """

    planning = Planning(tried=False)
    breaks_ties = False

    def _scorer(self, M: NDArray[Any]) -> Scorer:
        side = M.shape[1] + 1

        # α and β are small integers: each pair that occurs in a block is computed once.
        def score(F: Array) -> Array:
            agree, contradict = matches(F, M)
            pairs, place = np.unique((agree * side + contradict).astype(np.intp), return_inverse=True)
            shares: Array = pessimistic_share(*np.divmod(pairs, side))[place.reshape(agree.shape)]
            return shares

        return score


def pessimistic_share(agree: NDArray[np.intp], contradict: NDArray[np.intp]) -> Array:
    """Return the score of `BetaDensity` for numbers of agreeing and contradicting bits."""
    total = agree + contradict
    mode = np.divide(agree, total, out=np.full(total.shape, 0.5), where=total > 0)
    below = betainc(agree + 1, contradict + 1, mode) - 1 / 3
    share: Array = betaincinv(agree + 1, contradict + 1, np.maximum(below, 0.0))
    return share


class InverseHamming(Decoder):
    """Hamming distances d corrected for the distances Δ between the rows: q = Δ⁻¹ d, the largest q wins.

    An output equal to row j of a code without zeros has score 1 for class j and 0 for the others. Scores are rounded to
    ten decimals.

    Examples
    --------
    >>> M = [[+1, -1, -1], [-1, +1, -1], [-1, -1, +1]]
    >>> InverseHamming().scores(M, M).round(12) + 0.0
    array([[1., 0., 0.], [0., 1., 0.], [0., 0., 1.]])
    """

    planning = Planning(cost=60)
    breaks_ties = False

    def objection(self, M: NDArray[Any]) -> str | None:
        """Object to a code whose distance matrix is singular."""
        if inverse_distances(M) is not None:
            return None
        return (
            "decoder='inverse-hamming' inverts the matrix of distances between the rows of the code, which is "
            "singular here; use decoder='hamming' or another code."
        )

    def _scorer(self, M: NDArray[Any]) -> Scorer:
        inverse = inverse_distances(M)
        rows = M.astype(np.float64).T

        def score(F: Array) -> Array:
            hamming = (M.shape[1] - np.sign(F) @ rows) / 2
            # Rounded, so that ties are those of exact arithmetic and go to the lower index.
            q: Array = np.round(hamming @ inverse, 10)
            return q

        return score


def inverse_distances(M: NDArray[Any]) -> Array | None:
    """Return Δ⁻¹, or None if Δ is singular to working precision."""
    rows = M.astype(np.float64)
    distances = (M.shape[1] - rows @ rows.T) / 2
    try:
        inverse: Array = np.linalg.inv(distances)
    except np.linalg.LinAlgError:
        return None
    return inverse if np.allclose(distances @ inverse, np.eye(len(M)), atol=1e-6) else None
