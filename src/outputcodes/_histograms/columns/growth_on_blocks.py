"""The growth of a tree for one column, where the rows are in blocks: one place has the histograms, and asks questions.

The histogram of a region is asked for, or is what the sibling leaves of that of the parent. In one pass, all regions
are parted whose histograms are known, as far as memory allows. A region whose rows are few comes here, and is grown as
in memory. Sums of whole numbers are exact, and nodes are put in the order of growth in memory: the tree is that of all
rows in memory.

A draw of features depends on the number of its node, which depends on all nodes before it. A tree with draws therefore
splits one region at a time.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from outputcodes._ground.compiling import ENTRY
from outputcodes._histograms.binning import Binned
from outputcodes._histograms.columns.growth import VALUES_PER_CALL, ColumnGrowth, grow_column, n_kept, split_column
from outputcodes._histograms.columns.rows import Asked, Parting, Reply
from outputcodes._histograms.columns.splits import Features, make_room
from outputcodes._histograms.growth import Rules, is_final
from outputcodes._histograms.questions import LEAF, Nodes, empty_nodes, trimmed
from outputcodes._histograms.splits import FoundSplit

# What a column asks of a pass: so many bytes of histograms, and of rows; and those of a region whose rows are fetched.
PASS_BYTES, REGION_BYTES = 1 << 22, 1 << 20
# Open regions keep their histograms up to so many bytes.
KEPT_BYTES = 1 << 24


@dataclass
class Region:
    """A leaf that may be split: its node, number of rows, depth and, if it is known, histogram."""

    node: int
    n_rows: int
    depth: int
    histogram: NDArray[np.int64] | None = None


class ColumnOnBlocks:
    """The tree of one column, growing or finished, on rows that are elsewhere.

    Parameters
    ----------
    data : Binned
        Without rows.
    n_rows : int
    unit : float
        How much one unit of the whole weights is.
    rules : Rules
        With `least_gain` as a share of all weight.
    n_asked, seed :
        As for `ColumnGrowth`.
    """

    def __init__(self, data: Binned, n_rows: int, unit: float, rules: Rules, n_asked: int, seed: np.uint64) -> None:
        codes = np.empty((0, len(data.n_bins)), np.min_scalar_type(int(data.n_bins.max())))
        self.features = Features(codes, data.n_bins, data.offsets, data.low, data.high, data.categorical)
        self.unit, self.rules, d = unit, rules, len(data.n_bins)
        self.nodes, self.room = empty_nodes(1, 0), make_room(data.n_bins)
        self.choice = FoundSplit(np.empty(3), np.empty(4, np.int64), np.empty(int(data.n_bins.max()) + 1))
        self.size = 2 * int(data.offsets[-1])
        self.growth = ColumnGrowth(
            np.zeros((1, 2), np.int64),
            np.empty(0, np.uint32),
            np.empty(0, np.uint32),
            np.zeros((1, 5), np.int64),
            np.array([0, 1, 0, 0]),
            np.empty(d),
            np.empty((1, 0), np.int64),
            np.empty(0, np.int64),
            np.arange(d),
            n_asked,
            seed,
        )
        self.draws = n_asked < d
        # The subset of a categorical feature is in the pool of numbers.
        self.subset = int(data.n_bins[data.categorical].max(initial=0))
        self.row_bytes = d * codes.itemsize + 8
        # The last one is split first. The root shows its histogram, by which the ranges of the features are known.
        self.open = [Region(0, n_rows, 0)]
        self.parted: list[Region] = []
        self.summed: list[Region] = []
        self.fetched: list[Region] = []

    @property
    def finished(self) -> bool:
        """Whether no region is to be split."""
        return not self.open and not self.parted and not self.summed and not self.fetched

    def ask(self) -> Asked:
        """Split regions whose histograms are known; return what is asked of the rows next."""
        partings: list[Parting] = []
        sides: list[int] = []
        n_bytes = [0, 0]
        self.parted, self.summed, self.fetched = [], [], []
        while self.open and max(n_bytes) < PASS_BYTES and not (self.draws and any(n_bytes)):
            region = self.open.pop()
            if region.node and self._is_few(region):
                self.fetched.append(region)
                n_bytes[1] += region.n_rows * self.row_bytes
                continue
            if region.histogram is None:
                self.summed.append(region)
            elif (parting := self._split(region)) is None:
                continue
            else:
                self.parted.append(region)
                partings.append(parting)
                sides.append(self._lighter(parting.left))
            n_bytes[0] += 8 * self.size
        summed, fetched = [region.node for region in self.summed], [region.node for region in self.fetched]
        return Asked(partings, sides + summed, fetched)

    def take(self, reply: Reply) -> None:
        """Go on with what was asked for."""
        n_parted = len(self.parted)
        for region, histogram in zip(self.summed, reply.histograms[n_parted:], strict=True):
            # A copy that may be written to, which what was received may not.
            region.histogram = np.array(histogram)
            if region.node or self._begins(histogram, region.n_rows):
                self.open.append(region)
        for region, n_left, histogram in zip(self.parted, reply.n_left, reply.histograms[:n_parted], strict=True):
            self._open_sides(region, int(n_left), histogram)
        if self.fetched:
            self._grow_here(reply)
        self._let_go()
        self.parted, self.summed, self.fetched = [], [], []

    def result(self) -> tuple[Nodes, NDArray[np.float64]]:
        """Return the nodes of the finished tree, in the order of growth in memory, and their weights."""
        _, n_nodes, pool, _ = self.growth.heights
        nodes = trimmed(self.nodes, n_nodes, pool)
        order, ordered = np.zeros(n_nodes, np.int64), trimmed(nodes, n_nodes, pool)
        walk_down(nodes, order, np.empty(n_nodes, np.int64), ordered.left, ordered.at, ordered.pool)
        own: Any
        before: Any
        for own, before in zip(ordered[:4], nodes[:4], strict=True):
            own[:] = before[order]
        ordered.length[:] = nodes.length[order]
        return ordered, self.growth.counts[order].astype(np.float64) * self.unit

    def _begins(self, histogram: NDArray[np.int64], n_rows: int) -> bool:
        """Return whether the root is to be split; its weights are those of any feature."""
        counts = self.growth.counts
        counts[0] = histogram[: 2 * self.features.offsets[1]].reshape(-1, 2).sum(axis=0)
        self.rules = self.rules._replace(least_gain=self.rules.least_gain * float(counts[0].sum()))
        return not is_final(counts[0], n_rows, 0, self.rules)

    def _is_few(self, region: Region) -> bool:
        """Return whether its rows take fewer bytes than the histograms that its tree may need."""
        histograms = 8 * self.size << min(self.rules.max_depth - region.depth - 1, 20)
        return region.n_rows * self.row_bytes <= min(REGION_BYTES, histograms)

    def _split(self, region: Region) -> Parting | None:
        """Ask the best question of a region; return how its rows are parted if a side may be split in turn."""
        assert region.histogram is not None
        self._reserve(2, self.subset)
        growth = self.growth._replace(histograms=region.histogram[None])
        nothing = np.empty(0, np.int64)
        how = self.features, nothing, self.rules, self.nodes, growth, region.node, self.room, self.choice
        if not split_column(*how):
            return None
        left, f = int(self.nodes.left[region.node]), int(self.nodes.feature[region.node])
        at_most, depth = region.n_rows - 1, region.depth + 1
        if all(is_final(growth.counts[side], at_most, depth, self.rules) for side in (left, left + 1)):
            return None
        return Parting(region.node, left, f, self.room.goes_left[: self.features.n_bins[f] + 1] > 0)

    def _lighter(self, left: int) -> int:
        """Return the one of two sides, `left` and the next node, with less weight; it mostly has fewer rows."""
        on_left, on_right = self.growth.counts[left : left + 2].sum(axis=1)
        return left + int(on_left > on_right)

    def _open_sides(self, region: Region, n_left: int, histogram: NDArray[np.int64]) -> None:
        """Open the sides of a region that may be split, given the histogram of the lighter one."""
        assert region.histogram is not None
        left, depth = int(self.nodes.left[region.node]), region.depth + 1
        both = [np.array(histogram), region.histogram - histogram]
        if self._lighter(left) > left:
            both.reverse()
        sides = Region(left, n_left, depth, both[0]), Region(left + 1, region.n_rows - n_left, depth, both[1])
        # The left side is on top, and is split first.
        for side in reversed(sides):
            if is_final(self.growth.counts[side.node], side.n_rows, depth, self.rules):
                continue
            if self._is_few(side):
                side.histogram = None
            self.open.append(side)

    def _let_go(self) -> None:
        """Let go of more histograms than memory is for; the regions that are split next keep theirs."""
        known = [region for region in self.open if region.histogram is not None]
        for region in known[: -max(1, KEPT_BYTES // (8 * self.size))]:
            region.histogram = None

    def _grow_here(self, reply: Reply) -> None:
        """Grow the regions whose rows were fetched, as in memory."""
        rows = np.argsort(reply.of_region, kind="stable").astype(np.uint32)
        ends = np.cumsum(np.bincount(reply.of_region, minlength=len(self.fetched)))
        self._reserve(2 * len(rows), len(rows) * self.subset)
        stack, kept = np.zeros((len(rows) + 1, 5), np.int64), n_kept(self.size)
        for place, (region, end) in enumerate(zip(self.fetched, ends.tolist(), strict=True)):
            stack[place] = region.node, end - region.n_rows, end, region.depth, -1
        growth = self.growth._replace(
            rows=rows,
            spare=np.empty_like(rows),
            stack=stack,
            histograms=np.empty((kept, self.size), np.int64),
            free=np.arange(1, kept),
        )
        growth.heights[0], growth.heights[3] = len(self.fetched), kept - 1
        codes, signed = (np.require(own, requirements=["C", "W"]) for own in (reply.codes, reply.signed))
        features = self.features._replace(codes=codes)
        how = self.rules, self.nodes, growth, self.room, self.choice
        while growth.heights[0]:
            grow_column(features, signed, *how, VALUES_PER_CALL)

    def _reserve(self, n_nodes: int, pool: int) -> None:
        """Make room for more nodes, and for more numbers in their pool."""
        used, numbers = int(self.growth.heights[1]), int(self.growth.heights[2])
        if used + n_nodes <= len(self.nodes.kind) and numbers + pool <= len(self.nodes.pool):
            return
        more = empty_nodes(2 * used + n_nodes, 2 * numbers + pool)
        counts = np.zeros((2 * used + n_nodes, 2), np.int64)
        own: Any
        for own, before in zip(more[:-1], trimmed(self.nodes, used, numbers)[:-1], strict=True):
            own[:used] = before
        more.pool[:numbers], counts[:used] = self.nodes.pool[:numbers], self.growth.counts[:used]
        self.nodes, self.growth = more, self.growth._replace(counts=counts)


@njit(**ENTRY)
def walk_down(nodes, order, stack, left, at, pool):  # type: ignore[no-untyped-def]
    """Number nodes in the order in which a tree grows whose left sides come first; order[new number] is the old one.

    `left`, `at` and `pool` are set to those of the nodes with new numbers.
    """
    top, n, used = 1, 1, 0
    order[0], stack[0] = 0, 0
    while top > 0:
        top -= 1
        new = stack[top]
        old = order[new]
        left[new], at[new] = 0, 0
        if nodes.kind[old] == LEAF:
            continue
        order[n], order[n + 1] = nodes.left[old], nodes.left[old] + 1
        stack[top], stack[top + 1] = n + 1, n
        left[new], at[new] = n, used
        for q in range(nodes.length[old]):
            pool[used + q] = nodes.pool[nodes.at[old] + q]
        used += nodes.length[old]
        n, top = n + 2, top + 2
