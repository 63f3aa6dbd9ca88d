"""Inner loops of sequential minimal optimisation, written so that the compiler vectorises them.

Compilers vectorise the maximum of integers, but not of floats, which might be NaN. The loops therefore compare values
by their bits, which have the same order, and replace the last bits by the position, so values that agree to about 1e-11
count as ties. The choice among them only affects the path of the solver; the certificate covers the result.
Arrays are one-dimensional, of one dtype and at most 65,536 long; no value is NaN.
"""

from __future__ import annotations

import numpy as np
from numba import njit

# Replaces a curvature that is not positive, as in LIBSVM.
TAU = 1e-12
BIG = 1e30
# Mask of the last bits of a value, which are replaced by its position, counted from the end.
PLACE = 0xFFFF
_SIGNLESS = 0x7FFFFFFFFFFFFFFF
_PASS = {"nogil": True, "cache": True, "fastmath": {"reassoc", "contract", "nsz", "arcp"}, "error_model": "numpy"}


@njit(nogil=True, cache=True, inline="always")
def _ordered(value):  # type: ignore[no-untyped-def]
    """Return the bits of a number as an integer with the same order; the mapping is its own inverse."""
    bits = np.float64(value).view(np.int64)
    return bits ^ ((bits >> 63) & _SIGNLESS)


@njit(nogil=True, cache=True, inline="always")
def _bits(value):  # type: ignore[no-untyped-def]
    """Return `_ordered` of a nonnegative number."""
    return np.float64(value).view(np.int64)


@njit(nogil=True, cache=True, inline="always")
def _slope(e, up, low):  # type: ignore[no-untyped-def]
    grow, shrink = e + up, e + low
    return (grow if grow > 0 else 0.0) - (shrink if shrink < 0 else 0.0)


@njit(**_PASS)
def move_pair(e, up, low, row_i, row_j, step):  # type: ignore[no-untyped-def]
    """Update e ← e − step·(K_i − K_j); return the index of the largest e that may grow, and the smallest e that may
    shrink."""
    best, least = -_SIGNLESS, _SIGNLESS
    for q in range(e.size):
        e[q] -= step * (row_i[q] - row_j[q])
        best = max(best, (_ordered(e[q] + up[q]) & ~PLACE) | (PLACE - q))
        least = min(least, _ordered(e[q] + low[q]))
    return PLACE - (best & PLACE), np.int64(least ^ ((least >> 63) & _SIGNLESS)).view(np.float64)


@njit(**_PASS)
def pair_gains(e, low, diag, row_i, own, highest):  # type: ignore[no-untyped-def]
    """Return the index j with the largest gain of a step on the pair (i, j)."""
    best = 0
    for q in range(e.size):
        gap, curvature = highest - (e[q] + low[q]), own + diag[q] - 2 * row_i[q]
        gap = gap if gap > 0 else 0.0
        curvature = curvature if curvature > TAU else TAU
        best = max(best, (_bits(gap * gap / curvature) & ~PLACE) | (PLACE - q))
    return PLACE - (best & PLACE)


@njit(**_PASS)
def move_two(e, up, low, diag, row_i, row_j, x, y, shift):  # type: ignore[no-untyped-def]
    """Update e ← e − x·K_i − y·K_j − shift; return the index with the largest gain, and the largest slope."""
    best = steepest = 0
    for q in range(e.size):
        e[q] -= shift + x * row_i[q] + y * row_j[q]
        slope = _slope(e[q], up[q], low[q])
        steepest = max(steepest, _bits(slope))
        best = max(best, (_bits(slope * slope / (diag[q] if diag[q] > TAU else TAU)) & ~PLACE) | (PLACE - q))
    return PLACE - (best & PLACE), np.int64(steepest).view(np.float64)


@njit(**_PASS)
def partner_gains(e, up, low, diag, row_i, offset, x, inverse, floor):  # type: ignore[no-untyped-def]
    """Return the index of the second coefficient j with the largest gain, after i has moved by x and moves with j.

    The remaining curvature is K_jj − K_ij²/K_ii; values below `floor` are rounding errors.
    """
    best = 0
    for q in range(e.size):
        value = row_i[q] + offset
        slope = _slope(e[q] - x * value, up[q], low[q])
        curvature = diag[q] - inverse * (value * value)
        curvature = curvature if curvature > floor else floor
        best = max(best, (_bits(slope * slope / curvature) & ~PLACE) | (PLACE - q))
    return PLACE - (best & PLACE)
