"""Rounds on rows in blocks, which stay where they are: codes, scores and gradients of a block are a piece.

A round is a pass for the histograms of all rows, some passes for those of the leaves, one that adds up the slopes in
the leaves, and one that takes the steps of these. Only histograms, slopes and losses come from the blocks, and only
questions and steps go to them: their sizes don't depend on the number of rows.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
from numba import njit
from numpy.typing import NDArray

from outputcodes._ground.compiling import ENTRY
from outputcodes._ground.lanes import aligned_copy, aligned_zeros
from outputcodes._ground.passes import Blocks, Combination, Sums
from outputcodes._ground.stored_rows import Part
from outputcodes._histograms.binned_blocks import Codes
from outputcodes._histograms.occupied import occupied_bins
from outputcodes._histograms.vectors.growth import N_NODES, BinnedFeatures, leaves_of_rows
from outputcodes._histograms.vectors.growth_on_blocks import BlockGrower, BlockGrowth, GrowingRows, Question
from outputcodes._histograms.vectors.splits import SplitRules
from outputcodes._histograms.vectors.sums import n_words, sizes_of, units_of
from outputcodes.learners.trees.boosted.forest import BoostedForest
from outputcodes.learners.trees.boosted.loss import BoostedLoss
from outputcodes.learners.trees.boosted.sketches import LeafValues, Sketch
from outputcodes.learners.trees.boosted.work import ASKED, Rounds, Work

Rows = NDArray[np.intp]
Floats = NDArray[np.float32]
# What a row is for.
TRAINED, WATCHED = 1, 2


class Workplace:
    """Room for rows that a tree is growing on: what is made of a piece and of questions, and can be made again.

    It stays behind when a piece is sent elsewhere.
    """

    def __init__(self) -> None:
        self._held: list[GrowingRows] = []

    def take(self) -> GrowingRows | None:
        """Return what was put here, which is then no longer here: two tasks never share it."""
        try:
            return self._held.pop()
        except IndexError:
            return None

    def put(self, growing: GrowingRows) -> None:
        """Put rows here."""
        self._held[:] = [growing]

    def __reduce__(self) -> tuple[type[Workplace], tuple[()]]:
        return Workplace, ()


@dataclass(frozen=True)
class BoostedRows:
    """The rows of a block: codes, labels, weights, what they are for, scores, and their gradients in the next round.

    `scores` and `scale` are the state of the loss; without a scale it is empty. `start` is the number of the first row.
    """

    codes: NDArray[Any]
    y: Rows
    weight: Floats
    rows: NDArray[np.uint32]
    watched: NDArray[np.uint32]
    start: int
    scores: Floats
    scale: Floats
    G: Floats
    h: Floats
    workplace: Workplace = field(default_factory=Workplace)
    columns: None = None

    def loss(self, loss: BoostedLoss, changes: bool = False) -> BoostedLoss:
        """Return the loss of these rows; one that `changes` gets arrays of its own."""
        own, state = loss.on(self.y, self.weight), (self.scores, self.scale)[: len(loss.state_names())]
        own.state = tuple(map(aligned_copy, state)) if changes else state
        return own

    def moved(self, loss: BoostedLoss, **changed: Any) -> BoostedRows:
        """Return the rows with the scores of their loss."""
        scores, scale = (*loss.state, self.scale)[:2]
        return replace(self, scores=scores, scale=scale, workplace=Workplace(), **changed)

    def growing(self, growth: BlockGrowth, partings: list[Question]) -> GrowingRows:
        """Return the rows in the order of leaves that were parted by these questions."""
        found = self.workplace.take()
        if found is not None and not found.serve(growth, partings):
            found = None  # its memory is free before the next one takes as much
        if found is None:
            found = GrowingRows(growth, self.codes, self.rows, self.G, self.h)
        found.part(partings)
        return found


class RoundsOnBlocks(Rounds):
    """Rounds on blocks of `BoostedRows`, of which `n_rows` are trained on and `n_watched` are watched."""

    grower: BlockGrower

    def __init__(self, work: Work, blocks: Blocks, n_rows: int, n_watched: int, before: int) -> None:
        super().__init__(work, before)
        self.n_rows, self.n_watched, code = n_rows, n_watched, self._code(before)
        self.blocks, (self.sizes,) = blocks.step(_begun, work.loss, code, not n_watched, blocks.may_change)
        m, bins, settings = len(code), work.data.without_rows(), self.settings
        how = {"share": work.share, "occupied": work.occupied}
        self.grower = BlockGrower(bins, n_rows, blocks.ahead, m, n_words(m), settings.max_leaves, **how)
        self.watched = 0.0, 0.0

    def advance(self) -> bool:
        """Grow a tree and take its steps; return False if no question gains anything."""
        settings, t, grower = self.settings, self.number, self.grower
        units = units_of(self.sizes, self.work.data.coded.shape[0])
        grower.ask_about((self.work.seed, t, ASKED))
        growth, rules = grower.growth(*units), SplitRules(settings.l2 / units[1], settings.min_rows)

        def histograms_of(partings: list[Question], questions: list[Question]) -> NDArray[np.int64]:
            found: NDArray[np.int64] = self.blocks.total(_histograms, growth, partings, questions)[0]
            return found

        while grower.grow_by(histograms_of, rules, settings.max_depth) == 1:
            if not grower.ask_about_others():
                return False
            growth = grower.growth(*units)
        values, code = self._leaf_values(growth), self._code(t + 1)
        tree = grower.tree.nodes[: grower.tree.heights[N_NODES]], grower.subsets
        how = self.loss, growth, grower.partings, grower.features, tree, values, code, self.blocks.may_change
        self.blocks, (self.sizes, losses) = self.blocks.step(_advanced, *how)
        if self.n_watched:
            self.watched = losses[0] / losses[2], losses[1] / losses[2]
        self._keep_tree(self.grower.questions(), values.steps, len(code), *units)
        return True

    def watched_loss(self) -> tuple[float, float]:
        """Return the mean loss and the share of errors of the watched rows after the last tree."""
        return self.watched

    def joined(self) -> Self:
        """Return rounds that follow these, on all rows, those that were watched included."""
        return type(self)(self.work, self.blocks, self.n_rows + self.n_watched, 0, self.number)

    def _leaf_values(self, growth: BlockGrowth) -> LeafValues:
        """Return the Newton steps of all leaves."""
        partings, settings = self.grower.partings, self.settings
        steps, curvature, *factors = self.blocks.total(_slopes, self.loss, growth, partings)
        values = LeafValues(steps, factors[0] if factors else np.ones_like(steps), curvature)
        # `find` looks for the classes in each leaf, in the order of the rows: there is one row for each of them.
        first = np.zeros((len(steps), 0), np.int64)
        if self.loss.asks_for_classes:
            (first,) = self.blocks.total(
                _first_rows, growth, partings, self.loss.width, combine=Combination(np.minimum)
            )
        present = [np.argsort(own, kind="stable")[: np.count_nonzero(own < NOWHERE)] for own in first]
        ends = np.cumsum([len(own) for own in present])
        order, segments = np.concatenate(present).astype(np.uint32), np.column_stack([np.append(0, ends[:-1]), ends])
        every = self.loss.on(np.arange(self.loss.width), np.ones(0, np.float32))
        every.state = self.loss.state
        how = settings.learning_rate, settings.l2, values, _sketch(0, self._code(self.number))
        every.find(order, segments, *how)
        return values


# The first row of a class that a leaf does not have.
NOWHERE = np.iinfo(np.int64).max


def rounds_on_blocks(work: Work, rows: Rows, watched: Rows, earlier: BoostedForest | None) -> RoundsOnBlocks:
    """Return rounds on some rows of binned blocks, while others are watched, that continue those of a forest."""
    loss, data = work.loss, work.data
    role = np.zeros(len(loss.y), np.int8)
    role[rows], role[watched] = TRAINED, WATCHED
    weight = None if (loss.weight == 1).all() else loss.weight
    slices = data.coded.slices()
    given = [(loss.y[own], None if weight is None else weight[own], role[own], own.start) for own in slices]
    loss = loss.on(loss.y[:0], loss.weight[:0])
    if earlier is not None:
        loss.base = earlier.base
    pieces = data.coded.blocks.by(work.run).recut(_boosted_rows, given, loss)
    if earlier is not None:
        pieces = pieces.beside(data.stored.blocks, _continued, loss, earlier)
    (occupied,) = pieces.total(_occupied, data.offsets, combine=Combination(np.logical_or))
    work = replace(work, loss=loss).on_rows(occupied)
    return RoundsOnBlocks(work, pieces, len(rows), len(watched), 0 if earlier is None else len(earlier.roots))


def _occupied(piece: BoostedRows, offsets: NDArray[np.int64]) -> Sums:
    return (occupied_bins(piece.codes, np.concatenate([piece.rows, piece.watched]), offsets),)


def _boosted_rows(
    parts: list[Codes], y: Rows, weight: Floats | None, role: NDArray[np.int8], start: int, loss: BoostedLoss
) -> list[BoostedRows]:
    (part,), n = parts, len(y)
    weight = np.ones(n, np.float32) if weight is None else weight
    rows, watched = (np.flatnonzero(role == one).astype(np.uint32) for one in (TRAINED, WATCHED))
    y = y.astype(np.intp, copy=False)
    scores, scale = (*loss.on(y, weight).state, np.empty(0, np.float32))[:2]
    gradients = np.empty((n, 0), np.float32), np.empty(0, np.float32)
    return [BoostedRows(part.X, y, weight, rows, watched, start, scores, scale, *gradients)]


def _continued(piece: BoostedRows, part: Part, loss: BoostedLoss, forest: BoostedForest) -> BoostedRows:
    own = piece.loss(loss, changes=True)
    own.continue_from(forest.base, forest.scores(np.require(part.X, requirements=["C", "W"])))
    return piece.moved(own)


def _sketch(n: int, code: Floats) -> Sketch:
    return Sketch(code, np.zeros((n, len(code)), np.float32), np.zeros(n, np.float32))


def _begun(
    piece: BoostedRows, loss: BoostedLoss, code: Floats, all_rows: bool, in_place: bool
) -> tuple[BoostedRows, Sums]:
    """The piece with the gradients of its rows, which the watched ones join if all rows are trained on."""
    if all_rows:
        every = np.sort(np.concatenate([piece.rows, piece.watched]))
        piece = replace(piece, rows=every, watched=piece.watched[:0])
    own, sketch, size = piece.loss(loss, not in_place), _sketch(len(piece.y), code), (1, loss.lanes)
    still = LeafValues(np.zeros(size, np.float32), np.ones(size, np.float32), np.empty(size, np.float32))
    own.advance(piece.rows, np.array([[0, len(piece.rows)]]), still, sketch)
    return piece.moved(own, G=sketch.G, h=sketch.h), (sizes_of(sketch.G, sketch.h),)


def _histograms(piece: BoostedRows, growth: BlockGrowth, partings: list[Question], questions: list[Question]) -> Sums:
    """(questions, words): the histograms of the smaller sides of some leaves."""
    growing = piece.growing(growth, partings)
    found = aligned_zeros(len(questions), int(growth.offsets[-1]) * growing.words.shape[1], dtype=np.int64)
    for question, histogram in zip(questions, found, strict=True):
        growing.histogram(question, histogram)
    piece.workplace.put(growing)
    return (found,)


def _slopes(piece: BoostedRows, loss: BoostedLoss, growth: BlockGrowth, partings: list[Question]) -> Sums:
    """(leaves, lanes) twice or thrice: the sums of slopes in all leaves."""
    growing = piece.growing(growth, partings)
    values = LeafValues(*np.zeros((3, len(growing.segments), loss.lanes), np.float32))
    segments, nothing = np.array(growing.segments), _sketch(0, np.zeros((piece.G.shape[1], loss.lanes), np.float32))
    piece.loss(loss).add_slopes(growing.order, segments, values, nothing)
    piece.workplace.put(growing)
    sums = values.steps, values.curvature
    return (*sums, values.factors) if loss.asks_for_classes else sums


def _first_rows(piece: BoostedRows, growth: BlockGrowth, partings: list[Question], k: int) -> Sums:
    """(leaves, k): the first row of each class in each leaf."""
    growing = piece.growing(growth, partings)
    found = np.full((len(growing.segments), k), NOWHERE)
    find_first_rows(piece.y, growing.order, np.array(growing.segments), piece.start, found)
    piece.workplace.put(growing)
    return (found,)


def _advanced(
    piece: BoostedRows,
    loss: BoostedLoss,
    growth: BlockGrowth,
    partings: list[Question],
    features: BinnedFeatures,
    tree: tuple[NDArray[np.int64], NDArray[np.bool_] | None],
    values: LeafValues,
    code: Floats,
    in_place: bool,
) -> tuple[BoostedRows, Sums]:
    """The piece after the steps of its leaves, its new gradients, and the loss of its watched rows."""
    growing = piece.growing(growth, partings)
    own, sketch = piece.loss(loss, not in_place), _sketch(len(piece.y), code)
    own.advance(growing.order, np.array(growing.segments), values, sketch)
    losses = np.zeros(3)
    if len(piece.watched):
        here = features._replace(codes=growing.codes)
        order, segments = leaves_of_rows(here, piece.watched, tree[1], tree[0], len(values.steps))
        own.advance(order, segments, values, _sketch(len(piece.y), code))
        losses[:] = own.loss_sums(piece.watched.astype(np.intp))
    return piece.moved(own, G=sketch.G, h=sketch.h), (sizes_of(sketch.G, sketch.h), losses)


@njit(**ENTRY)
def find_first_rows(y, order, segments, start, found):  # type: ignore[no-untyped-def]
    """Set found[leaf, c] to the first row of class c in a leaf, counted from `start`."""
    for leaf in range(len(segments)):
        for i in order[segments[leaf, 0] : segments[leaf, 1]]:
            found[leaf, y[i]] = min(found[leaf, y[i]], start + i)
