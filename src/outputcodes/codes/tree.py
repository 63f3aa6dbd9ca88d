"""Trees of classes with many branches: few columns see each class, and each column few classes."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import scipy.sparse as sp

from outputcodes._ground.drawn_code import DrawnCode, Rows
from outputcodes._ground.planning import Planning, few_classes
from outputcodes._ground.tree_code import grown
from outputcodes._ground.validation import take_rows
from outputcodes.codes._balanced_means import BalancedMeans, class_centroids
from outputcodes.codes._data_driven import check_problem
from outputcodes.codes._hierarchy import given_tree, paths_by_label
from outputcodes.codes._tree_in_batches import (
    check_labels_of_hierarchy,
    check_rows_of_classes,
    with_class_beside,
)
from outputcodes.codes.base import Code, Matrix, as_generator, checked_integer, checked_n_classes


class Tree(Code):
    """A tree of classes in which every node is a small one-vs-all problem over its children; for many classes.

    The column of a child is +1 on its own classes, -1 on those of its siblings and 0 on all others, so that a column is
    trained on few rows, and a row is decoded by few columns: with a tree code the default decoder is a beam search,
    `decoders.Beam`. Training and prediction grow with the logarithm of the number of classes, not with the number.

    Parameters
    ----------
    arity : int, default=64
        The largest number of children of a node that has nodes below it.
    leaf_size : int, default=100
        A node with at most so many classes has the classes themselves as children.
    n_trees : int, default=1
        The number of trees, whose scores are added. Each splits the classes in another way.
    method : {"k-means", "random"}, default="k-means"
        How the classes of a node are split into groups of equal size: by balanced spherical k-means on the centroids of
        the classes, which must be numbers, dense or sparse; or at random.
    hierarchy : mapping or pandas Series, optional
        Groups that are known: from each label to its path, the names of its groups from the largest to the smallest,
        such as {"cat": ("animals", "mammals")}; a Series has the labels as its index. `arity`, `leaf_size` and `method`
        are not used, and there is one tree. Labels must be those of y, no more and no fewer.

    Notes
    -----
    With `partial_fit` the tree is made from the first batch. A class that comes later joins, in each tree, the group of
    the class whose mean is nearest to its own: it has a column of its own there, and the columns above are shared. The
    grown code is decoded as a matrix, not by a beam search. `classes` may name classes that the first batch lacks if
    the tree is random, or has a hierarchy, or `leaf_size` classes at most.

    A class with a single row has a column like any other. A tree is the wrong code for few features with dense values,
    where the classes of a node are not separated by linear columns: there one-vs-all and nearest centroids are better.

    References
    ----------
    Y. Prabhu, A. Kag, S. Harsola, R. Agrawal, M. Varma. Parabel: partitioned label trees for extreme classification
    with application to dynamic search advertising. WWW 2018. S. Khandagale, H. Xiao, R. Babbar. Bonsai: diverse and
    shallow trees for extreme multi-label classification. Machine Learning 109, 2020.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from outputcodes import OutputCodeClassifier
    >>> X, y = load_digits(return_X_y=True)
    >>> model = OutputCodeClassifier("linear-svm", code=Tree(arity=3, leaf_size=4), random_state=0).fit(X / 16, y)
    >>> model.code_
    TreeCode of 10 classes: 1 tree, 4 nodes, 13 columns
    >>> model.predict_topk(X[:2] / 16, 2).labels
    array([[0, 9],
           [1, 8]])
    """

    planning = Planning(quick=True, cost=15, unsuited=few_classes)
    opens_from_batch = True
    grows_beside_nearest = True

    def __init__(
        self,
        arity: int = 64,
        leaf_size: int = 100,
        n_trees: int = 1,
        method: Literal["k-means", "random"] = "k-means",
        hierarchy: Any = None,
    ) -> None:
        self.arity = arity
        self.leaf_size = leaf_size
        self.n_trees = n_trees
        self.method = method
        self.hierarchy = hierarchy

    @property
    def needs_problem(self) -> bool:  # type: ignore[override]
        """Whether the tree is made from data: k-means needs their centroids, a hierarchy their labels."""
        return self.hierarchy is not None or self.method == "k-means"

    def open(self, n_classes: int, random_state: Any = None, *, spare: bool = True, batch: Any = None) -> Matrix:
        """Return the matrix of the trees of the classes of the first batch, with two columns for two classes."""
        k = checked_n_classes(n_classes)
        self._check_parameters()
        if self.needs_problem:
            check_problem(self, batch)
        if self.hierarchy is not None:
            check_labels_of_hierarchy(self.hierarchy, batch.classes)
        elif self.method == "k-means" and k > self.leaf_size:
            check_rows_of_classes(batch, k)
        if k == 2 and spare:
            return self._draw(k, as_generator(random_state), batch).matrix()
        return self.draw(k, random_state, batch).matrix()

    def grown(self, M: Matrix, n_classes: int, nearest: int | None = None) -> Matrix:
        """Return the code with a class that is a sibling of the class `nearest`, with a column for it in each tree.

        >>> Tree(method="random").grown(Tree(method="random").open(2), 2, nearest=0)
        array([[ 1, -1, -1],
               [-1,  1, -1],
               [-1, -1,  1]], dtype=int8)
        """
        if nearest is None:
            raise ValueError("nearest=None must be the row of the class beside which the tree grows: give its number.")
        return with_class_beside(M, nearest)

    def _check_parameters(self) -> None:
        checked_integer("arity", self.arity, 2, "a node has at least two children")
        checked_integer("leaf_size", self.leaf_size, 2, "a node has at least two children")
        checked_integer("n_trees", self.n_trees, 1, "it is the number of trees")
        if self.method not in ("k-means", "random"):
            raise ValueError(f"method={self.method!r} must be 'k-means' or 'random'.")
        if self.hierarchy is not None and self.n_trees > 1:
            raise ValueError(f"n_trees={self.n_trees} must be 1 with a hierarchy, which is one tree.")
        if self.hierarchy is not None:
            paths_by_label(self.hierarchy)

    def _draw(self, k: int, rng: np.random.Generator, problem: Any) -> DrawnCode:
        if self.needs_problem:
            check_problem(self, problem)
        if self.hierarchy is not None:
            return given_tree(self.hierarchy, problem.classes)
        means = None if self.method == "random" else BalancedMeans(_centroids(problem, k))

        def split(classes: Rows, _: Any) -> list[tuple[Rows, Any]] | None:
            if len(classes) <= self.leaf_size:
                return None
            n_groups = min(self.arity, -(-len(classes) // self.leaf_size))
            if means is None:
                groups = [np.sort(part) for part in np.array_split(rng.permutation(classes), n_groups)]
            else:
                groups = means.split(classes, n_groups, rng)
            return [(group, None) for group in groups]

        return grown(k, [(np.arange(k), None)] * self.n_trees, split)


def _centroids(problem: Any, k: int) -> sp.csr_array:
    X = take_rows(problem.X, None if len(problem.rows) == len(problem.y) else problem.rows)
    try:
        if not sp.issparse(X):
            X = np.asarray(X, dtype=np.float64)
        sums = class_centroids(X, problem.labels, problem.row_weight(), k)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"X is not a table of numbers, which k-means needs; use Tree(method='random'): {error}"
        ) from error
    if not np.isfinite(sums.data).all():
        raise ValueError("X has missing or infinite values, which k-means can't read; use Tree(method='random').")
    return sums
