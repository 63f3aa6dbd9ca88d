"""Compiled operations on the rows of a large Gram matrix: rbf values in float32, small matrices from large ones, and
the effect of few coefficients on many gradients or margins."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray
from scipy import sparse

# Below this share of nonzero coefficients, rows of kernel values are added up one by one instead of multiplied.
FEW = 0.25
_FAST = {"reassoc", "contract", "nsz", "arcp"}


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
def add_multiple(factor, row, out):  # type: ignore[no-untyped-def]
    for s in range(row.size):
        out[s] += factor * row[s]


@njit(nogil=True, cache=True)
def add_rows(store, slots, starts, targets, factors, columns, out):  # type: ignore[no-untyped-def]
    """Add a sparse product: out[targets[t]] += factors[t]·store[slots[a], columns], t from starts[a] to starts[a + 1].

    Each row is read once for all its targets; it is copied first if its columns are not consecutive.
    """
    together, buffer = _neighbours(columns), np.empty(columns.size, store.dtype)
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


def few_per_row(coefficients: NDArray[np.float64]) -> tuple[Any, Any, Any] | None:
    """Return coefficients (S, L) of which most are 0 as `add_rows` takes them: starts, targets, factors; else None."""
    if np.count_nonzero(coefficients) > FEW * coefficients.size:
        return None
    lines = sparse.csr_array(coefficients)
    return lines.indptr, lines.indices, lines.data
