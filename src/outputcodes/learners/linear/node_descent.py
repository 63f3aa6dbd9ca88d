"""Linear SVMs for the nodes of a tree code: all columns of a node in one coordinate descent on the rows below it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from outputcodes._ground import progress
from outputcodes._ground.blocks import Run
from outputcodes._ground.local_rows import local_rows, unnumbered
from outputcodes._ground.single_lanes import aligned_zeros, padded
from outputcodes._ground.tree_code import Node, TreeCode
from outputcodes.learners.base import Certificate
from outputcodes.learners.linear.node_kernels import (
    SIGNS,
    certify,
    descend,
    drop_small,
    put_in,
    send_down,
    squared_lengths,
    take_out,
)
from outputcodes.learners.linear.sparse_columns import FittedSparseLinear, Pruned

Array = NDArray[np.float64]
Rows = NDArray[np.intp]

# Epochs where no tolerance was given: more of them change no prediction.
EPOCHS = 8
# Without a tolerance, dual variables that would change by less than this stay as they are.
SMALL_CHANGE = 1e-3
# Nodes are solved in batches of about so many values: large enough for a thread to be worth it.
VALUES_PER_BATCH = 1 << 18


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


class NodeWeights(NamedTuple):
    """The weights of a node: how many each feature has, and the columns and values of all, feature by feature."""

    first: int
    features: NDArray[np.int32]
    sizes: NDArray[np.int32]
    lanes: NDArray[Any]
    values: NDArray[np.float32]


class Solved(NamedTuple):
    """The columns of a node, and which rows are wrongly sent to which column."""

    weights: NodeWeights
    intercept: NDArray[np.float32]
    gap: Array
    epochs: int
    dropped: int
    changed: int
    sent_rows: Rows
    sent_columns: Rows


class Job(NamedTuple):
    """A node, the rows below it with their columns, counted from its first, and others that are negative examples."""

    node: Node
    rows: Rows
    own: Rows
    others: Rows


class Sample(NamedTuple):
    """The rows that count: X (csr), their place in the order of a tree, and their weights."""

    X: Any
    weight: NDArray[np.float32] | None
    rows: Rows
    y: Rows


def solve_tree(X: Any, y: Rows, code: TreeCode, weight: Array | None, rows: Rows, settings: Settings,
               run: Run, seed: int) -> FittedSparseLinear:  # fmt: skip
    """Train all columns of a tree code, level by level."""
    sample = Sample(X, None if weight is None else weight.astype(np.float32), rows, y)
    L, scale = code.shape[1], _feature_scale(X)
    work = _Work(sample, code, settings, scale, seed)
    by_tree = [_in_order(code, y, rows, tree) for tree in range(code.n_trees)]
    answer = _Answer(L)
    sent = _Sent.none()
    for level in range(code.depth):
        nodes = list(code.nodes(level))
        jobs = [Job(node, *_rows_of(by_tree[code.tree_of(node)], node), sent.to(node.number)) for node in nodes]
        sent_next: list[tuple[Rows, Rows]] = []
        for batch in run(work.solve_batch, _batches(jobs, X)):
            for node, solved in batch:
                answer.add(node, solved)
                sent_next.append((solved.sent_rows, code.child[node.first + solved.sent_columns]))
            progress.reached(answer.columns, L)
        sent = _Sent.of(sent_next)
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


def _batches(jobs: list[Job], X: Any) -> list[list[Job]]:
    """Cut the nodes of a level into batches that don't depend on the number of threads."""
    batches: list[list[Job]] = [[]]
    per_row, size = X.nnz / max(1, X.shape[0]), 0.0
    for job in jobs:
        if size > VALUES_PER_BATCH:
            batches.append([])
            size = 0.0
        batches[-1].append(job)
        size += per_row * len(job.rows)
    return batches


def _feature_scale(X: Any) -> NDArray[np.float32]:
    """Return the root mean square of the non-zero values of each feature."""
    d = X.shape[1]
    count = np.bincount(X.indices, minlength=d)
    squares = np.bincount(X.indices, weights=np.square(X.data, dtype=np.float64), minlength=d)
    return np.sqrt(squares / np.maximum(count, 1)).astype(np.float32)


class _Sent(NamedTuple):
    """Rows that are wrongly sent to nodes, sorted by node."""

    nodes: Rows
    rows: Rows

    @classmethod
    def none(cls) -> _Sent:
        return cls(np.empty(0, dtype=np.intp), np.empty(0, dtype=np.intp))

    @classmethod
    def of(cls, parts: list[tuple[Rows, Rows]]) -> _Sent:
        rows, nodes = (np.concatenate([part[q] for part in parts]) for q in (0, 1))
        rows, nodes = rows[nodes >= 0], nodes[nodes >= 0]
        turn = np.argsort(nodes, kind="stable")
        return cls(nodes[turn], rows[turn])

    def to(self, node: int) -> Rows:
        begin, end = np.searchsorted(self.nodes, (node, node + 1))
        return self.rows[begin:end]


class Scratch:
    """Memory that the nodes of a batch use one after the other: new memory would be slower to write."""

    def __init__(self, numbers: NDArray[np.int32]) -> None:
        self.numbers = numbers
        self.tables = [aligned_zeros(0), aligned_zeros(0)]

    def zeros(self, *sizes: int) -> list[NDArray[np.float32]]:
        """Return two flat tables of zeros."""
        for q, size in enumerate(sizes):
            if self.tables[q].size < size:
                self.tables[q] = aligned_zeros(size)
            else:
                self.tables[q][:size] = 0
        return [table[:size] for table, size in zip(self.tables, sizes, strict=True)]


class _Work:
    """Solves nodes, in batches that share a scratch."""

    def __init__(self, sample: Sample, code: TreeCode, settings: Settings, scale: Any, seed: int) -> None:
        self.sample, self.code, self.settings, self.scale, self.seed = sample, code, settings, scale, seed

    def solve_batch(self, jobs: list[Job]) -> list[tuple[Node, Solved]]:
        scratch = Scratch(unnumbered(self.sample.X.shape[1]))
        return [(job.node, self._solve(job, scratch)) for job in jobs]

    def _solve(self, job: Job, scratch: Scratch) -> Solved:
        """Solve one node on the rows below it, and on others as negative examples."""
        settings, node, m = self.settings, job.node, job.node.last - job.node.first
        every, lane = job.rows, job.own.astype(np.int32)
        if job.others.size:
            every = np.concatenate([every, job.others])
            lane = np.concatenate([lane, np.full(len(job.others), -1, dtype=np.int32)])
        data, indices, indptr, features = local_rows(self.sample.X, every, scratch.numbers)
        local, width, constant = (data, indices, indptr), padded(m), np.float32(settings.constant)
        norms = _squared_norms(data, indptr) + constant**2
        # An empty row without a constant reaches its bound in one visit with any tiny norm.
        norms = np.maximum(norms, np.float32(1e-30))
        cost = np.full(len(every), settings.C, dtype=np.float32)
        if self.sample.weight is not None:
            cost *= self.sample.weight[every]
        state = SIGNS, *scratch.zeros(len(every) * width, (len(features) + 1) * width)
        rng = np.random.default_rng(np.random.SeedSequence((self.seed, node.first)))
        chosen, gap, epochs = np.empty(len(every), dtype=np.int32), np.full(m, np.inf), 0
        small = np.float32(0.0 if settings.tol is not None else SMALL_CHANGE**2)
        most = min(EPOCHS, settings.max_iter) if settings.tol is None else settings.max_iter
        while epochs < most:
            for _ in range(min(EPOCHS, most - epochs)):
                order = rng.permutation(len(every)).astype(np.int32)
                changed = descend(order, local, lane, cost, norms, constant, settings.squared, small, state, width)
                epochs += 1
                if not changed:
                    break
            gap = np.zeros(m)
            value = 0.5 * squared_lengths(state[2], width, m)
            certify(local, lane, cost, constant, settings.squared, state, width, gap, value, chosen)
            gap /= np.maximum(value, np.finfo(float).tiny)
            if not changed or (settings.tol is not None and gap.max() <= settings.tol):
                break
        w = state[2]
        count = np.empty(len(features), dtype=np.int32)
        dropped = drop_small(w, width, m, features, self.scale, np.float32(settings.prune), count)
        least = np.float32(np.inf if settings.confused is None else settings.confused)
        sent, column, altered = send_down(local, lane, constant, w, width, m, least, chosen)
        total, seen = int(count.sum()), count > 0
        # Small numbers where they suffice: the weights of all nodes are in memory twice for a moment.
        lanes = np.empty(total, dtype=np.uint8 if m <= 256 else np.int32)
        values = np.empty(total, dtype=np.float32)
        take_out(w, width, m, count, lanes, values)
        weights = NodeWeights(node.first, features[seen], count[seen], lanes, values)
        intercept = constant * w.reshape(-1, width)[-1, :m]
        return Solved(weights, intercept, gap, epochs, dropped, altered, every[sent], column)


def _squared_norms(data: NDArray[np.float32], indptr: NDArray[np.int64]) -> NDArray[np.float32]:
    total = np.append(0.0, np.cumsum(np.square(data, dtype=np.float64)))
    norms: NDArray[np.float32] = (total[indptr[1:]] - total[indptr[:-1]]).astype(np.float32)
    return norms


@dataclass
class _Answer:
    """The columns of the nodes that are solved."""

    n_columns: int
    columns: int = 0
    dropped: int = 0
    changed: int = 0
    nodes: list[NodeWeights] = field(default_factory=list)

    def __post_init__(self) -> None:
        L = self.n_columns
        self.intercept, self.gap = np.zeros(L, dtype=np.float32), np.full(L, np.inf)
        self.epochs = np.zeros(L, dtype=np.intp)

    def add(self, node: Node, solved: Solved) -> None:
        own = slice(node.first, node.last)
        self.intercept[own], self.gap[own], self.epochs[own] = solved.intercept, solved.gap, solved.epochs
        self.columns += node.last - node.first
        self.dropped += solved.dropped
        self.changed += solved.changed
        self.nodes.append(solved.weights)

    def fitted(self, shape: tuple[int, int], n_rows: int, settings: Settings) -> FittedSparseLinear:
        weights = self._joined(shape)
        reached = np.ones(len(self.gap), dtype=bool) if settings.tol is None else self.gap <= settings.tol
        pruned = Pruned(settings.prune, self.dropped, weights.nnz, self.changed, n_rows)
        return FittedSparseLinear(weights, self.intercept, Certificate(self.gap, self.epochs, reached), pruned)

    def _joined(self, shape: tuple[int, int]) -> scipy.sparse.csr_array:
        """Return the weights of all nodes as one matrix, and forget the nodes."""
        size = np.zeros(shape[0] + 1, dtype=np.int64)
        for node in self.nodes:
            size[node.features + 1] += node.sizes
        ends = np.cumsum(size)
        small = ends[-1] <= np.iinfo(np.int32).max
        free, columns = ends[:-1].copy(), np.empty(ends[-1], dtype=np.int32)
        values = np.empty(ends[-1], dtype=np.float32)
        # Nodes come in the order of their columns, so that the columns of each feature are in order too.
        for at, node in enumerate(self.nodes):
            put_in(node.features, node.sizes, node.lanes, node.values, node.first, free, columns, values)
            self.nodes[at] = node._replace(lanes=node.lanes[:0], values=node.values[:0])
        self.nodes.clear()
        matrix = scipy.sparse.csr_array((values, columns, ends.astype(np.int32) if small else ends), shape=shape)
        matrix.has_sorted_indices = True
        return matrix
