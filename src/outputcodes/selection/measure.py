"""One cell on one fold: trained once, its margins read by every decoder that can serve the code."""

from __future__ import annotations

import hashlib
import pickle
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags

from outputcodes._ground.drawn_code import MatrixCode
from outputcodes._ground.folds import Rows
from outputcodes._ground.validation import n_rows_of, take_rows
from outputcodes._ground.words import in_words
from outputcodes.classifier import OutputCodeClassifier
from outputcodes.codes import code_for, rows_by_label
from outputcodes.decoders.classifier import resolved_for
from outputcodes.decoders.path_probabilities import with_softmax
from outputcodes.selection.metrics import row_losses
from outputcodes.selection.results import Cell, Decoded, Measurement
from outputcodes.training import TrainedCode

# Tables of more margins than these, 2 GiB, are not computed: only decoders that search read such codes.
MOST_MARGINS = 1 << 28
# A decoder, the labels that it predicts for the test rows, their probabilities where they are needed, and its time.
Predictions = tuple[str, NDArray[Any], NDArray[np.float64] | None, float]


def measure(
    cell: Cell,
    model: Any,
    X: Any,
    y: NDArray[Any],
    train: Rows,
    test: Rows,
    *,
    fold: int = 0,
    decoders: Mapping[str, Any] | None = None,
    metric: str = "error",
    keep_losses: bool = False,
) -> Measurement:
    """Train a classifier on some rows and test it on others.

    Parameters
    ----------
    cell : Cell
        The names under which it is recorded.
    model : classifier, or a pipeline that ends in one
        Not fitted. An `OutputCodeClassifier` is read by all `decoders` in place of its own; any other classifier is a
        system that needs no code. The other steps of a pipeline are fitted on the training rows.
    X, y : the sample
        A matrix, a data frame or a list; or a kernel matrix where the classifier takes one.
    train, test : arrays of row numbers
    fold : int, default=0
    decoders : mapping from names to names or objects, optional
        By default the names of the cell. Those that can't serve the code are left out of the measurement.
    metric : {"error", "log-loss", "balanced"}, default="error"
        For the log-loss, a decoder without probabilities gets those of a `Softmax`.
    keep_losses : bool, default=False
        Keep the loss of each test row, of which the error is the mean.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model, rows = OutputCodeClassifier("ridge", code="one-vs-all"), np.arange(150)
    >>> found = measure(Cell("ridge", "one-vs-all", ("loss", "vote")), model, X, y, rows[::2], rows[1::2])
    >>> found.columns, list(found.decoders)
    (3, ['loss'])
    """
    start = time.perf_counter()
    steps, final = (model[:-1], model[-1]) if isinstance(model, Pipeline) else (None, model)
    X_train, X_test = take_rows(X, train), take_rows(X, test)
    coded = isinstance(final, OutputCodeClassifier)
    if steps is not None:
        X_train, X_test = steps.fit_transform(X_train, y[train]), steps.transform(X_test)
    elif coded and get_tags(final).input_tags.pairwise:
        X_train, X_test = X_train[:, train], X_test[:, train]
    probable = metric == "log-loss"
    if coded:
        trained = final.train(X_train, y[train])
        seconds, columns = time.perf_counter() - start, trained.code.shape[1]
        given = {name: name for name in cell.decoders} if decoders is None else decoders
        readings = _read(final, trained, X_test, given, probable)
    else:
        final.fit(X_train, y[train])
        seconds, columns = time.perf_counter() - start, None
        readings = _read_system(final, X_test, probable)
    decoded = {}
    for name, predicted, P, taken in readings:
        losses = row_losses(metric, y[test], predicted, P, final.classes_)
        mark = _mark(np.searchsorted(final.classes_, predicted) if P is None else P)
        decoded[name] = Decoded(float(losses.mean()), taken, losses if keep_losses else None, mark)
    return Measurement.of(cell, fold, columns=columns, fit_seconds=seconds, size_bytes=size(final), decoders=decoded)


def _read(
    model: OutputCodeClassifier, trained: TrainedCode, X: Any, decoders: Mapping[str, Any], probable: bool
) -> Iterator[Predictions]:
    """The margins of the test rows, read by each decoder that can serve the code.

    Those that search a tree code compute the margins that they need; the others share a table of all, if it is small.
    """
    F, shared, (k, L) = None, 0.0, trained.code.shape
    small = max(n_rows_of(X), k) * L <= MOST_MARGINS
    for name, given in decoders.items():
        decoder = resolved_for(given, trained.loss, trained.code)
        if not (small or decoder.searches):
            continue
        if decoder.objection_to(trained.code) is not None:
            continue
        M = decoder.as_read(trained.code)
        decoder = trained.fit_decoder(decoder)
        if probable and not decoder.has_probabilities:
            decoder = trained.fit_decoder(with_softmax(decoder))
        if F is None and not decoder.searches:
            start = time.perf_counter()
            F = model.margins(X)
            shared = time.perf_counter() - start
        start = time.perf_counter()
        if decoder.searches:
            margins = model.margins_on_demand(X)
            P = decoder.all_probabilities(margins, M) if probable else None
            best = decoder.search(margins, M).classes[:, 0]
            yield name, model.classes_[best], P, time.perf_counter() - start
            continue
        assert F is not None
        P = decoder.probabilities(F, M) if probable else None
        predicted = model.classes_[decoder.predict(F, M)]
        yield name, predicted, P, shared + time.perf_counter() - start


def _mark(predictions: NDArray[Any]) -> str:
    """A short text that differs where predictions do."""
    return hashlib.blake2b(np.ascontiguousarray(predictions).tobytes(), digest_size=8).hexdigest()


def _read_system(model: Any, X: Any, probable: bool) -> Iterator[Predictions]:
    start = time.perf_counter()
    P = model.predict_proba(X) if probable else None
    predicted = model.predict(X) if P is None else model.classes_[P.argmax(axis=1)]
    yield "", predicted, P, time.perf_counter() - start


def attempt(cell: Cell, fold: int, measured: Callable[[], Measurement]) -> Measurement:
    """Return the measurement, or one that says why it failed: one system that breaks must not end the others.

    Warnings are not shown; whether a solver stopped early is part of the measurement.
    """
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            found = measured()
        except Exception as reason:  # however a foreign system breaks
            return Measurement.of(cell, fold, failed=in_words(reason))
    unconverged = any(issubclass(one.category, ConvergenceWarning) for one in caught)
    return replace(found, unconverged=unconverged)


def fixed_code(code: Any, classes: NDArray[Any], seed: int, order: NDArray[Any] | None = None) -> Any:
    """Return a code as rows by label, drawn once for all folds, so that a fold without some class keeps its row.

    A code made from data is returned as it is, as it is made in each fold; and so is a code that is not written down.
    `order` is what y declares, if anything.

    >>> fixed_code("one-vs-all", np.array(["a", "b", "c"]), 0)["a"]
    [1, -1, -1]
    """
    if (rows := rows_by_label(code)) is not None:
        return rows
    _, resolved = code_for(code, classes, order)
    if resolved.needs_problem:
        return code
    drawn = resolved.draw(len(classes), random_state=seed)
    if not isinstance(drawn, MatrixCode):
        return code
    return dict(zip(classes.tolist(), drawn.matrix().tolist(), strict=True))


def size(model: Any) -> int | None:
    """Return the bytes of a fitted model's arrays; None if it cannot be pickled.

    >>> size({"coef": np.zeros(10), "name": "x"})
    80
    """
    buffers: list[pickle.PickleBuffer] = []
    try:
        pickle.dumps(model, protocol=5, buffer_callback=buffers.append)
    except (pickle.PicklingError, AttributeError, TypeError):
        return None
    return sum(buffer.raw().nbytes for buffer in buffers)
