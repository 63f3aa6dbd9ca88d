"""Dual coordinate descent over tiles of columns: the solver of linear SVMs for sparse X."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from outputcodes._blocks import Run
from outputcodes._kernels.linear import descend
from outputcodes.learners._linear import LinearData
from outputcodes.learners._products import backward, forward
from outputcodes.learners.protocol import Certificate

Array = NDArray[np.float64]
Rows = NDArray[np.intp]

# Columns a tile: wide enough to hide the cost of finding a row of w, narrow enough to leave tiles for other threads.
WIDEST_TILE = 24
# Values times columns of one call: about a tenth of a second, after which Ctrl-C is heard.
VALUES_A_CALL = 1 << 26


@dataclass
class Tile:
    """Columns that are visited together; those whose gap is closed leave."""

    columns: Rows
    signs: Array
    cost: Array
    alpha: Array
    w: Array
    gap: Array
    loss: Array

    def keep(self, going: NDArray[np.bool_]) -> None:
        """Only some columns go on."""
        self.columns = self.columns[going]
        for name in ("signs", "cost", "alpha", "w", "gap", "loss"):
            setattr(self, name, np.ascontiguousarray(getattr(self, name)[..., going]))

    def estimate(self) -> Array:
        """The relative gap as the last epoch saw it, and a new count for the next."""
        objective = 0.5 * np.einsum("ij,ij->j", self.w, self.w) + self.loss
        relative: Array = self.gap / np.maximum(objective, np.finfo(float).tiny)
        self.gap[:], self.loss[:] = 0, 0
        return relative


class DualDescent:
    """Linear SVMs for all columns of a code, `rows` of the data being the examples."""

    def __init__(self, data: LinearData, y: Rows, weight: Array | None, rows: Rows, squared: bool, run: Run) -> None:
        self.X, self.constant = data.X, data.intercept.constant
        self.y, self.weight, self.rows = y, np.ones(len(y)) if weight is None else weight, rows
        self.squared, self.run = squared, run
        norms = self.X.multiply(self.X).sum(axis=1)
        # An empty row without constant sits at its bound after one visit: any tiny norm says so.
        self.norms = np.maximum(np.asarray(norms, dtype=np.float64).ravel() + self.constant**2, 1e-300)

    def minimise(
        self, signs: Array, cost: Array, init: Array | None, tol: float, max_iter: int, seed: int
    ) -> tuple[Array, Certificate]:
        """Epochs in an order shuffled anew, until the relative gap of each column is at most `tol`."""
        L = signs.shape[1]
        answer, gap = np.empty((self.X.shape[1] + 1, L)), np.full(L, np.inf)
        iterations = np.zeros(L, dtype=np.intp)
        tiles = [self._tile(columns, signs, cost, init) for columns in _tiles(L)]
        rng = np.random.default_rng(seed)
        pieces = 1 + self.X.nnz * len(tiles[0].columns) // VALUES_A_CALL
        for iteration in range(1, max_iter + 1):
            for part in np.array_split(rng.permutation(self.rows), pieces):
                self.run(partial(self._visit, part), tiles)
            last = iteration == max_iter
            ready = [tile for tile in tiles if (tile.estimate() <= tol).any() or last]
            for tile, relative in zip(ready, self.run(self._relative_gap, ready), strict=True):
                done = (relative <= tol) | last
                columns = tile.columns[done]
                answer[:, columns], gap[columns], iterations[columns] = tile.w[:, done], relative[done], iteration
                tile.keep(~done)
            tiles = [tile for tile in tiles if tile.columns.size]
            if not tiles:
                break
        return answer[: self.X.shape[1] + (self.constant != 0)], Certificate(gap, iterations, gap <= tol)

    def _tile(self, columns: Rows, signs: Array, cost: Array, init: Array | None) -> Tile:
        signs, cost = np.ascontiguousarray(signs[:, columns]), np.ascontiguousarray(cost[:, columns])
        alpha, w = np.zeros((len(self.y), len(columns))), np.zeros((self.X.shape[1] + 1, len(columns)))
        if init is not None and self.squared:
            # What α = 2c·max(0, 1 - z) is at the optimum, it nearly is close to it.
            t, c = signs[self.y[self.rows]], cost[self.y[self.rows]] * self.weight[self.rows, None]
            z = t * self._scores(init[:, columns])
            alpha[self.rows] = 2 * c * np.maximum(1 - z, 0)
            w[: len(w) - (not self.constant)] = backward(self.X, self.constant, signs[self.y] * alpha)
        return Tile(columns, signs, cost, alpha, w, np.zeros(len(columns)), np.zeros(len(columns)))

    def _visit(self, order: Rows, tile: Tile) -> None:
        order = order[np.any(tile.cost > 0, axis=1)[self.y[order]]]
        X, state = (self.X.data, self.X.indices, self.X.indptr), (tile.alpha, tile.w, tile.gap, tile.loss)
        tables = tile.signs, tile.cost
        descend(order, X, self.y, self.weight, self.norms, self.constant, *tables, self.squared, state)

    def _scores(self, w: Array) -> Array:
        w = w if self.constant else w[: self.X.shape[1]]
        F: Array = forward(self.X, self.constant, w)[self.rows]
        return F

    def _relative_gap(self, tile: Tile) -> Array:
        """(P - D)/P as a sum of the examples' Fenchel-Young gaps, none negative, so that nothing cancels."""
        labels = self.y[self.rows]
        t, c, alpha = tile.signs[labels], tile.cost[labels] * self.weight[self.rows, None], tile.alpha[self.rows]
        z = t * self._scores(tile.w) - 1
        short = np.maximum(-z, 0)
        if self.squared:
            D = np.divide(0.5, c, out=np.zeros_like(c), where=c > 0)
            gaps = np.where(z < 0, c * (short - D * alpha) ** 2, alpha * (z + 0.5 * D * alpha))
            loss = c * short**2
        else:
            gaps, loss = np.where(z < 0, (c - alpha) * short, alpha * z), c * short
        objective = 0.5 * (tile.w**2).sum(axis=0) + loss.sum(axis=0)
        return np.asarray(gaps.sum(axis=0) / np.maximum(objective, np.finfo(float).tiny))


def _tiles(L: int) -> list[Rows]:
    """Columns in tiles of equal width, an even number of them if there are enough: two threads then stay busy."""
    count = 1 if L < 8 else 2 * -(-L // (2 * WIDEST_TILE))
    return np.array_split(np.arange(L), count)
