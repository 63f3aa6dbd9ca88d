"""One pass over a column for the rows that violate its optimality conditions: in NumPy it would be a dozen passes."""

from __future__ import annotations

from numba import njit


@njit(nogil=True, cache=True)
def violating(e, beta, lo, hi, rounding, outside, tol, least, grow, shrink):  # type: ignore[no-untyped-def]
    """Return the largest e that may grow, the smallest that may shrink, and how many rows violate by more than `least`.

    The numbers of these rows are written to `grow` and `shrink`; there are none if no row violates by more than `tol`.
    A coefficient that is nearer to its bound than `rounding`, times the size of the box or the largest coefficient, is
    at it. Both ends include ∓`outside`.
    """
    largest = 0.0
    for i in range(beta.size):
        largest = max(largest, abs(beta[i]))
    highest, lowest = -outside, outside
    for i in range(beta.size):
        room = rounding * min(hi[i] - lo[i], largest)
        if beta[i] < hi[i] - room:
            highest = max(highest, e[i])
        if beta[i] > lo[i] + room:
            lowest = min(lowest, e[i])
    growing = shrinking = 0
    if highest - lowest > tol:
        for i in range(beta.size):
            if beta[i] < hi[i] and e[i] > lowest + least:
                grow[growing] = i
                growing += 1
            if beta[i] > lo[i] and e[i] < highest - least:
                shrink[shrinking] = i
                shrinking += 1
    return highest, lowest, growing, shrinking
