"""Questions, prunings, rounds and γ are the same whatever the last digits of the data: see `rounding.py`."""

import numpy as np
import pytest

from outputcodes import OutputCodeClassifier
from outputcodes.boosting import AdaBoostMH, AdaBoostMO, AdaBoostMR, AdaBoostOC, SmoothBoost
from outputcodes.direct import DecisionTree
from outputcodes.learners import BoostedStumps, ColumnTree, KernelSVM, Ridge
from outputcodes.selection import BoundSearch
from rounding import equal_weights, nudged, nudged_values, tied

SEEDS = pytest.mark.parametrize("seed", range(3))


def with_gaps(X, seed):
    X = X.copy()
    X[np.random.default_rng(seed).random(X.shape) < 0.1] = np.nan
    return X


def variants(X, y, seed):
    """The sample under other last digits of weights and values, and in another order of its rows."""
    order = np.random.default_rng(seed).permutation(len(y))
    for weight in equal_weights(len(y), seed):
        yield X, y, weight
    yield nudged_values(X, seed), y, None
    yield nudged_values(X, seed + 1), y, nudged(np.ones(len(y)), seed)
    yield X[order], y[order], np.full(len(y), 0.1)


def assert_same_questions(one, other):
    for name in ("kind", "feature", "missing_left", "left", "length"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name), err_msg=name)
    np.testing.assert_allclose(one.threshold, other.threshold, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(one.pool, other.pool, rtol=1e-6, atol=1e-9)


def assert_same_stumps(one, other):
    np.testing.assert_array_equal(one.feature, other.feature)
    np.testing.assert_allclose(one.threshold, other.threshold, rtol=1e-9)
    for side in ("left", "right"):
        np.testing.assert_allclose(getattr(one, side), getattr(other, side), rtol=1e-6, atol=1e-8)


@SEEDS
@pytest.mark.parametrize("criterion", ["gini", "entropy", "error", "kearns-mansour"])
@pytest.mark.parametrize("gaps", [False, True])
def test_decision_trees_are_alike(criterion, gaps, seed):
    X, y = tied(seed)
    X = with_gaps(X, seed) if gaps else X
    for options in ({}, {"categorical_features": [0, 2]}):
        first = DecisionTree(criterion=criterion, **options).fit(X, y)
        # New values of a categorical feature would be other categories.
        for other, labels, weight in list(variants(X, y, seed))[: 4 if options else None]:
            model = DecisionTree(criterion=criterion, **options).fit(other, labels, sample_weight=weight)
            assert_same_questions(first.tree_.nodes, model.tree_.nodes)
            np.testing.assert_array_equal(model.tree_.labels, first.tree_.labels)


@SEEDS
@pytest.mark.parametrize("questions", [("axis", "oblique"), ("axis", "sphere")])
def test_computed_questions_are_alike(questions, seed):
    X, y = tied(seed, n_classes=3, n=48)
    first = DecisionTree(questions, max_depth=3).fit(X, y)
    for other, labels, weight in variants(X, y, seed):
        model = DecisionTree(questions, max_depth=3).fit(other, labels, sample_weight=weight)
        assert_same_questions(first.tree_.nodes, model.tree_.nodes)


@SEEDS
def test_categories_with_equal_shares_are_alike(seed):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 12, size=(96, 2)).astype(np.float64)  # too many to try every subset
    y = (X.sum(axis=1).astype(int) + rng.integers(0, 2, size=96)) % 3
    for learner in (DecisionTree(criterion="error", categorical_features=[0, 1], max_depth=4),
                    OutputCodeClassifier(ColumnTree(categorical_features=[0, 1], max_depth=4))):  # fmt: skip
        found = set()
        for weight in equal_weights(len(y), seed):
            model = learner.fit(X, y, sample_weight=weight)
            nodes = model.tree_.nodes if isinstance(model, DecisionTree) else model.columns_.fitted.nodes
            found.add(nodes.pool.tobytes() + nodes.threshold.tobytes())
        assert len(found) == 1


@SEEDS
def test_prunings_are_alike(seed):
    X, y = tied(seed, n_classes=3, n=90)
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(len(y)) < 0.2, rng.integers(0, 3, size=len(y)), y)
    alphas = DecisionTree().cost_complexity_pruning_path(X, y).ccp_alphas
    first = DecisionTree(pruning="cv").fit(X, y)
    for weight in equal_weights(len(y), seed):
        path = DecisionTree().cost_complexity_pruning_path(X, y, weight).ccp_alphas
        np.testing.assert_allclose(path, alphas, rtol=1e-9, atol=1e-12)
        model = DecisionTree(pruning="cv").fit(X, y, sample_weight=weight)
        assert model.alpha_ == pytest.approx(first.alpha_)
        assert_same_questions(first.tree_.nodes, model.tree_.nodes)
        for alpha in alphas:
            cut = DecisionTree(pruning=float(alpha)).fit(X, y, sample_weight=weight)
            assert cut.n_leaves_ == DecisionTree(pruning=float(alpha)).fit(X, y).n_leaves_


@SEEDS
@pytest.mark.parametrize("gaps", [False, True])
@pytest.mark.parametrize("criterion", ["entropy", "gini", "kearns-mansour"])
def test_trees_of_columns_are_alike(criterion, gaps, seed):
    X, y = tied(seed, n_classes=5, n=80)
    X = with_gaps(X, seed) if gaps else X
    model = OutputCodeClassifier(ColumnTree(criterion), code="all-pairs")
    first = model.fit(X, y).columns_.fitted.nodes
    for other, labels, weight in variants(X, y, seed):
        assert_same_questions(first, model.fit(other, labels, sample_weight=weight).columns_.fitted.nodes)


@SEEDS
@pytest.mark.parametrize("gaps", [False, True])
@pytest.mark.parametrize("hypotheses", ["confidence", "discrete"])
@pytest.mark.parametrize("held_out", [None, 0.25])
def test_boosted_stumps_are_alike(hypotheses, gaps, held_out, seed):
    X, y = tied(seed, n_classes=5, n=80)
    X = with_gaps(X, seed) if gaps else X
    learner = BoostedStumps(30, hypotheses, smoothing=0.01, validation_fraction=held_out)
    model = OutputCodeClassifier(learner, code="all-pairs", random_state=0)
    first = model.fit(X, y).columns_.fitted
    # Which rows are held out depends on their order; and one of them may be a threshold, halfway between two others.
    for other, labels, weight in list(variants(X, y, seed))[: None if held_out is None else 4]:
        assert_same_stumps(first, model.fit(other, labels, sample_weight=weight).columns_.fitted)


@SEEDS
@pytest.mark.parametrize(
    "booster",
    [
        AdaBoostMO("all-pairs", 30, "confidence", smoothing=0.001),
        AdaBoostMO("dense", 30, "discrete", random_state=0),
        AdaBoostMH(30, "abstaining"),
        AdaBoostMR(30),
        AdaBoostOC(30, random_state=0),
        SmoothBoost(30, random_state=0),
        SmoothBoost(30, coding="deterministic", random_state=0),
        SmoothBoost(30, coding="probabilistic", gamma=2.0, random_state=0),
    ],
    ids=lambda booster: "-".join(
        [type(booster).__name__, getattr(booster, "hypotheses", getattr(booster, "coding", ""))]
    ),
)
def test_boosters_are_alike(booster, seed):
    X, y = tied(seed, n_classes=4, n=64)
    first = booster.fit(X, y).columns_
    code = booster.code_matrix_
    for other, labels, weight in variants(X, y, seed):
        booster.fit(other, labels, sample_weight=weight)
        assert_same_stumps(first, booster.columns_)
        np.testing.assert_array_equal(booster.code_matrix_, code)


@SEEDS
def test_the_gamma_of_colourings_is_alike(seed):
    X, y = tied(seed, n_classes=4, n=64)
    booster = SmoothBoost(8, coding="probabilistic", random_state=seed)
    assert len({booster.fit(X, y, sample_weight=w).gamma_ for w in equal_weights(len(y), seed)}) == 1


@pytest.mark.parametrize(
    ("learner", "grid"),
    [
        (Ridge(), {"estimator__alpha": np.geomspace(0.1, 100, 12)}),
        (KernelSVM(bias="folded"), {"estimator__gamma": np.geomspace(0.02, 0.5, 8)}),
    ],
    ids=["ridge", "kernel"],
)
def test_the_best_candidate_is_alike(learner, grid):
    # Candidates err equally often, but on other rows: their errors are different sums.
    model = OutputCodeClassifier(learner, code="one-vs-all")
    for seed in range(20):
        X, y = tied(seed, n_classes=3, n=48)
        X, found = X + np.random.default_rng(seed).normal(scale=0.5, size=X.shape), set()
        for weight in (None, nudged(np.ones(len(y)), seed), nudged(np.ones(len(y)), seed + 1)):
            search = BoundSearch(model, grid).fit(X, y, sample_weight=weight)
            found.add((search.best_index_, *search.cv_results_["rank_test_score"].tolist()))
        assert len(found) == 1
