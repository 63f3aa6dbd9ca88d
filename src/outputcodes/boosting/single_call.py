"""Single-call boosting: one weak hypothesis per round for all pairs (example, column) of a fixed code."""

from __future__ import annotations

from collections.abc import Iterator
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from outputcodes._ground.blocks import Run
from outputcodes._ground.choosing import TIE
from outputcodes._histograms.stumps import LEAST_ERROR
from outputcodes.boosting._compiled.stumps import ABSTAINING, CONFIDENT, DISCRETE
from outputcodes.boosting._stumps_on_blocks import column_weights
from outputcodes.boosting.base import Booster
from outputcodes.boosting.round_by_round import Sample
from outputcodes.boosting.weak import Foreign, Round, fit_foreign, stump_at
from outputcodes.learners.single_call import with_column
from outputcodes.losses import as_loss

Array = NDArray[np.float64]

KINDS = {"confidence": CONFIDENT, "discrete": DISCRETE, "abstaining": ABSTAINING}


class SingleCallBooster(Booster):
    """AdaBoost over the pairs (i, s) with M(y_i, s) ≠ 0, where M(y_i, s) is the label of a pair.

    A subclass implements `_code`, whose rows may be label sets instead of classes.
    """

    records: ClassVar[tuple[str, ...]] = ("error", "Z")

    hypotheses: str
    smoothing: float | None

    def _boost(self, sample: Sample, run: Run, rng: np.random.Generator) -> Iterator[Round]:
        return self._with_stumps(sample, run) if sample.binned is not None else self._with_foreign(sample, rng)

    def _with_stumps(self, sample: Sample, run: Run) -> Iterator[Round]:
        assert sample.binned is not None
        assert sample.code is not None
        kind = KINDS[self.hypotheses]
        weights = column_weights(sample.binned, sample.y, sample.code.astype(np.float64), sample.weight, kind, run)
        e = 1 / max(weights.total, float(weights.n_pairs)) if self.smoothing is None else float(self.smoothing)
        while True:
            test = weights.best()
            if test.worth >= (0.5 if kind == DISCRETE else 1.0) - TIE:
                return
            sides = weights.sides(test)
            positive, negative = sides[0:2, 0], sides[0:2, 1]
            if kind == CONFIDENT:
                answers = np.log((positive + e) / (negative + e)) / 2
            else:
                answers = np.where(negative > positive + TIE, -1.0, 1.0) * np.array(test.answering)[:, None]
            edge = float((np.sign(answers) * (positive - negative)).sum())
            answered = float((positive + negative)[answers != 0].sum())
            rate = self._rate(1.0 if kind == CONFIDENT else coefficient(edge / answered))
            factors = np.ones(sides.shape)
            factors[0:2, 0], factors[0:2, 1] = np.exp(-rate * answers), np.exp(rate * answers)
            Z = float((factors * sides).sum())
            stump = stump_at(sample.binned, test.feature, test.cut, *answers)
            yield Round(stump, rate, record={"error": (1 - edge) / 2, "Z": Z})
            if test.worth <= LEAST_ERROR:
                return
            weights.reweight(test, factors / Z)

    def _with_foreign(self, sample: Sample, rng: np.random.Generator) -> Iterator[Round]:
        assert sample.code is not None
        L = sample.code.shape[1]
        i, s = np.nonzero(sample.code[sample.y])
        sign, D = sample.code[sample.y[i], s], sample.weight[i]
        total = float(D.sum())
        D = D / total
        pairs = with_column(sample.X[i], s, L)
        while True:
            fitted = fit_foreign(self.estimator, pairs, sign > 0, D, total, rng)
            hypothesis = Foreign(fitted, self.hypotheses == "confidence", L)
            correct = sign * hypothesis.of_pairs(pairs)
            edge = float(D @ correct)
            if edge <= 2 * TIE:
                return
            rate, error = self._rate(coefficient(edge)), (1 - float(D @ np.sign(correct))) / 2
            D = D * np.exp(-rate * correct)
            Z = float(D.sum())
            yield Round(hypothesis, rate, record={"error": error, "Z": Z})
            if edge >= 1 - 2 * LEAST_ERROR:
                return
            D /= Z

    def _loss(self, F: Array, M: NDArray[np.int8], y: NDArray[np.intp], weight: Array) -> float:
        """Return the mean exponential loss of the pairs."""
        signs = M[y]
        losses = np.where(signs == 0, 0.0, as_loss("exponential")(signs * F))
        return float(np.average(losses.sum(axis=1), weights=weight))

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.hypotheses not in list(KINDS):
            raise ValueError(f"hypotheses={self.hypotheses!r} must be one of {', '.join(map(repr, KINDS))}.")
        if self.smoothing is not None and not (isinstance(self.smoothing, Real) and 0 < self.smoothing < np.inf):
            raise ValueError(f"smoothing={self.smoothing!r} must be a positive number, or None.")
        if self.estimator is not None and self.hypotheses == "abstaining":
            raise ValueError("hypotheses='abstaining' needs the built-in stumps; use 'confidence' or 'discrete'.")


def coefficient(edge: Any) -> float:
    """Return ½ ln((1 + r) / (1 - r)), where the share (1 - r)/2 of errors is at least 1e-10.

    >>> round(coefficient(0.6), 6)
    0.693147
    """
    wrong = max((1 - edge) / 2, LEAST_ERROR)
    return float(np.log((1 - wrong) / wrong) / 2)
