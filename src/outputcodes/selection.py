"""Compare codes and decoders: each code is trained once per fold, and every decoder reads the same margins."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.model_selection import StratifiedKFold, check_cv

from outputcodes._validation import take_rows
from outputcodes.classifier import OutputCodeClassifier
from outputcodes.codes import as_code, check_code, rows_by_label
from outputcodes.decoders import as_decoder
from outputcodes.learners import as_learner

Rows = NDArray[np.intp]


@dataclass(frozen=True)
class Comparison:
    """One row of `compare`: a code and a decoder, and how they did.

    Attributes
    ----------
    code, decoder : str
        What was compared, by name; "given" for a matrix.
    columns : int
        The length L of the code.
    error : float
        The mean error over the folds, between 0 and 1.
    spread : float
        The standard deviation of the folds' errors.
    fit_seconds : float
        The mean time of training the columns of the code; its decoders share it.
    fold_errors : tuple of float
    """

    code: str
    decoder: str
    columns: int
    error: float
    spread: float
    fit_seconds: float
    fold_errors: tuple[float, ...]


def compare(
    X: Any,
    y: ArrayLike,
    estimator: Any = None,
    *,
    codes: Iterable[Any] = ("one-vs-all", "all-pairs", "dense", "sparse"),
    decoders: Iterable[Any] = ("hamming", "loss"),
    cv: Any = 5,
    n_jobs: int | None = None,
    random_state: int = 0,
    watch: Callable[[str, int, int], None] | None = None,
) -> list[Comparison]:
    """Cross-validated error of every code with every decoder that can serve it, best first.

    Parameters
    ----------
    X, y : the sample
    estimator : estimator, optional
        The binary learner, as for `OutputCodeClassifier`.
    codes, decoders : iterables of names or objects
        A decoder that can't serve a code ("vote" for anything but all-pairs) is left out for that code.
    cv : int or splitter, default=5
        Folds, stratified and shuffled for a number. A code is drawn once and is the same in all folds.
    n_jobs, random_state : as for `OutputCodeClassifier`
    watch : callable, optional
        Called as watch(code, done, total) after each (code, fold).

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> best = compare(X, y, codes=["one-vs-all", "all-pairs"], decoders=["hamming", "loss"])[0]
    >>> best.code, best.decoder, best.columns
    ('all-pairs', 'loss', 3)
    """
    y = np.asarray(y)
    folds = list(_splitter(cv, y, random_state).split(np.zeros(len(y)), y))
    codes = [codes] if isinstance(codes, str) else list(codes)
    decoders = [decoders] if isinstance(decoders, str) else list(decoders)
    classes = np.unique(y)
    loss = as_learner(estimator).loss
    results = []
    for c, code in enumerate(codes):
        # By label, so that a fold without some class keeps its row.
        rows = rows_by_label(code) or _drawn_rows(code, classes, random_state)
        M = check_code(list(rows.values()))
        served = [decoder for decoder in decoders if as_decoder(decoder).for_loss(loss).objection(M) is None]
        errors = np.empty((len(folds), len(served)))
        seconds = np.empty(len(folds))
        for f, (train, test) in enumerate(folds):
            model = OutputCodeClassifier(estimator, code=rows, n_jobs=n_jobs, random_state=random_state)
            start = time.perf_counter()
            model.fit(take_rows(X, train), y[train])
            seconds[f] = time.perf_counter() - start
            errors[f] = _errors(model, served, X, y, train, test)
            if watch is not None:
                watch(_name(code), c * len(folds) + f + 1, len(codes) * len(folds))
        results += [
            Comparison(
                _name(code),
                _name(decoder),
                M.shape[1],
                float(errors[:, d].mean()),
                float(errors[:, d].std(ddof=1)) if len(folds) > 1 else 0.0,
                float(seconds.mean()),
                tuple(errors[:, d].tolist()),
            )
            for d, decoder in enumerate(served)
        ]
    if not results:
        raise ValueError(f"None of the decoders {', '.join(map(_name, decoders))} can serve any of the codes.")
    return sorted(results, key=lambda row: (row.error, row.columns))


def _errors(
    model: OutputCodeClassifier, decoders: list[Any], X: Any, y: NDArray[Any], train: Rows, test: Rows
) -> list[float]:
    """The test error of each decoder on the same margins."""
    F = model.margins(take_rows(X, test))
    errors = []
    for decoder in decoders:
        fitted = model.with_decoder(decoder, take_rows(X, train), y[train]).decoder_
        predicted = model.classes_[fitted.predict(F, model.code_matrix_)]
        errors.append(float(np.mean(predicted != y[test])))
    return errors


def _splitter(cv: Any, y: NDArray[Any], random_state: int) -> Any:
    if isinstance(cv, int | np.integer):
        if cv > (rarest := np.unique(y, return_counts=True)[1].min()):
            raise ValueError(
                f"cv={cv} is more than the {rarest} rows of the rarest class; use fewer folds or a splitter."
            )
        return StratifiedKFold(cv, shuffle=True, random_state=random_state)
    return check_cv(cv)


def _drawn_rows(code: Any, classes: NDArray[Any], random_state: int) -> dict[Any, list[int]]:
    M = as_code(code).matrix(len(classes), random_state=random_state)
    return dict(zip(classes.tolist(), M.tolist(), strict=True))


def _name(thing: Any) -> str:
    """A word for a table: names as they are, objects as they print, matrices as what they are."""
    if isinstance(thing, str):
        return thing
    return repr(thing) if isinstance(thing, BaseEstimator) else "given"
