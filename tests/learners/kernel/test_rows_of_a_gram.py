"""Columns trained on some rows of prepared data are those trained on these rows alone, on every path."""

import numpy as np
import pytest
from sklearn.datasets import load_digits

from outputcodes._kernel_machines import parameters
from outputcodes._kernel_machines import rows as rows_of_kernel
from outputcodes.codes import AllPairs, OneVsAll
from outputcodes.learners.kernel import small
from outputcodes.learners.kernel.kernel_svm import KernelSVM

X, y = load_digits(return_X_y=True)
X, y = X[:240] / 16, y[:240]
ROWS = np.random.default_rng(0).permutation(240)[:150]


@pytest.mark.parametrize("code", [OneVsAll(), AllPairs()])
@pytest.mark.parametrize("path", ["small", "large", "single precision"])
def test_some_rows_are_a_sample_of_their_own(monkeypatch, code, path):
    if path != "small":
        monkeypatch.setattr(small, "SMALL", 0)
    if path == "single precision":
        monkeypatch.setattr(parameters, "EXACT_ROWS", 0)
        monkeypatch.setattr(parameters, "EXACT_TOL", 0)
    M, learner = code.draw(10), KernelSVM(C=5, gamma=0.1, tol=1e-6)
    data = learner.prepare(X)
    part = learner.fit_columns(data, y, M, rows=ROWS)
    alone = learner.fit_columns(learner.prepare(X[ROWS]), y[ROWS], M)
    np.testing.assert_allclose(part.margins(X), alone.margins(X), atol=1e-4)
    np.testing.assert_allclose(part.margins(data, ROWS), alone.margins(X[ROWS]), atol=1e-4)
    # Other rows of the same data, from there.
    other = np.setdiff1d(np.arange(240), ROWS[:60])
    again = learner.fit_columns(data, y, M, rows=other, init=part)
    expected = learner.fit_columns(learner.prepare(X[other]), y[other], M)
    np.testing.assert_allclose(again.margins(X), expected.margins(X), atol=1e-4)


def test_many_features_are_kept_in_double_precision(monkeypatch):
    monkeypatch.setattr(parameters, "EXACT_ROWS", 10)
    few, wide = np.ones((20, 3)), np.random.default_rng(0).normal(size=(20, parameters.EXACT_FEATURES))
    assert KernelSVM().prepare(few + np.arange(3)).gram.store.dtype == np.float32
    assert KernelSVM().prepare(wide).gram.store.dtype == np.float64
    assert KernelSVM(cache_size=0.004).prepare(wide).gram.store.dtype == np.float32


def test_what_was_prepared_is_used_again():
    data = KernelSVM(gamma=0.1).prepare(X)
    assert KernelSVM(gamma=0.1, C=7).prepare(X, like=data).gram is data.gram
    other = KernelSVM(gamma=0.2).prepare(X, like=data)
    assert other.gram is not data.gram
    assert other.gram.X is data.gram.X
    np.testing.assert_allclose(
        other.gram.rows(np.arange(5)), np.exp(-0.2 * ((X[:5, None] - X[None]) ** 2).sum(axis=2)), rtol=1e-12
    )


@pytest.mark.parametrize("few", [0.0, 1.0], ids=["products", "sums"])
@pytest.mark.parametrize("code", ["one-vs-all", "with zeros"])
def test_held_out_margins_of_rounded_kernel_values_are_those_of_new_rows(code, few, monkeypatch):
    monkeypatch.setattr(rows_of_kernel, "FEW", few)
    monkeypatch.setattr(parameters, "EXACT_ROWS", 0)
    M = 2 * np.eye(4, dtype=np.int8) - 1
    if code == "with zeros":
        M = np.array([[1, 1, 0], [-1, 0, 1], [0, -1, -1], [1, -1, 0]], dtype=np.int8)
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(90, 3)), np.arange(90) % 4
    parts = np.array_split(rng.permutation(90), 3)
    learner = KernelSVM(C=3, gamma=0.4)
    data = learner.prepare(X)
    learner.foresee(data, parts, y)
    for part in parts:
        fitted = learner.fit_columns(data, y, M, rows=np.setdiff1d(np.arange(90), part))
        assert data.gram.store.dtype == np.float32
        np.testing.assert_allclose(fitted.margins(data, part), fitted.margins(X[part]), atol=1e-5)
