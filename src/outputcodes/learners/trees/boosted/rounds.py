"""Rounds of gradient boosting: sketch the gradients, grow one tree, give its leaves a value for every column."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from outputcodes._ground import progress
from outputcodes._ground.blocks import Run
from outputcodes._ground.choosing import clearly_less
from outputcodes._histograms.binning import Binned
from outputcodes._histograms.vector_growth import Grower
from outputcodes._histograms.vector_splits import SplitRules
from outputcodes._histograms.vector_sums import n_words, pack
from outputcodes.learners.trees.boosted.forest import GrownTree, sparse_leaves

Rows = NDArray[np.intp]
Floats = NDArray[np.float32]
# Rows whose leaves one thread handles at a time.
ROWS_AT_A_TIME = 4096


class Loss(Protocol):
    """What the rounds lower: `Multinomial` or `LogisticColumns`."""

    base: NDArray[np.float64]

    @property
    def width(self) -> int:
        """The number of classes, or of columns."""

    def steps(self, tree: Any, leaves: range, rate: float, l2: float, values: Floats, room: Floats) -> None:
        """Set values[l], (width,), to the Newton steps of some leaves."""

    def advance(
        self, order: Any, segments: Any, leaves: range, factors: Floats, sketch: Floats, G: Floats, h: Floats
    ) -> None:
        """Take the steps whose exponentials are the factors, and sketch the gradients that result."""

    def loss(self, rows: Rows) -> tuple[float, float]:
        """Return the mean loss and the share of errors of some rows."""


@dataclass(frozen=True)
class Settings:
    """How the rounds go; see `outputcodes.boosting.GradientBoost` for the meaning of each."""

    n_rounds: int
    learning_rate: float
    max_leaves: int
    max_depth: int
    min_rows: int
    l2: float
    max_features: float
    patience: int
    watch_error: bool
    finish: float = 0.0


@dataclass(frozen=True)
class Boosted:
    """The rounds that were kept: their trees, and the loss and the error of the watched rows after each round."""

    trees: list[GrownTree]
    losses: NDArray[np.float64]
    errors: NDArray[np.float64]


def boost(
    loss: Loss,
    data: Binned,
    rows: Rows,
    watched: Rows,
    sketch: Callable[[int], Floats],
    settings: Settings,
    seed: int,
    run: Run,
    first: int = 0,
) -> Boosted:
    """Boost on some rows; with watched rows, keep the rounds up to the smallest loss (or error) on them.

    `sketch(t)` returns the code (m, width) that the tree of round t sees. Rounds are counted from `first`.
    """
    code = sketch(first)
    m, others, n = len(code), watched.astype(np.uint32), len(data.codes)
    G, (h, unused) = np.zeros((n, m), np.float32), np.zeros((2, n), np.float32)
    words = np.zeros((n, n_words(m)), np.int64)
    grower = Grower(data, rows, m, words.shape[1], settings.max_leaves)
    tree = grower.tree
    values, room, factors = np.ones((3, settings.max_leaves, loss.width), np.float32)

    def take_steps(leaves: range) -> None:
        loss.steps(tree, leaves, settings.learning_rate, settings.l2, values, room)

    def advance(leaves: range) -> None:
        loss.advance(tree.order, tree.segments, leaves, factors, code, G, h)

    tree.segments[0] = 0, len(rows)
    advance(range(1))
    trees: list[GrownTree] = []
    losses, errors = [], []
    best, best_at = np.inf, 0
    for t in range(first, first + settings.n_rounds):
        vectors = pack(G, h, words)
        rules = SplitRules(
            settings.l2 / vectors.curvature_unit,
            settings.min_rows,
            settings.max_features,
            np.random.SeedSequence((seed, t)).generate_state(1, np.uint64)[0],
        )
        n_leaves = grower.grow(vectors.words, rules, settings.max_depth)
        if n_leaves == 1:
            break
        blocks = list(_leaf_blocks(tree.segments[:n_leaves]))
        run(take_steps, blocks)
        np.exp(values, out=factors)
        code[:] = sketch(t + 1)
        run(advance, blocks)
        nodes, leaf, gain = grower.questions()
        unit = vectors.gradient_unit**2 / vectors.curvature_unit / m
        trees.append(GrownTree(nodes, leaf, sparse_leaves(values[:n_leaves]), gain * unit))
        progress.reached(t + 1 - first, settings.n_rounds, "rounds")
        if not len(watched):
            continue
        loss.advance(*grower.part(others), range(n_leaves), factors, code[:0], G, unused)
        lost, wrong = loss.loss(watched)
        losses.append(lost)
        errors.append(wrong)
        watch = wrong if settings.watch_error else lost
        if clearly_less(watch, best, watch):
            best, best_at = watch, len(trees)
        elif len(trees) - best_at >= settings.patience:
            break
    if len(watched) and settings.finish > 0:
        more = boost(loss, data, np.sort(np.concatenate([rows, watched])), watched[:0], sketch, replace(settings, n_rounds=max(1,round(settings.finish*len(trees))), finish=0.0), seed, run, first=first+len(trees))
        return Boosted(trees + more.trees, np.array(losses), np.array(errors))
    if len(watched):
        trees = trees[:best_at]
    return Boosted(trees, np.array(losses), np.array(errors))


def _leaf_blocks(segments: NDArray[np.int64]) -> Any:
    """Yield ranges of leaves with about `ROWS_AT_A_TIME` rows each."""
    start = rows = 0
    for leaf, (first, last) in enumerate(segments):
        rows += last - first
        if rows >= ROWS_AT_A_TIME or leaf == len(segments) - 1:
            yield range(start, leaf + 1)
            start, rows = leaf + 1, 0
