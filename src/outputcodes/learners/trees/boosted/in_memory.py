"""Rounds on rows in memory.

Threads share the features of large leaves, and the leaves. While one of them takes the steps of a tree on the watched
rows, another grows the next tree, which does not need these rows.
"""

from __future__ import annotations

import itertools
from dataclasses import replace
from functools import partial
from operator import call
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from outputcodes._ground.blocks import serially
from outputcodes._ground.lanes import aligned_zeros
from outputcodes._histograms.occupied import occupied_bins, varied_features
from outputcodes._histograms.sampling import n_sampled
from outputcodes._histograms.vectors.growth import Grower
from outputcodes._histograms.vectors.splits import SplitRules
from outputcodes._histograms.vectors.sums import Vectors, n_words, pack
from outputcodes.learners.trees.boosted.forest import BoostedForest
from outputcodes.learners.trees.boosted.sketches import LeafValues, Sketch
from outputcodes.learners.trees.boosted.work import ASKED, Rounds, Work

Rows = NDArray[np.intp]
# Numbers of the leaves that one thread handles at a time: rows times classes.
NUMBERS_AT_A_TIME = 1 << 19
# With fewer numbers than this, rows times classes or features, threads wait longer for each other than they save.
NUMBERS_FOR_THREADS = 1 << 18


class UnsteppedTree(NamedTuple):
    """A tree whose steps are still to be taken: what it was grown on, and its size."""

    vectors: Vectors
    n_leaves: int


class RoundsInMemory(Rounds):
    """Rounds on some rows, while others are watched; `places` are these in the order of the leaves they reach."""

    places: tuple[NDArray[np.uint32], NDArray[np.int64]]

    def __init__(self, work: Work, rows: Rows, watched: Rows, before: int) -> None:
        super().__init__(work, before)
        self.rows, self.watched = rows, watched
        self.grown: UnsteppedTree | None = None
        code, self.next_code = self._code(before), self._code(before + 1)
        n, m, leaves = len(work.data.codes), len(code), self.settings.max_leaves
        self.sketch = Sketch(code, np.zeros((n, m), np.float32), np.zeros(n, np.float32))
        self.unread = Sketch(code, np.empty((n, m), np.float32), np.empty(n, np.float32))
        self.words = aligned_zeros(n, n_words(m), dtype=np.int64)
        how: dict[str, Any] = {"share": work.share, "n_threads": work.n_threads}
        self.grower = Grower(work.data, rows, m, self.words.shape[1], leaves, occupied=work.occupied, **how)
        size = leaves, self.loss.lanes
        self.values = LeafValues(np.zeros(size, np.float32), np.ones(size, np.float32), np.empty(size, np.float32))
        self.loss.advance(self.grower.rows, np.array([[0, len(rows)]]), self.values, self.sketch)

    def advance(self) -> bool:
        """Grow a tree and take its steps; return False if no question gains anything."""
        grown, self.grown = self.grown or self._grow(), None
        if grown.n_leaves == 1:
            return False
        settings, tree, vectors = self.settings, self.grower.tree, grown.vectors
        self.sketch = self.sketch._replace(code=self.next_code)
        how = settings.learning_rate, settings.l2, self.values, self.sketch
        steps = [partial(self.loss.step, tree, leaves, *how) for leaves in self._leaf_blocks(grown.n_leaves)]
        beside = self._part_watched, self.grower.questions, partial(self._code, self.number + 2)
        *_, self.places, questions, self.next_code = self.work.run(call, [*steps, *beside])
        units = vectors.gradient_unit, vectors.curvature_unit
        self._keep_tree(questions, self.values.steps[: grown.n_leaves], len(self.sketch.code), *units)
        return True

    def watched_loss(self) -> tuple[float, float]:
        """Take the steps of the last tree on the watched rows; return their mean loss and their share of errors.

        Other threads would wait: one of them grows the next tree, which is needed unless this round was the last one.
        """
        if self.work.n_threads == 1:
            return self._advance_watched()
        found: tuple[float, float]
        self.grown, found = self.work.run(call, [self._grow, self._advance_watched])
        return found

    def _grow(self) -> UnsteppedTree:
        """Grow the next tree."""
        settings, t = self.settings, self.number
        vectors = pack(self.sketch.G, self.sketch.h, self.words)
        rules = SplitRules(settings.l2 / vectors.curvature_unit, settings.min_rows)
        self.grower.ask_about((self.work.seed, t, ASKED))
        while True:
            n_leaves = self.grower.grow(vectors.words, rules, settings.max_depth, self.work.run)
            if n_leaves > 1 or not self.grower.ask_about_others():
                return UnsteppedTree(vectors, n_leaves)

    def _part_watched(self) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
        """Return the watched rows in the order of their leaves, and the segment of each leaf."""
        return self.grower.part(self.watched.astype(np.uint32))

    def _advance_watched(self) -> tuple[float, float]:
        self.loss.advance(*self.places, self.values, self.unread)
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
    work = work.on_rows(occupied_bins(data.codes, np.concatenate([rows, watched]), data.offsets))
    n_asked = n_sampled(work.share, len(varied_features(data.offsets, work.occupied)))
    if len(rows) * max(work.loss.lanes, n_asked) < NUMBERS_FOR_THREADS:
        work = replace(work, run=serially, n_threads=1)
    return RoundsInMemory(work, rows, watched, before)
