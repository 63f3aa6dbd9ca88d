"""Kernel SVMs for the columns of a code: the rows and box constraints of each column, and the fitted columns."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_array

from outputcodes._ground.blocks import over_blocks, row_blocks
from outputcodes._kernel_machines.gram import Gram
from outputcodes.learners.base import Certificate, FittedColumns
from outputcodes.learners.kernel.decomposition import (
    STEPS_PER_CALL,
    WORKING_SET,
    Dual,
    SolvedColumn,
    SolvedColumns,
    levelled,
    solve_alone,
    solve_together,
)
from outputcodes.learners.kernel.small import is_small, solve_small

Rows = NDArray[np.intp]
Array = NDArray[np.float64]
Piece = tuple[slice, Rows, Array]

# Columns that share a working set: with more, each column would have too few rows in it.
COLUMNS_TOGETHER = 96
# Values per row used to size blocks of training examples: few products per block, and enough blocks for all threads.
AT_A_TIME = 1024


def solve_columns(
    dual: Dual, rows: Rows, y: Rows, M: NDArray[np.int8], cost: Array, weight: Array, start: Array | None
) -> SolvedColumns:
    """Solve every column on `rows` of the Gram matrix, with classes y and box sizes cost[y_i, j]·weight_i.

    `start` (L, n) holds the coefficients to start from. Columns that use few of the rows are solved separately, the
    others together.
    """
    size = np.bincount(y, minlength=len(M))
    for sign in (-1, +1):
        lacking = np.flatnonzero(size @ ((np.sign(M) == sign) & (cost > 0)) == 0)
        if len(lacking):
            raise ValueError(f"column {lacking[0]} has no example of positive weight on its {sign:+d} side.")
    if is_small(dual.gram):
        return solve_small(dual, rows, y, M, cost, weight, start)
    seen = size @ (cost > 0)
    alone = (seen <= WORKING_SET) & (2 * seen <= len(rows))

    def problem(columns: Any, some: Any) -> tuple[Array, Array]:
        """Return targets (L, n) and boxes (3, L, n), or both without L for a single column."""
        target = M[y[some]][:, columns].T.astype(np.float64)
        bound = cost[y[some]][:, columns].T * weight[some]
        box = np.zeros((3, *target.shape))
        np.multiply(bound, -1.0 * (target < 0), out=box[1])
        np.multiply(bound, target > 0, out=box[2])
        if start is not None:
            beta = np.clip(start[columns][..., some], box[1], box[2])
            box[0] = _balanced(beta) if dual.free_bias else beta
        return target, box

    solutions: dict[int, SolvedColumn] = {}
    boxes: dict[int, Array] = {}

    def one(j: int) -> bool:
        """Take some steps on a single column; return whether it needs more."""
        some = np.flatnonzero((cost[:, j] > 0)[y])
        target, box = problem(j, some)
        before = solutions[j].steps if j in solutions else 0
        box = boxes.pop(j, box)
        limit = min(STEPS_PER_CALL, dual.max_iter - before)
        answer = solve_alone(dual, rows[some], target, box, limit)
        solutions[j] = answer._replace(steps=before + answer.steps)
        if answer.converged or answer.steps < limit or before + limit >= dual.max_iter:
            return False
        boxes[j] = box
        return True

    waiting = [int(j) for j in np.flatnonzero(alone)]
    while waiting:
        more = dual.run(one, waiting)
        waiting = [j for j, again in zip(waiting, more, strict=True) if again]
    others = np.flatnonzero(~alone)
    for first in range(0, len(others), COLUMNS_TOGETHER):
        columns = others[first : first + COLUMNS_TOGETHER]
        together = solve_together(dual, rows, *problem(columns, slice(None)))
        solutions |= zip(columns.tolist(), together, strict=True)
    return SolvedColumns.of([solutions[j] for j in range(M.shape[1])])


def _balanced(beta: Array) -> Array:
    """Return β with the larger of the two sides scaled down, so that Σβ = 0 along the last axis."""
    plus, minus = levelled(beta.clip(min=0).sum(axis=-1, keepdims=True), -beta.clip(max=0).sum(axis=-1, keepdims=True))
    balanced: Array = beta * np.where(beta > 0, plus, minus)
    return balanced


@dataclass(frozen=True)
class KernelData:
    """Prepared X: the features and their Gram matrix."""

    gram: Gram

    @property
    def shape(self) -> tuple[int, ...]:
        """Return the shape of X."""
        return tuple(self.gram.X.shape)


class FittedKernelColumns(FittedColumns):
    """Trained columns f_j(x) = Σ_i β_ij K(x_i, x) + b_j over the support vectors of all columns.

    Support vectors are sorted by class. The coefficients of a class are stored only for the columns that contain it.

    Attributes
    ----------
    support : ndarray of shape (S,)
        The row numbers of the support vectors in the prepared data.
    intercept : ndarray of shape (L,)
    certificate : Certificate
        `gap` is the largest violation of the optimality conditions by a pair; `iterations` is the number of steps.
    """

    def __init__(
        self,
        gram: Gram,
        columns: SolvedColumns,
        y: Rows,
        present: NDArray[np.bool_],
        rows: Rows,
        certificate: Certificate,
        n_jobs: int | None,
    ) -> None:
        self.certificate: Certificate | None = certificate
        self.intercept = columns.bias
        self.n_jobs = n_jobs
        self.rows = rows
        taken = np.zeros(gram.n, dtype=bool)
        taken[columns.rows] = True
        support = np.flatnonzero(taken)
        self.support = support[np.argsort(y[support], kind="stable")]
        self.kernel = gram.kernel
        self.n_train = gram.n
        self.n_classes = len(present)
        self.anchors = gram.kernel.anchors(gram.X, self.support)
        self.pieces = _by_class(columns, self.support, y, present)

    def margins(self, X: Any, rows: Rows | None = None) -> Array:
        """Return the (n, L) margins of new X, or of `rows` of the prepared data, whose kernel values are reused."""
        if isinstance(X, KernelData):
            gram = X.gram
            if gram.holds(self.support) and (rows is None or np.array_equal(rows, np.arange(gram.n))):
                return self._of_all(gram)
            places = gram.place if rows is None else gram.place[rows]
            order = np.argsort(places)
            chosen = order if rows is None else rows[order]
            F = np.empty((len(chosen), len(self.intercept)))
            F[order] = self._in_blocks(len(chosen), lambda block: gram.between(chosen[block], self.support))
            return F
        X = check_array(X, accept_sparse="csr", dtype=np.float64)
        X = X if rows is None else X[rows]
        if self.kernel.name == "precomputed" and X.shape[1] != self.n_train:
            raise ValueError(
                f"X has {X.shape[1]} kernel values per row, but the SVM was trained on {self.n_train} examples; "
                "pass one kernel value per training example, in the same order."
            )
        return np.ascontiguousarray(
            self._in_blocks(X.shape[0], lambda block: self.kernel.block(self.kernel.features(X[block]), self.anchors))
        )

    def dual(self) -> Array:
        """Return the (n, L) dual variables α ≥ 0; row i belongs to the i-th training row.

        α is 0 where an example is absent from a column or has weight 0, and is at most C times its weight. K(x, x) for
        the same rows is `data.gram.diag[rows]`; a folded bias adds 1 to it.
        """
        place = np.empty(self.n_train, dtype=np.intp)
        place[self.rows] = np.arange(len(self.rows))
        alpha = np.zeros((len(self.rows), len(self.intercept)))
        for some, columns, beta in self.pieces:
            alpha[place[self.support[some]][:, None], columns] = np.abs(beta)
        return alpha

    def start(self, n: int, M: NDArray[np.int8], rows: Rows) -> Array:
        """Return the (L, len(rows)) starting coefficients of another fit on some of n prepared rows with the code M."""
        mine, wanted = (self.n_train, self.n_classes, len(self.intercept)), (n, *M.shape)
        if mine != wanted:
            raise ValueError(
                "init has {} examples, {} classes and {} columns".format(*mine)
                + " but the data and the code have {}, {} and {}; ".format(*wanted)
                + "pass columns fitted on the same X with the same code, or init=None."
            )
        return self.coefficients(rows)

    def coefficients(self, rows: Rows) -> Array:
        """Return the (L, len(rows)) coefficients β for rows of the prepared data."""
        beta = np.zeros((self.n_train, len(self.intercept)))
        for some, columns, values in self.pieces:
            beta[self.support[some][:, None], columns] = values
        return (beta if np.array_equal(rows, np.arange(self.n_train)) else beta[rows]).T

    def _of_all(self, gram: Gram) -> Array:
        """Return the (n, L) margins of all training examples, from a Gram matrix that holds the support vectors."""
        # If most rows of a contiguous range are support vectors, and all are held, the range is used without copying.
        terms: list[tuple[slice | Rows, Rows, Array]] = []
        order = np.argsort(gram.place)
        for some, columns, beta in self.pieces:
            slots = gram.place[self.support[some]]
            first, stop = slots.min(), slots.max() + 1
            if stop - first <= 2 * len(slots) and gram.holds(order[first:stop]):
                factors = np.zeros((len(columns), stop - first))
                factors[:, slots - first] = beta.T
                terms.append((slice(first, stop), columns, factors))
            else:
                terms.append((slots, columns, np.ascontiguousarray(beta.T)))
        F = np.empty((gram.n, len(self.intercept)))

        def answer(block: slice) -> None:
            f = np.repeat(self.intercept[:, None], block.stop - block.start, axis=1)
            for slots, columns, factors in terms:
                product = factors @ gram.store[slots, block]
                if len(columns) == len(f):
                    f += product
                else:
                    f[columns] += product
            F[order[block]] = f.T

        over_blocks(answer, row_blocks(gram.n, AT_A_TIME), self.n_jobs)
        return F

    def _in_blocks(self, n: int, values: Callable[[slice], Array]) -> Array:
        F = np.repeat(self.intercept[:, None], n, axis=1)

        def answer(block: slice) -> None:
            K = values(block).T
            for some, columns, beta in self.pieces:
                if len(columns) == len(F):
                    F[:, block] += beta.T @ K[some]
                else:
                    F[columns, block] += beta.T @ K[some]

        over_blocks(answer, row_blocks(n, len(self.support)), self.n_jobs)
        return F.T


def _by_class(columns: SolvedColumns, support: Rows, y: Rows, present: NDArray[np.bool_]) -> list[Piece]:
    """Return the coefficients in dense pieces: support vectors, the columns that contain their classes, and β.

    Adjacent classes in the same columns share a piece, so a code without zeros has only one.
    """
    if not len(support):
        return []
    taking_part = present[y[support]]
    # Plain integers, so that every serialization format can store them.
    edges = [0, *(1 + np.flatnonzero((taking_part[1:] != taking_part[:-1]).any(axis=1))).tolist(), len(support)]
    inside = taking_part[edges[:-1]]
    width, sizes = inside.sum(axis=1), np.diff(edges)
    stops = np.cumsum(sizes * width)
    # In a flat array of all pieces: the start of each support vector's coefficients, and each column's offset.
    piece = np.repeat(np.arange(len(sizes)), sizes)
    first = (stops - sizes * width)[piece] + (np.arange(len(support)) - np.array(edges)[piece]) * width[piece]
    within = np.cumsum(inside, axis=1) - 1
    place = np.empty(len(y), dtype=np.intp)
    place[support] = np.arange(len(support))
    row, line = place[columns.rows], np.zeros(stops[-1])
    line[first[row] + within[piece[row], columns.column]] = columns.beta
    return [
        (slice(start, stop), np.flatnonzero(taken), beta.reshape(-1, np.count_nonzero(taken)))
        for (start, stop), taken, beta in zip(
            itertools.pairwise(edges), inside, np.split(line, stops[:-1]), strict=True
        )
    ]
