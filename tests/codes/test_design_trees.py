"""Codes from trees of classes: their shape, mutual information by its definition, the search against exhaustion."""

import itertools

import numpy as np
import pytest
from scipy import sparse
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import RidgeClassifier
from sklearn.metrics import mutual_info_score
from sklearn.pipeline import make_pipeline

from outputcodes import OutputCodeClassifier
from outputcodes.codes import check_code
from outputcodes.codes._partition import ClassHistograms, exhaustive_search, floating_search
from outputcodes.codes.trees import DiscriminantTree, Forest
from outputcodes.learners import as_learner
from outputcodes.training import Problem


def blobs(k, d=3, n=12, seed=0):
    rng = np.random.default_rng(seed)
    y = np.repeat(np.arange(k), n)
    return rng.normal(size=(k, d))[y] + 0.5 * rng.normal(size=(k * n, d)), y


def problem(X, y, weight=None, **options):
    return Problem(as_learner("ridge"), X, y, weight, **options)


def integers(k, n=200, d=4, seed=0):
    """Few distinct values, which are their own bins."""
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(n) % k)
    return (rng.integers(3, size=(n, d)) + (rng.random((k, d))[y] < 0.4)).astype(float), y


@pytest.mark.parametrize("k", [3, 4, 7, 12])
@pytest.mark.parametrize("features", ["inputs", "margins"])
def test_a_tree_parts_each_node_once(k, features):
    X, y = blobs(k)
    M = check_code(DiscriminantTree(features).draw(k, 0, problem(X, y)).matrix(), strict=True)
    assert M.shape == (k, k - 1)
    nodes = [set(range(k))]
    for column in M.T:
        low, high = ({int(r) for r in np.flatnonzero(column == sign)} for sign in (-1, 1))
        assert low
        assert high
        nodes.remove(low | high)
        nodes += [low, high]
        assert min(low) < min(high)
    assert sorted(len(node) for node in nodes) == [1] * k
    opposed = [np.count_nonzero(a * b == -1) for a, b in itertools.combinations(M, 2)]
    assert set(opposed) == {1}


def test_information_is_that_of_the_definition():
    X, y = integers(5)
    X[::7, 1] = np.nan
    histograms = ClassHistograms(X, y, np.full(len(y), 1 / len(y)), 5, bins=8)
    classes = np.array([0, 2, 3, 4])
    sides = np.array([s for s in itertools.product([False, True], repeat=4) if any(s) and not all(s)])
    taking_part = np.isin(y, classes)
    for side, value in zip(sides, histograms.information(classes, sides), strict=True):
        branch = np.isin(y, classes[side])[taking_part]
        features = np.nan_to_num(X[taking_part], nan=-1).T
        assert value == pytest.approx(np.mean([mutual_info_score(x, branch) for x in features]), abs=1e-12)


def test_many_values_are_binned_by_quantiles():
    X, y = blobs(3, d=2, n=40)
    histograms = ClassHistograms(X, y, np.full(120, 1 / 120), 3, bins=4)
    assert histograms.counts.sum(axis=0).reshape(2, 5) == pytest.approx(np.tile([0.25] * 4 + [0], (2, 1)))
    side = np.array([[True, False, False]])
    quartile = [(np.argsort(np.argsort(x)) // 30).tolist() for x in X.T]
    wanted = np.mean([mutual_info_score(q, y == 0) for q in quartile])
    assert histograms.information(np.arange(3), side)[0] == pytest.approx(wanted, abs=1e-12)


def test_sparse_features_are_zero_or_not():
    X, y = integers(6)
    given = DiscriminantTree().draw(6, 0, problem(sparse.csr_matrix(X), y)).matrix()
    assert np.array_equal(given, DiscriminantTree().draw(6, 0, problem((X != 0).astype(float), y)).matrix())


@pytest.mark.parametrize("c", [3, 5, 7])
def test_exhaustive_search_is_exhaustive_and_floating_search_no_worse_than_its_start(c):
    X, y = integers(c, seed=c)
    histograms = ClassHistograms(X, y, np.full(len(y), 1 / len(y)), c, bins=8)

    def value(sides):
        return histograms.information(np.arange(c), sides)

    every = np.array([s for s in itertools.product([False, True], repeat=c) if any(s) and not s[0]])
    values = value(every)
    used = set()
    for best in np.sort(values)[::-1]:  # the best, then the best of those left, …
        side = exhaustive_search(value, c, used)
        assert value(side[None])[0] == pytest.approx(best, abs=1e-12)
        assert side.tobytes() not in used
        used.add(side.tobytes())
    one_class = value(np.eye(c, dtype=bool)).max()
    found = floating_search(value, c, set())
    assert not found[0]
    assert found.any()
    assert one_class - 1e-12 <= value(found[None])[0] <= values.max() + 1e-12
    again = floating_search(value, c, {found.tobytes()})
    assert again.tobytes() != found.tobytes()


def test_floating_search_escapes_the_best_class_against_the_rest():
    # One feature separates the classes 0-3 from 4-7; each class alone gives little information.
    y = np.repeat(np.arange(8), 10)
    X = np.column_stack([y >= 4, np.arange(80) % 2]).astype(float)
    M = DiscriminantTree(exhaustive_up_to=0).draw(8, 0, problem(X, y)).matrix()
    assert M[:, 0].tolist() == [-1] * 4 + [1] * 4


@pytest.mark.parametrize("exhaustive_up_to", [0, 8])
def test_a_weight_is_a_number_of_rows(exhaustive_up_to):
    X, y = blobs(6, n=10)
    weight = np.random.default_rng(2).integers(0, 4, size=60)
    weight[::10] = 1
    code, rows = DiscriminantTree(exhaustive_up_to=exhaustive_up_to), np.flatnonzero(weight)
    weighted = code.draw(6, 0, problem(X, y, weight.astype(float), rows=rows)).matrix()
    repeated = code.draw(6, 0, problem(np.repeat(X, weight, axis=0), np.repeat(y, weight))).matrix()
    assert np.array_equal(weighted, repeated)


def test_forest_starts_with_the_tree_and_repeats_nothing():
    X, y = blobs(7)
    tree, forest = DiscriminantTree().draw(7, 0, problem(X, y)).matrix(), Forest(4).draw(7, 0, problem(X, y)).matrix()
    check_code(forest, strict=True)
    assert np.array_equal(forest[:, :6], tree)
    assert len(np.unique(forest, axis=1).T) == forest.shape[1] <= 24
    roots = forest[:, (forest != 0).all(axis=0)]
    histograms = ClassHistograms(X, y, np.full(len(y), 1 / len(y)), 7, bins=8)
    information = histograms.information(np.arange(7), roots.T > 0)
    every = np.array([s for s in itertools.product([False, True], repeat=7) if any(s) and not s[0]])
    best = np.sort(histograms.information(np.arange(7), every))[::-1]
    assert information == pytest.approx(best[:4], abs=1e-12)


def test_texts_need_margins():
    texts = ["red apple", "red cherry", "green pear", "green apple", "grey stone", "grey rock"] * 3
    y = np.repeat([0, 1, 2], 2).tolist() * 3
    learner = make_pipeline(CountVectorizer(), RidgeClassifier())
    model = OutputCodeClassifier(learner, code=DiscriminantTree("margins"), random_state=0).fit(texts, y)
    assert model.code_matrix_.shape == (3, 2)
    with pytest.raises(ValueError, match="use features='margins' in the code"):
        OutputCodeClassifier(learner, code=DiscriminantTree()).fit(texts, y)


@pytest.mark.parametrize(
    "wrong", [{"features": "texts"}, {"bins": 1}, {"exhaustive_up_to": -1}, {"exhaustive_up_to": 21}, {"n_trees": 0}]
)
def test_wrong_parameters(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        Forest(**wrong).draw(2).matrix()
