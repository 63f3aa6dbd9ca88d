"""Rounds of gradient boosting: sketch the gradients, grow one tree, give its leaves a value for every column."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray

from outputcodes._ground import progress
from outputcodes._ground.blocks import Run, threads
from outputcodes._ground.choosing import clearly_less
from outputcodes._ground.folds import deck_of
from outputcodes._histograms.binning import Binned
from outputcodes._histograms.vector_growth import FIRST, LAST, Grower, values_above
from outputcodes._histograms.vector_splits import SplitRules
from outputcodes._histograms.vector_sums import n_words, pack
from outputcodes.learners.trees.boosted.forest import TreeOfRound, sparse_leaves
from outputcodes.learners.trees.boosted.loss import BoostedLoss
from outputcodes.learners.trees.boosted.settings import Settings
from outputcodes.learners.trees.boosted.sketches import LeafValues, Sketch

Rows = NDArray[np.intp]
Floats = NDArray[np.float32]
# Numbers of the leaves that one thread handles at a time: rows times classes.
NUMBERS_AT_A_TIME = 1 << 19
# Rounds on all rows after those that held some out, as a share of these.
FINISH = 0.2
# Seeds the choice of features apart from that of sketches.
ASKED = 1


@dataclass(frozen=True)
class Boosted:
    """The trees of the rounds, and the loss and the error of the watched rows after each round."""

    trees: list[TreeOfRound]
    losses: NDArray[np.float64]
    errors: NDArray[np.float64]


def set_aside(rows: Rows, y: Rows, fraction: float | None, seed: int) -> tuple[Rows, Rows]:
    """Return the rows to train on and those to watch: a share of all rows, spread evenly over the classes.

    A class keeps at least one row to train on; small classes have a row to watch now and then.

    >>> train, watched = set_aside(np.arange(20), np.repeat([0, 1], [12, 8]), 0.25, seed=0)
    >>> np.bincount(np.repeat([0, 1], [12, 8])[watched])
    array([3, 2])
    """
    if fraction is None:
        return rows, rows[:0]
    deck = rows[deck_of(y[rows], np.random.default_rng(seed))]
    place = np.arange(len(deck))
    watched = np.floor((place + 1) * fraction) > np.floor(place * fraction)
    watched[np.unique(y[deck], return_index=True)[1]] = False
    return np.sort(deck[~watched]), np.sort(deck[watched])


def boost(
    loss: BoostedLoss,
    data: Binned,
    rows: Rows,
    watched: Rows,
    sketch: Callable[[int], Floats],
    settings: Settings,
    seed: int,
    n_jobs: int | None,
    before: int = 0,
) -> Boosted:
    """Boost on some rows until the loss (or error) of the watched rows no longer falls; then they join for a while.

    `sketch(t)` returns the code (m, width) that the tree of round t sees; the rounds `before` these are over. Watched
    rows are too good to be only watched: a share `FINISH` of the rounds is added on all rows. Without watched rows all
    rounds are run.
    """
    with threads(n_jobs) as run:
        above = values_above(data, np.concatenate([rows, watched]))
        work = _Work(loss, data, sketch, settings, seed, run, effective_n_jobs(n_jobs), above)
        return _boost(work, rows, watched, before)


@dataclass(frozen=True)
class _Work:
    """What all rounds of one model share."""

    loss: BoostedLoss
    data: Binned
    sketch: Callable[[int], Floats]
    settings: Settings
    seed: int
    run: Run
    n_threads: int
    above: NDArray[np.float64]


def _boost(work: _Work, rows: Rows, watched: Rows, before: int) -> Boosted:
    loss, settings = work.loss, work.settings
    first = _Rounds(work, rows, before)
    losses, errors = [], []
    best, best_at = np.inf, 0
    most = math.ceil(settings.n_rounds / (1 + FINISH)) if len(watched) else settings.n_rounds - before
    while len(first.trees) < most and first.advance():
        if not len(watched):
            continue
        first.follow(watched)
        lost, wrong = loss.loss(watched)
        losses.append(lost)
        errors.append(wrong)
        watch = wrong if settings.watch_error else lost
        if clearly_less(watch, best, watch):
            best, best_at = watch, len(first.trees)
        elif len(first.trees) - best_at >= settings.patience:
            break
    trees = first.trees
    if len(watched):
        last = _Rounds(work, np.sort(np.concatenate([rows, watched])), before + len(trees))
        most = min(math.ceil(FINISH * len(trees)), settings.n_rounds - len(trees))
        while len(last.trees) < most and last.advance():
            pass
        trees = trees + last.trees
    return Boosted(trees, np.array(losses), np.array(errors))


class _Rounds:
    """Rounds on the same rows; those `before` them are counted."""

    def __init__(self, work: _Work, rows: Rows, before: int) -> None:
        self.loss, self.settings, self.work, self.before = work.loss, work.settings, work, before
        self.trees: list[TreeOfRound] = []
        code = self._code(before)
        n, m, leaves = len(work.data.codes), len(code), self.settings.max_leaves
        self.sketch = Sketch(code, np.zeros((n, m), np.float32), np.zeros(n, np.float32))
        self.unread = Sketch(code, np.empty((n, m), np.float32), np.empty(n, np.float32))
        self.words = np.zeros((n, n_words(m)), np.int64)
        how: dict[str, Any] = {"share": self.settings.max_features, "n_threads": work.n_threads, "above": work.above}
        self.grower = Grower(work.data, rows, m, self.words.shape[1], leaves, **how)
        size = leaves, self.loss.lanes
        self.values = LeafValues(np.zeros(size, np.float32), np.ones(size, np.float32), np.empty(size, np.float32))
        self.loss.advance(self.grower.rows, np.array([[0, len(rows)]]), self.values, self.sketch)

    def advance(self) -> bool:
        """Grow a tree and take its steps; return False if no question gains anything."""
        settings, t, tree = self.settings, self.before + len(self.trees), self.grower.tree
        vectors = pack(self.sketch.G, self.sketch.h, self.words)
        rules = SplitRules(settings.l2 / vectors.curvature_unit, settings.min_rows)
        self.grower.ask_about((self.work.seed, t, ASKED))
        n_leaves = self.grower.grow(vectors.words, rules, settings.max_depth, self.work.run)
        if n_leaves == 1:
            return False
        self.sketch = self.sketch._replace(code=self._code(t + 1))
        step = self.loss.step
        how = settings.learning_rate, settings.l2, self.values, self.sketch
        self.work.run(lambda leaves: step(tree, leaves, *how), self._leaf_blocks(n_leaves))
        nodes, leaf, gain = self.grower.questions()
        unit = vectors.gradient_unit**2 / vectors.curvature_unit / len(self.sketch.code)
        leaves = sparse_leaves(self.values.steps[:n_leaves, : self.loss.width])
        rows = np.diff(tree.leaves[:n_leaves, FIRST : LAST + 1], axis=1).ravel()
        self.trees.append(TreeOfRound(nodes, leaf, leaves, gain * unit, rows))
        progress.reached(t + 1, settings.n_rounds, "rounds")
        return True

    def follow(self, rows: Rows) -> None:
        """Take the steps of the last tree on other rows."""
        order, segments = self.grower.part(rows.astype(np.uint32))
        self.loss.advance(order, segments, self.values, self.unread)

    def _code(self, t: int) -> Floats:
        """Return the code that the tree of round t sees, (m, lanes)."""
        code = np.ascontiguousarray(self.work.sketch(t))
        if self.loss.lanes == self.loss.width:
            return code
        padded = np.zeros((len(code), self.loss.lanes), np.float32)
        padded[:, : self.loss.width] = code
        return padded

    def _leaf_blocks(self, n_leaves: int) -> list[range]:
        """Return ranges of leaves that threads share, with about `NUMBERS_AT_A_TIME` numbers each."""
        if self.work.n_threads == 1:
            return [range(n_leaves)]
        segments = self.grower.tree.leaves[:n_leaves]
        through = np.cumsum(segments[:, 1] - segments[:, 0]) * self.loss.lanes // NUMBERS_AT_A_TIME
        edges = [0, *(1 + np.flatnonzero(np.diff(through))).tolist(), n_leaves]
        return [range(first, last) for first, last in itertools.pairwise(edges)]
