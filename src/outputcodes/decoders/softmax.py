"""The scores of any decoder as probabilities, with a temperature and a doubt fitted to held-out scores."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import brentq, minimize_scalar
from scipy.special import softmax
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from outputcodes.decoders.around import AroundAnother, whole_rows
from outputcodes.decoders.base import Array, Decoder
from outputcodes.decoders.names import as_decoder
from outputcodes.decoders.probabilistic import ProbabilisticDecoder


class Softmax(AroundAnother, ProbabilisticDecoder):
    """Another decoder whose scores D become probabilities (1 - ε) softmax(D/T) + ε/k; its predictions are unchanged.

    The temperature T measures how reliable the scores are, the doubt ε how often they are entirely wrong: a few rows
    far on the wrong side then neither increase T for all others nor get probability 0. Both maximise the likelihood of
    the held-out scores, with a penalty for small samples: ε is at least 1/(n + 2), and each row adds u/((n + 2) T) to
    its loss, where u is the median over rows of the mean distance of the scores from the best. T thus stays above 0 if
    the scores separate all classes. Rows count by their weights.

    Parameters
    ----------
    decoder : str or Decoder, default="loss"
        The other decoder. If it learns, and is not fitted yet, it learns from the same held-out margins.
    cv : int, splitter or None, default=3
        The folds of the held-out margins, as for `Likelihood`.

    Attributes
    ----------
    decoder_ : Decoder
    temperature_ : float
        T. Infinite, with a warning, if the scores are no better than equal probabilities.
    doubt_ : float
        ε.

    Examples
    --------
    >>> M = np.array([[1, -1, -1], [-1, 1, -1], [-1, -1, 1]])
    >>> F = np.array([[1.0, -2.0, -1.0], [0.5, 0.7, -1.0], [-1.0, 2.0, 0.5], [-1.0, 0.5, 1.0]])
    >>> decoder = Softmax("hinge").fit(F, [0, 0, 1, 2], M)
    >>> decoder.probabilities(F[:2], M).round(2)
    array([[0.82, 0.08, 0.1 ],
           [0.4 , 0.51, 0.09]])
    """

    def __init__(self, decoder: str | Decoder = "loss", cv: Any = 3) -> None:
        self.decoder = decoder
        self.cv = cv

    @property
    def inner(self) -> Decoder:
        """The decoder in use."""
        return getattr(self, "decoder_", None) or as_decoder(self.decoder)

    def for_labels(self) -> None:
        """Return None: the probabilities of the classes sum to 1."""

    def for_loss(self, loss: Any) -> Decoder:
        """Return the decoder with the loss of the other one filled in if it was left open."""
        return Softmax(as_decoder(self.decoder).for_loss(loss), self.cv)

    def fit(self, F: ArrayLike, y: ArrayLike, M: ArrayLike, weight: ArrayLike | None = None) -> Softmax:
        """Fit temperature and doubt to margins F; rows with missing margins (NaN) are left out."""
        code = np.asarray(M)
        margins, labels, mass = whole_rows(F, y, len(code), weight)
        given = as_decoder(self.decoder)
        fitted = any(name.endswith("_") for name in vars(given))
        self.decoder_ = given if fitted or given.needs is None else clone(given).fit(margins, labels, code, mass)
        return self._settle(self.decoder_.scores(margins, code), labels, mass)

    def fit_scores(self, D: ArrayLike, y: ArrayLike, weight: ArrayLike | None = None) -> Softmax:
        """Fit temperature and doubt to held-out scores D (n, k) of the other decoder; it learns nothing here.

        Rows with missing scores (NaN) are left out.
        """
        self.decoder_ = as_decoder(self.decoder)
        return self._settle(*whole_rows(D, y, np.shape(D)[1], weight))

    def _settle(self, scores: Array, labels: NDArray[np.intp], mass: Array) -> Softmax:
        self.temperature_, self.doubt_ = _temperature_and_doubt(scores, labels, mass)
        if not np.isfinite(self.temperature_):
            warnings.warn(
                f"On {len(labels)} rows of held-out margins the scores are no better than equal probabilities.",
                UserWarning,
                stacklevel=2,
            )
        return self

    def _posterior(self, M: NDArray[Any]) -> Callable[[Array], Array]:
        check_is_fitted(self, "temperature_")

        def posterior(D: Array) -> Array:
            trusted = softmax((D - D.max(axis=1, keepdims=True)) / self.temperature_, axis=1)
            P: Array = (1 - self.doubt_) * trusted + self.doubt_ / D.shape[1]
            return P

        return posterior


def _temperature_and_doubt(D: Array, y: NDArray[np.intp], mass: Array) -> tuple[float, float]:
    """Return the T and ε that minimise the mean of u/((n + 2) T) - log P(y), starting from a grid of T."""
    below = D.max(axis=1, keepdims=True) - D
    spread = below.mean(axis=1)
    if not (spread > 0).any():
        return np.inf, 1.0
    # The median, because exponential losses can make a few rows larger than all others together.
    unit = np.quantile(spread[spread > 0], 0.5, weights=mass[spread > 0], method="inverted_cdf")
    below /= unit
    rows, even, least = np.arange(len(y)), 1 / D.shape[1], 1 / (float(mass.sum()) + 2)

    def best_doubt(own: Array) -> float:
        """Return the ε of largest likelihood, which is concave in ε."""

        def slope(doubt: float) -> float:
            return float(np.average((even - own) / (own + doubt * (even - own)), weights=mass))

        if slope(least) <= 0:
            return least
        return 1.0 if slope(1.0) >= 0 else float(brentq(slope, least, 1.0))

    def loss(log_inverse: float) -> tuple[float, float]:
        inverse = np.exp(log_inverse)
        odds = np.exp(-inverse * below)
        own = odds[rows, y] / odds.sum(axis=1)
        doubt = best_doubt(own)
        return float(least * inverse - np.average(np.log(own + doubt * (even - own)), weights=mass)), doubt

    # Above the upper end u/((n + 2) T) alone exceeds log k, the loss of equal probabilities.
    low, high = np.log(1e-3), np.log(-np.log(even) / least)
    grid = np.linspace(low, high, int(np.ceil(high - low)) + 1)
    at = int(np.argmin([loss(point)[0] for point in grid]))
    around = grid[max(at - 1, 0)], grid[min(at + 1, len(grid) - 1)]
    found = minimize_scalar(lambda point: loss(point)[0], bounds=around, method="bounded", options={"xatol": 1e-9})
    if found.fun >= -np.log(even):
        return np.inf, 1.0
    return float(unit / np.exp(found.x)), loss(found.x)[1]
