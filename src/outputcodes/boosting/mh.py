"""AdaBoost.MH: boosting over examples × labels, for one label a row or several."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from outputcodes.boosting.single_call import SingleCallBooster
from outputcodes.codes import OneVsAll
from outputcodes.decoders import Decoder


class AdaBoostMH(SingleCallBooster):
    """AdaBoost.MH: for each label, whether a row has it; one weak hypothesis a round for all labels.

    It minimises the Hamming loss, the share of pairs (row, label) answered wrongly. With a vector y, one label a row,
    it is `AdaBoostMO` with the one-vs-all code. With an indicator matrix y, dense or sparse, `predict` answers
    indicators: a label is given where its margin is positive. Weak hypotheses as in `AdaBoostMO`.

    Parameters
    ----------
    n_rounds : int, default=500
        Rounds, at most.
    hypotheses : {"confidence", "discrete", "abstaining"}, default="confidence"
        What a stump answers, as in `AdaBoostMO`.
    decoder : str or Decoder, default="exponential"
        For one label a row; with the one-vs-all code most decoders choose the label of the largest margin.
    estimator : classifier, optional
        A weak learner in place of the stumps, as in `AdaBoostMO`.
    learning_rate : float, default=1.0
        What each round is multiplied by; above 0 and below 2.
    bins : int or "exact", default=128
        Stumps try every threshold of features with at most so many distinct values; others are cut at quantiles.
        "exact" tries all.
    categorical_features : list of int or mask of bool, optional
        Features to be asked for equality.
    smoothing : float, optional
        The e of confidence-rated stumps, as a share of all weight. None is one over the number of pairs, or over the
        sum of their weights if that is larger: a weight of 2 is an example given twice.
    validation_fraction : float, optional
        Hold out so much of each class, or of all rows where they have several labels, and keep the rounds up to the
        smallest exponential loss there.
    n_iter_no_change : int, default=10
        With `validation_fraction`, stop so many rounds after the smallest loss.
    n_jobs : int, optional
        Threads; the answer is the same to the last bit for any number.
    random_state : int, RandomState or None
        Seeds the held-out rows and the estimators.

    Attributes
    ----------
    classes_ : ndarray of shape (k,)
        The labels; 0..k-1 for an indicator matrix.
    multilabel_ : bool
    code_matrix_ : ndarray of int8
        The one-vs-all code; with several labels a row the different label sets of the sample, a row each.
    n_rounds_, history_, columns_, decoder_ : as in `AdaBoostMO`
        The product of history_["Z"] is at least the Hamming loss on the training rows.

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

    def _code(self, seed: int) -> NDArray[np.int8]:
        return OneVsAll().draw(len(self.classes_)).matrix()
