"""Dual coordinate descent for linear columns on sparse rows, the columns of a code being the vector lanes.

The updates minimise exactly in one dual variable, in closed form or by a scalar iteration for each loss. They and the
terms of the objective that are summed along the way are scalar code and therefore written here; the final certificate
is computed from the array functions of `outputcodes.losses`.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import njit

HINGE, SQUARED, LOGISTIC = 0, 1, 2
FAST = {"reassoc", "contract", "nsz", "arcp"}


@njit(nogil=True, cache=True, fastmath=FAST)
def gather(X: Any, i: int, w: Any, f: Any) -> None:
    """Add x_i · w to f, four values of the row at a time so that fewer additions wait for each other.

    Unsigned indices need no test for negative ones, which count from the end.
    """
    data, indices, indptr = X
    s, last = indptr[i], indptr[i + 1]
    if f.size == 1:  # measured: a loop over one column takes three times as long
        total = 0.0
        for v in range(s, last):
            total += data[v] * w[np.uint64(indices[v]), 0]
        f[0] += total
        return
    while s + 4 <= last:
        a, b, c, d = data[s], data[s + 1], data[s + 2], data[s + 3]
        p, q = np.uint64(indices[s]), np.uint64(indices[s + 1])
        r, u = np.uint64(indices[s + 2]), np.uint64(indices[s + 3])
        for j in range(f.size):
            f[j] += (a * w[p, j] + b * w[q, j]) + (c * w[r, j] + d * w[u, j])
        s += 4
    while s < last:
        a, p = data[s], np.uint64(indices[s])
        for j in range(f.size):
            f[j] += a * w[p, j]
        s += 1


@njit(nogil=True, cache=True, fastmath=FAST)
def scatter(X: Any, i: int, f: Any, w: Any) -> None:
    """Add x_iᵀ f to w."""
    data, indices, indptr = X
    if f.size == 1:
        a = f[0]
        for s in range(indptr[i], indptr[i + 1]):
            w[np.uint64(indices[s]), 0] += a * data[s]
        return
    for s in range(indptr[i], indptr[i + 1]):
        a, p = data[s], np.uint64(indices[s])
        for j in range(f.size):
            w[p, j] += a * f[j]


@njit(nogil=True, cache=True)
def scores(X: Any, rows: Any, w: Any, F: Any) -> None:
    """Add X[rows] @ w to F."""
    for i in range(rows.size):
        gather(X, rows[i], w, F[i])


@njit(nogil=True, cache=True)
def combine(X: Any, rows: Any, A: Any, w: Any) -> None:
    """Add X[rows]ᵀ @ A to w."""
    for i in range(rows.size):
        scatter(X, rows[i], A[i], w)


@njit(nogil=True, cache=True, fastmath=FAST)
def balance(m: float, old: float, c: float, q: float) -> float:
    """Return the α that minimises ½q(α - old)² + m(α - old) + α log α + (c - α) log(c - α).

    Newton's method solves z = m + q(α - old), α = c/(1 + e^z), for the margin z: its slope is at least 1.
    """
    low, high = m - q * old, m + q * (c - old)
    z = m
    for _ in range(30):
        p = c / (1.0 + math.exp(z)) if z < 700.0 else 0.0
        excess = z - m - q * (p - old)
        if excess > 0:
            high = z
        else:
            low = z
        step = excess / (1.0 + q * p * (1.0 - p / c))
        z -= step
        if not low <= z <= high:
            z = 0.5 * (low + high)
        elif abs(step) < 1e-6:
            break
    return c / (1.0 + math.exp(z)) if z < 700.0 else 0.0


@njit(nogil=True, cache=True, fastmath=FAST)
def descend(
    order: Any, rows: Any, X: Any, y: Any, weight: Any, norms: Any, constant: float, tables: Any, loss: int, state: Any
) -> None:
    """Visit the examples in `order` once, in all columns together; example i is row rows[i] of X.

    Column j minimises over 0 ≤ α ≤ c, with t the signs and c = weight · cost of its examples,

        ½‖Σ_i α_i t_i x_i‖² + Σ_i φ(α_i) + offset Σ_i α_i t_i,
        φ(α) = -α (hinge);  α²/(4c) - α, α unbounded (squared hinge);  α log α + (c - α) log(c - α) (logistic)

    one α_i at a time, keeping w = Σ_i α_i t_i x_i (Hsieh, Chang, Lin, Keerthi & Sundararajan, A dual coordinate
    descent method for large-scale linear SVM, ICML 2008; Yu, Huang & Lin, Dual coordinate descent methods for logistic
    regression and maximum entropy models, 2011); c = 0 is an absent example.

    X = (data, indices, indptr), with a further feature of value `constant` in every row; norms are the ‖x‖² of its
    rows, this feature included. tables = signs (k, L), cost (k, L), offset (L,), the first two indexed by y of the row.
    state = (alpha (rows, L), w (d + 1, L), gap (L,), value (L,), still (rows,)): alpha and w are updated; gap and value
    grow by each example's terms of the duality gap and of the objective before its visit; `still` marks the examples
    that did not change.
    """
    signs, cost, offset = tables
    alpha, w, gap, value, still = state
    d, L = w.shape[0] - 1, w.shape[1]
    f = np.empty(L)
    for i in order:
        row = rows[i]
        r, v, q = y[row], weight[row], norms[row]
        for j in range(L):
            f[j] = offset[j] + constant * w[d, j]
        gather(X, row, w, f)
        moved = 0.0
        for j in range(L):
            t, c, old = signs[r, j], v * cost[r, j], alpha[i, j]
            new = 0.0
            if c > 0:
                value[j] += 0.5 * old * t * f[j]
                z = t * f[j] - 1
                short = max(-z, 0.0)
                if loss == SQUARED:
                    slope = z + 0.5 / c * old
                    new = max(old - slope / (q + 0.5 / c), 0.0)
                    gap[j] += c * slope * slope if z < 0 else old * (slope - 0.25 / c * old)
                    value[j] += c * short * short
                elif loss == HINGE:
                    new = min(max(old - z / q, 0.0), c)
                    gap[j] += (c - old) * short if z < 0 else old * z
                    value[j] += c * short
                else:
                    z += 1
                    new = balance(z, old, c, q)
                    e = math.exp(-abs(z))
                    p = (e if z > 0 else 1.0) / (1.0 + e)
                    # To second order, between the present α and the optimal one for z.
                    off = abs(old - c * p)
                    gap[j] += min(0.5 * off * off * (1.0 + e) ** 2 / (c * max(e, 1e-300)), off * (1.0 + abs(z)))
                    value[j] += c * (math.log1p(e) + max(-z, 0.0))
            alpha[i, j] = new
            f[j] = t * (new - old)
            moved += abs(new - old)
        still[i] = moved == 0
        if moved > 0:
            scatter(X, row, f, w)
            for j in range(L):
                w[d, j] += constant * f[j]
