"""The assignment of the rows of a code to the classes, by the similarity of the classes."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.preprocessing import StandardScaler
from sklearn.utils import check_array, check_consistent_length

from outputcodes._ground.validation import check_labels, check_weight, take_rows
from outputcodes.codes._data_driven import Array, DataDriven, HeldOut, labels_and_weight
from outputcodes.codes._row_search import smallest_assignment
from outputcodes.codes.base import Matrix, as_entries
from outputcodes.codes.elementary import OneVsAll
from outputcodes.codes.properties import row_distances
from outputcodes.codes.resolve import as_code


def assign(M: ArrayLike, similarity: ArrayLike, similar: Literal["near", "distant"] = "near") -> NDArray[np.intp]:
    """Assign the rows of a code to the classes: `M[assign(M, similarity)]` is the code to use.

    The criterion is the mean distance of the rows of two classes, weighted by their similarity,
    sum over a < b of similarity[a, b]·distance(row of a, row of b) / sum of similarity.

    Parameters
    ----------
    M : array of shape (k, L)
    similarity : array of shape (k, k)
        Symmetric; the diagonal, a positive factor and an added constant don't matter. See `confusion_similarity` and
        `centroid_similarity`.
    similar : {"near", "distant"}, default="near"
        "near" minimises the criterion: few columns separate similar classes, so that the columns are easy to learn.
        "distant" maximises it: errors between similar classes are corrected best, by columns that are harder to learn.
        For short dense codes on real data, "near" usually decreases the error and "distant" increases it; for sparse
        codes neither helps reliably.

    Returns
    -------
    rows : ndarray of shape (k,)
        Class r gets row rows[r]. By the criterion it is never worse than the identity, and optimal for up to 7
        classes. For more classes it is a local optimum: no exchange of two classes improves it.

    Notes
    -----
    This is a quadratic assignment problem, which is NP-hard. A relaxed solution (FAQ, a sequence of linear assignments)
    and the identity are improved by the best exchanges of two rows, and the better result is returned. A step takes
    O(k³). Similarities that differ only by rounding give the same rows.

    Examples
    --------
    >>> M = np.array([[1, 1, 1], [1, 1, -1], [-1, -1, -1], [-1, -1, 1]])
    >>> similarity = [[0, 0, 1, 0], [0, 0, 0, 1], [1, 0, 0, 0], [0, 1, 0, 0]]
    >>> assign(M, similarity)
    array([0, 2, 1, 3])
    """
    M = as_entries(M)
    k = len(M)
    alike = np.asarray(similarity, dtype=np.float64)
    if alike.shape != (k, k) or not np.isfinite(alike).all() or not np.allclose(alike, alike.T):
        raise ValueError(f"similarity must be a symmetric ({k}, {k}) array of finite numbers, one row per class.")
    if similar not in ("near", "distant"):
        raise ValueError(f"similar must be 'near' or 'distant', got {similar!r}.")
    apart = row_distances(M)
    alike = alike * (1.0 if similar == "near" else -1.0)
    np.fill_diagonal(alike, 0)
    np.fill_diagonal(apart, 0)
    return smallest_assignment(alike, apart)


def confusion_similarity(confusion: ArrayLike) -> Array:
    """Return the similarity of classes by their confusions: the mean share of one that is predicted as the other.

    `confusion[a, b]` is the number or weight of rows of class a that are predicted as b.

    >>> confusion_similarity([[8, 2, 0], [1, 9, 0], [0, 0, 5]])
    array([[0.  , 0.15, 0.  ],
           [0.15, 0.  , 0.  ],
           [0.  , 0.  , 0.  ]])
    """
    counts = np.asarray(confusion, dtype=np.float64)
    if counts.ndim != 2 or counts.shape[0] != counts.shape[1] or not (counts >= 0).all():
        raise ValueError(f"confusion must be a square array of nonnegative numbers; its shape is {counts.shape}.")
    rows = counts.sum(axis=1, keepdims=True)
    shares = np.divide(counts, rows, out=np.zeros_like(counts), where=rows > 0)
    similarity: Array = (shares + shares.T) / 2
    np.fill_diagonal(similarity, 0)
    return similarity


def centroid_similarity(X: Any, y: ArrayLike, n_classes: int, weight: ArrayLike | None = None) -> Array:
    """Return the similarity of classes by their means: exp(-d²/mean d²), with d in standard deviations of X.

    X is an array or a sparse matrix of numbers; every class needs a row of positive weight.

    >>> centroid_similarity([[0.0], [1.0], [3.0]], [0, 1, 2], 3).round(2)
    array([[0.  , 0.81, 0.15],
           [0.81, 0.  , 0.42],
           [0.15, 0.42, 0.  ]])
    """
    values = check_array(X, accept_sparse="csr", dtype=np.float64)
    labels = check_labels(y, n_classes)
    check_consistent_length(values, labels)
    mass = check_weight(1.0 if weight is None else weight, len(labels))
    members = sparse.csr_array((mass, (labels, np.arange(len(labels)))), shape=(n_classes, len(labels)))
    of_class = members.sum(axis=1)
    if not of_class.all():
        raise ValueError(
            f"y has no row of class {int(of_class.argmin())} with positive weight, so that it has no mean."
        )
    sums = members @ StandardScaler(with_mean=False).fit_transform(values, sample_weight=mass)
    means = (sums.toarray() if sparse.issparse(sums) else sums) / of_class[:, None]
    # Only differences matter, and far from the origin they would be lost in squares.
    squared = euclidean_distances(means - means.mean(axis=0), squared=True)
    similarity: Array = np.exp(-squared / (squared[np.triu_indices(n_classes, 1)].mean() or 1.0))
    np.fill_diagonal(similarity, 0)
    return similarity


class Assigned(DataDriven):
    """Another code whose rows are assigned to the classes by their similarity, see `assign`.

    Parameters
    ----------
    code : str, Code or matrix, default="dense"
    similarity : {"centroids", "confusions"} or array of shape (k, k), default="centroids"
        By the class means of X, which must be numeric; by the confusions of one-vs-all on held-out rows, for any X and
        any kernel; or your own, with classes in sorted order.
    similar : {"near", "distant"}, default="near"
    cv : int, splitter or None, default=3
        The folds of the held-out margins, for similarity="confusions".

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from outputcodes import OutputCodeClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> code = [[1, 1, 1], [-1, -1, -1], [1, 1, -1]]
    >>> OutputCodeClassifier("ridge", code=Assigned(code)).fit(X, y).code_matrix_  # the last two classes are alike
    array([[-1, -1, -1],
           [ 1,  1, -1],
           [ 1,  1,  1]], dtype=int8)
    """

    def __init__(
        self,
        code: Any = "dense",
        similarity: str | ArrayLike = "centroids",
        similar: Literal["near", "distant"] = "near",
        cv: Any = 3,
    ) -> None:
        self.code = code
        self.similarity = similarity
        self.similar = similar
        self.cv = cv

    def _check_parameters(self) -> None:
        if isinstance(self.similarity, str) and self.similarity not in ("confusions", "centroids"):
            raise ValueError(f"similarity must be 'confusions', 'centroids' or an array, got {self.similarity!r}.")

    def _matrix(self, k: int, rng: np.random.Generator, problem: Any) -> Matrix:
        # A similarity given by the user needs no data.
        matrix = super()._matrix if isinstance(self.similarity, str) else self._from_problem
        return matrix(k, rng, problem)

    def _from_problem(self, k: int, rng: np.random.Generator, problem: Any) -> Matrix:
        M: Matrix = as_code(self.code).draw(k, random_state=rng, problem=problem).matrix()
        return np.ascontiguousarray(M[assign(M, self._similarity(k, problem), self.similar)])

    def _similarity(self, k: int, problem: Any) -> ArrayLike:
        if not isinstance(self.similarity, str):
            return self.similarity
        if self.similarity == "centroids":
            y, weight = labels_and_weight(problem)
            try:
                return centroid_similarity(take_rows(problem.X, problem.rows), y, k, weight)
            except ValueError as error:
                raise ValueError(
                    f"similarity='centroids' does not support this X; use 'confusions': {error}"
                ) from error
        held_out = HeldOut(problem, k, self.cv)
        return confusion_similarity(held_out.confusion(held_out.total(OneVsAll().draw(k).matrix())))
