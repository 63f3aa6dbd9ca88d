"""Loss-based decoding: d(r) = Σ_s W_rs·L(M_rs·f_s), as one matrix product over [L(F), L(-F)]."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import logsumexp, softmax

from outputcodes._ground.blocks import row_blocks
from outputcodes._ground.drawn_code import AnyCode
from outputcodes._ground.planning import Planning
from outputcodes._ground.tree_code import TreeCode
from outputcodes._ground.validation import check_margins, check_weight
from outputcodes.decoders.base import Array, Decoder, Scorer, check_fitted_on, signs_of
from outputcodes.decoders.beam import Beam
from outputcodes.losses import LOSSES, Loss, as_loss

# Up to here e^|f| and its reciprocal, summed over any code, neither overflow nor vanish.
SAFE_EXPONENT = 350.0


class LossBased(Decoder):
    """The class whose codeword has the smallest total loss on the margins.

    Parameters
    ----------
    loss : str, callable or None, default=None
        A name from `outputcodes.losses` or a function of z = M_rs·f_s. None means the loss that the learner minimises;
        the classifier fills it in.
    zeros : {"count", "ignore"}, default="count"
        The contribution of an entry 0 of the code: L(0), as Allwein, Schapire & Singer define it, or nothing, with the
        sum divided by the number of non-zero entries of the row.

    Notes
    -----
    Scores are −d, and −log d for the exponential loss. Exact ties in floating point are broken by the linear score M·f,
    then by index; those of the Hamming loss, which are real ties, by index only.

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
    def planning(self) -> Planning:  # type: ignore[override]
        """The planning of the loss; with the loss of the learner it is part of every plan."""
        return Planning(quick=True, cost=20) if self.loss is None else as_loss(self.loss).planning

    @property
    def breaks_ties(self) -> bool:  # type: ignore[override]
        """Whether ties are broken: not for the Hamming loss, whose ties are real, nor for the linear loss itself."""
        return self.loss is None or as_loss(self.loss).name not in ("hamming", "linear")

    @property
    def scores_are_logarithms(self) -> bool:  # type: ignore[override]
        """Whether scores are logarithms: for the exponential loss."""
        return self.loss is not None and as_loss(self.loss) is LOSSES["exponential"]

    @property
    def reads_sizes(self) -> bool:  # type: ignore[override]
        """Whether the loss depends on the size of the margins: not the Hamming loss."""
        return self.loss is None or as_loss(self.loss).name != "hamming"

    def for_code(self, code: AnyCode) -> Decoder:
        """Return the beam search of a tree code if the loss was left open, as by default."""
        return Beam() if self.loss is None and isinstance(code, TreeCode) else self

    def for_loss(self, loss: Any) -> Decoder:
        """Return the decoder with `loss` filled in if it was left open."""
        if self.loss is not None:
            return self
        filled = copy.copy(self)
        filled.loss = loss
        return filled

    def objection(self, M: NDArray[Any]) -> str | None:
        """Object to a loss that was left open, or to an unknown value of `zeros`."""
        if self.loss is None:
            return (
                "decoder='loss' decodes by the loss of the learner, which plain arrays don't have and which may differ "
                f"in a list of estimators; name one of {', '.join(LOSSES)}."
            )
        as_loss(self.loss)  # raises an error for an unknown name
        return None if self.zeros in ("count", "ignore") else f"zeros={self.zeros!r} must be 'count' or 'ignore'."

    def loo_objection(self, M: NDArray[Any]) -> str | None:
        """Object to a loss that increases somewhere, or to rows in which a margin has more weight than in others."""
        if self.loss is not None and not as_loss(self.loss).nonincreasing:
            return f"the loss {as_loss(self.loss).name!r} increases for large margins"
        if self.zeros == "ignore" and len(np.unique(np.count_nonzero(M, axis=1))) > 1:
            return "with zeros='ignore' a margin has more weight in rows with fewer non-zero entries"
        return None

    def contributions(self, F: ArrayLike, M: ArrayLike) -> Array | None:
        """Return −L(M_rs·f_s), the terms of the sum; for the exponential loss, their shares in its logarithm."""
        F, M, scores = self._open(F, M)
        assert self.loss is not None  # checked by `objection`
        loss, counted = as_loss(self.loss), np.ones(M.shape) if self.zeros == "count" else (M != 0).astype(np.float64)
        if loss is LOSSES["exponential"]:
            return _shares(scores(F), F, M, counted)
        terms: Array = -loss(M * F[:, None])
        return terms if self.zeros == "count" else terms * counted / np.count_nonzero(M, axis=1)[:, None]

    def _scorer(self, M: NDArray[Any]) -> Scorer:
        assert self.loss is not None  # checked by `objection`
        if self.zeros == "count":
            return loss_scorer(as_loss(self.loss), M, np.ones(M.shape))
        return loss_scorer(as_loss(self.loss), M, (M != 0).astype(np.float64), np.count_nonzero(M, axis=1))


class AccuracyWeighted(Decoder):
    """Loss-based decoding in which the weight of a column, for a class, is its accuracy on that class.

    The weight of entry (r, s) is the share of training examples of class r for which the sign of f_s is M_rs, with rows
    normalised to sum 1; Escalera, Pujol & Radeva call this loss-weighted decoding.

    Parameters
    ----------
    loss : str or callable, default="linear"
        The weighted loss; the literature uses "linear" and "exponential".

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
    planning = Planning(tried=False)

    def __init__(self, loss: str | Callable[[Any], Any] = "linear") -> None:
        self.loss = loss

    def fit(self, F: ArrayLike, y: ArrayLike, M: ArrayLike, weight: ArrayLike | None = None) -> AccuracyWeighted:
        """Compute the accuracies of the columns from margins F with labels y in 0..k-1."""
        F, labels, code = check_margins(F, y, M)
        mass = check_weight(weight, len(labels))
        right = (np.sign(F) == code[labels]) & (code[labels] != 0)
        total = np.zeros(code.shape)
        np.add.at(total, labels, right * (1.0 if mass is None else mass[:, None]))
        # No division by the weight of the class: the rows are normalised below.
        silent = total.sum(axis=1) == 0
        total[silent] = code[silent] != 0
        self.accuracy_ = total / total.sum(axis=1, keepdims=True)
        return self

    @property
    def scores_are_logarithms(self) -> bool:  # type: ignore[override]
        """Whether scores are logarithms: for the exponential loss."""
        return as_loss(self.loss) is LOSSES["exponential"]

    def objection(self, M: NDArray[Any]) -> str | None:
        """Return None, or raise an error for an unknown loss."""
        as_loss(self.loss)
        return None

    def contributions(self, F: ArrayLike, M: ArrayLike) -> Array | None:
        """Return the weighted terms of the sum; for the exponential loss, their shares in its logarithm."""
        F, M, scores = self._open(F, M)
        loss = as_loss(self.loss)
        if loss is LOSSES["exponential"]:
            return _shares(scores(F), F, M, self.accuracy_)
        terms: Array = -self.accuracy_ * loss(M * F[:, None])
        return terms

    def _scorer(self, M: NDArray[Any]) -> Scorer:
        check_fitted_on(self, "accuracy_", M)
        return loss_scorer(as_loss(self.loss), M, self.accuracy_)


def loss_scorer(loss: Loss, M: NDArray[Any], weight: Array, divisor: NDArray[np.intp] | None = None) -> Scorer:
    """Return a scorer by −Σ_s weight_rs·L(M_rs·f_s) / divisor_r, or by its logarithm for the exponential loss.

    The division at the end, not in the weights, keeps Hamming distances integers and their ties exact.
    """
    sums = _odd_sums(loss, M, weight) if loss.odd else _sums(loss, M, weight)

    def by_value(F: Array) -> Array:
        D = sums(F)
        return D if divisor is None else np.divide(D, divisor, out=D)

    def by_logarithm(F: Array) -> Array:
        # Clipped margins are safe; the few rows that clipping changes are then computed exactly.
        D = sums(np.clip(F, -SAFE_EXPONENT, SAFE_EXPONENT))
        np.negative(np.log(np.negative(D, out=D), out=D), out=D)
        if np.abs(F).max(initial=0.0) > SAFE_EXPONENT:
            large = np.flatnonzero(np.abs(F).max(axis=1) > SAFE_EXPONENT)
            for rows in row_blocks(len(large), M.size):
                rare = large[rows]
                D[rare] = -logsumexp(-F[rare, None, :] * M, b=weight, axis=2)
        return D if divisor is None else np.add(D, np.log(divisor), out=D)

    return by_logarithm if loss is LOSSES["exponential"] else by_value


def _shares(D: Array, F: Array, M: NDArray[Any], weight: Array) -> Array:
    """Return the scores D, logarithms of sums, divided among the columns as the terms weight_rs·e^(−M_rs·f_s) are."""
    with np.errstate(divide="ignore"):
        shares: Array = softmax(np.log(weight) - M * F[:, None], axis=2)
    return D[:, :, None] * shares


def _sums(loss: Loss, M: NDArray[Any], weight: Array) -> Scorer:
    """Return a scorer by −Σ_s weight_rs·L(M_rs·f_s), one product of [L(F), L(−F)] with the two signs of the code."""
    plus, minus, zero = signs_of(M)
    stacked = -np.hstack([weight * plus, weight * minus]).T
    constant = -loss.at_zero * (weight * zero).sum(axis=1)
    L, room = M.shape[1], np.empty((0, 2 * M.shape[1]))

    def sums(F: Array) -> Array:
        # Reused for all blocks: memory of this size would otherwise be returned and requested again for each.
        nonlocal room
        if len(room) < len(F):
            room = np.empty((len(F), 2 * L))
        both = room[: len(F)]
        both[:, :L] = loss(F)
        both[:, L:] = loss(-F)
        if loss.name not in LOSSES and not np.isfinite(both).all():
            raise ValueError(f"loss={loss.name!r} is not finite on these margins, up to {np.abs(F).max():g}.")
        D = both @ stacked
        return np.add(D, constant, out=D) if constant.any() else D

    return sums


def _odd_sums(loss: Loss, M: NDArray[Any], weight: Array) -> Scorer:
    """Return the same for L(z) + L(−z) = 2L(0): L(m·f) = L(0) + m·(L(f) − L(0)), so that half the product suffices."""
    signed = -(weight * M).T
    constant = -loss.at_zero * weight.sum(axis=1)

    def sums(F: Array) -> Array:
        D: Array = (loss(F) - loss.at_zero) @ signed
        return np.add(D, constant, out=D) if constant.any() else D

    return sums
