"""AdaBoost.MR: boosting over examples × pairs of labels, so that right labels rank above wrong ones."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from outputcodes._ground.blocks import Run
from outputcodes._ground.choosing import TIE
from outputcodes._histograms.stumps import LEAST_ERROR
from outputcodes.boosting._rankers import ranker_of
from outputcodes.boosting.base import Booster
from outputcodes.boosting.round_by_round import Sample
from outputcodes.boosting.single_call import coefficient
from outputcodes.boosting.weak import Round
from outputcodes.decoders import Decoder
from outputcodes.losses import as_loss

Array = NDArray[np.float64]
Signs = NDArray[np.int8]


class AdaBoostMR(Booster):
    """AdaBoost.MR: rank each right label of a row above each wrong one.

    It minimises the rank loss, the share of triples (row, wrong label, right label) in the wrong order. The weight of a
    triple is a product of one factor per label, so a round costs no more than it does for pairs. The weak hypothesis
    returns ±1 for each label. It is a stump with a test shared by all labels, or an estimator trained on pairs: x,
    which must be numeric, followed by the one-hot encoded index of the label.

    It learns only differences of margins. In multilabel problems, only the ranking is meaningful. The threshold 0 in
    `predict` is a convention; `AdaBoostMH` learns the threshold.

    Parameters
    ----------
    n_rounds : int, default=500
        Maximum number of rounds. Training stops before a round that is no better than chance, and after one without
        error.
    decoder : str or Decoder, default="exponential"
        For single-label problems; with the one-vs-all code, most decoders choose the label with the largest margin.
    estimator : classifier, optional
        Any scikit-learn classifier whose `fit` supports sample_weight; it replaces the stumps.
    learning_rate, bins, categorical_features, n_iter_no_change, n_jobs, verbose :
        As in `AdaBoostMO`.
    validation_fraction : float, optional
        Hold out this share of each class, or of all rows in multilabel problems, and keep the rounds up to the
        smallest loss Σ exp((F_wrong - F_right)/2) on it.
    random_state : int, RandomState or None
        Seeds the held-out rows and the estimators.

    Attributes
    ----------
    classes_ : ndarray of shape (k,)
        The labels; 0..k-1 for an indicator matrix.
    multilabel_ : bool
        If True, `decision_function` ranks the labels, and `predict` returns those with a positive margin.
    code_matrix_ : ndarray of int8
        The one-vs-all code, with two columns for two classes; in multilabel problems the distinct label sets.
    n_rounds_, columns_, decoder_, feature_importances_ : as in `AdaBoostMO`
    history_ : dict of arrays
        For each round "coefficient", "Z" and the weights "better", "worse", "equal" of the triples that the hypothesis
        orders correctly, wrongly, or not at all. The product of all Z bounds the rank loss on the training rows.

    References
    ----------
    Schapire & Singer, "Improved boosting algorithms using confidence-rated predictions", Machine Learning 37 (1999),
    sections 8 and 9.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = AdaBoostMR(n_rounds=30).fit(X, y)
    >>> model.predict(X[[0, 60, 120]])
    array([0, 1, 2])
    """

    records: ClassVar[tuple[str, ...]] = ("better", "worse", "equal", "Z")

    takes_label_sets = True

    def __init__(
        self,
        n_rounds: int = 500,
        decoder: str | Decoder = "exponential",
        *,
        estimator: Any = None,
        learning_rate: float = 1.0,
        bins: int | Literal["exact"] = 128,
        categorical_features: ArrayLike | None = None,
        validation_fraction: float | None = None,
        n_iter_no_change: int = 10,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.n_rounds = n_rounds
        self.decoder = decoder
        self.estimator = estimator
        self.learning_rate = learning_rate
        self.bins = bins
        self.categorical_features = categorical_features
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _code(self, seed: int) -> Signs:
        return 2 * np.eye(len(self.classes_), dtype=np.int8) - 1

    def _boost(self, sample: Sample, run: Run, rng: np.random.Generator) -> Iterator[Round]:
        assert sample.code is not None
        if not (np.ptp(sample.code[np.unique(sample.y)], axis=1) > 0).any():
            return
        ranker = ranker_of(self.estimator, sample, run, rng)
        triples = ranker.triples
        while True:
            hypothesis, H = ranker.best()
            better, worse, equal = triples.weigh(H)
            if better - worse <= TIE:
                return
            rate = self._rate(coefficient((better - worse) / (better + worse)))
            Z = equal + better * np.exp(-rate) + worse * np.exp(rate)
            record = {"better": better, "worse": worse, "equal": equal, "Z": float(Z)}
            yield Round(hypothesis, rate, record=record)
            if better >= 1 - LEAST_ERROR:
                return
            triples.reweight(H, rate, Z)

    def _loss(self, F: Array, M: Signs, y: NDArray[np.intp], weight: Array) -> float:
        """Return the mean of exp((F_wrong - F_right)/2) over the triples of a row, then over the rows with triples."""
        Y = M[y]
        some = np.ptp(Y, axis=1) > 0
        Y, F = Y[some], F[some]
        parts = [np.mean(as_loss("exponential")(sign * F / 2), axis=1, where=Y == sign) for sign in (1, -1)]
        return float(weight[some] @ (parts[0] * parts[1]))
