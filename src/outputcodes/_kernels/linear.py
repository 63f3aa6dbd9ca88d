"""Dual coordinate descent for linear SVMs, the columns of a code being the vector lanes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit


@njit(nogil=True, cache=True, fastmath={"reassoc", "contract", "nsz", "arcp"})
def descend(
    order: Any,
    X: Any,
    y: Any,
    weight: Any,
    norms: Any,
    constant: float,
    signs: Any,
    cost: Any,
    squared: bool,
    state: Any,
) -> None:
    """Visit the examples of `order` once, in all columns at a time.

    Column j minimises over 0 ≤ α ≤ U, with t the signs and c = weight · cost of its examples,

        ½‖Σ_i α_i t_i x_i‖² + ½ Σ_i D_i α_i² - Σ_i α_i,    U = c, D = 0 (hinge);  U = ∞, D = 1/(2c) (squared hinge)

    one α_i at a time, keeping w = Σ_i α_i t_i x_i (Hsieh, Chang, Lin, Keerthi & Sundararajan, A dual coordinate
    descent method for large-scale linear SVM, ICML 2008, algorithm 1); c = 0 is an absent example.

    X = (data, indices, indptr), with a further feature of value `constant` in every row; norms are the ‖x_i‖², it
    included. y are rows of the tables signs and cost (k, L). state = (alpha (n, L), w (d + 1, L), gap (L,), loss (L,)):
    the first two are changed, the last two grow by each example's shares in duality gap and loss before its visit.
    """
    data, indices, indptr = X
    alpha, w, gap, loss = state
    d, L = w.shape[0] - 1, w.shape[1]
    f = np.empty(L)
    for i in order:
        r = y[i]
        for j in range(L):
            f[j] = constant * w[d, j]
        for s in range(indptr[i], indptr[i + 1]):
            x, feature = data[s], indices[s]
            for j in range(L):
                f[j] += x * w[feature, j]
        moved = 0.0
        for j in range(L):
            t, c, old = signs[r, j], weight[i] * cost[r, j], alpha[i, j]
            z = t * f[j] - 1
            if squared:
                D = 0.5 / c if c > 0 else 0.0
                slope = z + D * old
                new = max(old - slope / (norms[i] + D), 0.0) if c > 0 else 0.0
                gap[j] += c * slope * slope if z < 0 else old * (slope - 0.5 * D * old)
                loss[j] += c * z * z if z < 0 else 0.0
            else:
                new = min(max(old - z / norms[i], 0.0), c)
                gap[j] += (old - c) * z if z < 0 else old * z
                loss[j] -= c * z if z < 0 else 0.0
            alpha[i, j] = new
            f[j] = t * (new - old)
            moved += abs(new - old)
        if moved == 0:
            continue
        for s in range(indptr[i], indptr[i + 1]):
            x, feature = data[s], indices[s]
            for j in range(L):
                w[feature, j] += x * f[j]
        for j in range(L):
            w[d, j] += constant * f[j]
