"""Boosted trees grown where the rows are: the bits of the blocks, and of an array where it is one block."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_digits

from outputcodes import OutputCodeClassifier
from outputcodes._ground.passes import Blocks
from outputcodes._ground.working_files import is_mapped
from outputcodes.boosting import GradientBoost
from outputcodes.learners import BoostedTrees
from outputcodes.learners.trees.boosted import on_blocks
from outputcodes.training import RowBlocks

X, y = load_digits(return_X_y=True)
X, y = X[:600] + np.random.default_rng(0).normal(scale=0.1, size=(600, 64)), y[:600]
X[::7, 3] = np.nan
X[:, 5] = np.arange(600) % 4
WEIGHT = np.random.default_rng(1).random(600)
LABELS = np.column_stack([y > 4, y % 2, y % 3 == 0]).astype(int)
# More classes than have steps of their own in every leaf.
MANY = y + 10 * (np.arange(600) % 8)
BOOSTERS = {
    "early stopping": GradientBoost(6, max_bins=16, random_state=0),
    "subsets": GradientBoost(4, categorical_features=[5], max_features=1.0, validation_fraction=None, random_state=0),
    "odd sketch": GradientBoost(4, sketch=3, max_leaves=30, max_depth=4, min_rows=3, monitor="error", random_state=0),
}


def parts(features=X):
    return np.split(features, [150, 150, 151, 400])


def same(one, other):
    """Whether two forests have the same bits."""
    arrays = [(*f.nodes, *f.leaves, f.base, f.roots, f.leaf, f.gain, f.rows) for f in (one, other)]
    return all(np.array_equal(u, v, equal_nan=True) for u, v in zip(*arrays, strict=True))


@pytest.mark.parametrize("booster", BOOSTERS.values(), ids=BOOSTERS)
@pytest.mark.parametrize("labels", [y, LABELS, MANY], ids=["classes", "labels", "many"])
@pytest.mark.parametrize("weight", [None, WEIGHT, (WEIGHT > 0.3) * WEIGHT], ids=["equal", "weights", "zeros"])
def test_one_block_is_all_rows(booster, labels, weight):
    one, whole = (clone(booster).fit(data, labels, weight) for data in (RowBlocks([X]), X))
    assert len(whole.classes_) > 64 or labels is not MANY
    assert same(one.forest_, whole.forest_)
    for name in whole.history_:
        assert np.array_equal(one.history_[name], whole.history_[name])


@pytest.mark.parametrize("booster", BOOSTERS.values(), ids=BOOSTERS)
@pytest.mark.parametrize("labels", [y, LABELS], ids=["classes", "labels"])
def test_the_same_blocks_give_the_same_bits_from_any_source(booster, labels):
    first = clone(booster).fit(RowBlocks(parts()), labels, WEIGHT)
    files = clone(booster).set_params(n_jobs=2).fit(RowBlocks(lambda: iter(parts())), labels, WEIGHT)
    whole = clone(booster).fit(X, labels, WEIGHT)
    assert same(files.forest_, first.forest_)
    # Only the last bits of sums of single precision differ.
    assert np.allclose(first.decision_function(X), whole.decision_function(X), atol=1e-4)
    assert np.array_equal(first.predict(RowBlocks(parts())), first.predict(X))


def test_rounds_can_be_added_on_blocks():
    one, whole = (GradientBoost(3, warm_start=True, random_state=0).fit(data, y) for data in (RowBlocks([X]), X))
    one.set_params(n_rounds=6).fit(RowBlocks([X]), y)
    assert same(one.forest_, whole.set_params(n_rounds=6).fit(X, y).forest_)
    assert one.n_rounds_ == 6


class TwoWorkplaces(on_blocks.Workplace):
    """What tasks see that are computed now here, now there: rows as they were some passes ago, or none."""

    rng = np.random.default_rng(0)

    def __init__(self):
        super().__init__()
        self.elsewhere = []

    def take(self):
        if self.rng.random() < 0.5:
            self._held, self.elsewhere = self.elsewhere, self._held
        return super().take()


@pytest.mark.parametrize("ahead", [1, 2, 50])
@pytest.mark.parametrize("workplace", [on_blocks.Workplace, TwoWorkplaces])
def test_the_tree_does_not_depend_on_what_was_asked_ahead_nor_on_who_computes(monkeypatch, ahead, workplace):
    booster = GradientBoost(4, max_leaves=40, categorical_features=[5], max_features=1.0, random_state=0)
    expected = clone(booster).fit(RowBlocks(parts()), y).forest_
    monkeypatch.setattr(Blocks, "ahead", ahead)
    monkeypatch.setattr(Blocks, "may_change", False)
    monkeypatch.setattr(on_blocks, "Workplace", workplace)
    asked = []

    def counted(piece, growth, partings, questions, histograms=on_blocks._histograms):
        asked.append(len(questions))
        return histograms(piece, growth, partings, questions)

    monkeypatch.setattr(on_blocks, "_histograms", counted)
    assert same(booster.fit(RowBlocks(parts()), y).forest_, expected)
    assert max(asked) <= ahead
    # One pass per parting, the last one apart, and one for all rows; fewer with questions ahead.
    passes, trees = len(asked) / len(parts()), booster.n_rounds_
    assert passes == trees * 39 if ahead == 1 else passes < trees * 30


def test_columns_of_a_code_on_blocks():
    learner = BoostedTrees(5, max_bins=16, categorical_features=[5])
    first, files, one, whole = (
        OutputCodeClassifier(learner, code="all-pairs", random_state=0).fit(data, y, sample_weight=WEIGHT).margins(X)
        for data in (RowBlocks(parts()), RowBlocks(lambda: iter(parts())), RowBlocks([X]), X)
    )
    assert np.array_equal(first, files)
    assert np.array_equal(one, whole)
    assert np.allclose(first, whole, atol=1e-4)


def test_what_is_known_of_rows_in_files_stays_in_files(monkeypatch):
    held = []

    def watched(piece, *how, advanced=on_blocks._advanced):
        growing = piece.growing(*how[1:3])
        held.append([piece.codes, piece.scores, piece.G, growing.words, growing.codes])
        return advanced(piece, *how)

    monkeypatch.setattr(on_blocks, "_advanced", watched)
    features = np.tile(X, (4, 1))
    GradientBoost(2, max_features=0.5, validation_fraction=None).fit(
        RowBlocks(lambda: iter(np.split(features, 2))), np.tile(y, 4)
    )
    assert len(held) == 4
    assert all(is_mapped(array) for own in held for array in own)
