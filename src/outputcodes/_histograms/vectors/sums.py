"""Row vectors of gradients as whole numbers, whose sums are exact.

A row vector is m gradients, one curvature and a 1 that counts rows. Its entries are whole numbers of 32 bits, two of
them in one word of 64: the sum of the words is the sum of both halves. Gradients are rounded to about 1e-9 of the sum
of their sizes.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numba.extending import register_jitable
from numpy.typing import NDArray

from outputcodes._ground.compiling import ENTRY, INNER

# The sizes of all rows together stay below this, and so does every partial sum.
LARGEST_SUM = 2.0**30
# NumPy adds long rows faster than short ones: so many row vectors are added side by side.
TOGETHER = 64


class Vectors(NamedTuple):
    """Packed row vectors (n, words), and how much one unit of a gradient and of a curvature is."""

    words: NDArray[np.int64]
    gradient_unit: float
    curvature_unit: float


def n_words(m: int) -> int:
    """Return how many words hold m gradients, a curvature and a count."""
    return (m + 3) // 2


def pack(G: NDArray[np.float32], h: NDArray[np.float32], out: NDArray[np.int64]) -> Vectors:
    """Round gradients (n, m) and curvatures (n,) to whole numbers and pack them into `out`.

    >>> vectors = pack(np.array([[1.0], [-0.5]], np.float32), np.ones(2, np.float32), np.empty((2, 2), np.int64))
    >>> low(vectors.words[:, 0]) * vectors.gradient_unit
    array([ 1. , -0.5])
    >>> high(vectors.words[:, 0]) * vectors.curvature_unit, low(vectors.words[:, 1])
    (array([1., 1.]), array([1, 1]))
    """
    gradient_unit, curvature_unit = units_of(sizes_of(G, h), len(h))
    round_into(out, G, h, 1 / gradient_unit, 1 / curvature_unit)
    return Vectors(out, gradient_unit, curvature_unit)


def round_into(
    words: NDArray[np.int64], G: NDArray[np.float32], h: NDArray[np.float32], per_gradient: float, per_curvature: float
) -> None:
    """Write the rounded numbers: even entries in the low halves of the words, odd ones in the high halves."""
    write = pack_six if G.shape[1] == 6 else pack_words
    write(G, h, per_gradient, per_curvature, words)


def sizes_of(G: NDArray[np.float32], h: NDArray[np.float32]) -> NDArray[np.float64]:
    """Return Σ|G| of each column, and Σh behind them."""
    n, m = G.shape
    sizes, even = np.abs(G), n - n % TOGETHER
    summed = np.add.reduce(sizes[:even].reshape(-1, TOGETHER * m), axis=0, dtype=np.float64).reshape(TOGETHER, m)
    return np.append(summed.sum(axis=0) + sizes[even:].sum(axis=0, dtype=np.float64), h.sum(dtype=np.float64))


def units_of(sizes: NDArray[np.float64], n: int) -> tuple[float, float]:
    """Return one unit of a gradient and one of a curvature, for n rows whose sizes add up to these."""
    sizes = sizes * (1.0 + 1e-4)  # a little too large rather than too small
    # Rounding adds half a unit per row at most.
    room = LARGEST_SUM - n
    return float(max(sizes[:-1].max(initial=0.0), 1e-300) / room), float(max(sizes[-1], 1e-300) / room)


@njit(**ENTRY)
def pack_six(G, h, per_gradient, per_curvature, words):  # type: ignore[no-untyped-def]
    """Round and pack six gradients, the usual number: half the time to compile and to run."""
    count = np.int64(1) << 32
    for i in range(len(h)):
        for q in range(3):
            low_half = np.int64(np.rint(G[i, 2 * q] * per_gradient))
            high_half = np.int64(np.rint(G[i, 2 * q + 1] * per_gradient))
            words[i, q] = low_half + (high_half << 32)
        words[i, 3] = np.int64(np.rint(h[i] * per_curvature)) + count


@njit(**ENTRY)
def pack_words(G, h, per_gradient, per_curvature, words):  # type: ignore[no-untyped-def]
    """Round and pack any number of gradients."""
    n, m = G.shape
    count = np.int64(1)
    for i in range(n):
        for q in range(m // 2):
            low_half = np.int64(np.rint(G[i, 2 * q] * per_gradient))
            high_half = np.int64(np.rint(G[i, 2 * q + 1] * per_gradient))
            words[i, q] = low_half + (high_half << 32)
        curvature = np.int64(np.rint(h[i] * per_curvature))
        if m % 2 == 0:
            words[i, m // 2] = curvature + (count << 32)
        else:
            words[i, m // 2] = np.int64(np.rint(G[i, m - 1] * per_gradient)) + (curvature << 32)
            words[i, m // 2 + 1] = count


@register_jitable(**INNER)
def low(word):  # type: ignore[no-untyped-def]
    """Return the even one of the two numbers in a word."""
    return (word << 32) >> 32


@register_jitable(**INNER)
def high(word):  # type: ignore[no-untyped-def]
    """Return the odd one: what is left when the even one is taken away."""
    return (word - ((word << 32) >> 32)) >> 32
