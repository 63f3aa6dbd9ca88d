"""AdaBoost.OC: a new random column each round, weights over pairs (example, wrong class)."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from numpy.typing import ArrayLike

from outputcodes._histograms.stumps import LEAST_ERROR
from outputcodes.boosting._colouring_booster import ColouringBooster
from outputcodes.decoders import Decoder


class AdaBoostOC(ColouringBooster):
    """AdaBoost with output codes.

    Each round colours the classes ±1 at random, f, and fits a binary hypothesis h to the colours, each example weighed
    by the pairs (example, wrong class) that the colouring separates. Pairs that h confuses then weigh more. The scores
    are Σ_t α_t f_t(r) h_t(x).

    Parameters
    ----------
    n_rounds : int, default=50
        Rounds, at most. One in which 100 colourings give no hypothesis that is better than chance is left out.
    variant : {"binary", "pseudo"}, default="binary"
        The coefficient. "binary": α = ½ ln((1 − e)/e), e the weighted error of h; Jin & Zhang. "pseudo": the same
        of the pseudo-loss ½ − U(½ − e), U the weight of the pairs that the colouring separates; Schapire. Errors
        below 1e-10 are taken to be that.
    estimator : classifier, optional
        The weak learner: any scikit-learn classifier whose `fit` takes `sample_weight`, or a pipeline of one; X is what
        it takes. None is the built-in stump.
    decoder : str or Decoder, default="linear"
        How margins become scores; see `OutputCodeClassifier`.
    learning_rate : float, default=1.0
        Shrinks the coefficients; above 0 and below 2.
    bins : "exact" or int, default="exact"
        Thresholds of the stumps: all, or those between so many quantiles (2 to 256) of each feature.
    categorical_features : list of int or mask of bool, optional
        Features that stumps ask for equality.
    validation_fraction : float, optional
        Hold out so much of each class, and keep the rounds up to the smallest held-out sum of the pairs' weights.
        None trains on everything.
    n_iter_no_change : int, default=10
        With `validation_fraction`, stop so many rounds after the smallest.
    n_jobs : int, optional
        Threads; the answer is the same for any number.
    random_state : int, RandomState or None
        Seeds colourings, held-out rows and the estimator of each round.

    Attributes
    ----------
    classes_ : ndarray of shape (k,)
    code_matrix_ : ndarray of int8, shape (k, T)
        The colourings of the rounds that were kept.
    n_rounds_ : int
        T.
    history_ : dict of arrays (T,)
        "coefficient" α_t; "error" e_t and "separated" U_t: what `outputcodes.bounds.oc_error_bound` asks for. Where a
        stump abstains from missing values, U_t leaves these out and e_t is the error on the rest.
    columns_ : the hypotheses; `margins(X)` is (n, T), α_t h_t(x)
    decoder_ : the decoder in use

    References
    ----------
    Schapire, "Using output codes to boost multiclass learning problems", ICML (1997).
    Jin & Zhang, "A smoothed boosting algorithm using probabilistic output codes", ICML (2005), figure 1.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = AdaBoostOC(n_rounds=20, random_state=0).fit(X, y)
    >>> model.predict(X[[0, 60, 120]])
    array([0, 1, 2])
    >>> model.code_matrix_.shape
    (3, 20)
    """

    _unit: ClassVar[float] = 2.0

    def __init__(
        self,
        n_rounds: int = 50,
        variant: Literal["binary", "pseudo"] = "binary",
        *,
        estimator: Any = None,
        decoder: str | Decoder = "linear",
        learning_rate: float = 1.0,
        bins: int | Literal["exact"] = "exact",
        categorical_features: ArrayLike | None = None,
        validation_fraction: float | None = None,
        n_iter_no_change: int = 10,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.n_rounds = n_rounds
        self.variant = variant
        self.estimator = estimator
        self.decoder = decoder
        self.learning_rate = learning_rate
        self.bins = bins
        self.categorical_features = categorical_features
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _coefficient(self, error: float, separated: float) -> float:
        if self.variant == "pseudo":
            error = max(0.5 - separated * (0.5 - error), LEAST_ERROR)
        return super()._coefficient(error, separated)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.variant not in ("binary", "pseudo"):
            raise ValueError(f"variant={self.variant!r} must be 'binary' or 'pseudo'.")
