"""Copies and sums of rows of kernel values, against NumPy."""

import numpy as np
import pytest
from scipy import sparse

from outputcodes._kernel_machines.rows import LONG, add_lines, add_rows, gather
from outputcodes.learners import KernelSVM

rng = np.random.default_rng(0)
RUNS = {
    "none": rng.permutation(200)[:90],
    "one": np.arange(40, 130),
    "long": np.concatenate([np.arange(a, a + 3 * LONG) for a in (100, 0, 50)]),
    "short": np.sort(rng.permutation(200)[:150]),
    "empty": np.arange(0),
}


@pytest.mark.parametrize("columns", RUNS.values(), ids=RUNS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_any_columns_are_gathered(columns, dtype):
    store, slots = rng.normal(size=(30, 200)).astype(dtype), rng.permutation(30)[:11]
    out = np.empty((11, len(columns)), dtype)
    gather(store, slots, columns, out)
    np.testing.assert_array_equal(out, store[slots][:, columns])


@pytest.mark.parametrize("columns", RUNS.values(), ids=RUNS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_sparse_products_are_added_at_any_columns(columns, dtype):
    store, slots = rng.integers(-9, 9, (30, 200)).astype(dtype), rng.permutation(30)[:11]
    factors = rng.integers(-9, 9, (11, 5)) * (rng.random((11, 5)) < 0.3)
    lines = sparse.csr_array(factors.astype(dtype))
    out = rng.integers(-9, 9, (5, len(columns))).astype(dtype)
    expected = out + factors.T @ store[slots][:, columns]
    add_rows(store, slots, lines.indptr, lines.indices, lines.data, columns, out)
    np.testing.assert_array_equal(out, expected)


def test_lines_are_added_to_their_targets():
    out, product, targets = rng.normal(size=(9, 50)), rng.normal(size=(4, 50)), np.array([7, 0, 3, 8])
    expected = out.copy()
    expected[targets] += product
    add_lines(product, targets, out)
    np.testing.assert_array_equal(out, expected)


def test_a_start_knows_the_coefficients_of_rows_in_any_order():
    X, y = rng.normal(size=(60, 3)), rng.integers(0, 4, 60)
    M = np.array([[1, 1, 0, -1], [-1, 0, 1, 1], [0, -1, -1, 1], [1, -1, 1, 0]], dtype=np.int8)
    learner, rows = KernelSVM(C=5.0), rng.permutation(60)[:40]
    fitted = learner.fit_columns(learner.prepare(X), y, M)
    every = np.zeros((4, 60))
    every[:, fitted.support] = fitted.expansion()[1].T
    assert len(fitted.support) > 40
    assert len(fitted.pieces) == 4
    np.testing.assert_array_equal(fitted.beta(rows), every[:, rows])
    for chosen in np.array([[True, False, True, True], [False, False, True, False]]):
        np.testing.assert_array_equal(fitted.beta(rows, chosen), every[chosen][:, rows])
