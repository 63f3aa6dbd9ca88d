"""Choices that don't depend on rounding: values within a billionth of the scale are equal, and the first one wins.

Another processor, BLAS library or number of threads adds the same numbers in another order, and a weight of 1/n is not
a weight of 1. The last digits of an objective must therefore not decide which column, threshold or γ is chosen.
"""

from __future__ import annotations

from math import floor
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]

# Candidates within this fraction of the scale of the objective are equal. Kernels use it in their own comparisons.
TIE = 1e-9
# Halves are common among real numbers (1/128 of the largest is 7812.5 millionths), so numbers are rounded up not from a
# half but from a little below, where no round number lies.
UP_FROM = 0.4281718


def first_largest(values: ArrayLike, scale: ArrayLike = 1.0) -> Any:
    """Return the first index along the last axis whose value is the largest, up to `TIE` of the scale.

    `scale` is a number, or has one entry for each row of `values`.

    >>> int(first_largest([0.1, 0.3, 0.1 + 0.2]))
    1
    >>> first_largest([[1.0, 2.0], [5.0, 5.0 + 1e-12]])
    array([1, 0])
    """
    candidates = np.asarray(values, dtype=np.float64)
    room = TIE * np.expand_dims(np.asarray(scale, dtype=np.float64), -1)
    return (candidates >= candidates.max(axis=-1, keepdims=True) - room).argmax(axis=-1)


def first_smallest(values: ArrayLike, scale: ArrayLike = 1.0) -> Any:
    """Return the first index along the last axis whose value is the smallest, up to `TIE` of the scale.

    >>> int(first_smallest([0.5, 0.1 + 0.2, 0.3]))
    1
    """
    candidates = np.asarray(values, dtype=np.float64)
    room = TIE * np.expand_dims(np.asarray(scale, dtype=np.float64), -1)
    return (candidates <= candidates.min(axis=-1, keepdims=True) + room).argmax(axis=-1)


def clearly_less(value: float, other: float, scale: float = 1.0) -> bool:
    """Return whether a value is below another one by more than `TIE` of the scale.

    >>> clearly_less(0.3, 0.1 + 0.2), clearly_less(0.3, 0.4)
    (False, True)
    """
    return bool(value < other - TIE * scale)


def without_noise(values: ArrayLike, scale: ArrayLike) -> Array:
    """Return the values with 0 in place of those that are at most `TIE` of the scale.

    >>> without_noise([0.1 + 0.2 - 0.3, 0.5], 1.0)
    array([0. , 0.5])
    """
    checked = np.asarray(values, dtype=np.float64)
    return np.where(np.abs(checked) <= TIE * np.asarray(scale), 0.0, checked)


def to_six_digits(values: ArrayLike) -> Array:
    """Return the values as integers, in millionths of the largest magnitude, as input of a heuristic search.

    Equal values then have equal bits, and their sums are exact in any order.

    >>> to_six_digits([0.1 + 0.2, 0.3, -0.6])
    array([  500000.,   500000., -1000000.])
    """
    return _in_parts(values, 1e6)


def sorting_keys(values: ArrayLike) -> Array:
    """Return integers to sort by instead of the values; they are equal for values that differ by rounding.

    >>> np.argsort(-sorting_keys([0.2, 0.3, 0.1 + 0.2]), kind="stable")
    array([1, 2, 0])
    """
    return _in_parts(values, 1 / TIE)


def _in_parts(values: ArrayLike, parts: float) -> Array:
    """Return integers, scaled so that the largest magnitude is `parts`."""
    checked = np.asarray(values, dtype=np.float64)
    largest = np.abs(checked).max(initial=0.0)
    if largest == 0.0:
        return np.zeros(checked.shape)
    whole: Array = np.floor(np.abs(checked) / largest * parts + (1.0 - UP_FROM))
    return np.copysign(whole, checked) + 0.0  # no -0


@njit(nogil=True, cache=True)
def sorting_key(share):  # type: ignore[no-untyped-def]
    """Return the sorting key of a number between 0 and 1, for kernels."""
    return floor(share / TIE + (1.0 - UP_FROM))
