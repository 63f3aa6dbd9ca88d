"""The linear systems of ridge regression for rows in blocks: the same sums over classes, block by block."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.linalg.blas import dsyrk

from outputcodes._ground.blocks import threads
from outputcodes._ground.passes import Sums
from outputcodes._ground.stored_rows import Part, StoredRows
from outputcodes.learners.linear.ridge_pairs import PairSolution, dense
from outputcodes.learners.linear.ridge_systems import Group, Systems

Rows = NDArray[np.intp]
Array = NDArray[np.float64]


@dataclass(frozen=True)
class ClassRows:
    """Rows with their classes and weights."""

    X: Any
    y: Rows
    mass: Array
    columns: None = None


class BlockSystems(Systems):
    """The systems of rows that are never together; with fewer features than rows.

    Parameters
    ----------
    stored : StoredRows
        Dense rows are centred.
    y, weight, rows : as in `Learner.fit_columns`
    """

    def __init__(
        self, stored: StoredRows, y: Rows, n_classes: int, weight: Array | None, rows: Rows, alpha: float = 1.0
    ) -> None:
        self.stored, self.alpha = stored, alpha
        self.blocks = stored.labelled(y, weight, rows, _of_classes)
        sizes, self.totals, sums = self.blocks.total(sums_of_classes, n_classes)
        self.sums: Array = sums
        self.start = np.append(0, np.cumsum(sizes.astype(np.intp)))
        self.shape = int(self.start[-1]), stored.shape[1]
        self._known = {}
        self.whole = lambda n_jobs: None

    def solve(
        self, M: NDArray[np.int8], class_weight: Array, n_jobs: int | None, leverage: bool = False
    ) -> list[Group]:
        """Solve all columns of M, by Gram matrices of classes or of sets of classes."""
        assert not leverage  # asks for rows together
        return super().solve(M, class_weight, n_jobs)

    def _is_cheaper_by_steps(self, a: Array, n_columns: int, leverage: bool) -> bool:
        return False

    def _pairs(self, patterns: Array, targets: list[Array], n_jobs: int | None) -> dict[int, PairSolution]:
        return {}

    def gram(self, a: NDArray[Any], n_jobs: int | None) -> Array:
        """Return the upper triangle of Σ_r a_r G_r, summed over the pieces of each block, then over the blocks."""
        with threads(n_jobs) as run:
            (total,) = self.blocks.by(run).each(
                _gram_of_block, [a.astype(np.float64)], self.shape[1], index=list, combine=np.add
            )
        return np.asfortranarray(total)


def _of_classes(parts: list[Part], y: Rows, weight: Array | None, rows: Rows | None) -> Iterator[ClassRows]:
    """Cut some rows of a block into pieces; with at least 4d rows each, sums are cheap compared with products."""
    (part,), y = parts, y.astype(np.intp, copy=False)
    step = max(1024, 4 * part.X.shape[1])
    for start in range(0, len(y) if rows is None else len(rows), step):
        own: Any = slice(start, start + step) if rows is None else rows[start : start + step]
        yield ClassRows(part.X[own], y[own], np.ones(len(y[own])) if weight is None else weight[own])


def sums_of_classes(piece: ClassRows, n_classes: int) -> Sums:
    """Return the number of rows of each class, their weight, and their weighted sum."""
    n = len(piece.y)
    members = sp.csr_array((piece.mass, (piece.y, np.arange(n))), shape=(n_classes, n))
    sizes = np.bincount(piece.y, minlength=n_classes).astype(np.float64)
    return sizes, np.bincount(piece.y, weights=piece.mass, minlength=n_classes), dense(members @ piece.X)


def _gram_of_block(pieces: list[ClassRows], a: Array, d: int) -> Array:
    total: Array = np.zeros((d, d))
    for piece in pieces:
        own = np.flatnonzero(a[piece.y])
        if not own.size:
            continue
        total += gram_of_rows(piece.X[own], np.sqrt(piece.mass[own] * a[piece.y[own]]))
    return total


def gram_of_rows(X: Any, root: Array) -> Array:
    """Return the upper triangle of Σ_i root_i² x_i x_iᵀ."""
    if sp.issparse(X):
        X = sp.diags_array(root) @ X
        return dense(X.T @ X)
    upper: Array = dsyrk(1.0, (X * root[:, None]).T)
    return upper
