"""Likelihood decoding: the probability of each class from the probabilities of the bits of its codewords."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit

from outputcodes._ground.planning import Planning
from outputcodes.decoders._overlap import (
    MOST_BITS,
    MOST_SETS,
    agreeing_sets,
    compatible,
    shares_by_codewords,
    shares_by_sets,
)
from outputcodes.decoders._sigmoid import fit_sigmoids
from outputcodes.decoders.base import Array, Decoder, EachLabel, Scorer, check_fitted_on, signs_of
from outputcodes.decoders.probabilistic import ProbabilisticDecoder


class SigmoidDecoder(ProbabilisticDecoder):
    """Base of the decoders that use a sigmoid per column, fitted on held-out margins."""

    needs = "held-out"
    cv: Any
    targets: Literal["platt", "plain"]

    def fit(self, F: ArrayLike, y: ArrayLike, M: ArrayLike, weight: ArrayLike | None = None) -> Self:
        """Fit the sigmoids to margins F (n, L), NaN where a column has none, with labels y in 0..k-1."""
        sigmoids = fit_sigmoids(F, y, M, weight, self.targets)
        self.slope_, self.offset_, self.column_mass_, self.gap_, self.n_iter_ = sigmoids
        return self

    def _log_odds(self, F: Array) -> Array:
        """Return ln P(+1)/P(−1) of each margin."""
        return -(self.slope_ * F + self.offset_)


class Likelihood(SigmoidDecoder):
    """The class whose codewords are most probable, with class probabilities.

    A sigmoid turns the margin of each column into the probability of +1. Row r then has the probability p_r of its
    non-zero bits, and the probability of the codewords of no class is distributed evenly: P(r) = p_r + (1 − Σ p)/k. If
    rows share codewords (no column has opposite signs in them), each gets an equal part of their probability.

    Parameters
    ----------
    cv : int, splitter or None, default=3
        The folds of the held-out margins to which the sigmoids are fitted. With a number, learners with leave-one-out
        margins in closed form use those instead.
    targets : {"platt", "plain"}, default="platt"
        The targets of a sigmoid for +1 and −1: Platt's (N₊ + 1)/(N₊ + 2) and 1/(N₋ + 2), or 1 and 0.

    Attributes
    ----------
    slope_, offset_ : ndarray of shape (L,)
        P(+1 | f) = 1/(1 + exp(slope·f + offset)) for each column.
    column_mass_ : ndarray of shape (L,)
        The weight of the examples of each sigmoid.
    gap_, n_iter_ : ndarray of shape (L,)
        The Newton decrement per unit of weight, and the number of steps.

    Notes
    -----
    Scores are log p_r, without what a class shares with others; the evenly distributed remainder does not change the
    order. For long codes it is large, because most codewords belong to no class, and the probabilities are then too
    close to uniform; those of `Coupling` are not. (Passerini, Pontil & Frasconi, New results on error correcting output
    codes of kernel machines, 2004.)

    Examples
    --------
    >>> M = np.array([[1, 1, 0], [-1, 0, 1], [0, -1, -1]])
    >>> F = np.array([[1.5, 1.0, -0.5], [0.5, 2.0, 0.5], [-1.0, 0.5, 1.5], [0.5, -0.5, 0.5], [0, -1, -0.5]])
    >>> Likelihood().fit(F, [0, 0, 1, 1, 2], M).probabilities(F[:1], M).round(3)
    array([[0.556, 0.178, 0.265]])
    """

    planning = Planning(tried=False)
    scores_are_logarithms = True

    def __init__(self, cv: Any = 3, targets: Literal["platt", "plain"] = "platt") -> None:
        self.cv = cv
        self.targets = targets

    def for_labels(self) -> Decoder:
        """Return the decoder that fits a sigmoid to each label."""
        return EachLabelLikelihood(self.cv, self.targets)

    def objection(self, M: NDArray[Any]) -> str | None:
        """Object to a code with too many classes that share codewords."""
        if M.shape[1] <= MOST_BITS or not compatible(M).any() or agreeing_sets(M) is not None:
            return None
        return (
            f"decoder='likelihood' lists the sets of classes whose rows share codewords; this code has more than "
            f"{MOST_SETS}, and more than {MOST_BITS} columns, so that its codewords can't be listed either. Use a code "
            "with fewer zeros, or probability='coupling'."
        )

    def loo_objection(self, M: NDArray[Any]) -> str | None:
        """Object to rows that share codewords."""
        check_fitted_on(self, "slope_", M)
        return "two rows of the code have no opposite signs and share codewords" if compatible(M).any() else None

    def worst_margins(self, F: Array, lowest: Array) -> Array:
        """Return `lowest`, or F where a sigmoid decreases: there a larger margin is worse for the class."""
        return np.where(self.slope_ > 0, F, lowest)

    def _scorer(self, M: NDArray[Any]) -> Scorer:
        check_fitted_on(self, "slope_", M)
        plus, minus, _ = (part.T for part in signs_of(M))
        shares = None
        if compatible(M).any():
            sets = agreeing_sets(M)
            shares = shares_by_codewords(M) if sets is None else shares_by_sets(M, sets)

        def score(F: Array) -> Array:
            z = self._log_odds(F)
            up, down = -np.logaddexp(0.0, -z), -np.logaddexp(0.0, z)
            log_p: Array = up @ plus + down @ minus
            return log_p if shares is None else shares(up, down, log_p)

        return score

    def _posterior(self, M: NDArray[Any]) -> Callable[[Array], Array]:
        def posterior(log_q: Array) -> Array:
            q = np.exp(log_q)
            rows, best = np.arange(len(q)), log_q.argmax(axis=1)
            others = q.copy()
            others[rows, best] = 0.0
            # 1 − Σ q, computed from 1 − the largest without rounding: a remainder of 1e-18 matters in a logarithm.
            rest = np.maximum(-np.expm1(log_q[rows, best]) - others.sum(axis=1), 0.0) / q.shape[1]
            P: Array = q + rest[:, None]
            return P

        return posterior


class EachLabelLikelihood(EachLabel, SigmoidDecoder):
    """A decoder that scores each label by its log-odds, a sigmoid of its margin; parameters as in `Likelihood`.

    A label that all rows of the sample have, or none, gets Platt's target as its probability: (n + 1)/(n + 2) or
    1/(n + 2).

    >>> F, M = np.array([[2.0, 1.0], [-1.0, 1.0], [0.5, 1.0], [-0.2, 1.0]]), np.array([[-1, 1], [1, 1]])
    >>> EachLabelLikelihood().fit(F, [1, 0, 1, 0], M).probabilities(F[:1], M).round(3)
    array([[0.814, 0.833]])
    """

    def __init__(self, cv: Any = 3, targets: Literal["platt", "plain"] = "platt") -> None:
        self.cv = cv
        self.targets = targets

    def fit(self, F: ArrayLike, y: ArrayLike, M: ArrayLike, weight: ArrayLike | None = None) -> Self:
        """Fit the sigmoids of the labels that some rows have and others lack; y is the label set of each row."""
        F, M = np.asarray(F, dtype=np.float64), np.asarray(M)
        seen = M[np.unique(y)]
        both = np.ptp(seen, axis=0) > 0
        mass, L = float(len(F) if weight is None else np.sum(weight)), len(both)
        sigmoids = {"slope_": np.zeros(L), "offset_": -seen[0] * np.log1p(mass), "column_mass_": np.full(L, mass)}
        sigmoids |= {"gap_": np.zeros(L), "n_iter_": np.zeros(L, dtype=np.intp)}
        if both.any():
            super().fit(F[:, both], y, M[:, both], weight)
            for name, values in sigmoids.items():
                values[both] = getattr(self, name)
        self.__dict__.update(sigmoids)
        return self

    def scores(self, F: ArrayLike, M: ArrayLike) -> Array:
        """Return ln P/(1 - P) of each label, (n, L)."""
        return self._log_odds(np.asarray(F, dtype=np.float64))

    def probabilities(self, F: ArrayLike, M: ArrayLike) -> Array:
        """Return the probability of each label, (n, L): above ½ if it is predicted."""
        P: Array = expit(self.scores(F, M))
        return P
