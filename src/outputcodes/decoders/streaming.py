"""Classifiers that learn from one batch after another, also of classes that come later."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.utils.metaestimators import available_if

from outputcodes._ground.class_sums import ClassSums
from outputcodes._ground.delayed import at_hand
from outputcodes._ground.drawn_code import MatrixCode
from outputcodes._ground.first_batch import FirstBatch
from outputcodes._ground.row_sequence import RowBlocks
from outputcodes._ground.targets import OneLabel, indicates_labels
from outputcodes._ground.validation import (
    NoStreamError,
    any_missing,
    as_seed,
    check_targets,
    check_weight,
    take_rows,
)
from outputcodes._ground.words import listed
from outputcodes.decoders.base import Decoder
from outputcodes.decoders.classifier import DecodingClassifier, decoder_for

Array = NDArray[np.float64]
Rows = NDArray[np.intp]


class StreamState:
    """What a classifier keeps between batches.

    Attributes
    ----------
    labels : list
        The classes in the order in which they came, which is that of the rows of `M`.
    M : ndarray of int8
        The code; after the rows of the classes there may be spare ones.
    mass : ndarray
        The weight of the rows of each class so far.
    stream : learners.stream.Stream
    learner : learners.base.Learner
        That of the first batch: what is set later does not change it.
    complete : bool
        Whether all classes were named in the first call, or by a mapping as the code.
    sums : ClassSums or None
        Sums over each class, if the code grows beside the nearest class.
    """

    # Also of models that were saved before these were known.
    complete = False
    sums: ClassSums | None = None
    learner: Any = None

    def __init__(
        self,
        code: Any,
        labels: list[Any],
        M: NDArray[np.int8],
        stream: Any,
        learner: Any = None,
        complete: bool = False,
        sums: ClassSums | None = None,
    ) -> None:
        self.code, self.labels, self.M, self.stream, self.complete = code, labels, M, stream, complete
        self.mass, self.sums, self.learner = np.zeros(len(labels)), sums, learner
        # Those of the last batch.
        self.columns: Any = None

    def numbers(self, X: Any, y: NDArray[Any], weight: Array | None) -> Rows:
        """Return the rows of the code that belong to the labels of a batch; for new ones the code grows."""
        found, places = np.unique(y, return_inverse=True)
        known = {label: number for number, label in enumerate(self.labels)}
        new = [label for label in found.tolist() if label not in known]
        if new and isinstance(new[0], str) != isinstance(self.labels[0], str):
            raise ValueError(
                f"y has the label {new[0]!r}, and those before are such as {self.labels[0]!r}: text and numbers can't "
                "be mixed; give labels of one type."
            )
        if new and self.complete:
            raise ValueError(
                f"y has the labels {listed(map(repr, new))}, which are not among the classes of the first call or "
                "the code: correct them, or start again, without classes and with a code that can grow."
            )
        known |= {label: len(known) + number for number, label in enumerate(new)}
        numbers = np.array([known[label] for label in found.tolist()], dtype=np.intp)[places.reshape(-1)]
        M, sums = self.M, None if self.sums is None else self.sums.plus(X, numbers, weight, len(known))
        # All of them or none: an error leaves everything as it was.
        for row in range(len(self.labels), len(known)):
            M = self.code.grown(M, row, None if sums is None else sums.nearest(row))
        self.M, self.sums = M, sums
        self.labels += new
        self.mass = np.pad(self.mass, (0, len(new)))
        return numbers

    @property
    def rows(self) -> NDArray[np.int8]:
        """The rows of the classes that have come."""
        return self.M[: len(self.labels)]

    def column_weight(self, class_weight: Any, balanced: bool) -> Array:
        """Return (k, L) weights of an example of each class in each column, by the classes' shares so far."""
        M, mass, seen = self.rows, self.mass, self.mass > 0
        factor = np.ones(len(M))
        if isinstance(class_weight, str):
            factor[seen] = mass.sum() / (seen.sum() * mass[seen])
        elif class_weight is not None:
            factor = np.array([float(class_weight.get(label, 1.0)) for label in self.labels])
        if not balanced:
            return np.repeat(factor[:, None], M.shape[1], axis=1)
        own = factor * mass
        plus, minus = own @ (M > 0), own @ (M < 0)
        both = np.where(M > 0, plus, minus)
        share = np.divide(plus + minus, 2 * both, out=np.ones(M.shape), where=both > 0)
        weights: Array = factor[:, None] * share
        return weights


def _refuse_unless_possible(model: StreamingClassifier) -> bool:
    """Tell scikit-learn, by AttributeError, that there is no `partial_fit` with these parameters, and why."""
    try:
        objection = model._objection_to_streams()
    except ValueError:
        return True  # wrong parameters, which the call itself names
    if objection is not None:
        raise AttributeError(objection)
    return True


def _check_named_classes(classes: Any) -> NDArray[Any]:
    """Return the classes that a caller names, in sorted order; at least two."""
    named = np.asarray(classes)
    if named.ndim != 1:
        raise ValueError(f"classes={classes!r} must be a list of all labels, such as ['a', 'b', 'c'].")
    if any_missing(named):
        raise ValueError(f"classes={classes!r} has a missing label (None, NaN or NA): leave it out.")
    known: NDArray[Any] = np.unique(named)
    if len(known) < 2:
        raise ValueError(f"classes={classes!r} must name at least two classes.")
    return known


class StreamingClassifier(DecodingClassifier):
    """Base of the classifiers with `partial_fit`; they write the methods at the end."""

    n_jobs: int | None
    random_state: Any
    class_weight: Any
    column_weight: str
    stream_: StreamState
    columns_: Any

    @available_if(_refuse_unless_possible)
    def partial_fit(
        self, X: Any, y: ArrayLike, classes: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Learn from a batch of rows.

        The first call starts from nothing, also after `fit`, which keeps nothing of its rows; `fit` starts again.

        Parameters
        ----------
        X, y : the batch
            Without `classes`, y may hold classes that are new: the code gets a row for each, if it can grow. One-vs-all
            gets a column for each, all-pairs one for each pair; dense and sparse codes are drawn with spare rows; in a
            tree, it joins the group of the class whose mean is nearest.
        classes : array, optional
            All classes that will come, in the first call; the code is then that of `fit`, and other labels are errors.
            Without it, the first batch must have two classes or more, and new ones may come if the code can grow. A
            mapping {label: row} as the code names all classes itself.
        sample_weight : array, optional

        Notes
        -----
        "ridge" is exact: after each batch it is what `fit` would find for all rows so far. "logistic" and "linear-svm"
        take a step for every few rows, with a model of the curvature of all rows before; estimators with `partial_fit`
        learn as they do. Class weights that are "balanced" follow the shares of the classes so far.

        Examples
        --------
        >>> import numpy as np
        >>> from sklearn.datasets import load_iris
        >>> from outputcodes import OutputCodeClassifier
        >>> X, y = load_iris(return_X_y=True)
        >>> model = OutputCodeClassifier("ridge", code="one-vs-all")
        >>> for rows in np.array_split(np.random.default_rng(0).permutation(150), 10):
        ...     _ = model.partial_fit(X[rows], y[rows])
        >>> np.allclose(model.margins(X), OutputCodeClassifier("ridge", code="one-vs-all").fit(X, y).margins(X))
        True
        """
        state, y = self._stream_begun(), at_hand(y)
        if indicates_labels(y):
            raise ValueError("y is multilabel, which partial_fit does not take: give one label per row.")
        learner = None if state is None else state.learner
        if learner is None:
            learner = clone(self._stream_learner(), safe=False)
        X = self._check_features(X, learner.estimators, reset=state is None)
        if isinstance(X, RowBlocks):
            raise ValueError("X is in blocks of rows, and partial_fit takes one batch: call it for each block.")
        labels = check_targets(self, X, y)
        weight = check_weight(sample_weight, len(labels))
        if weight is not None and not weight.all():
            rows = np.flatnonzero(weight)
            X, labels, weight = take_rows(X, rows), labels[rows], weight[rows]
        if state is None:
            state = self._started(learner, X, labels, weight, classes)
        elif classes is not None and (unknown := np.setdiff1d(np.asarray(classes), state.labels)).size:
            remedy = (
                "name all of them in the first call" if state.complete else "leave classes out: the code grows by y"
            )
            raise ValueError(f"classes has {unknown[:5].tolist()}, which no call before had: {remedy}.")
        state.stream.check(X)
        numbers = state.numbers(X, labels, weight)
        targets, code = sorted_code(state)
        state.mass += np.bincount(numbers, weights=weight, minlength=len(state.labels))
        column_weight = state.column_weight(self.class_weight, self.column_weight == "balanced")
        state.stream.add(X, numbers, state.rows, weight, column_weight)
        self.stream_, self.targets_, self.code_ = state, targets, code
        self.columns_ = state.columns = state.stream.trained(state.rows, column_weight, state.mass > 0)
        fitted = self.columns_.fitted
        self.margin_loss_ = learner.loss if fitted is None else fitted.loss_after_fit(learner.loss)
        self.decoder_ = decoder_for(clone(self._decoder_asked_for()), self.margin_loss_, code)
        self.class_weight_ = None
        if self.class_weight is not None:
            self.class_weight_ = state.column_weight(self.class_weight, False)[np.argsort(state.labels), 0]
        return self

    def _started(
        self, learner: Any, X: Any, labels: NDArray[Any], weight: Array | None, classes: ArrayLike | None
    ) -> StreamState:
        given = np.unique(labels) if classes is None else _check_named_classes(classes)
        known, code, names_all = self._stream_code(given)
        seed, complete = as_seed(self.random_state), names_all or classes is not None
        if len(known) < 2:
            raise ValueError(
                f"The first batch has only the class {known.tolist()}: name all classes, partial_fit(X, y, classes=…), "
                "or give a first batch with two classes."
            )
        # A label that was not named is refused when its number is asked for.
        named = np.flatnonzero(np.isin(labels, known))
        batch = FirstBatch(
            take_rows(X, None if len(named) == len(labels) else named),
            np.searchsorted(known, labels[named]),
            None if weight is None else weight[named],
            known,
        )
        M = code.open(len(known), seed, spare=not complete, batch=batch)
        sums = ClassSums() if code.grows_beside_nearest and not complete else None
        return StreamState(code, known.tolist(), M, learner.stream(self.n_jobs, seed), learner, complete, sums)

    def _stream_begun(self) -> StreamState | None:
        """Return what the last batch left, or None if the next one is the first."""
        state: StreamState | None = vars(self).get("stream_")
        # Columns of another training than the last batch are those of `fit`.
        return None if state is None or state.columns is not vars(self).get("columns_") else state

    def _objection_to_streams(self) -> str | None:
        """Return why these parameters can't learn from batches, or None."""
        if self.probability is not None:
            return (
                f"probability={self.probability!r} is fitted to margins of held-out rows, which partial_fit does not "
                "keep: set it to None, and use with_decoder('likelihood', X, y) for rows that you keep."
            )
        decoder = self._decoder_asked_for()
        if decoder.needs is not None:
            return (
                f"{type(decoder).__name__} learns from margins of all rows, which partial_fit does not keep: use "
                "another decoder, and with_decoder(decoder, X, y) for rows that you keep."
            )
        if self._stream_begun() is not None:
            return None  # the code and the learner are those of the first batch
        code = self._stream_code(np.array([]))[1]
        if code.needs_problem and not code.opens_from_batch:
            return (
                f"{type(code).__name__} is made from data, which partial_fit has not seen yet: draw it before, and "
                "give its matrix as the code."
            )
        try:
            self._stream_learner().stream()
        except NoStreamError as reason:
            return str(reason)
        return None

    def _stream_learner(self) -> Any:
        """Return the learner of the first batch."""
        raise NotImplementedError

    def _stream_code(self, classes: NDArray[Any]) -> tuple[NDArray[Any], Any, bool]:
        """Return the classes that have a row in the code, given those of the first batch, and the code.

        The last value says whether the code names its classes itself, so that no others can come.
        """
        raise NotImplementedError

    def _decoder_asked_for(self) -> Decoder:
        """Return the decoder that the parameters name."""
        raise NotImplementedError

    def _check_features(self, X: Any, estimators: list[Any], *, reset: bool) -> Any:
        """Return X checked for the estimators; `reset` records what it is."""
        raise NotImplementedError


def sorted_code(state: StreamState) -> tuple[OneLabel, MatrixCode]:
    """Return the classes in sorted order, and the rows of the code in theirs.

    >>> state = StreamState(None, ["b", "a"], np.array([[1], [-1]], dtype=np.int8), None)
    >>> targets, code = sorted_code(state)
    >>> targets.classes.tolist(), code.matrix().tolist()
    (['a', 'b'], [[-1], [1]])
    """
    labels = np.array(state.labels)
    order = np.argsort(labels, kind="stable")
    return OneLabel(labels[order]), MatrixCode(state.rows[order])
