"""KernelSVM on few rows at a time where the Gram matrix is too large: the same answer, whatever is set aside."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import SVC

from outputcodes._kernel_machines.working_sets import REFRESHES
from outputcodes.learners.kernel import together
from outputcodes.learners.kernel.dual import Dual
from outputcodes.learners.kernel.kernel_svm import KernelSVM
from outputcodes.learners.kernel.together import ColumnsTogether

X, y = load_digits(return_X_y=True)
X, y = X[:600] / 16, y[:600]
M = 2 * np.eye(10, dtype=np.int8)[:, :3] - 1
# Of 87 rows of the Gram matrix, or of the whole Gram matrix of 228 examples.
SCARCE = 0.4
KERNELS = [
    {"gamma": 0.1},
    {"kernel": "poly", "gamma": 0.1, "degree": 2, "coef0": 1},
    {"kernel": lambda A, B: rbf_kernel(A, B, gamma=0.1)},
]


@pytest.fixture
def gone_on_with(monkeypatch):
    """The rows that each stage went on with, many small working sets being needed."""
    monkeypatch.setattr(ColumnsTogether, "size", 48)
    stages, continue_with = [], ColumnsTogether.continue_with

    def noted(columns, few):
        stages.append(columns.rows[few])
        continue_with(columns, few)

    monkeypatch.setattr(ColumnsTogether, "continue_with", noted)
    return stages


def fit(learner, data=None, **how):
    return learner.fit_columns(learner.prepare(X) if data is None else data, y, M, **how)


def choose(monkeypatch, *choices):
    """At its first looks the solver goes on with these rows, whatever their state; later it decides by itself."""
    waiting, unsettled = list(choices), ColumnsTogether.unsettled
    monkeypatch.setattr(ColumnsTogether, "unsettled", lambda self: waiting.pop(0) if waiting else unsettled(self))


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_matrix], ids=["dense-X", "sparse-X"])
@pytest.mark.parametrize("bias", ["free", "folded", "none"])
@pytest.mark.parametrize("params", KERNELS, ids=["rbf", "poly", "callable"])
def test_the_answer_is_that_of_all_rows(params, bias, make, gone_on_with, monkeypatch):
    learner = KernelSVM(C=2, tol=1e-5, bias=bias, cache_size=SCARCE, **params)
    shrunk = fit(learner, learner.prepare(make(X)))
    assert gone_on_with, "no stage went on with few rows"
    assert max(map(len, gone_on_with)) <= 228
    gone_on_with.clear()
    monkeypatch.setattr(together, "SHARE", 0)
    others = [fit(learner), fit(KernelSVM(C=2, tol=1e-5, bias=bias, **params))]
    assert not gone_on_with
    for other in others:
        assert np.allclose(shrunk.margins(make(X)), other.margins(X), atol=1e-4)
    assert shrunk.certificate.converged.all()


@pytest.mark.parametrize("bias", ["free", "none"])
def test_the_certificate_is_of_all_rows(bias, gone_on_with):
    fitted = fit(KernelSVM(C=2, gamma=0.1, bias=bias, cache_size=SCARCE))
    assert gone_on_with
    t = M[y].astype(float)
    e, beta = t - fitted.margins(X), fitted.dual() * t
    up, low = beta < 2 * np.maximum(t, 0), beta > 2 * np.minimum(t, 0)
    zero = np.inf if bias == "free" else 0
    gap = np.where(up, e, -zero).max(axis=0).clip(-zero) - np.where(low, e, zero).min(axis=0).clip(max=zero)
    assert np.allclose(fitted.certificate.gap, gap, atol=1e-10)
    assert gap.max() <= 1e-3


def test_rows_wrongly_set_aside_come_back(gone_on_with, monkeypatch):
    whole = KernelSVM(C=2, gamma=0.1, tol=1e-5).fit_columns(KernelSVM(gamma=0.1).prepare(X), y, M)
    # Two stages without half of the support vectors; the second without most of those that the first went on with.
    aside = whole.support[::2]
    first = np.setdiff1d(np.arange(600), aside)[:200]
    second = np.setdiff1d(np.arange(600), np.union1d(aside, first))[:150]
    choose(monkeypatch, first, second)
    fitted = fit(KernelSVM(C=2, gamma=0.1, tol=1e-5, cache_size=SCARCE))
    assert np.array_equal(gone_on_with[0], first)
    assert np.array_equal(gone_on_with[1], second)
    assert fitted.certificate.converged.all()
    assert np.isin(whole.support[np.abs(whole.beta(whole.support)).max(axis=0) > 1e-3], fitted.support).all()
    for j in range(M.shape[1]):
        libsvm = SVC(C=2, gamma=0.1, tol=1e-6).fit(X, M[y, j])
        assert np.allclose(fitted.margins(X)[:, j], libsvm.decision_function(X), atol=1e-4)


def test_wrong_choices_without_end_do_not_prevent_the_answer(gone_on_with, monkeypatch):
    choose(monkeypatch, *[np.arange(start, start + 100) for start in range(0, 500, 10)])
    fitted = fit(KernelSVM(C=2, gamma=0.1, cache_size=SCARCE))
    assert len(gone_on_with) == REFRESHES // 2
    assert fitted.certificate.converged.all()


def test_the_same_bits_for_any_number_of_jobs(gone_on_with):
    learner = KernelSVM(C=2, gamma=0.1, cache_size=SCARCE)
    answers = [fit(learner, n_jobs=n_jobs).margins(X) for n_jobs in (1, 2, 3)]
    assert len(gone_on_with) >= 3
    assert np.array_equal(answers[0], answers[1])
    assert np.array_equal(answers[0], answers[2])


def test_warm_starts_and_some_rows(gone_on_with):
    rows = np.random.default_rng(0).permutation(600)[:550]
    scarce, ample = (KernelSVM(C=4, gamma=0.1, tol=1e-5, cache_size=size) for size in (SCARCE, 2000))
    data = scarce.prepare(X)
    expected = fit(ample, rows=rows)
    init = fit(KernelSVM(C=0.5, gamma=0.1, tol=1e-5, cache_size=SCARCE), data)
    for start in (None, init):
        gone_on_with.clear()
        fitted = fit(scarce, data, rows=rows, init=start)
        assert gone_on_with
        assert np.isin(np.concatenate(gone_on_with), rows).all()
        assert np.allclose(fitted.margins(X), expected.margins(X), atol=1e-4)
        assert np.allclose(fitted.dual(), expected.dual(), atol=1e-2)
    gone_on_with.clear()
    assert fit(scarce, data, rows=rows, init=fitted).certificate.iterations.sum() == 0
    assert not gone_on_with


def test_steps_are_bounded_over_all_stages(gone_on_with):
    learner = KernelSVM(C=2, gamma=0.1, tol=1e-5, cache_size=SCARCE)
    needed = int(fit(learner).certificate.iterations.max())
    with pytest.warns(ConvergenceWarning, match="did not converge"):
        stopped = fit(KernelSVM(C=2, gamma=0.1, tol=1e-5, cache_size=SCARCE, max_iter=needed // 2))
    assert stopped.certificate.iterations.max() == needed // 2
    assert gone_on_with


def test_an_interrupt_leaves_the_preparation_as_good_as_new(gone_on_with, monkeypatch):
    learner = KernelSVM(C=2, gamma=0.1, cache_size=SCARCE)
    data = learner.prepare(X)
    descend = Dual.descend

    def interrupted(dual, *problem):
        if gone_on_with:
            raise KeyboardInterrupt
        return descend(dual, *problem)

    with monkeypatch.context() as patch:
        patch.setattr(Dual, "descend", interrupted)
        with pytest.raises(KeyboardInterrupt):
            fit(learner, data, n_jobs=2)
    assert np.array_equal(fit(learner, data).margins(X), fit(learner).margins(X))
