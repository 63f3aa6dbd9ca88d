"""Continuous codes under the l1 and l∞ norms: linear programs, solved by HiGHS with constraint generation.

    min  β‖M‖ + Σ_i w_i ξ_i   or   min  Σ_i w_i ξ_i  with  ‖M‖ ≤ A
    s.t. ξ_i + h_i·M_{y_i} − h_i·M_r ≥ b_ir  for all i and r,  ξ ≥ 0

Only one or two of the k − 1 constraints of an example are active at the optimum. Constraints are therefore added when
they are violated. The value of a program without some constraints is a lower bound; the value of its M under all
constraints is an upper bound. When none is violated the two are equal, and M is optimal for the whole program.

Crammer & Singer, "On the learnability and design of output codes", Machine Learning 47 (2002), section 4.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.optimize import linprog

Array = NDArray[np.float64]
Rows = NDArray[np.intp]

# HiGHS needs about a minute and 2 GB for a program with this many non-zeros.
MOST_NONZEROS = 20_000_000
# The tolerated violation of constraints: ten times the tolerance of HiGHS itself.
FEASIBLE = 1e-6


class Solution(NamedTuple):
    """M (k, L), the value of the whole program there, and a bound on its distance from the optimum."""

    matrix: Array
    objective: float
    gap: float


def solve(H: Array, y: Rows, b: Array, weight: Array, norm: str, beta: float, bound: float | None) -> Solution:
    """Return the optimal M (k, L); b (n, k) is 0 where r = y_i."""
    n, k = b.shape
    rows = np.arange(n)
    pairs = np.zeros((n, k), dtype=bool)
    M, lower = np.zeros((k, H.shape[1])), 0.0
    while True:
        D = H @ M.T + b
        violation = D - D[rows, y][:, None]
        slack = np.maximum(np.where(pairs, violation, 0.0).max(axis=1), 0.0)
        new = violation.argmax(axis=1)
        missed = violation[rows, new] > slack + FEASIBLE
        if not missed.any():
            break
        pairs[rows[missed], new[missed]] = True
        M, lower = _restricted(H, y, b, weight, norm, beta, bound, *np.nonzero(pairs))
    objective = float(weight @ np.maximum(violation.max(axis=1), 0.0)) + beta * size(M, norm)
    return Solution(M, objective, max(objective - lower, 0.0))


def size(M: Array, norm: str) -> float:
    """Return the norm of M as one vector."""
    return float(np.linalg.norm(M.ravel(), {"l1": 1, "l2": 2, "linf": np.inf}[norm]))


def _restricted(
    H: Array,
    y: Rows,
    b: Array,
    weight: Array,
    norm: str,
    beta: float,
    bound: float | None,
    example: Rows,
    rival: Rows,
) -> tuple[Array, float]:
    """Solve the program with the constraints (example, rival) only; return its M and its value.

    Variables are the entries of M, those of a bound on |M| (one per entry, or one for all), and ξ.
    """
    (n, L), k = H.shape, b.shape[1]
    if 2 * L * len(example) > MOST_NONZEROS:
        raise ValueError(
            f"norm={norm!r} on {n} examples, {k} classes and {L} columns needs a linear program of more than "
            f"{MOST_NONZEROS:,} non-zeros. Use norm='l2', or learn the code from fewer examples."
        )
    entries, sizes = k * L, k * L if norm == "l1" else 1
    at = np.repeat(np.arange(len(example)), L)
    own, other = (
        sparse.csr_array((H[example].ravel(), (at, (r[:, None] * L + np.arange(L)).ravel())), (len(example), entries))
        for r in (y[example], rival)
    )
    xi = sparse.csr_array((np.ones(len(example)), (np.arange(len(example)), example)), (len(example), n))
    apart = sparse.hstack([other - own, sparse.csr_array((len(example), sizes)), -xi])
    one = sparse.eye_array(entries)
    of_size = sparse.eye_array(entries) if norm == "l1" else sparse.csr_array(np.ones((entries, 1)))
    nothing = sparse.csr_array((entries, n))
    blocks = [apart, sparse.hstack([one, -of_size, nothing]), sparse.hstack([-one, -of_size, nothing])]
    most = [-b[example, rival], np.zeros(2 * entries)]
    if bound is not None:
        total = np.concatenate([np.zeros(entries), np.ones(sizes), np.zeros(n)])
        blocks.append(sparse.csr_array(total[None]))
        most.append(np.array([bound]))
    answer = linprog(
        np.concatenate([np.zeros(entries), np.full(sizes, beta), weight]),
        A_ub=sparse.vstack(blocks, format="csr"),
        b_ub=np.concatenate(most),
        bounds=np.column_stack(
            [np.repeat([-np.inf, 0.0, 0.0], [entries, sizes, n]), np.full(entries + sizes + n, np.inf)]
        ),
        method="highs",
    )
    if not answer.success:
        raise RuntimeError(f"HiGHS found no solution of the program for norm={norm!r}: {answer.message}")
    return answer.x[:entries].reshape(k, L), float(answer.fun)
