"""Gradient boosting with a fresh code every round: one tree for all classes."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable, Iterator
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit, softmax
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from outputcodes._ground import progress
from outputcodes._ground.blocks import BLOCK_VALUES, over_blocks, row_blocks
from outputcodes._ground.class_weights import class_weights
from outputcodes._ground.delayed import at_hand, is_dask
from outputcodes._ground.lazy_outputs import lazily
from outputcodes._ground.on_dask import taken
from outputcodes._ground.row_sequence import RowBlocks
from outputcodes._ground.stored_rows import StoredRows
from outputcodes._ground.targets import OneLabel, Targets, indicates_labels, label_sets
from outputcodes._ground.validation import (
    as_seed,
    check_classes,
    check_length,
    check_n_jobs,
    check_targets,
    check_weight,
    n_rows_of,
    validated,
)
from outputcodes._ground.whole_fits import whole_or_nothing
from outputcodes._histograms.binned_blocks import bin_blocks
from outputcodes._histograms.binning import bin_features, categorical_mask
from outputcodes.codes import Code
from outputcodes.learners.trees.boosted.forest import BoostedForest
from outputcodes.learners.trees.boosted.logistic import LogisticColumns
from outputcodes.learners.trees.boosted.loss import BoostedLoss
from outputcodes.learners.trees.boosted.multinomial import Multinomial
from outputcodes.learners.trees.boosted.rounds import boost, set_aside
from outputcodes.learners.trees.boosted.settings import checked_settings, is_whole
from outputcodes.learners.trees.boosted.sketches import random_signs

Array = NDArray[np.float64]
Floats = NDArray[np.float32]
# Scores are rounded to this, so that different scores have different probabilities.
GRAIN = 2.0**-32


class GradientBoost(ClassifierMixin, BaseEstimator):
    """Gradient boosting of the multinomial loss with one tree per round for all classes.

    Each round draws a code of a few columns, projects the gradients of all classes on them, grows one tree that splits
    on these projections, and gives every leaf of it a value for every class by a Newton step. A round therefore costs
    one tree, not one per class. For a multilabel y, every label has its own logistic loss.

    Parameters
    ----------
    n_rounds : int, default=500
        The largest number of rounds, those after the held-out rows joined included.
    learning_rate : float, default=0.2
        The factor of the Newton steps, at most 1.
    max_leaves : int or "auto", default="auto"
        "auto" is one leaf for every 200 rows, at least 16 and at most 100.
    max_depth : int, optional
        The maximal number of questions from the root to a leaf.
    min_rows : int, default=1
        The smallest number of rows in a leaf.
    l2 : float or "auto", default="auto"
        The penalty on the values of leaves; "auto" is 20 / k² for k classes, and 1 for labels. It is compared with sums
        of weights: with weights far below 1, it holds the trees back.
    sketch : int or Code, default=6
        What a tree sees: so many columns of random signs, drawn again every round, or a code of `outputcodes.codes`,
        drawn again if it is random. With at most this many classes the tree sees all gradients.
    max_features : float or "auto", default="auto"
        The share of the features with more than one value that a tree may ask about, drawn for each tree; if these
        offer no question, it goes on to the others. "auto" is half of d such features, but at least 16 and at most the
        larger of 64 and d^⅔.
    max_bins : int, default=64
        Features with more distinct values are cut into so many bins at quantiles; at most 255. Rows count equally
        there, whatever their weights. Each category has a bin.
    categorical_features : list of int or mask of bool, optional
        Features whose values, any numbers, have no order: they are split by subsets.
    validation_fraction : float or None, default=0.1
        The share of the rows that is held out, evenly over the classes, to find the number of rounds; a fifth as many
        rounds on all rows follow. None, or a sample with one row per class, holds out nothing and runs all `n_rounds`.
    n_iter_no_change : int, default=10
        Rounds without a smaller loss on the held-out rows after which these join.
    monitor : {"loss", "error"}, default="loss"
        What is compared on the held-out rows.
    warm_start : bool, default=False
        Whether `fit` adds rounds to those of the last `fit`, on all rows, until there are `n_rounds`.
    class_weight : dict, "balanced" or None, default=None
    n_jobs : int, optional
        Threads. Rounds on small tables use one, which is faster there.
    random_state : int, RandomState or None
    verbose : int, default=0

    Attributes
    ----------
    classes_ : ndarray of shape (k,)
    n_rounds_ : int
    forest_ : BoostedForest
    history_ : dict
        "loss" and "error" of the held-out rows after each round. Probabilities below 1e-7 count as 1e-7.
    feature_importances_ : ndarray of shape (d,)

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklearn.model_selection import train_test_split
    >>> X, y = load_digits(return_X_y=True)
    >>> X, X_test, y, y_test = train_test_split(X, y, random_state=0)
    >>> model = GradientBoost(random_state=0).fit(X, y)
    >>> bool(model.score(X_test, y_test) > 0.95)
    True
    """

    def __init__(
        self,
        n_rounds: int = 500,
        *,
        learning_rate: float = 0.2,
        max_leaves: int | Literal["auto"] = "auto",
        max_depth: int | None = None,
        min_rows: int = 1,
        l2: float | Literal["auto"] = "auto",
        sketch: int | Code = 6,
        max_features: float | Literal["auto"] = "auto",
        max_bins: int = 64,
        categorical_features: ArrayLike | None = None,
        validation_fraction: float | None = 0.1,
        n_iter_no_change: int = 10,
        monitor: Literal["loss", "error"] = "loss",
        warm_start: bool = False,
        class_weight: Any = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
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
        self.warm_start = warm_start
        self.class_weight = class_weight
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    @whole_or_nothing
    def fit(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> Self:
        """Boost on a sample. Rows of weight zero are left out."""
        X = self._check_features(X, reset=not (self.warm_start and hasattr(self, "forest_")))
        labels, targets, code = self._check_targets(X, y)
        weight = check_weight(sample_weight, len(labels))
        weight = np.ones(len(labels)) if weight is None else weight
        rows = np.flatnonzero(weight)
        blocks = isinstance(X, RowBlocks)
        X = StoredRows.of(X, _itself).taken(rows) if blocks else X[rows]
        labels, weight = labels[rows], weight[rows]
        if targets is None:
            known = check_classes(labels)
            targets, labels = OneLabel(known), np.searchsorted(known, labels)
            if (factors := class_weights(self.class_weight, known, labels, weight)) is not None:
                weight = weight * factors[labels]
        known_forest = self._known_forest(targets)
        self.targets_: Targets = targets
        seed = as_seed(self.random_state)
        strata = np.zeros_like(labels) if targets.multilabel else labels
        fraction = self.validation_fraction if known_forest is None else None  # those held out have joined
        width = len(targets.classes) if code is None else code.shape[1]
        settings = checked_settings(self, 20.0 / width**2 if code is None else 1.0, len(labels))
        train, held = set_aside(np.arange(len(labels)), strata, fraction, seed)
        loss: BoostedLoss
        if code is None:
            loss = Multinomial(labels, weight, width, train)
        else:
            loss = LogisticColumns(labels, weight, code.astype(np.float64), train)
        sketches = self._sketches(width, seed)
        how = self.max_bins, categorical_mask(self.categorical_features, X.shape[1])
        n_jobs = check_n_jobs(self.n_jobs)
        data = bin_blocks(X, X, *how, most_bins=len(rows)) if blocks else bin_features(X, *how, n_jobs=n_jobs)
        with progress.showing(self.verbose), progress.phase(type(self).__name__, self.n_rounds, "rounds"):
            boosted = boost(loss, data, train, held, sketches, settings, seed, n_jobs, known_forest)
        earlier = [] if known_forest is None else [known_forest]
        base = loss.base if known_forest is None else known_forest.base
        self.forest_ = BoostedForest(base, [*earlier, *boosted.trees], X.shape[1])
        self.n_rounds_ = len(self.forest_.roots)
        if not self.n_rounds_:
            warnings.warn(
                "GradientBoost found no question that gains anything, and predicts the shares of the classes: features "
                "may be constant, min_rows or l2 too large, or a few weights so large that no other row counts.",
                UserWarning,
                stacklevel=3,
            )
        if known_forest is None:
            self.history_ = {"loss": boosted.losses, "error": boosted.errors}
        return self

    @property
    def in_stages(self) -> bool:
        """Whether a training with fewer rounds is the beginning of this one: if no held-out rows end it."""
        return self.validation_fraction is None and not self.warm_start

    def with_rounds(self, n_rounds: int) -> Self:
        """Return the same classifier after its first rounds: all of them, if it stopped before.

        >>> from sklearn.datasets import load_iris
        >>> X, y = load_iris(return_X_y=True)
        >>> model = GradientBoost(20, validation_fraction=None, random_state=0).fit(X, y)
        >>> fewer = GradientBoost(5, validation_fraction=None, random_state=0).fit(X, y)
        >>> np.array_equal(model.with_rounds(5).predict_proba(X), fewer.predict_proba(X))
        True
        """
        check_is_fitted(self)
        if not is_whole(n_rounds, 1) or n_rounds > self.n_rounds:
            raise ValueError(
                f"n_rounds={n_rounds!r} must be an integer from 1 to {self.n_rounds}, the parameter's value."
            )
        first = copy.copy(self)
        first.n_rounds = n_rounds
        first.forest_ = self.forest_.first_rounds(n_rounds)
        first.n_rounds_ = len(first.forest_.roots)
        first.history_ = {name: part[:n_rounds] for name, part in self.history_.items()}
        return first

    @property
    def classes_(self) -> NDArray[Any]:
        """The labels that can be predicted, in sorted order; for a multilabel y its columns, 0..L-1."""
        if not hasattr(self, "targets_"):
            raise AttributeError(f"This {type(self).__name__} instance is not fitted yet. Call 'fit' first.")
        return self.targets_.classes

    @property
    def feature_importances_(self) -> Array:
        """The share of each feature in what all questions gained, (d,)."""
        check_is_fitted(self)
        return self.forest_.feature_importances()

    def decision_function(self, X: Any) -> Array:
        """Return class scores (n, k), the logarithms of probabilities up to a number.

        For two classes they are one column of log-odds, and for a multilabel y half of the log-odds of each label.
        """
        if is_dask(X):
            one = len(self.classes_) == 2 and not self.targets_.multilabel
            return self._lazily("decision_function", X, None if one else self.classes_)
        scores: Array = self._outputs(X, lambda F: self.targets_.decision(F))
        return scores

    def predict(self, X: Any) -> Any:
        """Return the most probable class; for a multilabel y indicators of the labels above ½."""
        if is_dask(X):
            columns = self.classes_ if self.targets_.multilabel else None
            return self._lazily("predict", X, columns, self.classes_.dtype)
        chosen = self._outputs(X, self._choices)
        return self.targets_.predictions(chosen)

    def predict_proba(self, X: Any) -> Array:
        """Return the probabilities of the classes, (n, k); for a multilabel y of each label."""
        if is_dask(X):
            return self._lazily("predict_proba", X, self.classes_)
        P: Array = self._outputs(X, self._probabilities)
        return P

    def score(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> float:
        """Return the share of rows predicted correctly; for a multilabel y with all their labels."""
        check_is_fitted(self)
        return float(super().score(X, self.targets_.comparable(at_hand(y)), sample_weight))

    def staged_decision_function(self, X: Any) -> Iterator[Array]:
        """Yield the class scores after each round."""
        for F in self._staged_scores(X):
            yield self.targets_.decision(F)

    def staged_predict(self, X: Any) -> Iterator[Any]:
        """Yield the predictions after each round."""
        for F in self._staged_scores(X):
            yield self.targets_.predictions(self._choices(F))

    def staged_predict_proba(self, X: Any) -> Iterator[Array]:
        """Yield the probabilities after each round."""
        yield from map(self._probabilities, self._staged_scores(X))

    def _lazily(self, method: str, X: Any, columns: NDArray[Any] | None, dtype: Any = np.float64) -> Array:
        check_is_fitted(self)
        output: Array = lazily(self, method, X, columns, dtype)
        return output

    def _outputs(self, X: Any, of: Callable[[Array], NDArray[Any]]) -> NDArray[Any]:
        """Return what a function makes of the scores; these exist for a block of rows at a time."""
        check_is_fitted(self)
        X = self._check_features(X, reset=False)
        if isinstance(X, RowBlocks):
            return np.concatenate([self._outputs(block, of) for block in X if n_rows_of(block)])
        blocks = row_blocks(len(X), min(16 * len(self.forest_.base), BLOCK_VALUES // 256))
        return np.concatenate(
            over_blocks(lambda rows: of(_rounded(self.forest_.scores(X[rows]))), blocks, check_n_jobs(self.n_jobs))
        )

    def _staged_scores(self, X: Any) -> Iterator[Array]:
        check_is_fitted(self)
        X = self._check_features(X, reset=False)
        X = X.joined() if isinstance(X, RowBlocks) else X
        yield from map(_rounded, self.forest_.staged_scores(X))

    def _choices(self, F: Array) -> NDArray[np.intp]:
        """Return the numbers of the chosen classes, or what is chosen of each label."""
        return (F > 0).astype(np.intp) if self.targets_.multilabel else F.argmax(axis=1)

    def _probabilities(self, F: Array) -> Array:
        P: Array = expit(2 * F) if self.targets_.multilabel else softmax(F, axis=1)
        return P

    def _known_forest(self, targets: Targets) -> BoostedForest | None:
        """Return the trees to continue from."""
        if not (self.warm_start and hasattr(self, "forest_")):
            return None
        if self.targets_.multilabel != targets.multilabel or not np.array_equal(self.classes_, targets.classes):
            raise ValueError(
                "warm_start=True needs the classes of the last fit: set warm_start=False to start with others."
            )
        if self.n_rounds < self.n_rounds_:
            raise ValueError(
                f"n_rounds={self.n_rounds!r} must be at least {self.n_rounds_}, the rounds of the last fit, with "
                "warm_start=True."
            )
        return self.forest_

    def _sketches(self, width: int, seed: int) -> Callable[[int], Floats]:
        """Return the function from a round to the code that its tree sees, (m, width)."""
        if isinstance(self.sketch, Code):
            code = self.sketch
            if code.needs_problem:
                raise ValueError(f"sketch={code!r} is made from data: give a code that is not, such as codes.Dense().")
            return lambda t: code.draw(width, random_state=_round_seed(seed, t)).matrix().T.astype(np.float32)
        if not is_whole(self.sketch, 1):
            raise ValueError(
                f"sketch={self.sketch!r} must be an integer of at least 1, or a code of outputcodes.codes."
            )
        columns, balanced = int(self.sketch), not self.targets_.multilabel
        return lambda t: random_signs(width, columns, np.random.default_rng((seed, t)), balanced=balanced)

    def _check_features(self, X: Any, *, reset: bool) -> Any:
        if isinstance(X := taken(X), RowBlocks):
            return X.checked(self._check_features, reset=reset)
        X = validated(self, X, reset=reset, dtype=np.float64, order="C", ensure_all_finite="allow-nan")
        checked: Array = np.require(X, requirements=["C", "W"])
        return checked

    def _check_targets(self, X: Array, y: Any) -> tuple[NDArray[Any], Targets | None, NDArray[np.int8] | None]:
        """Return the label of each row, None and None; or the label set of each row, the targets and the sets."""
        y = at_hand(y)
        if not indicates_labels(y):
            return check_targets(self, X, y), None, None
        if self.class_weight is not None:
            raise ValueError("y is multilabel, and class_weight is for classes: give sample_weight.")
        sets = label_sets(y)
        check_length(X, sets.numbers)
        return sets.numbers, sets.targets, sets.code

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.classifier_tags.multi_label = self.class_weight is None
        return tags


def _itself(block: Any) -> Any:
    return block


def _round_seed(seed: int, t: int) -> int:
    return int(np.random.SeedSequence((seed, t)).generate_state(1)[0])


def _rounded(F: Array) -> Array:
    """Return scores whose differences survive an exponential, so that all outputs agree on the largest."""
    return np.rint(F / GRAIN) * GRAIN
