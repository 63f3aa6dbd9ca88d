"""AdaBoost.MO: boosting over examples × columns of any output code."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from outputcodes.boosting.single_call import SingleCallBooster
from outputcodes.codes import check_code, code_for
from outputcodes.decoders import Decoder


class AdaBoostMO(SingleCallBooster):
    """AdaBoost.MO: all columns of a code boosted together, one weak hypothesis a round.

    AdaBoost runs once, on the pairs (example, column) with labels M(y, column); pairs whose entry is 0 are absent.
    The built-in weak hypothesis is a stump whose test x_f <= threshold (x_f == threshold for categorical features) is
    shared by all columns, with an answer for each column on either side. Thresholds lie halfway between consecutive
    values; -inf makes a stump constant. Where x_f is missing (NaN) it answers 0. Tests that are equally good up to
    1e-10 are ordered by feature, then threshold.

    Parameters
    ----------
    code : str, Code, array of shape (k, L) or mapping, default="one-vs-all"
        As in `OutputCodeClassifier`, but none that is made from data. A column of one sign on the sample answers that.
    n_rounds : int, default=500
        Rounds, at most.
    hypotheses : {"confidence", "discrete", "abstaining"}, default="confidence"
        What a stump answers. "confidence": ½ ln((W₊+e)/(W₋+e)) for each column and side, of the weights of either sign
        there (e: see `smoothing`). "discrete": ±1, the heavier sign, times the round's
        α = ½ ln(W_correct/W_wrong). "abstaining": the same, and the stump may answer 0 on one of its sides.
        It stops before a round that is no better than chance, and after one without error.
    decoder : str or Decoder, default="exponential"
        "exponential" decodes by the loss that boosting minimises; "hamming" by signs; any other of
        `outputcodes.decoders`.
    estimator : classifier, optional
        Any scikit-learn classifier whose `fit` takes sample_weight, in place of the stumps. It is trained on pairs: x,
        which must be numbers, followed by the column's index, one-hot. Its answer is ±1, or with
        hypotheses="confidence" 2p - 1 where it has `predict_proba`.
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
        Hold out so much of each class, and keep the rounds up to the smallest exponential loss on it.
    n_iter_no_change : int, default=10
        With `validation_fraction`, stop so many rounds after the smallest loss.
    n_jobs : int, optional
        Threads; the answer is the same to the last bit for any number.
    random_state : int, RandomState or None
        Seeds the code, the held-out rows and the estimators.

    Attributes
    ----------
    classes_ : ndarray of shape (k,)
    code_matrix_ : ndarray of int8, shape (k, L)
    n_rounds_ : int
        Rounds kept.
    history_ : dict of arrays
        For each round "coefficient"; "error", the weight of the pairs answered wrongly, an answer 0 being half a
        mistake; "Z", the normaliser. The product of all Z is the mean exponential loss of the training pairs.
    columns_ : the kept rounds; for stumps arrays `feature`, `threshold`, `left`, `right` of shape (n_rounds_, L)
        Where columns of the code have one sign only, they are in its `fitted`, for the others.
    decoder_ : the decoder in use

    References
    ----------
    Allwein, Schapire & Singer, "Reducing multiclass to binary", JMLR 1 (2000), section 5.
    Schapire & Singer, "Improved boosting algorithms using confidence-rated predictions", Machine Learning 37 (1999).

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = AdaBoostMO("all-pairs", n_rounds=20).fit(X, y)
    >>> model.predict(X[[0, 60, 120]])
    array([0, 1, 2])
    >>> float(model.with_decoder("hamming").score(X, y))
    1.0
    """

    def __init__(
        self,
        code: Any = "one-vs-all",
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
        self.code = code
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
        _, code = code_for(self.code, self.classes_)
        if code.needs_problem:
            raise ValueError(
                f"code={self.code!r} is made from data and needs OutputCodeClassifier; the code_matrix_ that it finds "
                "can be given to AdaBoostMO."
            )
        return check_code(code.draw(len(self.classes_), random_state=seed))

    def _live(self, M: NDArray[np.int8], y: NDArray[np.intp]) -> NDArray[np.bool_] | None:
        present = M[np.unique(y)]
        live = (present > 0).any(axis=0) & (present < 0).any(axis=0)
        if not live.any():
            raise ValueError("No column of the code has both signs on this sample: there is nothing to boost.")
        return None if live.all() else np.asarray(live)

    def _classes(self, present: NDArray[Any]) -> NDArray[Any]:
        return code_for(self.code, present)[0]
