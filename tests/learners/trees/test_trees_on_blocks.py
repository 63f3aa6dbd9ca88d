"""Trees on blocks of rows: the bits of any source, and those of an array if quantiles are exact; weights of 0."""

import numpy as np
import pytest
from sklearn.datasets import load_digits

from outputcodes import OutputCodeClassifier
from outputcodes._ground.working_files import is_mapped
from outputcodes._histograms import binned_blocks
from outputcodes.learners import BoostedStumps, BoostedTrees, ColumnTree, Logistic, Ridge
from outputcodes.training import RowBlocks

X, y = load_digits(return_X_y=True)
X, y = X[:600] + np.random.default_rng(0).normal(scale=0.1, size=(600, 64)), y[:600]
X[::7, 3] = np.nan
X[:, 5] = np.arange(600) % 4
SIZES = [150, 0, 1, 249, 200]
LEARNERS = [
    ColumnTree(max_depth=3, bins=16, categorical_features=[5]),
    ColumnTree(max_depth=3),
    BoostedTrees(5, max_bins=16, categorical_features=[5]),
]


def parts():
    return np.split(X, np.cumsum(SIZES)[:-1])


def margins(learner, data, n_jobs=1, **options):
    model = OutputCodeClassifier(learner, code="one-vs-all", random_state=0, n_jobs=n_jobs, **options)
    return model.fit(data, y, sample_weight=np.arange(600) % 3 + 1.0).margins(X)


@pytest.mark.parametrize("learner", LEARNERS[:2], ids=str)
def test_blocks_of_any_source_are_all_rows(learner):
    expected = margins(learner, X)
    for data, n_jobs in ((RowBlocks(parts()), 1), (RowBlocks(lambda: iter(parts())), 2)):
        assert np.array_equal(margins(learner, data, n_jobs), expected)


@pytest.mark.parametrize("learner", [LEARNERS[0], LEARNERS[2], BoostedStumps(3, bins=8)], ids=str)
def test_blocks_may_be_lists_of_rows(learner):
    lists = RowBlocks([block.tolist() for block in parts()])
    assert np.array_equal(margins(learner, lists), margins(learner, RowBlocks(parts())))


@pytest.mark.parametrize("learner", LEARNERS[:1] + LEARNERS[2:], ids=str)
def test_sketches_give_the_same_bits_from_any_source(learner, monkeypatch):
    monkeypatch.setattr(binned_blocks, "EXACT_VALUES", 0)
    monkeypatch.setattr(binned_blocks, "MOST_VALUES", 128)
    first, other = (margins(learner, data) for data in (RowBlocks(parts()), RowBlocks(lambda: iter(parts()))))
    assert np.array_equal(first, other)


def test_codes_of_files_stay_in_files():
    features = np.tile(X, (2, 1))
    data = LEARNERS[0].prepare(RowBlocks(lambda: iter(np.split(features, 2))))
    codes = [part.X for block in data.coded.blocks.blocks for part in block]
    assert [own.dtype for own in codes] == [np.uint8] * 2
    assert all(map(is_mapped, codes))


@pytest.mark.parametrize("learner", LEARNERS[::2], ids=str)
def test_training_rows_are_read_from_blocks(learner):
    data = learner.prepare(RowBlocks(lambda: iter(parts())))
    fitted = learner.fit_columns(data, y, np.where(np.eye(10), 1, -1).astype(np.int8))
    rows = np.array([599, 3, 151, 150, 3])
    assert np.array_equal(fitted.margins(data, rows), fitted.margins(X[rows]))


@pytest.mark.parametrize(
    "learner", [*LEARNERS, BoostedStumps(5, bins=8, validation_fraction=None), Logistic(), Ridge()], ids=str
)
@pytest.mark.parametrize("source", [list, lambda blocks: lambda: iter(blocks)], ids=["memory", "files"])
def test_rows_without_weight_are_as_if_they_were_not_there(learner, source):
    """Nor do they move the edges of bins or the centre of the features."""
    present, features = np.arange(600) % 5 > 0, np.nan_to_num(X)
    present[150:400] &= np.arange(250) > 100  # the block of one row has none left
    far = np.where(present[:, None], features, 1000.0 + np.arange(600)[:, None])
    given, left = (np.split(table, np.cumsum(SIZES)[:-1]) for table in (far, np.arange(600)))
    taken = [block[present[rows]] for block, rows in zip(given, left, strict=True)]
    one, other = (OutputCodeClassifier(learner, code="one-vs-all", random_state=0) for _ in range(2))
    one.fit(RowBlocks(source(given)), y, sample_weight=present * (1.0 + y))
    other.fit(RowBlocks(source(taken)), y[present], sample_weight=1.0 + y[present])
    assert np.array_equal(one.margins(features), other.margins(features))
