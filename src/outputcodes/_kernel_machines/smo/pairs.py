"""Sequential minimal optimisation on a small Gram matrix, and row operations on a large one.

The problem of one column, in signed coefficients β_i = t_i α_i, is

    min ½ β'Kβ − t'β   subject to   lo ≤ β ≤ hi   and, with a free bias, Σβ = 0.

With e = t − Kβ, a coefficient may grow if β < hi ("up") and shrink if β > lo ("low"); β is optimal within ε when
max{e_i : i up} − min{e_j : j low} ≤ ε (Keerthi et al. 2001). A pair is chosen by its second-order gain
(Fan, Chen & Lin 2005, WSS 2). Without the constraint, both extrema include 0.

Arrays: row i of K is lines[slot[i]·stride :], padded with arbitrary values up to `width`, a multiple of LANES. If
slot[i] is −1, the row is first copied from row rows[i] of `store` and becomes row number slot[p] of `lines`. From
runs[r] to runs[r + 1], `rows` are consecutive numbers. work (4, width), in the dtype of K, holds e, 0 or −BIG for up,
0 or +BIG for low, and the diagonal. β and e are changed in place.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from outputcodes._kernel_machines.smo.passes import BIG, TAU, move_pair, move_two, pair_gains, partner_gains

_FAST = {"reassoc", "contract", "nsz", "arcp"}


@njit(nogil=True, cache=True)
def line(lines, slot, stride, store, rows, runs, i, width):  # type: ignore[no-untyped-def]
    """Return row i of the Gram matrix of `rows`; it is copied from `store` on first use."""
    if slot[i] < 0:
        slot[i] = slot[rows.size]
        slot[rows.size] += 1
        copy, row = lines[slot[i] * stride : slot[i] * stride + width], store[rows[i]]
        for r in range(runs.size - 1):
            part, source = copy[runs[r] : runs[r + 1]], row[rows[runs[r]] :]
            for b in range(part.size):
                part[b] = source[b]
        for b in range(rows.size, width):
            copy[b] = 0
    return lines[slot[i] * stride : slot[i] * stride + width]


@njit(nogil=True, cache=True)
def runs_of(numbers):  # type: ignore[no-untyped-def]
    """Return the start of each run of consecutive numbers, followed by the end."""
    runs = np.empty(numbers.size + 1, np.int64)
    count = 0
    for a in range(numbers.size):
        if a == 0 or numbers[a] != numbers[a - 1] + 1:
            runs[count] = a
            count += 1
    runs[count] = numbers.size
    return runs[: count + 1]


@njit(nogil=True, cache=True)
def set_sides(i, beta, lo, hi, up, low):  # type: ignore[no-untyped-def]
    """Set whether coefficient i may grow and whether it may shrink."""
    up[i] = 0 if beta[i] < hi[i] else -BIG
    low[i] = 0 if beta[i] > lo[i] else BIG


@njit(nogil=True, cache=True, fastmath=_FAST)
def solve_pairs(lines, slot, stride, store, rows, runs, work, beta, lo, hi, tol, max_steps):  # type: ignore[no-untyped-def]
    """Optimise pairs with Σβ constant until the violation is at most `tol`; return the number of steps."""
    number = work.dtype.type
    e, up, low, diag = work[0], work[1], work[2], work[3]
    row_i = row_j = line(lines, slot, stride, store, rows, runs, 0, e.size)
    step = number(0)
    steps = 0
    for steps in range(max_steps + 1):
        i, lowest = move_pair(e, up, low, row_i, row_j, step)
        highest = e[i] + up[i]
        if highest - lowest <= tol or steps == max_steps:
            break
        row_i = line(lines, slot, stride, store, rows, runs, i, e.size)
        j = pair_gains(e, low, diag, row_i, diag[i], highest)
        row_j = line(lines, slot, stride, store, rows, runs, j, e.size)
        exact = np.float64(highest - e[j]) / max(np.float64(diag[i] + diag[j] - row_i[j] - row_i[j]), TAU)
        exact = min(exact, hi[i] - beta[i], beta[j] - lo[j])
        beta[i] = min(beta[i] + exact, hi[i])
        beta[j] = max(beta[j] - exact, lo[j])
        step = number(exact)
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
def solve_unbalanced(lines, slot, stride, store, rows, runs, offset, work, beta, lo, hi, tol, max_steps):  # type: ignore[no-untyped-def]
    """Optimise two coefficients at a time without the constraint on Σβ; return the number of steps.

    The method is that of Steinwart, Hush & Scovel (2011). `offset` is added to the kernel values; the diagonal already
    includes it.
    """
    number = work.dtype.type
    e, up, low, diag = work[0], work[1], work[2], work[3]
    row_i = row_j = line(lines, slot, stride, store, rows, runs, 0, e.size)
    x = y = 0.0
    steps = 0
    for steps in range(max_steps + 1):
        shift = number(offset * (x + y))
        i, steepest = move_two(e, up, low, diag, row_i, row_j, number(x), number(y), shift)
        # The violation is at most twice the largest slope.
        if 2 * steepest <= tol or steps == max_steps:
            break
        own = max(np.float64(diag[i]), TAU)
        x, y = min(max(e[i] / own, lo[i] - beta[i]), hi[i] - beta[i]), 0.0
        row_i = row_j = line(lines, slot, stride, store, rows, runs, i, e.size)
        j = partner_gains(e, up, low, diag, row_i, number(offset), number(x), number(1 / own), number(1e-5 * own))
        if j != i:
            x, y = _best_two(
                own, np.float64(row_i[j]) + offset, max(np.float64(diag[j]), TAU), np.float64(e[i]), np.float64(e[j]),
                lo[i] - beta[i], hi[i] - beta[i], lo[j] - beta[j], hi[j] - beta[j],
            )  # fmt: skip
            row_j = line(lines, slot, stride, store, rows, runs, j, e.size)
            beta[j] = min(max(beta[j] + y, lo[j]), hi[j])
        beta[i] = min(max(beta[i] + x, lo[i]), hi[i])
        set_sides(i, beta, lo, hi, up, low)
        set_sides(j, beta, lo, hi, up, low)
    return steps


@njit(nogil=True, cache=True, fastmath=_FAST)
def _powers_of_two(products, left, right, scale, out, bits, whole):  # type: ignore[no-untyped-def]
    """Compute out = 2^(scale·max(0, left + right − 2·products)), scale < 0.

    The fractional part of the exponent, within ±½, uses a polynomial (error 3e-9); the integer part is added to the
    exponent `bits`.
    """
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
    """Compute out[slots[a], first + b] = exp(−γ(left[a] + right[b] − 2·products[a, b])) in float32.

    The values are accurate to all but the last digit. Distances are computed in float64, because a difference of large
    numbers loses digits.
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
    """Copy out[a, b] = store[slots[a], columns[b]]; consecutive columns are copied as a block."""
    # Loops instead of slice assignments, which also compile an error message and so take two seconds longer.
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
def add_multiple(factor, row, out):  # type: ignore[no-untyped-def]
    for s in range(row.size):
        out[s] += factor * row[s]


@njit(nogil=True, cache=True)
def add_rows(store, slots, starts, targets, factors, columns, buffer, out):  # type: ignore[no-untyped-def]
    """Add a sparse product: out[targets[t]] += factors[t]·store[slots[a], columns], t from starts[a] to starts[a + 1].

    Each row is read once for all its targets. `buffer` holds a row whose columns are not consecutive.
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
            add_multiple(factors[t], row, out[targets[t]])
