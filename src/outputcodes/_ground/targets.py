"""The kind of y, decided once at the entry: one label per row, or a set of labels per row (multilabel)."""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils import assert_all_finite, check_array
from sklearn.utils.multiclass import type_of_target

Array = NDArray[np.float64]


def indicates_labels(y: Any) -> bool:
    """Return whether y is a matrix with a column per label.

    >>> indicates_labels([[0, 1], [1, 1]]), indicates_labels([0, 1]), indicates_labels([[0], [1]])
    (True, False, False)
    """
    if y is None or (y.ndim if hasattr(y, "ndim") else np.asarray(y, dtype=object).ndim) != 2:
        return False
    assert_all_finite(y, input_name="y")
    return bool(type_of_target(y, input_name="y") == "multilabel-indicator")


def declared_order(y: Any) -> NDArray[Any] | None:
    """Return the labels in the order that an ordered pandas Categorical (or a Series of it) declares, or None."""
    dtype: Any = getattr(y, "dtype", None)
    return np.asarray(dtype.categories) if getattr(dtype, "ordered", False) else None


def as_indicators(y: Any) -> NDArray[np.int8]:
    """Return dense or sparse indicators, of 0 and 1 or of -1 and +1, as a matrix of 0 and 1.

    >>> as_indicators([[-1, 1], [1, 1]])
    array([[0, 1], [1, 1]], dtype=int8)
    """
    Y: NDArray[Any] = check_array(y.toarray() if sp.issparse(y) else y, dtype=None)
    if not (np.isin(Y, (0, 1)).all() or np.isin(Y, (-1, 1)).all()):
        raise ValueError("y is not an indicator matrix: its entries must be 0 and 1, or -1 and +1.")
    return (Y > 0).astype(np.int8)


class OneLabel:
    """One label per row: predictions are the labels of class numbers.

    >>> OneLabel(np.array(["cat", "dog"])).predictions(np.array([1, 0]))
    array(['dog', 'cat'], dtype='<U3')
    """

    multilabel: ClassVar[bool] = False

    def __init__(self, classes: NDArray[Any], order: NDArray[Any] | None = None) -> None:
        self.classes = classes
        # The labels in the order that y declares, if it declares one.
        self.order = order

    def predictions(self, best: NDArray[np.intp]) -> Any:
        """Return the labels of the classes that a decoder chose."""
        return self.classes[best]

    def decision(self, D: Array) -> Array:
        """Return scores in scikit-learn's form: for two classes one column, score of the second − of the first."""
        return D if len(self.classes) > 2 else D[:, 1] - D[:, 0]

    def comparable(self, y: Any) -> Any:
        """Return true labels in the form of the predictions."""
        return y


class ManyLabels:
    """A set of labels per row: predictions are indicators in the `form` of y, "dense" or a sparse "array" or "matrix".

    >>> labels = ManyLabels(3, "dense")
    >>> labels.classes, labels.predictions(np.array([[1, 0, 1]]))
    (array([0, 1, 2]), array([[1, 0, 1]]))
    """

    multilabel: ClassVar[bool] = True

    order: ClassVar[None] = None

    def __init__(self, n_labels: int, form: str) -> None:
        self.classes = np.arange(n_labels)
        self.form = form

    def predictions(self, best: NDArray[np.intp]) -> Any:
        """Return the indicators in the form of the y of the training."""
        if self.form == "dense":
            return best
        return sp.csr_array(best) if self.form == "array" else sp.csr_matrix(best)

    def decision(self, D: Array) -> Array:
        """Return the score of each label, (n, L)."""
        return D

    def comparable(self, y: Any) -> Any:
        """Return true indicators in the form of the predictions."""
        return as_indicators(y)


Targets = OneLabel | ManyLabels


class LabelSets(NamedTuple):
    """The different label sets of a sample as the rows of a code, the set of each row, and the form of predictions."""

    code: NDArray[np.int8]
    numbers: NDArray[np.intp]
    targets: ManyLabels


def label_sets(y: Any) -> LabelSets:
    """Return the label sets of indicators, dense or sparse.

    >>> sets = label_sets([[1, 0], [0, 0], [1, 0]])
    >>> sets.code.tolist(), sets.numbers
    ([[-1, -1], [1, -1]], array([1, 0, 1]))
    """
    indicators = as_indicators(y)
    form = "dense" if not sp.issparse(y) else "array" if isinstance(y, sp.sparray) else "matrix"
    sets, numbers = np.unique(indicators, axis=0, return_inverse=True)
    return LabelSets(2 * sets - 1, numbers.reshape(-1), ManyLabels(indicators.shape[1], form))
