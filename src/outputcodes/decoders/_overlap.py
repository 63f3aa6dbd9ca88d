"""Codewords that several classes share: the part of the probability of its codewords that each class keeps.

The codewords of a class are its row with any signs in place of the zeros. Rows without a column of opposite signs have
codewords in common, and a codeword of n classes counts 1/n for each. Let T run over the sets of classes whose rows
agree pairwise (they then have a common codeword), and let p_T be the probability of the bits that T fixes. Then

    q_r = Σ_{T ∋ r} (−1)^(|T|−1)/|T| · p_T = p_r · E[1/n(O) | O is a codeword of r].

The second form has no relevant cancellation: the share lies between 1/k and 1.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from outputcodes._ground.blocks import row_blocks

Array = NDArray[np.float64]
# From log-probabilities of bits being +1 and −1, two (n, L) arrays, and those of the rows, (n, k), to log q (n, k).
Shares = Callable[[Array, Array, Array], Array]

MOST_SETS = 4096
MOST_BITS = 20


def compatible(M: NDArray[Any]) -> NDArray[np.bool_]:
    """Return (k, k) whether two rows have no column of opposite signs, so that they share codewords."""
    graph = np.zeros((len(M), len(M)), dtype=bool)
    if M.all():
        return graph  # distinct rows without zeros have opposite signs somewhere
    # Integers far below 2^24 are exact in float32.
    plus, minus = (M > 0).astype(np.float32), (M < 0).astype(np.float32)
    for rows in row_blocks(len(M), 4 * len(M)):
        graph[rows] = plus[rows] @ minus.T + minus[rows] @ plus.T == 0
    np.fill_diagonal(graph, False)
    return graph


def agreeing_sets(M: NDArray[Any]) -> list[tuple[int, ...]] | None:
    """Return all sets of two or more pairwise compatible classes; None if there are more than `MOST_SETS`."""
    graph = compatible(M)
    sets: list[tuple[int, ...]] = []
    grown: list[tuple[tuple[int, ...], NDArray[np.intp]]] = [
        ((r,), np.flatnonzero(graph[r, r + 1 :]) + r + 1) for r in range(len(M))
    ]
    while grown:
        members, further = grown.pop()
        for r in further:
            sets.append((*members, int(r)))
            grown.append((sets[-1], further[(further > r) & graph[r, further]]))
        if len(sets) > MOST_SETS:
            return None
    return sets


def shares_by_sets(M: NDArray[Any], sets: list[tuple[int, ...]]) -> Shares:
    """Return log q computed from sets of compatible classes."""
    merged = np.array([np.sign(M[list(T)].sum(axis=0, dtype=np.intp)) for T in sets])
    plus, minus = (merged > 0).astype(np.float64).T, (merged < 0).astype(np.float64).T
    sign = np.array([(-1.0) ** (len(T) - 1) / len(T) for T in sets])
    within = [np.array([r in T for T in sets]) for r in range(len(M))]

    def log_q(up: Array, down: Array, log_p: Array) -> Array:
        log_sets = up @ plus + down @ minus
        answer = log_p.copy()
        for r, own in enumerate(within):
            if own.any():
                share = 1 + np.exp(np.minimum(log_sets[:, own] - log_p[:, [r]], 0.0)) @ sign[own]
                answer[:, r] += np.log(np.clip(share, 1 / len(M), 1))
        return answer

    return log_q


def shares_by_codewords(M: NDArray[Any]) -> Shares:
    """Return log q computed from all 2^L codewords, for codes of at most `MOST_BITS` columns."""
    bits = np.arange(1 << M.shape[1])[:, None] >> np.arange(M.shape[1]) & 1
    word = (2 * bits - 1).astype(np.int8)
    owned = np.stack([((word == row) | (row == 0)).all(axis=1) for row in M], axis=1)
    owners = owned.sum(axis=1)
    up_bits, down_bits = bits.T.astype(np.float64), (1 - bits.T).astype(np.float64)

    def log_q(up: Array, down: Array, log_p: Array) -> Array:
        answer = log_p.copy()
        for rows in row_blocks(len(up), 2 * len(word)):
            log_words = up[rows] @ up_bits + down[rows] @ down_bits
            for r, own in enumerate(owned.T):
                share = np.exp(np.minimum(log_words[:, own] - log_p[rows, r, None], 0.0)) @ (1 / owners[own])
                answer[rows, r] += np.log(np.clip(share, 1 / len(M), 1))
        return answer

    return log_q
