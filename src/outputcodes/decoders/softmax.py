"""Softmax: any decoder's scores as probabilities, at a temperature fitted on held-out scores."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import brentq
from scipy.special import softmax
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from outputcodes._validation import check_labels, check_weight
from outputcodes.decoders.base import Array, Decoder, Scorer
from outputcodes.decoders.names import as_decoder
from outputcodes.decoders.probabilistic import ProbabilisticDecoder


class Softmax(ProbabilisticDecoder):
    """Another decoder, whose scores D become probabilities softmax(D/T); the prediction stays that decoder's.

    Parameters
    ----------
    decoder : str or Decoder, default="loss"
        Whose scores. If it learns, and is not fitted yet, it learns from the same held-out margins.
    cv : int, splitter or None, default=3
        How margins are held out, as for `Likelihood`.

    Attributes
    ----------
    decoder_ : Decoder
    temperature_ : float
        T, the most probable one with Platt's targets: (N_y + 1)/(N_y + 2) for the true class, the rest spread evenly.
        Infinite, with a warning, if the scores are no better than none.

    Examples
    --------
    >>> M = np.array([[1, -1, -1], [-1, 1, -1], [-1, -1, 1]])
    >>> F = np.array([[1.0, -2.0, -1.0], [0.5, 0.7, -1.0], [-1.0, 2.0, 0.5], [-1.0, 0.5, 1.0]])
    >>> decoder = Softmax("hinge").fit(F, [0, 0, 1, 2], M)
    >>> decoder.probabilities(F[:2], M).round(2)
    array([[0.71, 0.12, 0.17],
           [0.4 , 0.46, 0.14]])
    """

    needs = "held-out"

    def __init__(self, decoder: str | Decoder = "loss", cv: Any = 3) -> None:
        self.decoder = decoder
        self.cv = cv

    @property
    def inner(self) -> Decoder:
        """The decoder in use."""
        return getattr(self, "decoder_", None) or as_decoder(self.decoder)

    @property
    def breaks_ties(self) -> bool:  # type: ignore[override]
        """As the other decoder does."""
        return self.inner.breaks_ties

    @property
    def scores_are_logarithms(self) -> bool:  # type: ignore[override]
        """As the other decoder's."""
        return self.inner.scores_are_logarithms

    def for_loss(self, loss: Any) -> Decoder:
        """With the loss of the other decoder filled in where it was left open."""
        return Softmax(as_decoder(self.decoder).for_loss(loss), self.cv)

    def objection(self, M: NDArray[Any]) -> str | None:
        """The other decoder's."""
        return self.inner.objection(M)

    def loo_objection(self, M: NDArray[Any]) -> str | None:
        """The other decoder's."""
        return self.inner.loo_objection(M)

    def worst_margins(self, F: Array, lowest: Array) -> Array:
        """The other decoder's."""
        return self.inner.worst_margins(F, lowest)

    def fit(self, F: ArrayLike, y: ArrayLike, M: ArrayLike, weight: ArrayLike | None = None) -> Softmax:
        """Find the temperature on margins F; rows in which a column has none (NaN) are left out."""
        margins, code = np.asarray(F, dtype=np.float64), np.asarray(M)
        labels = check_labels(y, len(code))
        mass = check_weight(weight, len(labels))
        mass = np.ones(len(labels)) if mass is None else mass
        whole = np.isfinite(margins).all(axis=1) & (mass > 0)
        margins, labels, mass = margins[whole], labels[whole], mass[whole]
        given = as_decoder(self.decoder)
        fitted = any(name.endswith("_") for name in vars(given))
        self.decoder_ = given if fitted or given.needs is None else clone(given).fit(margins, labels, code, mass)
        self.temperature_ = _temperature(self.decoder_.scores(margins, code), labels, mass)
        if not np.isfinite(self.temperature_):
            warnings.warn(
                f"On {len(labels)} rows of held-out margins the scores tell no more than equal probabilities do.",
                UserWarning,
                stacklevel=2,
            )
        return self

    def _scorer(self, M: NDArray[Any]) -> Scorer:
        return self.inner._scorer(M)

    def _posterior(self, M: NDArray[Any]) -> Callable[[Array], Array]:
        check_is_fitted(self, "temperature_")

        def posterior(D: Array) -> Array:
            P: Array = softmax((D - D.max(axis=1, keepdims=True)) / self.temperature_, axis=1)
            return P

        return posterior


def _temperature(D: Array, y: NDArray[np.intp], mass: Array) -> float:
    """The T whose softmax(D/T) is nearest to Platt's targets; the likelihood is convex in 1/T."""
    if not len(D):
        return np.inf
    n, k = D.shape
    D = D - D.max(axis=1, keepdims=True)
    unit = np.average(-D.min(axis=1), weights=mass)
    if not unit > 0:
        return np.inf
    D /= unit
    rows, seen = np.arange(n), np.bincount(y, weights=mass, minlength=k)[y]
    missing = 1 / (seen + 2)
    aim = (1 - missing) * D[rows, y] + missing * (D.sum(axis=1) - D[rows, y]) / (k - 1)

    def slope(inverse: float) -> float:
        return float(mass @ ((softmax(inverse * D, axis=1) * D).sum(axis=1) - aim))

    if slope(0.0) >= 0:
        return np.inf
    high = 1.0
    while slope(high) < 0:
        high *= 2
    return float(unit / brentq(slope, 0.0, high, xtol=1e-12, rtol=1e-12))
