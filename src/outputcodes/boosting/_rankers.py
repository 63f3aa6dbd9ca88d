"""Weak hypotheses of AdaBoost.MR, with the triples that they rank: stumps in memory and on blocks, and estimators."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from outputcodes._ground.blocks import Run
from outputcodes._ground.choosing import TIE
from outputcodes._ground.lanes import aligned_zeros
from outputcodes._histograms.binned_blocks import BinnedBlocks
from outputcodes._histograms.binning import Binned
from outputcodes.boosting._compiled.stumps import RANKING
from outputcodes.boosting._shared_stumps import ColumnWeights, lane_blocks, question_of, without_blocks
from outputcodes.boosting._triples import TripleWeights
from outputcodes.boosting._triples_on_blocks import Ranking, TripleWeightsOnBlocks
from outputcodes.boosting.round_by_round import Sample
from outputcodes.boosting.weak import Foreign, Hypothesis, Stump, fit_foreign, stump_at
from outputcodes.learners.single_call import with_column

Array = NDArray[np.float64]
Signs = NDArray[np.int8]


class Ranker(Protocol):
    """What provides the hypothesis of a round, and its predictions in the form that `triples` takes."""

    triples: Any

    def best(self) -> tuple[Hypothesis, Any]:
        """Return the hypothesis and its answers."""
        ...


class StumpRanker:
    """The stump with the largest weight of triples in the right order minus the wrong one; rows sorted by label set."""

    def __init__(self, binned: Binned, sample: Sample, run: Run) -> None:
        assert sample.code is not None
        self.binned, M = binned, sample.code
        self.weights = ColumnWeights(binned, sample.y, M.astype(np.float64), sample.weight, RANKING, run)
        order = self.weights.order
        arrays = M[sample.y[order]], sample.weight[order], self.weights.V
        self.triples = TripleWeights(*arrays, self.weights.pieces(), run)

    def best(self) -> tuple[Stump, Signs]:
        """Return the stump and its answers (n, k)."""
        test = self.weights.best()
        answers = _answers(self.weights.signed_sides(test))
        H = answers[self.weights.side_of_rows(test)]
        return stump_at(self.binned, test.feature, test.cut, *answers[:2].astype(np.float64)), H


class StumpRankerOnBlocks:
    """`StumpRanker` of rows in blocks."""

    def __init__(self, binned: BinnedBlocks, sample: Sample, run: Run) -> None:
        assert sample.code is not None
        self.triples = TripleWeightsOnBlocks(binned, sample.y, sample.code, sample.weight, run)

    def best(self) -> tuple[Stump, Ranking]:
        """Return the stump, also as it travels."""
        test, binned = self.triples.best(), self.triples.binned
        answers = _answers(self.triples.signed_sides(test))
        stump = stump_at(binned, test.feature, test.cut, *answers[:2].astype(np.float64))
        return stump, (question_of(binned, test), answers)


class EstimatorRanker:
    """An estimator trained on pairs (x, label) to predict whether the label is right."""

    def __init__(self, estimator: Any, sample: Sample, run: Run, rng: np.random.Generator) -> None:
        assert sample.code is not None
        Y = sample.code[sample.y]
        self.estimator, self.weight, self.rng, self.shape = estimator, sample.weight, rng, Y.shape
        rows, labels = (place.ravel() for place in np.indices(Y.shape))
        self.pairs, self.right = with_column(sample.X[rows], labels, Y.shape[1]), (Y > 0).ravel()
        self.triples = TripleWeights(Y, sample.weight, aligned_zeros(*lane_blocks(*Y.shape)), [(0, len(Y))], run)

    def best(self) -> tuple[Foreign, Signs]:
        """Return a fitted clone and its answers (n, k)."""
        weight = np.abs(without_blocks(self.triples.V, self.shape[1])).ravel()
        total = float(self.weight.sum()) * self.shape[1]
        fitted = fit_foreign(self.estimator, self.pairs, self.right, weight, total, self.rng)
        hypothesis = Foreign(fitted, n_columns=self.shape[1])
        return hypothesis, hypothesis.of_pairs(self.pairs).reshape(self.shape).astype(np.int8)


def ranker_of(estimator: Any, sample: Sample, run: Run, rng: np.random.Generator) -> Ranker:
    """Return the ranker of a sample: stumps on its bins, in memory or in blocks, or the estimator."""
    if sample.binned is None:
        return EstimatorRanker(estimator, sample, run, rng)
    if isinstance(sample.binned, BinnedBlocks):
        return StumpRankerOnBlocks(sample.binned, sample, run)
    return StumpRanker(sample.binned, sample, run)


def _answers(signed: Array) -> Signs:
    """Return the answers (3, k) on the left, on the right, and where the value is missing."""
    return np.vstack([np.where(signed < -TIE, -1, 1), np.zeros_like(signed[:1])]).astype(np.int8)
