"""Class probabilities p that agree best with the probabilities r of all columns, by two measures of agreement.

Column s requires r_s = S⁺/(S⁺ + S⁻), where S± are the sums of p over the classes with +1 and with −1.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.special import expit

from outputcodes._ground.blocks import row_blocks

Array = NDArray[np.float64]

# Rows are iterated until their gap is below the first; rounding may prevent this, and the second is accepted.
TOLERANCE, ACCEPTED = 1e-10, 1e-7
MAX_ITER = 200
# The smallest probability: reciprocals and squares of sums of such probabilities are still finite.
SMALLEST = 1e-40


class Coupled(NamedTuple):
    """Probabilities (n, k), and the gap (see the functions) and the number of iterations of each row."""

    p: Array
    gap: Array
    iterations: NDArray[np.intp]


def divergence_coupling(M: NDArray[Any], weight: Array) -> Callable[[Array], Coupled]:
    """Return a solver that minimises Σ_s w_s KL(r_s ‖ S⁺/(S⁺ + S⁻)), Σ w = 1, over the simplex, given log-odds of r.

    Newton's method in θ = ln p, with |∂| instead of ∂ in the Hessian P(∂²)P + diag(p∂): equal near the optimum, and
    positive for pairs and for codes without zeros. If a step for another code is no descent direction, the indefinite
    part of the Hessian is replaced by a majorant. The gap is the largest −∂/∂p_r in units of Σ_s w_s/(S⁺ + S⁻) over the
    columns of r: as p·∂ = 0, it is 0 only where the conditions for a minimum hold; for codes without zeros, where the
    unit is 1 and the problem is convex in p, it bounds the distance from the minimum. (Hastie & Tibshirani,
    Classification by pairwise coupling, 1998; Huang, Weng & Lin, Generalized Bradley–Terry models and multi-class
    probability estimates, 2006.)
    """
    # A column with one sign requires nothing: its share is 1 for any p.
    claims = (M > 0).any(axis=0) & (M < 0).any(axis=0)
    M, weight = M[:, claims], weight[claims]
    plus, minus = (M > 0).astype(np.float64), (M < 0).astype(np.float64)
    k, w, diagonal = len(M), weight / weight.sum(), np.arange(len(M))
    pairs = _pairs_of_classes(M)

    def sums(p: Array) -> tuple[Array, Array]:
        return p @ plus, p @ minus

    def value(p: Array, odds: Array) -> Array:
        up, down = sums(p)
        lost: Array = (w * (np.log(up + down) - expit(odds) * np.log(up) - expit(-odds) * np.log(down))).sum(axis=1)
        return lost

    def derivative(p: Array, odds: Array) -> tuple[Array, Array, Array]:
        """Return ∂/∂p and its units (n, k), and the weighted excess of each column's share over r (n, L)."""
        up, down = sums(p)
        excess = w * (up * expit(-odds) - down * expit(odds)) / (up + down)
        unit = (w / (up + down)) @ (plus + minus).T
        return (excess / up) @ plus.T - (excess / down) @ minus.T, unit, excess

    def solve_for_step(p: Array, g: Array, over: Array, under: Array, stay: Array) -> Array:
        """Return δθ from the Newton equations divided by p, which stay regular where p is 0."""
        up, down = sums(p)
        variance = w * up * down / np.square(up + down)
        entries = [(variance - over) / up**2, (variance - under) / down**2, -variance / (up * down)]
        system: Any = (np.hstack(entries) @ pairs).reshape(-1, k, k) * p[:, None, :]
        system[:, diagonal, diagonal] += stay + 1e-12
        system += p[:, None, :]  # multiples of p are equivalent: no step along p
        step: Any = np.linalg.solve(system, -g[:, :, None])[:, :, 0]
        clipped: Array = np.clip(step, -10.0, 10.0)
        return clipped

    def newton_step(p: Array, g: Array, excess: Array) -> Array:
        step = solve_for_step(p, g, excess, -excess, np.abs(g))
        uphill = np.flatnonzero((p * g * step).sum(axis=1) > -1e-8 * (p * np.abs(g)).sum(axis=1))
        if uphill.size:
            p, g = p[uphill], g[uphill]
            over, under = np.maximum(excess[uphill], 0.0), np.maximum(-excess[uphill], 0.0)
            up, down = sums(p)
            step[uphill] = solve_for_step(p, g, over, under, (over / up) @ plus.T + (under / down) @ minus.T)
        return step

    def solve(odds: Array) -> Coupled:
        p = np.full((len(odds), k), 1 / k)
        gap, iterations = np.full(len(odds), np.inf), np.zeros(len(odds), dtype=np.intp)
        active = np.arange(len(odds))
        for _ in range(MAX_ITER):
            if not active.size:
                break
            now, target = p[active], odds[active]
            g, unit, excess = derivative(now, target)
            gap[active] = (-g / unit).max(axis=1)
            iterations[active] += 1
            p[active] = _descended(value, now, target, g, newton_step(now, g, excess))
            active = active[gap[active] > TOLERANCE]
        return Coupled(p, gap, iterations)

    return lambda odds: _in_blocks(solve, odds[:, claims], k, 4 * k * k + 6 * M.shape[1])


def _descended(value: Callable[[Array, Array], Array], p: Array, odds: Array, g: Array, step: Array) -> Array:
    """Return p·e^step, normalised, with the step halved until the value decreases; p itself if it can't."""
    answer, before, slope = p.copy(), value(p, odds), (p * g * step).sum(axis=1)
    left, length = np.arange(len(p)), 1.0
    while left.size and length > 1e-6:
        trial = np.maximum(p[left] * np.exp(length * step[left]), SMALLEST)
        trial /= trial.sum(axis=1, keepdims=True)
        # Near the optimum the improvement is lost in rounding.
        allowed = before[left] + 1e-4 * length * slope[left] + 1e-15 * (1 + np.abs(before[left]))
        enough = value(trial, odds[left]) <= allowed
        answer[left[enough]] = trial[enough]
        left, length = left[~enough], length / 2
    return answer


def pairwise_coupling(M: NDArray[Any]) -> Callable[[Array], Coupled]:
    """Return a solver that minimises Σ_{a<b} (r_ba p_a − r_ab p_b)² with Σ p = 1, for log-odds of r (n, L), all pairs.

    There is one linear system per row, and its solution is never negative. The gap is its residual. (Wu, Lin & Weng,
    Probability estimates for multi-class classification by pairwise coupling, 2004, their second approach.)
    """
    k, diagonal = len(M), np.arange(len(M))
    plus, minus = (M > 0).astype(np.float64), (M < 0).astype(np.float64)
    first, second = plus.argmax(axis=0), minus.argmax(axis=0)

    def solve(odds: Array) -> Coupled:
        r, n = expit(odds), len(odds)
        system = np.zeros((n, k + 1, k + 1))
        system[:, first, second] = system[:, second, first] = -r * expit(-odds)
        system[:, diagonal, diagonal] = np.square(expit(-odds)) @ plus.T + np.square(r) @ minus.T
        system[:, k, :k] = system[:, :k, k] = 1.0
        right = np.zeros((n, k + 1, 1))
        right[:, k] = 1.0
        solution = np.linalg.solve(system, right)
        gap = np.abs(system @ solution - right).max(axis=(1, 2))
        p = np.maximum(solution[:, :k, 0], 0.0)
        return Coupled(p / p.sum(axis=1, keepdims=True), gap, np.ones(n, dtype=np.intp))

    return lambda odds: _in_blocks(solve, odds, k, 3 * (k + 1) ** 2 + M.shape[1])


def _pairs_of_classes(M: NDArray[Any]) -> Any:
    """Return (3L, k²) indicators of pairs of classes with both +1 in a column, both −1, one of each; sparse if rare."""
    k, L = M.shape
    places = []
    for s, column in enumerate(M.T):
        up, down = np.flatnonzero(column > 0), np.flatnonzero(column < 0)
        for part, a, b in ((0, up, up), (1, down, down), (2, up, down), (2, down, up)):
            cells = np.add.outer(k * a, b).ravel()
            places.append(np.stack([np.full(len(cells), part * L + s), cells]))
    row, cell = np.concatenate(places, axis=1)
    pairs = sp.csr_array((np.ones(len(row)), (row, cell)), shape=(3 * L, k * k))
    return pairs if len(row) < 0.05 * 3 * L * k * k else pairs.toarray()


def _in_blocks(solve: Callable[[Array], Coupled], odds: Array, k: int, width: int) -> Coupled:
    parts = [solve(odds[rows]) for rows in row_blocks(len(odds), width)]
    if not parts:
        return Coupled(np.empty((0, k)), np.empty(0), np.empty(0, dtype=np.intp))
    return Coupled(*(np.concatenate(part) for part in zip(*parts, strict=True)))
