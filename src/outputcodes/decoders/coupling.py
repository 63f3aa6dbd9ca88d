"""Decoding by the class probabilities that agree best with the probabilities of all columns."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from outputcodes._ground.drawn_code import AnyCode
from outputcodes._ground.planning import MANY_CLASSES, Planning
from outputcodes._ground.tree_code import TreeCode
from outputcodes.decoders._coupling import ACCEPTED, divergence_coupling, pairwise_coupling
from outputcodes.decoders.base import Array, Scorer, check_fitted_on
from outputcodes.decoders.likelihood import SigmoidDecoder
from outputcodes.decoders.pairwise import not_all_pairs

METHODS = ("kl", "hastie-tibshirani", "wu-lin-weng")
# The probability of a bit is kept at least e^-28 ≈ 1e-12 from 0 and 1, so that no column excludes a class.
LARGEST_LOG_ODDS = 28.0
# Scores are logarithms of probabilities of at least this size.
FAINTEST = 1e-300


class Coupling(SigmoidDecoder):
    """Class probabilities p fitted to the columns: the share of +1 in the Σ p of a column should be P(+1 | f).

    Parameters
    ----------
    method : {"kl", "hastie-tibshirani", "wu-lin-weng"}, default="kl"
        "kl" minimises the Kullback–Leibler divergence, with columns weighted by their examples, for any code;
        "hastie-tibshirani" is its name for the all-pairs code. "wu-lin-weng", for the all-pairs code, is their second
        approach, a least-squares problem without iterations.
    cv, targets : as for `Likelihood`

    Attributes
    ----------
    slope_, offset_, column_mass_, gap_, n_iter_ : the sigmoids, as for `Likelihood`

    Notes
    -----
    For the all-pairs code and for codes without zeros every minimum of the divergence is global. For other codes the
    result is a stationary point, found from equal probabilities. Scores are log p.

    Examples
    --------
    >>> M = np.array([[1, 1, 0], [-1, 0, 1], [0, -1, -1]])
    >>> F = np.array([[1.5, 1.0, -0.5], [0.5, 2.0, 0.5], [-1.0, 0.5, 1.5], [0.5, -0.5, 0.5], [0, -1, -0.5]])
    >>> Coupling("wu-lin-weng").fit(F, [0, 0, 1, 1, 2], M).probabilities(F[:1], M).round(3)
    array([[0.537, 0.194, 0.269]])
    """

    planning = Planning(tried=False)
    scores_are_logarithms = True

    def __init__(
        self,
        method: Literal["kl", "hastie-tibshirani", "wu-lin-weng"] = "kl",
        cv: Any = 3,
        targets: Literal["platt", "plain"] = "platt",
    ) -> None:
        self.method = method
        self.cv = cv
        self.targets = targets

    def for_labels(self) -> None:
        """Return None: the probabilities of the classes sum to 1."""

    def too_large(self, code: AnyCode) -> str | None:
        """Object to a tree code of many classes, where each row would take long."""
        if isinstance(code, TreeCode) and len(code) > MANY_CLASSES:
            return (
                f"decoder='coupling' solves a problem of {len(code)} classes and {code.shape[1]} columns for each row, "
                f"which takes long, and is refused for trees of more than {MANY_CLASSES} classes: use "
                "probability='softmax', whose probabilities are products along the paths of the tree."
            )
        return super().too_large(code)

    def objection(self, M: NDArray[Any]) -> str | None:
        """Object to an unknown method, a pairwise one without all-pairs, or a code without two-sided columns."""
        if self.method not in METHODS:
            return f"method={self.method!r} must be one of {', '.join(METHODS)}."
        if self.method != "kl":
            return not_all_pairs(M, self.method, "coupling")
        both = (M > 0).any(axis=0) & (M < 0).any(axis=0)
        return None if both.any() else "decoder='coupling' compares classes, but no column of this code has both signs."

    def _scorer(self, M: NDArray[Any]) -> Scorer:
        check_fitted_on(self, "slope_", M)
        if self.method == "wu-lin-weng":
            couple = pairwise_coupling(M)
        else:
            couple = divergence_coupling(M, np.maximum(self.column_mass_, np.finfo(float).tiny))

        def score(F: Array) -> Array:
            p, gap, _ = couple(np.clip(self._log_odds(F), -LARGEST_LOG_ODDS, LARGEST_LOG_ODDS))
            if (missed := gap > ACCEPTED).any():
                warnings.warn(
                    f"Coupling: {missed.sum()} of {len(gap)} rows did not converge; the worst gap is {gap.max():.2g}.",
                    ConvergenceWarning,
                    stacklevel=3,
                )
            D: Array = np.log(np.maximum(p, FAINTEST))
            return D

        return score

    def _posterior(self, M: NDArray[Any]) -> Callable[[Array], Array]:
        def posterior(log_p: Array) -> Array:
            p = np.exp(log_p)
            normalised: Array = p / p.sum(axis=1, keepdims=True)
            return normalised

        return posterior
