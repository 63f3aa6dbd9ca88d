"""Loss-based decoding: d(r) = Σ_s W_rs·L(M_rs·f_s), as one matrix product over [L(F), L(-F)]."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import logsumexp

from outputcodes._blocks import row_blocks
from outputcodes.decoders.base import Array, Decoder, Scorer, signs_of
from outputcodes.losses import LOSSES, Loss, as_loss

# Up to here e^|f| and its reciprocal, summed over any code, neither overflow nor vanish.
SAFE_EXPONENT = 350.0


class LossBased(Decoder):
    """The class whose codeword has the smallest total loss on the margins.

    Parameters
    ----------
    loss : str, callable or None, default=None
        A name from `outputcodes.losses` or a function of z = M_rs·f_s. None means the loss that the learner
        itself minimises; the classifier fills it in.
    zeros : {"count", "ignore"}, default="count"
        What an entry 0 of the code contributes: L(0), as Allwein, Schapire & Singer define it, or nothing,
        the sum being then divided by the row's number of non-zero entries.

    Notes
    -----
    Scores are −d, and −log d for the exponential loss. Exact ties in floating point are broken by the linear
    score M·f, then by index; Hamming's, which are real, by index alone.

    Examples
    --------
    >>> M = [[+1, -1, -1], [-1, +1, -1], [-1, -1, +1]]
    >>> LossBased("hinge").scores([[0.5, -2.0, 0.5]], M)
    array([[-2., -6., -2.]])
    """

    def __init__(
        self, loss: str | Callable[[Any], Any] | None = None, zeros: Literal["count", "ignore"] = "count"
    ) -> None:
        self.loss = loss
        self.zeros = zeros

    @property
    def breaks_ties(self) -> bool:  # type: ignore[override]
        """Hamming's ties are real (on all-pairs it is the plain vote), and the linear loss is its own tie-breaker."""
        return self.loss not in ("hamming", "linear")

    def for_loss(self, loss: Any) -> Decoder:
        """With `loss` filled in where it was left open."""
        return self if self.loss is not None else LossBased(loss, self.zeros)

    def objection(self, M: NDArray[Any]) -> str | None:
        """A loss that was left open and nobody filled in, or an unknown treatment of zeros."""
        if self.loss is None:
            return (
                "decoder='loss' decodes by the learner's own loss, and there is no single one here (the estimators of "
                f"a list may minimise different losses); name one of {', '.join(LOSSES)}."
            )
        return None if self.zeros in ("count", "ignore") else f"zeros={self.zeros!r} must be 'count' or 'ignore'."

    def _scorer(self, M: NDArray[Any]) -> Scorer:
        weight = np.ones(M.shape)
        if self.zeros == "ignore":
            weight = (M != 0) / np.count_nonzero(M, axis=1, keepdims=True)
        assert self.loss is not None  # `objection` saw to it
        return loss_scorer(as_loss(self.loss), M, weight)


class AccuracyWeighted(Decoder):
    """Loss-based decoding that trusts a column, for a class, as far as it was right on that class.

    Entry (r, s) weighs by the share of training examples of class r on which the sign of f_s is M_rs, rows
    normalised to sum 1; Escalera, Pujol & Radeva call it loss-weighted.

    Parameters
    ----------
    loss : str or callable, default="linear"
        The loss that is weighed; the literature uses "linear" and "exponential".

    Attributes
    ----------
    accuracy_ : ndarray of shape (k, L)
        The weights.

    Examples
    --------
    >>> M = np.array([[+1, +1], [-1, +1], [-1, -1]])
    >>> F = np.array([[1.0, 1.0], [2.0, 1.0], [-1.0, 1.0], [-1.0, -1.0]])
    >>> AccuracyWeighted().fit(F, [0, 1, 1, 2], M).accuracy_.round(2)
    array([[0.5 , 0.5 ], [0.33, 0.67], [0.5 , 0.5 ]])
    """

    needs = "train"

    def __init__(self, loss: str | Callable[[Any], Any] = "linear") -> None:
        self.loss = loss

    def fit(self, F: ArrayLike, y: ArrayLike, M: ArrayLike, weight: ArrayLike | None = None) -> AccuracyWeighted:
        """Measure the columns on margins F with labels y in 0..k-1."""
        F, y, M = np.asarray(F, dtype=np.float64), np.asarray(y), np.asarray(M)
        weight = np.ones(len(y)) if weight is None else np.asarray(weight, dtype=np.float64)
        right = (np.sign(F) == M[y]) & (M[y] != 0)
        total = np.zeros(M.shape)
        np.add.at(total, y, right * weight[:, None])
        # Dividing by the class's weight is undone by the normalisation of rows that follows.
        silent = total.sum(axis=1) == 0
        total[silent] = M[silent] != 0
        self.accuracy_ = total / total.sum(axis=1, keepdims=True)
        return self

    def _scorer(self, M: NDArray[Any]) -> Scorer:
        return loss_scorer(as_loss(self.loss), M, self.accuracy_)


def loss_scorer(loss: Loss, M: NDArray[Any], weight: Array) -> Scorer:
    """Score blocks of margins by −Σ_s weight_rs·L(M_rs·f_s), or by its logarithm where L is exponential."""
    if loss.odd:
        return _odd_scorer(loss, M, weight)
    plus, minus, zero = signs_of(M)
    stacked = -np.hstack([weight * plus, weight * minus]).T
    constant = -loss.at_zero * (weight * zero).sum(axis=1)
    L = M.shape[1]

    def by_value(F: Array) -> Array:
        both = np.empty((F.shape[0], 2 * L))
        both[:, :L] = loss(F)
        both[:, L:] = loss(-F)
        D = both @ stacked
        return np.add(D, constant, out=D) if constant.any() else D

    def by_logarithm(F: Array) -> Array:
        D = by_value(F)
        np.negative(np.log(np.negative(D, out=D), out=D), out=D)
        large = np.flatnonzero(np.abs(F).max(axis=1) > SAFE_EXPONENT)
        for rows in row_blocks(large.size, M.size):
            D[large[rows]] = -logsumexp(-F[large[rows], None, :] * M, b=weight, axis=2)
        return D

    return by_logarithm if loss is LOSSES["exponential"] else by_value


def _odd_scorer(loss: Loss, M: NDArray[Any], weight: Array) -> Scorer:
    """Where L(z) + L(−z) = 2L(0), L(m·f) = L(0) + m·(L(f) − L(0)): one product, half the size, serves both signs."""
    signed = -(weight * M).T
    constant = -loss.at_zero * weight.sum(axis=1)

    def score(F: Array) -> Array:
        D: Array = (loss(F) - loss.at_zero) @ signed
        return np.add(D, constant, out=D) if constant.any() else D

    return score
