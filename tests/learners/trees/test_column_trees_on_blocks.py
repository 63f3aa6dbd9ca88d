"""Trees of columns grown where the rows are: the bits of an array, for any blocks, sources, threads and budgets."""

import numpy as np
import pytest
from sklearn.datasets import load_digits

from outputcodes import OutputCodeClassifier
from outputcodes._ground.passes import Blocks
from outputcodes._ground.working_files import is_mapped
from outputcodes._histograms.columns import growth_on_blocks
from outputcodes.learners import ColumnTree
from outputcodes.learners.trees import trees_on_blocks
from outputcodes.training import RowBlocks

X, y = load_digits(return_X_y=True)
X, y = X[:600, :40] + np.random.default_rng(0).normal(scale=0.1, size=(600, 40)), y[:600]
X[::7, 3] = np.nan
X[:, 5] = np.arange(600) % 4
X[::5, 5] = np.nan
# The block of one row, and that without rows, lack classes; so does the third block.
y[151:400][y[151:400] > 6] = 0
ENDS = [150, 150, 151, 400]
WEIGHT = np.random.default_rng(1).random(600)
LEARNERS = {
    "depth": ColumnTree(max_depth=4, bins=16),
    "categories": ColumnTree("gini", categorical_features=[5], min_region=3),
    "draws": ColumnTree(max_features=0.2, categorical_features=[5]),
    "gain": ColumnTree("kearns-mansour", min_gain=0.01, bins=8),
}
# Bytes of the rows of a region that are fetched, of a pass and of kept histograms: no rows and little memory; no rows;
# some of the rows; all but the root, by default.
BUDGETS = {"scarce": (0, 1, 1), "histograms": (0, 1 << 22, 1 << 24), "both": (5000, 1 << 17, 1 << 17), "rows": None}


def set_budget(monkeypatch, budget):
    names = ("REGION_BYTES", "PASS_BYTES", "KEPT_BYTES")
    for name, value in zip(names, BUDGETS[budget] or (), strict=BUDGETS[budget] is not None):
        monkeypatch.setattr(growth_on_blocks, name, value)


def parts(features=X):
    return np.split(features, ENDS)


def fitted(learner, data, code="one-vs-all", n_jobs=1, weight=WEIGHT, **how):
    model = OutputCodeClassifier(learner, code=code, random_state=0, n_jobs=n_jobs, **how)
    return model.fit(data, y, sample_weight=weight)


def same(one, other):
    """Whether the trees of two models have the same bits."""
    arrays = [(*f.nodes, f.roots, f.weights, f.answers) for f in (one.columns_.fitted, other.columns_.fitted)]
    return all(np.array_equal(u, v, equal_nan=True) for u, v in zip(*arrays, strict=True))


@pytest.mark.parametrize("learner", LEARNERS.values(), ids=LEARNERS)
@pytest.mark.parametrize("code", ["one-vs-all", "all-pairs"])
@pytest.mark.parametrize("budget", BUDGETS)
def test_blocks_of_any_source_give_the_trees_of_an_array(monkeypatch, learner, code, budget):
    set_budget(monkeypatch, budget)
    whole = fitted(learner, X, code)
    assert whole.columns_.fitted.n_leaves.max() > 3
    assert same(fitted(learner, RowBlocks(parts()), code), whole)
    assert same(fitted(learner, RowBlocks(lambda: iter(parts())), code, n_jobs=2), whole)


@pytest.mark.parametrize("weight", [None, (WEIGHT > 0.3) * WEIGHT], ids=["equal", "zeros"])
@pytest.mark.parametrize("how", [{}, {"column_weight": "balanced"}, {"probability": "likelihood"}], ids=str)
def test_weights_and_folds(monkeypatch, weight, how):
    """Held-out margins are those of trees on some of the rows."""
    set_budget(monkeypatch, "histograms")
    one, whole = (
        fitted(ColumnTree(max_depth=3, bins=16), data, weight=weight, **how) for data in (RowBlocks(parts()), X)
    )
    assert same(one, whole)
    assert np.array_equal(one.decision_function(X), whole.decision_function(X))


def test_columns_by_turns(monkeypatch):
    """Trees that don't grow together, some of them of one leaf."""
    monkeypatch.setattr("outputcodes.learners.trees.column_tree.COLUMNS_AT_A_TIME", 3)
    learner = ColumnTree(max_depth=2, min_gain=0.05)
    one, whole = (fitted(learner, data) for data in (RowBlocks(parts()), X))
    assert one.columns_.fitted.n_leaves.min() == 1
    assert same(one, whole)


def test_as_many_passes_as_the_tree_is_deep(monkeypatch):
    passes = []

    def step(self, work, *how, before=Blocks.step, **options):
        if work is trees_on_blocks.advanced:
            passes.append(len(how[0]))
        return before(self, work, *how, **options)

    monkeypatch.setattr(Blocks, "step", step)
    set_budget(monkeypatch, "histograms")
    fitted(ColumnTree(max_depth=5, bins=16), RowBlocks(parts()))
    # One for the roots, and one for every level that is split in turn, of all ten trees.
    assert passes == [10] * 5
    monkeypatch.undo()
    monkeypatch.setattr(Blocks, "step", step)
    passes.clear()
    # The sides of the root are few.
    fitted(ColumnTree(), RowBlocks(parts()))
    assert passes == [10] * 3


def test_what_is_known_of_rows_in_files_stays_in_files(monkeypatch):
    held = []

    def watched(piece, *how, before=trees_on_blocks.advanced):
        made, answer = before(piece, *how)
        held.append([piece.codes, made.codes, made.signed, made.order])
        return made, answer

    monkeypatch.setattr(trees_on_blocks, "advanced", watched)
    features = np.tile(X, (8, 1))
    learner = ColumnTree(max_depth=2, bins=16)
    data = learner.prepare(RowBlocks(lambda: iter(np.split(features, 2))))
    learner.fit_columns(data, np.tile(y, 8) % 2, np.array([[-1], [1]], dtype=np.int8))
    assert len(held) == 4
    assert all(is_mapped(array) for own in held for array in own)
