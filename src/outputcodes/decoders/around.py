"""Decoders around another decoder: its scores, ties and objections are theirs."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from outputcodes._ground.validation import check_labels, check_weight
from outputcodes.decoders.base import Array, Decoder, Scorer


class Sample(NamedTuple):
    """Rows without missing values or with no weight: margins or scores, labels and weights."""

    values: Array
    labels: NDArray[np.intp]
    mass: Array


def whole_rows(values: ArrayLike, y: ArrayLike, n_classes: int, weight: ArrayLike | None) -> Sample:
    """Return the rows that have a weight and no missing value (NaN), checked."""
    values = np.asarray(values, dtype=np.float64)
    labels = check_labels(y, n_classes)
    mass = check_weight(weight, len(labels))
    mass = np.ones(len(labels)) if mass is None else mass
    whole = np.isfinite(values).all(axis=1) & (mass > 0)
    return Sample(values[whole], labels[whole], mass[whole])


class AroundAnother(Decoder):
    """Base of the decoders that score as another one does; a subclass says which in `inner`."""

    needs = "held-out"

    @property
    def inner(self) -> Decoder:
        """The decoder in use."""
        raise NotImplementedError

    @property
    def breaks_ties(self) -> bool:  # type: ignore[override]
        """Whether the other decoder breaks ties."""
        return self.inner.breaks_ties

    @property
    def reads_sizes(self) -> bool:  # type: ignore[override]
        """Whether the other decoder weighs margins by their size."""
        return self.inner.reads_sizes

    @property
    def scores_are_logarithms(self) -> bool:  # type: ignore[override]
        """Whether the scores of the other decoder are logarithms."""
        return self.inner.scores_are_logarithms

    def objection(self, M: NDArray[Any]) -> str | None:
        """Return the objection of the other decoder."""
        return self.inner.objection(M)

    def loo_objection(self, M: NDArray[Any]) -> str | None:
        """Return the objection of the other decoder."""
        return self.inner.loo_objection(M)

    def worst_margins(self, F: Array, lowest: Array) -> Array:
        """Return the worst margins of the other decoder."""
        return self.inner.worst_margins(F, lowest)

    def contributions(self, F: ArrayLike, M: ArrayLike) -> Array | None:
        """Return the contributions of the other decoder."""
        return self.inner.contributions(F, M)

    def _scorer(self, M: NDArray[Any]) -> Scorer:
        return self.inner._scorer(M)
