"""Gradients from unrounded kernel values, by products and by sums of few rows."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

from outputcodes._ground.blocks import serially
from outputcodes._kernel_machines import rows as rows_of_kernel
from outputcodes._kernel_machines import working_sets
from outputcodes._kernel_machines.gram import Gram
from outputcodes._kernel_machines.kernel_function import Kernel
from outputcodes._kernel_machines.working_sets import exact_product

RNG = np.random.default_rng(0)


def lopsided(A, B):
    """A function that is no kernel, so that rows and anchors must not change places."""
    return A @ B.T + B[:, 0]


@pytest.mark.parametrize("few", [0.0, 1.0], ids=["products", "sums"])
@pytest.mark.parametrize("is_sparse", [False, True], ids=["dense", "sparse"])
@pytest.mark.parametrize("name", ["rbf", "poly", "linear", "sigmoid", "precomputed", lopsided])
def test_exact_gradients_are_kernel_values_times_coefficients(name, is_sparse, few, monkeypatch):
    monkeypatch.setattr(rows_of_kernel, "FEW", few)
    monkeypatch.setattr(working_sets, "ANCHORS", 7)
    X, kernel = RNG.normal(size=(50, 4)), Kernel(name, gamma=0.3, coef0=0.5)
    if name == "precomputed":
        X = lopsided(X, X)
    takes_sparse = name not in ("precomputed", lopsided)
    gram = Gram(kernel, sparse.csr_array(X) if is_sparse and takes_sparse else X, np.float32, 1)
    rows, beta = RNG.permutation(50)[:31], RNG.normal(size=(5, 31)) * (RNG.random((5, 31)) < 0.2)
    K = X if name == "precomputed" else kernel.block(X, X)
    expected = beta @ (K[np.ix_(rows, rows)].T + 1)
    assert_allclose(exact_product(gram, rows, beta, 1.0, serially), expected, atol=1e-12)
