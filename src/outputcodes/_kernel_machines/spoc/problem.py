"""What the solvers of multiclass SVMs share: the problem in padded arrays, its solution, and the certificate."""

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
    """How well a multiclass SVM was solved.

    `value` is the objective and `gap` by how much it may exceed the optimum, `violation` the largest ψ, `iterations`
    the epochs or rounds, `converged` whether ψ fell to the tolerance.
    """

    value: float
    gap: float
    violation: float
    iterations: int
    converged: bool


class SpocSolution(NamedTuple):
    """Dual variables τ (n, k), the matrix M (k, L) unless it was on a Gram matrix, and the certificate."""

    tau: Array
    M: Array | None
    certificate: SpocCertificate


@dataclass(frozen=True)
class SpocProblem:
    """min ½‖M‖² + Σ c_i ξ_i for examples of positive cost; b_i is targets[target[i]], padded to whole lanes."""

    y: Rows
    cost: Array
    targets: Array
    target: Rows
    paired: bool

    @classmethod
    def of(cls, y: Rows, k: int, cost: Array, targets: Array | None, paired: bool) -> SpocProblem:
        """Return the problem with the targets b (n, k), or 1 − [y_i = r] for None, which needs k rows only."""
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
        """Return η to start from, as near to τ (n, k) as the costs allow; of τ = 0 for None."""
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
        """Move η of some examples on along its last change, to the maximum of the dual or to a bound; return how far.

        Single examples make small steps where their vectors are alike; all of them together make a large one.
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
        """Return what compiled code takes, K_ii being the squares."""
        return self.y, self.cost, squares, self.targets, self.target, self.paired

    def certificate(self, verdicts: Array, norm: float, iterations: int, tol: float) -> SpocCertificate:
        """Return the certificate, from the verdicts on all examples and ‖M‖²."""
        own = self.targets[self.target, self.y]
        value = 0.5 * norm + float(self.cost @ (verdicts[:, 1] + own))
        violation = float(verdicts[:, 0].max(initial=0.0))
        return SpocCertificate(value, float(verdicts[:, 2].sum()), violation, iterations, violation <= tol)
