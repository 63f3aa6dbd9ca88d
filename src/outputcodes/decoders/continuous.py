"""A decoder that learns a real-valued code from the margins of trained columns."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from numbers import Real
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import brentq
from sklearn.exceptions import ConvergenceWarning

from outputcodes._ground.planning import Planning
from outputcodes._ground.validation import check_margins, check_weight, unknown_name
from outputcodes._kernel_machines import spoc as _spoc
from outputcodes._kernel_machines.gram import Gram
from outputcodes._kernel_machines.kernel_function import Kernel
from outputcodes._kernel_machines.parameters import check_gamma, check_polynomial
from outputcodes.decoders import _linear_programs
from outputcodes.decoders._linear_programs import Solution
from outputcodes.decoders.base import Decoder, Scorer, check_fitted_on

Array = NDArray[np.float64]
Rows = NDArray[np.intp]

# Public: the solver of the l2 norm by itself, for code that times it or needs its certificate, as reproduce/ does.
solve_spoc = _spoc.solve

# The Gram matrix of a kernel is kept in memory up to this many megabytes; above, its rows are recomputed.
CACHE_SIZE = 2000
# If M is within its bound at this small β (times the number of examples), the bound is not active.
SMALLEST_BETA = 1e-6
# If 0 is optimal, a solver returns noise: its value is not below that at 0 by more than this fraction.
ROUNDING = 1e-12
# ψ of the worst example is a strict measure: an objective that is accurate to this fraction is sufficient for a code.
ENOUGH = 1e-3


class Continuous(Decoder):
    """A real-valued code, learned so that the margins of each example are closest to the row of its class.

    With h_i the margins of example i, M minimises β‖M‖ + Σ_i ξ_i (for "l2" (β/2)‖M‖²), where
    ξ_i = max_r(h_i·M_r + [r ≠ y_i]) − h_i·M_{y_i} is an upper bound of the error on i. The discrete code of the columns
    only breaks exact ties, and is used, with a warning, if M = 0 is optimal and nothing can be learned.

    Parameters
    ----------
    norm : {"l2", "l1", "linf"}, default="l2"
        "l2" is a quadratic program, solved by SPOC. The others are linear programs, solved by HiGHS, with up to 20
        million non-zeros: 2L for each pair of an example and a class that it may be confused with, one to three pairs
        per example. "l1" sets many entries to 0, "linf" gives many entries the same size.
    beta : float, default=1.0
        β: a larger value makes M smaller.
    bound : float, optional
        Minimise Σ ξ_i with ‖M‖ ≤ bound instead; β is then ignored.
    kernel : {"linear", "rbf", "poly"} or callable, default="linear"
        With "l2": rows and margins are compared in the feature space of the kernel. A callable takes two arrays of
        margins and returns their kernel matrix.
    gamma, degree, coef0 : float
        Parameters of the kernel: exp(−γ‖f − h‖²), (γ f·h + coef0)^degree. γ=None means 1 / L.
    incremental : bool, default=False
        Learn M column by column, each the best addition to those before it. One column can favour only two classes, so
        alone it gains nothing unless one class has most of its margins of one sign. Such a column waits, and is learned
        together with the next ones as soon as they gain. With `bound`, it bounds each addition.
    margins : {"train", "held-out"}, default="train"
        Learn from the margins of the training rows, or from cross-fitted ones. With linear learners and boosted
        stumps the former are no worse, at a quarter of the cost; learners that fit their training rows perfectly, such
        as kernel SVMs with large C, need the latter (benchmarks/designed_codes.py).
    cv : int, splitter or None, default=3
        The folds of the held-out margins.
    tol : float, default=1e-3
        The tolerance of SPOC: the largest violation ψ of an example.

    Attributes
    ----------
    matrix_ : ndarray of shape (k, L)
        The learned code. With a kernel other than "linear" there are `support_margins_` (m, L) and `dual_` (m, k)
        instead, and the score of class r is Σ_i dual_ir·K(f, support_margins_i). All 0 if nothing was learned.
    objective_, gap_ : float
        The value of the objective, and a bound on its distance from the optimum; with `incremental` from the sum of
        the optima of the additions.
    slack_ : ndarray
        Σ ξ_i; with `incremental` after each column, unchanged by a column that waits.

    References
    ----------
    Crammer & Singer, "On the learnability and design of output codes", Machine Learning 47 (2002).

    Examples
    --------
    >>> H = [[1, 1], [1, -1], [-1, 1], [-1, -1], [1, 1], [1, -1]]
    >>> decoder = Continuous(tol=1e-6).fit(H, [0, 1, 2, 2, 1, 1], [[1, 1], [1, -1], [-1, 1]])
    >>> (6 * decoder.matrix_).round(2)
    array([[ 1.,  1.],
           [ 4., -2.],
           [-5.,  1.]])
    """

    planning = Planning(tried=False)

    def __init__(
        self,
        norm: Literal["l2", "l1", "linf"] = "l2",
        *,
        beta: float = 1.0,
        bound: float | None = None,
        kernel: str | Callable[[Any, Any], Any] = "linear",
        gamma: float | None = None,
        degree: float = 3,
        coef0: float = 0.0,
        incremental: bool = False,
        margins: Literal["train", "held-out"] = "train",
        cv: Any = 3,
        tol: float = 1e-3,
    ) -> None:
        self.norm = norm
        self.beta = beta
        self.bound = bound
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.incremental = incremental
        self.margins = margins
        self.cv = cv
        self.tol = tol

    @property
    def needs(self) -> Literal["train", "held-out"]:  # type: ignore[override]
        """The margins to learn from."""
        return self.margins

    def fit(self, F: ArrayLike, y: ArrayLike, M: ArrayLike, weight: ArrayLike | None = None) -> Self:
        """Learn the code from margins F and labels y; margins that a fold could not compute (NaN) count as 0."""
        self._check_parameters()
        F = np.asarray(F, dtype=np.float64)
        H, labels, code = check_margins(np.where(np.isnan(F), 0.0, F), y, M)
        checked = check_weight(weight, len(labels))
        cost = np.ones(len(labels)) if checked is None else checked
        learn = self._fit_matrix if self.kernel == "linear" else self._fit_kernel
        if short := learn(H, labels, len(code), cost):
            remedy = "increase beta or tol" if self.bound is None else "decrease bound, or increase tol"
            warnings.warn(
                f"Continuous: SPOC stopped at a gap of {max(short):.2g}; scale the margins, {remedy}.",
                ConvergenceWarning,
                stacklevel=2,
            )
        if not self._learned().any():
            warnings.warn(
                f"Continuous learned nothing: no matrix is better than 0 on these margins of {H.shape[1]} columns for "
                f"{len(code)} classes. Scores are those of the given code. {self._remedy()}, or use a longer code.",
                UserWarning,
                stacklevel=2,
            )
        return self

    def _fit_matrix(self, H: Array, y: Rows, k: int, cost: Array) -> list[float]:
        """Learn all columns at once, or those that wait as soon as they gain; columns that wait at the end stay 0.

        Return the gaps at which SPOC stopped early, as `_fit_kernel` does.
        """
        rows, L = np.arange(len(y)), H.shape[1]
        b = 1.0 - np.eye(k)[y]
        M, slack, penalty, gap = np.zeros((k, L)), [_slack(b, y, cost)], 0.0, 0.0
        first, short = 0, list[float]()
        for last in range(1, L + 1) if self.incremental else [L]:
            if slack[-1] <= ROUNDING * cost.sum():
                slack.append(slack[-1])
                continue
            h = H[:, first:last]
            # The following columns start from the advantages gained so far.
            found = self._solve(h, y, b - b[rows, y][:, None], cost, short)
            gains = found.objective < slack[-1] * (1 - ROUNDING)
            if gains:
                M[:, first:last], first = found.matrix, last
                b = b + h @ found.matrix.T
                penalty += found.objective - _slack(b, y, cost)
            if gains or last == L:
                gap += found.gap
            slack.append(_slack(b, y, cost))
        self.matrix_, self.slack_ = M, np.array(slack[1:])
        self.objective_, self.gap_ = penalty + slack[-1], gap
        return short

    def _solve(self, H: Array, y: Rows, b: Array, cost: Array, short: list[float]) -> Solution:
        if self.norm != "l2":
            beta = self.beta if self.bound is None else 0.0
            return _linear_programs.solve(H, y, b, cost, self.norm, beta, self.bound)
        if self.bound is not None:
            return self._within_bound(H, y, b, cost, self.bound, short)
        return self._quadratic(H, y, b, cost, self.beta, short)

    def _quadratic(self, H: Any, y: Rows, b: Array, cost: Array, beta: float, short: list[float]) -> Solution:
        answer = _spoc.solve(H, y, b.shape[1], beta=beta, weight=cost, targets=b, tol=self.tol)
        short += _stopped_short(answer.certificate)
        assert answer.M is not None  # H are vectors
        return Solution(answer.M, answer.certificate.value, answer.certificate.gap)

    def _within_bound(self, H: Array, y: Rows, b: Array, cost: Array, bound: float, short: list[float]) -> Solution:
        """Minimise Σ w_i ξ_i with ‖M‖ ≤ A: ‖M‖ decreases in β, and its multiplier is the β at which it equals A."""
        at_zero = _slack(b, y, cost)
        if at_zero <= ROUNDING * cost.sum():
            return Solution(np.zeros((b.shape[1], H.shape[1])), at_zero, at_zero)
        # In units of the margins, so that multipliers have no unit.
        unit = float(np.sqrt(cost @ np.square(H).sum(axis=1) / cost.sum())) or 1.0
        H, bound = H / unit, bound * unit
        tried, doubts = dict[float, Solution](), list[float]()

        def excess(log_beta: float) -> float:
            tried[log_beta] = self._quadratic(H, y, b, cost, float(np.exp(log_beta)), doubts)
            return float(np.linalg.norm(tried[log_beta].matrix)) - bound

        # (β/2)‖M‖² is at most the value of M = 0. The search starts there, because small β are harder to solve.
        price = highest = np.log(2 * at_zero / bound**2)
        smallest = min(np.log(SMALLEST_BETA * cost.sum()), highest)
        over = excess(price)
        M, objective, gap = tried[price]
        if objective >= at_zero * (1 - ROUNDING):
            # The penalty is flat at 0: if 0 is optimal for one β, it is optimal for all.
            return Solution(np.zeros_like(M), at_zero, gap)
        while over < 0 and price > smallest:
            price = max(price - np.log(10), smallest)
            over = excess(price)
        if over > 0 and price < highest:
            brentq(excess, price, min(price + np.log(10), highest), xtol=1e-6)
        # If β is so small that SPOC stops early, a larger β may have given a better M, or a better lower bound.
        lowest = max(0.0, *(a.objective - a.gap - np.exp(price) / 2 * bound**2 for price, a in tried.items()))
        within = [a.matrix * min(1.0, bound / max(float(np.linalg.norm(a.matrix)), bound)) for a in tried.values()]
        slack, M = min(((_slack(H @ M.T + b, y, cost), M) for M in within), key=lambda found: found[0])
        gap = max(slack - lowest, 0.0)
        short += doubts if gap > ENOUGH * slack else []
        return Solution(M / unit, slack, gap)

    def _fit_kernel(self, H: Array, y: Rows, k: int, cost: Array) -> list[float]:
        gamma = 1.0 / H.shape[1] if self.gamma is None else self.gamma
        self.kernel_ = Kernel(self.kernel, gamma, self.degree, self.coef0)
        gram = Gram(self.kernel_, H, np.float64, CACHE_SIZE)
        answer = _spoc.solve(gram, y, k, beta=self.beta, weight=cost, tol=self.tol)
        b = 1.0 - np.eye(k)[y]
        self.objective_, self.gap_, slack = answer.certificate.value, answer.certificate.gap, _slack(b, y, cost)
        if not (gains := self.objective_ < slack * (1 - ROUNDING)):
            self.objective_ = slack
        support = np.flatnonzero(answer.tau.any(axis=1) & gains)
        self.support_margins_, self.dual_ = H[support], answer.tau[support] / self.beta
        if gains:
            slack = _slack(self.kernel_.block(H, self.support_margins_) @ self.dual_ + b, y, cost)
        self.slack_ = np.array([slack])
        return _stopped_short(answer.certificate)

    def _learned(self) -> Array:
        learned: Array = self.matrix_ if self.kernel == "linear" else self.dual_
        return learned

    def contributions(self, F: ArrayLike, M: ArrayLike) -> Array | None:
        """Return the terms of the linear scores; with another kernel what a column adds as a whole."""
        if self.kernel != "linear":
            return super().contributions(F, M)
        F, M, _ = self._open(F, M)
        terms: Array = (self.matrix_ if self._learned().any() else M) * F[:, None]
        return terms

    def _scorer(self, M: NDArray[Any]) -> Scorer:
        check_fitted_on(self, "matrix_" if self.kernel == "linear" else "support_margins_", M)
        if not self._learned().any():
            return lambda F: F @ M.T
        if self.kernel == "linear":
            return lambda F: F @ self.matrix_.T
        return lambda F: self.kernel_.block(F, self.support_margins_) @ self.dual_

    def _remedy(self) -> str:
        """Return how to let M grow."""
        return "Decrease beta" if self.bound is None else "Increase bound"

    def _check_parameters(self) -> None:
        if self.norm not in ("l2", "l1", "linf"):
            raise unknown_name("norm", self.norm, ("l2", "l1", "linf"))
        if self.margins not in ("train", "held-out"):
            raise unknown_name("margins", self.margins, ("train", "held-out"))
        if isinstance(self.kernel, str) and self.kernel not in ("linear", "rbf", "poly"):
            raise unknown_name("kernel", self.kernel, ("linear", "rbf", "poly"))
        if not (isinstance(self.beta, Real) and 0 <= self.beta < np.inf):
            raise ValueError(f"beta={self.beta!r} must be a number of at least 0.")
        if self.beta == 0 and self.norm == "l2" and self.bound is None:
            raise ValueError(f"beta={self.beta!r} must be positive with norm='l2'; 0 is for the linear programs.")
        if self.bound is not None and not (isinstance(self.bound, Real) and 0 < self.bound < np.inf):
            raise ValueError(f"bound={self.bound!r} must be a positive number, or None.")
        if self.kernel != "linear":
            if self.norm != "l2":
                raise ValueError(f"kernel={self.kernel!r} needs norm='l2'; norm={self.norm!r} has no kernel form.")
            for name, plain in (("incremental", False), ("bound", None)):
                if getattr(self, name) != plain:
                    raise ValueError(f"{name}={getattr(self, name)!r} needs kernel='linear'.")
            if self.gamma is not None:
                check_gamma(self.gamma, "a positive number, or None for 1/L")
            check_polynomial(self, least=0)


def _slack(D: Array, y: Rows, cost: Array) -> float:
    """Return Σ w_i ξ_i from the scores with b added."""
    return float(cost @ (D.max(axis=1) - D[np.arange(len(y)), y]))


def _stopped_short(certificate: _spoc.SpocCertificate) -> list[float]:
    """Return the gap, if it is too large."""
    enough = certificate.converged or certificate.gap <= ENOUGH * certificate.value
    return [] if enough else [certificate.gap]
