"""Codes from trees of classes: each column splits the classes of one node in two (DECOC and its forests)."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from scipy import sparse

from outputcodes._ground.choosing import to_six_digits
from outputcodes._ground.drawn_code import Rows
from outputcodes._ground.planning import Planning
from outputcodes._ground.tree_code import grown
from outputcodes._ground.validation import take_rows
from outputcodes.codes._data_driven import Array, DataDriven, labels_and_weight
from outputcodes.codes._partition import ClassHistograms, exhaustive_search, floating_search
from outputcodes.codes.base import Matrix, checked_integer
from outputcodes.codes.elementary import OneVsAll

Used = dict[bytes, set[bytes]]


class DiscriminantTree(DataDriven):
    """Discriminant ECOC: recursive splits of the classes in two, which give k - 1 ternary columns.

    Each node of a binary tree of classes is a column: -1 and +1 for its two branches, 0 for the classes outside. The
    split of a node maximises the mutual information of the branch and a binned feature, averaged over features. Every
    two classes are opposed in exactly one column.

    Parameters
    ----------
    features : {"inputs", "margins"}, default="inputs"
        The features that separate the branches: the columns of X (numbers, dense or sparse; NaN is a value of its own),
        or the learner's held-out margins of one-vs-all, for any X and any kernel.
    bins : int, default=8
        The number of quantile bins of each feature; a feature with fewer values has one bin per value.
    exhaustive_up_to : int, default=8
        Nodes with at most this many classes try every partition, larger ones use a floating search.
    cv : int, splitter or None, default=3
        The folds of the held-out margins, for features="margins".

    Notes
    -----
    The search uses histograms by class, not rows: a node of c classes costs O(c³·d·bins), seconds for 100 classes.
    Decoders that ignore zeros, `LossBased(zeros="ignore")` or "attenuated-euclidean", suit rows with different numbers
    of zeros. The nodes are those of a `Tree` code with two children each, of whose columns the published code has one;
    it is a matrix, which these decoders read as a whole, and not searched by a beam.

    References
    ----------
    O. Pujol, P. Radeva, J. Vitrià. Discriminant ECOC: a heuristic method for application dependent design of error
    correcting output codes. IEEE Transactions on Pattern Analysis and Machine Intelligence 28, 2006. They estimate a
    quadratic mutual information by Parzen windows.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from outputcodes import OutputCodeClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> OutputCodeClassifier("ridge", code=DiscriminantTree()).fit(X, y).code_matrix_
    array([[-1,  0],
           [ 1, -1],
           [ 1,  1]], dtype=int8)
    """

    planning = Planning(tried=False)

    def __init__(self, features: str = "inputs", bins: int = 8, exhaustive_up_to: int = 8, cv: Any = 3) -> None:
        self.features = features
        self.bins = bins
        self.exhaustive_up_to = exhaustive_up_to
        self.cv = cv

    def _check_parameters(self) -> None:
        if self.features not in ("inputs", "margins"):
            raise ValueError(f"features must be 'inputs' or 'margins', got {self.features!r}.")
        checked_integer("bins", self.bins, 2, "a feature with one bin carries no information")
        checked_integer("exhaustive_up_to", self.exhaustive_up_to, 0, "it is a number of classes")
        if self.exhaustive_up_to > 20:
            raise ValueError(
                f"exhaustive_up_to={self.exhaustive_up_to} could mean 2^{self.exhaustive_up_to - 1} partitions of one "
                "node; use at most 20."
            )

    def _from_problem(self, k: int, rng: np.random.Generator, problem: Any) -> Matrix:
        return self._tree(self._histograms(k, problem), k, {})

    def _histograms(self, k: int, problem: Any) -> ClassHistograms:
        if self.features == "margins":
            F = problem.margins(OneVsAll().draw(k).matrix(), 5 if self.cv is None else self.cv)
            # Equal rows have margins that differ by rounding, which must not put them in different bins.
            X = np.where(np.isnan(F), F, to_six_digits(np.nan_to_num(F)))
        else:
            X = _numbers(take_rows(problem.X, problem.rows))
        return ClassHistograms(X, *labels_and_weight(problem), k, self.bins)

    def _tree(self, histograms: ClassHistograms, k: int, used: Used) -> Matrix:
        """Return the columns of a tree, if possible without the splits in `used`; add its splits to `used`."""

        def split(classes: Rows, _: Any) -> list[tuple[Rows, Any]]:
            before = used.setdefault(classes.tobytes(), set())
            search = exhaustive_search if len(classes) <= max(2, self.exhaustive_up_to) else floating_search
            side = search(partial(histograms.information, classes), len(classes), before)
            before.add(side.tobytes())
            return [(classes[~side], None), (classes[side], None)]

        # A tree code has a column for each child of a node; of two children, one column is the negative of the other.
        return grown(k, [(np.arange(k), None)], split).matrix()[:, 1::2]


class Forest(DiscriminantTree):
    """Several discriminant trees; no node is split in the same way twice as long as there is another split.

    Parameters
    ----------
    n_trees : int, default=3
    features, bins, exhaustive_up_to, cv
        As in `DiscriminantTree`.

    Notes
    -----
    There are at most n_trees·(k - 1) columns: a pair of classes can be split in only one way, and columns of earlier
    trees are not repeated.

    References
    ----------
    S. Escalera, O. Pujol, P. Radeva. Boosted landmarks of contextual descriptors and Forest-ECOC: a novel framework to
    detect and classify objects in cluttered scenes. Pattern Recognition Letters 28, 2007.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from outputcodes import OutputCodeClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> OutputCodeClassifier("ridge", code=Forest(n_trees=2)).fit(X, y).code_matrix_
    array([[-1,  0, -1, -1],
           [ 1, -1, -1,  1],
           [ 1,  1,  1,  0]], dtype=int8)
    """

    def __init__(
        self,
        n_trees: int = 3,
        features: str = "inputs",
        bins: int = 8,
        exhaustive_up_to: int = 8,
        cv: Any = 3,
    ) -> None:
        super().__init__(features, bins, exhaustive_up_to, cv)
        self.n_trees = n_trees

    def _check_parameters(self) -> None:
        super()._check_parameters()
        checked_integer("n_trees", self.n_trees, 1, "it is the number of trees")

    def _from_problem(self, k: int, rng: np.random.Generator, problem: Any) -> Matrix:
        histograms, used = self._histograms(k, problem), Used()
        columns = [column for _ in range(self.n_trees) for column in self._tree(histograms, k, used).T]
        return np.column_stack(list({column.tobytes(): column for column in columns}.values()))


def _numbers(X: Any) -> Any:
    """Return X as numbers, sparse or dense."""
    if sparse.issparse(X):
        return X
    try:
        numbers: Array = np.asarray(X, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise type(error)(f"X is not numeric; use features='margins' in the code: {error}") from error
    if numbers.ndim != 2:
        raise ValueError(f"X has shape {numbers.shape}, not (rows, features); use features='margins' in the code.")
    return numbers
