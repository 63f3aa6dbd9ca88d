"""Many matrices at once, one bit per entry, so that a distance between rows is a count of bits.

A plane has shape (words, k, candidates) and holds column s in bit s % 64 of word s // 64. The plane
`signs` has a 1 for +1; the plane `nonzero` has a 1 for ±1 and is None where no entry is 0.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from outputcodes.codes.base import Matrix

Plane = NDArray[np.uint64]


def n_words(L: int) -> int:
    """Count the 64-bit words that a row of L columns takes."""
    return -(-L // 64)


def column_mask(L: int) -> Plane:
    """Return the words, shape (words, 1), whose bits are the L columns."""
    mask = np.full((n_words(L), 1), 2**64 - 1, dtype=np.uint64)
    mask[-1] >>= np.uint64(-L % 64)
    return mask


def random_plane(rng: np.random.Generator, k: int, L: int, n: int) -> Plane:
    """Draw a plane of fair coins for n matrices."""
    words = rng.integers(2**64 - 1, size=(n_words(L), k, n), dtype=np.uint64, endpoint=True)
    words &= column_mask(L)[:, None]
    return words


def pack(bits: NDArray[np.integer[Any]]) -> Plane:
    """Write n matrices over {0, 1}, shape (n, k, L), as a plane."""
    n, k, L = bits.shape
    octets = np.zeros((n, k, 8 * n_words(L)), dtype=np.uint8)
    octets[:, :, : -(-L // 8)] = np.packbits(bits.astype(np.uint8), axis=2, bitorder="little")
    return np.ascontiguousarray(octets.view("<u8").T, dtype=np.uint64)


def unpack(signs: Plane, nonzero: Plane | None, candidate: int, L: int) -> Matrix:
    """Read one candidate back as a (k, L) matrix."""
    M = 2 * _bits(signs[:, :, candidate], L) - 1
    return M if nonzero is None else M * _bits(nonzero[:, :, candidate], L)


def _bits(words: Plane, L: int) -> Matrix:
    octets = np.ascontiguousarray(words.T, dtype="<u8").view(np.uint8)
    return np.unpackbits(octets, axis=1, count=L, bitorder="little").astype(np.int8)


def twice_rho(signs: Plane, nonzero: Plane | None, L: int) -> NDArray[np.int64]:
    """Return 2 rho = min over pairs of rows of L - u.v, an integer, for every candidate."""
    words, k, n = signs.shape
    # 2 Delta lies in 0..2L, so that the smallest type is enough and intermediate wrap-around harmless.
    count = np.min_scalar_type(2 * L)
    smallest = np.full((k - 1, n), 2 * L, dtype=count)
    for gap in range(1, k):
        twice = np.full((k - gap, n), 0 if nonzero is None else L, dtype=count)
        for word in range(words):
            differ = signs[word, gap:] ^ signs[word, :-gap]
            if nonzero is not None:
                both = nonzero[word, gap:] & nonzero[word, :-gap]
                differ &= both
                twice -= np.bitwise_count(both)
            differing = np.bitwise_count(differ)
            twice += differing
            twice += differing
        np.minimum(smallest[: k - gap], twice, out=smallest[: k - gap])
    return np.asarray(smallest.min(axis=0), dtype=np.int64)
