"""Boosters whose columns are the labels: one label a row, or a set of labels a row (an indicator matrix)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_array, check_consistent_length

from outputcodes.boosting.base import Booster, Sample, indicates_labels
from outputcodes.decoders import Decoder
from outputcodes.decoding import decoder_for

Array = NDArray[np.float64]


class LabelSetBooster(Booster):
    """A booster that also takes several labels a row.

    Then the rows of `code_matrix_` are the label sets of the sample, `decision_function` answers the margins of the
    labels, and `predict` indicates the labels whose margin is positive. A subclass writes `_code_of_labels`.

    Attributes
    ----------
    multilabel_ : bool
    """

    def _check_targets(self, X: Any, y: Any) -> NDArray[Any]:
        self.multilabel_ = indicates_labels(y)
        if not self.multilabel_:
            return super()._check_targets(X, y)
        self.sparse_labels_ = (
            None if not sp.issparse(y) else sp.csr_array if isinstance(y, sp.sparray) else sp.csr_matrix
        )
        Y: NDArray[Any] = check_array(y.toarray() if sp.issparse(y) else y, dtype=None)
        check_consistent_length(X, Y)
        if not (np.isin(Y, (0, 1)).all() or np.isin(Y, (-1, 1)).all()):
            raise ValueError("y is no indicator matrix: its entries must be 0 and 1, or -1 and +1.")
        return (Y > 0).astype(np.int8)

    def _number(self, labels: NDArray[Any]) -> NDArray[np.intp]:
        if not self.multilabel_:
            return super()._number(labels)
        self.classes_ = np.arange(labels.shape[1])
        sets, numbers = np.unique(labels, axis=0, return_inverse=True)
        self.code_matrix_ = 2 * sets - 1
        return numbers.reshape(-1)

    def _code(self, seed: int) -> NDArray[np.int8]:
        return self.code_matrix_ if self.multilabel_ else self._code_of_labels()

    def _code_of_labels(self) -> NDArray[np.int8]:
        raise NotImplementedError

    def _decoder(self, M: NDArray[np.int8]) -> Decoder:
        # Label sets are read off signs; nothing that can't serve them as a code should object.
        return decoder_for("exponential", self.margin_loss, M) if self.multilabel_ else super()._decoder(M)

    def _strata(self, y: NDArray[np.intp]) -> NDArray[np.intp]:
        return np.zeros_like(y) if self.multilabel_ else y

    def _without_rounds(self, M: NDArray[np.int8], frequent: int, sample: Sample) -> Array:
        if not self.multilabel_:
            return super()._without_rounds(M, frequent, sample)
        return np.sign(sample.weight @ M[sample.y])

    def decision_function(self, X: Any) -> Array:
        """Class scores as in every classifier; with several labels a row their margins (n, k)."""
        return self.margins(X) if self._several() else super().decision_function(X)

    def predict(self, X: Any) -> NDArray[Any]:
        """The class of the largest score; with several labels a row 1 for those of positive margin, else 0."""
        return self._indicators(self.margins(X)) if self._several() else super().predict(X)

    def staged_decision_function(self, X: Any) -> Iterator[Array]:
        """What `decision_function` answers after each round."""
        if not self._several():
            yield from super().staged_decision_function(X)
        else:
            yield from (F for F, _ in self._staged(X))

    def staged_predict(self, X: Any) -> Iterator[NDArray[Any]]:
        """What `predict` answers after each round."""
        if not self._several():
            yield from super().staged_predict(X)
        else:
            yield from (self._indicators(F) for F, _ in self._staged(X))

    def with_decoder(
        self,
        decoder: str | Decoder,
        X: Any = None,
        y: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """The same rounds under another decoder; not with several labels a row, which need none."""
        if self._several():
            raise ValueError("Several labels a row are read off the signs of the margins; there is nothing to decode.")
        return super().with_decoder(decoder, X, y, sample_weight)

    def _several(self) -> bool:
        return getattr(self, "multilabel_", False)

    def _indicators(self, F: Array) -> Any:
        indicators = (F > 0).astype(np.intp)
        return indicators if self.sparse_labels_ is None else self.sparse_labels_(indicators)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags
