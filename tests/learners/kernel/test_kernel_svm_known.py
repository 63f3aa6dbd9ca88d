"""Trainings that start from others: what is taken over is optimal, and rows that were set aside come back."""

import pickle

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.metrics.pairwise import rbf_kernel

from outputcodes._ground.blocks import serially
from outputcodes._kernel_machines.smo.columns import solve_block, unsettled
from outputcodes.codes import AllPairs, OneVsAll
from outputcodes.learners.kernel.dual import Dual
from outputcodes.learners.kernel.kernel_svm import KernelSVM

X, y = load_digits(return_X_y=True)
X, y = X[:400] / 16, y[:400]
ROWS = np.random.default_rng(0).permutation(400)[:280]
CODES = {"one-vs-all": OneVsAll().draw(10).matrix(), "all-pairs": AllPairs().draw(10).matrix()}


def svm(C, bias="free", gamma=0.1, tol=1e-3):
    return KernelSVM(C=C, gamma=gamma, bias=bias, tol=tol)


def objectives(fitted, M, gamma, bias):
    t, alpha = M[y[ROWS]].astype(float), fitted.dual()
    K = rbf_kernel(X[ROWS], gamma=gamma) + float(bias == "folded")
    beta = alpha * t
    return alpha.sum(axis=0) - np.einsum("ij,ij->j", beta, K @ beta) / 2


def violations(fitted, M, C, bias):
    t, alpha = M[y[ROWS]].astype(float), fitted.dual()
    e, beta = t - fitted.margins(X[ROWS]), alpha * t
    # A coefficient one digit short of its bound is at it.
    room = 1e-12 * C
    highest = np.where((beta < C * np.maximum(t, 0) - room) & (t != 0), e, -np.inf).max(axis=0)
    lowest = np.where((beta > C * np.minimum(t, 0) + room) & (t != 0), e, np.inf).min(axis=0)
    return highest - lowest if bias == "free" else np.maximum(highest, 0) - np.minimum(lowest, 0)


@pytest.mark.parametrize("bias", ["free", "folded", "none"])
@pytest.mark.parametrize("code", CODES)
def test_a_path_ends_where_each_training_alone_ends(code, bias):
    M = CODES[code]
    for gamma in (0.01, 0.1):
        data, last = svm(1, bias, gamma).prepare(X), None
        for C in (64.0, 16.0, 4.0, 1.0, 0.1, 2.0):
            last = svm(C, bias, gamma).fit_columns(data, y, M, rows=ROWS, init=last)
            alone = svm(C, bias, gamma, tol=1e-6).fit_columns(svm(1, bias, gamma).prepare(X), y, M, rows=ROWS)
            best = objectives(alone, M, gamma, bias)
            # The objective is off by at most C times the violation of each row.
            assert (best - objectives(last, M, gamma, bias) <= 1e-3 * last.dual().sum(axis=0) + 1e-9).all()
            np.testing.assert_allclose(last.certificate.gap, violations(last, M, C, bias), atol=1e-9)
            assert last.certificate.gap.max() <= 1e-3


@pytest.mark.parametrize("code", CODES)
def test_columns_inside_both_bounds_are_taken_over(code):
    M, data = CODES[code], svm(1).prepare(X)
    first = svm(64).fit_columns(data, y, M, rows=ROWS)
    largest = first.dual().max(axis=0)
    C = float(np.median(largest))
    second = svm(C).fit_columns(data, y, M, rows=ROWS, init=first)
    known = largest < C
    assert known.any()
    assert not known.all()
    assert not second.certificate.iterations[known].any()
    assert second.certificate.iterations[largest > C].all()
    np.testing.assert_array_equal(second.dual()[:, known], first.dual()[:, known])
    np.testing.assert_array_equal(second.intercept[known], first.intercept[known])
    # Nothing is left to train with wider bounds than both.
    third = svm(100).fit_columns(data, y, M, rows=ROWS, init=first)
    np.testing.assert_array_equal(third.dual(), first.dual())
    assert not third.certificate.iterations.any()
    assert third.certificate.converged.all()


def test_what_differs_by_more_than_the_cost_is_trained():
    M, data, other = CODES["one-vs-all"], svm(1).prepare(X), y.copy()
    first = svm(1000).fit_columns(data, y, M, rows=ROWS)
    other[ROWS[:20]] = (y[ROWS[:20]] + 1) % 10
    weight = np.where(np.arange(400) % 2, 0.01, 1.0)
    for learner, labels, prepared, how in (
        (svm(900), other, data, {}),
        (svm(900), y, data, {"weight": weight}),
        (svm(900, bias="folded"), y, data, {}),
        (svm(900, tol=1e-6), y, data, {}),
        (svm(900, gamma=0.05), y, svm(1, gamma=0.05).prepare(X), {}),
    ):
        again = learner.fit_columns(prepared, labels, M, rows=ROWS, init=first, **how)
        cold = learner.fit_columns(prepared, labels, M, rows=ROWS, **how)
        assert again.certificate.iterations.sum() > 0
        np.testing.assert_allclose(again.margins(X), cold.margins(X), atol=0.05)


def test_the_bias_of_a_column_at_its_bounds_does_not_hang_on_rounding():
    M, last = CODES["all-pairs"], None
    data = svm(1, gamma=0.01).prepare(X)
    for C in (256.0, 32.0, 4.0, 0.5):
        last = svm(C, gamma=0.01, tol=1e-7).fit_columns(data, y, M, rows=ROWS, init=last)
    cold = svm(0.5, gamma=0.01, tol=1e-7).fit_columns(data, y, M, rows=ROWS)
    assert (cold.certificate.gap < -0.1).any()
    np.testing.assert_allclose(last.intercept, cold.intercept, atol=1e-5)


def test_a_saved_start_is_still_a_start():
    M, data = CODES["one-vs-all"], svm(1).prepare(X)
    first = svm(64, tol=1e-6).fit_columns(data, y, M, rows=ROWS)
    loaded = pickle.loads(pickle.dumps(first))
    again = svm(64, tol=1e-6).fit_columns(data, y, M, rows=ROWS, init=loaded)
    np.testing.assert_allclose(again.margins(X), first.margins(X), atol=1e-5)


@pytest.mark.parametrize("code", CODES)
def test_the_same_bits_along_a_path_for_any_number_of_jobs(code):
    def path(n_jobs):
        data, last = svm(1).prepare(X), None
        for C in (64.0, 4.0, 1.0):
            last = svm(C).fit_columns(data, y, CODES[code], rows=ROWS, init=last, n_jobs=n_jobs)
        return last.margins(X)

    np.testing.assert_array_equal(path(1), path(3))


@pytest.mark.parametrize(
    ("beta", "low", "high"),
    [
        # Weights that differ by fourteen orders of magnitude: the row with the large box is free.
        ([1e-14, -1e-14], [0, -1], [1e-14, 0]),
        # A hard margin: coefficients far below C are free.
        ([1e-3, 1e-3, -2e-3], [0, 0, -1e10], [1e10, 1e10, 0]),
    ],
)
def test_rounding_is_measured_by_the_coefficients(beta, low, high):
    box, e, first = np.array([beta, low, high], dtype=float), np.arange(len(beta), dtype=float), np.zeros(1, np.intp)
    dual = Dual(None, True, 0.0, 1e-3, 100, serially)
    free = (box[0] > box[1]) & (box[0] < box[2])
    ends = dual.ends(e, box, first)
    assert np.isfinite(ends).all()
    assert dual.biases(e, box, ends, first)[0] == e[free].mean()


def test_all_columns_known_without_a_support_vector():
    M, data = CODES["one-vs-all"], svm(1).prepare(X)
    first = svm(1, tol=3.0).fit_columns(data, y, M, rows=ROWS)
    again = svm(2, tol=3.0).fit_columns(data, y, M, rows=ROWS, init=first)
    assert not first.dual().any()
    assert not again.dual().any()
    np.testing.assert_array_equal(first.margins(X), again.margins(X))


@pytest.mark.parametrize("free_bias", [True, False])
def test_rows_set_aside_come_back(free_bias):
    t, n = np.where(y[ROWS] < 5, 1.0, -1.0), len(ROWS)
    lo, hi, K = 3 * np.minimum(t, 0), 3 * np.maximum(t, 0), rbf_kernel(X[ROWS], gamma=0.1)

    def solved(K, beta):
        beta, e, steps = beta.copy(), np.empty(n), np.zeros(1, np.intp)
        problem = np.arange(n), np.array([0, n]), t, beta, lo, hi, e, steps
        while not solve_block(K, 0.0, True if free_bias else None, *problem, 1e-3, 10**6, 1 << 26):
            pass
        return beta, e

    start = solved(np.sqrt(K), np.zeros(n))[0]
    some = unsettled(t - K @ start, start, lo, hi, free_bias)
    assert 0 < len(some) <= n // 2
    beta, e = solved(K, start)
    assert (np.delete(beta, some) != np.delete(start, some)).any()
    np.testing.assert_allclose(e, t - K @ beta, atol=1e-9)
    highest, lowest = e[beta < hi].max(), e[beta > lo].min()
    assert (highest - lowest if free_bias else max(highest, 0) - min(lowest, 0)) <= 1e-3


@pytest.mark.parametrize("gamma", [0.02, 3.0])
@pytest.mark.parametrize("code", CODES)
def test_foreseen_parts_are_neighbours_and_have_the_margins_of_new_rows(code, gamma):
    parts, data = np.array_split(np.random.default_rng(1).permutation(400), 3), None
    # The second kernel is no power of the first.
    for wide in (gamma, 0.3 * gamma):
        learner = svm(100.0, gamma=wide)
        data = learner.prepare(X, data)
        if wide == gamma:
            learner.foresee(data, parts, y)
        for part in parts:
            rows = np.setdiff1d(np.arange(400), part)
            fitted = learner.fit_columns(data, y, CODES[code], rows=rows)
            for some in (part, part[:20], part[5:6], part[:0], None):
                known = X if some is None else X[some]
                new = fitted.margins(known) if len(known) else np.empty((0, CODES[code].shape[1]))
                np.testing.assert_allclose(fitted.margins(data, some), new, atol=1e-8)
            assert np.ptp(data.gram.place[part]) == len(part) - 1


@pytest.mark.parametrize("rounded", [True, False])
@pytest.mark.parametrize("bias", ["free", "folded"])
@pytest.mark.parametrize("code", CODES)
def test_foreseen_parts_have_the_same_solutions(code, bias, rounded, monkeypatch):
    monkeypatch.setattr("outputcodes.learners.kernel.small.SMALL", 0)
    if rounded:
        monkeypatch.setattr("outputcodes._kernel_machines.parameters.EXACT_ROWS", 0)
    parts, data, M = np.array_split(ROWS, 3), svm(1, bias).prepare(X), CODES[code]
    svm(1, bias).foresee(data, parts, y)
    for part in parts:
        rows, last = np.setdiff1d(ROWS, part), None
        for C in (1.0, 4.0, 0.5):
            last = svm(C, bias).fit_columns(
                data, np.where(np.isin(np.arange(400), rows), y, -1), M, rows=rows, init=last
            )
            alone = svm(C, bias, tol=1e-6).fit_columns(svm(1, bias).prepare(X), y, M, rows=rows)
            assert last.certificate.gap.max() <= 1e-3
            np.testing.assert_allclose(last.margins(data, part), alone.margins(X[part]), atol=0.02)
        assert data.gram.store.dtype == (np.float32 if rounded else np.float64)
        assert (np.diff(y[np.argsort(data.gram.place)][: len(parts[0])]) >= 0).all()
