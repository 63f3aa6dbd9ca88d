"""Sequential minimal optimisation on a small Gram matrix; computing, copying and adding the rows of a large one.

The problem of one column, in signed coefficients β_i = t_i α_i, is

    min ½ β'Kβ − t'β   subject to   lo ≤ β ≤ hi   and, with a free bias, Σβ = 0.

With e = t − Kβ, a coefficient may grow if β < hi ("up") and shrink if β > lo ("low"); β is optimal within ε when
max{e_i : i up} − min{e_j : j low} ≤ ε (Keerthi et al. 2001). A pair is chosen by its second-order gain
(Fan, Chen & Lin 2005, WSS 2). Without the constraint 0 takes part in both extrema.

Arrays: K (p, width), its columns padded by zeros to a multiple of LANES; work (4, width) in K's dtype holds e, 0 or
−BIG for up, 0 or +BIG for low, and the diagonal; box (3, p) holds β, lo and hi. The answers are β and e, in place.

Passes run over LANES values at a time with a running best per lane, which makes an argmax a vector operation; each is
a function of its own, for inside a larger one they are no longer vectorised (measured: five times slower).
"""

from __future__ import annotations

import numpy as np
from numba import njit

LANES = 64
BIG = 1e30
# What stands in for a curvature that is not positive, as in LIBSVM.
TAU = 1e-12
_FAST = {"reassoc", "contract", "nsz", "arcp"}


@njit(nogil=True, cache=True, fastmath=_FAST)
def _move_pair(e, up, low, row_i, row_j, step, top, bottom, at):  # type: ignore[no-untyped-def]
    """e ← e − step·(K_i − K_j), and per lane the largest e that may grow, where, and the smallest that may shrink."""
    top[:] = up.dtype.type(-BIG)
    bottom[:] = up.dtype.type(BIG)
    at[:] = 0
    for b in range(0, e.size, LANES):
        e_b, up_b, low_b = e[b : b + LANES], up[b : b + LANES], low[b : b + LANES]
        i_b, j_b = row_i[b : b + LANES], row_j[b : b + LANES]
        for s in range(LANES):
            value = e_b[s] - step * (i_b[s] - j_b[s])
            e_b[s] = value
            grow = value + up_b[s]
            better = grow > top[s]
            top[s] = grow if better else top[s]
            at[s] = b if better else at[s]
            shrink = value + low_b[s]
            bottom[s] = shrink if shrink < bottom[s] else bottom[s]


@njit(nogil=True, cache=True, fastmath=_FAST)
def _pair_gains(e, low, diag, row_i, own, highest, top, at):  # type: ignore[no-untyped-def]
    """Per lane the largest gain of a step with i, and where."""
    zero, tau = e.dtype.type(0), e.dtype.type(TAU)
    top[:] = -e.dtype.type(1)
    for b in range(0, e.size, LANES):
        e_b, low_b, diag_b, i_b = e[b : b + LANES], low[b : b + LANES], diag[b : b + LANES], row_i[b : b + LANES]
        for s in range(LANES):
            gap = highest - (e_b[s] + low_b[s])
            gap = gap if gap > zero else zero
            curvature = own + diag_b[s] - i_b[s] - i_b[s]
            curvature = curvature if curvature > tau else tau
            gain = gap * gap / curvature
            better = gain > top[s]
            top[s] = gain if better else top[s]
            at[s] = b if better else at[s]


@njit(nogil=True, cache=True)
def _largest(top, at):  # type: ignore[no-untyped-def]
    """Where the largest value over all lanes is."""
    s = np.argmax(top)
    return at[s] + s


@njit(nogil=True, cache=True)
def _extreme(values, sign):  # type: ignore[no-untyped-def]
    """The largest value for sign +1, the smallest for −1; `values.min()` compiles for half a second."""
    best = values[0]
    for value in values:
        if sign * value > sign * best:
            best = value
    return best


@njit(nogil=True, cache=True, fastmath=_FAST)
def solve_pairs(K, work, box, tol, max_steps):  # type: ignore[no-untyped-def]
    """Pairs under Σβ constant, until the violation is at most `tol`; the number of steps."""
    number = work.dtype.type
    e, up, low, diag = work[0], work[1], work[2], work[3]
    beta, lo, hi = box[0], box[1], box[2]
    top, bottom, at = np.empty(LANES, work.dtype), np.empty(LANES, work.dtype), np.empty(LANES, np.int32)
    step = number(0)
    i = j = steps = 0
    for steps in range(max_steps + 1):
        _move_pair(e, up, low, K[i], K[j], step, top, bottom, at)
        i = _largest(top, at)
        highest = e[i] + up[i]
        if highest - _extreme(bottom, -1) <= tol or steps == max_steps:
            break
        _pair_gains(e, low, diag, K[i], diag[i], highest, top, at)
        j = _largest(top, at)
        exact = np.float64(highest - e[j]) / max(np.float64(diag[i] + diag[j] - K[i, j] - K[i, j]), TAU)
        exact = min(exact, hi[i] - beta[i], beta[j] - lo[j])
        beta[i] = min(beta[i] + exact, hi[i])
        beta[j] = max(beta[j] - exact, lo[j])
        step = number(exact)
        up[i] = number(0 if beta[i] < hi[i] else -BIG)
        low[i] = number(0 if beta[i] > lo[i] else BIG)
        up[j] = number(0 if beta[j] < hi[j] else -BIG)
        low[j] = number(0 if beta[j] > lo[j] else BIG)
    return steps


@njit(nogil=True, cache=True, fastmath=_FAST)
def _move_two(e, up, low, diag, row_i, row_j, step_i, step_j, top, steepest, at):  # type: ignore[no-untyped-def]
    """e ← e − step_i·K_i − step_j·K_j, and per lane the largest gain of one coefficient, where, and the slope."""
    zero, tau = e.dtype.type(0), e.dtype.type(TAU)
    top[:] = -e.dtype.type(1)
    steepest[:] = zero
    for b in range(0, e.size, LANES):
        e_b, up_b, low_b, diag_b = e[b : b + LANES], up[b : b + LANES], low[b : b + LANES], diag[b : b + LANES]
        i_b, j_b = row_i[b : b + LANES], row_j[b : b + LANES]
        for s in range(LANES):
            value = e_b[s] - step_i * i_b[s] - step_j * j_b[s]
            e_b[s] = value
            grow, shrink = value + up_b[s], value + low_b[s]
            grow = grow if grow > zero else zero
            shrink = shrink if shrink < zero else zero
            slope = grow - shrink
            steepest[s] = slope if slope > steepest[s] else steepest[s]
            curvature = diag_b[s] if diag_b[s] > tau else tau
            gain = slope * slope / curvature
            better = gain > top[s]
            top[s] = gain if better else top[s]
            at[s] = b if better else at[s]


@njit(nogil=True, cache=True, fastmath=_FAST)
def _left_over(e, diag, row_i, inverse, floor, rest, curvature):  # type: ignore[no-untyped-def]
    """Copy e, and K_jj − K_ij²/K_ii: what curvature is left to j once i moves along; below `floor` it is rounding."""
    for j in range(e.size):
        rest[j] = e[j]
        left = diag[j] - inverse * (row_i[j] * row_i[j])
        curvature[j] = left if left > floor else floor


@njit(nogil=True, cache=True)
def _best_two(a, b, c, g, h, low_x, high_x, low_y, high_y):  # type: ignore[no-untyped-def]
    """The (x, y) in a box that makes g·x + h·y − ½(a·x² + 2b·x·y + c·y²) largest; a, c > 0."""
    det = a * c - b * b
    if det > TAU * a * c:
        x, y = (g * c - h * b) / det, (h * a - g * b) / det
        if low_x <= x <= high_x and low_y <= y <= high_y:
            return x, y
    # Else the best point is on an edge.
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
def solve_unbalanced(K, work, box, tol, max_steps):  # type: ignore[no-untyped-def]
    """Without the constraint on Σβ, two coefficients at a time (Steinwart, Hush & Scovel 2011); the number of steps."""
    number = work.dtype.type
    e, up, low, diag = work[0], work[1], work[2], work[3]
    beta, lo, hi = box[0], box[1], box[2]
    top, steepest, at = np.empty(LANES, work.dtype), np.empty(LANES, work.dtype), np.zeros(LANES, np.int32)
    rest, curvature = np.empty_like(e), np.empty_like(e)
    step_i = step_j = number(0)
    i = j = steps = 0
    for steps in range(max_steps + 1):
        _move_two(e, up, low, diag, K[i], K[j], step_i, step_j, top, steepest, at)
        # The violation is at most twice the largest slope.
        if 2 * _extreme(steepest, 1) <= tol or steps == max_steps:
            break
        i = _largest(top, at)
        own = max(np.float64(diag[i]), TAU)
        alone = min(max(e[i] / own, lo[i] - beta[i]), hi[i] - beta[i])
        _left_over(e, diag, K[i], number(1 / own), number(1e-5 * own), rest, curvature)
        _move_two(rest, up, low, curvature, K[i], K[i], number(alone), number(0), top, steepest, at)
        j = _largest(top, at)
        x, y = alone, 0.0
        if j != i:
            x, y = _best_two(
                own, np.float64(K[i, j]), max(np.float64(diag[j]), TAU), np.float64(e[i]), np.float64(e[j]),
                lo[i] - beta[i], hi[i] - beta[i], lo[j] - beta[j], hi[j] - beta[j],
            )  # fmt: skip
            beta[j] = min(max(beta[j] + y, lo[j]), hi[j])
        beta[i] = min(max(beta[i] + x, lo[i]), hi[i])
        step_i, step_j = number(x), number(y)
        for moved in (i, j):
            up[moved] = number(0 if beta[moved] < hi[moved] else -BIG)
            low[moved] = number(0 if beta[moved] > lo[moved] else BIG)
    return steps


@njit(nogil=True, cache=True, fastmath=_FAST)
def _powers_of_two(products, left, right, scale, out, bits, whole):  # type: ignore[no-untyped-def]
    """out = 2^(scale·max(0, left + right − 2·products)), scale < 0: a polynomial for the part of the exponent
    within ±½ (it errs by 3e-9), the whole part added to the exponent's `bits`."""
    number = np.float32
    for s in range(products.size):
        distance = left + right[s] - 2 * products[s]
        power = scale * (distance if distance > 0 else 0.0)
        power = power if power > -126.0 else -126.0
        nearest = np.floor(power + 0.5)
        whole[s] = np.int32(nearest) << np.int32(23)
        x = number(power - nearest)
        p = number(1.54614447e-4) * x + number(1.34004282e-3)
        p = p * x + number(9.61805668e-3)
        p = p * x + number(5.55032723e-2)
        p = p * x + number(2.40226509e-1)
        p = p * x + number(6.93147207e-1)
        out[s] = p * x + number(1)
    for s in range(products.size):
        bits[s] += whole[s]


@njit(nogil=True, cache=True)
def rbf_rows(products, left, right, gamma, out, slots, first):  # type: ignore[no-untyped-def]
    """out[slots[a], first + b] = exp(−γ(left[a] + right[b] − 2·products[a, b])) in float32, to its last digit but one.

    Distances are in float64: their difference of large numbers keeps its digits.
    """
    width, scale = 1024, -gamma / np.log(2.0)
    bits, whole = out.view(np.int32), np.empty(width, np.int32)
    for a in range(slots.size):
        row, row_bits = out[slots[a]], bits[slots[a]]
        for b in range(0, right.size, width):
            stop = min(b + width, right.size)
            here = slice(first + b, first + stop)
            _powers_of_two(products[a, b:stop], left[a], right[b:stop], scale, row[here], row_bits[here], whole)


@njit(nogil=True, cache=True)
def _neighbours(columns):  # type: ignore[no-untyped-def]
    for b in range(1, columns.size):
        if columns[b] != columns[b - 1] + 1:
            return False
    return columns.size > 0


@njit(nogil=True, cache=True)
def gather(store, slots, columns, out):  # type: ignore[no-untyped-def]
    """out[a, b] = store[slots[a], columns[b]]; neighbouring columns are copied as they lie."""
    # Loops in place of slices that are assigned: those compile the text of an error, for two seconds.
    together = _neighbours(columns)
    for a in range(slots.size):
        row, line = store[slots[a]], out[a]
        if together:
            row = row[columns[0] :]
            for b in range(columns.size):
                line[b] = row[b]
        else:
            for b in range(columns.size):
                line[b] = row[columns[b]]


@njit(nogil=True, cache=True, fastmath=_FAST)
def _add_multiple(factor, row, out):  # type: ignore[no-untyped-def]
    for s in range(row.size):
        out[s] += factor * row[s]


@njit(nogil=True, cache=True)
def add_rows(store, slots, starts, targets, factors, columns, buffer, out):  # type: ignore[no-untyped-def]
    """out[targets[t]] += factors[t]·store[slots[a], columns] for t from starts[a] to starts[a + 1]: a sparse product.

    Each row is read once for all its targets; `buffer` is for one whose columns are not neighbours.
    """
    together = _neighbours(columns)
    for a in range(slots.size):
        if starts[a] == starts[a + 1]:
            continue
        row = store[slots[a]]
        if together:
            row = row[columns[0] : columns[0] + columns.size]
        else:
            for b in range(columns.size):
                buffer[b] = row[columns[b]]
            row = buffer
        for t in range(starts[a], starts[a + 1]):
            _add_multiple(factors[t], row, out[targets[t]])
