"""Rounds on rows in memory; threads share the features of large leaves, and the leaves."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from outputcodes._histograms.vector_growth import Grower, occupied_bins, values_above
from outputcodes._histograms.vector_splits import SplitRules
from outputcodes._histograms.vector_sums import n_words, pack
from outputcodes.learners.trees.boosted.forest import BoostedForest
from outputcodes.learners.trees.boosted.sketches import LeafValues, Sketch
from outputcodes.learners.trees.boosted.work import ASKED, Rounds, Work

Rows = NDArray[np.intp]
# Numbers of the leaves that one thread handles at a time: rows times classes.
NUMBERS_AT_A_TIME = 1 << 19


class RoundsInMemory(Rounds):
    """Rounds on some rows, while others are watched."""

    def __init__(self, work: Work, rows: Rows, watched: Rows, before: int) -> None:
        super().__init__(work, before)
        self.rows, self.watched = rows, watched
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
        settings, t, tree = self.settings, self.number, self.grower.tree
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
        units = vectors.gradient_unit, vectors.curvature_unit
        self._keep_tree(self.values.steps[:n_leaves], len(self.sketch.code), *units)
        return True

    def watched_loss(self) -> tuple[float, float]:
        """Take the steps of the last tree on the watched rows; return their mean loss and their share of errors."""
        order, segments = self.grower.part(self.watched.astype(np.uint32))
        self.loss.advance(order, segments, self.values, self.unread)
        return self.loss.loss(self.watched)

    def joined(self) -> Self:
        """Return rounds that follow these, on all rows, those that were watched included."""
        every = np.sort(np.concatenate([self.rows, self.watched]))
        return type(self)(self.work, every, self.watched[:0], self.number)

    def _leaf_blocks(self, n_leaves: int) -> list[range]:
        """Return ranges of leaves that threads share, with about `NUMBERS_AT_A_TIME` numbers each."""
        if self.work.n_threads == 1:
            return [range(n_leaves)]
        segments = self.grower.tree.leaves[:n_leaves]
        through = np.cumsum(segments[:, 1] - segments[:, 0]) * self.loss.lanes // NUMBERS_AT_A_TIME
        edges = [0, *(1 + np.flatnonzero(np.diff(through))).tolist(), n_leaves]
        return [range(first, last) for first, last in itertools.pairwise(edges)]


def rounds_in_memory(work: Work, rows: Rows, watched: Rows, earlier: BoostedForest | None) -> RoundsInMemory:
    """Return rounds on some rows, while others are watched, that continue those of a forest."""
    data, before = work.data, 0
    if earlier is not None:
        before = len(earlier.roots)
        work.loss.continue_from(earlier.base, earlier.scores(data.X))
    above = values_above(data, occupied_bins(data.codes, np.concatenate([rows, watched]), data.offsets))
    return RoundsInMemory(replace(work, above=above), rows, watched, before)
