"""The rows that models are trained and tested on: folds, the split that a table has, or a second table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from outputcodes._ground.folds import Folds, grouped_folds, stratified_folds
from outputcodes._ground.words import listed, shorten
from outputcodes.app.tables import TableError

TRAINING = ("train", "training", "learn", "0", "false")


@dataclass(frozen=True, eq=False)
class Splits:
    """Pairs of training and test rows, what to call them, and sentences on what is unusual."""

    pairs: Folds
    title: str
    notes: tuple[str, ...] = ()

    @property
    def test_to_train(self) -> float:
        """n_test/n_train, on average."""
        return float(np.mean([len(test) / len(train) for train, test in self.pairs]))


def cross_validation(y: ArrayLike, cv: int, seed: int = 0, groups: ArrayLike | None = None) -> Splits:
    """Return stratified folds; classes with fewer rows than folds are spread as far as they go, and named.

    Rows of the same group are never both trained and tested on.

    >>> splits = cross_validation(["a"] * 6 + ["b"] * 6 + ["c"], 3)
    >>> len(splits.pairs), splits.notes
    (3, ('Fewer rows than the 3 folds: c (1). Some folds do not test these classes, or train without them.',))
    """
    classes, counts = np.unique(y, return_counts=True)
    if cv > counts.max():
        if counts.max() == 1:
            raise ValueError(
                "Every class has one row, so that none could be trained and tested on other rows: add rows, or name "
                "another column as --target."
            )
        raise ValueError(
            f"cv={cv} is more than the {counts.max()} rows of the largest class; use --cv {counts.max()} or less."
        )
    rare = [f"{shorten(c)} ({m})" for c, m in zip(classes, counts, strict=True) if m < cv]
    note = "Fewer rows than the {} folds: {}. Some folds do not test these classes, or train without them."
    notes = (note.format(cv, listed(rare)),) if rare else ()
    if groups is not None:
        return Splits(grouped_folds(y, groups, cv, seed), f"{cv}-fold cross-validation by groups", notes)
    return Splits(stratified_folds(y, cv, seed), f"{cv}-fold cross-validation", notes)


def official(parts: Any, name: str = "split") -> Splits:
    """Return the split of a column: rows of "train" (or "training", "learn", 0, false) and all others.

    >>> splits = official(["train", "test", "train"])
    >>> splits.title, [(train.tolist(), test.tolist()) for train, test in splits.pairs]
    ('2 rows for training, 1 for the test', [([0, 2], [1])])
    """
    training = np.isin(np.char.lower(np.asarray(parts, dtype=str)), TRAINING)
    if training.all() or not training.any():
        raise TableError(
            f"The column {name!r} splits nothing: it needs rows named {' or '.join(TRAINING)}, and others to test on."
        )
    pair = np.flatnonzero(training), np.flatnonzero(~training)
    return Splits([pair], f"{len(pair[0])} rows for training, {len(pair[1])} for the test")
