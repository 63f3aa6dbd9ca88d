"""Compiled steps of the beam search: which columns to read next, and the best paths so far.

A path is a score, the sum of its margins, and what it has come to: a node, or -1 - r for the class r. Of two paths with
equal scores the one with larger margins is better, then the one whose last column comes first.
"""

from __future__ import annotations

import numpy as np
from numba import njit

# Below all nodes and classes: no path.
NOWHERE = -(1 << 62)


@njit(nogil=True, cache=True)
def open_nodes(reached, first):  # type: ignore[no-untyped-def]
    """Return the row, the first column and the number of columns of every node that a path of a row has come to."""
    n, width = reached.shape
    total = 0
    for i in range(n):
        for b in range(width):
            total += reached[i, b] >= 0
    row, start, count = np.empty(total, np.int64), np.empty(total, np.int64), np.empty(total, np.int64)
    at = 0
    for i in range(n):
        for b in range(width):
            v = reached[i, b]
            if v >= 0:
                row[at], start[at], count[at] = i, first[v], first[v + 1] - first[v]
                at += 1
    return row, start, count


@njit(nogil=True, cache=True)
def _insert(score, line, item, column, at, s, m, what, where):  # type: ignore[no-untyped-def]
    """Put a path in its place among the best of row `at`, if it is one of them."""
    b = score.shape[1] - 1
    last = score[at, b]
    if s < last or (s == last and (m < line[at, b] or (m == line[at, b] and where > column[at, b]))):
        return
    while b > 0:
        p = b - 1
        if s < score[at, p] or (
            s == score[at, p] and (m < line[at, p] or (m == line[at, p] and where > column[at, p]))
        ):
            break
        score[at, b], line[at, b], item[at, b], column[at, b] = score[at, p], line[at, p], item[at, p], column[at, p]
        b = p
    score[at, b], line[at, b], item[at, b], column[at, b] = s, m, what, where


@njit(nogil=True, cache=True)
def extend(paths, child, first, margins, gains, longer):  # type: ignore[no-untyped-def]
    """Write the best paths after one more step to `longer`; paths that have come to a class stay as they are.

    paths, longer = (score, line, item, column), (n, width) each. margins and gains are those of the children of all
    nodes, as `open_nodes` asked for them.
    """
    score, line, item, column = paths
    scores, lines, items, columns = longer
    n, width = item.shape
    at = 0
    for i in range(n):
        for b in range(width):
            v = item[i, b]
            if v >= 0:
                s, m = score[i, b], line[i, b]
                for c in range(first[v], first[v + 1]):
                    total = s + gains[at]
                    if total >= scores[i, -1]:
                        _insert(scores, lines, items, columns, i, total, m + margins[at], child[c], c)
                    at += 1
            elif v != NOWHERE:
                _insert(scores, lines, items, columns, i, score[i, b], line[i, b], v, column[i, b])


@njit(nogil=True, cache=True)
def join_trees(scores, items, width):  # type: ignore[no-untyped-def]
    """Return the classes with the largest sum of scores over trees, (n, width), and the sums.

    scores and items are (trees, n, beam), the best first. A class that a tree's beam lacks has the lowest score there.
    """
    trees, n, beam = items.shape
    best, total = np.full((n, width), NOWHERE), np.full((n, width), -np.inf)
    known, sums = np.empty(trees * beam, np.int64), np.empty(trees * beam)
    for i in range(n):
        found, floor = 0, 0.0
        for t in range(trees):
            low = 0.0
            for b in range(beam):
                if items[t, i, b] == NOWHERE:
                    break
                low = scores[t, i, b]
            for b in range(beam):
                item = items[t, i, b]
                if item == NOWHERE:
                    break
                q = 0
                while q < found and known[q] != item:
                    q += 1
                if q == found:
                    known[q], sums[q] = item, floor
                    found += 1
                sums[q] += scores[t, i, b] - low
            # What this tree's beam lacks has its lowest score: that is added to all.
            for q in range(found):
                sums[q] += low
            floor += low
        for q in range(found):
            b = width - 1
            # -1 - r: of two classes with equal sums the one with the smaller number is first.
            if sums[q] < total[i, b] or (sums[q] == total[i, b] and known[q] < best[i, b]):
                continue
            while b > 0 and (sums[q] > total[i, b - 1] or (sums[q] == total[i, b - 1] and known[q] > best[i, b - 1])):
                total[i, b], best[i, b] = total[i, b - 1], best[i, b - 1]
                b -= 1
            total[i, b], best[i, b] = sums[q], known[q]
    return best, total
