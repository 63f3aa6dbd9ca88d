"""Linear learners on blocks of rows: the bits of any source, and the results of all rows together."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_digits

from outputcodes import OutputCodeClassifier
from outputcodes._ground.stored_rows import StoredRows
from outputcodes._ground.working_files import mapped
from outputcodes.learners import LinearSVM, Logistic, Ridge
from outputcodes.training import RowBlocks

X, y = load_digits(return_X_y=True)
X = X[:900] / 16 + 0.1
# The first blocks lack classes, one has one row and one has none.
ORDER = np.concatenate([np.argsort(y[:300], kind="stable"), np.arange(300, 900)])
X, y = X[ORDER], y[:900][ORDER]
SIZES = [150, 0, 1, 449, 300]
LEARNERS = [Ridge(0.5), Logistic(), LinearSVM(), LinearSVM(loss="hinge", C=0.1)]
CODES = ["one-vs-all", "all-pairs", "sparse"]
WEIGHT = np.random.default_rng(0).integers(0, 3, 900).astype(float)


def parts(features=X):
    return np.split(features, np.cumsum(SIZES)[:-1])


def sources():
    yield "in memory", RowBlocks(parts())
    yield "memory maps", RowBlocks([mapped(block) for block in parts()])
    yield "read again", RowBlocks(lambda: iter(parts()))


def fitted(learner, code, data, n_jobs=1, weight=None, **options):
    model = OutputCodeClassifier(learner, code=code, n_jobs=n_jobs, random_state=0, **options)
    return model.fit(data, y, sample_weight=weight)


@pytest.mark.parametrize("code", CODES)
@pytest.mark.parametrize("learner", LEARNERS, ids=str)
@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["equal", "weights"])
def test_the_same_blocks_give_the_same_bits_from_any_source(learner, code, weight):
    models = [
        fitted(learner, code, data, n_jobs, weight, column_weight="balanced")
        for _, data in sources()
        for n_jobs in (1, 2)
    ]
    for other in models[1:]:
        assert np.array_equal(other.coef_, models[0].coef_)
        assert np.array_equal(other.intercept_, models[0].intercept_)


@pytest.mark.parametrize("code", CODES)
@pytest.mark.parametrize(
    "learner", [Ridge(0.5), Logistic(tol=1e-14), LinearSVM(tol=1e-14), LinearSVM(loss="hinge", tol=1e-9)], ids=str
)
@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["equal", "weights"])
def test_blocks_give_the_solution_of_all_rows(learner, code, weight):
    blocks, whole = (fitted(learner, code, data, weight=weight) for data in (RowBlocks(parts()), X))
    atol = 1e-4 if learner.loss == "hinge" else 1e-6
    assert np.allclose(blocks.margins(X), whole.margins(X), atol=atol)
    assert np.array_equal(blocks.predict(RowBlocks(parts())), blocks.predict(X))


@pytest.mark.parametrize("code", CODES)
@pytest.mark.parametrize("learner", LEARNERS[1:], ids=str)
def test_one_block_is_all_rows(learner, code):
    one, whole = (fitted(learner, code, data) for data in (RowBlocks([X]), X))
    assert np.array_equal(one.coef_, whole.coef_)
    assert np.array_equal(one.intercept_, whole.intercept_)


@pytest.mark.parametrize("learner", [Ridge(), Logistic(tol=1e-12), LinearSVM(tol=1e-12)], ids=str)
@pytest.mark.parametrize("code", ["one-vs-all", "all-pairs"])
def test_sparse_blocks_agree_with_coordinate_descent(learner, code):
    sparse = RowBlocks([sp.csr_array(block) for block in parts()])
    blocks, whole = (fitted(learner, code, data) for data in (sparse, sp.csr_array(X)))
    assert np.allclose(blocks.margins(X), whole.margins(X), atol=1e-4)
    lazily = fitted(learner, code, RowBlocks(lambda: iter([sp.csr_array(block) for block in parts()])))
    assert np.array_equal(lazily.coef_, blocks.coef_)


@pytest.mark.parametrize("learner", LEARNERS, ids=str)
def test_fewer_rows_than_features(learner):
    some = np.flatnonzero(np.isin(np.arange(900), [0, 40, 200, 220, 400, 500, 600, 700, 800, 840]))
    few = RowBlocks(np.split(X[some], [3, 7]))
    models = [OutputCodeClassifier(learner, code="one-vs-all").fit(data, y[some]) for data in (few, X[some])]
    assert np.allclose(models[0].margins(X), models[1].margins(X), atol=1e-4)


@pytest.mark.parametrize("learner", [Ridge(), Logistic(), LinearSVM()], ids=str)
def test_margins_of_training_rows_and_decoders_that_learn(learner):
    blocks, whole = (fitted(learner, "one-vs-all", data, probability="likelihood") for data in (RowBlocks(parts()), X))
    assert np.allclose(blocks.predict_proba(X), whole.predict_proba(X), atol=2e-3)
    data, rows = learner.prepare(RowBlocks(parts())), np.array([899, 3, 151, 150, 3])
    assert isinstance(data.X, StoredRows)
    some = learner.fit_columns(data, y, np.where(np.eye(10), 1, -1).astype(np.int8), rows=np.arange(0, 900, 2))
    assert np.allclose(some.margins(data, rows), some.margins(X[rows]), atol=1e-9)


def test_a_huge_feature_is_named_by_its_row_in_all_blocks():
    broken = X.copy()
    broken[700, 5] = 1e200
    with pytest.raises(ValueError, match=r"X\[700, 5\]=1e\+200 is too large"):
        fitted(Logistic(), "one-vs-all", RowBlocks(parts(broken)))
