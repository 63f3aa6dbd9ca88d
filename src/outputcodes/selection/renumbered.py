"""A classifier of class numbers without gaps, for samples that lack some of them."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted


class Renumbered(MetaEstimatorMixin, ClassifierMixin, BaseEstimator):
    """A classifier whose labels are numbered 0, 1, … while it is trained.

    XGBoost takes no others, and CatBoost predicts labels in a column of a matrix.

    Parameters
    ----------
    estimator : classifier with `predict_proba`

    Attributes
    ----------
    estimator_ : the fitted classifier
    classes_ : ndarray of shape (k,)

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> model = Renumbered(DecisionTreeClassifier()).fit([[0.0], [1.0], [2.0]], [5, 7, 7])
    >>> model.estimator_.classes_, model.predict([[0.0], [2.0]])
    (array([0, 1]), array([5, 7]))
    """

    def __init__(self, estimator: Any = None) -> None:
        self.estimator = estimator

    def fit(self, X: Any, y: Any) -> Self:
        """Fit the classifier to the numbers of the labels."""
        self.classes_, numbers = np.unique(np.asarray(y), return_inverse=True)
        self.estimator_ = clone(self.estimator).fit(X, numbers)
        return self

    def predict_proba(self, X: Any) -> NDArray[Any]:
        """Return the probabilities of the labels."""
        check_is_fitted(self)
        return np.asarray(self.estimator_.predict_proba(X))

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the most probable labels."""
        labels: NDArray[Any] = self.classes_[self.predict_proba(X).argmax(axis=1)]
        return labels

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = get_tags(self.estimator)
        tags.input_tags, tags.classifier_tags = inner.input_tags, inner.classifier_tags
        return tags
