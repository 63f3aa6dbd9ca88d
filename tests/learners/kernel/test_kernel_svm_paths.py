"""KernelSVM's ways to the same answer: alone or together, in memory or not, float32 or float64, any number of jobs."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_digits
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import SVC

from outputcodes import OutputCodeClassifier
from outputcodes._kernel_machines import parameters
from outputcodes.learners import PerColumn
from outputcodes.learners.kernel import columns
from outputcodes.learners.kernel import small as whole
from outputcodes.learners.kernel.kernel_svm import KernelSVM
from outputcodes.learners.kernel.together import ColumnsTogether

X, y = load_digits(return_X_y=True)
X, y = X[:500] / 16, y[:500]
CODES = ["one-vs-all", "all-pairs", "dense", "sparse"]
ALL_PAIRS = np.array([[a == i or -(b == i) for a in range(10) for b in range(a)] for i in range(10)], dtype=np.int8)
MIXED = np.hstack([ALL_PAIRS[:, :7], 2 * np.eye(10, dtype=np.int8)[:, :4] - 1])


@pytest.fixture
def small_sets(monkeypatch):
    """Working sets of 64 rows, so that this sample, which is else solved as a whole, needs many of them."""
    monkeypatch.setattr(ColumnsTogether, "size", 64)
    monkeypatch.setattr(whole, "SMALL", 0)


def fit(learner, data=None, M=MIXED, **how):
    return learner.fit_columns(learner.prepare(X) if data is None else data, y, M, **how)


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_matrix], ids=["dense-X", "sparse-X"])
@pytest.mark.parametrize("code", CODES)
@pytest.mark.parametrize("bias", ["free", "folded"])
def test_all_columns_at_once_are_the_columns_one_by_one(code, make, bias):
    learner = KernelSVM(C=2, gamma=0.1, tol=1e-5, bias=bias)
    shared = OutputCodeClassifier(learner, code=code, random_state=0, n_jobs=2).fit(make(X), y)
    one_by_one = OutputCodeClassifier(PerColumn(learner), code=code, random_state=0).fit(make(X), y)
    assert np.array_equal(shared.code_matrix_, one_by_one.code_matrix_)
    assert np.allclose(shared.margins(make(X)), one_by_one.margins(make(X)), atol=1e-4)


@pytest.mark.usefixtures("small_sets")
@pytest.mark.parametrize("bias", ["free", "none"])
@pytest.mark.parametrize("code", ["one-vs-all", "sparse"])
def test_many_small_working_sets_reach_the_answer_of_a_large_one(code, bias, monkeypatch):
    learner = KernelSVM(C=2, gamma=0.1, tol=1e-5, bias=bias)
    small = OutputCodeClassifier(learner, code=code, random_state=0).fit(X, y)
    monkeypatch.setattr(ColumnsTogether, "size", 2048)
    large = OutputCodeClassifier(learner, code=code, random_state=0).fit(X, y)
    assert small.columns_.fitted.certificate.converged.all()
    assert np.allclose(small.margins(X), large.margins(X), atol=1e-4)


@pytest.mark.usefixtures("small_sets")
def test_more_columns_than_share_a_working_set(monkeypatch):
    monkeypatch.setattr(columns, "COLUMNS_TOGETHER", 3)
    monkeypatch.setattr(columns, "FEW_ROWS", 0)
    few_at_a_time = fit(KernelSVM(C=2, gamma=0.1, tol=1e-5)).margins(X)
    for j in (0, 5, 10):
        seen = MIXED[y, j] != 0
        alone = SVC(C=2, gamma=0.1, tol=1e-6).fit(X[seen], MIXED[y[seen], j])
        assert np.allclose(few_at_a_time[:, j], alone.decision_function(X), atol=1e-4)


@pytest.mark.usefixtures("small_sets")
@pytest.mark.parametrize("kernel", ["rbf", "poly", "linear"])
def test_a_cache_of_few_rows_gives_the_answer_of_the_whole_matrix(kernel):
    in_memory = fit(KernelSVM(C=2, gamma=0.1, kernel=kernel, tol=1e-5))
    learner = KernelSVM(C=2, gamma=0.1, kernel=kernel, tol=1e-5, cache_size=0.4)
    data = learner.prepare(X)
    assert data.gram.capacity < 150
    cached = fit(learner, data)
    assert np.allclose(in_memory.margins(X), cached.margins(X), atol=1e-4)
    rows = np.array([3, 1, 400])
    assert np.allclose(cached.margins(data, rows), cached.margins(X[rows]), atol=1e-10)


def test_a_cache_of_two_rows_still_gets_there():
    some, M = np.arange(60), MIXED[:, 7:]
    learner = KernelSVM(C=2, gamma=0.1, cache_size=2 * 60 * 8 / 2**20)
    data = learner.prepare(X[some])
    assert data.gram.capacity == 2
    assert learner.fit_columns(data, y[some], M).certificate.converged.all()


@pytest.mark.usefixtures("small_sets")
def test_float32_is_good_to_the_tolerance_and_its_certificate_true(monkeypatch):
    exact = fit(KernelSVM(C=2, gamma=0.1, tol=1e-3))
    monkeypatch.setattr(parameters, "EXACT_ROWS", 0)
    learner = KernelSVM(C=2, gamma=0.1, tol=1e-3)
    data = learner.prepare(X)
    assert data.gram.store.dtype == np.float32
    rounded = fit(learner, data)
    K = rbf_kernel(X, X, gamma=0.1)
    for j in range(MIXED.shape[1]):
        t = MIXED[y, j].astype(float)
        e, beta = t - rounded.margins(X)[:, j], rounded.dual()[:, j] * t
        lo, hi = 2 * np.minimum(t, 0), 2 * np.maximum(t, 0)
        assert rounded.certificate.gap[j] == pytest.approx(e[beta < hi].max() - e[beta > lo].min(), abs=1e-10)
        values = [a.sum() - (a * t) @ K @ (a * t) / 2 for a in (rounded.dual()[:, j], exact.dual()[:, j])]
        assert values[0] == pytest.approx(values[1], rel=1e-4)
    assert rounded.certificate.gap.max() <= 1e-3


@pytest.mark.usefixtures("small_sets")
@pytest.mark.parametrize("bias", ["free", "folded"])
@pytest.mark.parametrize("cache_size", [2000, 0.4])
def test_the_same_bits_for_any_number_of_jobs(cache_size, bias):
    learner = KernelSVM(C=2, gamma=0.1, cache_size=cache_size, bias=bias)
    answers = [fit(learner, n_jobs=n_jobs).margins(X) for n_jobs in (1, 2, 3)]
    assert np.array_equal(answers[0], answers[1])
    assert np.array_equal(answers[0], answers[2])


def test_rows_are_a_smaller_sample():
    rows = np.random.default_rng(0).permutation(500)[:300]
    learner = KernelSVM(C=2, gamma=0.1, tol=1e-6)
    data = learner.prepare(X)
    part = fit(learner, data, rows=rows)
    whole = learner.fit_columns(learner.prepare(X[rows]), y[rows], MIXED)
    assert np.allclose(part.margins(X), whole.margins(X), atol=1e-5)
    assert np.allclose(part.dual(), whole.dual(), atol=1e-3)
    others = np.setdiff1d(np.arange(500), rows)
    assert np.allclose(part.margins(data, others), part.margins(X[others]), atol=1e-8)
    assert np.allclose(part.margins(X, others), part.margins(X[others]))


def test_rows_of_a_precomputed_kernel():
    rows = np.arange(0, 500, 2)
    K = rbf_kernel(X, X, gamma=0.1)
    given, computed = KernelSVM(kernel="precomputed", tol=1e-6), KernelSVM(gamma=0.1, tol=1e-6)
    F = fit(given, given.prepare(K), rows=rows).margins(K[1::2])
    assert np.allclose(F, fit(computed, rows=rows).margins(X[1::2]), atol=1e-5)
    model = OutputCodeClassifier(given, code="sparse", random_state=0).fit(K, y)
    assert np.allclose(
        model.margins(K), OutputCodeClassifier(computed, code="sparse", random_state=0).fit(X, y).margins(X), atol=1e-5
    )


def test_column_weights_are_weights_of_the_examples_in_that_column():
    column_weight = np.random.default_rng(0).choice([0.0, 0.5, 1.0, 2.0], p=[0.1, 0.3, 0.3, 0.3], size=MIXED.shape)
    column_weight[MIXED > 0] = 1.5
    column_weight[9] = 1
    weight = np.linspace(0.5, 1.5, 500)
    learner = KernelSVM(C=2, gamma=0.1, tol=1e-6)
    M = MIXED[:, 7:]
    F = fit(learner, M=M, weight=weight, column_weight=column_weight[:, 7:]).margins(X)
    for j in range(M.shape[1]):
        own = weight * column_weight[y, 7 + j]
        alone = SVC(C=2, gamma=0.1, tol=1e-7).fit(X[own > 0], M[y, j][own > 0], sample_weight=own[own > 0])
        assert np.allclose(F[:, j], alone.decision_function(X), atol=1e-4)


@pytest.mark.usefixtures("small_sets")
@pytest.mark.parametrize("bias", ["free", "none"])
def test_a_warm_start_reaches_the_same_answer_in_fewer_steps(bias):
    near = KernelSVM(C=2, gamma=0.1, tol=1e-5, bias=bias)
    data = near.prepare(X)
    first = fit(near, data)
    again = fit(near, data, init=first)
    assert again.certificate.iterations.sum() == 0
    assert np.allclose(again.margins(X), first.margins(X), atol=1e-8)
    smaller = KernelSVM(C=0.3, gamma=0.1, tol=1e-5, bias=bias)
    rows = np.arange(50, 500)
    cold, warm = (fit(smaller, data, rows=rows, init=init) for init in (None, first))
    assert np.allclose(cold.margins(X), warm.margins(X), atol=1e-4)
    assert warm.dual()[:, 0] @ MIXED[y[rows], 0] == pytest.approx(cold.dual()[:, 0] @ MIXED[y[rows], 0], abs=1e-3)
