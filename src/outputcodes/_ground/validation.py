"""Checks of what users pass in: made once at the entry, and relied on inside."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from difflib import get_close_matches
from numbers import Integral, Number
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import assert_all_finite, check_random_state, column_or_1d
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data

from outputcodes._ground.delayed import at_hand, is_computed_later, is_delayed
from outputcodes._ground.naming import first_date, naming_learners, naming_place, naming_text

Array = NDArray[np.float64]

# Sums of products of two such weights stay finite.
LARGEST_WEIGHT = 1e100


class NoStreamError(ValueError):
    """Something can't learn from one batch after another."""


MISSING_LABELS = "y has missing labels (None, NaN or NA); remove these rows, or give them a label."
# What codes are called elsewhere.
SYNONYMS = {"ovo": "all-pairs", "one-vs-one": "all-pairs", "ova": "one-vs-all", "ovr": "one-vs-all"}
SYNONYMS |= {"one-vs-rest": "one-vs-all"}


def unknown_name(parameter: str, name: str, known: Iterable[str]) -> ValueError:
    """Return the error for an unknown name, with the closest known name as a hint.

    >>> unknown_name("loss", "hing", ["hinge", "squared"])
    ValueError("loss='hing' is unknown; did you mean 'hinge'? Known names: hinge, squared.")
    """
    known = list(known)
    close = [SYNONYMS[name.lower()]] if SYNONYMS.get(name.lower()) in known else get_close_matches(name, known, n=1)
    hint = f"; did you mean {close[0]!r}?" if close else "."
    return ValueError(f"{parameter}={name!r} is unknown{hint} Known names: {', '.join(known)}.")


def is_on_device(X: Any) -> bool:
    """Return whether X is an array in the memory of an accelerator, which only estimators that run there can read.

    >>> is_on_device(np.eye(2))
    False
    """
    place = getattr(X, "__dlpack_device__", None)
    return place is not None and int(place()[0]) != 1  # kDLCPU


def on_host(X: Any) -> Any:
    """Return X; an array of CuPy or PyTorch on a device is copied to NumPy."""
    if not is_on_device(X):
        return X
    return X.get() if hasattr(X, "get") else X.cpu().numpy()


def validated(estimator: Any, X: Any, *given: Any, **checks: Any) -> Any:
    """Return what scikit-learn's `validate_data` does, without a warning that infinite numbers have no sum."""
    if in_blocks(X):
        raise ValueError(
            f"X is in blocks of rows, which {type(estimator).__name__} does not read: give one table, X.joined(), or "
            "train on blocks by OutputCodeClassifier, GradientBoost or another booster."
        )
    # Without a check of the values, only names and shapes are recorded, which collections have too.
    if is_computed_later(X) and not checks.get("skip_check_array"):
        one = X[0] if isinstance(X, list) else X
        kind = "delayed table" if is_delayed(one) else f"Dask {type(one).__name__}"
        raise ValueError(
            f"X is {f'a list of {kind}s' if one is not X else f'a {kind}'}, which {type(estimator).__name__} does not "
            "read: give one table, such as X.compute(), or train on Dask by OutputCodeClassifier, GradientBoost or "
            "another booster."
        )
    if isinstance(X, list | tuple) and any(map(is_delayed, X)):
        kinds = sorted({type(one).__name__ for one in X if not is_delayed(one)})
        raise ValueError(
            f"X is a list of delayed tables and of {', '.join(kinds)}: make all of its items delayed, by dask.delayed."
        )
    if isinstance(X, str | os.PathLike):
        raise ValueError(
            f"X={str(X)!r} is the name of a file: give its values, or read it by outputcodes.app.tables.read_blocks."
        )
    if isinstance(X, list | tuple) and X and all(len(getattr(one, "shape", ())) == 2 for one in X):
        raise ValueError(
            f"X is a list of {len(X)} tables; make them blocks of rows: outputcodes.training.RowBlocks(X)."
        )
    if isinstance(X, Iterator):
        raise ValueError(
            f"X is a {type(X).__name__}, which can be read only once; give a function that returns a new one at "
            "each call: outputcodes.training.RowBlocks(lambda: ...)."
        )
    if not checks.get("skip_check_array"):
        _check_dates(X)
    with np.errstate(invalid="ignore"), naming_place(X), naming_text(estimator, X), naming_learners(estimator):
        return validate_data(estimator, X, *given, **checks)


def check_features(
    estimator: Any, X: Any, tags: Any, *, reset: bool, finite: bool = True, numbers: bool = False
) -> Any:
    """Validate X for `estimator`, recording (`reset`) or comparing feature names and counts.

    Arrays and sparse matrices are checked here. Data frames, arrays on a device, and inputs that are no two-dimensional
    arrays, such as text, are passed on unchanged for the estimator to check. Without `finite`, the estimator looks for
    infinite numbers itself. If it takes only `numbers`, a data frame of them must be finite.
    """
    if not tags.two_d_array or hasattr(X, "columns") or is_on_device(X):
        X = validated(estimator, X, reset=reset, skip_check_array=True)
        if numbers and hasattr(X, "columns"):
            _check_dates(X)
            if not tags.allow_nan:
                _check_finite(estimator, X)
        return X
    X = validated(
        estimator,
        X,
        reset=reset,
        accept_sparse=["csr", "csc"] if tags.sparse else False,
        dtype=None,
        ensure_all_finite=finite and ("allow-nan" if tags.allow_nan else True),
    )
    if reset and tags.pairwise and X.shape[0] != X.shape[1]:
        raise ValueError(f"X is a precomputed kernel and must be square for training; its shape is {X.shape}.")
    return X


def _check_dates(X: Any) -> None:
    """Refuse a data frame with dates, which scikit-learn does without naming the column, or takes for nanoseconds."""
    if (name := first_date(X)) is not None:
        raise ValueError(
            f"Column {name!r} of X has dates or times, which are not numbers: make it a number, such as days since a "
            "fixed date."
        )


def _check_finite(estimator: Any, frame: Any) -> None:
    """Refuse NaN and infinity in a data frame of numbers."""
    try:
        X = np.asarray(frame, dtype=np.float64)
    except (TypeError, ValueError):
        return
    with np.errstate(invalid="ignore"), naming_place(frame), naming_learners(estimator):
        assert_all_finite(X, estimator_name=type(estimator).__name__, input_name="X")


def check_targets(estimator: Any, X: Any, y: Any) -> NDArray[Any]:
    """Validate y as a vector of class labels, one per row of X; delayed ones are computed."""
    y = at_hand(y)
    if y is None:
        raise ValueError(
            f"This {type(estimator).__name__} estimator requires y to be passed, but the target y is None."
        )
    in_parts = isinstance(y, list | tuple) and len(y) != n_rows_of(X) and all(np.ndim(one) == 1 for one in y)
    if in_blocks(y) or (in_parts and len(y)):
        raise ValueError(
            f"y is a {type(y).__name__} of {len(y)} parts: give the labels of all rows as one array, such as "
            "numpy.concatenate(parts)."
        )
    labels: NDArray[Any] = column_or_1d(on_host(y), warn=True)
    if any_missing(labels):
        raise ValueError(MISSING_LABELS)
    if labels.dtype == object and len({isinstance(label, str) for label in labels}) > 1:
        raise ValueError(
            "y has text beside other labels, which have no common order: use one type, as in y.astype(str)."
        )
    check_length(X, labels)
    assert_all_finite(labels, input_name="y")
    check_classification_targets(labels)
    return labels


def any_missing(labels: NDArray[Any]) -> bool:
    """Return whether some label is None, NaN or NA."""
    # NaN differs from itself; the NA of pandas can't be compared.
    if labels.dtype == object:
        return any(label is None or type(label).__name__ == "NAType" or label != label for label in labels)
    return bool(labels.dtype.kind == "f" and np.isnan(labels).any())


def check_length(X: Any, labels: NDArray[Any]) -> None:
    """Raise ValueError unless there is a label per row."""
    if len(labels) != n_rows_of(X):
        raise ValueError(f"y has {len(labels)} labels but X has {n_rows_of(X)} rows; give one label per row.")


def check_classes(labels: NDArray[Any]) -> NDArray[Any]:
    """Return the sorted classes among the labels of all rows with positive weight; at least two."""
    classes: NDArray[Any] = np.unique(labels)
    if len(classes) < 2:
        raise ValueError(
            f"y has only one class with positive weight, {classes.tolist()}; a classifier needs at least two."
        )
    return classes


def as_seed(random_state: Any) -> int:
    """Return one seed for all random choices; an integer is kept, so that the same choices can be drawn elsewhere."""
    if isinstance(random_state, Integral):
        if random_state < 0:
            raise ValueError(f"random_state={random_state} must be at least 0.")
        return int(random_state)
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(np.iinfo(np.int32).max))
    try:
        return int(check_random_state(random_state).randint(np.iinfo(np.int32).max))
    except ValueError as error:
        raise ValueError(
            f"random_state={random_state!r} must be None, an integer of at least 0, a RandomState or a Generator."
        ) from error


def check_n_jobs(n_jobs: Any) -> int | None:
    """Return a number of jobs: None or an integer other than 0; -1 is one per processor, as in joblib."""
    if n_jobs is None:
        return None
    if isinstance(n_jobs, bool) or not isinstance(n_jobs, Integral) or n_jobs == 0:
        raise ValueError(f"n_jobs={n_jobs!r} must be None or an integer other than 0; -1 uses all processors.")
    return int(n_jobs)


def check_weight(weight: ArrayLike | None, n_rows: int) -> Array | None:
    """Validate `sample_weight` as a vector of finite, nonnegative numbers, not all zero; None stays None."""
    if weight is None:
        return None
    weight = at_hand(weight)
    if isinstance(weight, Number):
        weight = np.full(n_rows, weight)
    try:
        checked = np.asarray(on_host(weight), dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError("sample_weight must hold numbers only, one for each row.") from error
    if checked.ndim != 1:
        raise ValueError(f"sample_weight must be 1-dimensional, with one weight per row; its shape is {checked.shape}.")
    if checked.shape[0] != n_rows:
        raise ValueError(
            f"sample_weight has {checked.shape[0]} entries but X has {n_rows} rows; give one weight per row."
        )
    if not np.isfinite(checked).all() or (checked < 0).any():
        row = int(np.flatnonzero(~np.isfinite(checked) | (checked < 0))[0])
        raise ValueError(f"sample_weight[{row}]={checked[row]} must be finite and at least 0.")
    if checked.max(initial=0.0) > LARGEST_WEIGHT:
        raise ValueError(f"sample_weight has entries above {LARGEST_WEIGHT:g}, whose sums overflow; scale them down.")
    if not checked.any():
        raise ValueError("sample_weight is zero for every row; give some rows a positive weight.")
    return checked


def in_blocks(X: Any) -> bool:
    """Return whether X is `RowBlocks`; a column of a data frame may have the same name as a method."""
    return hasattr(type(X), "joined")


def n_rows_of(X: Any) -> int:
    """Return the number of rows of an array, sparse matrix, data frame or list."""
    if not hasattr(X, "shape") and not hasattr(X, "__len__"):
        X = np.asarray(X)
    return int(X.shape[0]) if hasattr(X, "shape") else len(X)


def take_rows(X: Any, rows: NDArray[np.intp] | None) -> Any:
    """Return some rows of an array, sparse matrix, data frame or list; with None, X itself without a copy.

    Blocks of rows are joined.
    """
    X = X.joined() if in_blocks(X) else X
    if rows is None:
        return X
    if hasattr(X, "iloc"):
        return X.iloc[rows]
    if hasattr(X, "shape"):
        return X[rows]
    return [X[i] for i in rows]


def check_labels(y: ArrayLike, n_classes: int) -> NDArray[np.intp]:
    """Validate labels as row numbers of a code with `n_classes` rows."""
    labels = np.asarray(y)
    if labels.ndim != 1 or labels.dtype.kind not in "iu" or not labels.size:
        raise ValueError(
            f"y must be a vector of at least one label 0..k-1; its shape is {labels.shape}, its type {labels.dtype}."
        )
    if labels.min() < 0 or labels.max() >= n_classes:
        raise ValueError(
            f"y has labels from {labels.min()} to {labels.max()}; they must be between 0 and {n_classes - 1}."
        )
    return labels.astype(np.intp)


def check_class_numbers(y: Any) -> NDArray[np.intp]:
    """Return y if it holds class numbers, with -1 for rows that don't count."""
    numbers = np.asarray(y)
    if numbers.ndim != 1 or numbers.dtype.kind not in "iu" or not numbers.size or numbers.min() < -1:
        raise ValueError(
            "y must be a vector of class numbers 0..k-1, and -1 outside `rows`; np.unique(labels, return_inverse=True) "
            f"makes them of labels. Its shape is {numbers.shape}, its type {numbers.dtype}."
        )
    return numbers.astype(np.intp, copy=False)


def check_margins(F: ArrayLike, y: ArrayLike, M: ArrayLike) -> tuple[Array, NDArray[np.intp], Array]:
    """Validate margins (n, L), labels (n,) in 0..k-1 and a code (k, L), and that their shapes match."""
    margins, code = np.asarray(F, dtype=np.float64), np.asarray(M, dtype=np.float64)
    if margins.ndim != 2 or code.ndim != 2 or margins.shape != (np.size(y), code.shape[1]):
        raise ValueError(
            f"The shapes of F {margins.shape}, y {np.shape(y)} and M {code.shape} don't match: they must be "
            "(n, L), (n,) and (k, L)."
        )
    assert_all_finite(margins, input_name="F")
    return margins, check_labels(y, len(code)), code


def check_scores(D: ArrayLike, y: ArrayLike) -> tuple[Array, NDArray[np.intp]]:
    """Validate scores (n, k) and labels (n,) in 0..k-1, and that their shapes match."""
    scores = np.asarray(D, dtype=np.float64)
    if scores.ndim != 2 or len(scores) != np.size(y):
        raise ValueError(
            f"The shapes of D {scores.shape} and y {np.shape(y)} don't match: they must be (n, k) and (n,)."
        )
    assert_all_finite(scores, input_name="D")
    return scores, check_labels(y, scores.shape[1])
