"""Oblique questions: a descent over planes, from the best numeric feature.

The current direction a and one feature after another span a plane, in which the best line is looked for among a few
angles; with two features and few examples among all of them, one between any two at which examples change places. A
large region is searched on a part of its examples, evenly spread; what is found competes on all of them, so that the
best axis question is never lost. After Murthy, Kasif & Salzberg, JAIR 2 (1994), with planes in place of coefficients.
"""

from __future__ import annotations

from math import atan2, cos, isnan, pi, sin

import numpy as np
from numba import njit

from outputcodes._kernels.tree_costs import best_cut, shell_sort
from outputcodes._kernels.tree_questions import OBLIQUE, projection
from outputcodes._kernels.tree_splits import consider_vector

# Coarse and fine turns alike, each half as large as the one before.
TURNS = pi / 2 * 0.5 ** np.arange(8)
TURNS = np.concatenate([-TURNS[1:], TURNS[::-1]])
# Regions with two features and up to so many examples are searched exhaustively.
EXACT_ROWS = 64
# Examples that a direction is looked for on, and how often all features are gone through.
SEARCH_ROWS, SWEEPS = 512, 4


@njit(nogil=True, cache=True)
def angles_between(u, v):  # type: ignore[no-untyped-def]
    """One angle from each interval in which the order of u cos θ + v sin θ stays the same."""
    n = len(u)
    angles, spare = np.empty(n * (n - 1) // 2), np.empty(n * (n - 1) // 2, dtype=np.int32)
    count = 0
    for p in range(n):
        for q in range(p):
            angles[count] = atan2(u[q] - u[p], v[p] - v[q]) % pi
            count += 1
    shell_sort(angles, spare, count)
    for p in range(count - 1):
        angles[p] += (angles[p + 1] - angles[p]) / 2
    if count > 0:
        angles[count - 1] += (pi - angles[count - 1]) / 2
    return angles


@njit(nogil=True, cache=True)
def least_cost(u, v, angle, sample, rows, items, criterion, tie, room):  # type: ignore[no-untyped-def]
    """The cost of the best threshold on u cos θ + v sin θ; `items` has an order to begin with, and the new one after."""
    n, c, s = len(rows), cos(angle), sin(angle)
    for p in range(n):
        room.values[p] = c * u[items[p]] + s * v[items[p]]
    shell_sort(room.values, items, n)
    for p in range(n):
        room.classes[p], room.weights[p] = sample.y[rows[items[p]]], sample.weight[rows[items[p]]]
    cost, _ = best_cut(
        room.values, room.classes, room.weights, n, n, False, criterion, tie, room.counts, room.right_cost
    )
    return cost


@njit(nogil=True, cache=True)
def whole_rows(sample, order, first, last):  # type: ignore[no-untyped-def]
    """Of the examples that miss no number, at most `SEARCH_ROWS`, evenly spread."""
    whole = np.empty(last - first, dtype=np.int32)
    count = 0
    for p in range(first, last):
        complete = True
        for j in range(len(sample.columns)):
            complete = complete and (sample.categorical[j] or not isnan(sample.X[order[p], j]))
        if complete:
            whole[count] = order[p]
            count += 1
    kept = min(count, SEARCH_ROWS)
    for p in range(kept):
        whole[p] = whole[p * count // kept]
    return whole[:kept]


@njit(nogil=True, cache=True)
def find_oblique(sample, order, first, last, start, criterion, tie, room, choice):  # type: ignore[no-untyped-def]
    """The best direction found from that of feature `start`."""
    d = len(sample.columns)
    rows = whole_rows(sample, order, first, last)
    n = len(rows)
    if n < 2:
        return
    # Standardised features, by columns.
    Z, scale = np.zeros((d, n)), np.zeros(d)
    usable = 0
    for j in range(d):
        if not sample.categorical[j]:
            for p in range(n):
                Z[j, p] = sample.columns[j, rows[p]]
            spread = Z[j].std()
            if spread > 0.0:
                scale[j] = 1.0 / spread
                Z[j] = (Z[j] - Z[j].mean()) * scale[j]
                usable += 1
    if usable < 2 or scale[start] == 0.0:
        return
    direction, u, items = np.zeros(d), Z[start].copy(), np.arange(n).astype(np.int32)
    direction[start] = scale[start]
    exact = usable == 2 and n <= EXACT_ROWS
    least = least_cost(u, u, 0.0, sample, rows, items, criterion, tie, room)
    for _ in range(1 if exact else SWEEPS):
        before = least
        for j in range(d):
            if scale[j] == 0.0 or (exact and j == start):
                continue
            best = 0.0
            for angle in angles_between(u, Z[j]) if exact else TURNS:
                cost = least_cost(u, Z[j], angle, sample, rows, items, criterion, tie, room)
                if cost < least - tie:
                    least, best = cost, angle
            if best != 0.0:
                direction *= cos(best)
                direction[j] += sin(best) * scale[j]
                u *= cos(best)
                u += sin(best) * Z[j]
        if least >= before - tie:
            break
    if np.count_nonzero(direction) < 2:
        return
    direction /= np.abs(direction).max()
    for p in range(last - first):
        room.rows[p] = order[first + p]
        room.values[p] = projection(sample.X[room.rows[p]], direction, 0, d)
    consider_vector(last - first, sample, OBLIQUE, direction, criterion, tie, room, choice)
