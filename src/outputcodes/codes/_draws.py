"""Draws of random codes under the admissibility rules, with exactly the distribution of an accepted draw."""

import numpy as np
from numpy.typing import NDArray

from outputcodes.codes._bitplanes import Plane, column_mask, pack, random_plane


def dense_planes(rng: np.random.Generator, k: int, L: int, n: int, strict: bool) -> tuple[Plane, None]:
    """Draw n matrices of fair signs.

    Where repeated columns would be frequent, all columns are drawn distinct (and not constant under the strict rule).
    Otherwise fewer than one matrix in a thousand breaks a rule; the caller checks the one that it uses.
    """
    if k > 62 or 2**k > 1000 * L**2:
        return random_plane(rng, k, L, n), None
    constant = 1 if strict else 0  # the numbers 0 and 2^k - 1 are the two constant columns
    columns = distinct_numbers(rng, 2**k - 2 * constant, L, n) + constant
    return pack((columns[:, None] >> np.arange(k)[:, None]) & 1), None


def distinct_numbers(rng: np.random.Generator, n_numbers: int, length: int, n: int) -> NDArray[np.int64]:
    """Draw n tuples of distinct numbers below `n_numbers`, uniformly among the ordered tuples."""
    if 4 * length >= n_numbers:
        return rng.permuted(np.tile(np.arange(n_numbers), (n, 1)), axis=1)[:, :length]
    # Redrawing the repeated ones treats all numbers alike, so every ordered tuple is equally likely.
    numbers = rng.integers(n_numbers, size=(n, length))
    unsettled = np.arange(n)
    while unsettled.size:
        drawn = numbers[unsettled]
        order = np.argsort(drawn, axis=1, kind="stable")
        ordered = np.take_along_axis(drawn, order, axis=1)
        tuples, places = np.nonzero(ordered[:, 1:] == ordered[:, :-1])
        drawn[tuples, order[tuples, places + 1]] = rng.integers(n_numbers, size=len(tuples))
        numbers[unsettled] = drawn
        unsettled = unsettled[np.unique(tuples)]
    return numbers


def sparse_planes(rng: np.random.Generator, k: int, L: int, n: int, strict: bool) -> tuple[Plane, Plane]:
    """Draw n matrices with entries 0, +1, -1 of probability 1/2, 1/4, 1/4.

    Each column is drawn conditionally on having both signs (strict) or on not being zero: columns are independent, so
    redrawing only the failed ones is exact.
    """
    signs, nonzero = random_plane(rng, k, L, n), random_plane(rng, k, L, n)
    unsettled = np.arange(n)
    while unsettled.size:
        drawn_signs, drawn_nonzero = signs[:, :, unsettled], nonzero[:, :, unsettled]
        plus = np.bitwise_or.reduce(drawn_nonzero & drawn_signs, axis=1)
        minus = np.bitwise_or.reduce(drawn_nonzero & ~drawn_signs, axis=1)
        failed = column_mask(L) & ~(plus & minus if strict else plus | minus)
        again = np.flatnonzero(failed.any(axis=0))
        unsettled, failed = unsettled[again], failed[:, None, again]
        for plane, drawn in ((signs, drawn_signs), (nonzero, drawn_nonzero)):
            fresh = random_plane(rng, k, L, len(again))
            plane[:, :, unsettled] = (drawn[:, :, again] & ~failed) | (fresh & failed)
    return signs, nonzero
