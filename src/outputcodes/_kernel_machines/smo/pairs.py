"""Sequential minimal optimisation of one column on a Gram matrix in memory.

The problem of one column, in signed coefficients β_i = t_i α_i, is

    min ½ β'Kβ − t'β   subject to   lo ≤ β ≤ hi   and, with a free bias, Σβ = 0.

With e = t − Kβ, a coefficient may grow if β < hi ("up") and shrink if β > lo ("low"); β is optimal within ε when
max{e_i : i up} − min{e_j : j low} ≤ ε (Keerthi et al. 2001). A pair is chosen by its second-order gain
(Fan, Chen & Lin 2005, WSS 2). Without the constraint, both extrema include 0.

Arrays: row i of K is lines[slot[i]·p : (slot[i] + 1)·p], where p is the number of rows. If slot[i] is −1, the row is
first copied from row rows[i] of `store` and becomes row number slot[p] of `lines`. From runs[r] to runs[r + 1], `rows`
are consecutive numbers. work (4, p) holds e, 0 or −BIG for up, 0 or +BIG for low, and the diagonal, in float64. β and e
are changed in place.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from outputcodes._kernel_machines.rows import copy_entries
from outputcodes._kernel_machines.smo.passes import BIG, TAU, move_pair, move_two, pair_gains, partner_gains

_FAST = {"reassoc", "contract", "nsz", "arcp"}


@njit(nogil=True, cache=True)
def line(lines, slot, store, rows, runs, i):  # type: ignore[no-untyped-def]
    """Return row i of the Gram matrix of `rows`; it is copied from `store` on first use."""
    p = rows.size
    if slot[i] < 0:
        slot[i] = slot[p]
        slot[p] += 1
        copy_entries(store[rows[i]], rows, runs, lines[slot[i] * p : (slot[i] + 1) * p])
    return lines[slot[i] * p : (slot[i] + 1) * p]


@njit(nogil=True, cache=True)
def set_sides(i, beta, lo, hi, up, low):  # type: ignore[no-untyped-def]
    """Set whether coefficient i may grow and whether it may shrink."""
    up[i] = 0 if beta[i] < hi[i] else -BIG
    low[i] = 0 if beta[i] > lo[i] else BIG


@njit(nogil=True, cache=True, fastmath=_FAST)
def solve_pairs(lines, slot, store, rows, runs, work, beta, lo, hi, tol, max_steps):  # type: ignore[no-untyped-def]
    """Optimise pairs with Σβ constant until the violation is at most `tol`; return the number of steps."""
    e, up, low, diag = work[0], work[1], work[2], work[3]
    row_i = row_j = line(lines, slot, store, rows, runs, 0)
    step = 0.0
    steps = 0
    for steps in range(max_steps + 1):
        i = move_pair(e, up, row_i, row_j, step)
        highest = e[i] + up[i]
        row_i = line(lines, slot, store, rows, runs, i)
        j, gap = pair_gains(e, low, diag, row_i, diag[i], highest)
        if gap <= tol or steps == max_steps:
            break
        row_j = line(lines, slot, store, rows, runs, j)
        step = (highest - e[j]) / max(diag[i] + diag[j] - 2.0 * row_i[j], TAU)
        step = min(step, hi[i] - beta[i], beta[j] - lo[j])
        beta[i] = min(beta[i] + step, hi[i])
        beta[j] = max(beta[j] - step, lo[j])
        set_sides(i, beta, lo, hi, up, low)
        set_sides(j, beta, lo, hi, up, low)
    return steps


@njit(nogil=True, cache=True)
def _best_two(a, b, c, g, h, low_x, high_x, low_y, high_y):  # type: ignore[no-untyped-def]
    """Return the (x, y) in a box that maximises g·x + h·y − ½(a·x² + 2b·x·y + c·y²); a, c > 0."""
    det = a * c - b * b
    if det > TAU * a * c:
        x, y = (g * c - h * b) / det, (h * a - g * b) / det
        if low_x <= x <= high_x and low_y <= y <= high_y:
            return x, y
    # Otherwise, the best point is on an edge.
    best_x = best_y = most = 0.0
    for edge in range(4):
        if edge < 2:
            x = low_x if edge == 0 else high_x
            y = min(max((h - b * x) / c, low_y), high_y)
        else:
            y = low_y if edge == 2 else high_y
            x = min(max((g - b * y) / a, low_x), high_x)
        value = g * x + h * y - (a * x * x + 2 * b * x * y + c * y * y) / 2
        if value > most:
            best_x, best_y, most = x, y, value
    return best_x, best_y


@njit(nogil=True, cache=True, fastmath=_FAST)
def solve_unbalanced(lines, slot, store, rows, runs, offset, work, beta, lo, hi, tol, max_steps):  # type: ignore[no-untyped-def]
    """Optimise two coefficients at a time without the constraint on Σβ; return the number of steps.

    The method is that of Steinwart, Hush & Scovel (2011). `offset` is added to the kernel values; the diagonal already
    includes it.
    """
    e, up, low, diag = work[0], work[1], work[2], work[3]
    inverse = np.empty(e.size)
    for i in range(e.size):
        inverse[i] = 1 / max(diag[i], TAU)
    row_i = row_j = line(lines, slot, store, rows, runs, 0)
    x = y = 0.0
    steps = 0
    for steps in range(max_steps + 1):
        i, steepest = move_two(e, up, low, inverse, row_i, row_j, x, y, offset * (x + y))
        # The violation is at most twice the largest slope.
        if 2 * steepest <= tol or steps == max_steps:
            break
        own = max(diag[i], TAU)
        x, y = min(max(e[i] / own, lo[i] - beta[i]), hi[i] - beta[i]), 0.0
        row_i = row_j = line(lines, slot, store, rows, runs, i)
        j = partner_gains(e, up, low, diag, row_i, offset, x, inverse[i], 1e-5 * own)
        if j != i:
            x, y = _best_two(
                own, row_i[j] + offset, max(diag[j], TAU), e[i], e[j],
                lo[i] - beta[i], hi[i] - beta[i], lo[j] - beta[j], hi[j] - beta[j],
            )  # fmt: skip
            row_j = line(lines, slot, store, rows, runs, j)
            beta[j] = min(max(beta[j] + y, lo[j]), hi[j])
        beta[i] = min(max(beta[i] + x, lo[i]), hi[i])
        set_sides(i, beta, lo, hi, up, low)
        set_sides(j, beta, lo, hi, up, low)
    return steps
