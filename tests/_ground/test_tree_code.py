"""Tree codes: their parts agree with each other and with the definition."""

import numpy as np
import pytest

from outputcodes._ground.drawn_code import DrawnCode, MatrixCode
from outputcodes._ground.tree_code import TreeCode, flat, grown


def random_tree(rng, k, n_trees=1, most=4):
    """Trees whose nodes have 2 to `most` children of any sizes, down to nodes of up to three classes."""

    def split(classes, _):
        if len(classes) <= rng.integers(1, 4):
            return None
        cuts = np.sort(rng.choice(np.arange(1, len(classes)), min(len(classes) - 1, rng.integers(1, most)), False))
        return [(part, None) for part in np.split(rng.permutation(classes), cuts)]

    return grown(k, [(np.arange(k), None)] * n_trees, split)


def descendants(code, column):
    """The classes below a column, by following children."""
    below = code.child[column]
    if below < 0:
        return {-1 - below}
    return set().union(*(descendants(code, c) for c in range(code.first[below], code.first[below + 1])))


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("n_trees", [1, 3])
def test_a_column_is_one_child_against_its_siblings(seed, n_trees):
    rng = np.random.default_rng(seed)
    k = int(rng.integers(3, 30))
    code = random_tree(rng, k, n_trees)
    M = code.matrix()
    for v in range(len(code.first) - 1):
        columns = range(code.first[v], code.first[v + 1])
        below = [descendants(code, c) for c in columns]
        every = set().union(*below)
        assert sum(map(len, below)) == len(every)
        for c, own in zip(columns, below, strict=True):
            expected = [1 if r in own else -1 if r in every else 0 for r in range(k)]
            assert M[:, c].tolist() == expected
    # Every two classes part at one node of each tree, in two columns.
    opposed = ((M[:, None] * M[None]) == -1).sum(axis=2)
    assert (opposed[~np.eye(k, dtype=bool)] == 2 * n_trees).all()


@pytest.mark.parametrize("seed", range(4))
def test_rows_blocks_and_signs_are_those_of_the_matrix(seed):
    rng = np.random.default_rng(seed)
    k = int(rng.integers(3, 30))
    code = random_tree(rng, k, n_trees=2)
    M = code.matrix()
    some = rng.choice(k, 3)
    assert np.array_equal(code.rows(some), M[some])
    rebuilt = np.zeros_like(M)
    for block in code.blocks():
        assert (np.diff(block.classes) > 0).all()
        assert (rebuilt[:, block.columns] == 0).all()
        rebuilt[np.ix_(block.classes, block.columns)] = block.entries
    assert np.array_equal(rebuilt, M)
    for classes in (np.unique(some), np.arange(k), np.array([0])):
        for fast, plain in ((code.signs(classes), MatrixCode(M).signs(classes)),
                            (code.signs(classes), DrawnCode.signs(code, classes))):  # fmt: skip
            assert np.array_equal(fast, plain)


def test_paths_lead_from_the_root_to_the_class():
    code = random_tree(np.random.default_rng(1), 25, n_trees=2)
    for tree in range(2):
        for r, path in enumerate(code.paths(np.arange(25), tree)):
            own = path[path >= 0]
            assert code.node_of[own[0]] == tree
            assert code.child[own[-1]] == -1 - r
            assert [code.child[c] for c in own[:-1]] == [code.node_of[c] for c in own[1:]]


def test_one_node_is_one_vs_all_and_the_same_trees_are_the_same_code():
    assert np.array_equal(flat(4).matrix(), 2 * np.eye(4) - 1)
    code = random_tree(np.random.default_rng(0), 10)
    again = TreeCode(10, 1, code.first.copy(), code.child.copy())
    assert code.same_as(again)
    assert not code.same_as(flat(10))
    assert not code.same_as(MatrixCode(code.matrix()))
