"""Binary weak learners: from the signs and weights of a round to a hypothesis and its predictions on the sample."""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from outputcodes._ground.blocks import Run
from outputcodes._ground.choosing import TIE
from outputcodes._histograms.binning import Binned
from outputcodes.boosting._compiled_binary_stump import answer, first_cut, largest_edges
from outputcodes.boosting.round_by_round import Sample
from outputcodes.boosting.weak import Foreign, Hypothesis, fit_foreign, stump_at

Array = NDArray[np.float64]
Signs = NDArray[np.int8]

# Histograms of a block of features fit into the processor cache: 256 KiB. Smaller blocks read the rows more often.
HISTOGRAM_VALUES = 1 << 15


class Found(NamedTuple):
    """A weak hypothesis, its predictions -1, 0 or +1 on the sample, and the weights of correct and of wrong ones."""

    hypothesis: Hypothesis
    answers: Signs
    right: float
    wrong: float


class BinaryLearner(Protocol):
    """A learner that provides the hypothesis of a round."""

    def fit(self, signs: Signs, weight: Array) -> Found:
        """Return the hypothesis for signs (n,) and weights (n,) that sum to 1."""
        ...


class StumpLearner:
    """The stump of smallest weighted error.

    Ties up to 1e-9 are broken by feature, then by threshold, then in favour of +1 on the left. If the feature is
    missing, a stump abstains, which counts as half a mistake.

    Parameters
    ----------
    binned : Binned
    run : Run
        Threads over blocks of features.
    """

    def __init__(self, binned: Binned, run: Run) -> None:
        self.binned, self.run = binned, run
        step = max(1, HISTOGRAM_VALUES // (int(binned.n_bins.max()) + 1))
        d = len(binned.n_bins)
        self._blocks = [(first, min(first + step, d)) for first in range(0, d, step)]

    def fit(self, signs: Signs, weight: Array) -> Found:
        """Return the best stump, in one pass over the binned features."""
        data, V = self.binned, signs * weight
        edges = self.edges(V)
        enough = edges.max() - 2 * TIE  # an error is ½ − edge/2
        f = int((edges >= enough).argmax())
        feature = (data.codes, V, f, data.n_bins[f], data.categorical[f])
        cut, polarity = first_cut(*feature, enough)
        h = np.empty(len(V), dtype=np.int8)
        right, wrong = answer(*feature, cut, polarity, h)
        return Found(stump_at(data, f, cut, polarity, -polarity), h, right, wrong)

    def edges(self, V: Array) -> Array:
        """Return the largest edge of a stump on each feature (d,), for signed weights V."""
        data = self.binned
        edges = np.empty(len(data.n_bins))
        self.run(lambda block: largest_edges(data.codes, V, data.n_bins, data.categorical, *block, edges), self._blocks)
        return edges


class ForeignLearner:
    """A scikit-learn classifier with sample weights, of which each round trains a clone with its own seed."""

    def __init__(self, estimator: Any, sample: Sample, rng: np.random.Generator) -> None:
        self.estimator, self.X, self.rng = estimator, sample.X, rng
        self.total = float(sample.weight.sum())

    def fit(self, signs: Signs, weight: Array) -> Found:
        """Train a clone."""
        hypothesis = Foreign(fit_foreign(self.estimator, self.X, signs > 0, weight, self.total, self.rng))
        h = hypothesis.answers(self.X).astype(np.int8)
        return Found(hypothesis, h, float(weight[h == signs].sum()), float(weight[h != signs].sum()))


def binary_learner(estimator: Any, sample: Sample, run: Run, rng: np.random.Generator) -> BinaryLearner:
    """Return the learner for a sample: stumps on its bins, or the estimator."""
    if sample.binned is not None:
        assert isinstance(sample.binned, Binned)  # blocks were joined
        return StumpLearner(sample.binned, run)
    return ForeignLearner(estimator, sample, rng)
