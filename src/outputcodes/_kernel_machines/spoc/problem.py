"""Problem, solution and certificate shared by the multiclass SVM solvers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from outputcodes._ground.lanes import LANES, aligned_zeros
from outputcodes._kernel_machines.spoc.reduced import BIG

Rows = NDArray[np.intp]
Array = NDArray[np.float64]


class SpocCertificate(NamedTuple):
    """Certificate of a solution.

    `value` is the objective, `gap` bounds its distance from the optimum, `violation` is the largest ψ, `iterations` is
    the number of epochs or rounds, and `converged` is whether ψ reached the tolerance.
    """

    value: float
    gap: float
    violation: float
    iterations: int
    converged: bool


class SpocSolution(NamedTuple):
    """Dual variables τ (n, k), the matrix M (k, L) or None for a Gram matrix, and the certificate."""

    tau: Array
    M: Array | None
    certificate: SpocCertificate


@dataclass(frozen=True)
class SpocProblem:
    """Problem min ½‖M‖² + Σ c_i ξ_i for examples of positive cost; b_i is targets[target[i]], padded to whole lanes."""

    y: Rows
    cost: Array
    targets: Array
    target: Rows
    paired: bool

    @classmethod
    def of(cls, y: Rows, k: int, cost: Array, targets: Array | None, paired: bool) -> SpocProblem:
        """Build the problem with the targets b (n, k); None means 1 − [y_i = r], stored in only k rows."""
        b = 1 - np.eye(k) if targets is None else targets
        padded = aligned_zeros(len(b), -(-k // LANES) * LANES)
        padded[:, :k], padded[:, k:] = b, -BIG
        return cls(y, cost, padded, y if targets is None else np.arange(len(y)), paired)

    def signed(self, eta: Array) -> Array:
        """Return τ = c [r = y] − η."""
        tau: Array = 0.0 - eta
        tau[np.arange(len(tau)), self.y] += self.cost
        return tau

    def feasible(self, tau: Array | None, k: int) -> Array:
        """Return the starting η, as close to τ (n, k) as the costs allow; None means τ = 0."""
        rows, eta = np.arange(len(self.y)), aligned_zeros(len(self.y), self.targets.shape[1])
        if tau is not None:
            wrong, cost = np.maximum(-tau, 0), self.cost[:, None]
            wrong[rows, self.y] = 0
            if self.paired:
                np.minimum(wrong, cost, out=wrong)
            else:
                wrong *= cost / np.maximum(wrong.sum(axis=1, keepdims=True), cost)
            eta[:, :k] = wrong
        eta[rows, self.y] = self.cost - eta.sum(axis=1)
        return eta

    def prolong(self, rows: Any, eta: Array, change: Array, gain: float, curvature: float) -> float:
        """Extend the last change of η to the maximum of the dual along it, or to a bound; return the step length.

        Steps on single examples are slow where the vectors are similar; a joint step is faster.
        """
        if gain <= 0 or curvature <= 0:
            return 0.0
        y, cost = self.y[rows], self.cost[rows, None]
        own = (np.arange(eta.shape[1]) == y[:, None]) & self.paired
        falling, rising = (change < 0) & ~own, (change > 0) & ~own & self.paired
        farthest = (eta[falling] / -change[falling]).min(initial=gain / curvature)
        farthest = ((cost - eta)[rising] / change[rising]).min(initial=farthest)
        step = max(0.0, float(farthest))
        eta += step * change
        np.maximum(eta, 0, out=eta, where=~own)
        return step

    def arrays(self, squares: Array) -> tuple[Any, ...]:
        """Return the arguments of the compiled functions; `squares` holds K_ii."""
        return self.y, self.cost, squares, self.targets, self.target, self.paired

    def certificate(self, verdicts: Array, norm: float, iterations: int, tol: float) -> SpocCertificate:
        """Return the certificate, given the verdicts on all examples and ‖M‖²."""
        own = self.targets[self.target, self.y]
        value = 0.5 * norm + float(self.cost @ (verdicts[:, 1] + own))
        violation = float(verdicts[:, 0].max(initial=0.0))
        return SpocCertificate(value, float(verdicts[:, 2].sum()), violation, iterations, violation <= tol)
