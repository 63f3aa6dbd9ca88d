"""BoostedStumps: AdaBoost with decision stumps, every column of a code boosted on the same binned features."""

from __future__ import annotations

import warnings
from functools import partial
from numbers import Real
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from outputcodes._ground.blocks import over_blocks
from outputcodes._ground.drawn_code import AnyCode
from outputcodes._ground.folds import deck_of
from outputcodes._ground.lanes import LANES
from outputcodes._histograms.binning import Binned, bin_features, categorical_mask, check_bins
from outputcodes.learners.base import Certificate
from outputcodes.learners.shared import SharedLearner, class_weights, effective_rows
from outputcodes.learners.trees.fitted_stumps import FittedStumps
from outputcodes.learners.trees.stump_block import Sample, StumpBlock

Rows = NDArray[np.intp]
Array = NDArray[np.float64]

# Compiled rounds between two looks at the keyboard: so many additions, about 0.1 s.
ADDITIONS_PER_CALL = 1e9


class BoostedStumps(SharedLearner):
    """AdaBoost with decision stumps.

    Each round adds to each column one stump: a question about one feature, x_f <= threshold (x_f == threshold for
    categorical features), and an answer for either side. Columns are boosted independently, each on its own examples;
    they share the binned features and every pass over them. The margin is the sum of the answers.

    Thresholds lie halfway between the nearest values that the column's own examples take; -inf makes a stump
    constant. Where x_f is missing (NaN) the stump abstains: it answers 0. Stumps that are equally good up to 1e-10 are
    ordered by feature, then threshold, then the one that answers +1 on the left.

    Parameters
    ----------
    n_rounds : int, default=200
        Rounds per column, at most.
    hypotheses : {"confidence", "discrete"}, default="confidence"
        "discrete": ±α with the smallest weighted error ε, a missing value counting as half a mistake;
        α = ½ ln(W_correct/W_wrong), which is ½ ln((1-ε)/ε) where nothing is missing, with a share of wrong answers of
        at least 1e-10; the column stops after a round with ε = 0, and before one in which no stump has ε < ½.
        "confidence": on each side ½ ln((W₊+e)/(W₋+e)), the weights of either sign there, with the smallest
        normaliser Z = 2 Σ √(W₊W₋) + (weight of the missing values); the column stops after a round with Z = 0 (both
        sides pure), and before one in which no stump has Z < 1.
    bins : "exact" or int, default="exact"
        "exact" tries every threshold. A number from 2 to 256 cuts features with more distinct values into so many
        bins at quantiles of all rows, whatever their weight: faster where features are continuous.
    categorical_features : list of int or mask of bool, optional
        Features to be asked for equality.
    smoothing : float, optional
        The e of the confidence-rated answers, as a share of the column's weight. None is one over the number of its
        examples, or over the sum of their weights if that is larger: a weight of 2 is an example given twice.
    validation_fraction : float, optional
        Hold out so much of each class, and keep of each column the rounds up to its smallest held-out exponential
        loss. None trains on everything.
    n_iter_no_change : int, default=10
        With `validation_fraction`, stop a column so many rounds after its smallest held-out loss.
    n_jobs : int, optional
        Threads of the binary classifier's own `fit`. `OutputCodeClassifier` has its own.
    random_state : int, optional
        Picks the held-out rows of the binary classifier's own `fit`.

    Attributes
    ----------
    columns_ : FittedStumps
        `feature`, `threshold`, `left`, `right`: arrays of shape (rounds, columns). Its certificate's `gap` is the
        training exponential loss, the product of all Z, and so at least the distance to its infimum.

    References
    ----------
    Freund & Schapire, "A decision-theoretic generalization of on-line learning", JCSS 55 (1997).
    Schapire & Singer, "Improved boosting algorithms using confidence-rated predictions", Machine Learning 37 (1999).

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from outputcodes import OutputCodeClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = OutputCodeClassifier(BoostedStumps(n_rounds=20), code="one-vs-all").fit(X, y)
    >>> model.predict(X[[0, 60, 120]])
    array([0, 1, 2])
    >>> model.columns_.fitted.n_rounds
    array([ 1, 20, 20])
    """

    takes_nan: ClassVar[bool] = True
    loss = "exponential"

    def __init__(
        self,
        n_rounds: int = 200,
        hypotheses: Literal["confidence", "discrete"] = "confidence",
        *,
        bins: int | Literal["exact"] = "exact",
        categorical_features: ArrayLike | None = None,
        smoothing: float | None = None,
        validation_fraction: float | None = None,
        n_iter_no_change: int = 10,
        n_jobs: int | None = None,
        random_state: int | None = None,
    ) -> None:
        self.n_rounds = n_rounds
        self.hypotheses = hypotheses
        self.bins = bins
        self.categorical_features = categorical_features
        self.smoothing = smoothing
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.n_jobs = n_jobs
        self.random_state = random_state

    def prepare(self, X: Any, like: Binned | None = None) -> Binned:
        """Bin the features; `like` lends its quantiles."""
        self._check_parameters()
        X = self._as_features(X)
        return bin_features(X, self.bins, categorical_mask(self.categorical_features, X.shape[1]), like)

    def fit_columns(
        self,
        data: Binned,
        y: Rows,
        M: AnyCode,
        weight: Array | None = None,
        column_weight: Array | None = None,
        *,
        rows: Rows | None = None,
        init: FittedStumps | None = None,
        n_jobs: int | None = None,
        seed: int = 0,
    ) -> FittedStumps:
        """Boost every column of M. The rounds of `init`, an earlier answer for the same columns, are gone on from."""
        M = np.asarray(M)
        self._check_parameters()
        L = M.shape[1]
        if init is not None and init.feature.shape[1] != L:
            raise ValueError(f"init has {init.feature.shape[1]} columns and the code has {L}: not the same columns.")
        train, held = self._split(effective_rows(y, M, weight, rows), y, seed)
        signed = class_weights(M, column_weight) * M
        _check_two_sided(signed[np.unique(y[train])])
        known = None if init is None else init.truncated(self.n_rounds)
        stopped = np.zeros(L, dtype=bool) if known is None else known.stopped
        n_rounds = self.n_rounds - (0 if known is None else len(known.feature))
        to_train, to_watch = (Sample(data, part, y, weight, known) for part in (train, held))

        def start(columns: slice) -> StumpBlock:
            return StumpBlock(
                data,
                to_train,
                to_watch,
                signed[:, columns],
                columns,
                stopped[columns],
                n_rounds,
                self.hypotheses == "confidence",
                self.smoothing,
                self.n_iter_no_change,
            )

        slices = [slice(first, min(first + LANES, L)) for first in range(0, L, LANES)]
        blocks = over_blocks(start, slices, n_jobs)
        step = max(1, int(ADDITIONS_PER_CALL / (2 * LANES * sum(block.train.codes.size for block in blocks))))
        for first in range(0, n_rounds, step):
            over_blocks(partial(StumpBlock.advance, first=first, last=first + step), blocks, n_jobs)
        fitted = _joined(known, blocks, L)
        if not fitted.n_rounds.all():
            warnings.warn(
                f"{(fitted.n_rounds == 0).sum()} of {L} columns answer 0: no stump tells their two sides apart.",
                UserWarning,
                stacklevel=2,
            )
        return fitted

    def _split(self, rows: Rows, y: Rows, seed: int) -> tuple[Rows, Rows]:
        return hold_out(rows, y, self.validation_fraction, seed)

    def _check_parameters(self) -> None:
        if self.hypotheses not in ("confidence", "discrete"):
            raise ValueError(f"hypotheses={self.hypotheses!r} must be 'confidence' or 'discrete'.")
        check_bins(self.bins)
        check_rounds(self)
        if self.smoothing is not None and not (isinstance(self.smoothing, Real) and 0 < self.smoothing < np.inf):
            raise ValueError(f"smoothing={self.smoothing!r} must be a positive number, or None.")


def check_rounds(booster: Any) -> None:
    """Refuse numbers of rounds and a share of held-out rows that can't be."""
    for name in ("n_rounds", "n_iter_no_change"):
        value = getattr(booster, name)
        if not (isinstance(value, int | np.integer) and value >= 1):
            raise ValueError(f"{name}={value!r} must be a whole number of at least 1.")
    fraction = booster.validation_fraction
    if fraction is not None and not (isinstance(fraction, Real) and 0 < float(fraction) < 1):
        raise ValueError(f"validation_fraction={fraction!r} must be between 0 and 1, or None.")


def hold_out(rows: Rows, y: Rows, fraction: float | None, seed: int) -> tuple[Rows, Rows]:
    """Rows to train on and rows held out: of each class the fraction asked for, rounded down; None holds out none."""
    if fraction is None:
        return rows, rows[:0]
    deck = rows[deck_of(y[rows], np.random.default_rng(seed))]
    _, first, count = np.unique(y[deck], return_index=True, return_counts=True)
    place = np.arange(len(deck)) - np.repeat(first, count)
    held_out = place < np.repeat((fraction * count).astype(np.intp), count)
    if not held_out.any():
        raise ValueError(
            f"validation_fraction={fraction} holds out no row: the largest class has {count.max()}. "
            "Raise it, or use None."
        )
    return np.sort(deck[~held_out]), np.sort(deck[held_out])


def _check_two_sided(signed: Array) -> None:
    for side, there in (("positive", signed > 0), ("negative", signed < 0)):
        if not there.any(axis=0).all():
            column = int(there.any(axis=0).argmin())
            raise ValueError(
                f"column {column} has no weight on its {side} side; raise its column_weight, or leave it out."
            )


def _joined(known: FittedStumps | None, blocks: list[StumpBlock], L: int) -> FittedStumps:
    """The rounds known before and those of the blocks."""
    loss = np.concatenate([block.finish() for block in blocks])[:L]
    found = [(b.stumps.feature, b.thresholds(), b.stumps.left, b.stumps.right) for b in blocks]
    parts = [np.hstack(part)[:, :L] for part in zip(*found, strict=True)]
    n_rounds = np.concatenate([block.state.rounds for block in blocks])[:L]
    if known is not None:
        n_rounds = np.where(n_rounds > 0, len(known.feature) + n_rounds, known.n_rounds)
        before = (known.feature, known.threshold, known.left, known.right)
        parts = [np.vstack(pair) for pair in zip(before, parts, strict=True)]
    feature, threshold, left, right = (part[: n_rounds.max()] for part in parts)
    return FittedStumps(
        feature,
        threshold,
        left,
        right,
        n_rounds,
        ~np.concatenate([block.state.active for block in blocks])[:L],
        blocks[0].data.categorical,
        Certificate(loss, n_rounds.astype(np.intp), np.isfinite(loss)),
    )
