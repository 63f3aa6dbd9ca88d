"""A learner of colours and its weights over pairs: stumps on rows in memory or in blocks, or an estimator."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from outputcodes._ground.blocks import Run
from outputcodes._ground.choosing import TIE
from outputcodes._histograms.binned_blocks import BinnedBlocks
from outputcodes.boosting._pairs import PairWeights
from outputcodes.boosting._pairs_on_blocks import PairStumpsOnBlocks
from outputcodes.boosting.binary_weak import BinaryLearner, Coloured, ForeignLearner, StumpLearner
from outputcodes.boosting.round_by_round import Sample

Array = NDArray[np.float64]
Signs = NDArray[np.int8]


class ColourLearner(Protocol):
    """What the rounds of AdaBoost.OC and SmoothBoost need of the rows."""

    def confusion(self) -> Array:
        """Return φ (k,), which measures how often each class is confused."""
        ...

    def fit(self, colouring: Signs) -> Coloured | None:
        """Return the hypothesis for a colouring, or None if it separates nothing or no stump has an edge."""
        ...

    def update(self, a: float) -> None:
        """Update the weights after a round with the last hypothesis and coefficient a."""
        ...


class PairsInMemory:
    """Rows in memory, for stumps and for estimators."""

    def __init__(self, pairs: PairWeights, learner: BinaryLearner) -> None:
        self.pairs, self.learner, self.confusion = pairs, learner, pairs.confusion

    def fit(self, colouring: Signs) -> Coloured | None:
        """Return the hypothesis for a colouring, or None if it separates nothing or no stump has an edge."""
        split = self.pairs.split(colouring)
        if split.share <= TIE:
            return None
        found = self.learner.fit(self.pairs.rows.V, split.total)
        if found is None:
            return None
        self.answers = found.answers
        return Coloured(found.hypothesis, split.share, found.right, found.wrong)

    def update(self, a: float) -> None:
        """Update the weights after a round with the last hypothesis and coefficient a."""
        self.pairs.update(self.answers, a)


def colour_learner(
    estimator: Any, sample: Sample, n_classes: int, lam: float, run: Run, rng: np.random.Generator
) -> ColourLearner:
    """Return the learner for a sample: stumps on its bins, or the estimator."""
    if isinstance(sample.binned, BinnedBlocks):
        return PairStumpsOnBlocks(sample.binned, sample.y, n_classes, sample.weight, lam, run)
    pairs = PairWeights(sample.y, n_classes, sample.weight, lam, run)
    if sample.binned is None:
        return PairsInMemory(pairs, ForeignLearner(estimator, sample, rng))
    return PairsInMemory(pairs, StumpLearner(sample.binned, run))
