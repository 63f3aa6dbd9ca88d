"""The base of our own learners: each fits whole codes on data prepared once, and is also a binary classifier."""

from __future__ import annotations

import warnings
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_array, get_tags
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import check_is_fitted

from outputcodes._ground.naming import naming_learners, naming_text
from outputcodes._ground.sizes import cut_margins, numbered_as, refuse_huge
from outputcodes._ground.validation import (
    check_n_jobs,
    check_targets,
    check_weight,
    is_on_device,
    validated,
)
from outputcodes._ground.whole_fits import whole_or_nothing
from outputcodes.learners.attributes import FeatureAttributes
from outputcodes.learners.base import Certificate, Learner

Rows = NDArray[np.intp]
Array = NDArray[np.float64]


class SharedLearner(FeatureAttributes, Learner, ClassifierMixin, BaseEstimator):
    """Base of the learners that train all columns at once.

    A subclass writes `prepare` and `fit_columns` (see `Learner`) and names its `loss`. It is then also a binary
    scikit-learn classifier: its `fit` trains the code [[-1], [+1]].
    """

    # Which X the learner accepts.
    takes_sparse: ClassVar[bool] = False
    takes_nan: ClassVar[bool] = False
    # Whether it trains on products of features, which must not overflow.
    multiplies_features: ClassVar[bool] = False
    # The parameters that make the solver as exact as possible; none where there is no tolerance.
    exact_parameters: ClassVar[dict[str, Any]] = {}
    # Its own `fit` passes these on; a learner that has such parameters sets them in its constructor.
    n_jobs: int | None = None
    random_state: int | None = None

    @whole_or_nothing
    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Train on two classes; rows of weight zero are left out."""
        if is_on_device(X):
            X, labels = validated(self, X, skip_check_array=True), check_targets(self, X, y)
        else:
            X, labels = validated(self, X, y, **self._checks())
            check_classification_targets(labels)
        weight = check_weight(sample_weight, len(labels))
        rows = np.arange(len(labels)) if weight is None else np.flatnonzero(weight)
        self.classes_ = np.unique(labels[rows])
        if len(self.classes_) > 2:
            raise ValueError(
                "Only binary classification is supported. The type of the target is "
                f"{type_of_target(labels)}. Use OutputCodeClassifier({type(self).__name__}()) for more classes."
            )
        if len(self.classes_) < 2:
            raise ValueError(f"y has only one class with positive weight, {self.classes_.tolist()}; two are needed.")
        numbers = np.arange(len(labels))
        keeps_rows = get_tags(self).input_tags.pairwise or is_on_device(X)
        if len(rows) < len(labels) and weight is not None and not keeps_rows:
            numbers = rows
            X, labels, weight, rows = X[rows], labels[rows], weight[rows], np.arange(len(rows))
        # A kernel keeps its rows of weight 0, which may have a third label; their sign is never used.
        signs = np.minimum(np.searchsorted(self.classes_, labels), 1)
        with numbered_as(numbers):
            data = self.prepare(X)
        self.columns_ = self.fit_columns(
            data,
            signs,
            np.array([[-1], [+1]], dtype=np.int8),
            weight,
            rows=None if len(rows) == len(labels) else rows,
            n_jobs=check_n_jobs(self.n_jobs),
            seed=int(self.random_state or 0),
        )
        if self.columns_.certificate is not None:
            self.n_iter_ = int(self.columns_.certificate.iterations.max())
        return self

    def decision_function(self, X: Any) -> Array:
        """Return the margin of each row: positive for the second class."""
        check_is_fitted(self)
        checks: dict[str, Any] = {"skip_check_array": True} if is_on_device(X) else self._checks()
        X = validated(self, X, reset=False, **checks)
        margins: Array = cut_margins(self.columns_.margins(X))[:, 0]
        return margins

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the second class where the margin is positive, otherwise the first."""
        margins = self.decision_function(X)
        predicted: NDArray[Any] = self.classes_[(margins > 0).astype(np.intp)]
        return predicted

    def _checks(self) -> dict[str, Any]:
        return {
            "accept_sparse": "csr" if self.takes_sparse else False,
            "dtype": np.float64,
            "ensure_all_finite": "allow-nan" if self.takes_nan else True,
        }

    def _as_features(self, X: Any) -> Any:
        """Validate X for `prepare`: float64, dense or csr."""
        if is_on_device(X):
            raise ValueError(
                "X is an array on a device, which only KernelSVM(device='cuda') can read: copy it to the host, by "
                "X.get() (CuPy) or X.cpu() (PyTorch)."
            )
        with naming_text(self, X), naming_learners(self):
            X = check_array(X, input_name="X", estimator=self, **self._checks())
        if self.multiplies_features:
            refuse_huge(X)
        return X

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.input_tags.sparse = self.takes_sparse
        tags.input_tags.allow_nan = self.takes_nan
        return tags


def warn_unless_converged(learner: Any, certificate: Certificate) -> None:
    """Warn about the columns that did not reach their tolerance."""
    missed = ~certificate.converged
    if missed.any():
        warnings.warn(
            f"{type(learner).__name__}: {missed.sum()} of {missed.size} columns did not converge; the worst gap is "
            f"{np.max(certificate.gap[missed]):.2g}. Raise max_iter, scale the features, or regularise more.",
            ConvergenceWarning,
            stacklevel=3,
        )


def effective_rows(y: Rows, M: NDArray[np.int8], weight: Array | None, rows: Rows | None) -> Rows:
    """Return the rows that take part in any column and have positive weight, in order."""
    candidates = np.arange(len(y)) if rows is None else rows
    if weight is not None:
        candidates = candidates[weight[candidates] > 0]
    seen = (M != 0).any(axis=1)
    # A copy of all rows would be large where these are many.
    taking_part: Rows = candidates if seen.all() else candidates[seen[y[candidates]]]
    return taking_part


def entry_weights(M: NDArray[np.int8], column_weight: Array | None) -> Array:
    """Return (k, L) weights of an example of class r in column s, apart from its own weight; 0 = absent."""
    present: Array = (M != 0).astype(np.float64)
    if column_weight is not None:
        present *= column_weight
    return present
