"""Linear learners on a Dask cluster of real processes: the bits of the same blocks in memory, also when workers die."""

import numpy as np
import pytest
from sklearn.datasets import load_digits

from clusters import killing
from outputcodes import OutputCodeClassifier
from outputcodes.learners import LinearSVM, Logistic, Ridge
from outputcodes.training import RowBlocks

da = pytest.importorskip("dask.array", reason="needs the extra dask")
pytestmark = pytest.mark.filterwarnings("ignore")

X, y = load_digits(return_X_y=True)
X, y = X[:900] / 16, y[:900]
SIZES = (400, 1, 299, 200)
WEIGHT = np.random.default_rng(0).integers(0, 3, 900).astype(float)


def collections():
    return da.from_array(X, chunks=(SIZES, 64)), da.from_array(y, chunks=(SIZES,))


@pytest.mark.parametrize("code", ["one-vs-all", "all-pairs"])
@pytest.mark.parametrize(
    # Hinges need many passes; a few are enough to compare.
    "learner",
    [Ridge(), Logistic(), LinearSVM(), LinearSVM(loss="hinge", C=0.01, max_iter=2)],
    ids=str,
)
@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["equal", "weights"])
def test_the_bits_are_those_of_the_blocks_in_memory(client, learner, code, weight):
    model = OutputCodeClassifier(learner, code=code)
    dask_X, dask_y = collections()
    there = model.fit(dask_X, dask_y, sample_weight=weight)
    coef, intercept = there.coef_, there.intercept_
    here = OutputCodeClassifier(learner, code=code)
    here.fit(RowBlocks(np.split(X, np.cumsum(SIZES)[:-1])), y, sample_weight=weight)
    assert np.array_equal(coef, here.coef_)
    assert np.array_equal(intercept, here.intercept_)


@pytest.mark.parametrize("seed", range(3))
def test_killed_workers_change_nothing(client, seed):
    rng = np.random.default_rng(seed)
    expected = OutputCodeClassifier("logistic", code="all-pairs").fit(RowBlocks(np.split(X, np.cumsum(SIZES)[:-1])), y)
    with killing(client, rng):
        found = OutputCodeClassifier("logistic", code="all-pairs").fit(*collections())
    assert np.array_equal(found.coef_, expected.coef_)


def test_a_collection_needs_a_client_and_blocks_of_one_kind(client):
    import dask

    odd = [dask.delayed(np.ones)((3, 2)), dask.delayed(np.ones)((3, 3))]
    from outputcodes._ground.on_dask import DaskRows

    with pytest.raises(ValueError, match="Block 1 and block 0 have different numbers of columns"):
        DaskRows(odd)
