"""Trees of classes for batches of rows: made from the first batch, and grown by a class at the nearest one."""

from __future__ import annotations

from typing import Any

import numpy as np

from outputcodes.codes._hierarchy import paths_by_label
from outputcodes.codes.base import Matrix


def check_labels_of_hierarchy(hierarchy: Any, classes: Any) -> None:
    """Raise ValueError if a hierarchy has labels that are not among the classes of the first call."""
    known, present = set(paths_by_label(hierarchy)), set(classes.tolist())
    # Labels without a path are refused elsewhere, with a better message.
    if present <= known and (lacking := sorted(known - present, key=str)):
        raise ValueError(
            f"hierarchy has the labels {lacking[:5]}, which are not among the classes of the first batch: name all of "
            "its labels in the first call, partial_fit(X, y, classes=…)."
        )


def check_rows_of_classes(batch: Any, k: int) -> None:
    """Raise ValueError if classes that were named have no rows in the first batch, as k-means needs their means."""
    if (without := np.flatnonzero(np.bincount(batch.labels, minlength=k) == 0)).size:
        raise ValueError(
            f"classes has {batch.classes[without][:5].tolist()}, of which the first batch has no rows, and k-means "
            "needs rows of every class: use Tree(method='random'), give a first batch with all classes, or omit "
            "classes, so that the tree grows."
        )


def with_class_beside(M: Matrix, nearest: int) -> Matrix:
    """Return the matrix of trees with one more class, which is in each tree a sibling of the class `nearest`.

    The column above a class is the one in which it alone is +1, so the matrix says where each class hangs. In the node
    of that column, the new class is -1 in all columns and gets one of its own; above, it is what `nearest` is.

    >>> with_class_beside(np.array([[1, -1, 0, 0], [-1, 1, 1, -1], [-1, 1, -1, 1]], dtype=np.int8), 2)
    array([[ 1, -1,  0,  0,  0],
           [-1,  1,  1, -1, -1],
           [-1,  1, -1,  1, -1],
           [-1,  1, -1, -1,  1]], dtype=int8)
    """
    own = np.flatnonzero((M[nearest] == 1) & (np.count_nonzero(M == 1, axis=0) == 1))
    (k, L), n_trees = M.shape, len(own)
    larger = np.ones((k + 1, L + n_trees), dtype=np.int8)
    larger[:k, :L], larger[k, :L] = M, M[nearest]
    larger[k, own] = -1
    larger[:k, L:] = -np.abs(M[:, own])
    return larger
