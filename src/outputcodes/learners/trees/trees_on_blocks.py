"""Trees of columns on blocks of rows: a pass splits regions of all trees that grow together, where the rows are."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from outputcodes._ground import progress
from outputcodes._ground.blocks import row_blocks, threads
from outputcodes._histograms.binned_blocks import BinnedBlocks
from outputcodes._histograms.columns.growth import unit_exponent
from outputcodes._histograms.columns.growth_on_blocks import ColumnOnBlocks
from outputcodes._histograms.columns.rows import Replies, Reply, advanced, column_rows
from outputcodes._histograms.growth import Rules
from outputcodes._histograms.questions import Nodes

Rows = NDArray[np.intp]
Array = NDArray[np.float64]
Tree = tuple[Nodes, Array]


def trees_on_blocks(
    data: BinnedBlocks,
    y: Rows,
    weight: Array | None,
    rows: Rows,
    signed: Array,
    rules: Rules,
    n_asked: int,
    seed_of: Callable[[int], np.uint64],
    at_a_time: int,
    n_jobs: int | None,
) -> list[Tree]:
    """Grow a tree for every column of `signed`, (k, L) weights of the classes with their signs, some at a time."""
    made: list[Tree] = []
    with threads(n_jobs) as run:
        for first in range(0, signed.shape[1], at_a_time):
            own = signed[:, first : first + at_a_time]
            n_rows, exponents = _units(y, weight, rows, own)
            trees = [
                ColumnOnBlocks(data.without_rows(), n, float(np.ldexp(1.0, unit)), rules, n_asked, seed_of(j))
                for j, (n, unit) in enumerate(zip(n_rows, exponents, strict=True), start=first)
            ]
            blocks = data.coded.labelled(y, weight, rows, column_rows, own, exponents, run=run)
            while not all(tree.finished for tree in trees):
                asked = run(ColumnOnBlocks.ask, trees)
                if any(map(any, asked)):
                    blocks, replies = blocks.step(advanced, asked, data.offsets, blocks.may_change, combine=Replies())
                    run(_take, zip(trees, replies, strict=True))
                progress.reached(first + sum(tree.finished for tree in trees), signed.shape[1])
            made += [tree.result() for tree in trees]
    return made


def _take(pair: tuple[ColumnOnBlocks, Reply]) -> None:
    tree, reply = pair
    tree.take(reply)


def _units(y: Rows, weight: Array | None, rows: Rows, signed: Array) -> tuple[list[int], list[int]]:
    """Return how many rows each column sees, and the exponent of the unit of their weights."""
    largest, n_seen = np.zeros(signed.shape[1]), np.zeros(signed.shape[1], np.int64)
    for part in row_blocks(len(rows), signed.shape[1]):
        own = np.abs(signed[y[rows[part]]])
        if weight is not None:
            own *= weight[rows[part], None]
        np.maximum(largest, own.max(axis=0), out=largest)
        n_seen += np.count_nonzero(own, axis=0)
    n_rows: list[int] = n_seen.tolist()
    return n_rows, [unit_exponent(size, n) for size, n in zip(largest.tolist(), n_rows, strict=True)]
