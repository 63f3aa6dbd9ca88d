"""Pruning against every pruning there is, and cross-validation written out."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_iris

from outputcodes.direct.trees.decision_tree import DecisionTree
from outputcodes.direct.trees.pruning import held_out_errors, links, pruning_path

X, y = load_iris(return_X_y=True)


def prunings(tree, node=0):
    """(error, leaves) of every tree that is left when some nodes are made leaves."""
    counts = tree.counts[node]
    alone = [(counts.sum() - counts.max(), 1)]
    if tree.nodes.kind[node] < 0:
        return alone
    left, right = (prunings(tree, tree.nodes.left[node] + side) for side in range(2))
    return alone + [(a + c, b + d) for (a, b), (c, d) in itertools.product(left, right)]


def grown(seed, n=11, weight=None):
    rng = np.random.default_rng(seed)
    X, y = rng.integers(0, 6, size=(n, 2)).astype(float), rng.integers(3, size=n)
    return DecisionTree().fit(X, y, weight)


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10**6), fractional=st.booleans())
def test_each_tree_of_the_path_is_the_smallest_of_the_best(seed, fractional):
    weight = np.random.default_rng(seed).uniform(0.5, 2, 11) if fractional else None
    tree = grown(seed, weight=weight).tree_
    total = tree.counts[0].sum()
    every = [(error / total, leaves) for error, leaves in prunings(tree)]
    alphas, errors, n_leaves = pruning_path(tree)
    assert (np.diff(alphas) > 0).all()
    between = (alphas[1:] + alphas[:-1]) / 2
    for alpha in [*alphas, *between, alphas[-1] + 1]:
        step = np.searchsorted(alphas, alpha, side="right") - 1
        least = min(error + alpha * leaves for error, leaves in every)
        fewest = min(leaves for error, leaves in every if error + alpha * leaves <= least + 1e-12)
        assert errors[step] + alpha * n_leaves[step] == pytest.approx(least, abs=1e-12)
        assert n_leaves[step] == fewest
        assert tree.cut(links(tree) <= alpha).n_leaves == fewest


def test_the_trees_are_nested_and_end_in_the_root():
    tree = DecisionTree().fit(X, y).tree_
    alphas, errors, n_leaves = pruning_path(tree)
    leaves = [tree.cut(links(tree) <= alpha).leaves(X) for alpha in alphas]
    for finer, coarser in itertools.pairwise(leaves):
        # Whoever shares a region goes on sharing it.
        assert len(set(zip(finer, coarser, strict=True))) == len(set(finer))
    assert n_leaves[-1] == 1
    assert errors[-1] == pytest.approx(2 / 3)


@pytest.mark.parametrize("questions", [("axis",), ("axis", "oblique", "sphere")])
def test_a_cut_tree_answers_as_the_grown_one_up_to_its_new_leaves(questions):
    full = DecisionTree(questions).fit(X[::2, :2], y[::2])
    path = full.cost_complexity_pruning_path(X[::2, :2], y[::2])
    for alpha, error, n_leaves in zip(path.ccp_alphas, path.errors, path.n_leaves, strict=True):
        pruned = DecisionTree(questions, pruning=alpha).fit(X[::2, :2], y[::2])
        assert pruned.n_leaves_ == n_leaves
        assert (pruned.predict(X[::2, :2]) != y[::2]).mean() == pytest.approx(error)
        # Questions that are left are the same: a new point's region is that of the grown tree, or holds it.
        coarse, fine = pruned.apply(X[:, :2]), full.apply(X[:, :2])
        assert all(len(set(coarse[fine == leaf])) == 1 for leaf in set(fine))


def test_errors_of_all_prunings_in_one_walk():
    rng = np.random.default_rng(0)
    tree = DecisionTree().fit(X[::2], y[::2]).tree_
    alphas = np.sort(np.append(pruning_path(tree)[0], [0.004, 0.1, 2.0]))
    weight = rng.uniform(size=75)
    slow = []
    for alpha in alphas:
        cut = tree.cut(links(tree) <= alpha)
        slow.append(weight[cut.counts.argmax(axis=1)[cut.leaves(X[1::2])] != y[1::2]].sum())
    assert np.allclose(held_out_errors(tree, alphas, X[1::2], y[1::2], weight), slow)


@pytest.mark.parametrize("weight", [None, 1.0 + np.arange(150) % 4])
def test_the_price_with_the_least_cross_validated_error_is_taken(weight):
    model = DecisionTree(pruning="cv", n_folds=4, random_state=7).fit(X, y, weight)
    w = np.ones(150) if weight is None else weight
    shuffled = np.random.default_rng(7).permutation(150)
    dealt = [i for c in range(3) for i in shuffled if y[i] == c]
    path = model.cost_complexity_pruning_path(X, y, weight).ccp_alphas
    wrong = np.zeros(len(path))
    for step, alpha in enumerate(path):
        price = np.sqrt(alpha * path[step + 1]) if step + 1 < len(path) else 1e9
        for fold in range(4):
            held = np.array(dealt[fold::4])
            rest = np.setdiff1d(np.arange(150), held)
            part = DecisionTree(pruning=price).fit(X[rest], y[rest], w[rest])
            wrong[step] += w[held][part.predict(X[held]) != y[held]].sum()
    assert np.allclose(model.cv_path_.errors, wrong / w.sum())
    assert model.alpha_ == path[np.flatnonzero(wrong == wrong.min())[-1]]
    again = DecisionTree(pruning=model.alpha_).fit(X, y, weight)
    assert np.array_equal(again.tree_.counts, model.tree_.counts)


def test_folds_give_the_same_bits_for_any_number_of_threads():
    one, three = (DecisionTree(pruning="cv", n_jobs=n).fit(X[:, :2], y) for n in (1, 3))
    assert one.alpha_ == three.alpha_
    assert np.array_equal(one.cv_path_.errors, three.cv_path_.errors)
    assert np.array_equal(one.tree_.counts, three.tree_.counts)
