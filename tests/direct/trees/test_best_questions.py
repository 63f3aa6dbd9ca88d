"""The first question of a tree against every question that could be asked, cost by cost from the definitions."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from outputcodes.direct.trees.decision_tree import DecisionTree

CRITERIA = ["gini", "entropy", "error", "kearns-mansour"]
everyone = pytest.mark.parametrize("criterion", CRITERIA)
EACH = settings(max_examples=40, deadline=None)


def cost(y, w, criterion):
    """What a region costs."""
    parts = [w[y == c].sum() for c in sorted(set(y))]
    n = sum(parts)
    return {
        "gini": lambda: n - sum(p * p for p in parts) / n,
        "entropy": lambda: -sum(p * math.log(p / n) for p in parts),
        "error": lambda: n - max(parts),
        "kearns-mansour": lambda: sum(math.sqrt(p) for p in parts) ** 2 - n,
    }[criterion]()


def cost_of_sides(left, y, w, criterion):
    left = np.asarray(left)
    return cost(y[left], w[left], criterion) + cost(y[~left], w[~left], criterion)


def thresholds(values):
    """Sides of every question value <= t; missing values on either side, or alone."""
    values = np.asarray(values)
    missing = np.isnan(values)
    for t in sorted(set(values[~missing])):
        for extra in [False, True]:
            yield (values <= t) | (missing & extra)


def subsets(values):
    """Sides of every question value ∈ S; a missing value is a category."""
    groups = [
        np.isnan(values) if math.isnan(v) else values == v for v in {repr(v): v for v in values.tolist()}.values()
    ]
    for size in range(1, len(groups)):
        for chosen in itertools.combinations(groups, size):
            yield np.any(chosen, axis=0)


def axis_sides(X, categorical=()):
    for f in range(X.shape[1]):
        yield from subsets(X[:, f]) if f in categorical else thresholds(X[:, f])


def sphere_sides(X):
    for centre in X:
        if not np.isnan(centre).any():
            yield from thresholds([math.dist(x, centre) for x in X])


def least(sides, y, w, criterion):
    proper = [side for side in sides if 0 < side.sum() < len(y)]
    return min((cost_of_sides(side, y, w, criterion) for side in proper), default=None)


def first_question(model, X, y, w):
    """The cost of the sides that the fitted stump makes, or None if it asks nothing."""
    model.set_params(max_depth=1).fit(X, y, w)
    if model.n_leaves_ == 1:
        return None
    return cost_of_sides(model.apply(X) == model.tree_.nodes.left[0], y, w, model.criterion)


@st.composite
def samples(draw, width=3, missing=True, most=9, n_classes=3):
    """Few rows with many ties, of at least two classes, with whole weights."""
    n = draw(st.integers(3, most))
    numbers = st.integers(0, 4).map(float)
    cell = st.one_of(numbers, numbers, numbers, st.just(math.nan)) if missing else numbers
    X = draw(st.lists(st.lists(cell, min_size=width, max_size=width), min_size=n, max_size=n))
    y = draw(st.lists(st.integers(0, n_classes - 1), min_size=n, max_size=n).filter(lambda y: len(set(y)) > 1))
    w = draw(st.lists(st.integers(1, 3).map(float), min_size=n, max_size=n))
    return np.array(X), np.array(y), np.array(w)


@everyone
@EACH
@given(sample=samples())
def test_no_threshold_is_better(criterion, sample):
    X, y, w = sample
    assert first_question(DecisionTree(criterion=criterion), X, y, w) == pytest.approx(
        least(axis_sides(X), y, w, criterion), abs=1e-9
    )


@everyone
@EACH
@given(sample=samples())
def test_no_subset_of_categories_is_better(criterion, sample):
    X, y, w = sample
    model = DecisionTree(criterion=criterion, categorical_features=[0, 2])
    assert first_question(model, X, y, w) == pytest.approx(
        least(axis_sides(X, categorical=(0, 2)), y, w, criterion), abs=1e-9
    )


@everyone
@pytest.mark.parametrize("seed", range(3))
def test_with_two_classes_many_categories_are_parted_best(criterion, seed):
    rng = np.random.default_rng(seed)
    X, y = rng.permutation(np.arange(60) % 12)[:, None].astype(float), rng.integers(2, size=60)
    w = rng.uniform(0.5, 2, 60)
    model = DecisionTree(criterion=criterion, categorical_features=[0])
    assert first_question(model, X, y, w) == pytest.approx(least(subsets(X[:, 0]), y, w, criterion), abs=1e-9)


@everyone
@EACH
@given(sample=samples())
def test_no_sphere_is_better(criterion, sample):
    X, y, w = sample
    every_side = itertools.chain(axis_sides(X), sphere_sides(X))
    assert first_question(DecisionTree(("axis", "sphere"), criterion), X, y, w) == pytest.approx(
        least(every_side, y, w, criterion), abs=1e-9
    )


def separable(points, left):
    """Whether a line has the left points on one side and the others on the other: a·x + b <= -1 and >= 1."""
    signs = np.where(left, 1.0, -1.0)[:, None]
    answer = linprog(
        np.zeros(3),
        A_ub=signs * np.column_stack([points, np.ones(len(points))]),
        b_ub=-np.ones(len(points)),
        bounds=(None, None),
    )
    return answer.status == 0


@everyone
@pytest.mark.parametrize("seed", range(4))
def test_no_line_is_better_in_the_plane(criterion, seed):
    rng = np.random.default_rng(seed)
    n = 9
    X, y, w = rng.normal(size=(n, 2)), rng.integers(3, size=n), rng.integers(1, 4, n).astype(float)
    halves = (np.array([True, *rest]) for rest in itertools.product([False, True], repeat=n - 1))
    candidates = sorted((cost_of_sides(half, y, w, criterion), tuple(half)) for half in halves if not half.all())
    best = next(value for value, half in candidates if separable(X, np.array(half)))
    assert first_question(DecisionTree(("axis", "oblique"), criterion), X, y, w) == pytest.approx(best, abs=1e-9)


@everyone
@EACH
@given(sample=samples(width=4, most=14))
def test_hyperplanes_are_never_worse_than_thresholds(criterion, sample):
    X, y, w = sample
    found, axis = (first_question(DecisionTree(q, criterion), X, y, w) for q in (("axis", "oblique"), ("axis",)))
    assert axis is None or found <= axis + 1e-9


@everyone
@EACH
@given(sample=samples(missing=False))
def test_of_equal_thresholds_the_first_with_the_widest_gap_is_asked(criterion, sample):
    X, y, w = sample
    questions = []
    for f, x in enumerate(X.T):
        for below, above in itertools.pairwise(np.unique(x)):
            gap, sides = (above - below) / np.ptp(x), cost_of_sides(x <= below, y, w, criterion)
            questions.append((round(sides, 8), -round(gap, 8), f, (below + above) / 2))
    nodes = DecisionTree(criterion=criterion, max_depth=1).fit(X, y, w).tree_.nodes
    if questions:
        assert (nodes.feature[0], nodes.threshold[0]) == min(questions)[2:]


def test_of_equal_spheres_the_one_with_the_widest_gap_is_asked():
    line, y = np.array([-2.0, -1, 1, 2, 2.6, 3.2, 4, 6, 7]), np.array([0, 0, 1, 1, 1, 1, 1, 0, 0])
    nodes = DecisionTree(("axis", "sphere"), max_depth=1).fit(line[:, None], y).tree_.nodes
    # Around three of the ones a sphere holds them all and nobody else.
    distance = np.abs(line - line[:, None])
    gaps = distance[:, y == 0].min(axis=1) - distance[:, y == 1].max(axis=1)
    assert (gaps > 0).sum() == 3
    assert nodes.pool[0] == line[gaps.argmax()]


def test_a_region_too_large_to_search_whole_is_parted_by_all_its_examples():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 3))
    y = (X @ [1.0, -2.0, 0.5] + 0.2 > 0).astype(int)
    model = DecisionTree(("axis", "oblique"), max_depth=1)
    # Of all 2,000, not only of the 512 that the direction was looked for on.
    direction = model.fit(X, y).tree_.nodes.pool
    found = first_question(model, X, y, np.ones(2000))
    assert found == pytest.approx(least(thresholds(X @ direction), y, np.ones(2000), "gini"))
