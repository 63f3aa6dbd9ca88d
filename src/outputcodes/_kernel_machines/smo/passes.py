"""One pass over the coefficients of a column: its gradient brought up to date, and the coefficient to move next.

With e = t − Kβ, and the conditions that let a coefficient grow (up = 0, else −BIG) and shrink (low = 0, else BIG):

    move_pair      e ← e − step·(K_i − K_j);       argmax e_i, i free to grow
    pair_gains     argmax_j (e_i − e_j)² / (K_ii + K_jj − 2 K_ij), max e_i − e_j, j free to shrink
    move_two       e ← e − x·K_i − y·K_j − shift;  argmax_i slope_i² / K_ii, max slope_i
    partner_gains  argmax_j slope_j² / (K_jj − K_ij² / K_ii), once i has moved by x and moves along

These are plain loops that the compiler turns into vector instructions. It does so for the maximum of integers, not of
floats, which might be NaN; so values are compared by their bits, as integers in the same order. The last bits give way
to the place of the value: of values that agree to 1e-11 the first wins, on every processor.
"""

from __future__ import annotations

import numpy as np
from numba import njit

BIG = 1e30
# What stands in for a curvature that is not positive, as in LIBSVM.
TAU = 1e-12
# The bits that hold the place, counted from the end: for no more than 65,536 coefficients.
PLACE = 0xFFFF
_ALL_BUT_SIGN = 0x7FFFFFFFFFFFFFFF
# Divisors are positive: without a check for 0, which only another error model leaves out, loops become vector code.
_PASS = {
    "nogil": True,
    "cache": True,
    "fastmath": {"reassoc", "contract", "nsz", "arcp"},
    "error_model": "numpy",
}


@njit(**_PASS)
def _bits(value):  # type: ignore[no-untyped-def]
    """A float as an integer: in the same order if none is negative."""
    return np.float64(value).view(np.int64)


@njit(**_PASS)
def _at(bits, q):  # type: ignore[no-untyped-def]
    """The value rounded, so that round numbers are not where equal values part, and its place."""
    return ((bits + (PLACE >> 1)) & ~PLACE) | (PLACE - q)


@njit(**_PASS)
def _slope(e, up, low):  # type: ignore[no-untyped-def]
    """How fast the objective falls along one coefficient."""
    return max(max(e + up, -(e + low)), 0.0)


@njit(**_PASS)
def move_pair(e, up, row_i, row_j, step):  # type: ignore[no-untyped-def]
    """Where the largest e that may grow is."""
    best = -_ALL_BUT_SIGN
    for q in range(e.size):
        e[q] -= step * (np.float64(row_i[q]) - np.float64(row_j[q]))
        bits = _bits(e[q] + up[q])
        best = max(best, _at(bits ^ ((bits >> 63) & _ALL_BUT_SIGN), q))
    return PLACE - (best & PLACE)


@njit(**_PASS)
def pair_gains(e, low, diag, row_i, own, highest):  # type: ignore[no-untyped-def]
    """Where the gain of a step with i is largest, and the largest gap; `own` is K_ii and `highest` e_i."""
    best = widest = 0
    for q in range(e.size):
        gap = max(highest - (e[q] + low[q]), 0.0)
        widest = max(widest, _bits(gap))
        best = max(best, _at(_bits(gap * gap / max(own + diag[q] - 2.0 * row_i[q], TAU)), q))
    return PLACE - (best & PLACE), np.int64(widest).view(np.float64)


@njit(**_PASS)
def move_two(e, up, low, inverse, row_i, row_j, x, y, shift):  # type: ignore[no-untyped-def]
    """Where the gain of one coefficient is largest, and the largest slope; `inverse` is 1 / K_ii of each."""
    best = steepest = 0
    for q in range(e.size):
        e[q] -= shift + x * row_i[q] + y * row_j[q]
        slope = _slope(e[q], up[q], low[q])
        steepest = max(steepest, _bits(slope))
        best = max(best, _at(_bits(slope * slope * inverse[q]), q))
    return PLACE - (best & PLACE), np.int64(steepest).view(np.float64)


@njit(**_PASS)
def partner_gains(e, up, low, diag, row_i, offset, x, inverse, floor):  # type: ignore[no-untyped-def]
    """Where the gain of a second coefficient is largest; `inverse` is 1 / K_ii, and a curvature below `floor` noise."""
    best = 0
    for q in range(e.size):
        value = row_i[q] + offset
        slope = _slope(e[q] - x * value, up[q], low[q])
        best = max(best, _at(_bits(slope * slope / max(diag[q] - inverse * (value * value), floor)), q))
    return PLACE - (best & PLACE)
