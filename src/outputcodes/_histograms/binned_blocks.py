"""Bins of features whose rows are in blocks, which need not be in memory together."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from outputcodes._ground.passes import Combination, Sums
from outputcodes._ground.row_sequence import RowBlocks
from outputcodes._ground.stored_rows import Part, StoredRows
from outputcodes._histograms.binning import Binned, categorical_mask, quantile_bins
from outputcodes._histograms.tallies import Merging, Tally, tally

Array = NDArray[np.float64]

# Up to so many values in all, quantiles are exact: their tallies take about as much memory as the values, 128 MiB.
EXACT_VALUES = 1 << 24
# Beyond, tallies have at most this many values per feature. It is also the largest number of bins of a feature.
MOST_VALUES = 1 << 14


@dataclass(frozen=True)
class Codes:
    """The codes of the rows of a block, in place of its features."""

    X: NDArray[Any]
    columns: None = None


@dataclass(frozen=True)
class BinnedBlocks:
    """Blocks of rows and the bins of their values; `n_bins` and what follows as in `Binned`.

    Attributes
    ----------
    stored : StoredRows
        The features.
    coded : StoredRows
        The codes of the features, blocks of `Codes`.
    given : object
        What they were made of, and how: by so many `bins`.
    """

    stored: StoredRows
    coded: StoredRows
    given: Any
    bins: int | str
    n_bins: NDArray[np.int64]
    offsets: NDArray[np.int64]
    low: Array
    high: Array
    categorical: NDArray[np.bool_]
    exact: NDArray[np.bool_]

    def without_rows(self) -> Binned:
        """Return the bins alone, for what only decides about them."""
        bins = self.n_bins, self.offsets, self.low, self.high, self.categorical, self.exact
        return Binned(None, np.empty((0, len(self.n_bins)), np.uint8), *bins)

    def is_like(self, X: Any, bins: int | str, categorical: NDArray[np.bool_]) -> bool:
        """Return whether these are the bins of X."""
        return self.given is X and self.bins == bins and np.array_equal(self.categorical, categorical)


def bin_blocks(
    stored: StoredRows,
    given: Any,
    bins: int | str,
    categorical: NDArray[np.bool_],
    most_bins: int | None = None,
) -> BinnedBlocks:
    """Replace every value by the number of its bin, as `bin_features` does for rows in memory.

    One pass counts values, another one writes codes. Quantiles are those of all rows, exactly if these are few, or else
    within (h + 1)/16384 of the rows, h being the height of the tree of blocks: within a thousandth for 30000 blocks.
    Features with more than `most_bins` bins are refused, by default those with more values than a tally has.
    """
    n, d = stored.shape
    most = n if n * d <= EXACT_VALUES else MOST_VALUES
    found: Tally = stored.blocks.each(_tallied, [most], index=_one, combine=Merging(most))[0]
    smallest, largest, exact = [], [], found.exact.copy()
    for f, (values, counts) in enumerate(zip(found.values, found.counts, strict=True)):
        low, high, alone = values, values, categorical[f] or bins == "exact"
        if not alone and len(values) > int(bins):
            exact[f] = False
            low, high = quantile_bins(values, counts, int(bins))
        limit = MOST_VALUES if most_bins is None else most_bins
        if alone and (not found.exact[f] or len(values) > limit):
            what = "is categorical" if categorical[f] else "has a bin for each value, by bins='exact',"
            remedy = "Leave it out of categorical_features" if categorical[f] else "Set bins to a number, such as 128"
            raise ValueError(
                f"Feature {f} {what} and has more than {min(limit, most)} different values, too many for rows in "
                f"blocks. {remedy}, or give all rows as one array."
            )
        smallest.append(low)
        largest.append(high)
    n_bins = np.array([len(values) for values in smallest])
    offsets = np.concatenate([[0], np.cumsum(n_bins + 1)])
    # A tally that was cut down does not know where the next bin begins: these are the values in each bin.
    loose = np.flatnonzero(~found.exact)
    ends, dtype = [values[:-1] for values in largest], np.min_scalar_type(int(n_bins.max(initial=0)))
    coded, (least, most_negated) = stored.blocks.step(
        _coded, ends, n_bins, loose, str(dtype), combine=Combination(np.minimum)
    )
    low, high = (np.concatenate([np.append(values, np.nan) for values in side]) for side in (smallest, largest))
    inner = np.concatenate([offsets[f] + np.arange(n_bins[f]) for f in loose]) if loose.size else loose
    low[inner], high[inner] = least, -most_negated
    return BinnedBlocks(
        stored,
        StoredRows(coded, stored.sizes, d, False),
        given,
        bins,
        n_bins,
        offsets,
        low,
        high,
        categorical,
        exact,
    )


def bins_of_blocks(
    X: RowBlocks,
    check: Callable[[Any], Any],
    bins: int | str,
    categorical_features: ArrayLike | None,
    like: Any = None,
    most_bins: int | None = None,
) -> BinnedBlocks:
    """Read blocks, check them and bin their features; `like` are perhaps these bins already."""
    # The width of blocks that are lists of rows is known when they are read.
    width = int(X.shape[1] if len(X.shape) == 2 else X.first().shape[1])
    categorical = categorical_mask(categorical_features, width)
    if isinstance(like, BinnedBlocks) and like.is_like(X, bins, categorical):
        return like
    return bin_blocks(StoredRows.of(X, check), X, bins, categorical, most_bins)


def _one(parts: list[Part]) -> Part:
    (part,) = parts
    return part


def _tallied(part: Part, most: int) -> Tally:
    return tally(part.X, most)


def _coded(
    part: Part, ends: list[Array], n_bins: NDArray[np.int64], loose: NDArray[np.intp], dtype: str
) -> tuple[Codes, Sums]:
    """The codes of a part, and the smallest and the negated largest value in each bin of the loose features."""
    codes = np.empty(part.X.shape, dtype=dtype)
    least, most_negated = [np.zeros(0)], [np.zeros(0)]
    for f, own in enumerate(ends):
        x = np.ascontiguousarray(part.X[:, f])
        code, missing = np.searchsorted(own, x), np.isnan(x)
        code[missing] = n_bins[f]
        codes[:, f] = code
        if f in loose:
            low, high = np.full((2, n_bins[f] + 1), np.inf)
            np.minimum.at(low, code, np.where(missing, np.inf, x))
            np.minimum.at(high, code, np.where(missing, np.inf, -x))
            least.append(low[:-1])
            most_negated.append(high[:-1])
    return Codes(codes), (np.concatenate(least), np.concatenate(most_negated))
