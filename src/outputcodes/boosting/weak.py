"""Weak hypotheses, built-in stumps or foreign classifiers, and the storage of the rounds of a booster."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier

from outputcodes._ground.validation import n_rows_of, take_rows
from outputcodes._histograms.binned_blocks import BinnedBlocks
from outputcodes._histograms.binning import Binned, midpoints
from outputcodes._histograms.importances import shares
from outputcodes.learners.base import FittedColumns
from outputcodes.learners.foreign import importances_of, input_tags, output_of, weight_argument
from outputcodes.learners.per_column import PerColumn
from outputcodes.learners.single_call import with_column
from outputcodes.learners.trees.fitted_stumps import FittedStumps

Array = NDArray[np.float64]


class Hypothesis(Protocol):
    """The weak hypothesis of a round."""

    def answers(self, X: Any) -> Array:
        """Return (n, L) for all columns of a fixed code, or (n,) if the round has its own column."""
        ...


class Stump(NamedTuple):
    """A stump: `left` if x_feature <= threshold (== if categorical), otherwise `right`; 0 if the value is missing.

    `left` and `right` are numbers, or arrays with one entry per column.
    """

    feature: int
    threshold: float
    categorical: bool
    left: Any
    right: Any

    def answers(self, X: Array) -> Array:
        """Return (n,), or (n, L) if there is one value per column."""
        x = X[:, self.feature]
        on_left = x == self.threshold if self.categorical else x <= self.threshold
        missing = np.isnan(x)
        if np.ndim(self.left):
            on_left, missing = on_left[:, None], missing[:, None]
        return np.where(missing, 0.0, np.where(on_left, self.left, self.right))


def stump_at(binned: Binned | BinnedBlocks, feature: int, cut: int, left: Any, right: Any) -> Stump:
    """Return the stump that tests for a code below cut (categorical: equal to cut - 1; cut 0: never) on binned rows.

    No bin is empty, so the threshold is halfway between consecutive values.
    """
    below = binned.offsets[feature] + cut - 1
    categorical = bool(binned.categorical[feature])
    if cut == 0:
        threshold = -np.inf
    elif categorical:
        threshold = float(binned.low[below])
    else:
        threshold = float(midpoints(binned.high[below], binned.low[below + 1]))
    return Stump(int(feature), threshold, categorical, left, right)


class Foreign(NamedTuple):
    """A fitted scikit-learn classifier with classes 0 and 1, which predicts ±1, or 2p - 1 if `confident`.

    With `n_columns` it was trained on pairs (x, column) and predicts once per column.
    """

    estimator: Any
    confident: bool = False
    n_columns: int | None = None

    def answers(self, X: Any) -> Array:
        """Return (n,), or (n, n_columns)."""
        if self.n_columns is None:
            return self.of_pairs(X)
        every = (np.full(n_rows_of(X), s) for s in range(self.n_columns))
        return np.column_stack([self.of_pairs(with_column(X, s, self.n_columns)) for s in every])

    def feature_importances(self) -> Array | None:
        """Return the estimator's own importances of the features, (d,), without those of a column's index, or None."""
        found = importances_of(self.estimator)
        return found if found is None or self.n_columns is None else found[: -self.n_columns]

    def of_pairs(self, X: Any) -> Array:
        """Return the predictions (n,) for rows in the form that the estimator was trained on."""
        if self.confident and hasattr(self.estimator, "predict_proba"):
            positive = np.asarray(self.estimator.classes_) == 1
            p: Array = output_of(self.estimator.predict_proba, X)[:, positive].sum(axis=1)
        else:
            p = output_of(self.estimator.predict, X)
        return 2 * p - 1


def check_foreign(estimator: Any) -> None:
    """Raise an error if the estimator cannot be a weak learner."""
    usable = hasattr(estimator, "fit") and not isinstance(estimator, type) and is_classifier(estimator)
    if not usable or weight_argument(estimator) is None:
        raise ValueError(
            f"estimator={estimator!r} must be an instance of a scikit-learn classifier whose fit supports "
            "sample_weight, such as DecisionTreeClassifier(max_depth=2), or None for the built-in stumps."
        )
    if input_tags(estimator).pairwise:
        raise ValueError(
            f"estimator={estimator!r} uses a precomputed kernel, which boosters do not support; "
            "use an estimator that computes its own kernel, or OutputCodeClassifier."
        )


def fit_foreign(
    estimator: Any, X: Any, positive: NDArray[np.bool_], weight: Array, total: float, rng: np.random.Generator
) -> Any:
    """Return a fitted clone with classes 0 and 1 and its own seed; rows of weight 0 are left out.

    Many estimators have parameters that are relative to the weight of a row. The weights are therefore scaled to sum to
    `total`, the weight of the sample before the first round.
    """
    code = np.array([[-1], [+1]], dtype=np.int8)
    scaled, seed = weight * (total / weight.sum()), int(rng.integers(np.iinfo(np.int32).max))
    return PerColumn(estimator).fit_columns(X, positive.astype(np.intp), code, scaled, seed=seed).estimators[0]


@dataclass(frozen=True)
class Round:
    """A kept round, which adds coefficient · hypothesis to all columns of a fixed code, or to its own `column`.

    `record` contains what the booster records about it, under the names in `records`.
    """

    hypothesis: Hypothesis
    coefficient: float
    column: NDArray[np.int8] | None = None
    record: dict[str, Any] = field(default_factory=dict)

    def answers(self, X: Any) -> Array:
        """Return the contribution of the round."""
        return self.coefficient * self.hypothesis.answers(X)


class KeptRounds(FittedColumns):
    """The rounds that a booster kept, as columns.

    Attributes
    ----------
    history : dict of arrays
        What the booster recorded about each round.
    """

    history: dict[str, Array]


class StumpRounds(FittedStumps, KeptRounds):
    """Rounds with stumps, in arrays: one row per round, or one column per round."""

    def first_rounds(self, n_rounds: int) -> StumpRounds:
        """Return the first rounds."""
        known = len(self.history["coefficient"])
        if n_rounds >= known:
            return self
        some = np.s_[:, :n_rounds] if self.round_per_column else np.s_[:n_rounds]
        feature, threshold, left, right = self.feature[some], self.threshold[some], self.left[some], self.right[some]
        T, L = left.shape
        kept = StumpRounds(
            feature, threshold, left, right, np.full(L, T), np.zeros(L, dtype=bool), self.categorical, certificate=None
        )
        kept.history = {name: values[:n_rounds] for name, values in self.history.items()}
        kept.round_per_column = self.round_per_column
        return kept


class ForeignRounds(KeptRounds):
    """Rounds with foreign classifiers, as a list.

    Attributes
    ----------
    rounds : list of Round
    """

    def __init__(self, rounds: Sequence[Round], history: dict[str, Array]) -> None:
        self.rounds = list(rounds)
        self.history = history
        self.round_per_column = self.rounds[0].column is not None

    def first_rounds(self, n_rounds: int) -> ForeignRounds:
        """Return the first rounds."""
        return ForeignRounds(self.rounds[:n_rounds], {name: part[:n_rounds] for name, part in self.history.items()})

    def margins(self, X: Any, rows: NDArray[np.intp] | None = None) -> Array:
        """Return the sum of the rounds (n, L), or one column per round."""
        X = take_rows(X, rows)
        if self.round_per_column:
            return np.column_stack([one.answers(X) for one in self.rounds])
        for F in self.staged_margins(X):
            last = F
        return last

    def feature_importances(self) -> Array | None:
        """Return the estimators' own importances, weighted by the coefficients of their rounds, or None."""
        kept = [(one.coefficient, one.hypothesis) for one in self.rounds]
        found = [(c, h.feature_importances()) for c, h in kept if isinstance(h, Foreign)]
        known = [c * importances for c, importances in found if importances is not None]
        return shares(np.sum(known, axis=0)) if len(known) == len(kept) else None

    def staged_margins(self, X: Any) -> Iterator[Array]:
        """Yield the margins after each round, for a fixed code."""
        F = np.zeros(())
        for one in self.rounds:
            F = F + one.answers(X)
            yield F


class ConstantRounds(KeptRounds):
    """The result if no round was kept: the same margins for every row."""

    def __init__(self, margins: Array, history: dict[str, Array]) -> None:
        self.constant = margins
        self.history = history

    def margins(self, X: Any, rows: NDArray[np.intp] | None = None) -> Array:
        """Return the margins (n, L)."""
        return np.tile(self.constant, (n_rows_of(X) if rows is None else len(rows), 1))

    def first_rounds(self, n_rounds: int) -> ConstantRounds:
        """Return this, as there are no rounds."""
        return self

    def staged_margins(self, X: Any) -> Iterator[Array]:
        """Yield nothing, as there are no rounds."""
        return iter(())


def columns_of(rounds: Sequence[Round]) -> NDArray[np.int8]:
    """Return the code (k, T) of rounds that added one column each."""
    return np.stack([one.column for one in rounds if one.column is not None], axis=1)


def stored(rounds: Sequence[Round], categorical: NDArray[np.bool_], history: dict[str, Array]) -> KeptRounds:
    """Return the rounds as stored: stumps in arrays (one row per round, or one column per round), others in a list."""
    if not isinstance(rounds[0].hypothesis, Stump):
        return ForeignRounds(rounds, history)
    stumps: Any = [one.hypothesis for one in rounds]
    coefficient = history["coefficient"]
    feature, threshold = np.array([s.feature for s in stumps]), np.array([s.threshold for s in stumps])
    left, right = (coefficient * np.array([getattr(s, side) for s in stumps]).T for side in ("left", "right"))
    feature, threshold = np.broadcast_to(feature, left.shape), np.broadcast_to(threshold, left.shape)
    # One row with one column per round or, if a round covers all columns, one row per round.
    feature, threshold, left, right = (np.atleast_2d(part.T) for part in (feature, threshold, left, right))
    T, L = left.shape
    kept = StumpRounds(
        feature, threshold, left, right, np.full(L, T), np.zeros(L, dtype=bool), categorical, certificate=None
    )
    kept.history = history
    kept.round_per_column = rounds[0].column is not None
    return kept
