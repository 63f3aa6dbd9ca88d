"""Kernel values against scikit-learn's, and the rows that the LRU keeps against the whole matrix."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics.pairwise import linear_kernel, polynomial_kernel, rbf_kernel, sigmoid_kernel

from outputcodes._kernel_machines.gram import Gram
from outputcodes._kernel_machines.kernel_function import Kernel
from outputcodes._kernel_machines.rows import to_distances, to_exponentials

rng = np.random.default_rng(0)
A, B = rng.normal(size=(7, 4)), rng.normal(size=(5, 4))

REFERENCE = {
    "rbf": lambda X, Y: rbf_kernel(X, Y, gamma=0.3),
    "poly": lambda X, Y: polynomial_kernel(X, Y, gamma=0.3, degree=2, coef0=1.5),
    "linear": linear_kernel,
    "sigmoid": lambda X, Y: sigmoid_kernel(X, Y, gamma=0.3, coef0=1.5),
}


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("name", REFERENCE)
def test_kernel_values(name, make):
    kernel = Kernel(name, gamma=0.3, degree=2, coef0=1.5)
    assert np.allclose(kernel.block(make(A), make(B)), REFERENCE[name](A, B), atol=1e-14)
    gram = Gram(kernel, make(A), np.float64, 1)
    assert np.allclose(gram.diag, REFERENCE[name](A, A).diagonal(), atol=1e-14)
    assert np.allclose(gram.rows(np.array([3, 1])), REFERENCE[name](A, A)[[3, 1]], atol=1e-14)


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_float32_values_are_the_float64_ones_rounded(make):
    # From neighbours to pairs whose kernel value is below the smallest float32; more columns than one tile has.
    X = rng.normal(size=(2500, 3)) * np.geomspace(1e-4, 30, 2500)[:, None]
    K = rbf_kernel(X[:200], X, gamma=0.5)
    rows = Gram(Kernel("rbf", gamma=0.5), make(X), np.float32, 100).rows(np.arange(200))
    assert rows.dtype == np.float32
    assert np.abs(rows - K).max() < 2.5e-7
    assert rows.max() <= 1


@pytest.mark.parametrize("rows", [1, 3])
def test_the_exponential_function_has_all_digits(rows):
    t = np.concatenate([[0.0], np.geomspace(1e-300, 1, 999), np.linspace(0, 706.9, 100_001)])
    K = np.zeros((rows, len(t)))
    to_distances(K, np.zeros(rows), 2 * t)
    to_exponentials(-0.5, K)
    np.testing.assert_allclose(K, np.tile(np.exp(-t.astype(np.longdouble)), (rows, 1)), rtol=4e-16, atol=0)
    for stop in range(1, 20):  # the first values alone are computed as among others
        few = 2 * t[None, -20 : -20 + stop]
        to_exponentials(-0.5, few)
        assert np.array_equal(few[0], K[0, -20 : -20 + stop])
    # Far apart, also where distances overflow; and products that rounding makes larger than the norms.
    K = np.array([[0.0, 0.0, 0.0, 0.0, np.inf, np.inf, 1e-9]])
    to_distances(K, np.zeros(1), np.array([700, 710, 1e308, np.inf, np.inf, 0, 0]))
    to_exponentials(-1.0, K)
    assert K[0].tolist() == [pytest.approx(np.exp(-700.0), rel=1e-15), 0, 0, 0, 0, 1, 1]


def test_a_callable_and_a_precomputed_kernel():
    K = rbf_kernel(A, A)
    given = Gram(Kernel("precomputed"), K, np.float64, 1)
    called = Gram(Kernel(rbf_kernel), A, np.float64, 1)
    for gram in (given, called):
        assert np.allclose(gram.rows(np.array([6, 0])), K[[6, 0]])
        assert np.allclose(gram.between(np.array([1, 2]), np.array([0, 5, 4])), K[np.ix_([1, 2], [0, 5, 4])])
        assert np.allclose(gram.diag, 1)


def test_columns_that_span_a_run_out_of_order_are_not_taken_for_one():
    K = A @ A.T
    gram = Gram(Kernel("linear"), A, np.float64, 1)
    gram.hold(np.arange(7))
    rows = np.array([0, 2, 1, 3])
    assert np.allclose(gram.between(rows, np.array([5, 6])), K[np.ix_(rows, [5, 6])])


def test_features_far_from_the_origin_keep_their_distances():
    far = A + 1e6
    kernel = Kernel("rbf", gamma=0.3, centre=far.mean(axis=0))
    near = kernel.features(far)
    assert np.allclose(kernel.block(near, near), rbf_kernel(A, A, gamma=0.3), atol=1e-8)


def test_the_cache_answers_the_same_rows_whatever_was_evicted():
    X = rng.normal(size=(300, 3))
    K = rbf_kernel(X, X, gamma=0.5)
    gram = Gram(Kernel("rbf", gamma=0.5), X, np.float64, megabytes=50 * 300 * 8 / 2**20)
    assert gram.capacity == 50
    computed = []
    block = Kernel.block

    def counted(self, A, anchors):
        computed.append(A.shape[0])
        return block(self, A, anchors)

    for _ in range(30):
        rows = rng.permutation(300)[: rng.integers(1, 51)]
        assert np.allclose(gram.rows(rows), K[rows])
        assert np.allclose(gram.between(np.arange(300), rows), K[:, rows])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Kernel, "block", counted)
        gram.rows(rows[::-1])
    assert not computed, "rows just used are computed again"


def test_the_least_recently_used_row_goes_first():
    X = rng.normal(size=(10, 2))
    gram = Gram(Kernel("linear"), X, np.float64, megabytes=3 * 10 * 8 / 2**20)
    gram.hold(np.array([0, 1]))
    gram.hold(np.array([2]))
    kept = gram.hold(np.array([0, 1]))
    gram.hold(np.array([7]))
    assert np.array_equal(gram.hold(np.array([0, 1])), kept)
    assert np.array_equal(gram.store[gram.hold(np.array([7]))[0]], X @ X[7])


@pytest.mark.parametrize("name", [*REFERENCE, rbf_kernel])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_gram_matrix_of_some_rows_takes_the_place_of_the_rows_held(name, dtype):
    X = rng.normal(size=(100, 3))
    gram = Gram(Kernel(name, gamma=0.3), X, dtype, megabytes=25 * 100 * np.dtype(dtype).itemsize / 2**20)
    assert (gram.capacity, gram.side) == (25, 50)
    some = rng.permutation(100)[: gram.side]
    K = gram.kernel.block(X, X)
    gram.hold(np.arange(25))
    with gram.part(some) as part:
        assert part.capacity == part.n == 50
        assert np.shares_memory(part.store, gram.store)
        assert np.allclose(part.rows(np.arange(50)), K[np.ix_(some, some)], atol=1e-6)
    assert np.allclose(gram.rows(np.arange(25)), K[:25], atol=1e-6)
    with pytest.raises(KeyboardInterrupt), gram.part(some):
        raise KeyboardInterrupt
    with ThreadPoolExecutor(1) as other:
        assert np.allclose(other.submit(gram.rows, some[:25]).result(timeout=10), K[some[:25]], atol=1e-6)


def test_what_cannot_be_computed_or_kept_is_said():
    with pytest.raises(ValueError, match=r"kernel returned an array of shape \(3, 3\)"):
        Kernel(lambda A, B: np.eye(3)).block(A, B)
    with pytest.raises(ValueError, match="kernel values are not finite"):
        Kernel("poly", degree=400, coef0=100).block(A, B)
    with pytest.raises(ValueError, match=r"cache_size=1e-05 MB is too small for two rows .* raise it to"):
        Gram(Kernel("linear"), A, np.float64, 1e-5)
