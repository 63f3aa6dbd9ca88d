"""AdaBoost.MH: boosting over examples × labels, for single-label and multilabel problems."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from outputcodes.boosting.single_call import SingleCallBooster
from outputcodes.codes import OneVsAll
from outputcodes.decoders import Decoder


class AdaBoostMH(SingleCallBooster):
    """AdaBoost.MH: predict for each label whether a row has it, with one weak hypothesis per round for all labels.

    It minimises the Hamming loss, the share of wrong pairs (row, label). If y is a vector with one label per row, it is
    `AdaBoostMO` with the one-vs-all code. If y is an indicator matrix, dense or sparse, `predict` returns an indicator
    matrix of the labels with a positive margin. Weak hypotheses are those of `AdaBoostMO`.

    Parameters
    ----------
    n_rounds : int, default=500
        Maximum number of rounds.
    hypotheses : {"confidence", "discrete", "abstaining"}, default="confidence"
        The predictions of a stump, as in `AdaBoostMO`.
    decoder : str or Decoder, default="exponential"
        For single-label problems; with the one-vs-all code, most decoders choose the label with the largest margin.
    estimator : classifier, optional
        A weak learner that replaces the stumps, as in `AdaBoostMO`.
    learning_rate, bins, categorical_features, smoothing, n_iter_no_change, n_jobs, verbose :
        As in `AdaBoostMO`.
    validation_fraction : float, optional
        Hold out this share of each class, or of all rows in multilabel problems, and keep the rounds up to the
        smallest exponential loss on it.
    random_state : int, RandomState or None
        Seeds the held-out rows and the estimators.

    Attributes
    ----------
    classes_ : ndarray of shape (k,)
        The labels; 0..k-1 for an indicator matrix.
    multilabel_ : bool
    code_matrix_ : ndarray of int8
        The one-vs-all code; in multilabel problems the distinct label sets of the sample, one per row.
    n_rounds_, history_, columns_, decoder_, feature_importances_ : as in `AdaBoostMO`
        The product of history_["Z"] bounds the Hamming loss on the training rows.

    References
    ----------
    Schapire & Singer, "Improved boosting algorithms using confidence-rated predictions", Machine Learning 37 (1999).

    Examples
    --------
    >>> from sklearn.datasets import make_multilabel_classification
    >>> X, Y = make_multilabel_classification(n_samples=200, n_classes=3, random_state=0)
    >>> model = AdaBoostMH(n_rounds=30).fit(X[:150], Y[:150])
    >>> model.predict(X[150:153])
    array([[0, 0, 1],
           [1, 1, 1],
           [1, 1, 1]])
    >>> from sklearn.metrics import hamming_loss
    >>> round(hamming_loss(Y[150:], model.predict(X[150:])), 3)
    0.24
    """

    takes_label_sets = True

    def __init__(
        self,
        n_rounds: int = 500,
        hypotheses: Literal["confidence", "discrete", "abstaining"] = "confidence",
        decoder: str | Decoder = "exponential",
        *,
        estimator: Any = None,
        learning_rate: float = 1.0,
        bins: int | Literal["exact"] = 128,
        categorical_features: ArrayLike | None = None,
        smoothing: float | None = None,
        validation_fraction: float | None = None,
        n_iter_no_change: int = 10,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.n_rounds = n_rounds
        self.hypotheses = hypotheses
        self.decoder = decoder
        self.estimator = estimator
        self.learning_rate = learning_rate
        self.bins = bins
        self.categorical_features = categorical_features
        self.smoothing = smoothing
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _code(self, seed: int) -> NDArray[np.int8]:
        return OneVsAll().draw(len(self.classes_)).matrix()
