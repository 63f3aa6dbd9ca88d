"""NearestCentroids: the class whose mean is nearest, for many classes and sparse rows."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from outputcodes._ground.blocks import row_blocks
from outputcodes._ground.sizes import linear_scores, refuse_huge
from outputcodes._ground.validation import check_classes, check_targets, check_weight, validated
from outputcodes._ground.whole_fits import whole_or_nothing
from outputcodes.decoders.classifier import TopK, check_topk

Array = NDArray[np.float64]


class NearestCentroids(ClassifierMixin, BaseEstimator):
    """The class whose mean is nearest to a row in Euclidean distance: a baseline that has nothing to tune.

    The means of sparse rows are sparse: training and prediction need no array of rows by features, which scikit-learn's
    `NearestCentroid` has. Ties go to the first class.

    Attributes
    ----------
    classes_ : ndarray of shape (k,)
    centroids_ : ndarray or csr_array of shape (k, d)
        The mean of the rows of each class.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = NearestCentroids().fit(X, y)
    >>> model.predict(X[[0, 60, 120]])
    array([0, 1, 2])
    >>> model.predict_topk(X[[0, 60]], 2).labels
    array([[0, 1],
           [1, 0]])
    """

    @whole_or_nothing
    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Compute the mean of the rows of each class; rows of weight zero are left out."""
        X = validated(self, X, **_CHECKS)
        refuse_huge(X)
        labels = check_targets(self, X, y)
        weight = check_weight(sample_weight, len(labels))
        rows = np.arange(len(labels)) if weight is None else np.flatnonzero(weight)
        self.classes_ = check_classes(labels[rows])
        number, mass = np.searchsorted(self.classes_, labels[rows]), np.ones(len(rows))
        if weight is not None:
            mass = weight[rows]
        share = mass / np.bincount(number, weights=mass)[number]
        members = sp.csr_array((share, (number, rows)), shape=(len(self.classes_), len(labels)))
        self.centroids_ = members @ X
        # Near the rows, products lose fewer digits.
        self._centre_ = np.zeros(X.shape[1]) if sp.issparse(X) else self.centroids_.mean(axis=0)
        return self

    def decision_function(self, X: Any) -> Array:
        """Return the (n, k) scores, half of the squared distances with a minus sign up to a constant of each row.

        With two classes, the score of the second minus that of the first, (n,).
        """
        D = self._scores(self._checked(X))
        return D if len(self.classes_) > 2 else D[:, 1] - D[:, 0]

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class with the nearest mean, without holding all scores in memory."""
        X = self._checked(X)
        best = [self._scores(X[rows]).argmax(axis=1) for rows in row_blocks(X.shape[0], len(self.classes_))]
        predicted: NDArray[Any] = self.classes_[np.concatenate(best)]
        return predicted

    def predict_topk(self, X: Any, n: int = 5) -> TopK:
        """Return the n nearest classes of each row, the nearest first, without holding all scores in memory.

        There are no probabilities: scikit-learn's `CalibratedClassifierCV` fits some to the scores.
        """
        X, k = self._checked(X), len(self.classes_)
        check_topk(n, k)
        labels, scores = np.empty((X.shape[0], n), dtype=self.classes_.dtype), np.empty((X.shape[0], n))
        for rows in row_blocks(X.shape[0], k):
            D = self._scores(X[rows])
            best = np.argsort(-D, axis=1, kind="stable")[:, :n]
            labels[rows], scores[rows] = self.classes_[best], np.take_along_axis(D, best, axis=1)
        return TopK(labels, scores, None)

    def _checked(self, X: Any) -> Any:
        check_is_fitted(self)
        return validated(self, X, reset=False, **_CHECKS)

    def linear_terms(self) -> tuple[Any, Array]:
        """Return the weights (d, k), sparse if the means are, and the intercepts (k,) of the scores."""
        check_is_fitted(self)
        if sp.issparse(self.centroids_):
            return self.centroids_.T, -0.5 * np.asarray(self.centroids_.multiply(self.centroids_).sum(axis=1)).ravel()
        means = self.centroids_ - self._centre_
        return means.T, -(0.5 * np.einsum("ij,ij->i", means, means) + self._centre_ @ means.T)

    def _scores(self, X: Any) -> Array:
        weights, intercepts = self.linear_terms()
        if sp.issparse(weights):
            products = X @ weights
            return np.asarray(products.toarray() if sp.issparse(products) else products) + intercepts
        return linear_scores(X, weights, intercepts)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


_CHECKS: dict[str, Any] = {"accept_sparse": "csr", "dtype": np.float64}
