"""Folds: training and test rows, stratified by class, from a number, a splitter or given pairs."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold, check_cv

Rows = NDArray[np.intp]
Folds = list[tuple[Rows, Rows]]


def deck_of(y: NDArray[Any], rng: np.random.Generator) -> Rows:
    """Return the rows in the order of their classes, shuffled within each class.

    >>> deck_of(np.array([1, 0, 1, 0]), np.random.default_rng(0))
    array([1, 3, 2, 0])
    """
    shuffled = rng.permutation(len(y))
    return shuffled[np.argsort(y[shuffled], kind="stable")]


def fold_numbers(y: NDArray[Any], n_folds: int, rng: np.random.Generator) -> Rows:
    """Return the fold of each row: one deck, sorted by class, is dealt to the folds in turn.

    Unlike StratifiedKFold, it also handles classes with fewer rows than folds.

    >>> fold_numbers(np.array([0, 0, 0, 0, 1]), 2, np.random.default_rng((0, 5)))
    array([0, 0, 1, 1, 0])
    """
    fold = np.empty(len(y), dtype=np.intp)
    fold[deck_of(y, rng)] = np.arange(len(y)) % n_folds
    return fold


def held_out_share(y: Rows, share: float, seed: int) -> tuple[Rows, Rows]:
    """Return training and test rows: about a share of the rows is held out, and every class keeps a training row.

    >>> train, test = held_out_share(np.array([0, 0, 0, 1, 2, 2]), 0.4, seed=0)
    >>> len(test), 3 in train
    (2, True)
    """
    rng = np.random.default_rng((seed, len(y)))
    deck = deck_of(y, rng)
    # The first row of each class stays.
    free = np.sort(deck[np.append(False, y[deck][1:] == y[deck][:-1])])
    if not free.size:
        raise ValueError("No row can be held out: every class has one row only; give some classes a second row.")
    chosen = rng.choice(len(free), max(1, min(len(free), int(share * len(y)))), replace=False)
    test = np.sort(free[chosen])
    return np.setdiff1d(np.arange(len(y)), test), test


def check_number_of_folds(cv: Any, n: int) -> None:
    """Raise ValueError unless n rows can be divided into `cv` folds."""
    if cv < 2:
        raise ValueError(f"cv={cv} must be at least 2: margins are held out in folds.")
    if cv > n:
        raise ValueError(
            f"Held-out margins are computed in {cv} folds, but there are only {n} rows; give at least {cv} rows, or "
            "use a decoder and a probability that need no held-out margins."
        )


def folds(y: NDArray[Any], cv: int, seed: int) -> Folds:
    """Return `cv` folds stratified by class, for margins that are held out during training.

    >>> [test.tolist() for _, test in folds(np.array([0, 0, 0, 0, 1]), 2, seed=0)]
    [[0, 1, 4], [2, 3]]
    """
    check_number_of_folds(cv, len(y))
    fold = fold_numbers(y, cv, np.random.default_rng((seed, len(y))))
    return [(np.flatnonzero(fold != f), np.flatnonzero(fold == f)) for f in range(cv)]


def folds_of(splitter: Any, y: NDArray[Any], kept: Rows) -> Folds:
    """Return the folds of a splitter, or given pairs (train, test), as positions among the `kept` rows.

    >>> [(train.tolist(), test.tolist()) for train, test in folds_of([([0, 1], [2, 3])], np.zeros(4), np.array([1, 3]))]
    [([0], [1])]
    """
    place = np.full(len(y), -1)
    place[kept] = np.arange(len(kept))
    pairs = check_cv(splitter, y, classifier=True).split(np.zeros(len(y)), y)
    placed = [(place[train], place[test]) for train, test in pairs]
    return [(train[train >= 0], test[test >= 0]) for train, test in placed]


def stratified_folds(y: ArrayLike, cv: int, seed: int = 0) -> Folds:
    """Return scikit-learn's shuffled stratified folds, for comparisons; rare classes are spread as far as they go.

    >>> [len(test) for _, test in stratified_folds(["a"] * 6 + ["b"] * 6 + ["c"], 3)]
    [5, 4, 4]
    """
    labels = np.asarray(y)
    with warnings.catch_warnings():
        # The caller knows the counts and decides what to report.
        warnings.filterwarnings("ignore", "The least populated class", UserWarning)
        return list(StratifiedKFold(cv, shuffle=True, random_state=seed).split(np.zeros(len(labels)), labels))


def grouped_folds(y: ArrayLike, groups: ArrayLike, cv: int, seed: int = 0) -> Folds:
    """Return scikit-learn's stratified folds that keep the rows of a group together; a fold without rows is left out.

    >>> sorted(test.tolist() for _, test in grouped_folds([0, 1, 0, 1], ["a", "a", "b", "b"], 2))
    [[0, 1], [2, 3]]
    """
    labels, names = np.asarray(y), np.asarray(groups)
    if (count := len(np.unique(names))) < cv:
        raise ValueError(f"groups has {count} different values, and {cv} folds need {cv} or more: use fewer folds.")
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The least populated class", UserWarning)
        found = list(StratifiedGroupKFold(cv, shuffle=True, random_state=seed).split(labels, labels, names))
    return [(train, test) for train, test in found if len(train) and len(test)]
