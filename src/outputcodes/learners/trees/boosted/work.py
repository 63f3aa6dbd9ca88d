"""What all rounds of one model share, and what rounds are, wherever their rows are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from outputcodes._ground import progress
from outputcodes._ground.blocks import Run
from outputcodes._histograms.occupied import varied_features
from outputcodes._histograms.vectors.growth import FIRST, LAST, Grower, Questions
from outputcodes.learners.trees.boosted.forest import TreeOfRound, sparse_leaves
from outputcodes.learners.trees.boosted.loss import BoostedLoss
from outputcodes.learners.trees.boosted.settings import Settings, usual_share

Floats = NDArray[np.float32]
# Seeds the choice of features apart from that of sketches.
ASKED = 1


@dataclass(frozen=True)
class Work:
    """What all rounds of one model share; `data` are binned features in memory or in blocks."""

    loss: BoostedLoss
    data: Any
    sketch: Callable[[int], Floats]
    settings: Settings
    seed: int
    run: Run
    n_threads: int
    occupied: NDArray[np.bool_] = field(default_factory=lambda: np.zeros(0, bool))
    share: float = 1.0

    def on_rows(self, occupied: NDArray[np.bool_]) -> Work:
        """Return the same for rows that occupy these bins, with the share of the features that a tree asks about."""
        share = self.settings.max_features
        if share is None:
            share = usual_share(len(varied_features(self.data.offsets, occupied)))
        return replace(self, occupied=occupied, share=share)


class Rounds:
    """Rounds on the same rows; those `before` them are counted."""

    grower: Grower

    def __init__(self, work: Work, before: int) -> None:
        self.work, self.settings, self.loss, self.before = work, work.settings, work.loss, before
        self.trees: list[TreeOfRound] = []

    def advance(self) -> bool:
        """Grow a tree and take its steps; return False if no question gains anything."""
        raise NotImplementedError

    def watched_loss(self) -> tuple[float, float]:
        """Return the mean loss and the share of errors of the watched rows after the last tree."""
        raise NotImplementedError

    def joined(self) -> Self:
        """Return rounds that follow these, on all rows, those that were watched included."""
        raise NotImplementedError

    @property
    def number(self) -> int:
        """The number of the next round."""
        return self.before + len(self.trees)

    def _code(self, t: int) -> Floats:
        """Return the code that the tree of round t sees, (m, lanes)."""
        code = np.ascontiguousarray(self.work.sketch(t))
        if self.loss.lanes == self.loss.width:
            return code
        padded = np.zeros((len(code), self.loss.lanes), np.float32)
        padded[:, : self.loss.width] = code
        return padded

    def _keep_tree(
        self, questions: Questions, steps: Floats, m: int, gradient_unit: float, curvature_unit: float
    ) -> None:
        """Keep what was grown, with the steps of its leaves."""
        t, n_leaves, (nodes, leaf, gain) = self.number, len(steps), questions
        unit = gradient_unit**2 / curvature_unit / m
        rows = np.diff(self.grower.tree.leaves[:n_leaves, FIRST : LAST + 1], axis=1).ravel()
        leaves = sparse_leaves(steps[:, : self.loss.width])
        self.trees.append(TreeOfRound(nodes, leaf, leaves, gain * unit, rows))
        progress.reached(t + 1, self.settings.n_rounds, "rounds")
