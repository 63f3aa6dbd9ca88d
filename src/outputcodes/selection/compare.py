"""Compare learners, codes and decoders: each code is trained once per fold, every decoder reads the same margins."""

from __future__ import annotations

import dataclasses
import math
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.model_selection import StratifiedKFold, check_cv
from sklearn.utils import check_consistent_length

from outputcodes._ground.validation import check_classes, take_rows
from outputcodes.classifier import OutputCodeClassifier
from outputcodes.codes import as_code, rows_by_label
from outputcodes.selection.html_table import html_table
from outputcodes.selection.statistics import corrected_t_test

Rows = NDArray[np.intp]
Folds = list[tuple[Rows, Rows]]


@dataclass(frozen=True)
class Comparison:
    """One row of `compare`: a learner, a code and a decoder, and how they did.

    Attributes
    ----------
    code, decoder : str
        What was compared, by name; "given" for a matrix.
    columns : int
        The length L of the code; of one made from data, the mean over the folds.
    error : float
        The mean error over the folds, between 0 and 1.
    spread : float
        The standard deviation of the folds' errors.
    fit_seconds : float
        The mean time of training the columns of the code; its decoders share it.
    fold_errors : tuple of float
    learner : str
        The name of the learner where several were compared, else "".
    p_value : float
        Of `corrected_t_test` against the best row; NaN with one fold.
    """

    code: str
    decoder: str
    columns: int
    error: float
    spread: float
    fit_seconds: float
    fold_errors: tuple[float, ...]
    learner: str = ""
    p_value: float = math.nan


class Comparisons(list[Comparison]):
    """The rows of a comparison, best first; a notebook shows them as a table."""

    def _repr_html_(self) -> str:
        headings = ["learner", "code", "decoder", "columns", "error %", "± s", "p", "fit s"]
        lines = [
            (
                *(row.learner, row.code, row.decoder, row.columns),
                *(f"{100 * row.error:.2f}", f"{100 * row.spread:.2f}"),
                "" if math.isnan(row.p_value) else f"{row.p_value:.3f}",
                f"{row.fit_seconds:.3f}",
            )
            for row in self
        ]
        bold = [place == 0 or row.p_value > 0.05 for place, row in enumerate(self)]
        return html_table(headings, lines, bold=bold)


def compare(
    X: Any,
    y: ArrayLike,
    learners: Any = None,
    codes: Iterable[Any] = ("one-vs-all", "all-pairs", "dense", "sparse"),
    decoders: Iterable[Any] = ("hamming", "loss"),
    cv: Any = 5,
    *,
    n_jobs: int | None = None,
    random_state: int = 0,
    watch: Callable[[str, int, int], None] | None = None,
) -> Comparisons:
    """Cross-validated error of every learner and code with every decoder that can serve it, best first.

    `pandas.DataFrame(compare(...))` is a tidy frame of it.

    Parameters
    ----------
    X, y : the sample; X may be a kernel matrix for estimators that take one
    learners : estimator, list or mapping, optional
        The binary learner, as for `OutputCodeClassifier`; a list, or a mapping from names to learners, holds several.
    codes, decoders : names or objects, or iterables of them
        A decoder that can't serve a code ("vote" for anything but all-pairs) is left out for that code; where the code
        is made from data, one that can't serve it in every fold.
    cv : int or splitter, default=5
        Folds, stratified and shuffled for a number. A code is drawn once and is the same in all folds, unless it is
        made from data: then from each fold's training rows.
    n_jobs, random_state : as for `OutputCodeClassifier`
    watch : callable, optional
        Called as watch(code, done, total) after each (learner, code, fold).

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> best = compare(X, y, "logistic", codes=["one-vs-all", "all-pairs"], decoders=["hamming", "loss"])[0]
    >>> best.code, best.decoder, best.columns
    ('all-pairs', 'loss', 3)
    """
    y = np.asarray(y)
    check_consistent_length(X, y)
    classes = check_classes(y)
    folds: Folds = list(_splitter(cv, y, random_state).split(np.zeros(len(y)), y))
    codes = [codes] if isinstance(codes, str) else list(codes)
    decoders = [decoders] if isinstance(decoders, str) else list(decoders)
    named = _named(learners)
    for name, given in (("learners", named), ("codes", codes), ("decoders", decoders)):
        if not given:
            raise ValueError(f"{name} is empty; give at least one.")
    pairs = [(name, code) for name in named for code in codes]
    results: list[Comparison] = []
    for p, (name, code) in enumerate(pairs):
        model = OutputCodeClassifier(
            named[name], code=_fixed(code, classes, random_state), n_jobs=n_jobs, random_state=random_state
        )

        def tell(fold: int, p: int = p, code: Any = code) -> None:
            if watch is not None:
                watch(_name(code), p * len(folds) + fold + 1, len(pairs) * len(folds))

        results += [
            dataclasses.replace(row, learner=name, code=_name(code))
            for row in _compare_decoders(model, X, y, decoders, folds, tell)
        ]
    if not results:
        raise ValueError(f"None of the decoders {', '.join(map(_name, decoders))} can serve any of the codes.")
    results.sort(key=lambda row: (row.error, row.columns))
    if len(folds) < 2:
        return Comparisons(results)
    ratio = float(np.mean([len(test) / len(train) for train, test in folds]))
    best = results[0].fold_errors
    p_values = [corrected_t_test(row.fold_errors, best, ratio).p_value for row in results]
    return Comparisons(dataclasses.replace(row, p_value=p) for row, p in zip(results, p_values, strict=True))


def _compare_decoders(
    model: OutputCodeClassifier,
    X: Any,
    y: NDArray[Any],
    decoders: list[Any],
    folds: Folds,
    tell: Callable[[int], None],
) -> list[Comparison]:
    """One classifier trained on every fold, its margins read by every decoder that can."""
    kernel = model.__sklearn_tags__().input_tags.pairwise
    errors: list[list[float]] = [[] for _ in decoders]
    seconds, lengths = [], []
    for f, (train, test) in enumerate(folds):
        X_train, X_test = take_rows(X, train), take_rows(X, test)
        if kernel:
            X_train, X_test = X_train[:, train], X_test[:, train]
        start = time.perf_counter()
        trained = model.train(X_train, y[train])
        seconds.append(time.perf_counter() - start)
        M = model.code_matrix_
        lengths.append(M.shape[1])
        F = model.margins(X_test)
        for decoder, of_decoder in zip(decoders, errors, strict=True):
            if trained.objection(decoder) is None:
                fitted = trained.decoder(decoder)
                of_decoder.append(float(np.mean(model.classes_[fitted.predict(F, M)] != y[test])))
        tell(f)
    return [
        Comparison(
            "",
            _name(decoder),
            round(float(np.mean(lengths))),
            float(np.mean(of_decoder)),
            float(np.std(of_decoder, ddof=1)) if len(folds) > 1 else 0.0,
            float(np.mean(seconds)),
            tuple(of_decoder),
        )
        for decoder, of_decoder in zip(decoders, errors, strict=True)
        if len(of_decoder) == len(folds)
    ]


def _splitter(cv: Any, y: NDArray[Any], random_state: int) -> Any:
    if isinstance(cv, int | np.integer):
        if cv > (rarest := np.unique(y, return_counts=True)[1].min()):
            raise ValueError(
                f"cv={cv} is more than the {rarest} rows of the rarest class; use fewer folds or a splitter."
            )
        return StratifiedKFold(cv, shuffle=True, random_state=random_state)
    return check_cv(cv)


def _fixed(code: Any, classes: NDArray[Any], random_state: int) -> Any:
    """The code's rows by label, so that a fold without some class keeps its row; a code made from data as it is."""
    if (rows := rows_by_label(code)) is not None:
        return rows
    resolved = as_code(code)
    if resolved.needs_problem:
        return code
    M = resolved.draw(len(classes), random_state=random_state).matrix()
    return dict(zip(classes.tolist(), M.tolist(), strict=True))


def _named(learners: Any) -> dict[str, Any]:
    """Learners by name; one that is alone has none."""
    if isinstance(learners, list | tuple):
        named = {_name(learner): learner for learner in learners}
        if len(named) < len(learners):
            raise ValueError(f"learners={learners!r} has two of the same name; give a mapping from names to learners.")
        return named
    return dict(learners) if isinstance(learners, Mapping) else {"": learners}


def _name(thing: Any) -> str:
    """A word for a table: names as they are, objects as they print, matrices as what they are."""
    if isinstance(thing, str):
        return thing
    return repr(thing) if isinstance(thing, BaseEstimator) else "given"
