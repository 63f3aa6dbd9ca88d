"""Colourings: the assignment of +1 or −1 to each class in the column of a round.

φ(r) is the weight of the pairs that confuse another class with class r, minus the weight of those that confuse class r
with another class (Jin & Zhang 2005, section 4). It sums to 0.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from outputcodes._ground.choosing import sorting_keys

Array = NDArray[np.float64]
Colouring = NDArray[np.int8]
Coding = Literal["random", "probabilistic", "deterministic"]

CODINGS: tuple[Coding, ...] = ("random", "probabilistic", "deterministic")


def random_colouring(n_classes: int, rng: np.random.Generator) -> Colouring:
    """Return independent random signs, drawn again while they are all equal.

    Examples
    --------
    >>> random_colouring(4, np.random.default_rng(0))
    array([-1,  1,  1,  1], dtype=int8)
    """
    return probabilistic_colouring(np.zeros(n_classes), 0.0, rng)


def probabilistic_colouring(phi: Array, gamma: float, rng: np.random.Generator) -> Colouring:
    """Return a colouring in which class r is +1 with probability 1/(1 + exp(−γ φ(r)/max|φ|)), independently.

    It is drawn again while all signs are equal. With γ = 0 it equals the random colouring, draw by draw.

    Examples
    --------
    >>> probabilistic_colouring(np.array([-0.2, 0.1, 0.1]), 50.0, np.random.default_rng(0))
    array([-1,  1,  1], dtype=int8)
    """
    largest = np.abs(phi).max()
    chance = expit(gamma * phi / largest) if largest > 0 else np.full(len(phi), 0.5)
    while True:
        # As φ sums to 0, some chance is at least ½ and some at most ½, so a draw is constant with probability ≤ ¾.
        plus = rng.random(len(phi)) < chance
        if plus.any() and not plus.all():
            return np.where(plus, 1, -1).astype(np.int8)


def deterministic_colouring(phi: Array) -> Colouring:
    """Return f(r) = −sign φ(r), with +1 where φ is 0. If all φ are 0, the first ⌊k/2⌋ classes are −1.

    Examples
    --------
    >>> deterministic_colouring(np.array([-0.2, 0.1, 0.1])), deterministic_colouring(np.zeros(3))
    (array([ 1, -1, -1], dtype=int8), array([-1,  1,  1], dtype=int8))
    """
    minus = phi > 0
    if minus.all() or not minus.any():
        largest_first = np.argsort(-sorting_keys(phi), kind="stable")
        minus = np.zeros(len(phi), dtype=bool)
        minus[largest_first[: len(phi) // 2]] = True
    return np.where(minus, -1, 1).astype(np.int8)
