"""Columns that need no training, because an earlier one with other costs has solved them.

If no coefficient of a solution is at its upper bound, C times its weight, the solution is optimal for every C whose
bounds stay above all coefficients: moving a bound that holds none changes neither the gradient nor who may move. Along
a path of C, this is true of the columns without errors, and of most columns where the kernel is narrow.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from outputcodes._kernel_machines.expansion import Piece
from outputcodes._kernel_machines.kernel_function import Kernel
from outputcodes.learners.kernel.dual import ROUNDING, SolvedColumns
from outputcodes.learners.shared import entry_weights

Rows = NDArray[np.intp]
Array = NDArray[np.float64]


class Bounded(NamedTuple):
    """The problem of all columns: the kernel, `rows` in order with their `weight`, and what costs are made of."""

    kernel: Kernel
    bias: str | bool
    rows: Rows
    y: Rows
    M: NDArray[np.int8]
    C: float
    column_weight: Array | None
    weight: Array

    @property
    def cost(self) -> Array:
        """The costs (k, L) of classes; not kept, as they are as large as a code of many classes, in doubles."""
        return self.C * entry_weights(self.M, self.column_weight)

    def differs_by_cost(self, other: Bounded) -> bool:
        """Return whether the costs are the only difference; each Gram matrix has a kernel object of its own."""
        return (
            self.kernel is other.kernel
            and self.bias == other.bias
            and np.array_equal(self.rows, other.rows)
            and np.array_equal(self.y[self.rows], other.y[other.rows])
            and np.array_equal(self.M, other.M)
            and np.array_equal(self.cost > 0, other.cost > 0)
            and np.array_equal(self.weight, other.weight)
        )


def inside(before: Bounded, now: Bounded, support: Rows, pieces: list[Piece]) -> NDArray[np.bool_]:
    """Return, for each column, whether its coefficients are inside the bounds of both problems."""
    found = np.ones(now.M.shape[1], dtype=bool)
    cost = (1 - 2 * ROUNDING) * np.minimum(before.cost, now.cost)
    weight = now.weight[np.searchsorted(now.rows, support)]
    for some, columns, beta in pieces:
        bound = cost[now.y[support[some]]][:, columns] * weight[some, None]
        found[columns] &= (np.abs(beta) < bound).all(axis=0)
    return found


def joined(
    known: NDArray[np.bool_],
    support: Rows,
    pieces: list[Piece],
    of_known: tuple[Array, Array],
    solved: SolvedColumns | None,
) -> SolvedColumns:
    """Return known columns, with their biases and gaps, beside those that were solved now."""
    L, new = len(known), np.flatnonzero(~known)
    rows, column, beta = [support[:0]], [new[:0]], [np.zeros(0)]
    for some, columns, values in pieces:
        i, j = np.nonzero(np.where(known[columns], values, 0.0))
        rows.append(support[some][i])
        column.append(columns[j])
        beta.append(values[i, j])
    bias, gap, steps, converged = *(own.copy() for own in of_known), np.zeros(L, dtype=np.intp), known.copy()
    if solved is not None:
        rows.append(solved.rows)
        column.append(new[solved.column])
        beta.append(solved.beta)
        bias[new], gap[new], steps[new], converged[new] = solved.bias, solved.gap, solved.steps, solved.converged
    nonzero = np.concatenate(rows), np.concatenate(column), np.concatenate(beta)
    return SolvedColumns(*nonzero, bias, gap, steps, converged)
