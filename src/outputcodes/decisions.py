"""Decisions based on class probabilities: costs, other priors, and rejection."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Real
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.utils import get_tags
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, column_or_1d

from outputcodes._ground.validation import check_weight
from outputcodes._ground.whole_fits import whole_or_nothing
from outputcodes.decoders.classifier import DecodingClassifier

Array = NDArray[np.float64]

REJECTED = -1


def decide(
    P: ArrayLike,
    *,
    cost: ArrayLike | None = None,
    priors: ArrayLike | None = None,
    training_priors: ArrayLike | None = None,
    reject_below: float | None = None,
) -> NDArray[np.intp]:
    """Return the decision of least expected cost for each row of probabilities, 0..k-1, or −1 if it is rejected.

    Parameters
    ----------
    P : array of shape (n, k)
        Class probabilities.
    cost : array of shape (k, k) or (k, k + 1), optional
        cost[r, s] is the cost of predicting s when r is true; an additional last column is the cost of rejecting. None
        means 1 for every error. Ties go to the lower index, with rejection last.
    priors, training_priors : arrays of shape (k,), optional
        The class frequencies to expect, and those of the sample that P was learned from.
    reject_below : float, optional
        Reject rows whose decided class has a smaller probability.

    Examples
    --------
    >>> P = [[0.6, 0.4], [0.9, 0.1], [0.45, 0.55]]
    >>> decide(P, reject_below=0.7)
    array([-1,  0, -1])
    >>> decide(P, cost=[[0, 1], [5, 0]])
    array([1, 0, 1])
    >>> decide(P, cost=[[0, 1, 0.3], [1, 0, 0.3]])
    array([-1,  0, -1])
    """
    P = _as_probabilities(P)
    k = P.shape[1]
    if priors is not None:
        P = with_priors(P, priors, training_priors)
    losses = 1.0 - np.eye(k) if cost is None else np.asarray(cost, dtype=np.float64)
    if losses.shape not in ((k, k), (k, k + 1)) or not np.isfinite(losses).all():
        raise ValueError(
            f"cost of shape {losses.shape} must contain finite numbers, one row for each of the {k} classes and one "
            f"column for each decision: ({k}, {k}), or ({k}, {k + 1}) with the cost of rejecting."
        )
    chosen: NDArray[np.intp] = P.argmax(axis=1) if cost is None else (P @ losses).argmin(axis=1)
    if reject_below is not None:
        if not isinstance(reject_below, Real) or not 0 <= reject_below <= 1:
            raise ValueError(f"reject_below={reject_below!r} must be a number between 0 and 1.")
        chosen[P[np.arange(len(P)), np.minimum(chosen, k - 1)] < reject_below] = k
    return np.where(chosen == k, REJECTED, chosen)


def with_priors(P: ArrayLike, priors: ArrayLike, training_priors: ArrayLike | None) -> Array:
    """Return probabilities for other class frequencies: P·priors/training_priors, with rows normalised.

    >>> with_priors([[0.5, 0.5]], [0.9, 0.1], [0.5, 0.5])
    array([[0.9, 0.1]])
    """
    P = _as_probabilities(P)
    if training_priors is None:
        raise ValueError("priors need training_priors, the class frequencies of the sample that P was learned from.")
    try:
        new, old = np.asarray(priors, dtype=np.float64), np.asarray(training_priors, dtype=np.float64)
    except (TypeError, ValueError) as reason:
        raise ValueError(
            f"priors={priors!r} and training_priors={training_priors!r} must be {P.shape[1]} numbers each, in the "
            "order of the classes."
        ) from reason
    for name, given, lowest in (("priors", new, "at least 0"), ("training_priors", old, "positive")):
        if given.shape != P.shape[1:] or not np.isfinite(given).all() or given.min() < 0 or not given.any():
            raise ValueError(f"{name}={given.tolist()} must be {P.shape[1]} numbers, {lowest}, one per class.")
    if (old == 0).any():
        raise ValueError(f"training_priors={old.tolist()} must be positive.")
    changed = P * (new / old)
    total = changed.sum(axis=1, keepdims=True)
    # If all classes of a row have become impossible, only the priors remain.
    return np.where(total > 0, changed / np.where(total > 0, total, 1.0), new / new.sum())


def code_distance(F: ArrayLike, M: ArrayLike, rows: ArrayLike) -> Array:
    """Return the share of non-zero bits of row rows[i] of the code that F[i] contradicts; a margin of 0 counts half.

    >>> code_distance([[2.0, -1.0, 0.0]], [[1, 1, 1], [-1, 0, 1]], [0])
    array([0.5])
    """
    F, chosen = np.asarray(F, dtype=np.float64), np.asarray(M, dtype=np.float64)[np.asarray(rows, dtype=np.intp)]
    if F.shape != chosen.shape:
        raise ValueError(f"F of shape {F.shape} does not match the rows of the code, of shape {chosen.shape}.")
    share: Array = (1 - (np.sign(F) * chosen).sum(axis=1) / np.count_nonzero(chosen, axis=1)) / 2
    return share


def _as_probabilities(P: ArrayLike) -> Array:
    checked = np.asarray(P, dtype=np.float64)
    if checked.ndim != 2 or not (checked >= 0).all() or not np.allclose(checked.sum(axis=1), 1, atol=1e-6):
        raise ValueError(f"P of shape {checked.shape} must be (n, k) with rows of probabilities that sum to 1.")
    return checked


def _with_label(classes: NDArray[Any], label: Any) -> NDArray[Any]:
    """Append a label to the classes; use objects if a common type would change the labels, as numbers to strings."""
    one, both = np.asarray([label]), np.append(classes, label)
    same_kind = both.dtype.kind == classes.dtype.kind or {both.dtype.kind, classes.dtype.kind} == {"i", "u"}
    if same_kind and (one.dtype.kind == "U") == (classes.dtype.kind == "U"):
        return both
    return np.append(classes.astype(object), np.asarray([label], dtype=object))


def _has_probabilities(classifier: DecisionClassifier) -> bool:
    return hasattr(getattr(classifier, "estimator_", classifier.estimator), "predict_proba")


class DecisionClassifier(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):
    """A classifier that decides by costs and priors and can reject rows, based on the probabilities of another one.

    Parameters
    ----------
    estimator : classifier with predict_proba
    cost : array of shape (k, k) or (k, k + 1), optional
        As for `decide`, classes in sorted order.
    priors : array of shape (k,), optional
        The class frequencies to expect. The frequencies in training are those of the sample, weighted by
        `sample_weight` and by a `class_weight` of the estimator.
    reject_below : float, optional
        Reject predictions with a smaller probability.
    reject_beyond : float, optional
        Reject predictions whose row of the code contradicts more than this share of the margins, see
        `code_distance`; for estimators with `margins` and `code_matrix_`.
    rejected : label, optional
        The label of rejected rows: by default −1 for numeric labels and "rejected" for others. It is not a class, and
        `score` counts it as an error. If its type differs from that of the classes, predictions are an array of
        objects.

    Attributes
    ----------
    classes_ : ndarray of shape (k,)
    estimator_ : the fitted classifier
    training_priors_ : ndarray of shape (k,)
    rejected_ : the label of rejected rows

    Examples
    --------
    >>> from outputcodes import OutputCodeClassifier
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = DecisionClassifier(OutputCodeClassifier(probability="likelihood", random_state=0), reject_below=0.7)
    >>> model.fit(X, y).predict(X[[0, 70, 120]])
    array([ 0, -1,  2])
    """

    def __init__(
        self,
        estimator: Any,
        *,
        cost: ArrayLike | None = None,
        priors: ArrayLike | None = None,
        reject_below: float | None = None,
        reject_beyond: float | None = None,
        rejected: Any = None,
    ) -> None:
        self.estimator = estimator
        self.cost = cost
        self.priors = priors
        self.reject_below = reject_below
        self.reject_beyond = reject_beyond
        self.rejected = rejected

    @whole_or_nothing
    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Train the estimator."""
        given = {} if sample_weight is None else {"sample_weight": sample_weight}
        self.estimator_ = clone(self.estimator).fit(X, y, **given)
        self.classes_ = self.estimator_.classes_
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(self.estimator_, name):
                setattr(self, name, getattr(self.estimator_, name))
        self.training_priors_ = self._frequencies(column_or_1d(y), sample_weight)
        numeric = self.classes_.dtype.kind in "biuf"
        self.rejected_ = (REJECTED if numeric else "rejected") if self.rejected is None else self.rejected
        self._check_parameters()
        return self

    def _frequencies(self, labels: NDArray[Any], sample_weight: ArrayLike | None) -> Array:
        """Return the class frequencies of the sample as weighted by the estimator; its probabilities reflect them."""
        weight = check_weight(sample_weight, len(labels))
        members = labels == self.classes_[:, None]
        mass = members.sum(axis=1) if weight is None else members @ weight
        given = getattr(self.estimator_, "class_weight", None)
        if isinstance(given, Mapping) or (isinstance(given, str) and given == "balanced"):
            seen, counted = self.classes_[mass > 0], slice(None) if weight is None else weight > 0
            own = None if weight is None else weight[counted]
            factor: Any
            if isinstance(given, Mapping):
                factor = [given.get(label, 1.0) for label in seen.tolist()]
            else:
                factor = compute_class_weight("balanced", classes=seen, y=labels[counted], sample_weight=own)
            mass = mass.astype(np.float64)
            mass[mass > 0] *= factor
        frequencies: Array = mass / mass.sum()
        return frequencies

    def _check_parameters(self) -> None:
        """Raise errors in `fit` rather than in `predict`."""
        if not hasattr(self.estimator_, "predict_proba"):
            raise ValueError(
                f"estimator={type(self.estimator).__name__} has no predict_proba, which decisions are based on; "
                "use an estimator with predict_proba, such as OutputCodeClassifier(probability='softmax'), or "
                "calibrate it with sklearn.calibration.CalibratedClassifierCV."
            )
        absent = self.classes_[self.training_priors_ == 0]
        if self.priors is not None and len(absent):
            raise ValueError(
                f"priors={self.priors!r} cannot be used: the sample has no examples of the classes {absent.tolist()}, "
                "so their frequency in training is unknown. Add examples of them, or omit priors."
            )
        k = len(self.classes_)
        self._decided(np.full((1, k), 1 / k))
        if self._may_reject() and self.rejected_ in self.classes_.tolist():
            raise ValueError(f"rejected={self.rejected_!r} is one of the classes; give another label.")
        if self.reject_beyond is None:
            return
        if not isinstance(self.reject_beyond, Real) or not 0 <= self.reject_beyond <= 1:
            raise ValueError(f"reject_beyond={self.reject_beyond!r} must be a number between 0 and 1.")
        if not isinstance(self.estimator_, DecodingClassifier):
            raise ValueError(
                f"reject_beyond needs the margins of an output code; {type(self.estimator).__name__} has none."
            )

    @available_if(_has_probabilities)
    def predict_proba(self, X: Any) -> Array:
        """Return the probabilities of the estimator, adjusted to `priors` if given."""
        check_is_fitted(self)
        P: Array = self.estimator_.predict_proba(X)
        return P if self.priors is None else with_priors(P, self.priors, self.training_priors_)

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the labels of least expected cost, or `rejected_`."""
        check_is_fitted(self)
        chosen = self._decided(self.estimator_.predict_proba(X))
        if self.reject_beyond is not None:
            distance = code_distance(self.estimator_.margins(X), self.estimator_.code_matrix_, chosen.clip(0))
            chosen[distance > self.reject_beyond] = REJECTED
        # The type of the result must not depend on whether a row is rejected.
        labels = _with_label(self.classes_, self.rejected_) if self._may_reject() else self.classes_
        predicted: NDArray[Any] = labels[chosen]
        return predicted

    def score(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Return the share of rows, or of their weight, that are correct; rejected rows are not."""
        right = self.predict(X).astype(object) == np.asarray(y).ravel().astype(object)
        return float(np.average(right, weights=check_weight(sample_weight, len(right))))

    def _may_reject(self) -> bool:
        costs_of_rejecting = self.cost is not None and np.shape(self.cost)[1] > len(self.classes_)
        return costs_of_rejecting or self.reject_below is not None or self.reject_beyond is not None

    def _decided(self, P: Array) -> NDArray[np.intp]:
        return decide(
            P,
            cost=self.cost,
            priors=self.priors,
            training_priors=self.training_priors_,
            reject_below=self.reject_below,
        )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = get_tags(self.estimator).input_tags
        for name in ("sparse", "allow_nan", "two_d_array", "pairwise"):
            setattr(tags.input_tags, name, getattr(inner, name))
        return tags
