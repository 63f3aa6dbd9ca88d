"""Compare learners, codes and decoders: each code is trained once per fold, every decoder reads the same margins."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.model_selection import check_cv
from sklearn.pipeline import make_pipeline
from sklearn.utils import check_consistent_length

from outputcodes._ground import progress
from outputcodes._ground.folds import Folds, stratified_folds
from outputcodes._ground.targets import declared_order, indicates_labels
from outputcodes._ground.validation import check_classes
from outputcodes._ground.words import shorten
from outputcodes.classifier import OutputCodeClassifier
from outputcodes.decoders import as_decoder
from outputcodes.selection.engine import gather, measure_all, unusable
from outputcodes.selection.journal import Journal
from outputcodes.selection.measure import fixed_code, measure
from outputcodes.selection.metrics import check_metric
from outputcodes.selection.ranking import Results, ranked
from outputcodes.selection.results import Cell, Measurement


def compare(
    X: Any,
    y: ArrayLike,
    learners: Any = None,
    codes: Iterable[Any] = ("one-vs-all", "all-pairs", "dense", "sparse"),
    decoders: Iterable[Any] = ("hamming", "loss"),
    cv: Any = 5,
    *,
    preprocessing: Any = None,
    metric: str = "error",
    n_jobs: int | None = None,
    random_state: int = 0,
    verbose: int = 0,
    watch: Callable[[str, int, int], None] | None = None,
) -> Results:
    """Return the cross-validated error of every learner and code with every decoder that can serve it, best first.

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
    preprocessing : transformer, optional
        Fitted on the training rows of each fold, before the columns.
    metric : {"error", "log-loss", "balanced"}, default="error"
        "balanced" is the mean of the classes' errors. For the log-loss, the scores of a decoder without probabilities
        go through a `Softmax`.
    n_jobs, random_state, verbose : as for `OutputCodeClassifier`
    watch : callable, optional
        Called as watch(code, done, total) after each (learner, code, fold).

    Returns
    -------
    Results
        A list of `Result`, ranked as `ranked` does; `print` shows it as a table.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> best = compare(X, y, "logistic", codes=["one-vs-all", "all-pairs"], decoders=["hamming", "loss"])[0]
    >>> best.code, best.decoder, best.columns
    ('all-pairs', 'loss', 3)
    """
    check_metric(metric)
    if indicates_labels(y):
        raise ValueError(
            "y is multilabel; compare ranks classifiers of one label per row. Compare one column of y at a time, or "
            "use sklearn.model_selection.cross_val_score with OutputCodeClassifier(code='one-vs-all')."
        )
    labels = np.asarray(y)
    check_consistent_length(X, labels)
    classes = check_classes(labels)
    folds = _folds(cv, labels, random_state)
    named = _named(learners)
    codes = [codes] if isinstance(codes, str) else list(codes)
    read_by = {_name(one): as_decoder(one) for one in ([decoders] if isinstance(decoders, str) else decoders)}
    for name, given in (("learners", named), ("codes", codes), ("decoders", read_by)):
        if not given:
            raise ValueError(f"{name} is empty; give at least one.")
    cells = [Cell(learner, _name(code), tuple(read_by)) for learner in named for code in codes]
    fixed = [fixed_code(code, classes, random_state, declared_order(y)) for code in codes]
    how: dict[str, Any] = {"decoders": read_by, "metric": metric, "keep_losses": len(folds) == 1}

    def measured(number: int, fold: int) -> Measurement:
        cell = cells[number]
        model: Any = OutputCodeClassifier(
            named[cell.learner],
            code=fixed[number % len(codes)],
            decoder="hamming",
            n_jobs=n_jobs,
            random_state=random_state,
        )
        if preprocessing is not None:
            model = make_pipeline(clone(preprocessing), model)
        found = measure(cell, model, X, labels, *folds[fold], fold=fold, **how)
        if watch is not None:
            watch(cell.code, number * len(folds) + fold + 1, len(cells) * len(folds))
        return found

    with progress.showing(verbose):
        found = measure_all(cells, len(folds), measured, Journal()).found
    results, _ = gather(cells, found, len(folds))
    if not results:
        reason = unusable(list(read_by))
        raise ValueError(f"{reason[0].upper()}{reason[1:]} with any of the codes.")
    ratio = float(np.mean([len(test) / len(train) for train, test in folds]))
    return ranked(results, metric=metric, test_to_train=ratio)


def _folds(cv: Any, y: NDArray[Any], random_state: int) -> Folds:
    if not isinstance(cv, int | np.integer):
        return list(check_cv(cv).split(np.zeros(len(y)), y))
    classes, counts = np.unique(y, return_counts=True)
    if cv > (rarest := counts.min()):
        name, rows = shorten(classes[counts.argmin()], 40), "1 row" if rarest == 1 else f"{rarest} rows"
        remedy = f"use cv={rarest} or less" if rarest > 1 else "add rows of it, leave it out"
        raise ValueError(f"cv={cv} is more than the {rows} of the class {name}; {remedy}, or give a splitter as cv.")
    return stratified_folds(y, int(cv), random_state)


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
