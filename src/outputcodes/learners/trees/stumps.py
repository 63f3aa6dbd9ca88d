"""AdaBoost with decision stumps for every column of a code, on the same binned features."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from functools import partial
from numbers import Real
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from outputcodes._ground import progress
from outputcodes._ground.blocks import over_blocks, threads
from outputcodes._ground.drawn_code import AnyCode
from outputcodes._ground.folds import deck_of
from outputcodes._ground.lanes import LANES
from outputcodes._ground.planning import Planning, many_classes
from outputcodes._ground.row_sequence import RowBlocks
from outputcodes._ground.validation import check_n_jobs
from outputcodes._histograms.binned_blocks import BinnedBlocks, bins_of_blocks
from outputcodes._histograms.binning import Binned, bin_features, categorical_mask, check_bins
from outputcodes.learners.base import Certificate
from outputcodes.learners.shared import SharedLearner, effective_rows, entry_weights
from outputcodes.learners.trees.fitted_stumps import FittedStumps
from outputcodes.learners.trees.stump_block import StumpBlock, StumpColumns, StumpSample
from outputcodes.learners.trees.stumps_on_blocks import StumpsOnBlocks

Rows = NDArray[np.intp]
Array = NDArray[np.float64]

# Additions per compiled call, about 0.1 s, so that Ctrl-C is handled in between.
ADDITIONS_PER_CALL = 1e9


class BoostedStumps(SharedLearner):
    """AdaBoost with decision stumps.

    Each round adds one stump to each column: a test of one feature, x_f <= threshold (x_f == threshold for categorical
    features), with one output for each side. Columns are boosted independently, each on its own examples; they share
    the binned features and every pass over them. The margin is the sum of the outputs.

    Thresholds lie halfway between the nearest values of the column's own examples; -inf makes a stump constant. If x_f
    is missing (NaN), the stump abstains and returns 0. Among stumps that are equally good up to 1e-9, the first one
    wins, by feature, then threshold, then +1 on the left.

    Parameters
    ----------
    n_rounds : int, default=200
        The maximal number of rounds per column.
    hypotheses : {"confidence", "discrete"}, default="confidence"
        "discrete": outputs ±α with the smallest weighted error ε, where a missing value counts as half an error.
        α = ½ ln(W_correct/W_wrong), which is ½ ln((1-ε)/ε) without missing values; the share of errors is at least
        1e-10. A column stops after a round with ε = 0, and before a round in which no stump has ε < ½.
        "confidence": outputs ½ ln((W₊+e)/(W₋+e)) with the weights of the two signs on each side, and the smallest
        normaliser Z = 2 Σ √(W₊W₋) + (weight of the missing values). A column stops after a round with Z = 0 (both
        sides pure), and before a round in which no stump has Z < 1.
    bins : "exact" or int, default="exact"
        "exact" tries every threshold. A number from 2 to 256 cuts features with more distinct values into that many
        bins at quantiles of all rows, regardless of weight; this is faster for continuous features.
    categorical_features : list of int or mask of bool, optional
        Features that are tested for equality.
    smoothing : float, optional
        The e of the confidence-rated outputs, as a fraction of the column's weight. None is one over the number of its
        examples, or over the sum of their weights if that is larger: a weight of 2 equals a repeated example.
    validation_fraction : float, optional
        Hold out this fraction of each class, and keep the rounds of each column up to its smallest held-out
        exponential loss. None trains on all rows.
    n_iter_no_change : int, default=10
        With `validation_fraction`, stop a column this many rounds after its smallest held-out loss.
    n_jobs : int, optional
        The number of threads of the binary classifier's own `fit`. `OutputCodeClassifier` has its own `n_jobs`.
    random_state : int, optional
        Determines the held-out rows of the binary classifier's own `fit`.

    Attributes
    ----------
    feature_importances_ : ndarray, shape (d,)
        The share of each feature in the changes of the margins by the stumps, with sum 1.
    columns_ : FittedStumps
        `feature`, `threshold`, `left`, `right`: arrays of shape (rounds, columns). The `gap` of its certificate is the
        exponential loss on the training rows, the product of all Z: an upper bound of the distance to the infimum.

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

    planning = Planning(cost=60, unsuited=many_classes)
    takes_nan: ClassVar[bool] = True
    takes_blocks: ClassVar[bool] = True
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

    @property
    def in_stages(self) -> bool:
        """Whether a training with fewer rounds is the beginning of this one: if no held-out rows end it."""
        return self.validation_fraction is None

    def prepare(self, X: Any, like: Any = None) -> Binned | BinnedBlocks:
        """Bin the features, at the quantiles of `like` if given."""
        self._check_parameters()
        if isinstance(X, RowBlocks):
            return bins_of_blocks(X, self._as_features, self.bins, self.categorical_features, like)
        X = self._as_features(X)
        return bin_features(X, self.bins, categorical_mask(self.categorical_features, X.shape[1]), like)

    def fit_columns(
        self,
        data: Binned | BinnedBlocks,
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
        """Boost every column of M, continuing after the rounds of `init`, an earlier fit of the same columns."""
        M = np.asarray(M)
        self._check_parameters()
        L = M.shape[1]
        if init is not None and init.feature.shape[1] != L:
            raise ValueError(
                f"init has {init.feature.shape[1]} columns but the code has {L}; give a fit of the same columns."
            )
        if init is not None and isinstance(data, BinnedBlocks):
            raise ValueError("init continues the rounds of rows in one array; blocks of rows start without it.")
        train, held = self._split(effective_rows(y, M, weight, rows), y, seed)
        signed = entry_weights(M, column_weight) * M
        _check_two_sided(signed[np.unique(y[train])])
        known = None if init is None else init.truncated(self.n_rounds)
        stopped = np.zeros(L, dtype=bool) if known is None else known.stopped
        n_rounds = self.n_rounds - (0 if known is None else len(known.feature))
        slices = [slice(first, min(first + LANES, L)) for first in range(0, L, LANES)]
        how = n_rounds, self.hypotheses == "confidence", self.smoothing, self.n_iter_no_change
        blocks: Sequence[StumpColumns]
        if isinstance(data, BinnedBlocks):
            blocks = _boosted_on_blocks(data, y, weight, train, held, [signed[:, own] for own in slices], how, n_jobs)
        else:
            to_train, to_watch = (StumpSample(data, part, y, weight, known) for part in (train, held))
            together = over_blocks(
                lambda own: StumpBlock(data, to_train, to_watch, signed[:, own], own, stopped[own], *how),
                slices,
                n_jobs,
            )
            step = max(1, int(ADDITIONS_PER_CALL / (2 * LANES * sum(block.train.codes.size for block in together))))
            blocks = together
            for first in range(0, n_rounds, step):
                over_blocks(partial(StumpBlock.advance, first=first, last=first + step), together, n_jobs)
                progress.reached(min(first + step, n_rounds), n_rounds, "rounds")
        fitted = _joined(known, blocks, L)
        if not fitted.n_rounds.all():
            warnings.warn(
                f"{(fitted.n_rounds == 0).sum()} of {L} columns return 0: no stump separates their two sides.",
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
    """Raise ValueError for invalid numbers of rounds or jobs, or an invalid fraction of held-out rows."""
    check_n_jobs(booster.n_jobs)
    for name in ("n_rounds", "n_iter_no_change"):
        value = getattr(booster, name)
        if not (isinstance(value, int | np.integer) and value >= 1):
            raise ValueError(f"{name}={value!r} must be an integer of at least 1.")
    fraction = booster.validation_fraction
    if fraction is not None and not (isinstance(fraction, Real) and 0 < float(fraction) < 1):
        raise ValueError(f"validation_fraction={fraction!r} must be between 0 and 1, or None.")


def hold_out(rows: Rows, y: Rows, fraction: float | None, seed: int) -> tuple[Rows, Rows]:
    """Return training rows and held-out rows: the fraction of each class, rounded down; with None, no held-out rows."""
    if fraction is None:
        return rows, rows[:0]
    deck = rows[deck_of(y[rows], np.random.default_rng(seed))]
    _, first, count = np.unique(y[deck], return_index=True, return_counts=True)
    place = np.arange(len(deck)) - np.repeat(first, count)
    held_out = place < np.repeat((fraction * count).astype(np.intp), count)
    if not held_out.any():
        raise ValueError(
            f"validation_fraction={fraction} holds out no row: the largest class has {count.max()} rows. "
            "Increase it, or use None."
        )
    return np.sort(deck[~held_out]), np.sort(deck[held_out])


def _check_two_sided(signed: Array) -> None:
    for side, there in (("positive", signed > 0), ("negative", signed < 0)):
        if not there.any(axis=0).all():
            column = int(there.any(axis=0).argmin())
            raise ValueError(
                f"column {column} has no weight on its {side} side; increase its column_weight, or remove the column."
            )


def _boosted_on_blocks(
    data: BinnedBlocks,
    y: Rows,
    weight: Array | None,
    train: Rows,
    held: Rows,
    signed: list[Array],
    how: tuple[Any, ...],
    n_jobs: int | None,
) -> Sequence[StumpColumns]:
    """Boost some columns after the others, all threads working on one round."""
    n_rounds: int = how[0]
    made: list[StumpColumns] = []
    with threads(n_jobs) as run:
        for own in signed:
            columns = StumpsOnBlocks(data, y, weight, train, held, run, own, np.zeros(own.shape[1], dtype=bool), *how)
            for t in range(n_rounds):
                columns.advance(t, t + 1)
                progress.reached(len(made) * n_rounds + t + 1, len(signed) * n_rounds, "rounds")
            columns.release()
            made.append(columns)
    return made


def _joined(known: FittedStumps | None, blocks: Sequence[StumpColumns], L: int) -> FittedStumps:
    """Return the earlier rounds followed by those of the blocks."""
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
