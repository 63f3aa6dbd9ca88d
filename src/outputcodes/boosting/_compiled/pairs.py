"""Sums and products over the parts (k, n) of the classes in the pair weights of each row, of rows first..last-1.

Loops run over slices from 0 on: numba's compiler knows that an index is not negative, and uses vector instructions.
"""

from __future__ import annotations

from numba import njit

# What is added to, or multiplied by, stays in the first cache for so many rows.
ROWS_AT_A_TIME = 512


@njit(nogil=True, cache=True)
def sum_by_colour(parts, colouring, first, last, sides):  # type: ignore[no-untyped-def]
    """Write sides[0, i] and sides[1, i], the sums of the parts of the classes coloured +1, and of those coloured -1."""
    for start in range(first, last, ROWS_AT_A_TIME):
        stop = min(start + ROWS_AT_A_TIME, last)
        plus, minus = sides[0, start:stop], sides[1, start:stop]
        plus[:] = 0.0
        minus[:] = 0.0
        for r in range(len(colouring)):
            sums, part = plus if colouring[r] > 0 else minus, parts[r, start:stop]
            for q in range(len(part)):
                sums[q] += part[q]


@njit(nogil=True, cache=True)
def scale_by_colour(parts, colouring, first, last, factors):  # type: ignore[no-untyped-def]
    """Multiply the parts of the classes coloured +1 by factors[0], those of the others by factors[1]; from `first`."""
    for start in range(first, last, ROWS_AT_A_TIME):
        stop = min(start + ROWS_AT_A_TIME, last)
        plus, minus = factors[0, start - first : stop - first], factors[1, start - first : stop - first]
        for r in range(len(colouring)):
            by, part = plus if colouring[r] > 0 else minus, parts[r, start:stop]
            for q in range(len(part)):
                part[q] *= by[q]


@njit(nogil=True, cache=True, fastmath={"reassoc", "contract", "nsz", "arcp"})
def weigh_classes(parts, mass, first, last, into):  # type: ignore[no-untyped-def]
    """Write into[r], the sum of the parts of class r times the mass of their rows, from `first`."""
    for r in range(len(into)):
        part, total = parts[r, first:last], 0.0
        for q in range(len(part)):
            total += part[q] * mass[q]
        into[r] = total
