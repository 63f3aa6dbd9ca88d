"""AdaBoost.MO: boosting over examples × columns of any output code."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from outputcodes.boosting.single_call import SingleCallBooster
from outputcodes.codes import check_code, code_for
from outputcodes.decoders import Decoder


class AdaBoostMO(SingleCallBooster):
    """AdaBoost.MO: boost all columns of a code together, with one weak hypothesis per round.

    AdaBoost runs once, on the pairs (example, column) with labels M(y, column); pairs whose entry is 0 are absent.
    The built-in weak hypothesis is a stump whose test x_f <= threshold (x_f == threshold for categorical features) is
    shared by all columns, with one value per column on either side. Thresholds lie halfway between consecutive values;
    -inf makes a stump constant. If x_f is missing (NaN), the stump returns 0. Ties up to 1e-9 are broken by feature,
    then by threshold.

    Parameters
    ----------
    code : str, Code, array of shape (k, L) or mapping, default="one-vs-all"
        As in `OutputCodeClassifier`, except codes learned from data. A column with one sign on the sample returns it.
    n_rounds : int, default=500
        Maximum number of rounds.
    hypotheses : {"confidence", "discrete", "abstaining"}, default="confidence"
        The predictions of a stump. "confidence": ½ ln((W₊+e)/(W₋+e)) per column and side, where W₊ and W₋ are the
        weights of the two signs there (e: see `smoothing`). "discrete": ±1, the sign with the larger weight, times the
        α = ½ ln(W_correct/W_wrong) of the round. "abstaining": the same, but the stump may return 0 on one side.
        Training stops before a round that is no better than chance, and after one without error.
    decoder : str or Decoder, default="exponential"
        "exponential" uses the loss that boosting minimises, "hamming" only signs; or any other decoder of
        `outputcodes.decoders`.
    estimator : classifier, optional
        Any scikit-learn classifier whose `fit` supports sample_weight; it replaces the stumps. It is trained on pairs:
        x, which must be numeric, followed by the one-hot encoded column index. Its prediction is ±1, or 2p - 1 if it
        has `predict_proba` and hypotheses="confidence".
    learning_rate : float, default=1.0
        Factor of each round; above 0 and below 2.
    bins : int or "exact", default=128
        Stumps try every threshold of features with at most this number of distinct values; other features are cut at
        quantiles. "exact" tries all thresholds.
    categorical_features : list of int or mask of bool, optional
        Features that are tested for equality.
    smoothing : float, optional
        The e of confidence-rated stumps, as a share of all weight. None means one over the number of pairs, or over
        the sum of their weights if that is larger, so that a weight of 2 equals two copies of an example.
    validation_fraction : float, optional
        Hold out this share of each class, and keep the rounds up to the smallest exponential loss on it.
    n_iter_no_change : int, default=10
        With `validation_fraction`, the number of rounds after the smallest loss until training stops.
    n_jobs : int, optional
        Number of threads; the result is identical for any number.
    random_state : int, RandomState or None
        Seeds the code, the held-out rows and the estimators.
    verbose : int, default=0
        1 shows the rounds and the time left, as `OutputCodeClassifier(verbose=1)` does.

    Attributes
    ----------
    classes_ : ndarray of shape (k,)
    code_matrix_ : ndarray of int8, shape (k, L)
    n_rounds_ : int
        Number of rounds kept.
    history_ : dict of arrays
        For each round "coefficient"; "error", the weight of the wrong pairs, where a prediction of 0 is half a
        mistake; "Z", the normaliser. The product of all Z is the mean exponential loss of the training pairs.
    feature_importances_ : ndarray of shape (d,)
        The share of each feature in the changes of the margins by the stumps, with sum 1; of an `estimator` its own
        importances, weighted by the coefficients.
    columns_ : the kept rounds; for stumps arrays `feature`, `threshold`, `left`, `right` of shape (n_rounds_, L)
        If some columns of the code have only one sign, these arrays are in its `fitted` and describe the others.
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
        verbose: int = 0,
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
        self.verbose = verbose

    def _code(self, seed: int) -> NDArray[np.int8]:
        _, code = code_for(self.code, self.classes_, self.targets_.order)
        if code.needs_problem:
            raise ValueError(
                f"code={self.code!r} is learned from data and needs OutputCodeClassifier; pass its code_matrix_ to "
                "AdaBoostMO."
            )
        return check_code(code.draw(len(self.classes_), random_state=seed))

    def _classes(self, present: NDArray[Any]) -> NDArray[Any]:
        return code_for(self.code, present)[0]
