"""Base class of all boosters: input validation, the training on a `Problem`, and predictions after each round.

A new booster derives from `Booster`. Its `__init__` stores the parameters declared below and its own. It defines

- `_boost(sample, run, rng)`: a generator of `Round`, one for each round that is kept and None for each that is skipped.
  It ends when no further round improves the fit. `sample.binned` holds the features for stumps, as `BinnedBlocks` if
  the rows are in blocks (`stump_at` makes a `Stump` from a feature and a cut), or None with a user's `estimator`
  (`fit_foreign` trains a clone, `Foreign` calls it). `run` maps a function over fixed blocks using threads.
  `_rate(coefficient)` shrinks a coefficient by the learning rate.
- `_code(seed)`: the fixed code; every round adds to its columns. Alternatively, the booster sets `grows`: each round
  then adds its own column, `Round.column`, whose margins are coefficient · hypothesis. With `takes_label_sets`, y may
  be multilabel: the rows of the code are then the label sets of the sample, and `_code` is not called.
- `_loss(F, M, y, weight)`: the loss that early stopping monitors on the held-out rows. For a growing code, F is the
  class scores F M' and M is the identity.
- `records`: the names of the values in each `Round.record`, for `history_`.

Everything else, including `fit` and the staged predictions, is implemented here. `RoundByRound`, the learner of all
boosters, keeps the rounds.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from outputcodes._ground import progress
from outputcodes._ground.blocks import Run
from outputcodes._ground.delayed import at_hand
from outputcodes._ground.drawn_code import AnyCode
from outputcodes._ground.on_dask import taken
from outputcodes._ground.row_sequence import RowBlocks
from outputcodes._ground.targets import OneLabel, Targets, declared_order
from outputcodes._ground.validation import (
    as_seed,
    check_classes,
    check_features,
    check_weight,
    n_rows_of,
    take_rows,
    validated,
)
from outputcodes._ground.whole_fits import whole_or_nothing
from outputcodes._histograms.binning import check_bins
from outputcodes.boosting.round_by_round import RoundByRound, Sample
from outputcodes.boosting.weak import KeptRounds, Round, check_foreign
from outputcodes.decoders import Decoder
from outputcodes.decoders.base import EachLabel
from outputcodes.decoders.classifier import DecodingClassifier, decoder_for
from outputcodes.learners.attributes import FeatureAttributes
from outputcodes.learners.foreign import input_tags, may_impute
from outputcodes.learners.trained_columns import Columns, warn_of_constant_columns
from outputcodes.learners.trees.stumps import check_rounds, hold_out
from outputcodes.training import Problem, TrainedCode

Rows = NDArray[np.intp]
Array = NDArray[np.float64]
Code = NDArray[np.int8]


class Booster(FeatureAttributes, DecodingClassifier, BaseEstimator):
    """Base class of the boosters; the module docstring describes what a new booster defines."""

    # The loss that the margins minimise, used by decoder="loss".
    margin_loss: ClassVar[str] = "exponential"
    # Whether each round adds its own column to the code.
    grows: ClassVar[bool] = False
    # Whether y may be multilabel.
    takes_label_sets: ClassVar[bool] = False
    # The values that `history_` records for each round, besides its coefficient.
    records: ClassVar[tuple[str, ...]] = ()

    columns_: KeptRounds | Columns

    estimator: Any
    n_rounds: int
    learning_rate: float
    bins: int | str
    categorical_features: ArrayLike | None
    validation_fraction: float | None
    n_iter_no_change: int
    n_jobs: int | None
    random_state: Any
    verbose: int

    def _boost(self, sample: Sample, run: Run, rng: np.random.Generator) -> Iterator[Round | None]:
        raise NotImplementedError

    def _code(self, seed: int) -> Code:
        raise NotImplementedError

    def _loss(self, F: Array, M: Code, y: Rows, weight: Array) -> float:
        raise NotImplementedError

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the booster. Rows with weight zero are left out."""
        self.train(X, y, sample_weight)
        return self

    @whole_or_nothing
    def train(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> TrainedCode:
        """Do what `fit` does and return the trained code, on which other decoders can be fitted without training."""
        problem, code = self._pose(X, y, sample_weight)
        with progress.showing(self.verbose):
            trained = problem.grow() if code is None else problem.train(code)
        if not isinstance(trained.columns.fitted, KeptRounds):
            raise ValueError(
                "No column of the code has both signs on this sample, so there is nothing to boost; use another code."
            )
        warn_of_constant_columns(trained.columns, labels=self.targets_.multilabel)
        self.read(trained)
        if not self.n_rounds_:
            warnings.warn(
                f"{type(self).__name__} kept no round, as no weak hypothesis is better than chance: it predicts the "
                "most frequent class.",
                UserWarning,
                stacklevel=4,
            )
        return trained

    def _pose(self, X: Any, y: Any, sample_weight: ArrayLike | None) -> tuple[Problem, Code | None]:
        """Check the parameters and the sample, and return what is to be trained, with the code unless it grows."""
        self._check_parameters()
        X, y = self._check_features(X, reset=True), at_hand(y)
        labels, sets = self._check_targets(X, y)
        weight = check_weight(sample_weight, n_rows_of(X))
        weight = np.ones(n_rows_of(X)) if weight is None else weight
        rows = np.flatnonzero(weight)
        # Blocks keep their rows: those without weight are left out later.
        if len(rows) < len(weight) and not isinstance(X, RowBlocks):
            X, labels, weight, rows = take_rows(X, rows), labels[rows], weight[rows], np.arange(len(rows))
        seed = as_seed(self.random_state)
        if sets is None:
            known = self._classes(check_classes(labels[rows]))
            self.targets_: Targets = OneLabel(known, declared_order(y))
            code = None if self.grows else self._code(seed)
        else:
            known, self.targets_ = np.unique(labels[rows]), sets.targets
            code = sets.code[known]
        # Where a row is left out, its label may be unknown.
        labels = np.minimum(np.searchsorted(known, labels), len(known) - 1)
        self._check_decoder(code)
        # The same share of every class is held out, but label sets are too many.
        strata = np.zeros_like(labels) if self.targets_.multilabel else labels
        train, held = hold_out(rows, strata, self.validation_fraction, seed)
        problem = Problem(
            RoundByRound(self, held, self.targets_.multilabel),
            X,
            labels,
            weight,
            rows=train,
            held_out=None if self.validation_fraction is None else held,
            n_jobs=self.n_jobs,
            seed=seed,
        )
        return problem, code

    @property
    def in_stages(self) -> bool:
        """Whether a training with fewer rounds is the beginning of this one: if no held-out rows end it."""
        return self.validation_fraction is None

    def read(self, trained: TrainedCode) -> Self:
        """Take over rounds that a booster with the same parameters trained, and fit the decoder on them.

        `decoder` and `n_rounds` may differ.
        """
        columns, fitted = trained.columns, trained.columns.fitted
        assert isinstance(fitted, KeptRounds)
        self.history_, self.n_rounds_ = fitted.history, len(fitted.history["coefficient"])
        self.code_, self.margin_loss_ = trained.code, trained.loss
        self.columns_ = fitted if columns.live.all() else columns
        self.decoder_ = trained.fit_decoder(self._decoder(trained.code))
        return self

    def margins(self, X: Any) -> Array:
        """Return the margins (n, L) of each row under each column."""
        check_is_fitted(self)
        X = self._check_features(X, reset=False)
        if isinstance(X, RowBlocks):
            return np.concatenate([self.columns_.margins(block) for block in X if n_rows_of(block)])
        return self.columns_.margins(X)

    def staged_decision_function(self, X: Any) -> Iterator[Array]:
        """Yield the class scores of `decision_function` after each round.

        Where each round adds a column, every stage decodes the whole code so far: T rounds cost as much as T²/2
        columns.
        """
        for F, M in self._staged(X):
            yield self.targets_.decision(self.decoder_.scores(F, M))

    def staged_predict(self, X: Any) -> Iterator[Any]:
        """Yield the predictions after each round."""
        for F, M in self._staged(X):
            yield self.targets_.predictions(self.decoder_.predict(F, M))

    def _staged(self, X: Any) -> Iterator[tuple[Array, Code]]:
        """Yield (F_t, M_t) after each round: the margins of the code so far, and that code."""
        check_is_fitted(self)
        X = self._check_features(X, reset=False)
        X = X.joined() if isinstance(X, RowBlocks) else X
        if self.grows:
            if self.decoder_.needs is not None:
                raise ValueError(
                    f"decoder={self.decoder!r} learned from all {self.n_rounds_} columns and can't read fewer: use "
                    "with_decoder('linear') for stages."
                )
            F, M = self.columns_.margins(X), self.code_matrix_
            for t in range(1, self.n_rounds_ + 1):
                yield F[:, :t], M[:, :t]
        else:
            for F in self.columns_.staged_margins(X):
                yield F, self.code_matrix_

    def _rate(self, coefficient: float) -> float:
        return float(self.learning_rate) * coefficient

    def _decoder(self, M: AnyCode) -> Decoder:
        return EachLabel() if self.targets_.multilabel else decoder_for(self.decoder, self.margin_loss, M)

    def _check_decoder(self, M: Code | None) -> None:
        """Raise an error for an unsuitable decoder before training; a growing code (None) has no zeros."""
        k = len(self.classes_)
        decoder = self._decoder(2 * np.eye(k, dtype=np.int8) - 1 if M is None else M)
        if decoder.needs == "held-out" and self.validation_fraction is None:
            raise ValueError(
                f"decoder={self.decoder!r} learns from rows that the columns were not trained on: set "
                "validation_fraction, or fit with another decoder and then use with_decoder(decoder, X, y)."
            )

    def _check_features(self, X: Any, *, reset: bool) -> Any:
        if isinstance(X := taken(X), RowBlocks):
            return X.checked(self._check_features, reset=reset)
        tags = get_tags(self).input_tags
        if self.grows and self.estimator is not None:
            tags.allow_nan |= may_impute([self.estimator])
            return check_features(self, X, tags, reset=reset)
        try:
            return validated(
                self,
                X,
                reset=reset,
                dtype=np.float64,
                accept_sparse="csr" if tags.sparse else False,
                ensure_all_finite="allow-nan" if tags.allow_nan else True,
            )
        except ValueError as error:
            if self.estimator is None or "X has text" not in str(error):
                raise
            raise ValueError(f"{type(self).__name__} adds columns to X, which must be numbers: {error}") from error

    def _objection_to_label_sets(self) -> str | None:
        if self.takes_label_sets:
            return None
        return "y is multilabel: use AdaBoostMH or AdaBoostMR, or give one label per row."

    def _classes(self, present: NDArray[Any]) -> NDArray[Any]:
        """Return the classes that can be predicted, given the classes in the sample."""
        return present

    def _check_parameters(self) -> None:
        check_rounds(self)
        check_bins(self.bins)
        if not (isinstance(self.learning_rate, Real) and 0 < self.learning_rate < 2):
            raise ValueError(
                f"learning_rate={self.learning_rate!r} must be above 0 and below 2: at 2 no round lowers the loss."
            )
        if self.estimator is None:
            return
        check_foreign(self.estimator)
        if self.categorical_features is not None:
            raise ValueError(
                "categorical_features is for the built-in stumps; remove categorical_features: your estimator handles "
                "its own categories."
            )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        if self.estimator is None:
            tags.input_tags.allow_nan = True
        else:
            inner = input_tags(self.estimator)
            tags.input_tags.sparse, tags.input_tags.allow_nan = inner.sparse, inner.allow_nan
            if self.grows:
                tags.input_tags.two_d_array = inner.two_d_array
        return tags
