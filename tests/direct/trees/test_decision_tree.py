"""DecisionTree against scikit-learn's, against what any tree must do, and as users meet it."""

import pickle

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.tree import DecisionTreeClassifier

from outputcodes.direct.trees import growth
from outputcodes.direct.trees.decision_tree import DecisionTree

ALL = ("axis", "oblique", "sphere")
kinds = pytest.mark.parametrize("questions", [("axis",), ("axis", "oblique"), ("axis", "sphere"), ALL])
criteria = pytest.mark.parametrize("criterion", ["gini", "entropy", "error", "kearns-mansour"])
X, y = load_iris(return_X_y=True)


def structure(model, node=0):
    """Nested (feature, threshold, yes, no), leaves as tuples of counts."""
    if isinstance(model, DecisionTree):
        nodes, counts = model.tree_.nodes, model.tree_.counts
        leaf, yes, no = nodes.kind[node] < 0, nodes.left[node], nodes.left[node] + 1
    else:
        nodes = model.tree_
        counts = nodes.value[:, 0] * nodes.weighted_n_node_samples[:, None]
        leaf, yes, no = nodes.children_left[node] < 0, nodes.children_left[node], nodes.children_right[node]
    if leaf:
        return tuple(np.round(counts[node], 6).tolist())
    sides = structure(model, yes), structure(model, no)
    return (int(nodes.feature[node]), pytest.approx(nodes.threshold[node], abs=1e-6), *sides)


@pytest.mark.parametrize("criterion", ["gini", "entropy"])
@pytest.mark.parametrize("seed", range(3))
def test_without_ties_it_is_scikit_learns_tree(criterion, seed):
    rng = np.random.default_rng(seed)
    Z = rng.normal(size=(600, 4)).astype(np.float32).astype(float)
    labels = np.digitize(Z[:, 0] + 0.5 * Z[:, 1], [-0.5, 0.5])
    labels = np.where(rng.random(600) < 0.4, rng.integers(3, size=600), labels)
    weight = rng.uniform(0.5, 2, 600)
    rules = {"criterion": criterion, "max_depth": 4}
    peers = [DecisionTreeClassifier(**rules, random_state=r).fit(Z, labels, weight) for r in range(8)]
    # Where two questions cost the same, scikit-learn draws lots: here none do.
    assert all(structure(peer) == structure(peers[0]) for peer in peers)
    assert structure(DecisionTree(**rules).fit(Z, labels, weight)) == structure(peers[0])
    grown, peer = DecisionTree(criterion=criterion).fit(Z, labels), DecisionTreeClassifier(criterion=criterion)
    assert (grown.predict(Z) == peer.fit(Z, labels).predict(Z)).all()


@criteria
@pytest.mark.parametrize("load", [load_iris, load_wine, load_breast_cancer, load_digits])
def test_distinct_examples_are_fitted(criterion, load):
    Z, labels = load(return_X_y=True)
    assert DecisionTreeClassifier().fit(Z, labels).score(Z, labels) == 1.0
    assert DecisionTree(criterion=criterion).fit(Z, labels).score(Z, labels) == 1.0


@pytest.mark.parametrize("criterion", ["gini", "entropy"])
@pytest.mark.parametrize("load", [load_iris, load_wine, load_breast_cancer])
def test_examples_alike_in_all_but_class_cost_scikit_learn_as_much(criterion, load):
    Z, labels = load(return_X_y=True)
    Z = np.round(4 * Z[:, :3] / np.ptp(Z[:, :3], axis=0))
    ours, theirs = (tree(criterion=criterion).fit(Z, labels) for tree in (DecisionTree, DecisionTreeClassifier))
    cells = np.unique(Z, axis=0, return_inverse=True)[1].ravel()
    right = sum(np.bincount(labels[cells == cell]).max() for cell in set(cells))
    assert ours.score(Z, labels) == theirs.score(Z, labels) == right / len(labels) < 1


@kinds
def test_even_questions_without_gain_are_asked(questions):
    exclusive_or = np.array([[0.0, 0], [0, 1], [1, 0], [1, 1]])
    assert DecisionTree(questions).fit(exclusive_or, [0, 1, 1, 0]).score(exclusive_or, [0, 1, 1, 0]) == 1.0


def test_examples_that_can_not_be_told_apart_share_a_region():
    model = DecisionTree(ALL).fit([[1.0, 2.0]] * 5, ["b", "a", "a", "b", "c"])
    assert model.n_leaves_ == 1
    assert model.predict([[1.0, 2.0]]) == ["a"]
    assert np.allclose(model.predict_proba([[9.0, 9.0]]), [[0.4, 0.4, 0.2]])


@kinds
@criteria
def test_a_weight_is_a_repetition(questions, criterion):
    rng = np.random.default_rng(1)
    Z, labels, weight = X[::3], y[::3], rng.integers(0, 4, 50)
    weighted = DecisionTree(questions, criterion).fit(Z, labels, weight)
    repeated = DecisionTree(questions, criterion).fit(np.repeat(Z, weight, axis=0), np.repeat(labels, weight))
    assert np.allclose(weighted.predict_proba(X), repeated.predict_proba(X))
    assert weighted.n_leaves_ == repeated.n_leaves_


@pytest.mark.parametrize("questions", [("axis", "oblique"), ("axis", "sphere")])
def test_a_weight_is_a_repetition_where_only_some_examples_are_searched(questions):
    rng = np.random.default_rng(0)
    Z, weight = np.round(rng.normal(size=(900, 3)), 1), rng.integers(0, 4, 900)
    labels = (Z @ [1.0, 2.0, -1.0] > 0) + (np.linalg.norm(Z, axis=1) > 1.5).astype(int)
    copies = rng.permutation(np.repeat(np.arange(900), weight))  # in any order
    rules = {"max_centres": 8, "max_depth": 4}
    weighted = DecisionTree(questions, **rules).fit(Z, labels, weight)
    repeated = DecisionTree(questions, **rules).fit(Z[copies], labels[copies])
    assert np.array_equal(weighted.tree_.counts, repeated.tree_.counts)
    assert np.array_equal(weighted.predict_proba(Z), repeated.predict_proba(Z))


@kinds
def test_moved_and_stretched_features_give_the_same_tree(questions):
    # Powers of two, so that nothing is rounded; spheres need one scale for all features.
    plain, moved = DecisionTree(questions).fit(X, y), DecisionTree(questions).fit(4 * X, y)
    assert np.array_equal(plain.tree_.counts, moved.tree_.counts)
    assert np.array_equal(plain.apply(X), moved.apply(4 * X))


def test_a_gain_too_small_ends_growth_as_in_scikit_learn():
    for least in (0.003, 0.01, 0.05, 0.3, 0.5):
        ours = DecisionTree(min_gain=least).fit(X, y)
        theirs = DecisionTreeClassifier(min_impurity_decrease=least).fit(X, y)
        assert ours.n_leaves_ == theirs.get_n_leaves()


def test_small_regions_and_deep_ones_stay_whole():
    for n in (1, 5, 20, 200):
        model = DecisionTree(min_region=n).fit(X, y)
        counts, inner = model.tree_.counts, model.tree_.nodes.kind >= 0
        assert (counts[inner].sum(axis=1) > n).all()
        impure = (counts > 0).sum(axis=1) > 1
        assert (counts[~inner & impure].sum(axis=1) <= n).all()
    for depth in (1, 2, 3):
        assert DecisionTree(max_depth=depth).fit(X, y).depth_ == depth


@pytest.mark.parametrize("seed", range(3))
def test_slanted_and_round_classes_ask_for_their_questions(seed):
    rng = np.random.default_rng(seed)
    Z, new = rng.uniform(-1, 1, size=(500, 2)), rng.uniform(-1, 1, size=(5000, 2))

    def slanted(Z):
        return (Z[:, 0] + Z[:, 1] > 0.1).astype(int) + (Z[:, 0] - Z[:, 1] > 0.2)

    def rings(Z):
        return np.digitize(np.hypot(*Z.T), [0.35, 0.8])

    for labels, kind in ((slanted, "oblique"), (rings, "sphere")):
        axis, other = (
            DecisionTree(questions, max_centres=500).fit(Z, labels(Z)) for questions in (("axis",), ("axis", kind))
        )
        assert other.n_leaves_ < axis.n_leaves_
        assert other.score(new, labels(new)) > axis.score(new, labels(new))


def test_missing_values_go_where_the_cost_is_less_or_have_a_side():
    values = np.array([[1.0], [2.0], [np.nan], [4.0], [5.0], [np.nan]])
    together = DecisionTree().fit(values, [0, 0, 1, 1, 1, 1])
    assert together.predict([[np.nan], [1.0], [9.0]]).tolist() == [1, 0, 1]
    assert together.n_leaves_ == 2
    alone = DecisionTree().fit(values, [0, 0, 1, 0, 0, 1])
    assert alone.n_leaves_ == 2
    assert alone.predict([[np.nan], [1.0], [9.0]]).tolist() == [1, 0, 0]
    for questions in (("axis", "oblique"), ("axis", "sphere")):
        gaps = np.where(np.random.default_rng(0).random(X.shape) < 0.2, np.nan, X)
        assert DecisionTree(questions).fit(gaps, y).score(gaps, y) > DecisionTree(max_depth=1).fit(gaps, y).score(
            gaps, y
        )


def test_what_was_never_missing_goes_to_the_heavier_side():
    values, labels = [[1.0], [2.0], [3.0]], ["few", "many", "many"]
    assert DecisionTree().fit(values, labels).predict([[np.nan]]) == ["many"]
    assert DecisionTree().fit(values, labels, [5, 1, 1]).predict([[np.nan]]) == ["few"]
    categories = DecisionTree(categorical_features=[0]).fit([[1.0], [1], [7], [3], [3], [3]], [0, 0, 0, 1, 1, 1])
    assert categories.predict([[1.0], [7], [3], [8], [np.nan]]).tolist() == [0, 0, 1, 0, 0]


def test_many_categories_of_many_classes():
    rng = np.random.default_rng(0)
    category = rng.integers(30, size=500)
    labels = category % 4
    names = rng.permutation(1000)[:30].astype(float)  # any numbers, in any order
    model = DecisionTree(categorical_features=[0]).fit(names[category][:, None], labels)
    assert model.score(names[:, None], np.arange(30) % 4) == 1.0
    assert model.n_leaves_ == 4


def test_classes_without_weight_are_never_answered():
    model = DecisionTree().fit(X, y, sample_weight=(y != 1).astype(float))
    assert model.classes_.tolist() == [0, 2]
    assert model.predict_proba(X).shape == (150, 2)


@kinds
def test_a_region_searched_in_many_calls_is_parted_as_in_one(questions, monkeypatch):
    rng = np.random.default_rng(0)
    Z = np.column_stack([np.where(rng.random(X.shape) < 0.05, np.nan, X), rng.integers(5, size=150)])
    model = DecisionTree(questions, categorical_features=[4], max_depth=3)
    at_once = model.fit(Z, y).tree_
    values = []

    def recorded(kernel):
        def call(sample, order, first, last, items, *rest):
            values.append((last - first, len(items)))
            return kernel(sample, order, first, last, items, *rest)

        return call

    for kernel in (growth.find_axis, growth.find_sphere):
        monkeypatch.setattr(growth, kernel.__name__, recorded(kernel))
    monkeypatch.setattr(growth, "VALUES_PER_CALL", 100)
    monkeypatch.setattr(growth, "TURNS_PER_CALL", 1)
    in_pieces = model.fit(Z, y).tree_
    assert all(items == 1 or n * items <= 100 for n, items in values)
    assert np.array_equal(at_once.counts, in_pieces.counts)
    assert all(np.array_equal(a, b, equal_nan=True) for a, b in zip(at_once.nodes, in_pieces.nodes, strict=True))


@pytest.mark.parametrize("questions", [("axis",), ("axis", "oblique"), ("axis", "sphere")])
def test_an_interrupt_stops_growth_soon(questions, keyboard):
    rng = np.random.default_rng(0)
    noise, labels = rng.normal(size=(20_000, 30)), rng.integers(10, size=20_000)
    DecisionTree(questions).fit(noise[:50], labels[:50])  # compiled
    # The whole would take half a minute.
    with keyboard(after=0.3, within=8):
        DecisionTree(questions, pruning="cv", n_jobs=2).fit(noise, labels)


def test_it_can_be_pickled():
    model = DecisionTree(ALL, categorical_features=[3]).fit(X, y)
    assert np.array_equal(pickle.loads(pickle.dumps(model)).predict_proba(X), model.predict_proba(X))


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"questions": ("oblique",)}, "that includes 'axis'"),
        ({"questions": "axis"}, "questions='axis' must be a sequence"),
        ({"questions": ("axis", "cube")}, "must be a sequence of axis, oblique, sphere"),
        ({"criterion": "ginny"}, "did you mean 'gini'"),
        ({"min_region": 0}, "min_region=0 must be an integer of at least 1"),
        ({"max_depth": 1.5}, r"max_depth=1\.5 must be an integer"),
        ({"n_folds": 1}, "n_folds=1 must be an integer of at least 2"),
        ({"max_centres": 0}, "max_centres=0 must be"),
        ({"min_gain": -1}, "min_gain=-1 must be a number of at least 0"),
        ({"pruning": "best"}, "pruning='best' must be 'cv', a number of at least 0, or None"),
        ({"pruning": -0.1}, r"pruning=-0\.1 must be"),
        ({"categorical_features": [9]}, "feature numbers below 4"),
    ],
)
def test_bad_parameters(parameters, message):
    with pytest.raises(ValueError, match=message):
        DecisionTree(**parameters).fit(X, y)
