"""The rows that violate a column, beside the definition in NumPy, and sums of few rows beside products."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from outputcodes._ground.blocks import serially
from outputcodes._kernel_machines import parameters, working_sets
from outputcodes._kernel_machines.gram import Gram
from outputcodes._kernel_machines.kernel_function import Kernel
from outputcodes._kernel_machines.smo.violating import violating
from outputcodes._kernel_machines.working_sets import exact_product
from outputcodes.learners.kernel.dual import ROUNDING
from outputcodes.learners.kernel.kernel_svm import KernelSVM

RNG = np.random.default_rng(0)


@pytest.mark.parametrize("outside", [np.inf, 0.0])
@pytest.mark.parametrize("tol", [1e-3, 0.5, 100.0])
def test_violators_are_those_of_the_definition(outside, tol):
    for _ in range(20):
        n = int(RNG.integers(1, 60))
        lo, hi, e = -RNG.integers(0, 3, n) * 1.0, RNG.integers(0, 3, n) * 1.0, RNG.normal(size=n)
        beta = np.where(RNG.random(n) < 0.3, lo, np.where(RNG.random(n) < 0.4, hi, RNG.uniform(lo, hi)))
        # A coefficient that is a digit short of its bound can't grow, but is offered to the solver.
        beta[0] = hi[0] * (1 - 1e-15)
        rows = np.empty((2, n), dtype=np.intp)
        highest, lowest, growing, shrinking = violating(e, beta, lo, hi, ROUNDING, outside, tol, *rows)
        room = ROUNDING * np.minimum(hi - lo, np.abs(beta).max())
        assert highest == max([-outside, *e[beta < hi - room]])
        assert lowest == min([outside, *e[beta > lo + room]])
        if highest - lowest <= tol:
            assert growing == shrinking == 0
            continue
        assert_array_equal(rows[0, :growing], np.flatnonzero((beta < hi) & (e > lowest + tol)))
        assert_array_equal(rows[1, :shrinking], np.flatnonzero((beta > lo) & (e < highest - tol)))


@pytest.mark.parametrize("few", [0.0, 1.0], ids=["products", "sums"])
@pytest.mark.parametrize("is_sparse", [False, True], ids=["dense", "sparse"])
@pytest.mark.parametrize("name", ["rbf", "poly", "linear", "sigmoid"])
def test_exact_gradients_are_kernel_values_times_coefficients(name, is_sparse, few, monkeypatch):
    monkeypatch.setattr(working_sets, "FEW", few)
    monkeypatch.setattr(working_sets, "ANCHORS", 7)
    X, kernel = RNG.normal(size=(50, 4)), Kernel(name, gamma=0.3, coef0=0.5)
    gram = Gram(kernel, sparse.csr_array(X) if is_sparse else X, np.float32, 1)
    rows, beta = RNG.permutation(50)[:31], RNG.normal(size=(5, 31)) * (RNG.random((5, 31)) < 0.2)
    expected = beta @ (kernel.block(X, X)[np.ix_(rows, rows)] + 1)
    assert_allclose(exact_product(gram, rows, beta, 1.0, serially), expected, atol=1e-12)


@pytest.mark.parametrize("few", [0.0, 1.0], ids=["products", "sums"])
@pytest.mark.parametrize("code", ["one-vs-all", "with zeros"])
def test_held_out_margins_of_rounded_kernel_values_are_those_of_new_rows(code, few, monkeypatch):
    monkeypatch.setattr(working_sets, "FEW", few)
    monkeypatch.setattr(parameters, "EXACT_ROWS", 0)
    M = 2 * np.eye(4, dtype=np.int8) - 1
    if code == "with zeros":
        M = np.array([[1, 1, 0], [-1, 0, 1], [0, -1, -1], [1, -1, 0]], dtype=np.int8)
    X, y = RNG.normal(size=(90, 3)), np.arange(90) % 4
    parts = np.array_split(RNG.permutation(90), 3)
    learner = KernelSVM(C=3, gamma=0.4)
    data = learner.prepare(X)
    learner.foresee(data, parts, y)
    for part in parts:
        fitted = learner.fit_columns(data, y, M, rows=np.setdiff1d(np.arange(90), part))
        assert data.gram.store.dtype == np.float32
        assert_allclose(fitted.margins(data, part), fitted.margins(X[part]), atol=1e-5)
