"""Oblique questions: a descent over planes, from the best numeric feature.

The current direction a and each feature in turn span a plane, in which the best line is searched among a few angles;
with two features and few examples, among all angles between those at which the order of the examples changes. A large
region is searched on a part of its different examples, evenly spread; the result competes on all of them, so that the
best axis question is never lost. After Murthy, Kasif & Salzberg, JAIR 2 (1994), with planes instead of coefficients.
"""

from __future__ import annotations

from math import atan2, cos, pi, sin, sqrt
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from outputcodes._ground.choosing import TIE
from outputcodes._histograms.costs import shell_sort
from outputcodes._histograms.one_feature import least_of, price_cuts
from outputcodes._histograms.questions import OBLIQUE, projection
from outputcodes._histograms.splits import consider_vector, gain_of_rows, line_up_rows

# Coarse and fine angles, each half as large as the one before.
TURNS = pi / 2 * 0.5 ** np.arange(8)
TURNS = np.concatenate([-TURNS[1:], TURNS[::-1]])
# Regions with two features and at most this many examples are searched exhaustively.
EXACT_ROWS = 64
# The number of examples used to search for a direction, and of passes over all features.
SEARCH_ROWS, SWEEPS = 512, 4


class Search(NamedTuple):
    """The state of a search: examples and their shares of the weight, features standardised (Z) by `scale`.

    u are the values of `direction`, v those of the part of one feature that is orthogonal to it, `items` an order of
    the examples, `least` the smallest cost so far.
    """

    rows: NDArray[np.uint32]
    share: NDArray[np.float64]
    Z: NDArray[np.float64]
    scale: NDArray[np.float64]
    items: NDArray[np.uint32]
    u: NDArray[np.float64]
    v: NDArray[np.float64]
    direction: NDArray[np.float64]
    v_direction: NDArray[np.float64]
    least: NDArray[np.float64]


@njit(nogil=True, cache=True)
def angles_between(u, v):  # type: ignore[no-untyped-def]
    """Return one angle from each interval in which the order of u cos θ + v sin θ does not change."""
    n = len(u)
    angles, spare = np.empty(n * (n - 1) // 2), np.empty(n * (n - 1) // 2, dtype=np.uint32)
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
def least_cost(u, v, angle, sample, rows, items, criterion, room):  # type: ignore[no-untyped-def]
    """Return the cost of the best threshold on u cos θ + v sin θ; `items` is the order to start sorting from."""
    n, c, s = len(rows), cos(angle), sin(angle)
    for p in range(n):
        room.values[p] = c * u[items[p]] + s * v[items[p]]
    shell_sort(room.values, items, n)
    for p in range(n):
        room.classes[p], room.weights[p] = sample.y[rows[items[p]]], sample.joint[rows[items[p]]]
    same = TIE * (room.values[n - 1] - room.values[0])
    line = room.line
    count = line_up_rows(room.values, n, n, same, line.at)
    missing_left = n < 0  # the literal False has a type of its own, for which everything would be compiled again
    price_cuts(gain_of_rows(criterion, room), room.values, line.at, line.costs, count, count, missing_left, count - 1)
    return least_of(line.costs, 0, 1, count - 1)


@njit(nogil=True, cache=True)
def standardise(column, rows, share, z):  # type: ignore[no-untyped-def]
    """Set z to the values of the rows, with mean 0 and variance 1; return the factor, 0 if they are all equal."""
    mean, variance, lowest, highest = 0.0, 0.0, np.inf, -np.inf
    for p in range(len(rows)):
        mean += share[p] * column[rows[p]]
        lowest, highest = min(lowest, column[rows[p]]), max(highest, column[rows[p]])
    for p in range(len(rows)):
        z[p] = column[rows[p]] - mean
        variance += share[p] * z[p] ** 2
    # The mean of equal values is rounded, so that their variance may not be 0.
    scale = 1.0 / sqrt(variance) if highest > lowest and variance > 0.0 else 0.0
    for p in range(len(rows)):
        z[p] *= scale
    return scale


@njit(nogil=True, cache=True)
def make_orthogonal(u, z, share, direction, scale, j, v, v_direction):  # type: ignore[no-untyped-def]
    """Set v to the part of feature j's z that is orthogonal to u, with variance 1, and v_direction to its coefficients.

    Return False if there is no such part.
    """
    slope, variance = 0.0, 0.0
    for p in range(len(u)):
        slope += share[p] * u[p] * z[p]
    for p in range(len(u)):
        v[p] = z[p] - slope * u[p]
        variance += share[p] * v[p] * v[p]
    if variance < TIE:
        return False
    spread = sqrt(variance)
    for p in range(len(u)):
        v[p] /= spread
    for f in range(len(direction)):
        v_direction[f] = -slope * direction[f] / spread
    v_direction[j] += scale / spread
    return True


@njit(nogil=True, cache=True)
def turn(u, v, angle):  # type: ignore[no-untyped-def]
    """Set u to u cos θ + v sin θ."""
    for p in range(len(u)):
        u[p] = cos(angle) * u[p] + sin(angle) * v[p]


@njit(nogil=True, cache=True)
def begin_search(sample, rows, start):  # type: ignore[no-untyped-def]
    """Return a search on the rows from the direction of feature `start`, and the number of usable features."""
    d, n = len(sample.columns), len(rows)
    share, total = np.empty(n), 0.0
    for p in range(n):
        total += sample.joint[rows[p]]
    for p in range(n):
        share[p] = sample.joint[rows[p]] / total
    Z, scale = np.zeros((d, n)), np.zeros(d)
    usable = 0
    for j in range(d):
        if not sample.categorical[j]:
            scale[j] = standardise(sample.columns[j], rows, share, Z[j])
            usable += scale[j] > 0.0
    direction, u, items = np.zeros(d), Z[start].copy(), np.arange(n).astype(np.uint32)
    direction[start] = scale[start]
    search = Search(rows, share, Z, scale, items, u, np.empty(n), direction, np.empty(d), np.empty(1))
    return search, usable if scale[start] > 0.0 else 0


@njit(nogil=True, cache=True)
def sweep(sample, search, features, exact, criterion, tie, room):  # type: ignore[no-untyped-def]
    """Turn the direction towards each feature in turn, if the cost decreases."""
    Z, scale, u, v = search.Z, search.scale, search.u, search.v
    direction, v_direction = search.direction, search.v_direction
    for j in features:
        if scale[j] == 0.0 or not make_orthogonal(u, Z[j], search.share, direction, scale[j], j, v, v_direction):
            continue
        best = 0.0
        for angle in angles_between(u, v) if exact else TURNS:
            cost = least_cost(u, v, angle, sample, search.rows, search.items, criterion, room)
            if cost < search.least[0] - tie:
                search.least[0], best = cost, angle
        if best != 0.0:
            turn(u, v, best)
            turn(direction, v_direction, best)


@njit(nogil=True, cache=True)
def consider_direction(sample, order, first, last, direction, criterion, tie, room, choice):  # type: ignore[no-untyped-def]
    """Compare the direction with the choice on all examples."""
    d, largest = len(direction), 0.0
    for j in range(d):
        largest = max(largest, abs(direction[j]))
    for j in range(d):
        direction[j] /= largest
    for p in range(last - first):
        room.rows[p] = order[first + p]
        room.values[p] = projection(sample.X[room.rows[p]], direction, 0, d)
    if consider_vector(last - first, sample, direction, criterion, tie, room, choice):
        choice.which[0], choice.which[1] = OBLIQUE, 0
