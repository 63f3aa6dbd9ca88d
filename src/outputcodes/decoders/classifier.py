"""What every classifier does that ends in a code, margins and a decoder: scores, predictions, another decoder."""

from __future__ import annotations

import copy
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin, clone
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from outputcodes._ground.validation import check_targets, check_weight
from outputcodes.decoders import Decoder, as_decoder

Array = NDArray[np.float64]


def _answers_probabilities(classifier: DecodingClassifier) -> bool:
    if hasattr(classifier, "decoder_"):
        return hasattr(classifier.decoder_, "probabilities")
    return getattr(classifier, "probability", None) is not None or hasattr(
        as_decoder(classifier.decoder), "probabilities"
    )


class DecodingClassifier(ClassifierMixin):
    """A classifier that decodes margins.

    It has a parameter `decoder` and writes `margins(X)`; its `fit` leaves `classes_`, `code_matrix_`, `margin_loss_`
    (the loss that its columns minimise) and `decoder_`, and `class_weight_` if classes have weights of their own.
    """

    decoder: str | Decoder
    classes_: NDArray[Any]
    code_matrix_: NDArray[np.int8]
    margin_loss_: Any
    decoder_: Decoder
    class_weight_: Array | None = None

    def margins(self, X: Any) -> Array:
        """Margins (n, L): what each column answers for each row."""
        raise NotImplementedError

    def decision_function(self, X: Any) -> Array:
        """Class scores (n, k), larger is better; for two classes (n,) = score of the second − of the first."""
        F = self.margins(X)
        return self._as_decision(self.decoder_.scores(F, self.code_matrix_))

    def predict(self, X: Any) -> NDArray[Any]:
        """The class of the largest score; the first of them in a tie."""
        F = self.margins(X)
        predicted: NDArray[Any] = self.classes_[self.decoder_.predict(F, self.code_matrix_)]
        return predicted

    @available_if(_answers_probabilities)
    def predict_proba(self, X: Any) -> Array:
        """Class probabilities (n, k), largest for the prediction; only where the decoder answers them."""
        F = self.margins(X)
        probabilities: Array = self.decoder_.probabilities(F, self.code_matrix_)
        return probabilities

    def with_decoder(
        self,
        decoder: str | Decoder,
        X: Any = None,
        y: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """The same trained columns under another decoder; nothing is trained again but the decoder itself.

        A decoder that learns (`decoder.needs`) learns from the margins of X and y: give the training sample, or,
        where it needs "held-out" margins, rows that the columns were not trained on. A classifier's `probability`,
        which says how a decoder is made, is None in the answer. Class weights count as they did in `fit`.
        """
        check_is_fitted(self)
        resolved = decoder_for(decoder, self.margin_loss_, self.code_matrix_)
        if resolved.needs is not None:
            if X is None or y is None:
                raise ValueError(
                    f"decoder={decoder!r} learns from {resolved.needs} margins: give X and y, "
                    "with_decoder(decoder, X, y)."
                )
            F = self.margins(X)
            labels = check_targets(self, F, y)
            if (unknown := np.setdiff1d(labels, self.classes_)).size:
                raise ValueError(f"y holds {unknown[:5].tolist()}, which fit did not see.")
            weight, places = check_weight(sample_weight, len(labels)), np.searchsorted(self.classes_, labels)
            if self.class_weight_ is not None:
                weight = self.class_weight_[places] * (1.0 if weight is None else weight)
            resolved.fit(F, places, self.code_matrix_, weight)
        other = copy.copy(self)
        other.decoder = decoder
        if hasattr(other, "probability"):
            other.probability = None
        other.decoder_ = resolved
        return other

    def _as_decision(self, D: Array) -> Array:
        return D if len(self.classes_) > 2 else D[:, 1] - D[:, 0]


def decoder_for(decoder: str | Decoder, loss: Any, M: NDArray[np.int8]) -> Decoder:
    """A fresh decoder for columns that minimise `loss` under the code M; an error if it can't serve them."""
    resolved: Decoder = clone(as_decoder(decoder)).for_loss(loss)
    if (objection := resolved.objection(M)) is not None:
        raise ValueError(objection)
    return resolved
