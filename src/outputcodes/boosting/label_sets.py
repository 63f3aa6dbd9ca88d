"""Boosters whose columns are the labels, for single-label and multilabel problems (an indicator matrix)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_consistent_length

from outputcodes.boosting.base import Booster, Sample
from outputcodes.decoders import Decoder
from outputcodes.decoders.multilabel import EachLabel, LabelSetClassifier, indicates_labels, label_sets

Array = NDArray[np.float64]


class LabelSetBooster(LabelSetClassifier, Booster):
    """A booster that also supports multilabel problems, where the sign of the margin decides on each label.

    A subclass implements `_code_of_labels`.
    """

    def _check_targets(self, X: Any, y: Any) -> NDArray[Any]:
        self.multilabel_ = indicates_labels(y)
        if not self.multilabel_:
            return super()._check_targets(X, y)
        indicators = self._check_label_sets(y)
        check_consistent_length(X, indicators)
        return indicators

    def _number(self, labels: NDArray[Any]) -> NDArray[np.intp]:
        if not self.multilabel_:
            return super()._number(labels)
        self.classes_ = np.arange(labels.shape[1])
        self.code_matrix_, numbers = label_sets(labels)
        return numbers

    def _code(self, seed: int) -> NDArray[np.int8]:
        return self.code_matrix_ if self.multilabel_ else self._code_of_labels()

    def _code_of_labels(self) -> NDArray[np.int8]:
        raise NotImplementedError

    def _decoder(self, M: NDArray[np.int8]) -> Decoder:
        return EachLabel() if self.multilabel_ else super()._decoder(M)

    def _strata(self, y: NDArray[np.intp]) -> NDArray[np.intp]:
        return np.zeros_like(y) if self.multilabel_ else y

    def _without_rounds(self, M: NDArray[np.int8], frequent: int, sample: Sample) -> Array:
        if not self.multilabel_:
            return super()._without_rounds(M, frequent, sample)
        return np.sign(sample.weight @ M[sample.y])

    def staged_predict(self, X: Any) -> Iterator[NDArray[Any]]:
        """Yield the predictions after each round."""
        if not self._several():
            yield from super().staged_predict(X)
        else:
            yield from (self._indicators(F) for F, _ in self._staged(X))
