"""Binned features: small integer codes instead of values, for stumps and trees."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from outputcodes._ground.blocks import over_blocks
from outputcodes._histograms.tallies import counted, quantile_ends

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Binned:
    """X and the bins of its values.

    Feature f has `n_bins[f]` bins in ascending order; a missing value (NaN) has the code n_bins[f].

    Attributes
    ----------
    X : ndarray of shape (n, d), or StoredRows
    codes : ndarray of unsigned integers, shape (n, d)
    n_bins : ndarray of shape (d,)
    offsets : ndarray of shape (d + 1,)
        `low[offsets[f] + b]` and `high[...]` are the smallest and largest value in bin b of feature f; for the bin of
        missing values they are NaN.
    low, high : ndarray
    categorical : ndarray of bool, shape (d,)
    exact : ndarray of bool, shape (d,)
        Whether each distinct value has its own bin.
    """

    X: Any
    codes: NDArray[Any]
    n_bins: NDArray[np.int64]
    offsets: NDArray[np.int64]
    low: Array
    high: Array
    categorical: NDArray[np.bool_]
    exact: NDArray[np.bool_]


def bin_features(
    X: Array, bins: int | str, categorical: NDArray[np.bool_], like: Binned | None = None, n_jobs: int | None = 1
) -> Binned:
    """Replace every value by the number of its bin.

    A feature with at most `bins` distinct values, a categorical feature, and every feature if `bins` is "exact", has
    one bin per value. The others are cut at quantiles, or at the cuts of `like`.

    >>> binned = bin_features(np.array([[3.0], [1.0], [np.nan], [1.0]]), "exact", np.array([False]))
    >>> binned.codes.ravel(), binned.low
    (array([1, 0, 2, 0], dtype=uint8), array([ 1.,  3., nan]))
    """

    def binned(f: int) -> tuple[NDArray[np.intp], Array, Array, bool]:
        """Return the codes of a feature, the smallest and largest value of each bin, and whether bins are values."""
        x = X[:, f]
        smallest, counts = counted(x)
        largest, exact = smallest, categorical[f] or bins == "exact" or len(smallest) <= int(bins)
        if not exact and like is not None and not like.exact[f]:
            own = slice(like.offsets[f], like.offsets[f + 1] - 1)
            smallest, largest = like.low[own], like.high[own]
        elif not exact:
            smallest, largest = quantile_bins(smallest, counts, int(bins))
        code = np.searchsorted(midpoints(largest[:-1], smallest[1:]), x)
        code[np.isnan(x)] = len(smallest)
        return code, np.append(smallest, np.nan), np.append(largest, np.nan), exact

    codes, low, high, exact = zip(*over_blocks(binned, range(X.shape[1]), n_jobs), strict=True)
    n_bins = np.array([len(values) - 1 for values in low])
    smallest_type = np.min_scalar_type(max(int(code.max()) for code in codes))
    return Binned(
        X=X,
        codes=np.stack(codes, axis=1, dtype=smallest_type, casting="unsafe"),
        n_bins=n_bins,
        offsets=np.concatenate([[0], np.cumsum(n_bins + 1)]),
        low=np.concatenate(low),
        high=np.concatenate(high),
        categorical=categorical,
        exact=np.array(exact),
    )


def check_bins(bins: int | str) -> None:
    """Raise ValueError for a value of `bins` that `bin_features` does not support."""
    if bins != "exact" and not (isinstance(bins, int | np.integer) and 2 <= bins <= 256):
        raise ValueError(f"bins={bins!r} must be 'exact' or an integer from 2 to 256.")


def categorical_mask(categorical_features: ArrayLike | None, n_features: int) -> NDArray[np.bool_]:
    """Convert a list of feature numbers, a mask or None to a mask.

    >>> categorical_mask([0, -1], 3)
    array([ True, False,  True])
    """
    mask = np.zeros(n_features, dtype=bool)
    if categorical_features is None:
        return mask
    given = np.asarray(categorical_features)
    usable = given.ndim == 1 and (
        (given.dtype == bool and len(given) == n_features)
        or given.size == 0
        or (np.issubdtype(given.dtype, np.integer) and -n_features <= given.min() <= given.max() < n_features)
    )
    if not usable:
        raise ValueError(
            f"categorical_features={categorical_features!r} must be a list of feature numbers below "
            f"{n_features}, or a mask of {n_features} booleans."
        )
    mask[given if given.size else given.astype(int)] = True
    return mask


def midpoints(below: Array, above: Array) -> Array:
    """Return thresholds t with below <= t < above: halfway, unless rounding or overflow prevents it.

    >>> midpoints(np.array([1.0, 1.0]), np.array([2.0, np.nextafter(1.0, 2.0)]))
    array([1.5, 1. ])
    """
    halfway = below + (above / 2 - below / 2)
    return np.where((below <= halfway) & (halfway < above), halfway, below)


def quantile_bins(values: Array, counts: NDArray[np.int64], bins: int) -> tuple[Array, Array]:
    """Return the smallest and largest value of at most `bins` bins with about equally many rows each."""
    ends = quantile_ends(counts, bins)
    return values[np.append(0, ends[:-1] + 1)], values[ends]
