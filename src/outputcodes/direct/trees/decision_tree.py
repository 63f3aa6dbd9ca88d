"""A multiclass decision tree whose questions are about one feature, a hyperplane, or a sphere."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Real
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils import Bunch
from sklearn.utils.validation import check_is_fitted

from outputcodes._ground.validation import as_seed, check_n_jobs, check_targets, check_weight, unknown_name, validated
from outputcodes._ground.whole_fits import whole_or_nothing
from outputcodes._histograms.binning import categorical_mask
from outputcodes._histograms.costs import ENTROPY, ERROR, GINI, KEARNS_MANSOUR
from outputcodes._histograms.growth import Rules, as_limit
from outputcodes.direct.trees.growth import grow_tree
from outputcodes.direct.trees.pruning import cross_validated_alpha, pruned, pruning_path
from outputcodes.direct.trees.structure import GrownTree

Array = NDArray[np.float64]
Rows = NDArray[np.intp]

CRITERIA = {"gini": GINI, "entropy": ENTROPY, "error": ERROR, "kearns-mansour": KEARNS_MANSOUR}
QUESTIONS = ("axis", "oblique", "sphere")


class DecisionTree(ClassifierMixin, BaseEstimator):
    """A decision tree for any number of classes: grown greedily, and pruned on request.

    A region is split by the question for which the total cost of the two sides is smallest. With n_c the weight of
    class c in a region and n their sum, its cost is n − Σ n_c²/n ("gini"), −Σ n_c ln(n_c/n) ("entropy"), n − max n_c
    ("error") or (Σ √n_c)² − n ("kearns-mansour"). Among equally good questions, up to 1e-9 of the weight, the simplest
    kind wins, and within this kind the widest gap between the values on the two sides, relative to the feature's range.
    The prediction of a region is the class with the largest weight; ties go to the first class.

    A missing value (NaN) leaves questions about its feature open, as well as hyperplanes and spheres that use it. Such
    examples go together to the side with the smaller cost, or form a side of their own; for categorical features they
    are one more category. If the region had none in training, they go to the side with more weight, as do new
    categories.

    Parameters
    ----------
    questions : sequence of {"axis", "oblique", "sphere"}, default=("axis",)
        "axis": x_f <= t, for every t midway between two values; for categorical features x_f ∈ S, for every subset S of
        up to 8 categories, with more categories for the subsets that are optimal for two classes. Thresholds win ties.
        This kind is required.
        "oblique": Σ a_j x_j <= t, found by a descent from the best axis question and never worse than it; with two
        features and at most 64 examples in a region, the best hyperplane.
        "sphere": ‖x − c‖ <= r around examples c of the region, for every r midway between two distances. The last two
        kinds use the numeric features unscaled; for spheres, scale them first.
    criterion : {"gini", "entropy", "error", "kearns-mansour"}, default="gini"
    min_region : int, default=1
        Regions with at most this many examples, regardless of weight, are not split.
    min_gain : float, default=0.0
        The minimal decrease of the cost by a question, as a fraction of the weight of all examples.
    max_depth : int, optional
        The maximal number of questions from the root to a leaf.
    pruning : "cv", float or None, default=None
        A number is the penalty α per leaf: the grown tree is cut to the smallest tree that minimises
        (training error) + α · (number of leaves). "cv" uses the α with the smallest error in cross-validation, the
        largest one in case of ties. None does not prune.
    n_folds : int, default=5
        The number of folds for "cv".
    categorical_features : list of int or mask of bool, optional
        Features whose values, any numbers, have no order.
    max_centres : int, default=64
        Spheres are tried around at most this many different examples of a region, evenly spread.
    n_jobs : int, optional
        The number of threads for the folds; the result does not depend on it.
    random_state : int, RandomState or None, default=0
        Determines the folds.

    Attributes
    ----------
    classes_ : ndarray of shape (k,)
    tree_ : GrownTree
        The nodes as arrays, and the weight of each class in each of them.
    n_leaves_, depth_ : int
    feature_importances_ : ndarray of shape (d,)
        The share of each feature in the decrease of the cost, with sum 1; only if every question is about one feature.
    alpha_ : float
        The penalty per leaf, if the tree was pruned.
    cv_path_ : Bunch
        With pruning="cv": the `ccp_alphas` of the path and their held-out `errors`.

    References
    ----------
    Breiman, Friedman, Olshen & Stone, "Classification and Regression Trees" (1984).
    Kearns & Mansour, "On the boosting ability of top-down decision tree learning algorithms", JCSS 58 (1999).
    Murthy, Kasif & Salzberg, "A system for induction of oblique decision trees", JAIR 2 (1994).

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = DecisionTree(pruning="cv").fit(X, y)
    >>> model.n_leaves_, model.predict(X[[0, 60, 120]])
    (3, array([0, 1, 2]))
    >>> DecisionTree(("axis", "oblique")).fit(X, y).n_leaves_ < DecisionTree().fit(X, y).n_leaves_
    True
    """

    def __init__(
        self,
        questions: Sequence[Literal["axis", "oblique", "sphere"]] = ("axis",),
        criterion: Literal["gini", "entropy", "error", "kearns-mansour"] = "gini",
        *,
        min_region: int = 1,
        min_gain: float = 0.0,
        max_depth: int | None = None,
        pruning: float | Literal["cv"] | None = None,
        n_folds: int = 5,
        categorical_features: ArrayLike | None = None,
        max_centres: int = 64,
        n_jobs: int | None = None,
        random_state: Any = 0,
    ) -> None:
        self.questions = questions
        self.criterion = criterion
        self.min_region = min_region
        self.min_gain = min_gain
        self.max_depth = max_depth
        self.pruning = pruning
        self.n_folds = n_folds
        self.categorical_features = categorical_features
        self.max_centres = max_centres
        self.n_jobs = n_jobs
        self.random_state = random_state

    @whole_or_nothing
    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Grow the tree, and prune it; rows of weight zero are left out."""
        X, labels, weight = self._check_data(X, y, sample_weight)
        self.classes_, numbers = np.unique(labels, return_inverse=True)
        mask = categorical_mask(self.categorical_features, X.shape[1])

        def grow(rows: Rows | slice) -> GrownTree:
            return self._grow(X[rows], numbers[rows], weight[rows], mask)

        tree = grow(slice(None))
        for name in ("alpha_", "cv_path_"):
            if hasattr(self, name):
                delattr(self, name)
        if self.pruning == "cv":
            n_folds, seed = min(self.n_folds, len(X)), as_seed(self.random_state)
            self.alpha_, errors = cross_validated_alpha(tree, grow, X, numbers, weight, n_folds, seed, self.n_jobs)
            self.cv_path_ = Bunch(ccp_alphas=pruning_path(tree)[0], errors=errors)
        elif self.pruning is not None:
            self.alpha_ = float(self.pruning)
        self.tree_ = tree if self.pruning is None else pruned(tree, self.alpha_)
        self._importances_ = self.tree_.importances(CRITERIA[self.criterion], X.shape[1])
        self.n_leaves_, self.depth_ = self.tree_.n_leaves, int(self.tree_.depths.max())
        return self

    @property
    def feature_importances_(self) -> Array:
        """The share of each feature in the decrease of the cost by all questions, (d,), as in scikit-learn."""
        check_is_fitted(self)
        if self._importances_ is None:
            raise AttributeError(
                "This DecisionTree has no feature_importances_: some of its questions are about several features."
            )
        return self._importances_

    def predict_proba(self, X: Any) -> Array:
        """Return (n, k) shares of the classes in the region of each row."""
        leaves = self.apply(X)
        shares: Array = self.tree_.probabilities[leaves]
        return shares

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the most probable class of each row; ties go to the first class."""
        leaves = self.apply(X)
        predicted: NDArray[Any] = self.classes_[self.tree_.labels[leaves]]
        return predicted

    def apply(self, X: Any) -> Rows:
        """Return the index of the leaf that each row of X reaches, a row of `tree_.counts`."""
        check_is_fitted(self)
        return self.tree_.leaves(validated(self, X, reset=False, **self._checks()))

    def cost_complexity_pruning_path(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Bunch:
        """Return the prunings of the grown tree that `pruning=alpha` can produce, by ascending α.

        Returns
        -------
        path : Bunch
            `ccp_alphas`, each the smallest α for its tree; training `errors` and `n_leaves` of the trees.

        Examples
        --------
        >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 1, 1, 2]
        >>> DecisionTree().cost_complexity_pruning_path(X, y).ccp_alphas
        array([0.  , 0.25])
        """
        grown = clone(self).set_params(pruning=None).fit(X, y, sample_weight)
        alphas, errors, n_leaves = pruning_path(grown.tree_)
        return Bunch(ccp_alphas=alphas, errors=errors, n_leaves=n_leaves)

    def _check_data(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None) -> tuple[Array, NDArray[Any], Array]:
        """Validate the data; return the rows of positive weight."""
        self._check_parameters()
        X = validated(self, X, **self._checks())
        labels = check_targets(self, X, y)
        weight = check_weight(sample_weight, len(labels))
        if weight is None:
            return X, labels, np.ones(len(labels))
        rows = np.flatnonzero(weight)
        return X[rows], labels[rows], weight[rows]

    def _grow(self, X: Array, y: Rows, weight: Array, categorical: NDArray[np.bool_]) -> GrownTree:
        criterion, gain = CRITERIA[self.criterion], float(self.min_gain * weight.sum())
        rules = Rules(criterion, as_limit(self.min_region), gain, as_limit(self.max_depth))
        return grow_tree(
            X,
            y,
            len(self.classes_),
            weight,
            categorical,
            rules,
            oblique="oblique" in self.questions,
            max_centres=int(self.max_centres) if "sphere" in self.questions else 0,
        )

    def _checks(self) -> dict[str, Any]:
        return {"dtype": np.float64, "order": "C", "ensure_all_finite": "allow-nan"}

    def _check_parameters(self) -> None:
        check_n_jobs(self.n_jobs)
        if isinstance(self.questions, str) or "axis" not in self.questions or not set(self.questions) <= set(QUESTIONS):
            raise ValueError(
                f"questions={self.questions!r} must be a sequence of {', '.join(QUESTIONS)} that includes 'axis'."
            )
        if self.criterion not in CRITERIA:
            raise unknown_name("criterion", str(self.criterion), CRITERIA)
        for name, least in (("min_region", 1), ("max_depth", 1), ("n_folds", 2), ("max_centres", 1)):
            value = getattr(self, name)
            if not (isinstance(value, int | np.integer) and value >= least) and not (
                name == "max_depth" and value is None
            ):
                raise ValueError(f"{name}={value!r} must be an integer of at least {least}.")
        if not (isinstance(self.min_gain, Real) and 0 <= self.min_gain < np.inf):
            raise ValueError(f"min_gain={self.min_gain!r} must be a number of at least 0.")
        if not (self.pruning in (None, "cv") or (isinstance(self.pruning, Real) and 0 <= self.pruning < np.inf)):
            raise ValueError(f"pruning={self.pruning!r} must be 'cv', a number of at least 0, or None.")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags
