"""Bounds on the training error of decoding, from margins F (n, L), labels y in 0..k-1 and a code M (k, L).

Bounds are not truncated and may exceed 1. A loss that does not satisfy the condition of the theorem, or a code with two
rows at distance 0, raises a ValueError.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from outputcodes._ground.validation import check_labels, check_margins, check_scores
from outputcodes.codes import min_distance
from outputcodes.losses import Loss, as_loss


def average_binary_loss(F: ArrayLike, y: ArrayLike, M: ArrayLike, loss: Any) -> float:
    """Return ε = (1/nL) Σ_i Σ_s L(M(y_i, s)·f_s(x_i)), where a zero of the code counts L(0).

    Examples
    --------
    >>> average_binary_loss([[2.0, -0.5], [0.0, 1.0]], [0, 1], [[+1, -1], [-1, +1]], "hinge")
    0.375
    """
    F, labels, code = check_margins(F, y, M)
    return float(as_loss(loss)(code[labels] * F).mean())


def training_error_bound(F: ArrayLike, y: ArrayLike, M: ArrayLike, loss: Any) -> float:
    """Return the bound of Theorem 1: the error of loss-based decoding, with ties as errors, is ≤ L·ε/(ρ·L(0)).

    The theorem is by Allwein, Schapire & Singer. It requires L(z) ≥ 0 and (L(z) + L(−z))/2 ≥ L(0) > 0.

    Examples
    --------
    >>> training_error_bound([[2.0, -0.5], [0.0, 1.0]], [0, 1], [[+1, -1], [-1, +1]], "hinge")
    0.375
    """
    known = _for_theorem_1(loss)
    return length_over_distance(M) * average_binary_loss(F, y, M, known) / known.at_zero


def training_error_bound_by_zeros(F: ArrayLike, y: ArrayLike, M: ArrayLike, loss: Any) -> float:
    """Return the bound of Theorem 1 as (L/ρ)(q + (1 − q)·ε'/L(0)), with q the share of zeros.

    ε' is the mean loss over non-zero pairs. The value equals `training_error_bound`; it shows the cost of the zeros.

    Examples
    --------
    >>> training_error_bound_by_zeros([[2.0, -0.5], [0.0, 1.0]], [0, 1], [[+1, -1], [-1, +1]], "hinge")
    0.375
    """
    known = _for_theorem_1(loss)
    F, labels, code = check_margins(F, y, M)
    q, present = zero_fraction(y, M), code[labels] != 0
    share = known((code[labels] * F)[present]).mean() / known.at_zero if present.any() else 0.0
    return float(length_over_distance(M) * (q + (1 - q) * share))


def hamming_error_bound(F: ArrayLike, y: ArrayLike, M: ArrayLike, loss: Any = None) -> float:
    """Return the bound of Corollary 2 on the error of Hamming decoding, with ties as errors.

    It is (1/ρn) Σ_i Σ_s (1 − sign(M(y_i, s)·f_s(x_i))). With a loss it is the weaker form 2L·ε/(ρ·L(0)), which requires
    L(z) ≥ 0, and L(z) ≥ L(0) > 0 for z < 0.

    Examples
    --------
    >>> hamming_error_bound([[2.0, -0.5], [0.0, 1.0]], [0, 1], [[+1, -1], [-1, +1]])
    0.25
    """
    if loss is None:
        return 2 * length_over_distance(M) * average_binary_loss(F, y, M, "hamming")
    known = as_loss(loss)
    if not (known.nonnegative and known.penalises_errors):
        raise ValueError(
            f"loss={known.name!r} does not satisfy L ≥ 0 and L(z) ≥ L(0) > 0 for z < 0, which Corollary 2 requires."
        )
    return 2 * length_over_distance(M) * average_binary_loss(F, y, M, known) / known.at_zero


def hamming_error_bound_by_zeros(F: ArrayLike, y: ArrayLike, M: ArrayLike) -> float:
    """Return the bound of Corollary 2 as (L/ρ)(q + 2(1 − q)·e'), with q the share of zeros.

    e' is the share of non-zero pairs with a wrong sign. A margin of exactly 0 counts as wrong here, and half in
    `hamming_error_bound`; otherwise the two are equal.

    Examples
    --------
    >>> hamming_error_bound_by_zeros([[2.0, -0.5], [0.0, 1.0]], [0, 1], [[+1, -1], [-1, +1]])
    0.5
    """
    F, labels, code = check_margins(F, y, M)
    q, target = zero_fraction(y, M), code[labels]
    wrong = (np.sign(F) != target)[target != 0]
    return float(length_over_distance(M) * (q + 2 * (1 - q) * (wrong.mean() if wrong.size else 0.0)))


def zero_fraction(y: ArrayLike, M: ArrayLike) -> float:
    """Return q, the share of pairs (example, column) in which the code has a 0.

    Examples
    --------
    >>> zero_fraction([0, 1, 2], [[+1, +1, 0], [-1, 0, +1], [0, -1, -1]])
    0.333...
    """
    code = np.asarray(M)
    return float((code[check_labels(y, len(code))] == 0).mean())


def training_error(D: ArrayLike, y: ArrayLike) -> float:
    """Return the error of class scores D (n, k) as in the theorems: a tie with a wrong class is a mistake.

    Examples
    --------
    >>> training_error([[1.0, 1.0], [0.0, 2.0]], [0, 1])
    0.5
    """
    D, labels = check_scores(D, y)
    own = D[np.arange(len(labels)), labels]
    return float((_as_good_as(own, D).sum(axis=1) > 1).mean())


def expected_error(D: ArrayLike, y: ArrayLike) -> float:
    """Return the expected error with random ties: the mean of 1 − [y ∈ H]/|H|, H the best classes of a row.

    Examples
    --------
    >>> expected_error([[1.0, 1.0], [0.0, 2.0]], [0, 1])
    0.25
    """
    D, labels = check_scores(D, y)
    best = _as_good_as(D.max(axis=1), D)
    return float(1 - (best[np.arange(len(labels)), labels] / best.sum(axis=1)).mean())


def _as_good_as(score: NDArray[np.float64], D: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return which scores reach `score` up to rounding, as decoders raise the winner of a tie in its last digit."""
    reached: NDArray[np.bool_] = (score - 1e-12 * np.abs(score) - 1e-300)[:, None] <= D
    return reached


def length_over_distance(M: ArrayLike) -> float:
    """Return L/rho, or raise ValueError for a code with equal rows."""
    rho = min_distance(np.asarray(M))
    if rho <= 0:
        raise ValueError(
            "M has two rows at distance 0, and the bound divides by the smallest distance; use distinct rows."
        )
    return float(np.asarray(M).shape[1] / rho)


def _for_theorem_1(loss: Any) -> Loss:
    known = as_loss(loss)
    if not (known.nonnegative and known.convex_at_zero):
        raise ValueError(
            f"loss={known.name!r} does not satisfy L ≥ 0 and (L(z) + L(−z))/2 ≥ L(0) > 0, which Theorem 1 requires."
        )
    return known
