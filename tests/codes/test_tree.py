"""The code `Tree`: sizes, groups, given hierarchies and bad input."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone

from outputcodes import OutputCodeClassifier
from outputcodes.codes import OneVsAll, Tree, TreeCode, as_code
from outputcodes.codes._balanced_means import BalancedMeans, assign, class_centroids
from outputcodes.codes._hierarchy import given_tree
from outputcodes.learners import Ridge
from outputcodes.training import Problem


def planted(n_groups, per_group, rows=3, seed=0):
    """Rows of classes in groups: two words of the group, one of the class, one of noise."""
    rng = np.random.default_rng(seed)
    k = n_groups * per_group
    y = np.repeat(np.arange(k), rows)
    group = y % n_groups
    n, noise = len(y), 40
    columns = np.stack([5 * group + rng.integers(5, size=n), 5 * group + rng.integers(5, size=n),
                        5 * n_groups + y, 5 * n_groups + k + rng.integers(noise, size=n)], axis=1)  # fmt: skip
    X = sp.csr_array((np.ones(4 * n, np.float32), columns.ravel(), np.arange(0, 4 * n + 1, 4)),
                     shape=(n, 5 * n_groups + k + noise))  # fmt: skip
    X.sum_duplicates()
    return X, y


def children(code, v):
    return code.child[code.first[v] : code.first[v + 1]]


@pytest.mark.parametrize("method", ["k-means", "random"])
@pytest.mark.parametrize("k", [3, 17, 60, 101])
def test_every_class_is_once_in_each_tree_and_groups_are_even(method, k):
    X, y = planted(1, k)
    code = Tree(arity=4, leaf_size=5, n_trees=2, method=method).draw(k, 0, Problem(Ridge(), X, y))
    assert isinstance(code, TreeCode)
    for tree in range(2):
        assert np.array_equal(np.sort(code.order[tree * k : (tree + 1) * k]), np.arange(k))
    for v in range(len(code.first) - 1):
        below = children(code, v)
        if (below >= 0).any():
            assert len(below) <= 4
            sizes = [code.node_sizes[b] if b >= 0 else 1 for b in below]
            assert max(sizes) - min(sizes) <= 1
        else:
            assert len(below) <= 5


def test_groups_are_nearly_as_close_as_those_of_the_data_whatever_the_seed():
    X, y = planted(4, 10)
    centroids = class_centroids(X, y, None, 40)

    def closeness(groups):
        return sum(np.linalg.norm(centroids[group].sum(axis=0)) for group in groups)

    truth = closeness([np.arange(g, 40, 4) for g in range(4)])
    for seed in range(5):
        rng = np.random.default_rng(seed)
        ours = closeness(BalancedMeans(centroids).split(np.arange(40), 4, rng))
        chance = closeness(np.array_split(rng.permutation(40), 4))
        assert ours - chance > 0.7 * (truth - chance)


def test_one_seed_gives_one_tree_and_trees_differ():
    X, y = planted(5, 12)
    problem = Problem(Ridge(), X, y)
    draws = [Tree(arity=3, leaf_size=8, n_trees=2).draw(60, seed, problem) for seed in (0, 0, 1)]
    assert draws[0].same_as(draws[1])
    assert not draws[0].same_as(draws[2])
    assert not np.array_equal(draws[0].order[:60], draws[0].order[60:])


def test_large_nodes_are_split_by_a_sample(monkeypatch):
    monkeypatch.setattr("outputcodes.codes._balanced_means.CLASSES_PER_GROUP", 5)
    X, y = planted(4, 30)
    groups = BalancedMeans(class_centroids(X, y, None, 120)).split(np.arange(120), 4, np.random.default_rng(0))
    assert [len(group) for group in groups] == [30] * 4
    assert np.array_equal(np.sort(np.concatenate(groups)), np.arange(120))


def test_centroids_are_directions_of_the_sums():
    X, y = planted(2, 4)
    weight = np.arange(1.0, len(y) + 1)
    dense, W = X.toarray(), np.eye(8)[y] * weight[:, None]
    expected = W.T @ dense
    expected /= np.linalg.norm(expected, axis=1, keepdims=True)
    assert np.allclose(class_centroids(X, y, weight, 8).toarray(), expected, atol=1e-6)


@pytest.mark.parametrize(("n", "m"), [(7, 3), (9, 3), (16, 5), (2, 2)])
def test_assignments_are_balanced(n, m):
    similarity = np.random.default_rng(n).normal(size=(n, m)).astype(np.float32)
    similarity[:, 0] += 10
    sizes = np.bincount(assign(similarity, m), minlength=m)
    assert sizes.sum() == n
    assert sizes.max() - sizes.min() <= 1


def test_a_given_hierarchy_is_followed_and_chains_are_shortened():
    X, y = planted(2, 4)
    labels = np.array([f"c{r}" for r in range(8)])[y]
    paths = {f"c{r}": ("even" if r % 2 == 0 else "odd", "inner", "innermost") for r in range(6)}
    paths |= {"c6": ("even",), "c7": ()}
    model = OutputCodeClassifier("ridge", code=Tree(hierarchy=paths)).fit(X.toarray(), labels)
    M = model.code_matrix_
    # The root: even, odd and the class c7; below even: a group and c6; the groups: three classes each.
    assert M.shape == (8, 3 + 2 + 3 + 3)
    assert M[7].tolist() == [-1, -1, 1] + [0] * 8
    assert model.score(X.toarray(), labels) > 0.9


def test_bad_hierarchies_name_the_labels():
    X, y = planted(2, 3)
    labels = np.array(list("abcdef"))[y]
    full = dict.fromkeys("abcdef", ("g",))
    with pytest.raises(ValueError, match=r"no path for the labels \['c'\]"):
        OutputCodeClassifier(code=Tree(hierarchy={k: v for k, v in full.items() if k != "c"})).fit(X, labels)
    with pytest.raises(ValueError, match=r"labels that y lacks, \['z'\]"):
        OutputCodeClassifier(code=Tree(hierarchy={**full, "z": ("g",)})).fit(X, labels)
    with pytest.raises(ValueError, match=r"hierarchy\['b'\]='gh' must be a tuple"):
        OutputCodeClassifier(code=Tree(hierarchy={**full, "b": "gh"})).fit(X, labels)
    for other in (["a"], np.array([["g"]] * 6), pd.DataFrame({"group": list("gggggg")}, index=list("abcdef"))):
        with pytest.raises(ValueError, match=r"must be a mapping \{label: path\} or a pandas Series, got "):
            OutputCodeClassifier(code=Tree(hierarchy=other)).fit(X, labels)
    with pytest.raises(ValueError, match="n_trees=2 must be 1"):
        OutputCodeClassifier(code=Tree(hierarchy=full, n_trees=2)).fit(X, labels)


@pytest.mark.parametrize("missing", [None, np.nan, pd.NA, pd.NaT])
def test_missing_names_of_groups_are_refused(missing):
    with pytest.raises(ValueError, match=r"hierarchy\['b'\]=.* has a missing name, .*; end the path"):
        given_tree({"a": ("g",), "b": ("g", missing)}, np.array(["a", "b"]))


@pytest.mark.parametrize("name", [["h"], {"h": 1}, ("h", ["i"])])
def test_groups_that_are_no_names_are_refused(name):
    with pytest.raises(ValueError, match=r"hierarchy\['b'\]=.* has the group .*, which can't be a name"):
        given_tree({"a": ("g",), "b": ("g", name)}, np.array(["a", "b"]))


def test_labels_of_another_type_are_named():
    with pytest.raises(ValueError, match=r"labels \[1, 2\] of y \('1' is there, of type str where the label has int\)"):
        given_tree({"1": ("g",), "2": ("g",)}, np.array([1, 2]))
    with pytest.raises(ValueError, match=r"\['1', '2'\] of y \(1 is there, of type int where the label has str\)"):
        given_tree({1: ("g",), 2: ("g",)}, np.array(["1", "2"]))


def test_a_hierarchy_may_be_a_series_and_its_paths_arrays():
    paths = {1: ("a", "b"), 2: ("a", "b"), 3: ("a",), 4: ("c",)}
    expected = given_tree(paths, np.arange(1, 5))
    series = pd.Series({label: list(path) for label, path in paths.items()})
    arrays = {np.int64(label): np.array(path) for label, path in paths.items()}
    for same in (series, arrays):
        assert given_tree(same, np.arange(1, 5)).same_as(expected)
    with pytest.raises(ValueError, match="hierarchy has the label 1 more than once"):
        given_tree(pd.Series([("a",), ("b",)], index=[1, 1]), np.array([1]))
    X, y = planted(2, 2)
    model = OutputCodeClassifier("ridge", code=Tree(hierarchy=series)).fit(X.toarray(), y + 1)
    assert clone(model).fit(X.toarray(), y + 1).code_.same_as(expected)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"arity": 1}, "arity must be an integer of at least 2, got 1"),
        ({"leaf_size": 1}, "leaf_size must be an integer of at least 2, got 1"),
        ({"n_trees": 0}, "n_trees must be an integer of at least 1, got 0"),
        ({"method": "means"}, "method='means' must be 'k-means' or 'random'"),
    ],
)
def test_bad_parameters_are_named(parameters, message):
    X, y = planted(2, 3)
    with pytest.raises(ValueError, match=message):
        OutputCodeClassifier(code=Tree(**parameters)).fit(X, y)


def test_k_means_needs_numbers_and_says_what_to_use_instead():
    with pytest.raises(ValueError, match="made from data"):
        Tree().draw(5)
    assert Tree(method="random").draw(5, 0).shape == (5, 5)
    with pytest.raises(ValueError, match="method='random'"):
        Tree().draw(3, 0, Problem(_Anything(), [["a"], ["b"], ["c"]], np.arange(3)))


class _Anything(Ridge):
    def prepare(self, X, like=None):
        return X


def test_one_vs_all_of_many_classes_is_not_written_down():
    few, many = OneVsAll().draw(1000), as_code("one-vs-all").draw(1001)
    assert not isinstance(few, TreeCode)
    assert isinstance(many, TreeCode)
    assert np.array_equal(many.rows([0, 1000]), np.where(np.eye(1001)[[0, 1000]] == 1, 1, -1))
