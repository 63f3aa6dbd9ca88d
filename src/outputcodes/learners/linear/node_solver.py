"""One node of a tree code: its linear SVMs by coordinate descent, a tile of columns at a time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from outputcodes._ground.lanes import SINGLE_LANES as LANES
from outputcodes._ground.lanes import aligned_zeros, padded
from outputcodes._ground.local_rows import local_rows, unnumbered
from outputcodes._ground.tree_code import Node
from outputcodes.learners.linear.node_kernels import (
    SIGNS,
    certify,
    descend,
    drop_small,
    send_down,
    squared_lengths,
    take_out,
)

Array = NDArray[np.float64]
Rows = NDArray[np.intp]
Singles = NDArray[np.float32]

# Epochs where no tolerance was given: on the data sets of the benchmarks more of them gain nothing.
EPOCHS = 8
# What did not change at its last visit is visited again in every third epoch.
WHOLE_EVERY = 3
# Without a tolerance, dual variables that would change by less than this stay as they are.
SMALL_CHANGE = 1e-3


@dataclass(frozen=True)
class Settings:
    """What the columns minimise, and how closely.

    Attributes
    ----------
    C : float
    squared : bool
        The squared hinge, or the hinge.
    constant : float
        The value of the constant feature.
    tol : float or None
        The relative duality gap at which a node is finished; None is `EPOCHS` epochs.
    max_iter : int
    prune : float
        Weights whose size, times the root mean square of the feature's values, is smaller are dropped.
    confused : float or None
        The margin from which a row becomes a negative example below a wrong child; None for never.
    """

    C: float
    squared: bool
    constant: float
    tol: float | None
    max_iter: int
    prune: float
    confused: float | None


class Job(NamedTuple):
    """A tile of a node's columns, `first`..`last` - 1 of them, and the rows that they are trained on.

    `own` is the column, counted from the node's first, of the child that a row is below; `others` are rows from
    elsewhere, negative in all columns. Below a leaf there are no nodes, and no rows are sent there.
    """

    node: Node
    first: int
    last: int
    rows: Rows
    own: Rows
    others: Rows
    is_leaf: bool


class Best(NamedTuple):
    """The column with the largest score of each row, counted from the node's first, and this score."""

    column: NDArray[np.int32]
    score: Singles


class TileWeights(NamedTuple):
    """The weights of a tile: how many each feature has, and the columns and values of all, feature by feature."""

    first: int
    features: NDArray[np.int32]
    sizes: NDArray[np.int32]
    lanes: NDArray[np.uint8]
    values: Singles


class Solved(NamedTuple):
    """The columns of a tile; the best columns before and after weights were dropped; which rows are confused."""

    weights: TileWeights
    intercept: Singles
    gap: Array
    epochs: int
    dropped: int
    before: Best
    after: Best
    sent_rows: Rows
    sent_columns: Rows


class Scratch:
    """Memory that the tiles of a batch use one after the other: new memory would be slower to write."""

    def __init__(self, n_features: int) -> None:
        self.numbers = unnumbered(n_features)
        self.tables = [aligned_zeros(0, dtype=np.float32), aligned_zeros(0, dtype=np.float32)]

    def zeros(self, *sizes: int) -> list[Singles]:
        """Return two flat tables of zeros."""
        for q, size in enumerate(sizes):
            if self.tables[q].size < size:
                self.tables[q] = aligned_zeros(size, dtype=np.float32)
            else:
                self.tables[q][:size] = 0
        return [table[:size] for table, size in zip(self.tables, sizes, strict=True)]


class NodeSolver:
    """Solves tiles on rows of X (csr); `scale` is the root mean square of each feature's values."""

    def __init__(self, X: Any, weight: Singles | None, scale: Singles, settings: Settings, seed: int) -> None:
        self.X, self.weight, self.scale, self.settings, self.seed = X, weight, scale, settings, seed
        self.squares = _squared_norms(X.data, X.indptr)

    def solve_batch(self, jobs: list[Job]) -> list[tuple[Job, Solved]]:
        """Solve some tiles in turn."""
        scratch = Scratch(self.X.shape[1])
        return [(job, self._solve(job, scratch)) for job in jobs]

    def _solve(self, job: Job, scratch: Scratch) -> Solved:
        settings, m, every = self.settings, job.last - job.first, job.rows
        lane = np.where((job.own >= job.first) & (job.own < job.last), job.own - job.first, -1).astype(np.int32)
        if job.others.size:
            every = np.concatenate([every, job.others])
            lane = np.concatenate([lane, np.full(len(job.others), -1, dtype=np.int32)])
        data, indices, indptr, features = local_rows(self.X, every, scratch.numbers)
        local, width, constant = (data, indices, indptr), padded(m), np.float32(settings.constant)
        # An empty row without a constant reaches its bound in one visit with any tiny norm.
        norms = np.maximum(self.squares[every] + constant**2, np.float32(1e-30))
        cost = np.full(len(every), settings.C, dtype=np.float32)
        if self.weight is not None:
            cost *= self.weight[every]
        still = np.zeros(len(every) * width // LANES, dtype=bool)
        state = SIGNS, *scratch.zeros(len(every) * width, (len(features) + 1) * width), still
        rng = np.random.default_rng(np.random.SeedSequence((self.seed, job.node.first + job.first)))
        costs, before = (cost, norms, constant, settings.squared), _nothing(len(every))
        gap, epochs = self._descend(rng, local, lane, costs, state, width, m, before)
        w = state[2]
        count = np.empty(len(features), dtype=np.int32)
        dropped = drop_small(w, width, m, features, self.scale, np.float32(settings.prune), count)
        confused = None if job.is_leaf else settings.confused
        least, after = np.float32(np.inf if confused is None else confused), _nothing(len(every))
        sent, column = send_down(local, lane, constant, w, width, m, least, after)
        lanes, values = np.empty(count.sum(), dtype=np.uint8), np.empty(count.sum(), dtype=np.float32)
        take_out(w, width, m, count, lanes, values)
        weights = TileWeights(job.node.first + job.first, features[count > 0], count[count > 0], lanes, values)
        intercept, n = constant * w.reshape(-1, width)[-1, :m], len(job.rows)
        before, after = (Best(best.column[:n] + job.first, best.score[:n]) for best in (before, after))
        return Solved(weights, intercept, gap, epochs, dropped, before, after, every[sent], column + job.first)

    def _descend(self, rng: np.random.Generator, local: Any, lane: NDArray[np.int32], costs: Any, state: Any,
                 width: int, m: int, best: Best) -> tuple[Array, int]:  # fmt: skip
        """Run epochs until nothing changes, the gaps are small or there were enough; return the relative gaps."""
        settings, n, epochs, order = self.settings, len(lane), 0, np.empty(0, dtype=np.int32)
        cost, _, constant, squared = costs
        small = np.float32(0.0 if settings.tol is not None else SMALL_CHANGE**2)
        most = min(EPOCHS, settings.max_iter) if settings.tol is None else settings.max_iter
        while True:
            for _ in range(min(EPOCHS, most - epochs)):
                whole = epochs % WHOLE_EVERY == 0
                # Back along the same way costs less than a new one.
                order = rng.permutation(n).astype(np.int32) if epochs % 2 == 0 else order[::-1].copy()
                changed = descend(order, local, lane, *costs, small, whole, state, width)
                epochs += 1
                if whole and not changed:
                    break
            gap, value = np.zeros(m), 0.5 * squared_lengths(state[2], width, m)
            certify(local, lane, cost, constant, squared, state, width, gap, value, best)
            gap /= np.maximum(value, np.finfo(float).tiny)
            enough = settings.tol is None or gap.max() <= settings.tol or epochs >= most
            if enough or (whole and not changed):
                return gap, epochs


def _nothing(n: int) -> Best:
    return Best(np.empty(n, dtype=np.int32), np.empty(n, dtype=np.float32))


def _squared_norms(data: Singles, indptr: NDArray[np.int64]) -> Singles:
    total = np.append(0.0, np.cumsum(np.square(data, dtype=np.float64)))
    norms: Singles = (total[indptr[1:]] - total[indptr[:-1]]).astype(np.float32)
    return norms
