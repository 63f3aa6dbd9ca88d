"""Faults of a code: rows and columns that are repeated, carry no information, or separate nothing."""

from __future__ import annotations

import warnings

import numpy as np
from numpy.typing import ArrayLike, NDArray

from outputcodes.codes.base import Matrix, as_entries
from outputcodes.codes.properties import pair_products


def unseparated_pairs(M: ArrayLike) -> NDArray[np.intp]:
    """Return the pairs (a, b), a < b, of rows that no column opposes; rho does not detect them.

    >>> unseparated_pairs([[1, 0], [0, 1], [-1, -1]])
    array([[0, 1]])
    """
    M = as_entries(M)
    plus, minus = (M == 1).astype(np.float32), (M == -1).astype(np.float32)
    found = []
    both_ways = zip(pair_products(plus, minus), pair_products(minus, plus), strict=True)
    for (start, plus_minus, pairs), (_, minus_plus, _) in both_ways:
        found.append(start + np.argwhere(pairs & (plus_minus + minus_plus == 0)))
    return np.concatenate(found)


def one_sided_columns(M: ArrayLike) -> NDArray[np.intp]:
    """Return the columns that lack a sign: they induce a problem with one class.

    >>> one_sided_columns([[1, 1, 0], [-1, 1, -1]])
    array([1, 2])
    """
    M = as_entries(M)
    return np.flatnonzero((M.max(axis=0) < 1) | (M.min(axis=0) > -1))


def repeated_columns(M: ArrayLike) -> NDArray[np.intp]:
    """Return pairs (a, b): column b equals the earlier column a, the first of its kind.

    >>> repeated_columns([[1, 1, -1, 1], [-1, -1, 1, -1]])
    array([[0, 1],
           [0, 3]])
    """
    return _first_matches(as_entries(M).T)


def mirrored_columns(M: ArrayLike) -> NDArray[np.intp]:
    """Return pairs (a, b): column b is the negative of the earlier column a, the first of its kind.

    >>> mirrored_columns([[1, 1, -1, 1], [-1, -1, 1, -1]])
    array([[0, 2],
           [2, 3]])
    """
    return _first_matches(as_entries(M).T, sign=-1)


def repeated_rows(M: ArrayLike) -> NDArray[np.intp]:
    """Return pairs (a, b): row b equals the earlier row a, so that class b could never be predicted.

    >>> repeated_rows([[1, 0], [-1, 1], [1, 0]])
    array([[0, 2]])
    """
    return _first_matches(as_entries(M))


def check_code(M: ArrayLike, strict: bool = False) -> Matrix:
    """Return M as a contiguous int8 array if a classifier can use it as a code, otherwise raise ValueError.

    Errors: entries outside {-1, 0, +1}, fewer than 2 rows, zero rows or columns, equal rows. A column with only one
    sign is a warning, or an error if `strict`; it is always the same, so that zero and equal rows are errors in the
    other columns too. Two rows that no column opposes are a warning. Equal and mirrored columns are allowed; `describe`
    reports them. Rows and columns are numbered from 0.

    >>> check_code([[1, -1], [-1, 1], [-1, -1]])
    array([[ 1, -1],
           [-1,  1],
           [-1, -1]], dtype=int8)
    >>> check_code([[1, -1], [-1, 1], [1, -1]])
    Traceback (most recent call last):
    ...
    ValueError: code: equal rows 0 and 2: the later class could never be predicted; make every row different.
    """
    M = as_entries(M)
    zero_rows, zero_columns = np.flatnonzero(~M.any(axis=1)), np.flatnonzero(~M.any(axis=0))
    if zero_rows.size:
        raise ValueError(f"code: all-zero rows {_some(zero_rows)}: no column learns these classes; give them ±1.")
    if zero_columns.size:
        raise ValueError(f"code: all-zero columns {_some(zero_columns)}: they learn nothing; remove them.")
    if (equal := repeated_rows(M)).size:
        raise ValueError(
            f"code: equal rows {_some(equal)}: the later class could never be predicted; make every row different."
        )
    if (one_sided := one_sided_columns(M)).size:
        fault = (
            f"columns with one sign only {_some(one_sided)}: there is nothing to learn in them; give each both +1 and "
            f"-1 (convert a code over {{0, 1}} by 2 * M - 1)."
        )
        live = np.delete(M, one_sided, axis=1)
        if strict or not live.size:
            raise ValueError(f"code: {fault}")
        if (zero_rows := np.flatnonzero(~live.any(axis=1))).size:
            raise ValueError(f"code: rows {_some(zero_rows)} are zero in all columns with both signs: {fault}")
        if (equal := repeated_rows(live)).size:
            raise ValueError(f"code: rows {_some(equal)} are equal in all columns with both signs: {fault}")
        warnings.warn(fault, UserWarning, stacklevel=2)
    if (unseparated := unseparated_pairs(M)).size:
        warnings.warn(
            f"rows that no column opposes {_some(unseparated)}: no column separates these classes; add a "
            f"column with +1 for one and -1 for the other.",
            UserWarning,
            stacklevel=2,
        )
    return M


def _first_matches(vectors: Matrix, sign: int = 1) -> NDArray[np.intp]:
    first: dict[bytes, int] = {}
    pairs = []
    for index, vector in enumerate(vectors):
        match = first.get((sign * vector).tobytes())
        if match is not None:
            pairs.append((match, index))
        first.setdefault(vector.tobytes(), index)
    return np.array(pairs, dtype=np.intp).reshape(-1, 2)


def _some(found: NDArray[np.intp], shown: int = 5) -> str:
    """Return indices or pairs as text: the first few, and how many more."""
    names = [str(item) if item.ndim == 0 else f"{item[0]} and {item[1]}" for item in found[:shown]]
    more = f" (and {len(found) - shown} more)" if len(found) > shown else ""
    return ", ".join(names) + more
