"""Boosted trees for all columns of a code at once: every leaf has a value for every column."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_array

from outputcodes._ground.drawn_code import AnyCode
from outputcodes._ground.planning import Planning
from outputcodes._ground.row_sequence import RowBlocks
from outputcodes._histograms.binned_blocks import BinnedBlocks, bins_of_blocks
from outputcodes._histograms.binning import Binned, bin_features, categorical_mask
from outputcodes.learners.base import FittedColumns
from outputcodes.learners.shared import SharedLearner, effective_rows, entry_weights
from outputcodes.learners.trees.boosted.forest import BoostedForest
from outputcodes.learners.trees.boosted.logistic import LogisticColumns
from outputcodes.learners.trees.boosted.rounds import boost, set_aside
from outputcodes.learners.trees.boosted.settings import checked_settings, is_whole
from outputcodes.learners.trees.boosted.sketches import random_signs

Rows = NDArray[np.intp]
Array = NDArray[np.float64]


class BoostedTrees(SharedLearner):
    """Gradient boosting of the logistic loss of all columns, with one tree per round for all of them.

    Each round projects the gradients of all columns on a few columns of random signs, grows one tree that splits on
    these projections, and gives every leaf of it a value for every column by a Newton step. See
    `outputcodes.boosting.GradientBoost`, which boosts the multinomial loss without a code.

    Parameters
    ----------
    n_rounds, max_leaves, max_depth, min_rows, max_features, max_bins, categorical_features :
        As in `GradientBoost`, and so are `validation_fraction`, `n_iter_no_change` and `monitor`.
    learning_rate : float, default=0.1
        The factor of the Newton steps, at most 1.
    l2 : float or "auto", default="auto"
        The penalty on the values of leaves; "auto" is 1.
    sketch : int, default=6
        How many columns of random signs a tree sees; with at most as many columns in the code it sees all gradients.
    n_jobs : int, optional
        The number of threads of the binary classifier's own `fit`. `OutputCodeClassifier` has its own `n_jobs`.
    random_state : int, optional
        Seeds the binary classifier's own `fit`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from outputcodes import OutputCodeClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> OutputCodeClassifier(BoostedTrees(n_rounds=20), code="one-vs-all").fit(X, y).predict(X[[0, 60, 120]])
    array([0, 1, 2])
    """

    planning = Planning(cost=58)
    takes_nan: ClassVar[bool] = True
    takes_blocks: ClassVar[bool] = True
    joint: ClassVar[bool] = True
    loss = "logistic"

    def __init__(
        self,
        n_rounds: int = 500,
        *,
        learning_rate: float = 0.1,
        max_leaves: int | Literal["auto"] = "auto",
        max_depth: int | None = None,
        min_rows: int = 1,
        l2: float | Literal["auto"] = "auto",
        sketch: int = 6,
        max_features: float | Literal["auto"] = "auto",
        max_bins: int = 64,
        categorical_features: ArrayLike | None = None,
        validation_fraction: float | None = 0.1,
        n_iter_no_change: int = 10,
        monitor: Literal["loss", "error"] = "loss",
        n_jobs: int | None = None,
        random_state: int | None = None,
    ) -> None:
        self.n_rounds = n_rounds
        self.learning_rate = learning_rate
        self.max_leaves = max_leaves
        self.max_depth = max_depth
        self.min_rows = min_rows
        self.l2 = l2
        self.sketch = sketch
        self.max_features = max_features
        self.max_bins = max_bins
        self.categorical_features = categorical_features
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.monitor = monitor
        self.n_jobs = n_jobs
        self.random_state = random_state

    @property
    def in_stages(self) -> bool:
        """Whether a training with fewer rounds is the beginning of this one: if no held-out rows end it."""
        return self.validation_fraction is None

    def prepare(self, X: Any, like: Any = None) -> Binned | BinnedBlocks:
        """Bin the features, at the quantiles of `like` if given."""
        checked_settings(self, 1.0)
        if isinstance(X, RowBlocks):
            how = self.max_bins, self.categorical_features
            return bins_of_blocks(X, self._as_features, *how, like, most_bins=int(X.shape[0]))
        X = self._as_features(X)
        return bin_features(X, self.max_bins, categorical_mask(self.categorical_features, X.shape[1]), like)

    def fit_columns(
        self,
        data: Binned | BinnedBlocks,
        y: Rows,
        M: AnyCode,
        weight: Array | None = None,
        column_weight: Array | None = None,
        *,
        rows: Rows | None = None,
        init: FittedBoostedTrees | None = None,
        n_jobs: int | None = None,
        seed: int = 0,
    ) -> FittedBoostedTrees:
        """Boost all columns of M together; `init` is ignored."""
        M = np.asarray(M)
        taken, L = effective_rows(y, M, weight, rows), M.shape[1]
        d = len(data.n_bins)
        settings = checked_settings(self, 1.0, len(taken))
        if not is_whole(self.sketch, 1):
            raise ValueError(f"sketch={self.sketch!r} must be an integer of at least 1.")
        train, held = set_aside(taken, y, self.validation_fraction, seed)
        weight = np.ones(len(y)) if weight is None else weight
        columns = LogisticColumns(y, weight, entry_weights(M, column_weight) * M, train)

        def sketch(t: int) -> NDArray[np.float32]:
            return random_signs(L, int(self.sketch), np.random.default_rng((seed, t)), balanced=False)

        boosted = boost(columns, data, train, held, sketch, settings, seed, n_jobs)
        return FittedBoostedTrees(BoostedForest(columns.base, boosted.trees, d))


class FittedBoostedTrees(FittedColumns):
    """All columns of a code, as the values of the leaves of one forest.

    Attributes
    ----------
    forest : BoostedForest
    """

    def __init__(self, forest: BoostedForest) -> None:
        self.forest = forest

    def margins(self, X: Any, rows: Rows | None = None) -> Array:
        """Return (n, L) margins of X, or of some rows of prepared data."""
        if isinstance(X, BinnedBlocks):
            return X.stored.each_row(rows, len(self.forest.base), self._scores)
        return self.forest.scores(self._features(X, rows))

    def _scores(self, X: Array) -> Array:
        return self.forest.scores(np.require(X, requirements=["C", "W"]))

    def staged_margins(self, X: Any) -> Iterator[Array]:
        """Yield the margins (n, L) of new X after each round."""
        for F in self.forest.staged_scores(self._features(X, None)):
            yield F.copy()

    def first_rounds(self, n_rounds: int) -> FittedBoostedTrees:
        """Return the columns after their first rounds."""
        return FittedBoostedTrees(self.forest.first_rounds(n_rounds))

    def feature_importances(self) -> Array:
        """Return the share of each feature in what all questions gained, (d,)."""
        return self.forest.feature_importances()

    def feature_parts(self, x: Array, direction: Array) -> Array:
        """Return (d,) how the questions about each feature change the margins from the roots to the leaves of x."""
        return self.forest.feature_parts(x, direction)

    def _features(self, X: Any, rows: Rows | None) -> Array:
        if isinstance(X, Binned):
            X = X.X
        else:
            X = check_array(X, dtype=np.float64, order="C", ensure_all_finite="allow-nan")
            if X.shape[1] != self.forest.n_features:
                raise ValueError(
                    f"X has {X.shape[1]} features, but the trees were trained on {self.forest.n_features}."
                )
        chosen: Array = np.require(X if rows is None else X[rows], requirements=["C", "W"])
        return chosen
