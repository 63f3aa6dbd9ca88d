"""Boosted trees on a Dask cluster of real processes: the bits of the same blocks in memory; rows stay there."""

import numpy as np
import pytest
from sklearn.base import clone

from clusters import killing, watched_passes
from digits_in_blocks import SIZES, WEIGHT, X, dask_rows, y
from outputcodes import OutputCodeClassifier
from outputcodes.boosting import GradientBoost
from outputcodes.learners import BoostedTrees
from outputcodes.training import RowBlocks

pytest.importorskip("dask.array", reason="needs the extra dask")
pytestmark = pytest.mark.filterwarnings("ignore")


def split(features=X, sizes=SIZES):
    return RowBlocks(np.split(features, np.cumsum(sizes)[:-1]))


def same(one, other):
    """Whether two forests have the same bits."""
    arrays = [(*f.nodes, *f.leaves, f.base, f.roots, f.leaf, f.gain, f.rows) for f in (one, other)]
    return all(np.array_equal(u, v, equal_nan=True) for u, v in zip(*arrays, strict=True))


@pytest.mark.parametrize(
    ("booster", "labels", "weight"),
    [
        (GradientBoost(4, max_leaves=12, categorical_features=[5], random_state=0), y, WEIGHT),
        (GradientBoost(2, max_leaves=6, sketch=3, validation_fraction=None, random_state=0), y, None),
        (GradientBoost(2, max_leaves=6, random_state=0), y + 10 * (np.arange(600) % 8), WEIGHT + 0.1),
        (GradientBoost(2, max_leaves=6, random_state=0), np.column_stack([y > 4, y % 2]).astype(int), None),
    ],
    ids=["categories", "all rounds", "many classes", "labels"],
)
def test_boosted_trees_have_the_bits_of_the_blocks_in_memory(client, booster, labels, weight):
    there, here = (clone(booster).fit(data, labels, weight) for data in (dask_rows(), split()))
    assert same(there.forest_, here.forest_)
    assert all(np.array_equal(there.history_[name], here.history_[name]) for name in here.history_)
    assert there.n_rounds_ >= 2


def test_rounds_are_added_on_the_workers(client):
    there, here = (GradientBoost(2, max_leaves=6, warm_start=True, random_state=0) for _ in range(2))
    for n_rounds in (2, 3):
        there.set_params(n_rounds=n_rounds).fit(dask_rows(), y)
        here.set_params(n_rounds=n_rounds).fit(split(), y)
    assert same(there.forest_, here.forest_)
    assert np.array_equal(there.predict(dask_rows()).compute(), here.predict(X))


def test_columns_of_a_code(client):
    learner = BoostedTrees(3, max_leaves=6)
    there, here = (
        OutputCodeClassifier(learner, code="all-pairs", random_state=0).fit(data, y, sample_weight=WEIGHT)
        for data in (dask_rows(), split())
    )
    assert np.array_equal(there.margins(X), here.margins(X))


def test_killed_workers_change_nothing(client):
    booster = GradientBoost(4, max_leaves=12, random_state=0)
    expected = clone(booster).fit(split(), y).forest_
    with killing(client, np.random.default_rng(0)) as killed:
        found = booster.fit(dask_rows(), y).forest_
    assert killed
    assert same(found, expected)


def test_what_passes_through_the_client_does_not_grow_with_the_rows(client, monkeypatch):
    """Twice the same rows give trees of the same shape: as many bytes are sent and received in each pass of a round."""
    passes = watched_passes(monkeypatch)
    rounds = []
    for times in (1, 2):
        passes.clear()
        features, sizes = np.concatenate([np.nan_to_num(X)] * times), tuple(times * np.array([300, 300]))
        booster = GradientBoost(2, max_leaves=8, max_bins=8, validation_fraction=None, random_state=0)
        # A penalty that is none: with it, the sums of one copy and of two have other quotients.
        booster.set_params(l2=1e-9).fit(dask_rows(features, sizes), np.concatenate([y] * times))
        names = [name for name, *_ in passes]
        rounds.append(passes[names.index("_begun") :])
    once, twice = rounds
    assert {name for name, *_ in once} == {"_begun", "_histograms", "_slopes", "_advanced"}
    assert [name for name, *_ in once] == [name for name, *_ in twice]
    for (_, sent, received), (_, sent_twice, received_twice) in zip(once, twice, strict=True):
        assert received == received_twice
        assert abs(sent - sent_twice) < 200  # numbers of rows take a byte more
