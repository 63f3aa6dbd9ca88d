"""ColumnTree as a margin learner: against a tree written out, its losses minimised by hand, and column by column."""

import math
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import loss as plain_loss
from scipy.optimize import minimize_scalar
from sklearn.base import clone
from sklearn.datasets import load_digits, load_iris
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from outputcodes import OutputCodeClassifier
from outputcodes._histograms.costs import region_cost
from outputcodes.codes import as_code
from outputcodes.direct.trees import DecisionTree
from outputcodes.learners import PerColumn
from outputcodes.learners.trees import column_tree
from outputcodes.learners.trees.column_tree import ColumnTree

CRITERIA = {"entropy": "logistic", "gini": "squared", "kearns-mansour": "exponential"}
BINARY = np.array([[-1], [1]], dtype=np.int8)
everyone = pytest.mark.parametrize("criterion", CRITERIA)
X, y = load_digits(return_X_y=True)
X, y = X[:400], y[:400]


@parametrize_with_checks([ColumnTree(criterion) for criterion in CRITERIA])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def least_loss(p, m, loss):
    """min over f of p L(f) + m L(-f), found numerically."""
    found = minimize_scalar(lambda f: p * loss(f) + m * loss(-f), bounds=(-15, 15), method="bounded")
    return found.fun, found.x


@everyone
def test_the_cost_of_a_region_is_its_least_loss_and_the_answer_attains_it(criterion):
    weight = 1 + np.arange(150) % 3
    iris, species = load_iris(return_X_y=True)
    learner = ColumnTree(criterion, max_depth=2, smoothing=1e-12)
    fitted = learner.fit_columns(learner.prepare(iris), (species > 1).astype(int), BINARY, weight.astype(float))
    loss = plain_loss(learner.loss)
    assert learner.loss == CRITERIA[criterion]
    for (p, m), answer in zip(fitted.weights, fitted.answers, strict=True):
        if p and m:
            value, f = least_loss(p, m, loss)
            assert answer == pytest.approx(f, abs=1e-4)
            # Gini is half the squared loss, the others are their losses.
            assert value == pytest.approx((2 if criterion == "gini" else 1) * COSTS[criterion](p, m), rel=1e-6)


@everyone
@pytest.mark.parametrize(("p", "m"), [(1.0, 1.0), (3.0, 0.5), (0.01, 7.0), (40.0, 41.0)])
def test_the_compiled_cost_is_that_of_the_docstring(criterion, p, m):
    value, _ = least_loss(p, m, plain_loss(CRITERIA[criterion]))
    cost = region_cost(np.array([p, m]), column_tree.CRITERIA[criterion])
    assert cost == pytest.approx(COSTS[criterion](p, m), rel=1e-12)
    # "for "gini" half of it", as the docstring says: 2 W₊W₋/W, where the least squared loss is 4 W₊W₋/W.
    assert cost == pytest.approx(value / (2 if criterion == "gini" else 1), rel=1e-6)
    assert 'for "gini" half of it' in " ".join(ColumnTree.__doc__.split())


def sides(x, categorical):
    missing = np.isnan(x)
    if not categorical:
        for extra in (False, True):
            for t in sorted(set(x[~missing])):
                yield (x <= t) | (missing & extra)
        return
    groups = [x == v for v in sorted(set(x[~missing]))] + [missing] * int(missing.any())
    for mask in range(1, 2 ** len(groups) - 1):
        yield np.any([group for g, group in enumerate(groups) if mask >> g & 1], axis=0)


COSTS = {
    "entropy": lambda p, m: -p * math.log(p / (p + m)) - m * math.log(m / (p + m)),
    "gini": lambda p, m: 2 * p * m / (p + m),
    "kearns-mansour": lambda p, m: 2 * math.sqrt(p * m),
}


@everyone
@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_no_question_is_better_than_the_first(criterion, seed):
    rng = np.random.default_rng(seed)
    n = 14
    Z = rng.integers(0, 5, size=(n, 3)).astype(float)
    Z[rng.random((n, 3)) < 0.15] = np.nan
    s, w = np.where(rng.random(n) < 0.5, 1, -1), rng.uniform(0.5, 2, n)
    s[:2] = 1, -1

    def weights(side):
        return w[side & (s > 0)].sum(), w[side & (s < 0)].sum()

    def cost(side):
        return sum(COSTS[criterion](p, m) if p and m else 0.0 for p, m in (weights(side), weights(~side)))

    questions = [side for f in range(3) for side in sides(Z[:, f], f == 2) if side.any() and not side.all()]
    learner = ColumnTree(criterion, max_depth=1, categorical_features=[2])
    fitted = learner.fit_columns(learner.prepare(Z), (s > 0).astype(int), BINARY, w)
    F = fitted.margins(Z)[:, 0]
    asked = next(side for side in questions if (F[side] == F[side][0]).all() and (F[~side] == F[~side][0]).all())
    assert cost(asked) == pytest.approx(min(map(cost, questions)), abs=1e-9)
    for side in (asked, ~asked):
        p, m = weights(side)
        answer = (p - m) / (p + m + 2) if criterion == "gini" else math.log((p + 1) / (m + 1)) / 2
        assert np.allclose(F[side], answer)


@everyone
@pytest.mark.parametrize("code", ["one-vs-all", "all-pairs", "dense", "sparse"])
def test_all_columns_at_once_are_each_alone(criterion, code):
    shared, alone = (
        OutputCodeClassifier(estimator, code=code, random_state=0).fit(X, y, sample_weight=1 + y % 3)
        for estimator in (ColumnTree(criterion), PerColumn(ColumnTree(criterion)))
    )
    assert np.allclose(shared.margins(X), alone.margins(X), atol=1e-9)
    assert shared.margin_loss_ == CRITERIA[criterion]


@everyone
def test_a_column_is_the_tree_of_the_multiclass_classifier(criterion):
    # Digits have many equally good questions: both must choose the same.
    weight = 1.0 + np.arange(400) % 3
    one = ColumnTree(criterion, bins="exact").fit(X, y > 4, weight).columns_
    other = DecisionTree(criterion=criterion).fit(X, y > 4, weight).tree_
    for name in ("kind", "feature", "threshold", "missing_left", "left"):
        assert np.array_equal(getattr(one.nodes, name), getattr(other.nodes, name))
    assert np.allclose(one.weights, other.counts[:, ::-1])


def test_deep_trees_fit_distinct_examples_as_scikit_learns():
    M = as_code("dense").draw(10, random_state=0).matrix()
    learner = ColumnTree()
    F = learner.fit_columns(learner.prepare(X), y, M).margins(X)
    assert (np.sign(F) == M[y]).all()
    for depth in (1, 2):
        ours = np.sign(ColumnTree("gini", max_depth=depth).fit(X, y > 4).decision_function(X)) > 0
        theirs = DecisionTreeClassifier(max_depth=depth).fit(X, y > 4).predict(X)
        assert (ours == theirs).all()


def test_many_values_are_cut_into_bins_or_tried_one_by_one():
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(500, 5))
    labels = (Z[:, 0] + Z[:, 1] ** 2 + 0.3 * rng.normal(size=500) > 0.5).astype(int)
    exact = ColumnTree("gini", bins="exact").fit(Z, labels)
    assert exact.score(Z, labels) == 1.0
    # Few bins can't: their thresholds are the only ones asked for.
    coarse = ColumnTree("gini", bins=4).fit(Z, labels)
    nodes = coarse.columns_.nodes
    for f in range(5):
        asked = np.unique(nodes.threshold[(nodes.kind == 0) & (nodes.feature == f)])
        assert len(asked) <= 6
    # Regions with fewer examples than bins are sorted, the others counted: both find the same questions.
    ranks = np.argsort(np.argsort(Z, axis=0), axis=0).astype(float)
    ours, theirs = (
        model.fit(ranks, labels)
        for model in (ColumnTree("gini", max_depth=3, bins="exact"), DecisionTreeClassifier(max_depth=3))
    )
    assert (ours.predict(ranks) == theirs.predict(ranks)).all()


@everyone
def test_the_same_bits_for_any_number_of_threads(criterion):
    learner, M = ColumnTree(criterion), as_code("all-pairs").draw(10).matrix()
    data = learner.prepare(X)
    one, two, three = (learner.fit_columns(data, y, M, n_jobs=n) for n in (1, 2, 3))
    for other in (two, three):
        assert np.array_equal(one.answers, other.answers)
        assert all(np.array_equal(a, b) for a, b in zip(one.nodes, other.nodes, strict=True))


def test_rows_and_weights_of_columns():
    learner = ColumnTree()
    rows, M = np.arange(0, 400, 3), as_code("all-pairs").draw(10).matrix()
    data = learner.prepare(X)
    part = learner.fit_columns(data, y, M, rows=rows)
    alone = learner.fit_columns(learner.prepare(X[rows]), y[rows], M)
    assert np.allclose(part.margins(X), alone.margins(X))
    assert np.array_equal(part.margins(data, rows[:9]), part.margins(X[rows[:9]]))
    labels, weight = (y > 4).astype(int), 1.0 + y % 2
    split = learner.fit_columns(data, labels, BINARY, weight, np.array([[2.0], [0.5]]))
    joined = learner.fit_columns(data, labels, BINARY, weight * np.where(labels, 0.5, 2.0))
    assert np.allclose(split.margins(X), joined.margins(X))


def test_growth_stops_where_it_is_told_to():
    for learner in (ColumnTree(min_region=50), ColumnTree(min_gain=0.02), ColumnTree(max_depth=3)):
        fitted = learner.fit(X, y > 4).columns_
        assert 1 < fitted.n_leaves[0] < ColumnTree().fit(X, y > 4).columns_.n_leaves[0]
    assert ColumnTree(min_region=400).fit(X, y > 4).columns_.n_leaves.tolist() == [1]
    inner = ColumnTree(min_region=50).fit(X, y > 4).columns_
    assert (inner.weights[inner.nodes.kind >= 0].sum(axis=1) > 50).all()


def test_missing_values_and_new_categories():
    model = ColumnTree(categorical_features=[0]).fit([[1.0], [1], [7], [3], [np.nan], [np.nan]], [0, 0, 0, 1, 1, 1])
    assert model.predict([[1.0], [7], [3], [np.nan]]).tolist() == [0, 0, 1, 1]
    # What was never missing goes to the heavier side, as does a category never seen.
    assert ColumnTree(categorical_features=[0]).fit([[1.0], [1], [3]], [0, 0, 1]).predict([[np.nan], [5]]).tolist() == [
        0,
        0,
    ]
    assert ColumnTree().fit([[1.0], [2], [3]], [0, 1, 1]).predict([[np.nan]]).tolist() == [1]


def test_as_it_is_used():
    iris, species = load_iris(return_X_y=True)
    model = OutputCodeClassifier(ColumnTree(), code="one-vs-all").fit(iris, species)
    assert model.score(iris, species) == 1.0
    assert np.array_equal(pickle.loads(pickle.dumps(model)).margins(iris), model.margins(iris))
    assert clone(ColumnTree("gini", max_depth=3)).get_params()["max_depth"] == 3


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"criterion": "error"}, "criterion='error' is unknown"),
        ({"bins": 1}, "bins=1 must be"),
        ({"max_depth": 0}, "max_depth=0 must be an integer of at least 1"),
        ({"min_region": 2.5}, r"min_region=2\.5 must be"),
        ({"min_gain": -1}, "min_gain=-1 must be"),
        ({"smoothing": 0}, "smoothing=0 must be a positive number"),
    ],
)
def test_bad_parameters(parameters, message):
    with pytest.raises(ValueError, match=message):
        ColumnTree(**parameters).fit(X, y > 4)
    with pytest.raises(ValueError, match="X has 3 features, but the trees were trained on 64"):
        ColumnTree(max_depth=1).fit(X, y > 4).columns_.margins(X[:, :3])
