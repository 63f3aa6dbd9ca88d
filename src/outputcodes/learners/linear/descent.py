"""Dual coordinate descent over tiles of columns: the solver for sparse X."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.special import expit, rel_entr

from outputcodes._ground import progress
from outputcodes._ground.blocks import Run
from outputcodes.learners.base import Certificate
from outputcodes.learners.linear.base import LinearData
from outputcodes.learners.linear.coordinates import HINGE, LOGISTIC, SQUARED, combine, descend, scores
from outputcodes.losses import Loss

Array = NDArray[np.float64]
Rows = NDArray[np.intp]

# The update of one coordinate, by loss.
UPDATES = {"hinge": HINGE, "squared-hinge": SQUARED, "logistic": LOGISTIC}
# Columns per tile: wide enough to hide the cost of loading a row of w, narrow enough to leave tiles for other threads.
WIDEST_TILE = 24
# Columns with less than this share of the examples would mostly idle in a tile: only those of the same classes share.
FEW = 0.25
# Tiles processed at a time: enough for the threads, and few enough for their w to stay in cache.
AT_WORK = 8
# Examples that did not change are skipped until the next full epoch, if they are many enough to be worth it.
WHOLE_EVERY = 4
MANY = 0.75
# Values times columns per call: about a tenth of a second, after which Ctrl-C is handled.
VALUES_PER_CALL = 1 << 26


class DualDescent:
    """Dual coordinate descent for the columns of a code; the examples are `rows` of the data, possibly repeated."""

    def __init__(self, data: LinearData, y: Rows, weight: Array | None, rows: Rows, loss: Loss, run: Run) -> None:
        self.X, self.intercept, self.run = data.X, data.intercept, run
        self.loss, self.update = loss, UPDATES[loss.name]
        self.y, self.weight, self.rows = y, np.ones(len(y)) if weight is None else weight, rows
        norms = self.X.power(2).sum(axis=1)
        # An empty row without a constant reaches its bound in one visit with any tiny norm.
        self.norms = np.maximum(np.asarray(norms, dtype=np.float64).ravel() + self.intercept.constant**2, 1e-300)

    def minimise(
        self, signs: Array, cost: Array, init: Array | None, tol: float, max_iter: int, seed: int
    ) -> tuple[Array, Certificate]:
        """Run epochs in random order until the relative gap of each column is at most `tol`."""
        p, L = self.X.shape[1] + (self.intercept.constant != 0), signs.shape[1]
        answer, gap, iterations = np.zeros((p, L)), np.full(L, np.inf), np.zeros(L, dtype=np.intp)
        size = np.bincount(self.y[self.rows], minlength=len(signs))
        waiting = _tiles(cost > 0, size)
        tiles: list[Tile] = []

        def tile_of(columns: Rows) -> Tile:
            return Tile(self, columns, signs, cost, init, max_iter, seed)

        while tiles := tiles + self.run(tile_of, list(islice(waiting, AT_WORK - len(tiles)))):
            for piece in range(max(tile.pieces for tile in tiles)):
                self.run(partial(Tile.visit, piece=piece), tiles)
            ready = [tile for tile in tiles if (tile.estimate() <= tol).any() or tile.epochs >= max_iter]
            for tile, relative in zip(ready, self.run(Tile.relative_gap, ready), strict=True):
                done = (relative <= tol) | (tile.epochs >= max_iter)
                columns = tile.columns[done]
                answer[np.ix_(tile.features, columns)] = tile.coefficients()[: len(tile.features), done]
                gap[columns], iterations[columns] = relative[done], tile.epochs
                tile.keep(~done)
            tiles = [tile for tile in tiles if tile.columns.size]
            progress.reached(int(np.count_nonzero(iterations)), L)
        return answer, Certificate(gap, iterations, gap <= tol)


class Tile:
    """Columns that are updated together, on the examples of any of them; converged columns leave the tile.

    A free intercept has a proximal term: it is penalised around `offset`, which is moved to it after every epoch.
    """

    def __init__(
        self, problem: DualDescent, columns: Rows, signs: Array, cost: Array, init: Any, max_iter: int, seed: int
    ) -> None:
        self.problem, self.columns, self.epochs, self.max_iter = problem, columns, 0, max_iter
        self.signs, self.cost = np.ascontiguousarray(signs[:, columns]), np.ascontiguousarray(cost[:, columns])
        self.X, self.y, self.weight, self.norms = problem.X, problem.y, problem.weight, problem.norms
        self.rows = problem.rows[np.any(self.cost > 0, axis=1)[problem.y[problem.rows]]]
        self.features = np.arange(problem.X.shape[1] + (problem.intercept.constant != 0))  # the constant is last
        if len(self.rows) < FEW * len(problem.rows):
            self._move_together()
        self.rng = np.random.default_rng(np.random.SeedSequence((seed, int(columns[0]))))
        self.pieces = 1 + self.X.nnz * len(columns) // VALUES_PER_CALL
        L = len(columns)
        self.alpha, self.w = np.zeros((len(self.rows), L)), np.zeros((self.X.shape[1] + 1, L))
        self.gap, self.value, self.offset = np.zeros(L), np.zeros(L), np.zeros(L)
        self.still = np.zeros(len(self.rows), dtype=bool)
        if init is not None:
            self._start(init[:, columns])

    def visit(self, piece: int) -> None:
        """Run one piece of an epoch; small tiles continue to the end of a full epoch while their rows are in cache."""
        if piece == 0:
            self._plan()
        if piece < self.pieces:
            self._descend(self.order[piece :: self.pieces])
        while self.pieces == 1 and not self.whole and self.epochs < self.max_iter:
            self._plan()
            self._descend(self.order)

    def estimate(self) -> Array:
        """Return the relative gap summed during the last epoch; infinity if it did not visit all examples."""
        if not self.whole:
            return self.gap + np.inf
        # Features of almost 0 may have an objective of almost 0: the relative gap is then infinite too.
        with np.errstate(over="ignore"):
            relative: Array = self.gap / np.maximum(self.value, np.finfo(float).tiny)
        return relative

    def coefficients(self) -> Array:
        """Return w, with the coefficient of the constant last."""
        theta = self.w.copy()
        if self.problem.intercept.free:
            theta[-1] += self.offset / self.problem.intercept.constant
        return theta

    def relative_gap(self) -> Array:
        """Return (P - D)/P as a sum of Fenchel-Young gaps, which are nonnegative, so that nothing cancels."""
        theta, free = self.coefficients(), self.problem.intercept.free
        t, c, z, a = *self._margins(theta), self.alpha
        objective = 0.5 * (theta[: len(theta) - free] ** 2).sum(axis=0)
        own = np.zeros_like(objective)
        if free:
            # A feasible dual point has equal sums for both signs; the larger one is scaled down.
            plus, minus = (np.maximum(np.where(t * s > 0, a, 0).sum(axis=0), 1e-300) for s in (1, -1))
            a = a * np.where(t > 0, np.minimum(1, minus / plus), np.minimum(1, plus / minus))
            own = 0.5 * ((self._combined(t * a) - theta)[:-1] ** 2).sum(axis=0)
        if self.problem.update == LOGISTIC:
            gaps = rel_entr(a, c * expit(-z)) + rel_entr(c - a, c * expit(z))
        elif self.problem.update == SQUARED:
            D = np.divide(0.5, c, out=np.zeros_like(c), where=c > 0)
            gaps = np.where(z < 1, c * (1 - z - D * a) ** 2, a * (z - 1 + 0.5 * D * a))
        else:
            gaps = np.where(z < 1, (c - a) * (1 - z), a * (z - 1))
        objective += (c * self.problem.loss(z)).sum(axis=0)
        return np.asarray((gaps.sum(axis=0) + own) / np.maximum(objective, np.finfo(float).tiny))

    def keep(self, going: NDArray[np.bool_]) -> None:
        """Keep only some columns."""
        if going.all():
            return
        self.columns = self.columns[going]
        for name in ("signs", "cost", "alpha", "w", "gap", "value", "offset"):
            setattr(self, name, np.ascontiguousarray(getattr(self, name)[..., going]))

    def _plan(self) -> None:
        """Plan the next epoch: all examples in a new order, or those that changed in the last one."""
        moving = np.flatnonzero(~self.still)
        self.whole = self.epochs % WHOLE_EVERY == 0 or moving.size > MANY * self.still.size
        self.order = self.rng.permutation(self.still.size if self.whole else moving)
        self.gap[:], self.value[:] = 0, 0
        self.epochs += 1
        if self.problem.intercept.free:
            self.offset += self.problem.intercept.constant * self.w[-1]

    def _descend(self, order: Rows) -> None:
        constant, update = self.problem.intercept.constant, self.problem.update
        tables, state = (self.signs, self.cost, self.offset), (self.alpha, self.w, self.gap, self.value, self.still)
        descend(order, self.rows, self._values(), self.y, self.weight, self.norms, constant, tables, update, state)

    def _move_together(self) -> None:
        """Copy the few rows without their empty features, so that they and their w stay in cache."""
        self.y, self.weight, self.norms = (v[self.rows] for v in (self.y, self.weight, self.norms))
        X = self.X[self.rows]
        present = np.zeros(X.shape[1], dtype=bool)
        present[X.indices] = True
        places = np.cumsum(present, dtype=X.indices.dtype) - 1
        self.X = csr_array((X.data, places[X.indices], X.indptr), shape=(X.shape[0], present.sum()))
        self.features = self.features[np.append(present, True)[: self.features.size]]
        self.rows = np.arange(len(self.rows))

    def _values(self) -> tuple[Any, Any, Any]:
        return self.X.data, self.X.indices, self.X.indptr

    def _margins(self, theta: Array) -> tuple[Array, Array, Array]:
        """Return signs, costs and signed scores of the examples."""
        labels = self.y[self.rows]
        t, c = self.signs[labels], self.cost[labels] * self.weight[self.rows, None]
        F = np.tile(self.problem.intercept.constant * theta[-1], (len(self.rows), 1))
        scores(self._values(), self.rows, theta, F)
        return t, c, t * F

    def _combined(self, A: Array) -> Array:
        w = np.zeros_like(self.w)
        combine(self._values(), self.rows, A, w)
        w[-1] = self.problem.intercept.constant * A.sum(axis=0)
        return w

    def _start(self, init: Array) -> None:
        """Start from the dual variables of the margins of an earlier fit; the hinge does not determine them."""
        theta = np.zeros_like(self.w)
        theta[: self.features.size] = init[self.features]
        t, c, z = self._margins(theta)
        assert self.problem.loss.derivative is not None
        self.alpha = -c * self.problem.loss.derivative(z)
        self.w = self._combined(t * self.alpha)
        if self.problem.intercept.free:
            self.offset = self.problem.intercept.constant * theta[-1]


def _tiles(present: NDArray[np.bool_], size: NDArray[Any]) -> Iterator[Rows]:
    """Yield tiles of similar width, an even number if there are enough columns, to keep two threads busy."""
    few = size @ present < FEW * size.sum()
    many = np.flatnonzero(~few)
    if many.size:
        yield from np.array_split(many, 1 if many.size < 8 else 2 * -(-many.size // (2 * WIDEST_TILE)))
    if few.any():
        patterns = np.unique(present[:, few], axis=1, return_inverse=True)[1].ravel()
        for pattern in range(patterns.max() + 1):
            own = np.flatnonzero(few)[patterns == pattern]
            yield from np.array_split(own, -(-own.size // WIDEST_TILE))
