"""Bounds on the generalisation error from margins on a sample; they hold with probability 1 − delta and often exceed 1.

A multiclass margin is the score of the true class minus the best other score, as returned by
`outputcodes.diagnostics.multiclass_margins`.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from outputcodes._ground.validation import check_scores

Array = NDArray[np.float64]

# A solver reaches margins of 1 only up to its tolerance; scaling the matrix makes up for the difference.
SLACK = 1e-3


def pairwise_margins(D: ArrayLike, y: ArrayLike, gram: ArrayLike) -> Array:
    """Return γ (k, k), the smallest distance of the examples of two classes from the hyperplane that separates them.

    Parameters
    ----------
    D : array of shape (n, k)
        Scores M_r·x of a linear or kernel SVM without a bias.
    y : array of shape (n,)
        Labels 0..k-1.
    gram : array of shape (k, k)
        Inner products M_r·M_s of the class vectors: M @ M.T, or its equivalent in the space of the kernel.

    Examples
    --------
    >>> M = np.array([[1.0, 0.0], [-1.0, 0.0]])
    >>> pairwise_margins(np.array([[2.0, 5.0], [-3.0, 1.0]]) @ M.T, [0, 1], M @ M.T)
    array([[inf,  2.],
           [ 2., inf]])
    """
    D, labels = check_scores(D, y)
    functional, distance = _functional_margins(D, labels), np.sqrt(_squared_distances(gram, D.shape[1]))
    lead = np.minimum(functional, functional.T)
    np.fill_diagonal(lead, np.inf)
    if (distance + np.diag(np.full(len(distance), np.inf)) == 0).any():
        raise ValueError("gram has two equal class vectors, so no hyperplane separates their classes.")
    margins: Array = lead / np.where(np.isinf(lead), 1.0, distance)
    return margins


def separable_error_bound(
    D: ArrayLike,
    y: ArrayLike,
    gram: ArrayLike,
    radius: float,
    delta: float = 0.05,
    *,
    by: str = "norm",
    log_base: float = math.e,
) -> float:
    """Return the bound of Crammer & Singer on the error of an SVM without a bias that separates the sample.

    The bound (Theorem 4 and Corollary 2) is (130 R²/n)·(D'·log(4en)·log(4n) + log(2(2n)^N/δ)) with N = k(k − 1)/2. D'
    is Σ_{r<s} 1/γ_rs² of the `pairwise_margins` (by="margins"), at most Σ_{r<s} ‖M_r − M_s‖² (by="distances"), at most
    k‖M‖² (by="norm", the corollary). The papers leave the base of the logarithm open.

    Parameters
    ----------
    D, y, gram : as for `pairwise_margins`
        All multiclass margins must be at least 1 (no slack), or positive with by="margins".
    radius : float
        Radius of a ball around the origin that contains all inputs.
    delta : float, default=0.05
        Probability that the bound fails.
    by : {"norm", "distances", "margins"}, default="norm"
    log_base : float, default=e

    Examples
    --------
    >>> M = np.array([[1.0, 0.0], [-1.0, 0.0]])
    >>> X = np.array([[2.0, 5.0], [-3.0, 1.0]])
    >>> bound = separable_error_bound(X @ M.T, [0, 1], M @ M.T, radius=6.0)
    >>> bound > 1
    True
    """
    scores, labels = check_scores(D, y)
    n, k = scores.shape
    size = float(_squared_distances(gram, k).sum() / 2)
    if by == "margins":
        margins = pairwise_margins(scores, labels, gram)
        if not (margins > 0).all():
            raise ValueError("the SVM does not separate the sample, which the bound requires; increase C.")
        size = float((1 / np.square(margins[np.triu_indices(k, 1)])).sum())
    elif by in ("distances", "norm"):
        size = k * float(np.trace(np.asarray(gram))) if by == "norm" else size
        size /= _without_slack(_functional_margins(scores, labels))
    else:
        raise ValueError(f"by={by!r} must be 'norm', 'distances' or 'margins'.")
    return _ddag_bound(n, size, k * (k - 1) // 2, radius, delta, log_base)


def separable_class_error_bound(
    D: ArrayLike,
    y: ArrayLike,
    gram: ArrayLike,
    label: int,
    radius: float,
    delta: float = 0.05,
    *,
    log_base: float = math.e,
) -> float:
    """Return the bound of Corollary 3 on the probability that "is of class `label`" and "is predicted so" disagree.

    It is `separable_error_bound` with D' = Σ_s ‖M_label − M_s‖² (k‖M_label‖² + ‖M‖² if the class vectors sum to 0) and
    N = k − 1. Only the hyperplanes of this class need margins of at least 1.

    Examples
    --------
    >>> M = np.array([[1.0, 0.0], [-1.0, 0.0]])
    >>> D = np.array([[2.0, 5.0], [-3.0, 1.0]]) @ M.T
    >>> separable_class_error_bound(D, [0, 1], M @ M.T, 0, radius=6.0) > 1
    True
    """
    scores, labels = check_scores(D, y)
    n, k = scores.shape
    if not 0 <= label < k:
        raise ValueError(f"label={label!r} must be between 0 and {k - 1}.")
    functional = _functional_margins(scores, labels)
    own = np.concatenate([functional[label], functional[:, label]])
    size = _squared_distances(gram, k)[label].sum() / _without_slack(own)
    return _ddag_bound(n, float(size), k - 1, radius, delta, log_base)


def boosting_margin_bound(
    margins: ArrayLike,
    n_columns: int,
    vc_dimension: float,
    theta: float,
    delta: float = 0.05,
    *,
    all_theta: bool = False,
) -> float:
    """Return the bound of Allwein, Schapire & Singer on the error of voted columns on new examples.

    This is Theorem 3 with explicit constants: the share of margins at most θ, plus
    16·√(ln(16 ln L/(θ²δ))/(8n) + (2d/(nθ²))·ln(2eLn/d)·ln(eL²n/d)).

    Parameters
    ----------
    margins : array of shape (n,)
        Multiclass margins of the sample, where columns are weighted means of binary hypotheses.
    n_columns : int
        The length L of the code.
    vc_dimension : float
        d, the VC dimension of the binary hypotheses; n ≥ d·L ≥ 1 is required.
    theta : float
        The margin, in (0, 1]; must be chosen without looking at the sample, unless `all_theta`.
    delta : float, default=0.05
    all_theta : bool, default=False
        Return a bound that holds for all θ at once: θ is rounded down to a power of ½, and δ is divided among them.

    Examples
    --------
    >>> round(boosting_margin_bound(np.ones(10**6), n_columns=10, vc_dimension=3, theta=0.5), 4)
    1.3717
    """
    sample, d, L = _checked_margins(margins), float(vc_dimension), int(n_columns)
    n = sample.size
    _check_delta(delta)
    if not 0 < theta <= 1:
        raise ValueError(f"theta={theta!r} must be above 0 and at most 1.")
    if not n >= d * L >= 1:
        raise ValueError(
            f"n={n}, vc_dimension={d:g} and n_columns={L}: the theorem requires n ≥ vc_dimension·n_columns ≥ 1."
        )
    share = float((sample <= theta).mean())
    if all_theta:
        j = math.ceil(math.log2(1 / theta))
        theta, delta = 2.0**-j, delta * 2.0 ** -(j + 1)
    first = math.log(16 * math.log(L) / (theta**2 * delta)) if L > 1 else math.log(1 / delta)
    second = 2 * d / (n * theta**2) * math.log(2 * math.e * L * n / d) * math.log(math.e * L**2 * n / d)
    return share + 16 * math.sqrt(first / (8 * n) + second)


def margin_loss(margins: ArrayLike, rho: float) -> float:
    """Return the mean of Φ_ρ(margin) = min(1, max(0, 1 − margin/ρ)), between the shares of margins ≤ 0 and ≤ ρ.

    Examples
    --------
    >>> margin_loss([-1.0, 0.5, 3.0], rho=2.0)
    0.583...
    """
    if not 0 < rho < math.inf:
        raise ValueError(f"rho={rho!r} must be positive and finite.")
    return float(np.clip(1 - _checked_margins(margins) / rho, 0, 1).mean())


def margin_bound(margins: ArrayLike, n_classes: int, complexity: float, rho: float, delta: float = 0.05) -> float:
    """Return the bound mean Φ_ρ + (4k/ρ)·R + √(ln(1/δ)/(2n)) on the error.

    R is the Rademacher complexity of the score functions of one class. The bound is by Mohri, Rostamizadeh & Talwalkar,
    for a fixed ρ.

    Examples
    --------
    >>> margin_bound([1.0, 2.0, 0.5], n_classes=3, complexity=0.1, rho=1.0)
    2.07...
    """
    _check_delta(delta)
    if not complexity >= 0:
        raise ValueError(f"complexity={complexity!r} must be at least 0.")
    deviation = math.sqrt(math.log(1 / delta) / (2 * _checked_margins(margins).size))
    return margin_loss(margins, rho) + 4 * n_classes / rho * complexity + deviation


def kernel_margin_bound(
    margins: ArrayLike, n_classes: int, radius: float, norm: float, rho: float, delta: float = 0.05
) -> float:
    """Return `margin_bound` for kernel SVMs: R ≤ √(r²Λ²/n), r² = sup K(x, x), (Σ_r ‖w_r‖^p)^(1/p) ≤ Λ for some p ≥ 1.

    Examples
    --------
    >>> kernel_margin_bound(np.full(10**6, 1.0), n_classes=3, radius=1.0, norm=2.0, rho=1.0)
    0.025...
    """
    if not (radius >= 0 and norm >= 0):
        raise ValueError(f"radius={radius!r} and norm={norm!r} must be at least 0.")
    return margin_bound(margins, n_classes, radius * norm / math.sqrt(max(1, np.size(margins))), rho, delta)


def _functional_margins(D: Array, y: NDArray[np.intp]) -> Array:
    """Return the smallest lead (k, k) of score r over score s among the examples of class r; inf if there are none."""
    k = D.shape[1]
    lead = np.full((k, k), np.inf)
    for r in np.unique(y):
        own = D[y == r]
        lead[r] = (own[:, [r]] - own).min(axis=0)
    np.fill_diagonal(lead, np.inf)
    return lead


def _squared_distances(gram: ArrayLike, k: int) -> Array:
    """Return ‖M_r − M_s‖² from inner products."""
    products = np.asarray(gram, dtype=np.float64)
    if products.shape != (k, k) or not np.isfinite(products).all() or not np.allclose(products, products.T):
        raise ValueError(f"gram must be a symmetric ({k}, {k}) array of finite inner products M_r·M_s.")
    own = np.diag(products)
    squared: Array = np.maximum(own[:, None] + own - 2 * products, 0)
    return squared


def _without_slack(functional: Array) -> float:
    """Return the square of the scale that makes all margins 1; raise an error if they are clearly smaller."""
    if (least := float(functional.min())) < 1 - SLACK:
        raise ValueError(
            f"the smallest margin is {least:.3g}, but the bound requires an SVM that separates the sample "
            "without slack, with all margins at least 1; increase C, or use by='margins'."
        )
    return min(1.0, least) ** 2


def _ddag_bound(n: int, size: float, nodes: int, radius: float, delta: float, log_base: float) -> float:
    _check_delta(delta)
    if not 0 < radius < math.inf or not log_base > 1:
        raise ValueError(f"radius={radius!r} must be positive and finite, and log_base={log_base!r} above 1.")
    unit = math.log(log_base)
    main = size * math.log(4 * math.e * n) * math.log(4 * n) / unit**2
    return 130 * radius**2 / n * (main + (math.log(2 / delta) + nodes * math.log(2 * n)) / unit)


def _checked_margins(margins: ArrayLike) -> Array:
    sample = np.asarray(margins, dtype=np.float64)
    if not sample.size or np.isnan(sample).any():
        raise ValueError("margins must contain at least one number and no NaN.")
    return sample


def _check_delta(delta: float) -> None:
    if not 0 < delta < 1:
        raise ValueError(f"delta={delta!r} must be between 0 and 1.")
