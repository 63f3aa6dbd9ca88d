"""Base class of all boosters: input validation, rounds with early stopping, and predictions after each round.

A new booster derives from `Booster`. Its `__init__` stores the parameters declared below and its own. It defines

- `_boost(sample, run, rng)`: a generator of `Round`, one for each round that is kept and None for each that is skipped.
  It ends when no further round improves the fit. `sample.binned` holds the features for stumps (`stump_at` makes a
  `Stump` from a feature and a cut), or None with a user's `estimator` (`fit_foreign` trains a clone, `Foreign` calls
  it). `run` maps a function over fixed blocks using threads. `_rate(coefficient)` shrinks a coefficient by the learning
  rate.
- `_code(seed)`: the fixed code; every round adds to its columns. Alternatively, the booster sets `grows`: each round
  then adds its own column, `Round.column`, whose margins are coefficient · hypothesis. With `takes_label_sets`, y may
  be multilabel: the rows of the code are then the label sets of the sample, and `_code` is not called.
- `_loss(F, M, y, weight)`: the loss that early stopping monitors on the held-out rows. For a growing code, F is the
  class scores F M' and M is the identity.
- `records`: the names of the values in each `Round.record`, for `history_`.

Everything else, including `fit` and the staged predictions, is implemented here.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import check_consistent_length
from sklearn.utils.validation import check_is_fitted, validate_data

from outputcodes._ground import progress
from outputcodes._ground.blocks import Run, threads
from outputcodes._ground.choosing import clearly_less, first_largest, without_noise
from outputcodes._ground.drawn_code import AnyCode, MatrixCode
from outputcodes._ground.targets import LabelSets, OneLabel, Targets, indicates_labels, label_sets
from outputcodes._ground.validation import (
    as_seed,
    check_classes,
    check_features,
    check_targets,
    check_weight,
    n_rows_of,
    take_rows,
)
from outputcodes._histograms.binning import Binned, bin_features, categorical_mask, check_bins
from outputcodes.boosting.weak import (
    ConstantRounds,
    ForeignRounds,
    PartlyConstant,
    Round,
    check_foreign,
    columns_of,
    packed,
)
from outputcodes.decoders import Decoder
from outputcodes.decoders.classifier import DecodingClassifier, decoder_for
from outputcodes.decoders.each_label import EachLabel
from outputcodes.learners.foreign import entrance, input_tags
from outputcodes.learners.trees.fitted_stumps import FittedStumps
from outputcodes.learners.trees.stumps import check_rounds, hold_out
from outputcodes.training import warn_of_constant_columns

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
    binned : Binned or None
        The binned features for the built-in stumps. Every bin contains at least one row.
    code : ndarray of shape (k, L) or None
        The code that `_code` returned, without the columns that `_live` leaves out.
    """

    X: Any
    y: Rows
    weight: Array
    binned: Binned | None
    code: Code | None = None


class Booster(DecodingClassifier, BaseEstimator):
    """Base class of the boosters; the module docstring describes what a new booster defines."""

    # The loss that the margins minimise, used by decoder="loss".
    margin_loss: ClassVar[str] = "exponential"
    # Whether each round adds its own column to the code.
    grows: ClassVar[bool] = False
    # Whether y may be multilabel.
    takes_label_sets: ClassVar[bool] = False
    # The values that `history_` records for each round, besides its coefficient.
    records: ClassVar[tuple[str, ...]] = ()

    columns_: FittedStumps | ForeignRounds | ConstantRounds | PartlyConstant

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
        self._check_parameters()
        X = self._check_features(X, reset=True)
        labels, sets = self._check_targets(X, y)
        weight = check_weight(sample_weight, n_rows_of(X))
        weight = np.ones(n_rows_of(X)) if weight is None else weight
        rows = np.flatnonzero(weight)
        if len(rows) < len(weight):
            X, labels, weight = take_rows(X, rows), labels[rows], weight[rows]
        seed = as_seed(self.random_state)
        if sets is None:
            known = self._classes(check_classes(labels))
            self.targets_: Targets = OneLabel(known)
            fixed = None if self.grows else self._code(seed)
        else:
            known, self.targets_ = np.unique(labels), sets.targets
            fixed = sets.code[known]
        labels = np.searchsorted(known, labels)
        self._check_decoder(fixed)
        live = None if fixed is None else self._live(fixed, labels)
        trained = fixed if fixed is None or live is None else fixed[:, live]
        train, held = hold_out(np.arange(len(labels)), self._strata(labels), self.validation_fraction, seed)
        sample = self._sample(X, labels, weight, trained, train)
        name = type(self).__name__
        with (
            progress.showing(self.verbose),
            progress.phase(name, self.n_rounds, "rounds"),
            threads(self.n_jobs) as run,
        ):
            rounds = self._kept(
                self._boost(sample, run, np.random.default_rng(seed)),
                trained,
                take_rows(X, held),
                labels[held],
                weight[held],
            )
        self.n_rounds_ = len(rounds)
        self.history_ = {"coefficient": np.array([one.coefficient for one in rounds])}
        self.history_ |= {name: np.array([one.record[name] for one in rounds]) for name in self.records}
        self._keep(rounds, trained, sample)
        if fixed is not None and live is not None:
            constant = np.sign(fixed[np.unique(labels)].sum(axis=0)).astype(np.float64)
            self.code_, self.columns_ = MatrixCode(fixed), PartlyConstant(self.columns_, live, constant)
            warn_of_constant_columns(self.columns_, stacklevel=3)
        self.margin_loss_ = self.margin_loss
        self.decoder_ = self._decoder(self.code_)
        if self.decoder_.needs is not None:
            rows = held if self.decoder_.needs == "held-out" else train
            self.decoder_.fit(self.columns_.margins(take_rows(X, rows)), labels[rows], self.code_matrix_, weight[rows])
        return self

    def margins(self, X: Any) -> Array:
        """Return the margins (n, L) of each row under each column."""
        check_is_fitted(self)
        return self.columns_.margins(self._check_features(X, reset=False))

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

    def _live(self, M: Code, y: Rows) -> NDArray[np.bool_] | None:
        """Return a mask of the columns to train, or None for all; the other columns return their only sign."""
        return None

    def _rate(self, coefficient: float) -> float:
        return float(self.learning_rate) * coefficient

    def _sample(self, X: Any, y: Rows, weight: Array, code: Code | None, rows: Rows) -> Sample:
        if len(rows) < len(y):
            X, y, weight = take_rows(X, rows), y[rows], weight[rows]
        binned = None
        if self.estimator is None:
            binned = bin_features(X, self.bins, categorical_mask(self.categorical_features, X.shape[1]))
        return Sample(X, y, weight, binned, code)

    def _kept(self, rounds: Iterable[Round | None], fixed: Code | None, X: Any, y: Rows, weight: Array) -> list[Round]:
        """Return at most `n_rounds` rounds; with held-out rows X, the rounds up to the smallest loss on X."""
        kept: list[Round] = []
        M = np.eye(len(self.classes_), dtype=np.int8) if fixed is None else fixed  # a growing code uses its scores
        F = np.zeros((len(y), M.shape[1]))
        best, best_at, done = np.inf, 0, 0
        for done, one in zip(range(1, self.n_rounds + 1), rounds, strict=False):
            progress.reached(done, self.n_rounds, "rounds")
            if one is None:
                continue
            kept.append(one)
            if not len(y):
                continue
            step = one.answers(X)
            F += step if one.column is None else np.outer(step, one.column)
            loss = self._loss(F, M, y, weight)
            if clearly_less(loss, best, loss):
                best, best_at = loss, len(kept)
            elif len(kept) - best_at >= self.n_iter_no_change:
                break
        # It may have stopped early.
        progress.reached(done, done, "rounds")
        return kept[:best_at] if len(y) else kept

    def _keep(self, rounds: list[Round], fixed: Code | None, sample: Sample) -> None:
        if rounds:
            categorical = np.zeros(0, dtype=bool) if sample.binned is None else sample.binned.categorical
            self.columns_ = packed(rounds, categorical)
            self.code_ = MatrixCode(columns_of(rounds) if fixed is None else fixed)
            return
        warnings.warn(
            f"{type(self).__name__} kept no round, as no weak hypothesis is better than chance: it predicts the most "
            "frequent class.",
            UserWarning,
            stacklevel=3,
        )
        frequent = first_largest(np.bincount(sample.y, sample.weight), sample.weight.sum())
        if fixed is None:
            fixed = np.where(np.arange(len(self.classes_)) == frequent, 1, -1).astype(np.int8)[:, None]
        self.code_ = MatrixCode(fixed)
        self.columns_ = ConstantRounds(self._without_rounds(fixed, int(frequent), sample))

    def _without_rounds(self, M: Code, frequent: int, sample: Sample) -> Array:
        """Return the margins of a booster that kept no round."""
        row: Array = M[frequent].astype(np.float64)
        votes: Array = np.sign(without_noise(sample.weight @ M[sample.y], sample.weight.sum()))
        return votes if self.targets_.multilabel else row

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
        tags = self.__sklearn_tags__().input_tags
        if self.grows and self.estimator is not None:
            # A pipeline may begin with an imputer; if none of its steps accepts NaN, one of them raises an error.
            tags.allow_nan |= entrance(self.estimator) is not self.estimator
            return check_features(self, X, tags, reset=reset)
        try:
            return validate_data(
                self,
                X,
                reset=reset,
                dtype=np.float64,
                accept_sparse="csr" if tags.sparse else False,
                ensure_all_finite="allow-nan" if tags.allow_nan else True,
            )
        except ValueError as error:
            if self.estimator is None or "could not convert" not in str(error):
                raise
            raise ValueError(f"{type(self).__name__} adds columns to X, which must be numbers: {error}") from error

    def _check_targets(self, X: Any, y: Any) -> tuple[NDArray[Any], LabelSets | None]:
        """Return the label of each row and None; for a multilabel y, label set numbers and the label sets."""
        if not indicates_labels(y):
            return check_targets(self, X, y), None
        if not self.takes_label_sets:
            raise ValueError("y is multilabel: use AdaBoostMH or AdaBoostMR, or give one label per row.")
        sets = label_sets(y)
        check_consistent_length(X, sets.numbers)
        return sets.numbers, sets

    def _classes(self, present: NDArray[Any]) -> NDArray[Any]:
        """Return the classes that can be predicted, given the classes in the sample."""
        return present

    def _strata(self, y: Rows) -> Rows:
        """Return the group of each row; the same share of every group is held out."""
        return np.zeros_like(y) if self.targets_.multilabel else y

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
        tags.classifier_tags.multi_label = self.takes_label_sets
        if self.estimator is None:
            tags.input_tags.allow_nan = True
        else:
            inner = input_tags(self.estimator)
            tags.input_tags.sparse, tags.input_tags.allow_nan = inner.sparse, inner.allow_nan
            if self.grows:
                tags.input_tags.two_d_array = inner.two_d_array
        return tags
