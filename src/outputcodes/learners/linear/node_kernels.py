"""Dual coordinate descent in float32 for the columns of one node, sixteen at a time in the lanes of a vector.

Column j of a node is +1 on the rows of its child j and -1 on all others, so that the signs of a row follow from one
number, `own`, the column of its child; own = -1 is a row that is negative in all columns.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from outputcodes._ground.lanes import SINGLE_LANES as LANES
from outputcodes._ground.lanes import any_greater, load, spread, store, where_greater

# load(SIGNS, 2·LANES - 1 - j) is +1 in lane j and -1 elsewhere; load(SIGNS, 0) is -1 in all lanes.
SIGNS = np.full(3 * LANES, -1, dtype=np.float32)
SIGNS[2 * LANES - 1] = 1
UNBOUNDED = np.float32(3e38)


@njit(nogil=True, cache=True)
def descend(order, rows, own, cost, norms, constant, squared, small, whole, state, width):  # type: ignore[no-untyped-def]
    """Visit the rows in `order` once, in all columns, and return the number of rows times LANES columns that changed.

    Column j minimises ½‖Σ_i α_i t_i x_i‖² + Σ_i (D_i α_i²/2 - α_i) over 0 ≤ α_i ≤ U_i, one α_i at a time: D = 1/(2c)
    and U = ∞ for the squared hinge, D = 0 and U = c for the hinge (Hsieh, Chang, Lin, Keerthi & Sundararajan, A dual
    coordinate descent method for large-scale linear SVM, ICML 2008). Changes of at most √small are not made.

    rows = (data, indices, indptr), with a further feature `constant` in every row; norms are the ‖x‖² of the rows, this
    feature included. state = (signs, alpha (rows, width), w (features + 1, width), still (rows, width / LANES)), flat;
    w = Σ_i α_i t_i x_i, and `still` marks what did not change at its last visit: unless `whole`, it is not visited.
    """
    data, indices, indptr = rows
    signs, alpha, w, still = state
    zero, one, least, factor = spread(np.float32(0)), spread(np.float32(1)), spread(small), spread(constant)
    last = w.size - width
    changed = 0
    for i in order:
        D = np.float32(0.5) / cost[i] if squared else np.float32(0)
        curve, bound = spread(D), spread(UNBOUNDED if squared else cost[i])
        step = spread(np.float32(1) / (norms[i] + D))
        begin, end = np.uint64(indptr[i]), np.uint64(indptr[i + 1])  # no test for negative places in the loops
        for c in range(0, width, LANES):
            place = (i * width + c) // LANES
            if still[place] and not whole:
                continue
            f = factor * load(w, last + c)
            for s in range(begin, end):
                f = f + spread(data[s]) * load(w, np.int64(indices[s]) * width + c)
            lane = own[i] - c
            t = load(signs, 2 * LANES - 1 - lane if 0 <= lane < LANES else 0)
            old = load(alpha, i * width + c)
            new = old - ((t * f - one) + curve * old) * step
            new = where_greater(new, zero, new, zero)
            new = where_greater(new, bound, bound, new)
            change = new - old
            still[place] = not any_greater(change * change, least)
            if not still[place]:
                changed += 1
                store(alpha, i * width + c, new)
                change = t * change
                for s in range(begin, end):
                    at = np.int64(indices[s]) * width + c
                    store(w, at, load(w, at) + spread(data[s]) * change)
                store(w, last + c, load(w, last + c) + factor * change)
    return changed


@njit(nogil=True, cache=True)
def scores(rows, i, constant, w, width, f):  # type: ignore[no-untyped-def]
    """Write the scores of row i in all columns to f."""
    data, indices, indptr = rows
    last = w.size - width
    for c in range(0, width, LANES):
        total = spread(constant) * load(w, last + c)
        for s in range(np.uint64(indptr[i]), np.uint64(indptr[i + 1])):
            total = total + spread(data[s]) * load(w, np.int64(indices[s]) * width + c)
        store(f, c, total)


@njit(nogil=True, cache=True)
def certify(rows, own, cost, constant, squared, state, width, gap, value, chosen):  # type: ignore[no-untyped-def]
    """Add the terms of the rows to the duality gap and the objective of each column; write each row's best column.

    chosen = (column, score) of the best column of each row.

    The gaps are Fenchel-Young gaps, which are nonnegative, so that nothing cancels.
    """
    _, alpha, w, _ = state
    f = np.empty(width, np.float32)
    m = gap.size
    for i in range(own.size):
        scores(rows, i, constant, w, width, f)
        best, c = 0, np.float64(cost[i])
        for j in range(m):
            if f[j] > f[best]:
                best = j
            a = np.float64(alpha[i * width + j])
            z = np.float64(f[j] if j == own[i] else -f[j])
            short = max(1 - z, 0.0)
            if squared:
                D = 0.5 / c
                gap[j] += c * (short - D * a) ** 2 if z < 1 else a * (z - 1 + 0.5 * D * a)
                value[j] += c * short * short
            else:
                gap[j] += (c - a) * short if z < 1 else a * (z - 1)
                value[j] += c * short
        chosen[0][i], chosen[1][i] = best, f[best]


@njit(nogil=True, cache=True)
def send_down(rows, own, constant, w, width, m, least, chosen):  # type: ignore[no-untyped-def]
    """Return the rows and columns, other than its own, in which a row scores at least `least`.

    chosen = (column, score) of the best column of each row is written.
    """
    data, indices, indptr = rows
    f, factor, last = np.empty(LANES, np.float32), spread(constant), w.size - width
    row, column = np.empty(own.size, np.int64), np.empty(own.size, np.int64)
    found = 0
    for i in range(own.size):
        best, most = 0, -UNBOUNDED
        for c in range(0, width, LANES):
            total = factor * load(w, last + c)
            for s in range(np.uint64(indptr[i]), np.uint64(indptr[i + 1])):
                total = total + spread(data[s]) * load(w, np.int64(indices[s]) * width + c)
            # `least` itself counts too, and is found by what is just below it.
            if not any_greater(total, spread(min(most, least - np.float32(1e-3)))):
                continue
            store(f, 0, total)
            for j in range(c, min(c + LANES, m)):
                if f[j - c] > most:
                    best, most = j, f[j - c]
                if j != own[i] and f[j - c] >= least:
                    if found == row.size:
                        row, column = np.append(row, row), np.append(column, column)
                    row[found], column[found] = i, j
                    found += 1
        chosen[0][i], chosen[1][i] = best, most
    return row[:found], column[:found]


@njit(nogil=True, cache=True)
def squared_lengths(w, width, m):  # type: ignore[no-untyped-def]
    """Return ‖w‖² of each column."""
    total = np.zeros(m)
    for j in range(0, w.size, width):
        for c in range(m):
            total[c] += np.float64(w[j + c]) * np.float64(w[j + c])
    return total


@njit(nogil=True, cache=True)
def drop_small(w, width, m, features, scale, prune, count):  # type: ignore[no-untyped-def]
    """Set the weights with |w|·scale < prune to 0, count those left by feature, and return how many were dropped."""
    dropped = 0
    for j in range(features.size):
        left = 0
        for c in range(m):
            size = abs(w[j * width + c])
            if size > 0 and size * scale[features[j]] < prune:
                w[j * width + c] = 0
                dropped += 1
            elif size > 0:
                left += 1
        count[j] = left
    return dropped


@njit(nogil=True, cache=True)
def take_out(w, width, m, count, lanes, values):  # type: ignore[no-untyped-def]
    """Write the columns and values of all weights but those of the constant, feature by feature."""
    at = 0
    for j in range(count.size):
        for c in range(m if count[j] else 0):
            if w[j * width + c] != 0:
                lanes[at], values[at] = c, w[j * width + c]
                at += 1


@njit(nogil=True, cache=True)
def put_in(features, count, lanes, values, first, free, columns, weights):  # type: ignore[no-untyped-def]
    """Append the weights of a node to those of their features; free[j] is the next place of feature j."""
    at = 0
    for j in range(features.size):
        place = free[features[j]]
        for _ in range(count[j]):
            columns[place], weights[place] = first + lanes[at], values[at]
            place += 1
            at += 1
        free[features[j]] = place
