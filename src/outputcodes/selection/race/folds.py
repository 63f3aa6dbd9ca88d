"""The folds of a race: stratified, of few enough held-out rows, and with groups kept together."""

from __future__ import annotations

from numbers import Integral

import numpy as np
from numpy.typing import ArrayLike

from outputcodes._ground.folds import Folds, Rows, deck_of, grouped_folds, stratified_folds

# Folds by the number of rows, and held-out rows of a fold that are enough: rows, rows of text, numbers in all.
FOLDS, FEW_FOLDS, MANY_ROWS = 5, 3, 20_000
MOST_HELD_OUT, MOST_TEXTS, MOST_SCORES = 10_000, 2_000, 20_000_000


def check_groups(groups: ArrayLike | None, n: int) -> Rows | None:
    """Return the number of the group of each row."""
    if groups is None:
        return None
    given = np.asarray(groups)
    if given.shape != (n,):
        raise ValueError(f"groups has the shape {given.shape}; it must have one value for each of the {n} rows of X.")
    return np.unique(given, return_inverse=True)[1]


def race_folds(
    y: Rows, seed: int, most: int = MOST_HELD_OUT, cv: int | None = None, groups: Rows | None = None
) -> Folds:
    """Stratified folds, whose training rows are in an order of which every beginning is stratified."""
    k, count = int(y.max()) + 1, FEW_FOLDS if len(y) > MANY_ROWS else FOLDS
    if cv is not None and not (isinstance(cv, Integral) and cv >= 2):
        raise ValueError(f"cv={cv!r} must be a number of folds, 2 or more.")
    count = max(2, min(count if cv is None else int(cv), int(np.bincount(y).max())))
    most = min(most, max(1000, MOST_SCORES // (k * count)))
    rng = np.random.default_rng(seed)
    if groups is not None:
        pairs = grouped_folds(y, groups, max(2, min(count, int(groups.max()) + 1)), seed)
    else:
        # A class with one row is always trained, and never tested.
        alone = np.flatnonzero(np.bincount(y)[y] == 1)
        found = stratified_folds(y, count, seed)
        pairs = [(np.union1d(train, alone), np.setdiff1d(test, alone)) for train, test in found]
    return [(_stratified(train, y, rng), np.sort(_stratified(test, y, rng)[:most])) for train, test in pairs]


def _stratified(rows: Rows, y: Rows, rng: np.random.Generator) -> Rows:
    """The rows in a random order in which the classes take turns, as often as their shares say."""
    deck = rows[deck_of(y[rows], rng)]
    sizes = np.bincount(y[deck])
    place = np.arange(len(deck)) - (np.cumsum(sizes) - sizes)[y[deck]]
    return deck[np.argsort((place + 0.5) / sizes[y[deck]], kind="stable")]
