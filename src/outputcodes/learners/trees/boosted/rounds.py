"""Rounds of gradient boosting: sketch the gradients, grow one tree, give its leaves a value for every column."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray

from outputcodes._ground.blocks import threads
from outputcodes._ground.choosing import clearly_less
from outputcodes._ground.folds import deck_of
from outputcodes._histograms.binned_blocks import BinnedBlocks
from outputcodes._histograms.binning import Binned
from outputcodes.learners.trees.boosted.forest import BoostedForest, TreeOfRound
from outputcodes.learners.trees.boosted.in_memory import rounds_in_memory
from outputcodes.learners.trees.boosted.loss import BoostedLoss
from outputcodes.learners.trees.boosted.on_blocks import rounds_on_blocks
from outputcodes.learners.trees.boosted.settings import Settings
from outputcodes.learners.trees.boosted.work import Rounds, Work

Rows = NDArray[np.intp]
Floats = NDArray[np.float32]
# Rounds on all rows after those that held some out, as a share of these.
FINISH = 0.2
# No leaf moves with the largest penalty, and its square is a number of single precision; so is half of the smallest.
LEAST_L2, LARGEST_L2 = 1e-37, 1e18


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
    data: Binned | BinnedBlocks,
    rows: Rows,
    watched: Rows,
    sketch: Callable[[int], Floats],
    settings: Settings,
    seed: int,
    n_jobs: int | None,
    earlier: BoostedForest | None = None,
) -> Boosted:
    """Boost on some rows until the loss (or error) of the watched rows no longer falls; then they join for a while.

    `sketch(t)` returns the code (m, width) that the tree of round t sees; the rounds of an `earlier` forest are over.
    Watched rows are too good to be only watched: a share `FINISH` of the rounds is added on all rows. Without watched
    rows all rounds are run.
    """
    # rate · g / (bound · h + l2), where the rounds compute rate · g / (h + l2).
    l2 = min(max(settings.l2 * loss.weight_unit, LEAST_L2), LARGEST_L2)
    settings = replace(settings, l2=l2 / loss.bound, learning_rate=settings.learning_rate / loss.bound)
    with threads(n_jobs) as run:
        work = Work(loss, data, sketch, settings, seed, run, effective_n_jobs(n_jobs))
        if isinstance(data, BinnedBlocks):
            return _boost(rounds_on_blocks(work, rows, watched, earlier), bool(len(watched)))
        return _boost(rounds_in_memory(work, rows, watched, earlier), bool(len(watched)))


def _boost(first: Rounds, watching: bool) -> Boosted:
    settings, losses, errors = first.settings, [], []
    best, best_at = np.inf, 0
    most = math.ceil(settings.n_rounds / (1 + FINISH)) if watching else settings.n_rounds - first.before
    while len(first.trees) < most and first.advance():
        if not watching:
            continue
        lost, wrong = first.watched_loss()
        losses.append(lost)
        errors.append(wrong)
        watch = wrong if settings.watch_error else lost
        if clearly_less(watch, best, watch):
            best, best_at = watch, len(first.trees)
        elif len(first.trees) - best_at >= settings.patience:
            break
    trees = first.trees
    if watching:
        last = first.joined()
        most = min(math.ceil(FINISH * len(trees)), settings.n_rounds - len(trees))
        while len(last.trees) < most and last.advance():
            pass
        trees = trees + last.trees
    return Boosted(trees, np.array(losses), np.array(errors))
