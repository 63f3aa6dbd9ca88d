"""A decision tree for every column of a code, all on the same binned features."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from outputcodes._ground import progress
from outputcodes._ground.blocks import over_blocks
from outputcodes._ground.drawn_code import AnyCode
from outputcodes._ground.planning import Planning, many_classes
from outputcodes._ground.row_sequence import RowBlocks
from outputcodes._ground.validation import unknown_name
from outputcodes._histograms.binned_blocks import BinnedBlocks, bins_of_blocks
from outputcodes._histograms.binning import Binned, bin_features, categorical_mask, check_bins
from outputcodes._histograms.columns.growth import VALUES_PER_CALL, grow_column, start_growth, whole_weights
from outputcodes._histograms.columns.splits import Features, make_room
from outputcodes._histograms.costs import ENTROPY, GINI, KEARNS_MANSOUR
from outputcodes._histograms.growth import Rules, as_limit, is_final
from outputcodes._histograms.questions import Nodes, empty_nodes, trimmed
from outputcodes._histograms.sampling import n_sampled
from outputcodes._histograms.splits import FoundSplit
from outputcodes.learners.shared import SharedLearner, effective_rows, entry_weights
from outputcodes.learners.trees.fitted_trees import FittedTrees
from outputcodes.learners.trees.trees_on_blocks import trees_on_blocks

Rows = NDArray[np.intp]
Array = NDArray[np.float64]

# Columns in memory at a time.
COLUMNS_AT_A_TIME = 16
CRITERIA = {"entropy": ENTROPY, "gini": GINI, "kearns-mansour": KEARNS_MANSOUR}
LOSS_OF = {"entropy": "logistic", "gini": "squared", "kearns-mansour": "exponential"}


class ColumnTree(SharedLearner):
    """A decision tree as a margin learner.

    A region with the weights W₊ and W₋ of the two signs is split by the question about one feature for which the total
    cost of the two sides is smallest. The cost is the minimal loss of a constant output f in the region, for "gini"
    half of it, so that the growth of the tree minimises a margin loss greedily:

    =================  ===================================  ===========  ======================
    criterion          cost                                 loss         output f
    =================  ===================================  ===========  ======================
    "entropy"          −W₊ ln(W₊/W) − W₋ ln(W₋/W)           logistic     ½ ln(W₊/W₋)
    "gini"             2 W₊W₋/W                             squared      (W₊ − W₋)/W
    "kearns-mansour"   2 √(W₊W₋)                            exponential  ½ ln(W₊/W₋)
    =================  ===================================  ===========  ======================

    with W = W₊ + W₋, and `smoothing` added to W₊ and to W₋ in the outputs.

    Questions are x_f <= t, with t halfway between the nearest values of the region, and x_f ∈ S for categorical
    features, with the best of all subsets S. Missing values (NaN) go together to the side with the smaller cost, or
    form a side of their own; for categorical features they are one more category. If the region had none in training,
    they go to the side with more weight, as do new categories. Among questions that are equally good, up to 1e-9 of
    the region's weight, the one with the widest gap between the values on the two sides, relative to the feature's
    range, wins.

    Parameters
    ----------
    criterion : {"entropy", "gini", "kearns-mansour"}, default="entropy"
    max_depth : int, optional
        The maximal number of questions from the root to a leaf.
    min_region : int, default=1
        Regions with at most this many examples, regardless of weight, are not split.
    min_gain : float, default=0.0
        The minimal decrease of the cost by a question, as a fraction of the weight of all the column's examples.
    max_features : float, default=1.0
        The share of the features that a question may be about, drawn anew at every node; at least one, and more if none
        of them has two values in the region.
    bins : "exact" or int, default=255
        A number from 2 to 256 cuts features with more distinct values into that many bins at quantiles of all rows,
        regardless of weight. "exact" tries every threshold; this is slower for continuous features.
    categorical_features : list of int or mask of bool, optional
        Features whose values, any numbers, have no order.
    smoothing : float, default=1.0
        The weight added to each sign in the outputs. Use a smaller value if weights don't count examples.
    n_jobs : int, optional
        The number of threads of the binary classifier's own `fit`. `OutputCodeClassifier` has its own `n_jobs`.
    random_state : int, optional
        Determines the draws of features of the binary classifier's own `fit`.

    Attributes
    ----------
    feature_importances_ : ndarray, shape (d,)
        The share of each feature in the decrease of the loss, with sum 1.
    columns_ : FittedTrees
        `nodes`, `roots`, `weights` and `answers`.

    References
    ----------
    Allwein, Schapire & Singer, "Reducing multiclass to binary", JMLR 1 (2000), section 3.
    Kearns & Mansour, "On the boosting ability of top-down decision tree learning algorithms", JCSS 58 (1999).

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from outputcodes import OutputCodeClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = OutputCodeClassifier(ColumnTree(max_depth=2), code="one-vs-all").fit(X, y)
    >>> model.predict(X[[0, 60, 120]])
    array([0, 1, 2])
    >>> model.columns_.fitted.n_leaves
    array([2, 3, 4])
    """

    planning = Planning(cost=55, unsuited=many_classes)
    takes_nan: ClassVar[bool] = True
    takes_blocks: ClassVar[bool] = True

    def __init__(
        self,
        criterion: Literal["entropy", "gini", "kearns-mansour"] = "entropy",
        *,
        max_depth: int | None = None,
        min_region: int = 1,
        min_gain: float = 0.0,
        max_features: float = 1.0,
        bins: int | Literal["exact"] = 255,
        categorical_features: ArrayLike | None = None,
        smoothing: float = 1.0,
        n_jobs: int | None = None,
        random_state: int | None = None,
    ) -> None:
        self.criterion = criterion
        self.max_depth = max_depth
        self.min_region = min_region
        self.min_gain = min_gain
        self.max_features = max_features
        self.bins = bins
        self.categorical_features = categorical_features
        self.smoothing = smoothing
        self.n_jobs = n_jobs
        self.random_state = random_state

    @property
    def loss(self) -> str:  # type: ignore[override]
        """The margin loss of the criterion."""
        self._check_parameters()
        return LOSS_OF[self.criterion]

    def prepare(self, X: Any, like: Any = None) -> Binned | BinnedBlocks:
        """Bin the features, at the quantiles of `like` if given."""
        self._check_parameters()
        if isinstance(X, RowBlocks):
            how = self.bins, self.categorical_features
            return bins_of_blocks(X, self._as_features, *how, like, most_bins=int(X.shape[0]))
        X = self._as_features(X)
        return bin_features(X, self.bins, categorical_mask(self.categorical_features, X.shape[1]), like)

    def fit_columns(
        self,
        data: Binned | BinnedBlocks,
        y: Rows,
        M: AnyCode,
        weight: Array | None = None,
        column_weight: Array | None = None,
        *,
        rows: Rows | None = None,
        init: FittedTrees | None = None,
        n_jobs: int | None = None,
        seed: int = 0,
    ) -> FittedTrees:
        """Grow a tree for every column of M; `init` is ignored."""
        M = np.asarray(M)
        self._check_parameters()
        rows = effective_rows(y, M, weight, rows)
        signed = entry_weights(M, column_weight) * M
        n_asked, criterion = n_sampled(self.max_features, len(data.n_bins)), CRITERIA[self.criterion]
        rules = Rules(criterion, as_limit(self.min_region), float(self.min_gain), as_limit(self.max_depth))

        def own_seed(j: int) -> np.uint64:
            state: np.uint64 = np.random.SeedSequence((seed, j)).generate_state(1, np.uint64)[0]
            return state

        if isinstance(data, BinnedBlocks):
            how = rules, n_asked, own_seed, COLUMNS_AT_A_TIME, n_jobs
            return self._joined(trees_on_blocks(data, y, weight, rows, signed, *how), len(data.n_bins))
        features = Features(data.codes, data.n_bins, data.offsets, data.low, data.high, data.categorical)
        trees: list[GrowingColumn] = []

        def start(j: int) -> GrowingColumn:
            own = signed[y[rows], j] * (1.0 if weight is None else weight[rows])
            return GrowingColumn(features, len(y), rows[own != 0], own[own != 0], rules, n_asked, own_seed(j))

        for first in range(0, M.shape[1], COLUMNS_AT_A_TIME):
            growing = over_blocks(start, range(first, min(first + COLUMNS_AT_A_TIME, M.shape[1])), n_jobs)
            trees += growing
            while growing:
                over_blocks(GrowingColumn.advance, growing, n_jobs)
                growing = [tree for tree in growing if not tree.finished]
                progress.reached(len(trees) - len(growing), M.shape[1])
        return self._joined([(tree.nodes, tree.counts) for tree in trees], len(data.n_bins))

    def _joined(self, trees: list[tuple[Nodes, Array]], n_features: int) -> FittedTrees:
        """Concatenate all trees, nodes with their weights."""
        n_nodes = np.array([len(weights) for _, weights in trees])
        n_numbers = np.array([len(nodes.pool) for nodes, _ in trees])
        nodes = Nodes(*(np.concatenate(parts) for parts in zip(*(nodes for nodes, _ in trees), strict=True)))
        roots = np.cumsum(n_nodes) - n_nodes
        nodes.left[:] += np.repeat(roots, n_nodes)
        nodes.at[:] += np.repeat(np.cumsum(n_numbers) - n_numbers, n_nodes)
        weights = np.concatenate([weights for _, weights in trees])
        p, m = weights.T + self.smoothing
        answers = (p - m) / (p + m) if self.criterion == "gini" else np.log(p / m) / 2
        return FittedTrees(nodes, roots, weights, answers, n_features, CRITERIA[self.criterion])

    def _check_parameters(self) -> None:
        if self.criterion not in CRITERIA:
            raise unknown_name("criterion", str(self.criterion), CRITERIA)
        check_bins(self.bins)
        for name in ("max_depth", "min_region"):
            value = getattr(self, name)
            if not (isinstance(value, int | np.integer) and value >= 1) and not (name == "max_depth" and value is None):
                raise ValueError(f"{name}={value!r} must be an integer of at least 1.")
        if not (isinstance(self.min_gain, Real) and 0 <= self.min_gain < np.inf):
            raise ValueError(f"min_gain={self.min_gain!r} must be a number of at least 0.")
        if not (isinstance(self.max_features, Real) and 0 < self.max_features <= 1):
            raise ValueError(f"max_features={self.max_features!r} must be a number above 0, and at most 1.")
        if not (isinstance(self.smoothing, Real) and 0 < self.smoothing < np.inf):
            raise ValueError(f"smoothing={self.smoothing!r} must be a positive number.")


class GrowingColumn:
    """The tree of one column, growing or finished."""

    counts: Array

    def __init__(
        self, features: Features, n: int, rows: Rows, own: Array, rules: Rules, n_asked: int, seed: np.uint64
    ) -> None:
        self.features = features
        whole, self.unit = whole_weights(own)
        self.signed = np.zeros(n, np.int64)
        self.signed[rows] = whole
        self.rules = rules._replace(least_gain=rules.least_gain * float(np.abs(whole).sum()))
        n_nodes = 2 * len(rows) - 1
        if rules.max_depth < 31:
            n_nodes = min(n_nodes, 2 ** (rules.max_depth + 1) - 1)
        categorical = features.n_bins[features.categorical]
        self.nodes = empty_nodes(n_nodes, n_nodes // 2 * int(categorical.max(initial=0)))
        self.growth = start_growth(rows, whole, n_nodes, features.n_bins, n_asked, seed)
        self.growth.heights[0] = not is_final(self.growth.counts[0], len(rows), 0, self.rules)
        self.finished = False

    def advance(self) -> None:
        """Grow for about 0.1 s."""
        widest = int(self.features.n_bins.max()) + 1
        choice = FoundSplit(np.empty(3), np.empty(4, dtype=np.int64), np.empty(widest))
        room = make_room(self.features.n_bins)
        grow_column(self.features, self.signed, self.rules, self.nodes, self.growth, room, choice, VALUES_PER_CALL)
        stack, n_nodes, pool, _ = self.growth.heights
        self.finished = stack == 0
        if self.finished:
            self.nodes = trimmed(self.nodes, n_nodes, pool)
            self.counts = self.growth.counts[:n_nodes].astype(np.float64) * self.unit
            del self.growth, self.signed
