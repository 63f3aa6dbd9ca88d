"""AdaBoost.OC: a new random column in each round, with weights over pairs (example, wrong class)."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from numpy.typing import ArrayLike

from outputcodes._histograms.stumps import LEAST_ERROR
from outputcodes.boosting._colouring_booster import ColouringBooster
from outputcodes.decoders import Decoder


class AdaBoostOC(ColouringBooster):
    """AdaBoost with output codes.

    Each round draws a random colouring f of the classes with ±1 and fits a binary hypothesis h to the colours. The
    weight of an example comes from the pairs (example, wrong class) that the colouring separates. Pairs that h confuses
    then get more weight. The scores are Σ_t α_t f_t(r) h_t(x).

    Parameters
    ----------
    n_rounds : int, default=50
        Maximum number of rounds. A round is skipped if 100 colourings give no hypothesis better than chance.
    variant : {"binary", "pseudo"}, default="binary"
        The coefficient. "binary": α = ½ ln((1 − e)/e), with e the weighted error of h (Jin & Zhang). "pseudo": the same
        formula for the pseudo-loss ½ − U(½ − e), with U the weight of the pairs that the colouring separates
        (Schapire). Errors are at least 1e-10.
    estimator : classifier, optional
        The weak learner: any scikit-learn classifier whose `fit` supports `sample_weight`, or a pipeline with one. X
        can be any input it supports. None means the built-in stump.
    decoder : str or Decoder, default="linear"
        How margins become scores; see `OutputCodeClassifier`.
    learning_rate : float, default=1.0
        Factor of the coefficients; above 0 and below 2.
    bins : "exact" or int, default="exact"
        Thresholds of the stumps: all, or those between this number of quantiles (2 to 256) of each feature. Set a
        number for blocks of rows with many different values.
    categorical_features : list of int or mask of bool, optional
        Features that are tested for equality.
    validation_fraction : float, optional
        Hold out this share of each class, and keep the rounds up to the smallest held-out sum of the pair weights.
        None trains on all rows.
    n_iter_no_change : int, default=10
        With `validation_fraction`, the number of rounds after the minimum until training stops.
    n_jobs : int, optional
        Number of threads; the result is the same for any number.
    random_state : int, RandomState or None
        Seeds colourings, held-out rows and the estimator of each round.
    verbose : int, default=0
        1 shows the rounds and the time left, as `OutputCodeClassifier(verbose=1)` does.

    Attributes
    ----------
    classes_ : ndarray of shape (k,)
    code_matrix_ : ndarray of int8, shape (k, T)
        The colourings of the rounds that were kept.
    n_rounds_ : int
        T.
    history_ : dict of arrays (T,)
        "coefficient" α_t; "error" e_t and "separated" U_t, as needed by `outputcodes.bounds.oc_error_bound`. If a stump
        abstains on missing values, U_t leaves these out and e_t is the error on the rest.
    feature_importances_ : ndarray of shape (d,)
        The share of each feature in the changes of the margins by the stumps, with sum 1; of an `estimator` its own
        importances, weighted by the coefficients.
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
        verbose: int = 0,
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
        self.verbose = verbose

    def _coefficient(self, error: float, separated: float) -> float:
        if self.variant == "pseudo":
            error = max(0.5 - separated * (0.5 - error), LEAST_ERROR)
        return super()._coefficient(error, separated)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.variant not in ("binary", "pseudo"):
            raise ValueError(f"variant={self.variant!r} must be 'binary' or 'pseudo'.")
