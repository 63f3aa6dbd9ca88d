"""Numbers so large that products of them overflow: refused in training, cut or scaled in prediction."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

Array = NDArray[np.float64]

# Sums of products of two such features stay finite.
LARGEST_FEATURE = 1e100
# Larger margins carry no more information; every loss is still finite here.
LARGEST_MARGIN = 1e9
# The largest number of estimators that convert X to float32, as scikit-learn's trees do.
LARGEST_SINGLE = float(np.finfo(np.float32).max)
# Differences and small multiples of such scores stay finite.
LARGEST_SCORE = 1e300


class HugeFeatureError(ValueError):
    """A feature is too large to be multiplied."""

    def __init__(self, row: int, column: int, value: float) -> None:
        self.row, self.column, self.value = int(row), int(column), float(value)
        super().__init__(
            f"X[{row}, {column}]={value:g} is too large: products of features beyond ±{LARGEST_FEATURE:g} overflow. "
            "Scale the features, or remove the row."
        )

    def __reduce__(self) -> tuple[type[HugeFeatureError], tuple[int, int, float]]:
        # Other processes raise it too.
        return HugeFeatureError, (self.row, self.column, self.value)


def is_huge(X: Any) -> bool:
    """Return whether a feature, dense or csr, is beyond ±LARGEST_FEATURE."""
    values = X.data if sp.issparse(X) else X
    if values.dtype == np.float32:
        return False
    return bool(values.size and (values.max() > LARGEST_FEATURE or values.min() < -LARGEST_FEATURE))


def refuse_huge(X: Any) -> None:
    """Raise ValueError for the first feature that is too large to be multiplied in training.

    >>> refuse_huge(np.array([[1.0, 2.0], [3.0, -1e200]]))
    Traceback (most recent call last):
    ...
    outputcodes._ground.sizes.HugeFeatureError: X[1, 1]=-1e+200 is too large: products of features beyond ...
    """
    if is_huge(X):
        row, column = largest_entry(X, beyond=LARGEST_FEATURE)
        raise HugeFeatureError(row, column, X[row, column])


@contextmanager
def numbered_as(rows: NDArray[np.intp]) -> Iterator[None]:
    """Let the message of `refuse_huge` count rows as in the sample that the `rows` were taken from."""
    try:
        yield
    except HugeFeatureError as error:
        raise HugeFeatureError(rows[error.row], error.column, error.value) from error


def without_huge(X: Any) -> Any:
    """Return X with features beyond ±LARGEST_FEATURE cut there; X itself if there are none."""
    return _cut(X, LARGEST_FEATURE) if is_huge(X) else X


def in_single_precision(X: Any) -> Any:
    """Return X with features that float32 can't hold cut at its largest numbers; X itself if there are none.

    What is neither an array of numbers nor a pandas frame of numbers is returned as it is.
    """
    values = X.data if sp.issparse(X) else X
    if hasattr(X, "clip") and hasattr(X, "to_numpy"):
        values = X.to_numpy()
    if not isinstance(values, np.ndarray) or values.dtype != np.float64:
        return X
    return _cut(X, LARGEST_SINGLE) if (np.abs(values) > LARGEST_SINGLE).any() else X


def _cut(X: Any, largest: float) -> Any:
    if not sp.issparse(X):
        # The method of arrays and of frames, which keep their names.
        return X.clip(-largest, largest)
    cut = X.copy()
    np.clip(cut.data, -largest, largest, out=cut.data)
    return cut


def largest_entry(X: Any, beyond: float = np.inf) -> tuple[int, int]:
    """Return the place of the first entry of X, dense or sparse, beyond a size; without one that of the largest."""
    if sp.issparse(X):
        coo = X.tocoo()
        sizes = np.abs(coo.data)
        place = int(sizes.argmax() if sizes.max() <= beyond else (sizes > beyond).argmax())
        return int(coo.row[place]), int(coo.col[place])
    sizes = np.abs(X)
    place = int(sizes.argmax() if sizes.max() <= beyond else (sizes > beyond).argmax())
    row, column = np.unravel_index(place, X.shape)
    return int(row), int(column)


def cut_margins(F: Array) -> Array:
    """Return margins cut at ±LARGEST_MARGIN; F itself if none is beyond.

    >>> cut_margins(np.array([[1.0, -1e29]])).tolist()
    [[1.0, -1000000000.0]]
    """
    beyond = F.size and (F.max() > LARGEST_MARGIN or F.min() < -LARGEST_MARGIN)
    return np.clip(F, -LARGEST_MARGIN, LARGEST_MARGIN) if beyond else F


def linear_scores(X: Any, weights: Array, intercept: Array | float) -> Array:
    """Return the finite scores X @ weights + intercept of rows that may be huge.

    Where they overflow, the scores of a row are scaled down together, so that their signs and their order are right.

    >>> linear_scores(np.array([[1e308, 1e308], [1.0, 2.0]]), np.array([[30.0, -1.0], [20.0, 3.0]]), 1.0)
    array([[1.0e+300, 4.0e+298],
           [7.1e+001, 6.0e+000]])
    """
    with np.errstate(over="ignore", invalid="ignore"):
        F: Array = X @ weights
        F += intercept
    # NaN, where infinities cancel, is not below the limit either.
    if not F.size or (F.max() <= LARGEST_SCORE and F.min() >= -LARGEST_SCORE):
        return F
    rows = np.flatnonzero(~(np.abs(F) <= LARGEST_SCORE).all(axis=1))
    some = X[rows]
    size = np.asarray(abs(some).max(axis=1).todense() if sp.issparse(some) else np.abs(some).max(axis=1)).reshape(-1, 1)
    part = some.multiply(1 / size).tocsr() if sp.issparse(some) else some / size
    directions: Array = part @ weights
    F[rows] = directions * (LARGEST_SCORE / np.abs(directions).max(axis=1, keepdims=True))
    return F
