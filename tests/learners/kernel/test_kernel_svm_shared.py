"""KernelSVM's preparation lent to another, shared by threads, and its answers handed on: starts and dual variables."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_digits
from sklearn.metrics.pairwise import polynomial_kernel

from outputcodes._kernel_machines import kernel_function
from outputcodes.learners.kernel.kernel_svm import KernelSVM
from outputcodes.learners.kernel.together import ColumnsTogether

X, y = load_digits(return_X_y=True)
X, y = X[:500] / 16, y[:500]
OVA = 2 * np.eye(10, dtype=np.int8) - 1
MIXED = np.hstack([OVA[:, :4], (OVA[:, 1:3] - OVA[:, 5:7]) // 2])


@pytest.fixture
def small_sets(monkeypatch):
    """Working sets of 64 rows, so that this sample needs many of them."""
    monkeypatch.setattr(ColumnsTogether, "size", 64)


def fit(learner, data=None, M=MIXED, **how):
    return learner.fit_columns(learner.prepare(X) if data is None else data, y, M, **how)


def counted(method, calls):
    def wrapper(*args):
        calls.append(args)
        return method(*args)

    return wrapper


@pytest.mark.parametrize("n", [250, 500])
@pytest.mark.parametrize("params", [{"gamma": 0.12}, {"gamma": 0.08}, {"kernel": "poly", "gamma": 0.11}])
def test_prepared_like_another_it_is_as_prepared_afresh(params, n, monkeypatch):
    first = KernelSVM(C=2, tol=1e-5, **params | {"gamma": 0.1})
    second = KernelSVM(C=1.8, tol=1e-5, **params)
    # Distances are kept as soon as there are other parameters.
    earlier = first.prepare(X[:n], like=KernelSVM(tol=1e-5, **params | {"gamma": 0.3}).prepare(X[:n]))
    fitted = first.fit_columns(earlier, y[:n], OVA)
    earlier.gram.hold(np.arange(n))
    products = []
    monkeypatch.setattr(kernel_function.Kernel, "geometry", counted(kernel_function.Kernel.geometry, products))
    data = second.prepare(X[:n], like=earlier)
    data.gram.hold(np.arange(n))
    assert not products, "distances or products are computed again"
    fresh = second.prepare(X[:n])
    cold = second.fit_columns(fresh, y[:n], OVA)
    assert products
    assert np.array_equal(data.gram.rows(np.arange(n)), fresh.gram.rows(np.arange(n)))
    assert np.allclose(second.fit_columns(data, y[:n], OVA).margins(X), cold.margins(X), atol=1e-4)
    warm = second.fit_columns(data, y[:n], OVA, init=fitted)
    assert np.allclose(warm.margins(X), cold.margins(X), atol=1e-4)
    assert warm.certificate.converged.all()
    assert warm.certificate.iterations.sum() < cold.certificate.iterations.sum()


def test_what_another_preparation_cannot_lend_is_computed():
    earlier = KernelSVM(gamma=0.1).prepare(X)
    earlier.gram.hold(np.arange(500))
    scarce = KernelSVM(gamma=0.1, cache_size=3).prepare(X)  # holds the Gram matrix, but not the distances beside it
    for learner, other, like in [
        (KernelSVM(gamma=0.2), X + np.eye(500, 64), earlier),
        (KernelSVM(gamma=0.2), X[:400], earlier),
        (KernelSVM(gamma=0.2), sparse.csr_matrix(X), earlier),
        (KernelSVM(kernel="poly", gamma=0.2), X, earlier),
        (KernelSVM(gamma=0.2, cache_size=3), X, scarce),
    ]:
        some = np.array([7, 0, 300])
        alone, lent = learner.prepare(other), learner.prepare(other, like=like)
        assert np.array_equal(lent.gram.rows(some), alone.gram.rows(some))


def test_another_cost_needs_no_other_gram_matrix():
    data = KernelSVM(C=1, gamma=0.1).prepare(X)
    assert KernelSVM(C=7, gamma=0.1, bias="folded").prepare(X, like=data).gram is data.gram
    assert KernelSVM(C=1, gamma=0.1, cache_size=1).prepare(X, like=data).gram is not data.gram
    # Shifted by whole numbers, features are the same once centred; those of new examples are not.
    shifted = np.round(16 * X) + 64
    data = KernelSVM(gamma=0.01).prepare(shifted - 64)
    moved = KernelSVM(gamma=0.01).prepare(shifted, like=data)
    assert moved.gram.kernel.centre[0] == 64


@pytest.mark.usefixtures("small_sets")
@pytest.mark.parametrize("cache_size", [2000, 0.4])
def test_two_fits_at_a_time_on_one_preparation(cache_size):
    learners = [KernelSVM(C=C, gamma=0.1, tol=1e-5, cache_size=cache_size) for C in (0.5, 8.0)]
    alone = [fit(learner, M=OVA).margins(X) for learner in learners]
    data = learners[0].prepare(X)
    with ThreadPoolExecutor(4) as pool:
        fits = [pool.submit(fit, learner, data, OVA, n_jobs=2) for learner in learners * 2]
        for job, margins in zip(fits, alone * 2, strict=True):
            fitted = job.result()
            assert fitted.certificate.converged.all()
            assert np.allclose(fitted.margins(X), margins, atol=1e-4)


def test_a_start_from_something_else_is_an_error():
    learner = KernelSVM(gamma=0.1)
    data = learner.prepare(X)
    init = fit(learner, data, OVA)
    with pytest.raises(ValueError, match=r"init has 500 examples, 10 classes and 10 columns .* 500, 10 and 9"):
        fit(learner, data, OVA[:, :9], init=init)
    with pytest.raises(ValueError, match=r"init has 500 examples.* have 400, 10 and 10"):
        learner.fit_columns(learner.prepare(X[:400]), y[:400], OVA, init=init)
    with pytest.raises(ValueError, match=r"10 classes and 10 columns .* 500, 5 and 10"):
        learner.fit_columns(data, y % 5, OVA[:5], init=init)


@pytest.mark.parametrize("bias", ["folded", "none"])
def test_the_dual_and_the_diagonal_give_the_norm_of_the_machine(bias):
    rows = np.random.default_rng(0).permutation(500)[:200]
    learner = KernelSVM(C=2, kernel="poly", gamma=0.1, degree=2, coef0=1, bias=bias, tol=1e-6)
    data = learner.prepare(X)
    fitted = fit(learner, data, rows=rows)
    alpha, t = fitted.dual(), MIXED[y[rows]]
    K = polynomial_kernel(X, X, gamma=0.1, degree=2, coef0=1)[np.ix_(rows, rows)] + (bias == "folded")
    assert (alpha >= 0).all()
    assert not alpha[t == 0].any()
    assert np.allclose(fitted.margins(data, rows), K @ (alpha * t), atol=1e-8)
    assert np.allclose(data.gram.diag[rows] + (bias == "folded"), K.diagonal())
