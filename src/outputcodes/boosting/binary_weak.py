"""Binary weak learners: from the signed weights of a round to a hypothesis and its predictions on the sample."""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from outputcodes._ground.blocks import Run, sum_in_order
from outputcodes._ground.choosing import TIE
from outputcodes._histograms import stumps
from outputcodes._histograms.binned_blocks import BinnedBlocks
from outputcodes._histograms.binning import Binned
from outputcodes._histograms.stumps import MANY_BINS
from outputcodes.boosting._compiled.binary_stump import answer, first_cut, largest_edges, sum_bins
from outputcodes.boosting.round_by_round import Sample
from outputcodes.boosting.weak import Foreign, Hypothesis, Stump, fit_foreign, stump_at

Array = NDArray[np.float64]
Signs = NDArray[np.int8]
# A stump as kernels take it: feature, number of its bins, whether it is categorical, cut, answer on the left.
BinaryStump = tuple[int, int, bool, int, int]

# Histograms of a block of features fit into the processor cache: 256 KiB. Smaller blocks read the rows more often.
HISTOGRAM_VALUES = 1 << 15


class Found(NamedTuple):
    """A weak hypothesis, its predictions -1, 0 or +1 on the sample, and the weights of correct and of wrong ones."""

    hypothesis: Hypothesis
    answers: Signs
    right: float
    wrong: float


class Coloured(NamedTuple):
    """A hypothesis for a colouring.

    `share` of the weight is in the pairs that the colouring separates; of this, so much is of right predictions, and so
    much of wrong ones.
    """

    hypothesis: Hypothesis
    share: float
    right: float
    wrong: float


class BinaryLearner(Protocol):
    """A learner that provides the hypothesis of a round."""

    def fit(self, V: Array, total: float) -> Found | None:
        """Return the hypothesis for signs times weights (n,), which sum to `total`, or None if none has an edge."""
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
        widest, d, n = int(binned.n_bins.max()) + 1, len(binned.n_bins), len(binned.codes)
        step = max(1, HISTOGRAM_VALUES // widest)
        self._blocks = [(first, min(first + step, d)) for first in range(0, d, step)]
        rows = stumps.BLOCK_ROWS
        self._pieces = [(first, min(first + rows, n)) for first in range(0, n, rows)]
        # Rows in blocks don't have so many bins; most would be empty in a piece.
        self._step = rows if widest - 1 <= MANY_BINS else n

    def fit(self, V: Array, total: float) -> Found | None:
        """Return the best stump, in one pass over the binned features, or None if none has an edge."""
        codes = self.binned.codes

        def histogram(f: int) -> Array:
            sums: Array = sum_bins(codes, V, self._step, f, f + 1, int(self.binned.n_bins[f]) + 1)
            return sums

        best = best_stump(self.binned, self.edges(V), total, histogram)
        if best is None:
            return None
        stump, asked = best
        h = np.empty(len(V), dtype=np.int8)
        weights = sum_in_order(answer(codes, V, *piece, *asked, h) for piece in self._pieces)
        right, wrong = (weights / total).tolist()
        return Found(stump, h, right, wrong)

    def edges(self, V: Array) -> Array:
        """Return the largest edge of a stump on each feature (d,), for signed weights V."""
        data = self.binned
        edges = np.empty(len(data.n_bins))
        arrays = data.codes, V, self._step, data.n_bins, data.categorical
        self.run(lambda block: largest_edges(*arrays, *block, edges), self._blocks)
        return edges


class ForeignLearner:
    """A scikit-learn classifier with sample weights, of which each round trains a clone with its own seed."""

    def __init__(self, estimator: Any, sample: Sample, rng: np.random.Generator) -> None:
        self.estimator, self.X, self.rng = estimator, sample.X, rng
        self.total = float(sample.weight.sum())

    def fit(self, V: Array, total: float) -> Found:
        """Train a clone."""
        weight = np.abs(V) / total
        hypothesis = Foreign(fit_foreign(self.estimator, self.X, V > 0, weight, self.total, self.rng))
        h = hypothesis.answers(self.X).astype(np.int8)
        agreement = V * h
        return Found(hypothesis, h, float(weight[agreement > 0].sum()), float(weight[agreement < 0].sum()))


def best_stump(
    binned: Binned | BinnedBlocks, edges: Array, total: float, histogram: Any
) -> tuple[Stump, BinaryStump] | None:
    """Return the first stump with the largest edge, given that of each feature and histogram(f) of the chosen one.

    None if the largest edge is no more than rounding.
    """
    enough = edges.max() - 2 * TIE * total  # an error is ½ − edge/2
    if enough <= 0:
        return None
    f = int((edges >= enough).argmax())
    bins, categorical = int(binned.n_bins[f]), bool(binned.categorical[f])
    cut, polarity = first_cut(histogram(f), bins, categorical, enough)
    return stump_at(binned, f, cut, polarity, -polarity), (f, bins, categorical, cut, polarity)
