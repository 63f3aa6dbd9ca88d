"""Trees that grow with a stream: where a late class hangs, what is learned of it, and what is refused."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.datasets import load_digits

from outputcodes import OutputCodeClassifier
from outputcodes._ground.class_sums import ClassSums
from outputcodes._ground.first_batch import FirstBatch
from outputcodes.codes import Tree
from outputcodes.learners import LinearSVM, Logistic, Ridge

X, y = load_digits(return_X_y=True)
X, y = X[:900] / 16, np.array(list("abcdefghij"))[y[:900]]
EARLY = np.flatnonzero(y < "g")
TREES = [
    Tree(arity=2, leaf_size=2),
    Tree(arity=3, leaf_size=2, n_trees=3),
    Tree(arity=2, leaf_size=3, method="random", n_trees=2),
    Tree(),
]


def batches(parts=4):
    """Six classes, then the others two by two, among rows of all classes before."""
    rng, start = np.random.default_rng(0), [EARLY[: len(EARLY) // 2]]
    rest = np.setdiff1d(np.arange(900), start[0])
    first_batch_of = np.select([y[rest] < "g", y[rest] < "i"], [rng.integers(1, 4, len(rest)), 2], 3)
    return [*start, *(rest[first_batch_of == number] for number in range(1, parts))]


def streamed(model, data=X, weight=None):
    for rows in batches():
        model.partial_fit(data[rows], y[rows], sample_weight=None if weight is None else weight[rows])
    return model


def nested(code, node):
    """Return a node of a drawn tree as a list of its children: lists and classes."""
    children = code.child[code.first[node] : code.first[node + 1]].tolist()
    return [-1 - child if child < 0 else nested(code, child) for child in children]


def below(child):
    return [child] if isinstance(child, int) else [r for each in child for r in below(each)]


def attach(node, nearest, new):
    """Put a class into the list that holds the nearest one."""
    if nearest in [child for child in node if isinstance(child, int)]:
        node.append(new)
    else:
        attach(next(child for child in node if nearest in below(child)), nearest, new)


def columns_of(node, k):
    """Return the columns of a tree, written down from its definition."""
    found = []
    for child in node:
        column = np.zeros(k, dtype=np.int8)
        column[below(node)] = -1
        column[below(child)] = 1
        found.append(column)
    return found + [column for child in node if not isinstance(child, int) for column in columns_of(child, k)]


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("code", TREES, ids=str)
def test_the_grown_matrix_is_that_of_the_trees_with_the_classes_attached(code, weighted, make):
    weight = np.random.default_rng(1).uniform(0.2, 3, 900) if weighted else None
    model = streamed(OutputCodeClassifier("ridge", code=code, random_state=5), make(X), weight)
    first = batches()[0]
    known, numbers = np.unique(y[first], return_inverse=True)
    batch = FirstBatch(make(X)[first], numbers, None if weight is None else weight[first], known)
    drawn = code.draw(6, 5, batch)
    trees, labels, so_far = [nested(drawn, t) for t in range(code.n_trees)], list("abcdef"), first
    mass = np.ones(900) if weight is None else weight
    for rows in batches()[1:]:
        so_far = np.append(so_far, rows)
        for label in sorted(set(y[rows]) - set(labels)):
            means = [np.average(X[so_far[y[so_far] == one]], axis=0, weights=mass[so_far[y[so_far] == one]])
                     for one in [*labels, label]]  # fmt: skip
            nearest = int(np.argmin([np.linalg.norm(mean - means[-1]) for mean in means[:-1]]))
            for tree in trees:
                attach(tree, nearest, len(labels))
            labels.append(label)
    expected = np.array([column for tree in trees for column in columns_of(tree, 10)]).T
    M = model.stream_.M
    assert model.stream_.labels == labels == list("abcdefghij")
    assert sorted(map(bytes, M.T)) == sorted(map(bytes, expected.T))
    # Every two classes are opposed in two columns of each tree, and columns of the first batch stay in front.
    opposed = (M[:, None] * M[None] == -1).sum(axis=2)[np.triu_indices(10, 1)]
    assert (opposed == 2 * code.n_trees).all()
    assert np.array_equal(M[:6, : drawn.shape[1]], drawn.matrix())


@pytest.mark.parametrize("code", TREES, ids=str)
def test_the_first_batch_gives_the_tree_of_fit(code):
    model = OutputCodeClassifier("ridge", code=code, random_state=3)
    batch, whole = clone(model).partial_fit(X, y), clone(model).fit(X, y)
    assert np.array_equal(batch.code_matrix_, whole.code_matrix_)
    named = clone(model).partial_fit(X, y, classes=np.unique(y))
    assert np.array_equal(named.code_matrix_, whole.code_matrix_)
    assert named.stream_.sums is None


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("code", TREES, ids=str)
def test_ridge_is_what_fit_finds_with_the_grown_code(code, make):
    data = make(X)
    model = streamed(OutputCodeClassifier(Ridge(0.5), code=code, random_state=0), data)
    whole = OutputCodeClassifier(Ridge(0.5), code=model.code_matrix_).fit(data, y)
    assert np.allclose(model.margins(data), whole.margins(data), atol=1e-8)
    assert np.array_equal(model.predict(data), whole.predict(data))


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("learner", [Ridge(), Logistic(), LinearSVM()], ids=str)
def test_late_classes_are_learned(learner, make):
    data, late = make(X), y >= "g"
    one, two = (streamed(OutputCodeClassifier(learner, code=TREES[0], random_state=0, n_jobs=n), data) for n in (1, 2))
    assert np.array_equal(one.coef_, two.coef_)
    # Chance is 90 %.
    assert np.mean(one.predict(data[late]) != y[late]) < 0.25
    assert np.mean(one.predict(data[~late]) != y[~late]) < 0.25


def test_two_classes_grow_and_ties_go_to_the_first():
    flat = OutputCodeClassifier("ridge", code=Tree(leaf_size=2)).partial_fit([[0.0], [2.0]], ["a", "b"])
    assert flat.stream_.M.tolist() == [[1, -1], [-1, 1]]
    # As near to a as to b, up to rounding.
    flat.partial_fit([[0.1 + 0.2 + 0.7]], ["c"])
    assert flat.stream_.M.tolist() == [[1, -1, -1], [-1, 1, -1], [-1, -1, 1]]
    far = 1e7
    sums = ClassSums().plus(np.array([[far - 1], [far + 1 + 1e-12]]), np.array([0, 1]), None, 2)
    assert sums.plus(np.array([[far]]), np.array([2]), None, 3).nearest(2) == 0
    assert sums.plus(np.array([[far + 0.5]]), np.array([2]), None, 3).nearest(2) == 1


def test_a_hierarchy_whose_labels_are_named_is_that_of_fit_and_otherwise_grows():
    groups = {
        label: ("left" if label < "f" else "right", "round" if label in "adj" else "edgy") for label in "abcdefghij"
    }
    model = OutputCodeClassifier("ridge", code=Tree(hierarchy=groups))
    whole = clone(model).fit(X, y)
    parts = clone(model).partial_fit(X[EARLY], y[EARLY], classes=list("abcdefghij"))
    parts.partial_fit(X[y >= "g"], y[y >= "g"])
    assert np.array_equal(parts.code_matrix_, whole.code_matrix_)
    with pytest.raises(ValueError, match=r"hierarchy has the labels \['g', 'h', 'i', 'j'\], which are not among the"):
        clone(model).partial_fit(X[EARLY], y[EARLY])
    with pytest.raises(ValueError, match=r"hierarchy has no path for the labels \['z'\] of y; give every label a path"):
        clone(model).partial_fit(X, np.where(y == "a", "z", y))
    few = OutputCodeClassifier("ridge", code=Tree(hierarchy={label: groups[label] for label in "abcdef"}))
    grown = few.partial_fit(X[EARLY], y[EARLY]).partial_fit(X, y)
    assert grown.code_matrix_.shape == (10, few.code_.shape[1])
    assert len(np.unique(grown.code_matrix_, axis=0)) == 10


def test_what_is_refused():
    model, every = OutputCodeClassifier("ridge", code=Tree(arity=2, leaf_size=2)), list("abcdefghij")
    with pytest.raises(ValueError, match=r"classes has \['g', 'h', 'i', 'j'\], of which the first batch has no rows"):
        model.partial_fit(X[EARLY], y[EARLY], classes=every)
    # The remedies: a random tree, or one without groups.
    for code in (Tree(arity=2, leaf_size=2, method="random"), Tree()):
        other = OutputCodeClassifier("ridge", code=code, random_state=0).partial_fit(X[EARLY], y[EARLY], classes=every)
        assert np.array_equal(other.code_matrix_, clone(other).fit(X, y).code_matrix_)
        with pytest.raises(ValueError, match=r"y has the labels 'z', which are not among the classes of the first"):
            other.partial_fit(X[:1], ["z"])
    with pytest.raises(ValueError, match=r"y has the labels 'j', which are not among the classes of the first call"):
        OutputCodeClassifier("ridge", code=Tree()).partial_fit(X, y, classes=every[:-1])
    with pytest.raises(ValueError, match=r"leaf_size must be an integer of at least 2, got 1"):
        OutputCodeClassifier("ridge", code=Tree(leaf_size=1)).partial_fit(X, y)
    with pytest.raises(ValueError, match=r"beam.*tree|Beam.*tree"):
        OutputCodeClassifier("ridge", code=Tree(), decoder="beam").partial_fit(X, y)
    with pytest.raises(ValueError, match=r"nearest=None must be the row of the class beside which the tree grows"):
        Tree().grown(np.array([[1, -1], [-1, 1]], dtype=np.int8), 2)


def test_a_batch_that_is_refused_leaves_the_tree_as_it_was():
    model = OutputCodeClassifier("ridge", code=Tree(arity=2, leaf_size=2), random_state=0)
    model.partial_fit(X[EARLY], y[EARLY])
    before, M = model.stream_.sums, model.stream_.M
    with pytest.raises(ValueError, match=r"y has the label 7, and those before are such as 'a'"):
        model.partial_fit(X[:2], [7, 8])
    assert model.stream_.sums is before
    assert model.stream_.M is M


def test_features_without_means_are_refused():
    frame = pd.DataFrame({"colour": ["red", "blue", "red"]})
    with pytest.raises(ValueError, match=r"X is not a table of numbers, and the code grows by the means of classes"):
        ClassSums().plus(frame, np.array([0, 1, 2]), None, 3)
    with pytest.raises(ValueError, match=r"X has missing or infinite values, and the code grows by the means"):
        ClassSums().plus(np.array([[np.nan], [1.0]]), np.array([0, 1]), None, 2)
