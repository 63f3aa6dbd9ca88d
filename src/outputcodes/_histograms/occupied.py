"""Which bins the rows of a training are in: thresholds and draws of features depend on these alone."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
from numpy.typing import NDArray


def occupied_bins(codes: NDArray[Any], rows: NDArray[Any], offsets: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return which bins of all features the rows occupy, the last one of each with missing values."""
    occupied = np.zeros(int(offsets[-1]), dtype=bool)
    for f, (start, stop) in enumerate(itertools.pairwise(offsets.tolist())):
        occupied[start:stop] = np.bincount(codes[rows, f], minlength=stop - start) > 0
    return occupied


def varied_features(offsets: NDArray[np.int64], occupied: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return the features whose rows are in more than one bin; all of them if there is none."""
    varied = np.flatnonzero(np.add.reduceat(occupied, offsets[:-1], dtype=np.int64) > 1)
    return varied if len(varied) else np.arange(len(offsets) - 1)


def values_above(data: Any, occupied: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return the smallest value in the next bin that is occupied, for each bin; infinity if there is none.

    Thresholds lie halfway to it, so that rows that don't take part have no say.
    """
    above = np.full(int(data.offsets[-1]), np.inf)
    for f, n_bins in enumerate(data.n_bins):
        used = np.flatnonzero(occupied[data.offsets[f] : data.offsets[f] + n_bins])
        after = np.searchsorted(used, np.arange(n_bins), side="right")
        some = np.flatnonzero(after < len(used))
        above[data.offsets[f] + some] = data.low[data.offsets[f] + used[after[some]]]
    return above
