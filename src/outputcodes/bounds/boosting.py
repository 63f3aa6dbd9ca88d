"""Training bounds for boosters, from the errors, normalisers and margins of their rounds.

Z_t is the sum of the weights after round t, before they are scaled to 1 again; e_t is the weighted error of its
hypothesis; U_t is the share of the weight that its colouring separates. Training errors count ties as mistakes.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import logsumexp

from outputcodes._ground.validation import check_labels, check_margins, check_scores, check_weight
from outputcodes.bounds.decoding_error import length_over_distance, zero_fraction
from outputcodes.decoders.loss import loss_scorer
from outputcodes.losses import LARGEST_EXPONENT, as_loss

Array = NDArray[np.float64]


def normaliser_product(Z: ArrayLike) -> float:
    """Return ∏ Z_t, which bounds the Hamming loss of AdaBoost.MH and the rank loss of AdaBoost.MR (ties count).

    Examples
    --------
    >>> normaliser_product([0.5, 0.5])
    0.25
    """
    checked = _in_range("Z", Z, 0, np.inf)
    return float(np.prod(checked))


def mh_error_bound(Z: ArrayLike, n_classes: int) -> float:
    """Return (k/2) ∏ Z_t, which bounds the error of AdaBoost.MH if each example has one label.

    Examples
    --------
    >>> mh_error_bound([0.5, 0.5], n_classes=3)
    0.375
    """
    return _count(n_classes) / 2 * normaliser_product(Z)


def mr_error_bound(Z: ArrayLike, n_classes: int) -> float:
    """Return (k − 1) ∏ Z_t, which bounds the error of AdaBoost.MR if each example has one label.

    Examples
    --------
    >>> mr_error_bound([0.5, 0.5], n_classes=3)
    0.5
    """
    return (_count(n_classes) - 1) * normaliser_product(Z)


def oc_error_bound(
    errors: ArrayLike, separated: ArrayLike, n_classes: int, variant: Literal["binary", "pseudo"] = "binary"
) -> float:
    """Return a bound on the training error of AdaBoost.OC after rounds with errors e_t and separated weights U_t.

    "binary": (k − 1) ∏ (1 − U + 2U √(e(1 − e))); "pseudo": (k − 1) ∏ √(1 − (U(1 − 2e))²). The first is never
    larger. Jin & Zhang (2005) print it without k − 1, and in that form it fails. If hypotheses abstain, U counts only
    pairs of examples on which they do not, and e is their error on these.

    Examples
    --------
    >>> round(oc_error_bound([0.1, 0.2], [0.5, 0.6], n_classes=3), 4)
    1.408
    """
    e, U = _in_range("errors", errors, 0, 1), _in_range("separated", separated, 0, 1)
    if variant not in ("binary", "pseudo"):
        raise ValueError(f"variant={variant!r} must be 'binary' or 'pseudo'.")
    if e.shape != U.shape:
        raise ValueError(f"errors {e.shape} and separated {U.shape} must each have one entry per round.")
    factors = 1 - U + 2 * U * np.sqrt(e * (1 - e)) if variant == "binary" else np.sqrt(1 - (U * (1 - 2 * e)) ** 2)
    return (_count(n_classes) - 1) * float(np.prod(factors))


def mo_margin_bound(errors: ArrayLike, M: ArrayLike, theta: float = 0.0) -> float:
    """Return the bound (L/ρ) ∏ 2 √(e^(1−θ) (1 − e)^(1+θ)) on the share of margins ≤ θ.

    This is Theorem 6 of Allwein, Schapire & Singer. The margins are `normalised_margins` of AdaBoost.MO with
    coefficients ½ ln((1 − e)/e); the code has no zeros.

    Examples
    --------
    >>> one_vs_all = 2 * np.eye(3) - 1
    >>> round(mo_margin_bound([0.2, 0.3, 0.25], one_vs_all), 6)
    0.95247
    >>> round(mo_margin_bound([0.2, 0.3, 0.25], one_vs_all, theta=0.1), 6)
    1.125147
    """
    if not -1 <= theta <= 1:
        raise ValueError(f"theta={theta} must be between -1 and 1, like the margins.")
    e = _in_range("errors", errors, 0, 0.5)
    return _ratio_without_zeros(M) * float(np.prod(2 * np.sqrt(e ** (1 - theta) * (1 - e) ** (1 + theta))))


def mo_margin_bound_by_edge(edge: float, n_rounds: int, M: ArrayLike, theta: float = 0.0) -> float:
    """Return the bound of Theorem 6 if every round has an error of at most ½ − edge.

    It is (L/ρ) (√((1 − 2·edge)^(1−θ) (1 + 2·edge)^(1+θ)))^T, for −1 ≤ θ ≤ 1, and falls exponentially if θ is small.

    Examples
    --------
    >>> round(mo_margin_bound_by_edge(0.2, 10, 2 * np.eye(3) - 1), 4)
    0.6273
    """
    return mo_margin_bound(np.full(n_rounds, 0.5 - float(_in_range("edge", edge, 0, 0.5))), M, theta)


def mo_margin_bound_by_zeros(Z: ArrayLike, eta: float, y: ArrayLike, M: ArrayLike, theta: float = 0.0) -> float:
    """Return the bound (L/ρ) e^(2ηθ) (q + (1 − q) ∏ Z_t) on the share of margins ≤ θ, θ ≥ 0, for any code.

    This is Theorem 6 with q the share of pairs (example, column) with a 0; ∏ Z_t is the mean of
    exp(−M(y_i, s)·F_s(x_i)) over the others.

    Examples
    --------
    >>> round(mo_margin_bound_by_zeros([0.8, 0.9], 1.0, [0, 1, 2], [[1, 1, 0], [-1, 0, 1], [0, -1, -1]]), 4)
    1.22
    """
    if not theta >= 0:
        raise ValueError(f"theta={theta} must be at least 0 for a code that may have zeros.")
    _check_eta(eta)
    q = zero_fraction(y, M)
    return float(length_over_distance(M) * np.exp(2 * eta * theta) * (q + (1 - q) * normaliser_product(Z)))


def normalised_scores(F: ArrayLike, M: ArrayLike, eta: float) -> Array:
    """Return ν (n, k) of margins F = Σ_t α_t h_t with η = Σ_t α_t: −(1/η) ln mean_s exp(−M(r, s)·F_s).

    It is in [−1, 1], and 0 for η = 0. The largest entry belongs to the class with the smallest exponential distance.

    Examples
    --------
    >>> normalised_scores([[2.0, -2.0]], [[1, -1], [-1, 1]], eta=2.0)
    array([[ 1., -1.]])
    """
    code = np.asarray(M, dtype=np.float64)
    F, _, code = check_margins(F, np.zeros(len(np.asarray(F)), dtype=np.intp), code)
    _check_eta(eta)
    if eta == 0:
        return np.zeros((len(F), len(code)))
    scores = loss_scorer(as_loss("exponential"), code, np.ones(code.shape))(F)
    nu: Array = (scores + np.log(code.shape[1])) / eta
    return nu


def normalised_margins(F: ArrayLike, y: ArrayLike, M: ArrayLike, eta: float) -> Array:
    """Return M_{f,η} (n,), half the difference between ν of the true class and the best other ν.

    It is in [−1, 1], and above 0 iff the true class wins without a tie.

    Examples
    --------
    >>> normalised_margins([[2.0, -2.0], [2.0, 2.0]], [0, 1], [[1, -1], [-1, 1]], eta=2.0)
    array([1., 0.])
    """
    F, labels, code = check_margins(F, y, M)
    nu = normalised_scores(F, code, eta)
    own = np.arange(len(code)) == labels[:, None]
    margins: Array = (nu[own] - nu.max(axis=1, where=~own, initial=-np.inf)) / 2
    return margins


def smooth_weights(D: ArrayLike, y: ArrayLike, lam: float) -> Array:
    """Return μ (n, k) of SmoothBoost for scores D(r) = Σ_t a_t f_t(r) h_t(x).

    μ(r) = e^D(r) / (e^D(y) + λ Σ_{r' ≠ y} e^D(r')).

    Examples
    --------
    >>> smooth_weights([[0.0, 0.0, 0.0], [0.4, -0.4, -0.4]], [0, 0], lam=0.5).round(3)
    array([[0.5 , 0.5 , 0.5 ], [0.69, 0.31, 0.31]])
    """
    D, labels = check_scores(D, y)
    if not lam >= 0:
        raise ValueError(f"lam={lam} must be at least 0.")
    factor = np.where(np.arange(D.shape[1]) == labels[:, None], 1.0, lam)
    # At λ = 0 only the largest float bounds μ.
    mu: Array = np.exp(np.minimum(D - logsumexp(D, b=factor, axis=1, keepdims=True), LARGEST_EXPONENT))
    return mu


def smooth_potential(mu: ArrayLike, y: ArrayLike, lam: float, weight: ArrayLike | None = None) -> float:
    """Return Φ = (1 + λ) mean_i Σ_{r ≠ y_i} μ(r|x_i) of SmoothBoost: it bounds the training error and never increases.

    Examples
    --------
    >>> smooth_potential(np.full((4, 3), 0.5), [0, 0, 1, 2], lam=0.5)
    1.5
    """
    _, others, share = _parts(mu, y, lam, weight)
    return float((1 + lam) * (share * others).sum())


def smooth_potential_drop(
    mu: ArrayLike, y: ArrayLike, lam: float, error: float, separated: float, weight: ArrayLike | None = None
) -> float:
    """Return the least decrease of Φ in a round.

    It is (1 + λ) U (1 − 2 √(e(1 − e))) mean_i μ(y_i|x_i) Σ_{r ≠ y_i} μ(r|x_i).

    Examples
    --------
    >>> round(smooth_potential_drop(np.full((4, 3), 0.5), [0, 0, 1, 2], lam=0.5, error=1 / 6, separated=0.75), 6)
    0.143237
    """
    own, others, share = _parts(mu, y, lam, weight)
    e, U = float(_in_range("error", error, 0, 1)), float(_in_range("separated", separated, 0, 1))
    return float((1 + lam) * U * (1 - 2 * np.sqrt(e * (1 - e))) * (share * own * others).sum())


def _parts(mu: ArrayLike, y: ArrayLike, lam: float, weight: ArrayLike | None) -> tuple[Array, Array, Array]:
    """Return μ of the true class, the sum of the others, and the share of the weight of each example."""
    values = np.asarray(mu, dtype=np.float64)
    if values.ndim != 2 or len(values) != np.size(y):
        raise ValueError(f"mu of shape {values.shape} and y of shape {np.shape(y)} must be (n, k) and (n,).")
    if not lam >= 0:
        raise ValueError(f"lam={lam} must be at least 0.")
    labels = check_labels(y, values.shape[1])
    given = check_weight(weight, len(labels))
    share = np.full(len(labels), 1 / len(labels)) if given is None else given / given.sum()
    is_own = np.arange(values.shape[1]) == labels[:, None]
    return values[is_own], values.sum(axis=1, where=~is_own), share


def _ratio_without_zeros(M: ArrayLike) -> float:
    if not np.all(M):
        raise ValueError("M has zeros; use mo_margin_bound_by_zeros.")
    return length_over_distance(M)


def _check_eta(eta: float) -> None:
    if not eta >= 0:
        raise ValueError(f"eta={eta} must be at least 0, as the sum of the coefficients.")


def _count(n_classes: int) -> int:
    if not n_classes >= 2:
        raise ValueError(f"n_classes={n_classes} must be at least 2.")
    return n_classes


def _in_range(name: str, values: ArrayLike, low: float, high: float) -> Array:
    """Return values as an array, clipped to the range where rounding exceeds it."""
    checked = np.asarray(values, dtype=np.float64)
    if not ((checked >= low - 1e-12) & (checked <= high + 1e-12)).all():
        raise ValueError(f"{name}={values!r} must be between {low} and {high}.")
    return np.clip(checked, low, high)
