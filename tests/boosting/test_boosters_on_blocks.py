"""Boosters on blocks of rows: the bits of any source, and those of an array where it is one block."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.tree import DecisionTreeClassifier

from outputcodes._ground.stored_rows import StoredRows
from outputcodes._ground.working_files import mapped
from outputcodes._histograms import stumps
from outputcodes.boosting import AdaBoostMH, AdaBoostMO, AdaBoostMR, AdaBoostOC
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
]


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch):
    monkeypatch.setattr(stumps, "BLOCK_ROWS", 128)


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
@pytest.mark.parametrize("weight", [None, WEIGHT + 0.5], ids=["equal", "weights"])
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


@pytest.mark.parametrize(
    "booster",
    [
        AdaBoostOC(5, random_state=0),
        AdaBoostMO(n_rounds=3, estimator=DecisionTreeClassifier(max_depth=2), random_state=0),
    ],
    ids=["OC", "estimator"],
)
def test_blocks_are_joined_for_others(booster):
    features = np.nan_to_num(X)
    one, whole = (clone(booster).fit(data, y) for data in (RowBlocks(parts(features)), features))
    assert np.array_equal(one.margins(features), whole.margins(features))
