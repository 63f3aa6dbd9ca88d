"""Boosters on blocks of rows: the bits of any source, and those of an array where it is one block."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.tree import DecisionTreeClassifier

from outputcodes._ground.passes import Blocks
from outputcodes._ground.stored_rows import StoredRows
from outputcodes._ground.working_files import mapped
from outputcodes._histograms import binned_blocks, stumps
from outputcodes.boosting import AdaBoostMH, AdaBoostMO, AdaBoostMR, AdaBoostOC, SmoothBoost, _triples
from outputcodes.training import RowBlocks

X, y = load_digits(return_X_y=True)
X, y = X[:600].copy(), y[:600]
X[::7, 3] = np.nan
SIZES = [150, 0, 1, 249, 200]
WEIGHT = np.random.default_rng(0).integers(0, 3, 600).astype(float)
BOOSTERS = [
    AdaBoostMO("all-pairs", 5, bins=8, categorical_features=[5], random_state=0),
    AdaBoostMO("one-vs-all", 5, "abstaining", bins=8, random_state=0),
    AdaBoostMH(20, "discrete", bins=8, validation_fraction=0.2, n_iter_no_change=2, random_state=0),
    AdaBoostMR(5, bins=8, categorical_features=[5]),
    AdaBoostMR(20, bins=8, validation_fraction=0.2, n_iter_no_change=2, random_state=0),
    AdaBoostOC(8, bins=8, categorical_features=[5], random_state=0),
    AdaBoostOC(30, "pseudo", validation_fraction=0.2, n_iter_no_change=2, random_state=0),
    SmoothBoost(8, bins=8, categorical_features=[5], random_state=0),
    SmoothBoost(8, coding="deterministic", bins=8, validation_fraction=0.2, random_state=0),
    SmoothBoost(5, coding="probabilistic", bins=8, random_state=0),
]


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch):
    monkeypatch.setattr(stumps, "BLOCK_ROWS", 128)
    monkeypatch.setattr(_triples, "ROWS_PER_BLOCK", 50)


@pytest.fixture
def never_joined(monkeypatch):
    """Blocks that are joined fail the test."""

    def joined(blocks):
        raise AssertionError("blocks were joined")

    monkeypatch.setattr(RowBlocks, "joined", joined)
    monkeypatch.setattr(StoredRows, "joined", joined)


def parts(features=X):
    return np.split(features, np.cumsum(SIZES)[:-1])


def same(one, other):
    a, b = one.columns_, other.columns_
    return all(np.array_equal(getattr(a, part), getattr(b, part)) for part in ("feature", "threshold", "left", "right"))


@pytest.mark.usefixtures("never_joined")
@pytest.mark.parametrize("booster", BOOSTERS, ids=str)
@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["equal", "weights"])
def test_the_same_blocks_give_the_same_bits_from_any_source(booster, weight):
    first = booster.fit(RowBlocks(parts()), y, weight).columns_
    models = [booster]
    for data, n_jobs in ((RowBlocks([mapped(b) for b in parts()]), 1), (RowBlocks(lambda: iter(parts())), 2)):
        models.append(clone(booster).set_params(n_jobs=n_jobs).fit(data, y, weight))
    assert booster.columns_ is first
    assert all(same(other, booster) for other in models[1:])
    assert np.array_equal(booster.predict(RowBlocks(parts())), booster.predict(X))


@pytest.mark.usefixtures("never_joined")
@pytest.mark.parametrize("booster", BOOSTERS, ids=str)
# Sums of real numbers depend on how they are added: `sum` of Python 3.12 rounds once.
@pytest.mark.parametrize("weight", [None, np.random.default_rng(1).random(600)], ids=["equal", "weights"])
def test_one_block_is_all_rows(booster, weight):
    one, whole = (clone(booster).fit(data, y, weight) for data in (RowBlocks([X]), X))
    assert same(one, whole)
    for name in one.history_:
        assert np.array_equal(one.history_[name], whole.history_[name])


@pytest.mark.usefixtures("never_joined")
@pytest.mark.parametrize("make", [AdaBoostMH, AdaBoostMR])
def test_label_sets_and_weights_of_zero(make):
    # Some rows have no label, and some have all.
    Y = np.column_stack([y > 4, y % 2, y % 3 == 0]).astype(int)
    Y[y == 3] = 1
    one, whole = (make(5, bins=8).fit(data, Y, WEIGHT) for data in (RowBlocks(parts()), X))
    # Only the order of the sums differs.
    assert np.allclose(one.margins(X), whole.margins(X), atol=1e-9)
    same_block = make(5, bins=8).fit(RowBlocks([X]), Y)
    assert same(same_block, make(5, bins=8).fit(X, Y))


@pytest.mark.usefixtures("never_joined")
@pytest.mark.parametrize("booster", BOOSTERS, ids=str)
def test_blocks_that_lack_classes_give_the_model_of_all_rows(booster):
    order = np.argsort(y, kind="stable")
    features, labels, weight = X[order], y[order], WEIGHT[order]
    one = clone(booster).fit(RowBlocks(parts(features)), labels, weight)
    whole = clone(booster).fit(features, labels, weight)
    # Only the order of the sums differs.
    assert np.array_equal(one.code_matrix_, whole.code_matrix_)
    assert np.array_equal(one.columns_.feature, whole.columns_.feature)
    assert np.allclose(one.margins(features), whole.margins(features), rtol=1e-9, atol=1e-9)


@pytest.mark.usefixtures("never_joined")
@pytest.mark.parametrize("booster", BOOSTERS, ids=str)
def test_steps_can_be_computed_again(booster, monkeypatch):
    """On a cluster, from the same pieces, which therefore stay as they are."""
    first, step = clone(booster).fit(RowBlocks(parts()), y), Blocks.step

    def twice(blocks, *work, **how):
        step(blocks, *work, **how)
        return step(blocks, *work, **how)

    monkeypatch.setattr(Blocks, "may_change", False)
    monkeypatch.setattr(Blocks, "step", twice)
    assert same(clone(booster).fit(RowBlocks(parts()), y), first)


@pytest.mark.usefixtures("never_joined")
@pytest.mark.parametrize("booster", [AdaBoostOC(60, random_state=0), SmoothBoost(60, 0.1, "deterministic")], ids=str)
def test_colourings_without_an_edge_are_drawn_again(booster):
    # Three values of one feature leave few colourings with an edge, and after some rounds none.
    features, labels = np.arange(4.0).repeat(5)[:, None] % 3, np.arange(4).repeat(5)
    one, many, whole = (
        clone(booster).set_params(random_state=0).fit(data, labels)
        for data in (RowBlocks([features]), RowBlocks([features[:7], features[7:]]), features)
    )
    assert np.array_equal(one.code_matrix_, whole.code_matrix_)
    assert same(one, whole)
    assert np.array_equal(many.code_matrix_, whole.code_matrix_)
    assert np.allclose(many.margins(features), whole.margins(features), atol=1e-6)


def test_every_value_a_bin_is_refused_where_there_are_too_many(monkeypatch):
    monkeypatch.setattr(binned_blocks, "MOST_VALUES", 100)
    features = np.random.default_rng(0).normal(size=(600, 2))
    with pytest.raises(ValueError, match=r"bins='exact', and has more than 100 .* Set bins to a number"):
        AdaBoostOC(2).fit(RowBlocks(parts(features)), y)


@pytest.mark.parametrize("make", [AdaBoostOC, SmoothBoost, AdaBoostMR, AdaBoostMO], ids=lambda make: make.__name__)
def test_blocks_are_joined_for_estimators(make):
    booster = make(n_rounds=3, estimator=DecisionTreeClassifier(max_depth=2), random_state=0)
    features = np.nan_to_num(X)
    one, whole = (clone(booster).fit(data, y) for data in (RowBlocks(parts(features)), features))
    assert np.array_equal(one.margins(features), whole.margins(features))
