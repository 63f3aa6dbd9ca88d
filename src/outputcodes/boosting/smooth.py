"""SmoothBoost: AdaBoost.OC with bounded weights of examples, and columns chosen with an eye on the weights."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import replace
from numbers import Real
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from outputcodes._ground.blocks import Run
from outputcodes._ground.choosing import first_largest, first_smallest
from outputcodes._ground.validation import take_rows, unknown_name
from outputcodes._histograms.binning import bin_features
from outputcodes.boosting._colouring_booster import ColouringBooster
from outputcodes.boosting._pairs import PairWeights
from outputcodes.boosting.base import Sample
from outputcodes.boosting.colourings import (
    CODINGS,
    Coding,
    Colouring,
    deterministic_colouring,
    probabilistic_colouring,
)
from outputcodes.boosting.weak import Round
from outputcodes.decoders import Decoder
from outputcodes.learners.trees.stumps import hold_out

# What `gamma=None` tries on `VALIDATION_SHARE` of the sample: φ is scaled to max|φ| = 1, so that 16 is all but certain.
GAMMAS = (0.0, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0)
VALIDATION_SHARE = 0.2
# A larger λ or γ is a mistake: both have long reached their limits.
LARGEST = 1e6


class SmoothBoost(ColouringBooster):
    """Smoothed boosting with probabilistic output codes.

    As `AdaBoostOC`, but an example's weight is bounded: with scores S(r) = Σ_t a_t f_t(r) h_t(x_i), the pair of
    example i and a wrong class r weighs μ(y_i) μ(r), μ(r) = e^S(r)/(e^S(y_i) + λ Σ_{r' ≠ y_i} e^S(r')). Mislabelled
    examples then can't draw all attention. λ = 0 is `AdaBoostOC(variant="binary")`.

    Parameters
    ----------
    n_rounds : int, default=50
        Rounds, at most. One in which 100 colourings give no hypothesis that is better than chance is left out.
    lam : float, default=0.5
        λ ≥ 0: the larger, the smoother.
    coding : {"random", "probabilistic", "deterministic"}, default="random"
        How a round colours the classes. With φ(r) the weight of the pairs that confuse something with class r minus
        the weight of those that confuse class r with something: "random": fair signs; "probabilistic": +1 with
        probability 1/(1 + exp(−γ φ(r)/max|φ|)); "deterministic": −sign φ(r), and if that does not serve, fair signs.
    gamma : float, optional
        γ ≥ 0 of the probabilistic coding; 0 is the random one. None tries 0, ½, 1, 2, … 16 on a fifth of each class,
        takes the smallest of those with the least error, and trains on everything.
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
        Hold out so much of each class, and keep the rounds up to the smallest held-out Σ μ of wrong classes.
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
    gamma_ : float
        The γ in use, with the probabilistic coding.
    history_ : dict of arrays (T,)
        "coefficient" a_t, "error" e_t and "separated" U_t, as in `AdaBoostOC`.
    columns_ : the hypotheses; `margins(X)` is (n, T), a_t h_t(x) with a = ¼ ln((1 − e)/e)
    decoder_ : the decoder in use

    References
    ----------
    Jin & Zhang, "A smoothed boosting algorithm using probabilistic output codes", ICML (2005).

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = SmoothBoost(n_rounds=20, random_state=0).fit(X, y)
    >>> model.predict(X[[0, 60, 120]])
    array([0, 1, 2])
    """

    def __init__(
        self,
        n_rounds: int = 50,
        lam: float = 0.5,
        coding: Coding = "random",
        gamma: float | None = None,
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
        self.lam = lam
        self.coding = coding
        self.gamma = gamma
        self.estimator = estimator
        self.decoder = decoder
        self.learning_rate = learning_rate
        self.bins = bins
        self.categorical_features = categorical_features
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _lam(self) -> float:
        return float(self.lam)

    def _colour(self, pairs: PairWeights, draws: int, rng: np.random.Generator) -> Colouring:
        if self.coding == "random" or (self.coding == "deterministic" and draws > 0):
            return super()._colour(pairs, draws, rng)
        phi = pairs.confusion()
        if self.coding == "deterministic":
            return deterministic_colouring(phi)
        return probabilistic_colouring(phi, self.gamma_, rng)

    def _boost(self, sample: Sample, run: Run, rng: np.random.Generator) -> Iterator[Round | None]:
        if self.coding != "probabilistic":
            self.__dict__.pop("gamma_", None)  # of an earlier fit
        else:
            self.gamma_ = self._best_gamma(sample, run, rng) if self.gamma is None else float(self.gamma)
        yield from super()._boost(sample, run, rng)

    def _best_gamma(self, sample: Sample, run: Run, rng: np.random.Generator) -> float:
        """The γ of least error on held-out rows, all tried under the random numbers that the training will see."""
        if np.bincount(sample.y).max() * VALIDATION_SHARE < 1:
            raise ValueError(
                f"gamma=None holds out {VALIDATION_SHARE:.0%} of each class, and no class is large enough: give gamma."
            )
        seed = int(copy.deepcopy(rng).integers(np.iinfo(np.int32).max))
        train, held = hold_out(np.arange(len(sample.y)), sample.y, VALIDATION_SHARE, seed)
        X = take_rows(sample.X, train)
        binned = None if sample.binned is None else bin_features(X, self.bins, sample.binned.categorical)
        part = replace(sample, X=X, y=sample.y[train], weight=sample.weight[train], binned=binned)
        X, y, weight = take_rows(sample.X, held), sample.y[held], sample.weight[held]
        errors = []
        for gamma in GAMMAS:
            self.gamma_ = gamma
            D = np.zeros((len(held), len(self.classes_)))
            for _, one in zip(range(self.n_rounds), super()._boost(part, run, copy.deepcopy(rng)), strict=False):
                if one is not None and one.column is not None:
                    D += np.outer(one.answers(X), one.column)
            predicted = first_largest(D, np.abs(D).max(axis=1))
            errors.append(weight[predicted != y].sum())
        return GAMMAS[int(first_smallest(errors, weight.sum()))]

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.coding not in CODINGS:
            raise unknown_name("coding", str(self.coding), CODINGS)
        for name, value in (("lam", self.lam), ("gamma", 0.0 if self.gamma is None else self.gamma)):
            if not (isinstance(value, Real) and 0 <= float(value) <= LARGEST):
                raise ValueError(f"{name}={value!r} must be a number between 0 and {LARGEST:g}.")
