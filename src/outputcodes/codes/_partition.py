"""Partitions of classes into two sides: their mutual information with the features, and the search for the best."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import xlogy

from outputcodes._ground.blocks import row_blocks
from outputcodes._ground.choosing import TIE, clearly_less, first_largest

Array = NDArray[np.float64]
Sides = NDArray[np.bool_]


class ClassHistograms:
    """Histograms of binned features by class: all that mutual information needs, for any number of rows.

    Attributes
    ----------
    counts : ndarray of shape (k, bins of all features)
        The weight of each class in each bin; the weights in the bins of one feature sum to the weight of the class.
    n_features : int
    """

    def __init__(self, X: Any, y: NDArray[np.intp], weight: Array, k: int, bins: int) -> None:
        self.n_features = X.shape[1]
        members = sparse.csr_array((weight, (y, np.arange(len(y)))), shape=(k, len(y)))
        if sparse.issparse(X):
            # Most values of a sparse feature are 0, so it has two bins: 0 and the rest.
            rest = (members @ sparse.csr_array(X != 0, dtype=np.float64)).toarray()
            self.counts = np.hstack([rest, np.maximum(members.sum(axis=1)[:, None] - rest, 0.0)])
            return
        places = np.column_stack([f * (bins + 1) + _quantile_bins(x, weight, bins) for f, x in enumerate(X.T)])
        starts = np.arange(len(y) + 1) * self.n_features
        one_hot = sparse.csr_array(
            (np.ones(places.size), places.ravel(), starts), shape=(len(y), self.n_features * (bins + 1))
        )
        self.counts = (members @ one_hot).toarray()

    def information(self, classes: NDArray[np.intp], inside: Sides) -> Array:
        """Return (p,) mutual information of a feature and the side of the class, in nats, averaged over features.

        `inside` (p, c) holds p partitions of the c `classes`; rows of other classes are ignored.
        """
        counts = self.counts[classes]
        weights = counts.sum(axis=1) / self.n_features
        whole, weight = counts.sum(axis=0), float(weights.sum())
        sides = inside.astype(np.float64)
        information = np.empty(len(sides))
        for block in row_blocks(len(sides), counts.shape[1]):
            within, share = sides[block] @ counts, sides[block] @ weights
            information[block] = _split(within, whole).sum(axis=1) / self.n_features - _split(share, weight)
        return information / weight


def exhaustive_search(value: Callable[[Sides], Array], c: int, used: set[bytes]) -> Sides:
    """Return the best partition of c classes that is not `used`; the best of all if every one is used."""
    numbers = np.arange(1, 2 ** (c - 1))
    sides = (numbers[:, None] << 1 >> np.arange(c) & 1).astype(bool)
    return _best_new(sides, value(sides), used)[0]


def floating_search(value: Callable[[Sides], Array], c: int, used: set[bytes]) -> Sides:
    """Return a good partition of c classes that is not `used`, by sequential forward floating search.

    One side grows by the class that helps most. After each addition, classes are removed as long as the side is better
    than the best one of the smaller size so far (Pudil, Novovičová and Kittler 1994). The result is the best new
    partition on the way, so it is at least as good as the best new class against the rest. The search takes a few times
    c steps of c partitions each.
    """
    best, best_value = np.arange(c) > 0, -np.inf
    record = np.full(c, -np.inf)  # by size
    inside = np.zeros(c, dtype=bool)
    size, leaving = 0, False
    while size < c - 1:
        movable = np.flatnonzero(inside == leaving)
        sides = inside ^ np.eye(c, dtype=bool)[movable]
        values = value(sides)
        side, side_value = _best_new(sides, values, used)
        if clearly_less(best_value, side_value):
            best, best_value = side, side_value
        move, after = int(first_largest(values)), size + (-1 if leaving else 1)
        if leaving and not clearly_less(record[after], values[move]):
            leaving = False
            continue
        inside, size = sides[move], after
        record[size] = max(record[size], float(values[move]))
        leaving = size > 2
    return _canonical(best)


def _best_new(sides: Sides, values: Array, used: set[bytes]) -> tuple[Sides, float]:
    """Return the first best partition that is not used, as the side without the first class; -inf if all are used."""
    least = np.inf
    for p in np.argsort(-values, kind="stable"):
        if _canonical(sides[p]).tobytes() not in used:
            least = values[p] - TIE  # information is measured in nats: its scale is 1
            break
    for p in np.flatnonzero(values >= least):
        if _canonical(sides[p]).tobytes() not in used:
            return _canonical(sides[p]), float(values[p])
    return _canonical(sides[first_largest(values)]), -np.inf


def _canonical(side: Sides) -> Sides:
    return ~side if side[0] else side


def _split(part: Array, whole: Any) -> Any:
    """Return Σ x log x over both parts minus that of the whole: minus the whole times the entropy of the split."""
    rest = np.maximum(whole - part, 0.0)
    return xlogy(part, part) + xlogy(rest, rest) - xlogy(whole, whole)


def _quantile_bins(x: Array, weight: Array, bins: int) -> NDArray[np.intp]:
    """Return the bin of each value: its own for few values, otherwise by weighted quantiles; the last for NaN."""
    values, place = np.unique(x, return_inverse=True)
    missing = int(np.isnan(values).any())
    if len(values) - missing > bins:
        mass = np.bincount(place, weight)
        if missing:
            mass[-1] = 0
        middle = (np.cumsum(mass) - mass / 2) / mass.sum()
        # A weight of 2 and a repeated row may differ by rounding, which must not change a bin.
        number = np.minimum((bins * middle + TIE).astype(np.intp), bins - 1)
    else:
        number = np.arange(len(values))
    if missing:
        number[-1] = bins
    found: NDArray[np.intp] = number[place]
    return found
