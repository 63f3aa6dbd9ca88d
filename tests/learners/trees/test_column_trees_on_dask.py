"""Trees of columns on a Dask cluster of real processes: the bits of an array; only histograms and few rows leave it."""

import numpy as np
import pytest

from clusters import killing, watched_passes
from digits_in_blocks import WEIGHT, X, dask_rows, y
from outputcodes import OutputCodeClassifier
from outputcodes._histograms.columns import growth_on_blocks
from outputcodes.learners import ColumnTree

pytest.importorskip("dask.array", reason="needs the extra dask")
pytestmark = pytest.mark.filterwarnings("ignore")


def same(one, other):
    """Whether the trees of two models have the same bits."""
    arrays = [(*f.nodes, f.roots, f.weights, f.answers) for f in (one.columns_.fitted, other.columns_.fitted)]
    return all(np.array_equal(u, v, equal_nan=True) for u, v in zip(*arrays, strict=True))


@pytest.mark.parametrize(
    ("learner", "code", "weight"),
    [
        (ColumnTree(max_depth=4, categorical_features=[5]), "one-vs-all", WEIGHT),
        (ColumnTree(), "all-pairs", None),
        (ColumnTree("gini", max_features=0.3, max_depth=3), "one-vs-all", WEIGHT + 0.1),
    ],
    ids=["categories", "all-pairs", "draws"],
)
@pytest.mark.parametrize("region_bytes", [0, 1 << 20], ids=["histograms", "rows"])
def test_the_trees_are_those_of_an_array(client, monkeypatch, learner, code, weight, region_bytes):
    monkeypatch.setattr(growth_on_blocks, "REGION_BYTES", region_bytes)
    there, here = (
        OutputCodeClassifier(learner, code=code, random_state=0).fit(data, y, sample_weight=weight)
        for data in (dask_rows(), X)
    )
    assert same(there, here)
    assert np.array_equal(there.predict(dask_rows()).compute(), here.predict(X))


def test_killed_workers_change_nothing(client, monkeypatch):
    monkeypatch.setattr(growth_on_blocks, "REGION_BYTES", 0)
    model = OutputCodeClassifier(ColumnTree(), code="one-vs-all", random_state=0)
    expected = model.fit(X, y)
    with killing(client, np.random.default_rng(0)) as killed:
        found = OutputCodeClassifier(ColumnTree(), code="one-vs-all", random_state=0).fit(dask_rows(), y)
    assert killed
    assert same(found, expected)


def test_what_passes_through_the_client_does_not_grow_with_the_rows(client, monkeypatch):
    """Twice the same rows give the same trees: as many bytes are sent and received in each pass."""
    passes = watched_passes(monkeypatch)
    monkeypatch.setattr(growth_on_blocks, "REGION_BYTES", 0)
    found = []
    for times in (1, 2):
        passes.clear()
        features, sizes = np.concatenate([X] * times), tuple(times * np.array([300, 300]))
        OutputCodeClassifier(ColumnTree(max_depth=3, bins=8), code="one-vs-all").fit(
            dask_rows(features, sizes), np.concatenate([y] * times)
        )
        found.append([own for own in passes if own[0] == "advanced"])
    once, twice = found
    assert len(once) == 3
    assert once == twice
