"""Balanced spherical k-means on the centroids of classes: groups of equal size whose centroids point the same way."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numba import njit
from numpy.typing import NDArray

from outputcodes._ground.lanes import SINGLE_LANES as LANES
from outputcodes._ground.lanes import aligned_zeros, load, padded, spread, store
from outputcodes._ground.local_rows import LocalRows, local_rows, unnumbered

Rows = NDArray[np.intp]
Singles = NDArray[np.float32]

# Passes over the classes; the assignments of a group rarely change after them.
MOST_PASSES = 10
# The centres of a larger node are found on so many of its classes per group.
CLASSES_PER_GROUP = 512


def class_centroids(X: Any, y: Rows, weight: NDArray[np.float64] | None, k: int) -> sp.csr_array:
    """Return the sum of the rows of each class, scaled to length 1, as a (k, d) csr matrix of float32."""
    n = len(y)
    ones = np.ones(n, dtype=np.float32) if weight is None else weight.astype(np.float32)
    member = sp.csr_array((ones, y, np.arange(n + 1)), shape=(n, k))
    sums = sp.csr_array(member.T.tocsr() @ sp.csr_array(X, dtype=np.float32))
    length = np.sqrt(_squared_lengths(sums.data, sums.indptr))
    sums.data /= np.repeat(np.maximum(length, np.float32(1e-30)), np.diff(sums.indptr))
    return sums


class BalancedMeans:
    """Splits classes into groups of equal size; the sizes differ only where they must."""

    def __init__(self, centroids: sp.csr_array) -> None:
        self.centroids = centroids
        self.scratch = unnumbered(centroids.shape[1])

    def split(self, classes: Rows, n_groups: int, rng: np.random.Generator) -> list[Rows]:
        """Return the classes of each group, in ascending order."""
        local = local_rows(self.centroids, classes, self.scratch)
        sample = classes
        if len(classes) > CLASSES_PER_GROUP * n_groups:
            chosen = np.sort(rng.choice(len(classes), CLASSES_PER_GROUP * n_groups, replace=False))
            sample = classes[chosen]
        seen = local if sample is classes else local_rows(self.centroids, sample, self.scratch)
        width = padded(n_groups)
        group = np.full(len(sample), -1, dtype=np.int32)
        group[rng.choice(len(sample), n_groups, replace=False)] = np.arange(n_groups)
        for _ in range(MOST_PASSES):
            centres = self._centres(seen, group, width)
            before, group = group, assign(_similarities(seen, centres, width), n_groups)
            if np.array_equal(before, group):
                break
        if sample is not classes:
            whole = aligned_zeros(len(local.features) * width, dtype=np.float32)
            # The features of the sample are among those of all, under other numbers.
            number = unnumbered(self.centroids.shape[1])
            number[local.features] = np.arange(len(local.features), dtype=np.int32)
            whole.reshape(-1, width)[number[seen.features]] = self._centres(seen, group, width).reshape(-1, width)
            group = assign(_similarities(local, whole, width), n_groups)
        return [classes[group == g] for g in range(n_groups)]

    def _centres(self, local: LocalRows, group: NDArray[np.int32], width: int) -> Singles:
        """Return the centre of each group, of length 1, as a flat (features, width) table."""
        centres = aligned_zeros(len(local.features) * width, dtype=np.float32)
        _add_members(local.data, local.indices, local.indptr, group, centres, width)
        table = centres.reshape(-1, width)
        length = np.sqrt(np.einsum("ij,ij->j", table, table, dtype=np.float64))
        table *= (1 / np.maximum(length, 1e-30)).astype(np.float32)
        return centres


def assign(similarity: Singles, n_groups: int) -> NDArray[np.int32]:
    """Return a group for each row such that no group has more than its share; those with most to lose choose first.

    >>> assign(np.array([[0.9, 0.0], [0.8, 0.7], [0.9, 0.1]], dtype=np.float32), 2).tolist()
    [0, 1, 0]
    """
    similarity = similarity[:, :n_groups]
    two = np.partition(similarity, n_groups - 2, axis=1)[:, -2:]
    turn = np.argsort(two[:, 0] - two[:, 1], kind="stable")
    return _assign_in_turn(similarity, turn)  # type: ignore[no-any-return]


def _similarities(local: LocalRows, centres: Singles, width: int) -> Singles:
    found = aligned_zeros((len(local.indptr) - 1) * width, dtype=np.float32)
    _multiply(local.data, local.indices, local.indptr, centres, found, width)
    return found.reshape(-1, width)


@njit(nogil=True, cache=True)
def _multiply(data, indices, indptr, centres, found, width):  # type: ignore[no-untyped-def]
    for i in range(indptr.size - 1):
        for c in range(0, width, LANES):
            total = spread(np.float32(0))
            for s in range(indptr[i], indptr[i + 1]):
                total = total + spread(data[s]) * load(centres, np.int64(indices[s]) * width + c)
            store(found, i * width + c, total)


@njit(nogil=True, cache=True)
def _add_members(data, indices, indptr, group, centres, width):  # type: ignore[no-untyped-def]
    for i in range(indptr.size - 1):
        if group[i] >= 0:
            for s in range(indptr[i], indptr[i + 1]):
                centres[np.int64(indices[s]) * width + group[i]] += data[s]


@njit(nogil=True, cache=True)
def _assign_in_turn(similarity, turn):  # type: ignore[no-untyped-def]
    n, n_groups = similarity.shape
    # The first n % n_groups groups that fill up have one class more.
    room, larger = np.full(n_groups, n // n_groups + (n % n_groups > 0)), n % n_groups
    group = np.empty(n, np.int32)
    for i in turn:
        best = -1
        for g in range(n_groups):
            if room[g] > 0 and (best < 0 or similarity[i, g] > similarity[i, best]):
                best = g
        group[i] = best
        room[best] -= 1
        if room[best] == 0 and larger > 0:
            larger -= 1
            if larger == 0:
                for g in range(n_groups):
                    if room[g] > 0:
                        room[g] -= 1
    return group


@njit(nogil=True, cache=True)
def _squared_lengths(data, indptr):  # type: ignore[no-untyped-def]
    lengths = np.zeros(indptr.size - 1, np.float32)
    for i in range(lengths.size):
        for s in range(indptr[i], indptr[i + 1]):
            lengths[i] += data[s] * data[s]
    return lengths
