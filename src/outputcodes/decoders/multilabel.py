"""Several labels a row: the label sets of a sample are the rows of a code, its columns the labels, each by itself."""

from __future__ import annotations

from typing import Any, Literal, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit
from sklearn.utils import assert_all_finite, check_array
from sklearn.utils.multiclass import type_of_target

from outputcodes.decoders import Decoder, Likelihood
from outputcodes.decoders.classifier import DecodingClassifier
from outputcodes.decoders.likelihood import SigmoidDecoder

Array = NDArray[np.float64]


def indicates_labels(y: Any) -> bool:
    """Whether y is a matrix with a column for each label.

    >>> indicates_labels([[0, 1], [1, 1]]), indicates_labels([0, 1]), indicates_labels([[0], [1]])
    (True, False, False)
    """
    if y is None or (y.ndim if hasattr(y, "ndim") else np.asarray(y, dtype=object).ndim) != 2:
        return False
    assert_all_finite(y, input_name="y")
    return bool(type_of_target(y, input_name="y") == "multilabel-indicator")


def as_indicators(y: Any) -> NDArray[np.int8]:
    """Dense or sparse indicators, of 0 and 1 or of -1 and +1, as a matrix of 0 and 1.

    >>> as_indicators([[-1, 1], [1, 1]])
    array([[0, 1], [1, 1]], dtype=int8)
    """
    Y: NDArray[Any] = check_array(y.toarray() if sp.issparse(y) else y, dtype=None)
    if not (np.isin(Y, (0, 1)).all() or np.isin(Y, (-1, 1)).all()):
        raise ValueError("y is no indicator matrix: its entries must be 0 and 1, or -1 and +1.")
    return (Y > 0).astype(np.int8)


def label_sets(indicators: NDArray[np.int8]) -> tuple[NDArray[np.int8], NDArray[np.intp]]:
    """The different label sets as the rows of a code, and which of them each row has.

    >>> label_sets(np.array([[1, 0], [0, 0], [1, 0]], dtype=np.int8))
    (array([[-1, -1], [ 1, -1]], dtype=int8), array([1, 0, 1]))
    """
    sets, numbers = np.unique(indicators, axis=0, return_inverse=True)
    return 2 * sets - 1, numbers.reshape(-1)


class EachLabel(Decoder):
    """The score of a label is its margin, and the labels of positive score are predicted.

    That is loss-based decoding among all 2^L label sets, whatever the loss: none of them is closer to the margins.

    >>> EachLabel().predict([[0.5, -2.0, 0.0]], np.ones((1, 3)))
    array([[1, 0, 0]])
    """

    def scores(self, F: ArrayLike, M: ArrayLike) -> Array:
        """Scores (n, L) of the labels."""
        return np.asarray(F, dtype=np.float64)

    def predict(self, F: ArrayLike, M: ArrayLike) -> NDArray[np.intp]:
        """Indicators (n, L)."""
        return (self.scores(F, M) > 0).astype(np.intp)


class EachLabelLikelihood(EachLabel, SigmoidDecoder):
    """The score of a label is the logarithm of its odds, by a sigmoid of its margin; parameters as for `Likelihood`.

    A label that all rows of the sample have, or none, has the probability that Platt aims at: (n + 1)/(n + 2), or
    1/(n + 2).

    >>> F, M = np.array([[2.0, 1.0], [-1.0, 1.0], [0.5, 1.0], [-0.2, 1.0]]), np.array([[-1, 1], [1, 1]])
    >>> EachLabelLikelihood().fit(F, [1, 0, 1, 0], M).probabilities(F[:1], M).round(3)
    array([[0.814, 0.833]])
    """

    def __init__(self, cv: Any = 3, targets: Literal["platt", "plain"] = "platt") -> None:
        self.cv = cv
        self.targets = targets

    def fit(self, F: ArrayLike, y: ArrayLike, M: ArrayLike, weight: ArrayLike | None = None) -> Self:
        """Fit the sigmoids of the labels that some rows have and others lack; y says which label set a row has."""
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
        """ln P/(1 - P) of each label, (n, L)."""
        return self._log_odds(np.asarray(F, dtype=np.float64))

    def probabilities(self, F: ArrayLike, M: ArrayLike) -> Array:
        """Of each label by itself, (n, L): above ½ where it is predicted."""
        P: Array = expit(self.scores(F, M))
        return P


def decoder_of_labels(asked: Decoder) -> Decoder:
    """What the labels are read by where a classifier was asked for `asked`: by sigmoids or, else, by their signs."""
    return EachLabelLikelihood(asked.cv, asked.targets) if isinstance(asked, Likelihood) else EachLabel()


class LabelSetClassifier(DecodingClassifier):
    """A classifier that also takes several labels a row: y is then an indicator matrix, dense or sparse.

    Then the rows of `code_matrix_` are the label sets of the sample, and its columns the labels. `decision_function`
    answers a score for each label, `predict` indicates those of positive score, `predict_proba`, where there is one,
    answers each label's own probability, and `score` is the share of rows whose labels are all right.

    Attributes
    ----------
    multilabel_ : bool
    """

    def _check_label_sets(self, y: Any) -> NDArray[np.int8]:
        """Indicators of 0 and 1; what kind they were is what `predict` answers."""
        self.sparse_labels_ = (
            None if not sp.issparse(y) else sp.csr_array if isinstance(y, sp.sparray) else sp.csr_matrix
        )
        return as_indicators(y)

    def predict(self, X: Any) -> NDArray[Any]:
        """The class of the largest score, the first in a tie; with several labels a row 1 where a score is positive."""
        return self._indicators(self.margins(X)) if self._several() else super().predict(X)

    def score(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> float:
        """The share of rows, or of their weight, that are predicted rightly, all labels of a row if it has several."""
        return float(super().score(X, as_indicators(y) if self._several() else y, sample_weight))

    def with_decoder(
        self,
        decoder: str | Decoder,
        X: Any = None,
        y: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """As in every classifier; not with several labels a row, which need no decoder."""
        if self._several():
            raise ValueError("Several labels a row are read off the signs of the margins; there is nothing to decode.")
        return super().with_decoder(decoder, X, y, sample_weight)

    def _several(self) -> bool:
        return getattr(self, "multilabel_", False)

    def _indicators(self, F: Array) -> Any:
        indicators = self.decoder_.predict(F, self.code_matrix_)
        return indicators if self.sparse_labels_ is None else self.sparse_labels_(indicators)

    def _as_decision(self, D: Array) -> Array:
        return D if self._several() else super()._as_decision(D)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags
