"""Decoders of multilabel problems: each label is predicted on its own, by its margin or by a sigmoid."""

from __future__ import annotations

from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit

from outputcodes.decoders.base import Decoder
from outputcodes.decoders.likelihood import Likelihood, SigmoidDecoder

Array = NDArray[np.float64]


class EachLabel(Decoder):
    """A decoder that scores each label by its margin and predicts the labels with a positive score.

    This is loss-based decoding among all 2^L label sets, for any loss: no other set is closer to the margins.

    >>> EachLabel().predict([[0.5, -2.0, 0.0]], np.ones((1, 3)))
    array([[1, 0, 0]])
    """

    def scores(self, F: ArrayLike, M: ArrayLike) -> Array:
        """Return the scores (n, L) of the labels."""
        return np.asarray(F, dtype=np.float64)

    def predict(self, F: ArrayLike, M: ArrayLike) -> NDArray[np.intp]:
        """Return indicators (n, L)."""
        return (self.scores(F, M) > 0).astype(np.intp)


class EachLabelLikelihood(EachLabel, SigmoidDecoder):
    """A decoder that scores each label by its log-odds, a sigmoid of its margin; parameters as in `Likelihood`.

    A label that all rows of the sample have, or none, gets Platt's target as its probability: (n + 1)/(n + 2) or
    1/(n + 2).

    >>> F, M = np.array([[2.0, 1.0], [-1.0, 1.0], [0.5, 1.0], [-0.2, 1.0]]), np.array([[-1, 1], [1, 1]])
    >>> EachLabelLikelihood().fit(F, [1, 0, 1, 0], M).probabilities(F[:1], M).round(3)
    array([[0.814, 0.833]])
    """

    def __init__(self, cv: Any = 3, targets: Literal["platt", "plain"] = "platt") -> None:
        self.cv = cv
        self.targets = targets

    def fit(self, F: ArrayLike, y: ArrayLike, M: ArrayLike, weight: ArrayLike | None = None) -> Self:
        """Fit the sigmoids of the labels that some rows have and others lack; y is the label set of each row."""
        F, M = np.asarray(F, dtype=np.float64), np.asarray(M)
        seen = M[np.unique(y)]
        both = np.ptp(seen, axis=0) > 0
        mass, L = float(len(F) if weight is None else np.sum(weight)), len(both)
        sigmoids = {"slope_": np.zeros(L), "offset_": -seen[0] * np.log1p(mass), "column_mass_": np.full(L, mass)}
        sigmoids |= {"gap_": np.zeros(L), "n_iter_": np.zeros(L, dtype=np.intp)}
        if both.any():
            super().fit(F[:, both], y, M[:, both], weight)
            for name, values in sigmoids.items():
                values[both] = getattr(self, name)
        self.__dict__.update(sigmoids)
        return self

    def scores(self, F: ArrayLike, M: ArrayLike) -> Array:
        """Return ln P/(1 - P) of each label, (n, L)."""
        return self._log_odds(np.asarray(F, dtype=np.float64))

    def probabilities(self, F: ArrayLike, M: ArrayLike) -> Array:
        """Return the probability of each label, (n, L): above ½ if it is predicted."""
        P: Array = expit(self.scores(F, M))
        return P


def decoder_of_labels(asked: Decoder) -> Decoder:
    """Return the multilabel decoder for a classifier with the decoder `asked`: by sigmoids or by signs."""
    return EachLabelLikelihood(asked.cv, asked.targets) if isinstance(asked, Likelihood) else EachLabel()
