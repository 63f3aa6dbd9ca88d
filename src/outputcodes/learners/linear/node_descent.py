"""Linear SVMs for a tree code: level by level, every node on the rows below it and on those that are confused."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from outputcodes._ground import progress
from outputcodes._ground.blocks import Run
from outputcodes._ground.tree_code import Node, TreeCode
from outputcodes.learners.base import Certificate
from outputcodes.learners.linear.node_kernels import put_in
from outputcodes.learners.linear.node_solver import Best, Job, NodeSolver, Settings, Solved, TileWeights
from outputcodes.learners.linear.sparse_columns import FittedSparseLinear, Pruned, feature_scale

Array = NDArray[np.float64]
Rows = NDArray[np.intp]

# The columns of a wide node are trained so many at a time: their weights stay in cache.
WIDEST_TILE = 256
# Tiles are solved in batches of about so many values: large enough for a thread to be worth it.
VALUES_PER_BATCH = 1 << 18


def solve_tree(X: Any, y: Rows, code: TreeCode, weight: Array | None, rows: Rows, settings: Settings,
               run: Run, seed: int) -> FittedSparseLinear:  # fmt: skip
    """Train all columns of a tree code on some rows of X (csr)."""
    L, scale = code.shape[1], feature_scale(X, rows, weight).astype(np.float32)
    solver = NodeSolver(X, None if weight is None else weight.astype(np.float32), scale, settings, seed)
    by_tree = [_in_order(code, y, rows, tree) for tree in range(code.n_trees)]
    answer, sent = _Answer(L), _Sent.of([])
    for level in range(code.depth):
        jobs: list[Job] = []
        for node in code.nodes(level):
            is_leaf = bool((code.child[node.first : node.last] < 0).all())
            jobs += _tiles(node, *_rows_of(by_tree[code.tree_of(node)], node), sent.to(node.number), is_leaf)
        sent_on: list[tuple[Rows, Rows]] = []
        for batch in run(solver.solve_batch, _batches(jobs, X)):
            for job, solved in batch:
                answer.add(job, solved)
                sent_on.append((solved.sent_rows, code.child[job.node.first + solved.sent_columns]))
            progress.reached(answer.columns, L)
        sent = _Sent.of(sent_on)
    return answer.fitted((X.shape[1], L), len(rows), settings)


def _in_order(code: TreeCode, y: Rows, rows: Rows, tree: int) -> tuple[Rows, Rows]:
    """Return the rows in the order of a tree's classes, and their places in it."""
    place = code.place[tree, y[rows]]
    turn = np.argsort(place, kind="stable")
    return rows[turn], place[turn]


def _rows_of(in_order: tuple[Rows, Rows], node: Node) -> tuple[Rows, Rows]:
    """Return the rows below a node, and the column of each, counted from the node's first."""
    rows, place = in_order
    begin, end = np.searchsorted(place, (node.starts[0], node.stop))
    return rows[begin:end], np.searchsorted(node.starts, place[begin:end], side="right") - 1


def _tiles(node: Node, rows: Rows, own: Rows, others: Rows, is_leaf: bool) -> Iterator[Job]:
    """Yield the tiles of a node, of similar width."""
    m = node.last - node.first
    cuts = np.linspace(0, m, -(-m // WIDEST_TILE) + 1).astype(int)
    for first, last in pairwise(cuts):
        yield Job(node, int(first), int(last), rows, own, others, is_leaf)


def _batches(jobs: list[Job], X: Any) -> list[list[Job]]:
    """Cut the tiles of a level into batches that don't depend on the number of threads."""
    batches: list[list[Job]] = [[]]
    per_row, size = X.nnz / max(1, X.shape[0]), 0.0
    for job in jobs:
        if size > VALUES_PER_BATCH:
            batches.append([])
            size = 0.0
        batches[-1].append(job)
        size += per_row * len(job.rows)
    return batches


class _Sent(NamedTuple):
    """Rows that are wrongly sent to nodes, sorted by node."""

    nodes: Rows
    rows: Rows

    @classmethod
    def of(cls, parts: list[tuple[Rows, Rows]]) -> _Sent:
        """Sort pairs of rows and of what they are sent to, nodes or classes; classes are left out."""
        nothing = np.empty(0, dtype=np.intp)
        rows, nodes = (np.concatenate([nothing, *(part[q] for part in parts)]) for q in (0, 1))
        rows, nodes = rows[nodes >= 0], nodes[nodes >= 0]
        turn = np.argsort(nodes, kind="stable")
        return cls(nodes[turn], rows[turn])

    def to(self, node: int) -> Rows:
        """Return the rows that are sent to a node."""
        begin, end = np.searchsorted(self.nodes, (node, node + 1))
        return self.rows[begin:end]


class _Answer:
    """The columns of the tiles that are solved, which come in the order of their columns."""

    def __init__(self, n_columns: int) -> None:
        self.intercept, self.gap = np.zeros(n_columns, dtype=np.float32), np.full(n_columns, np.inf)
        self.epochs = np.zeros(n_columns, dtype=np.intp)
        self.columns = self.dropped = self.changed = 0
        self.tiles: list[TileWeights] = []
        # The best columns of the rows of the last node, of its tiles so far.
        self.before, self.after = (Best(np.empty(0, np.int32), np.empty(0, np.float32)) for _ in range(2))

    def add(self, job: Job, solved: Solved) -> None:
        """Add a tile."""
        own = slice(job.node.first + job.first, job.node.first + job.last)
        self.intercept[own], self.gap[own], self.epochs[own] = solved.intercept, solved.gap, solved.epochs
        self.columns += job.last - job.first
        self.dropped += solved.dropped
        self.tiles.append(solved.weights)
        first = job.first == 0
        self.before = solved.before if first else _better(self.before, solved.before)
        self.after = solved.after if first else _better(self.after, solved.after)
        if job.last == job.node.last - job.node.first:
            self.changed += int(np.count_nonzero(self.before.column != self.after.column))

    def fitted(self, shape: tuple[int, int], n_rows: int, settings: Settings) -> FittedSparseLinear:
        """Return the columns of all tiles."""
        weights = self._joined(shape)
        reached = np.ones(len(self.gap), dtype=bool) if settings.tol is None else self.gap <= settings.tol
        pruned = Pruned(settings.prune, self.dropped, int(weights.nnz), self.changed, n_rows)
        return FittedSparseLinear(weights, self.intercept, Certificate(self.gap, self.epochs, reached), pruned)

    def _joined(self, shape: tuple[int, int]) -> scipy.sparse.csr_array:
        """Return the weights of all tiles as one matrix, and forget the tiles."""
        size = np.zeros(shape[0] + 1, dtype=np.int64)
        for tile in self.tiles:
            size[tile.features + 1] += tile.sizes
        ends = np.cumsum(size)
        small = ends[-1] <= np.iinfo(np.int32).max
        free, columns = ends[:-1].copy(), np.empty(ends[-1], dtype=np.int32)
        values = np.empty(ends[-1], dtype=np.float32)
        # Tiles come in the order of their columns, so that the columns of each feature are in order too; their memory
        # is free as soon as they are copied.
        self.tiles.reverse()
        while self.tiles:
            tile = self.tiles.pop()
            put_in(tile.features, tile.sizes, tile.lanes, tile.values, tile.first, free, columns, values)
        matrix = scipy.sparse.csr_array((values, columns, ends.astype(np.int32) if small else ends), shape=shape)
        matrix.has_sorted_indices = True
        return matrix


def _better(one: Best, other: Best) -> Best:
    """Return the better of the best columns of two tiles; ties go to the first."""
    column = np.where(other.score > one.score, other.column, one.column)
    return Best(column, np.maximum(one.score, other.score))
