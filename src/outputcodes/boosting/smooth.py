"""SmoothBoost: AdaBoost.OC with bounded example weights and columns that depend on the weights."""

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
from outputcodes._ground.validation import unknown_name
from outputcodes.boosting._coloured import ColourLearner
from outputcodes.boosting._colouring_booster import ColouringBooster
from outputcodes.boosting.colourings import (
    CODINGS,
    Coding,
    Colouring,
    deterministic_colouring,
    probabilistic_colouring,
)
from outputcodes.boosting.round_by_round import Sample, binned_rows, rows_in_memory, taken_rows
from outputcodes.boosting.weak import Round
from outputcodes.decoders import Decoder
from outputcodes.learners.trees.stumps import hold_out

# Values tried by `gamma=None` on `VALIDATION_SHARE` of the sample: φ is scaled to max|φ| = 1, so 16 is nearly certain.
GAMMAS = (0.0, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0)
VALIDATION_SHARE = 0.2
# A larger λ or γ is probably a mistake, because the limits are reached much earlier.
LARGEST = 1e6


class SmoothBoost(ColouringBooster):
    """Smoothed boosting with probabilistic output codes.

    Like `AdaBoostOC`, but with bounded example weights: with scores S(r) = Σ_t a_t f_t(r) h_t(x_i), the pair of example
    i and a wrong class r has weight μ(y_i) μ(r), μ(r) = e^S(r)/(e^S(y_i) + λ Σ_{r' ≠ y_i} e^S(r')). Mislabelled
    examples therefore cannot dominate. λ = 0 is `AdaBoostOC(variant="binary")`.

    Parameters
    ----------
    n_rounds : int, default=50
        Maximum number of rounds. A round is skipped if 100 colourings give no hypothesis better than chance.
    lam : float, default=0.5
        λ ≥ 0; larger is smoother.
    coding : {"random", "probabilistic", "deterministic"}, default="random"
        How a round colours the classes. Let φ(r) be the weight of the pairs that confuse another class with class r,
        minus the weight of those that confuse class r with another one. "random": random signs; "probabilistic": +1
        with probability 1/(1 + exp(−γ φ(r)/max|φ|)); "deterministic": −sign φ(r), or random signs if that fails.
    gamma : float, optional
        γ ≥ 0 of the probabilistic coding; 0 is the random coding. None tries 0, ½, 1, 2, … 16 on a fifth of each class,
        takes the smallest value with the smallest error, and trains on all rows.
    estimator, decoder, learning_rate, bins, categorical_features, n_iter_no_change, n_jobs, random_state, verbose :
        As in `AdaBoostOC`.
    validation_fraction : float, optional
        Hold out this share of each class, and keep the rounds up to the smallest held-out Σ μ of wrong classes.
        None trains on all rows.

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
    feature_importances_ : ndarray of shape (d,)
        The share of each feature in the changes of the margins by the stumps, with sum 1; of an `estimator` its own
        importances, weighted by the coefficients.
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
        verbose: int = 0,
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
        self.verbose = verbose

    def _lam(self) -> float:
        return float(self.lam)

    def _colour(self, learner: ColourLearner, draws: int, rng: np.random.Generator) -> Colouring:
        if self.coding == "random" or (self.coding == "deterministic" and draws > 0):
            return super()._colour(learner, draws, rng)
        phi = learner.confusion()
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
        """Return the γ with the smallest held-out error; all are tried with the random numbers of the training."""
        if np.bincount(sample.y).max() * VALIDATION_SHARE < 1:
            raise ValueError(
                f"gamma=None holds out {VALIDATION_SHARE:.0%} of each class, but no class is large enough; set gamma."
            )
        seed = int(copy.deepcopy(rng).integers(np.iinfo(np.int32).max))
        train, held = hold_out(np.arange(len(sample.y)), sample.y, VALIDATION_SHARE, seed)
        X = taken_rows(sample.X, train)
        binned = None if sample.binned is None else binned_rows(X, self.bins, sample.binned.categorical)
        part = replace(sample, X=X, y=sample.y[train], weight=sample.weight[train], binned=binned)
        X, y, weight = rows_in_memory(sample.X, held), sample.y[held], sample.weight[held]
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
