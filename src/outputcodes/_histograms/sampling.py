"""Which features a tree may ask about: some of them for the whole tree, or others at every node.

A draw depends on its seed alone, and at a node on the number of the node: not on threads, nor on the order of growth.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from outputcodes._ground.compiling import INNER

# Steele, Lea & Flood, "Fast splittable pseudorandom number generators" (2014): SplitMix64.
STEP, FIRST, SECOND = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)


def n_sampled(share: float, d: int) -> int:
    """Return how many of d features a share of them is, at least one.

    >>> n_sampled(0.5, 9), n_sampled(0.01, 9), n_sampled(1.0, 9)
    (4, 1, 9)
    """
    return max(1, round(share * d))


def features_of_tree(seed: tuple[int, ...], n: int, d: int) -> NDArray[np.int64]:
    """Draw n of d features, ascending.

    >>> features_of_tree((0, 1), 9, 9)
    array([0, 1, 2, 3, 4, 5, 6, 7, 8])
    """
    return np.sort(np.random.default_rng(seed).choice(d, n, replace=False))


@njit(**INNER)
def mixed(state):  # type: ignore[no-untyped-def]
    """Return 64 bits that look random, by all bits of the state."""
    state = (state ^ (state >> np.uint64(30))) * FIRST
    state = (state ^ (state >> np.uint64(27))) * SECOND
    return state ^ (state >> np.uint64(31))


@njit(**INNER)
def draw_at_node(seed, node, n, walk):  # type: ignore[no-untyped-def]
    """Put a random draw of n features first in `walk`, a permutation of all features."""
    d = len(walk)
    for f in range(d):
        walk[f] = f
    state = mixed(seed + np.uint64(node + 1) * STEP)
    for q in range(n):
        state += STEP
        # The high half of a product is below d - q; that some numbers are a little more likely can't be measured.
        other = q + np.int64(((mixed(state) >> np.uint64(32)) * np.uint64(d - q)) >> np.uint64(32))
        walk[q], walk[other] = walk[other], walk[q]
