"""Properties of a code: distances between rows and between columns, and the errors that it corrects."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike, NDArray

from outputcodes.codes.base import as_entries

# Entries per block of inner products, 16 MB, so that memory stays small for any size of the code.
_BLOCK_ENTRIES = 2**22


def row_distances(M: ArrayLike) -> NDArray[np.float64]:
    """Return the (k, k) distances (L - u.v)/2: 1 per opposite entry, 1/2 where either is 0.

    The diagonal follows the same formula: half the number of zeros of a row.

    >>> row_distances([[1, 1, 0], [-1, 0, 1], [0, -1, -1]])
    array([[0.5, 2. , 2. ],
           [2. , 0.5, 2. ],
           [2. , 2. , 0.5]])
    """
    rows = as_entries(M).astype(np.float32)
    distances: NDArray[np.float64] = (rows.shape[1] - np.float64(rows @ rows.T)) / 2
    return distances


def column_distances(M: ArrayLike) -> NDArray[np.float64]:
    """Return the (L, L) distances between columns, where a column and its negative are the same problem.

    >>> column_distances([[1, 1, -1], [-1, 1, 1], [-1, -1, 1]])
    array([[0., 1., 0.],
           [1., 0., 1.],
           [0., 1., 0.]])
    """
    columns = as_entries(M).T.astype(np.float32)
    distances: NDArray[np.float64] = (columns.shape[1] - np.abs(columns @ columns.T).astype(np.float64)) / 2
    return distances


def min_distance(M: ArrayLike) -> float:
    """Return rho, the smallest distance between two different rows.

    >>> min_distance([[1, 1, 0], [-1, 0, 1], [0, -1, -1]])
    2.0
    """
    return row_distance_range(M)[0]


def row_distance_range(M: ArrayLike) -> tuple[float, float, float]:
    """Return the smallest, the mean and the largest distance of two rows, without a (k, k) array.

    >>> row_distance_range([[1, 1, 1], [-1, 1, 1], [-1, -1, -1]])
    (1.0, 2.0, 3.0)
    """
    rows = as_entries(M).astype(np.float32)
    k, L = rows.shape
    largest, smallest = -np.inf, np.inf
    for _, products, pairs in pair_products(rows, rows):
        largest = max(largest, float(products.max(where=pairs, initial=-np.inf)))
        smallest = min(smallest, float(products.min(where=pairs, initial=np.inf)))
    # The sum of u.v over all pairs is half of |sum of rows|^2 - sum of |row|^2.
    total = (np.square(rows.sum(axis=0, dtype=float)).sum() - np.count_nonzero(rows)) / 2
    mean = total / (k * (k - 1) / 2)
    return float(L - largest) / 2, float(L - mean) / 2, float(L - smallest) / 2


def min_column_distance(M: ArrayLike) -> float:
    """Return the smallest distance between two columns, up to sign; inf if there is only one column.

    >>> min_column_distance([[1, 1, -1], [-1, 1, 1], [-1, -1, -1]])
    1.0
    """
    columns = as_entries(M).T.astype(np.float32)
    blocks = pair_products(columns, columns)
    largest = max(np.abs(c_d).max(where=pairs, initial=-np.inf) for _, c_d, pairs in blocks)
    return float(columns.shape[1] - largest) / 2


def correctable_errors(M: ArrayLike) -> int:
    """Return how many wrong bits Hamming decoding always corrects: floor((rho - 1)/2) without zeros.

    Each zero of a row costs half an error: w wrong bits outside the zeros of row y are corrected if
    w + zeros(y)/2 < rho/2. The result holds for every row; it is 0 if nothing can be guaranteed.

    >>> correctable_errors([[1] * 7, [-1] * 7])
    3
    """
    M = as_entries(M)
    most_zeros = int((M == 0).sum(axis=1).max())
    # The largest integer w < (rho - zeros)/2, counted in quarters since rho is a multiple of 1/2.
    quarters = round(2 * min_distance(M)) - 2 * most_zeros
    return max(0, (quarters - 1) // 4)


def pair_products(
    vectors: NDArray[np.float32], others: NDArray[np.float32]
) -> Iterator[tuple[int, NDArray[np.float32], NDArray[np.bool_]]]:
    """Yield blocks (start, products, pairs) of the inner products of vectors a with others b >= start.

    Entry (i, j) belongs to a = start + i and b = start + j; `pairs` marks a < b, so that each pair occurs once.
    """
    n = len(vectors)
    height = max(1, _BLOCK_ENTRIES // n)
    for start in range(0, n, height):
        block = vectors[start : start + height]
        shape = (len(block), n - start)
        yield start, block @ others[start:].T, np.arange(shape[0])[:, None] < np.arange(shape[1])
