"""One search for all engines: the first question of each against every question, by the definition of its cost."""

import itertools
import math

import numpy as np
import pytest

from outputcodes._histograms.binning import bin_features
from outputcodes._histograms.questions import goes_left
from outputcodes._histograms.vectors.growth import Grower
from outputcodes._histograms.vectors.splits import SplitRules
from outputcodes._histograms.vectors.sums import high, low, n_words, pack
from outputcodes.direct.trees import DecisionTree
from outputcodes.learners import BoostedStumps, ColumnTree

N, CATEGORICAL = 30, 2


def table(seed):
    """Two numeric features and one of four categories, with missing values, many ties, classes and weights."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 5, size=(N, 3)).astype(float)
    X[:, CATEGORICAL] = rng.integers(0, 4, N) * 10
    if seed % 3:
        X[rng.random(X.shape) < 0.2] = np.nan
    return rng, X, rng.integers(0, 3, N), rng.uniform(0.5, 2, N)


def thresholds(x):
    """The left sides of all questions about a number, with missing values on the left, on the right, or alone there."""
    missing = np.isnan(x)
    for value, extra in itertools.product(np.unique(x[~missing]), (False, True)):
        yield (x <= value) | (missing & extra)


def subsets(x):
    """The left sides of all questions about a category; a missing value is one."""
    groups = [x == value for value in np.unique(x[~np.isnan(x)])] + [np.isnan(x)] * bool(np.isnan(x).any())
    for size in range(1, len(groups)):
        for chosen in itertools.combinations(groups, size):
            yield np.any(chosen, axis=0)


def every_side(X):
    for f, x in enumerate(X.T):
        yield from (side for side in (subsets if f == CATEGORICAL else thresholds)(x) if side.any() and not side.all())


def asked(nodes, X):
    """The left side of the first question of a tree."""
    return np.array([goes_left(x, 0, nodes) for x in X])


def by_classes(criterion, y, w, left):
    """The total cost of two sides, by the weights of the classes there."""
    total = 0.0
    for side in (left, ~left):
        parts = np.bincount(y[side], w[side])
        parts, n = parts[parts > 0], w[side].sum()
        total += {
            "gini": n - (parts**2).sum() / n,
            "entropy": -(parts * np.log(parts / n)).sum(),
            "error": n - parts.max(),
            "kearns-mansour": np.sqrt(parts).sum() ** 2 - n,
        }[criterion]
    return total


def column_tree(criterion, seed):
    _, X, y, w = table(seed)
    y = (y > 0).astype(int)
    model = ColumnTree(criterion, max_depth=1, bins="exact", categorical_features=[CATEGORICAL]).fit(X, y, w)
    costs = [by_classes(criterion, y, w, left) for left in every_side(X)]
    return by_classes(criterion, y, w, asked(model.columns_.nodes, X)), min(costs)


def decision_tree(criterion, seed):
    _, X, y, w = table(seed)
    model = DecisionTree(criterion=criterion, max_depth=1, categorical_features=[CATEGORICAL]).fit(X, y, w)
    costs = [by_classes(criterion, y, w, left) for left in every_side(X)]
    return by_classes(criterion, y, w, asked(model.tree_.nodes, X)), min(costs)


def in_orders_of_gradients(x, values, m, l2):
    """Categories before each place in the order of each mean gradient: for m = 1 the best subset is one (Fisher)."""
    groups = [np.isnan(x) if math.isnan(v) else x == v for v in np.unique(x)]
    sums = [values[group].sum(axis=0) for group in groups]
    for j in range(m):
        order = np.argsort([s[j] / (s[m] + l2) for s in sums], kind="stable")
        for cut in range(1, len(groups)):
            yield np.any([groups[g] for g in order[:cut]], axis=0)


def boosted_tree(m, seed):
    rng, X, _, _ = table(seed)
    G, h = rng.normal(size=(N, m)).astype(np.float32), rng.random(N).astype(np.float32)
    packed = pack(G, h, np.empty((N, n_words(m)), np.int64))
    values = np.stack([low(packed.words), high(packed.words)], axis=2).reshape(N, -1)[:, : m + 2].astype(float)
    l2 = 0.3 / packed.curvature_unit

    def cost(left):
        sums = [values[side].sum(axis=0) for side in (left, ~left)]
        return -sum((s[:m] ** 2).sum() / (s[m] + l2) for s in sums)

    data = bin_features(X, 255, np.arange(3) == CATEGORICAL)
    grower = Grower(data, np.arange(N), m, n_words(m), 2)
    assert grower.grow(packed.words, SplitRules(l2, 1), 10) == 2
    sides = itertools.chain(
        *(thresholds(x) for x in X.T[:CATEGORICAL]),
        subsets(X[:, CATEGORICAL]) if m == 1 else in_orders_of_gradients(X[:, CATEGORICAL], values, m, l2),
    )
    least = min(cost(left) for left in sides if left.any() and not left.all())
    return cost(asked(grower.questions()[0], X)) / abs(least), -1.0


def stump(kind, seed):
    """Stumps test for equality with a category, may be constant, and abstain where the value is missing."""
    _, X, y, w = table(seed)
    sign, w = np.where(y > 0, 1, -1), w / w.sum()

    def cost(f, left):
        missing = np.isnan(X[:, f])
        sides = [w[side & ~missing & (sign == s)].sum() for side in (left, ~left) for s in (1, -1)]
        if kind == "confidence":
            return 2 * math.sqrt(sides[0] * sides[1]) + 2 * math.sqrt(sides[2] * sides[3]) + w[missing].sum()
        return min(sides[1] + sides[2], sides[0] + sides[3]) + w[missing].sum() / 2

    def left_of(f, threshold):
        return X[:, f] == threshold if f == CATEGORICAL else X[:, f] <= threshold

    fitted = BoostedStumps(1, kind, categorical_features=[CATEGORICAL]).fit(X, sign, w * N).columns_
    if fitted.n_rounds[0] == 0:
        found = 1.0 if kind == "confidence" else 0.5  # no stump is better than none
    else:
        f = fitted.feature[0, 0]
        found = cost(f, left_of(f, fitted.threshold[0, 0]))
    tests = [(f, left_of(f, t)) for f in range(3) for t in [-np.inf, *np.unique(X[~np.isnan(X[:, f]), f])]]
    return found, min([1.0 if kind == "confidence" else 0.5, *(cost(*test) for test in tests)])


ENGINES = {
    column_tree: ["gini", "entropy", "kearns-mansour"],
    decision_tree: ["gini", "entropy", "error", "kearns-mansour"],
    boosted_tree: [1, 3, 6, 9],
    stump: ["confidence", "discrete"],
}


@pytest.mark.parametrize("seed", range(9))
@pytest.mark.parametrize(
    ("engine", "kind"),
    [(engine, kind) for engine, kinds in ENGINES.items() for kind in kinds],
    ids=lambda one: getattr(one, "__name__", str(one)),
)
@pytest.mark.filterwarnings("ignore:.*no stump separates:UserWarning")
def test_no_question_is_better_than_the_first(engine, kind, seed):
    found, least = engine(kind, seed)
    assert found == pytest.approx(least, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_of_many_categories_of_two_classes_the_best_subset_is_found(seed):
    # More categories than are tried one by one: the order by the share of a class has the best subset.
    rng = np.random.default_rng(seed)
    x, y, w = rng.permutation(np.arange(60) % 11).astype(float), rng.integers(2, size=60), rng.uniform(0.5, 2, 60)
    x[x == 10] = np.nan
    column = ColumnTree("gini", max_depth=1, categorical_features=[0]).fit(x[:, None], y, w).columns_.nodes
    direct = DecisionTree(max_depth=1, categorical_features=[0]).fit(x[:, None], y, w).tree_.nodes
    least = min(by_classes("gini", y, w, left) for left in subsets(x))
    for nodes in (column, direct):
        assert by_classes("gini", y, w, asked(nodes, x[:, None])) == pytest.approx(least)
