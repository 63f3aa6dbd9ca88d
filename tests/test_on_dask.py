"""Dask collections of every kind: training on a cluster of real processes, and lazy outputs."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.datasets import load_digits

from outputcodes import OutputCodeClassifier
from outputcodes._ground.on_dask import DaskRows
from outputcodes.boosting import AdaBoostMH, AdaBoostMO, AdaBoostMR, AdaBoostOC, SmoothBoost
from outputcodes.learners import BoostedStumps, Logistic, Ridge
from outputcodes.training import RowBlocks

da = pytest.importorskip("dask.array", reason="needs the extra dask")
dd = pytest.importorskip("dask.dataframe", reason="needs the extra dask")
pytestmark = pytest.mark.filterwarnings("ignore")

X, y = load_digits(return_X_y=True)
X, y = X[:600] / 16, y[:600]
SIZES = (250, 1, 0, 349)
WEIGHT = np.random.default_rng(0).integers(0, 3, 600).astype(float)
NAMES = [f"pixel {f}" for f in range(64)]
FRAME, LABELS = pd.DataFrame(X, columns=NAMES), np.array(list("abcdefghij"))[y]


def split(rows):
    return [rows[stop - size : stop] for size, stop in zip(SIZES, np.cumsum(SIZES), strict=True)]


def same_stumps(one, other):
    a, b = one.columns_.fitted, other.columns_.fitted
    return all(np.array_equal(getattr(a, part), getattr(b, part)) for part in ("feature", "threshold", "left", "right"))


@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["equal", "weights"])
def test_stumps_have_the_bits_of_the_blocks_in_memory(client, weight):
    # With zeros, so that blocks leave rows out.
    code = np.array([[1, 0, -1, -1, 1, -1, 0, 1, 1, -1], [-1, 1, 0, -1, -1, -1, 0, 1, 0, 0]]).T
    code = np.column_stack([code, np.where(np.arange(10) < 5, 1, -1), np.where(np.arange(10) % 3, 1, -1)])
    learner = BoostedStumps(3, bins=8, validation_fraction=0.2)
    there, here = (OutputCodeClassifier(learner, code=code, random_state=0) for _ in range(2))
    there.fit(da.from_array(X, chunks=(SIZES, 64)), da.from_array(y, chunks=200), sample_weight=weight)
    here.fit(RowBlocks(split(X)), y, sample_weight=weight)
    assert same_stumps(there, here)


BOOSTERS = [AdaBoostMO("one-vs-all"), AdaBoostMH(), AdaBoostMR(), AdaBoostOC()]
BOOSTERS += [SmoothBoost(coding=coding) for coding in ("deterministic", "probabilistic")]


@pytest.mark.parametrize("booster", BOOSTERS, ids=str)
@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["equal", "weights"])
def test_boosters_have_the_bits_of_the_blocks_in_memory(client, booster, weight, monkeypatch):
    booster.set_params(n_rounds=3, bins=8, validation_fraction=0.2, random_state=0)
    there, here = clone(booster).set_params(n_jobs=2), booster
    monkeypatch.setattr(DaskRows, "joined", None)
    there.fit(da.from_array(X, chunks=(SIZES, 64)), y, weight)
    here.fit(RowBlocks(split(X)), y, weight)
    assert np.array_equal(there.margins(X), here.margins(X))
    assert np.array_equal(there.columns_.threshold, here.columns_.threshold)


@pytest.mark.parametrize("learner", [Ridge(), Logistic(), BoostedStumps(4, bins=8)], ids=str)
def test_data_frames_with_empty_partitions(client, learner):
    frame = dd.from_pandas(FRAME, npartitions=3)
    none = frame[frame["pixel 0"] > 100]
    both, labels = dd.concat([none, frame]), pd.Series(LABELS)
    there = OutputCodeClassifier(learner, code="one-vs-all").fit(both, labels)
    assert list(there.feature_names_in_) == NAMES
    whole = OutputCodeClassifier(learner, code="one-vs-all").fit(FRAME, LABELS)
    assert np.allclose(there.margins(FRAME), whole.margins(FRAME), atol=1e-5)
    predicted = there.predict(both)
    assert isinstance(predicted, dd.Series)
    assert np.array_equal(predicted.compute().to_numpy(), there.predict(FRAME))


@pytest.mark.parametrize("learner", [Ridge(), Logistic(tol=1e-10)], ids=str)
def test_sparse_blocks(client, learner):
    rows = da.from_array(X, chunks=((300, 300), 64)).map_blocks(sp.csr_matrix)
    there = OutputCodeClassifier(learner, code="one-vs-all").fit(rows, y)
    here = OutputCodeClassifier(learner, code="one-vs-all").fit(
        RowBlocks([sp.csr_matrix(X[:300]), sp.csr_matrix(X[300:])]), y
    )
    assert np.array_equal(there.coef_, here.coef_)
    assert np.allclose(there.decision_function(rows).compute(), here.decision_function(sp.csr_matrix(X)), atol=1e-10)


@pytest.mark.parametrize("method", ["predict", "decision_function", "predict_proba"])
def test_outputs_of_arrays_are_lazy(method):
    model = OutputCodeClassifier("logistic", code="one-vs-all", probability="likelihood", random_state=0).fit(X, y)
    lazy = getattr(model, method)(da.from_array(X, chunks=(SIZES, 32)))
    assert isinstance(lazy, da.Array)
    assert lazy.chunks[0] == SIZES
    assert np.allclose(lazy.compute(scheduler="sync"), getattr(model, method)(X), atol=1e-12)


def test_two_classes_and_labels_have_the_shapes_of_arrays():
    rows = da.from_array(X, chunks=(200, 64))
    two = OutputCodeClassifier("ridge", code="one-vs-all").fit(X, y > 4)
    assert two.decision_function(rows).shape == (600,)
    assert np.array_equal(two.predict(rows).compute(scheduler="sync"), two.predict(X))
    Y = np.column_stack([y > 4, y % 2, y % 3 == 0]).astype(int)
    many = AdaBoostMH(5).fit(X, Y)
    assert np.array_equal(many.predict(rows).compute(scheduler="sync"), many.predict(X))
    scores = many.decision_function(dd.from_pandas(FRAME, npartitions=2)).compute(scheduler="sync")
    assert np.array_equal(scores.to_numpy(), many.decision_function(X))
    assert scores.index.equals(FRAME.index)
