"""Stumps on blocks of rows: the bits of any source, and those of an array where it is one block."""

import numpy as np
import pytest
from sklearn.datasets import load_digits

from outputcodes import OutputCodeClassifier
from outputcodes._ground.working_files import mapped
from outputcodes._histograms import binned_blocks, stumps
from outputcodes.learners import BoostedStumps
from outputcodes.training import RowBlocks

X, y = load_digits(return_X_y=True)
X = X[:900] + np.random.default_rng(0).normal(scale=0.1, size=(900, 64)).round(1)
X[::7, 3] = np.nan
X[:, 5] = np.arange(900) % 4
# The first blocks lack classes, one has one row and one has none.
ORDER = np.concatenate([np.argsort(y[:300], kind="stable"), np.arange(300, 900)])
X, y = X[ORDER], y[:900][ORDER]
SIZES = [150, 0, 1, 449, 300]
WEIGHT = np.random.default_rng(0).integers(0, 3, 900).astype(float)
LEARNERS = [
    BoostedStumps(8, bins=16, categorical_features=[5]),
    BoostedStumps(8, "discrete", bins="exact"),
    BoostedStumps(30, bins=8, validation_fraction=0.2, n_iter_no_change=2),
]


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch):
    monkeypatch.setattr(stumps, "BLOCK_ROWS", 128)


def parts(features=X):
    return np.split(features, np.cumsum(SIZES)[:-1])


def sources():
    yield RowBlocks(parts())
    yield RowBlocks([mapped(block) for block in parts()])
    yield RowBlocks(lambda: iter(parts()))


def fitted(learner, code, data, n_jobs=1, weight=None, **options):
    model = OutputCodeClassifier(learner, code=code, n_jobs=n_jobs, random_state=0, **options)
    return model.fit(data, y, sample_weight=weight)


def same(one, other):
    a, b = one.columns_.fitted, other.columns_.fitted
    return all(
        np.array_equal(getattr(a, part), getattr(b, part))
        for part in ("feature", "threshold", "left", "right", "n_rounds", "stopped")
    ) and np.array_equal(a.certificate.gap, b.certificate.gap)


@pytest.mark.parametrize(("code", "weight"), [("one-vs-all", None), ("sparse", WEIGHT)])
@pytest.mark.parametrize("learner", LEARNERS, ids=str)
def test_the_same_blocks_give_the_same_bits_from_any_source(learner, code, weight):
    models = [
        fitted(learner, code, data, n_jobs, weight, column_weight="balanced")
        for data, n_jobs in zip(sources(), (1, 1, 2), strict=True)
    ]
    assert all(same(other, models[0]) for other in models[1:])


@pytest.mark.parametrize("code", ["one-vs-all", "sparse"])
@pytest.mark.parametrize("learner", LEARNERS, ids=str)
def test_one_block_is_all_rows(learner, code):
    one, whole = (fitted(learner, code, data) for data in (RowBlocks([X]), X))
    assert same(one, whole)


@pytest.mark.parametrize("learner", LEARNERS[:2], ids=str)
def test_blocks_agree_with_all_rows(learner):
    # Rows of weight 0 have a say in the bins of blocks, and are left out of an array before.
    blocks, whole = (fitted(learner, "one-vs-all", data, weight=WEIGHT + 1) for data in (RowBlocks(parts()), X))
    # Only the order of the sums differs.
    assert np.array_equal(blocks.columns_.fitted.feature, whole.columns_.fitted.feature)
    assert np.allclose(blocks.margins(X), whole.margins(X), atol=1e-9)


def test_margins_of_training_rows_and_decoders_that_learn():
    blocks, whole = (
        fitted(LEARNERS[0], "one-vs-all", data, probability="likelihood") for data in (RowBlocks(parts()), X)
    )
    assert np.allclose(blocks.predict_proba(X), whole.predict_proba(X), atol=1e-6)


def test_a_sketch_has_bins_of_nearly_equal_size_and_the_bits_of_any_source(monkeypatch):
    monkeypatch.setattr(binned_blocks, "EXACT_VALUES", 0)
    monkeypatch.setattr(binned_blocks, "MOST_VALUES", 128)
    rng = np.random.default_rng(1)
    table = np.column_stack([rng.normal(size=900), rng.exponential(size=900), rng.integers(0, 5, 900)])
    learner = BoostedStumps(bins=16)
    data = learner.prepare(RowBlocks(parts(table)))
    codes = np.concatenate([part.X for (part,) in data.coded.blocks.blocks])
    for f in range(2):
        counts = np.bincount(codes[:, f], minlength=16)
        # Five blocks: a tree of height 3, so that ranks are within 4/128 of the rows.
        assert np.abs(np.cumsum(counts) - 900 * np.arange(1, 17) / 16).max() <= 4 / 128 * 900 + 1
        inside = data.offsets[f] + codes[:, f]
        assert ((data.low[inside] <= table[:, f]) & (table[:, f] <= data.high[inside])).all()
        assert (
            data.low[data.offsets[f] + 1 : data.offsets[f + 1] - 1]
            > data.high[data.offsets[f] : data.offsets[f + 1] - 2]
        ).all()
    assert data.exact.tolist() == [False, False, True]
    assert np.array_equal(codes[:, 2], table[:, 2])
    again = learner.prepare(RowBlocks(lambda: iter(parts(table))))
    assert np.array_equal(data.low, again.low, equal_nan=True)
    assert np.array_equal(data.high, again.high, equal_nan=True)


def test_too_many_values_for_exact_bins_are_refused(monkeypatch):
    monkeypatch.setattr(binned_blocks, "MOST_VALUES", 100)
    blocks = RowBlocks(parts(np.arange(1800.0).reshape(900, 2)))
    with pytest.raises(ValueError, match=r"Feature 0 has a bin for each value.*more than 100.*Set bins"):
        fitted(BoostedStumps(2), "one-vs-all", blocks)
    learner = BoostedStumps(2, bins=8, categorical_features=[1])
    with pytest.raises(ValueError, match=r"Feature 1 is categorical.*more than 100.*categorical_features"):
        fitted(learner, "one-vs-all", blocks)
