"""Compiled operations on the rows of a large Gram matrix: rbf values, small matrices from large ones, and the effect of
few coefficients on many gradients or margins."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray
from scipy import sparse

# Below this share of nonzero coefficients, rows of kernel values are added up one by one instead of multiplied.
FEW = 0.25
# The mean length from which runs of columns are copied as blocks.
LONG = 8
_FAST = {"reassoc", "contract", "nsz", "arcp"}
# ln 2 in two parts, the first with few digits: its product with an integer is exact.
_LN2, _REST_OF_LN2 = 6.93147180369123816490e-01, 1.90821492927058770002e-10


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
def to_distances(products, left, right):  # type: ignore[no-untyped-def]
    """Replace inner products by squared distances: max(0, left[a] + right[b] − 2·products[a, b])."""
    for a in range(left.size):
        row = products[a]
        for b in range(right.size):
            distance = left[a] + right[b] - 2 * row[b]
            row[b] = 0.0 if distance < 0 else distance


@njit(nogil=True, cache=True, fastmath={"contract", "nsz"})
def to_exponentials(factor, values):  # type: ignore[no-untyped-def]
    """Replace values by exp(factor·values) in float64, where factor·values ≤ 0; below exp(−707) and for NaN it is 0.

    Neither of the two liberties of the compiler concerns infinities or NaN. exp(t) = 2^n·exp(r), where n is an integer
    and |r| ≤ ½ ln 2: the polynomial is Taylor's, with an error of 2e-16.
    """
    bits, whole = values.view(np.int64), np.empty(values.shape[1], np.int64)
    for a in range(values.shape[0]):
        row, row_bits = values[a], bits[a]
        for b in range(row.size):
            power = factor * row[b]
            kept = power > -707.0
            power = power if kept else 0.0
            n = np.floor(power * (1 / np.log(2.0)) + 0.5)
            whole[b] = np.int64(np.int32(n)) << np.int64(52)
            r = (power - n * _LN2) - n * _REST_OF_LN2
            p = r * (1 / 6227020800) + 1 / 479001600
            p = p * r + 1 / 39916800
            p = p * r + 1 / 3628800
            p = p * r + 1 / 362880
            p = p * r + 1 / 40320
            p = p * r + 1 / 5040
            p = p * r + 1 / 720
            p = p * r + 1 / 120
            p = p * r + 1 / 24
            p = p * r + 1 / 6
            p = p * r + 0.5
            p = p * r + 1
            p = p * r + 1
            row[b] = p if kept else 0.0
        for b in range(row.size):
            row_bits[b] += whole[b]


@njit(nogil=True, cache=True)
def run_starts(numbers):  # type: ignore[no-untyped-def]
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
def copy_entries(row, columns, runs, out):  # type: ignore[no-untyped-def]
    """Copy out[b] = row[columns[b]], columns ≥ 0, which are consecutive from runs[r] to runs[r + 1]."""
    if LONG * (runs.size - 1) > columns.size:
        for b in range(columns.size):
            # Unsigned, because numba tests every signed index for being negative, which takes as long as the copy.
            out[b] = row[np.uint64(columns[b])]
    else:
        # Loops in place of slices that are assigned: those compile the text of an error, for two seconds.
        for r in range(runs.size - 1):
            target, source = out[runs[r] : runs[r + 1]], row[columns[runs[r]] :]
            for b in range(target.size):
                target[b] = source[b]


@njit(nogil=True, cache=True)
def gather(store, slots, columns, out):  # type: ignore[no-untyped-def]
    """Copy out[a, b] = store[slots[a], columns[b]]."""
    runs = run_starts(columns)
    for a in range(slots.size):
        copy_entries(store[slots[a]], columns, runs, out[a])


@njit(nogil=True, cache=True, fastmath=_FAST)
def add_multiple(factor, row, out):  # type: ignore[no-untyped-def]
    for s in range(row.size):
        out[s] += factor * row[s]


@njit(nogil=True, cache=True)
def add_lines(product, targets, out):  # type: ignore[no-untyped-def]
    """Add out[targets[t]] += product[t], without copies of the rows of `out`."""
    for t in range(targets.size):
        add_multiple(1.0, product[t], out[targets[t]])


@njit(nogil=True, cache=True)
def add_rows(store, slots, starts, targets, factors, columns, out):  # type: ignore[no-untyped-def]
    """Add a sparse product: out[targets[t]] += factors[t]·store[slots[a], columns], t from starts[a] to starts[a + 1].

    Each row is read once for all its targets; it is copied first if its columns are not consecutive.
    """
    runs, buffer = run_starts(columns), np.empty(columns.size, store.dtype)
    for a in range(slots.size):
        if starts[a] == starts[a + 1]:
            continue
        row = store[slots[a]]
        if runs.size == 2:
            row = row[columns[0] : columns[0] + columns.size]
        else:
            copy_entries(row, columns, runs, buffer)
            row = buffer
        for t in range(starts[a], starts[a + 1]):
            add_multiple(factors[t], row, out[targets[t]])


def few_per_row(coefficients: NDArray[np.float64]) -> tuple[Any, Any, Any] | None:
    """Return coefficients (S, L) of which most are 0 as `add_rows` takes them: starts, targets, factors; else None."""
    if np.count_nonzero(coefficients) > FEW * coefficients.size:
        return None
    lines = sparse.csr_array(coefficients)
    return lines.indptr, lines.indices, lines.data
