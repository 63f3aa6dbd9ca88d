"""The learner of a booster: it trains all columns of a code together, or grows a code, round by round."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from outputcodes._ground import progress
from outputcodes._ground.blocks import threads
from outputcodes._ground.choosing import clearly_less, first_largest, without_noise
from outputcodes._ground.drawn_code import AnyCode
from outputcodes._ground.row_sequence import RowBlocks
from outputcodes._ground.stored_rows import StoredRows
from outputcodes._ground.validation import take_rows
from outputcodes._histograms.binned_blocks import BinnedBlocks, bin_blocks
from outputcodes._histograms.binning import Binned, bin_features, categorical_mask
from outputcodes.boosting.weak import ConstantRounds, KeptRounds, Round, columns_of, stored
from outputcodes.learners import Learner

Rows = NDArray[np.intp]
Array = NDArray[np.float64]
Code = NDArray[np.int8]


@dataclass(frozen=True)
class Sample:
    """The training rows, all of positive weight.

    Attributes
    ----------
    X : ndarray of shape (n, d), or any input that the user's estimator accepts
    y : ndarray of shape (n,)
        Class numbers, 0..k-1.
    weight : ndarray of shape (n,)
    binned : Binned, BinnedBlocks or None
        The binned features for the built-in stumps. Every bin contains at least one row.
    code : ndarray of shape (k, L) or None
        The columns to train; None if they grow.
    """

    X: Any
    y: Rows
    weight: Array
    binned: Binned | BinnedBlocks | None
    code: Code | None = None


class RoundByRound(Learner):
    """A booster as a learner, without column weights.

    Parameters
    ----------
    booster : Booster
    watched : ndarray
        Rows that no round is trained on: the rounds up to the smallest loss on them are kept. If empty, all are.
    multilabel : bool
        Whether the rows of the code are label sets.
    """

    joint = True

    def __init__(self, booster: Any, watched: Rows, multilabel: bool) -> None:
        self.booster = booster
        self.watched = watched
        self.multilabel = multilabel
        self.loss = booster.margin_loss
        # A label that no row has, or every row, is ranked against the others.
        self.trains_one_sided = booster.takes_label_sets

    @property
    def takes_blocks(self) -> bool:  # type: ignore[override]
        """Whether the booster trains on blocks of rows: with stumps."""
        return self.booster.estimator is None

    def prepare(self, X: Any, like: Any = None) -> Any:
        """Return X, blocks as they are kept: bins are those of the training rows."""
        return StoredRows.of(X, _itself) if isinstance(X, RowBlocks) else X

    def fit_columns(
        self,
        data: Any,
        y: Rows,
        M: AnyCode,
        weight: Array | None = None,
        column_weight: Array | None = None,
        *,
        rows: Rows | None = None,
        init: Any = None,
        n_jobs: int | None = None,
        seed: int = 0,
    ) -> KeptRounds:
        """Boost all columns of M together."""
        if self.booster.grows:
            raise NotImplementedError(f"{type(self.booster).__name__} grows its own columns and can't train others.")
        return self._boosted(data, y, np.asarray(M), weight, rows, n_jobs, seed)[1]

    def grow_columns(
        self, data: Any, y: Rows, weight: Array | None, rows: Rows, n_jobs: int | None, seed: int
    ) -> tuple[Code, KeptRounds]:
        """Boost with a new column in each round."""
        return self._boosted(data, y, None, weight, rows, n_jobs, seed)

    def _boosted(
        self, X: Any, y: Rows, M: Code | None, weight: Array | None, rows: Rows | None, n_jobs: int | None, seed: int
    ) -> tuple[Code, KeptRounds]:
        booster = self.booster
        whole = X, y, np.ones(len(y)) if weight is None else weight
        X, y, weight = (taken_rows(part, rows) for part in whole)
        binned: Binned | BinnedBlocks | None = None
        if booster.estimator is None:
            binned = binned_rows(X, booster.bins, categorical_mask(booster.categorical_features, X.shape[1]))
        sample = Sample(X, y, weight, binned, M)
        with threads(n_jobs) as run:
            # A growing code is watched by its class scores.
            scored = np.eye(y.max() + 1, dtype=np.int8) if M is None else M
            rounds = booster._boost(sample, run, np.random.default_rng(seed))
            kept = self._kept(rounds, scored, *(rows_in_memory(part, self.watched) for part in whole))
        if not kept:
            return self._without_rounds(M, sample)
        history = {"coefficient": np.array([one.coefficient for one in kept])}
        history |= {name: np.array([one.record[name] for one in kept]) for name in booster.records}
        categorical = np.zeros(0, dtype=bool) if binned is None else binned.categorical
        return columns_of(kept) if M is None else M, stored(kept, categorical, history)

    def _kept(self, rounds: Iterator[Round | None], M: Code, X: Any, y: Rows, weight: Array) -> list[Round]:
        """Return at most `n_rounds` rounds; with watched rows X, the rounds up to the smallest loss on X."""
        kept: list[Round] = []
        F = np.zeros((len(y), M.shape[1]))
        best, best_at, done, total = np.inf, 0, 0, self.booster.n_rounds
        for done, one in zip(range(1, total + 1), rounds, strict=False):
            progress.reached(done, total, "rounds")
            if one is None:
                continue
            kept.append(one)
            if not len(y):
                continue
            step = one.answers(X)
            F += step if one.column is None else np.outer(step, one.column)
            loss = self.booster._loss(F, M, y, weight)
            if clearly_less(loss, best, loss):
                best, best_at = loss, len(kept)
            elif len(kept) - best_at >= self.booster.n_iter_no_change:
                break
        # It may have stopped early.
        progress.reached(done, done, "rounds")
        return kept[:best_at] if len(y) else kept

    def _without_rounds(self, M: Code | None, sample: Sample) -> tuple[Code, KeptRounds]:
        """Return columns that predict the most frequent class; for label sets, the labels of most rows."""
        frequent = int(first_largest(np.bincount(sample.y, sample.weight), sample.weight.sum()))
        if M is None:
            M = np.where(np.arange(sample.y.max() + 1) == frequent, 1, -1).astype(np.int8)[:, None]
        votes = np.sign(without_noise(sample.weight @ M[sample.y], sample.weight.sum()))
        margins = votes if self.multilabel else M[frequent].astype(np.float64)
        empty = {name: np.zeros(0) for name in ("coefficient", *self.booster.records)}
        return M, ConstantRounds(margins, empty)


def _itself(block: Any) -> Any:
    return block


def binned_rows(X: Any, bins: int | str, categorical: NDArray[np.bool_]) -> Binned | BinnedBlocks:
    """Return the bins of rows in memory or in blocks."""
    if isinstance(X, StoredRows):
        return bin_blocks(X, X, bins, categorical)
    return bin_features(X, bins, categorical)


def taken_rows(part: Any, rows: Rows | None) -> Any:
    """Return some rows; blocks of all of them as they are."""
    if not isinstance(part, StoredRows):
        return take_rows(part, rows)
    return part if rows is None else part.taken(rows)


def rows_in_memory(part: Any, rows: Rows) -> Any:
    """Return some rows, in memory: those on which every round is watched."""
    if not isinstance(part, StoredRows):
        return take_rows(part, rows)
    return part.each_row(rows, part.shape[1], _itself)
