"""Inner loops of sequential minimal optimisation, written so that the compiler vectorises them.

With e = t − Kβ, up = 0 for coefficients that may grow (else −BIG) and low = 0 for those that may shrink (else BIG):

    move_pair      e ← e − step·(K_i − K_j);       argmax e_i, i free to grow
    pair_gains     argmax_j (e_i − e_j)² / (K_ii + K_jj − 2 K_ij), max e_i − e_j, j free to shrink
    move_two       e ← e − x·K_i − y·K_j − shift;  argmax_i slope_i² / K_ii, max slope_i
    partner_gains  argmax_j slope_j² / (K_jj − K_ij² / K_ii), after i has moved by x and moves with j

Compilers vectorise the maximum of integers, but not of floats, which might be NaN. The loops therefore compare values
by their bits, which have the same order, and replace the last bits by the position: of values that agree to about 1e-11
the first wins, on every processor. Arrays are one-dimensional and at most 65,536 long; no value is NaN.
"""

from __future__ import annotations

import numpy as np
from numba import njit

BIG = 1e30
# Replaces a curvature that is not positive, as in LIBSVM.
TAU = 1e-12
# Mask of the last bits of a value, which are replaced by its position, counted from the end.
PLACE = 0xFFFF
_SIGNLESS = 0x7FFFFFFFFFFFFFFF
# Divisors are positive. The error model "numpy" omits the check for 0, which would prevent vectorisation.
_PASS = {"nogil": True, "cache": True, "fastmath": {"reassoc", "contract", "nsz", "arcp"}, "error_model": "numpy"}


@njit(**_PASS)
def _bits(value):  # type: ignore[no-untyped-def]
    """Return the bits of a number as an integer; nonnegative numbers keep their order."""
    return np.float64(value).view(np.int64)


@njit(**_PASS)
def _at(bits, q):  # type: ignore[no-untyped-def]
    """Return the bits, rounded to nearest so that round numbers are not where ties break, with the position q."""
    return ((bits + (PLACE >> 1)) & ~PLACE) | (PLACE - q)


@njit(**_PASS)
def _slope(e, up, low):  # type: ignore[no-untyped-def]
    """Return how fast the objective decreases along one coefficient."""
    return max(max(e + up, -(e + low)), 0.0)


@njit(**_PASS)
def move_pair(e, up, row_i, row_j, step):  # type: ignore[no-untyped-def]
    """Update e after a step on a pair; return the index of the largest e that may grow."""
    best = -_SIGNLESS
    for q in range(e.size):
        e[q] -= step * (np.float64(row_i[q]) - np.float64(row_j[q]))
        bits = _bits(e[q] + up[q])
        # Negative numbers have their order reversed.
        best = max(best, _at(bits ^ ((bits >> 63) & _SIGNLESS), q))
    return PLACE - (best & PLACE)


@njit(**_PASS)
def pair_gains(e, low, diag, row_i, own, highest):  # type: ignore[no-untyped-def]
    """Return the index j with the largest gain of a step on the pair (i, j), and the largest gap; own = K_ii."""
    best = widest = 0
    for q in range(e.size):
        gap = max(highest - (e[q] + low[q]), 0.0)
        widest = max(widest, _bits(gap))
        best = max(best, _at(_bits(gap * gap / max(own + diag[q] - 2.0 * row_i[q], TAU)), q))
    return PLACE - (best & PLACE), np.int64(widest).view(np.float64)


@njit(**_PASS)
def move_two(e, up, low, inverse, row_i, row_j, x, y, shift):  # type: ignore[no-untyped-def]
    """Update e after a step on two coefficients; return the index with the largest gain, and the largest slope."""
    best = steepest = 0
    for q in range(e.size):
        e[q] -= shift + x * row_i[q] + y * row_j[q]
        slope = _slope(e[q], up[q], low[q])
        steepest = max(steepest, _bits(slope))
        best = max(best, _at(_bits(slope * slope * inverse[q]), q))
    return PLACE - (best & PLACE), np.int64(steepest).view(np.float64)


@njit(**_PASS)
def partner_gains(e, up, low, diag, row_i, offset, x, inverse, floor):  # type: ignore[no-untyped-def]
    """Return the index of the partner with the largest gain; curvatures below `floor` are rounding errors."""
    best = 0
    for q in range(e.size):
        value = row_i[q] + offset
        slope = _slope(e[q] - x * value, up[q], low[q])
        best = max(best, _at(_bits(slope * slope / max(diag[q] - inverse * (value * value), floor)), q))
    return PLACE - (best & PLACE)
