"""KernelSVM's columns on a whole Gram matrix: the answers of the way for large ones, of LIBSVM, of the definition."""

from threading import Thread

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import SVC

from outputcodes._kernel_machines import gram
from outputcodes._kernel_machines.gram import Gram
from outputcodes._kernel_machines.kernel_function import Kernel
from outputcodes.learners.kernel import columns
from outputcodes.learners.kernel import small as whole
from outputcodes.learners.kernel.kernel_svm import KernelSVM

X, y = load_digits(return_X_y=True)
X, y = X[:300] / 16, y[:300]
ALL_PAIRS = np.array([[a == i or -(b == i) for a in range(10) for b in range(a)] for i in range(10)], dtype=np.int8)
MIXED = np.hstack([ALL_PAIRS[:, :7], 2 * np.eye(10, dtype=np.int8)[:, :4] - 1])
K = rbf_kernel(X, X, gamma=0.1)
WEIGHT = np.random.default_rng(0).integers(0, 4, len(y)) / 2.0


def fit(learner, weight=None, **how):
    return learner.fit_columns(learner.prepare(X), y, MIXED, weight, **how)


def objective(alpha, t, offset):
    beta = alpha * t
    return alpha.sum() - beta @ (K + offset) @ beta / 2


@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["alike", "weighted"])
@pytest.mark.parametrize("bias", ["free", "folded", "none"])
def test_the_optimum_is_that_of_the_way_for_large_problems(bias, weight, monkeypatch):
    learner = KernelSVM(C=2, gamma=0.1, tol=1e-6, bias=bias)
    column_weight = 1 + np.arange(MIXED.size).reshape(MIXED.shape) % 3
    small = fit(learner, weight, column_weight=column_weight)
    monkeypatch.setattr(whole, "SMALL", 0)
    large = fit(learner, weight, column_weight=column_weight)
    assert np.allclose(small.margins(X), large.margins(X), atol=1e-4)
    for j in range(MIXED.shape[1]):
        values = [objective(f.dual()[:, j], MIXED[y, j], bias == "folded") for f in (small, large)]
        assert values[0] == pytest.approx(values[1], rel=1e-8)


def test_the_optimum_is_libsvms():
    ours = fit(KernelSVM(C=2, gamma=0.1, tol=1e-7))
    for j in range(MIXED.shape[1]):
        seen = np.flatnonzero(MIXED[y, j])
        libsvm = SVC(C=2, gamma=0.1, tol=1e-7).fit(X[seen], MIXED[y[seen], j])
        theirs = np.zeros(len(y))
        theirs[seen[libsvm.support_]] = np.abs(libsvm.dual_coef_[0])
        assert objective(ours.dual()[:, j], MIXED[y, j], 0) == pytest.approx(
            objective(theirs, MIXED[y, j], 0), rel=1e-10
        )
        assert np.allclose(ours.margins(X)[:, j], libsvm.decision_function(X), atol=1e-5)


@pytest.mark.parametrize("bias", ["free", "folded"])
def test_the_certificate_is_the_violation_of_the_answer(bias):
    fitted = fit(KernelSVM(C=2, gamma=0.1, bias=bias), WEIGHT)
    F, alpha = fitted.margins(X), fitted.dual()
    assert (alpha <= 2 * WEIGHT[:, None]).all()
    assert not alpha[MIXED[y] == 0].any()
    for j in range(MIXED.shape[1]):
        seen = (MIXED[y, j] != 0) & (WEIGHT > 0)
        t = MIXED[y, j].astype(float)
        e, beta = t - F[:, j], alpha[:, j] * t
        grow, shrink = (beta < 2 * WEIGHT * np.maximum(t, 0)) & seen, (beta > 2 * WEIGHT * np.minimum(t, 0)) & seen
        ends = [e[grow].max(), e[shrink].min()]
        if bias == "folded":
            ends = [max(ends[0], 0), min(ends[1], 0)]
        assert fitted.certificate.gap[j] == pytest.approx(ends[0] - ends[1], abs=1e-10)
    assert fitted.certificate.gap.max() <= 1e-3


@pytest.mark.parametrize("bias", ["free", "folded"])
def test_the_same_bits_for_any_number_of_jobs(bias, monkeypatch):
    monkeypatch.setattr(whole, "BLOCK", 1 << 12)
    learner = KernelSVM(C=2, gamma=0.1, bias=bias)
    answers = [fit(learner, n_jobs=n_jobs).margins(X) for n_jobs in (1, 2, 3)]
    assert np.array_equal(answers[0], answers[1])
    assert np.array_equal(answers[0], answers[2])


@pytest.mark.parametrize("bias", ["free", "folded"])
def test_calls_that_are_cut_short_end_at_the_same_optimum(bias, monkeypatch):
    learner = KernelSVM(C=2, gamma=0.1, tol=1e-6, bias=bias)
    at_once = fit(learner)
    monkeypatch.setattr(whole, "BUDGET", 1 << 12)
    in_pieces = fit(learner)
    assert in_pieces.certificate.converged.all()
    assert np.allclose(at_once.margins(X), in_pieces.margins(X), atol=1e-5)


def test_no_column_takes_more_steps_than_allowed():
    with pytest.warns(ConvergenceWarning, match="did not converge"):
        fitted = fit(KernelSVM(C=2, gamma=0.1, max_iter=3))
    assert fitted.certificate.iterations.max() == 3


@pytest.mark.parametrize("bias", ["free", "folded"])
def test_a_start_at_the_optimum_needs_hardly_a_step(bias):
    learner = KernelSVM(C=2, gamma=0.1, tol=1e-5, bias=bias)
    first = fit(learner, WEIGHT)
    again = fit(learner, WEIGHT, init=first)
    assert again.certificate.iterations.sum() < 0.05 * first.certificate.iterations.sum()
    assert np.allclose(first.margins(X), again.margins(X), atol=1e-4)


def test_kernel_values_that_were_given_are_copied_from():
    learner = KernelSVM(C=2, kernel="precomputed", tol=1e-6, bias="folded")
    given = learner.fit_columns(learner.prepare(K), y, MIXED)
    assert np.allclose(given.margins(K), fit(KernelSVM(C=2, gamma=0.1, tol=1e-6, bias="folded")).margins(X), atol=1e-4)


def test_an_arranged_gram_matrix_answers_the_same_values():
    gram = Gram(Kernel("rbf", gamma=0.1), X, np.float64, 100)
    gram.arrange(y)
    rows, others = np.array([7, 3, 200]), np.array([5, 280, 6, 11])
    assert np.allclose(gram.rows(rows), K[rows], atol=1e-12)
    gram.hold(np.arange(len(y)))
    assert np.allclose(gram.between(others, rows), K[np.ix_(others, rows)], atol=1e-12)
    assert np.allclose(gram.diag, 1, atol=1e-12)
    # What was computed stays where it is.
    gram.arrange(-y)
    assert np.allclose(gram.rows(rows), K[rows], atol=1e-12)


def test_a_released_gram_matrix_gives_its_memory_and_its_distances():
    first = Gram(Kernel("rbf", gamma=0.3), X, np.float64, 100)
    first.arrange(y)
    first.hold(np.arange(len(y)))
    memory = first.store
    first.release()
    second = Gram(Kernel("rbf", gamma=0.1), X, np.float64, 100, like=first)
    assert np.shares_memory(memory, second.store)
    assert np.allclose(second.rows(np.arange(len(y))), K, atol=1e-12)
    second.release()
    third = Gram(Kernel("rbf", gamma=0.1), X, np.float64, 100, like=second)
    assert np.array_equal(third.place, second.place)
    assert np.allclose(third.rows(np.arange(len(y))), K, atol=1e-12)


@pytest.mark.parametrize("factor", [2, 3, 5, 10, 64, 4096])
def test_a_multiple_of_gamma_takes_powers_of_the_values(factor, monkeypatch):
    first = Gram(Kernel("rbf", gamma=0.002), X, np.float64, 100)
    first.arrange(y)
    some, rows = np.arange(0, len(y), 3), np.arange(len(y))
    first.hold(some)
    first.release()
    computed, block = [], Kernel.block
    monkeypatch.setattr(Kernel, "block", lambda self, A, *rest: computed.append(len(A)) or block(self, A, *rest))
    second = Gram(Kernel("rbf", gamma=0.002 * factor), X, np.float64, 100, like=first)
    second.arrange(-y)
    expected = rbf_kernel(X, gamma=0.002 * factor)
    assert np.allclose(second.rows(some), expected[some], rtol=1e-11, atol=0)
    assert not computed
    assert np.allclose(second.rows(rows), expected, rtol=1e-11, atol=0)
    assert sum(computed) == len(y) - len(some)


@pytest.mark.parametrize(("gamma", "dtype"), [(0.0021, np.float64), (0.001, np.float64), (0.004, np.float32)])
def test_other_gammas_take_no_powers(gamma, dtype, monkeypatch):
    powers, rows = [], np.arange(len(y))
    monkeypatch.setattr(gram, "to_the_power", lambda p, values: powers.append(p))
    first = Gram(Kernel("rbf", gamma=0.002), X, dtype, 100)
    first.hold(rows)
    first.release()
    second = Gram(Kernel("rbf", gamma=gamma), X, dtype, 100, like=first)
    assert np.allclose(second.rows(rows), rbf_kernel(X, gamma=gamma), rtol=1e-6 if dtype == np.float32 else 1e-12)
    assert not powers


def test_powers_are_taken_once_even_if_interrupted():
    rows, first = np.arange(len(y)), Gram(Kernel("rbf", gamma=0.1), X, np.float64, 100)
    first.hold(rows)
    first.release()
    second = Gram(Kernel("rbf", gamma=0.2), X, np.float64, 100, like=first)

    def interrupted(task, blocks):
        task(blocks[0])
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        second.hold(rows, interrupted)
    assert np.allclose(second.rows(rows), rbf_kernel(X, gamma=0.2), rtol=1e-11)


@pytest.mark.parametrize("cache_size", [2000, 0.4])
def test_rows_that_were_never_computed_play_no_part(cache_size):
    learner, everyone = KernelSVM(C=2, gamma=0.1, tol=1e-6, cache_size=cache_size), np.arange(len(y))
    for M in (2 * np.eye(10, dtype=np.int8) - 1, MIXED):
        data = learner.prepare(X)
        data.gram.store[:] = np.nan
        fitted = learner.fit_columns(data, y, M, rows=everyone[everyone % 4 > 0])
        assert np.allclose(fitted.margins(data), fitted.margins(X), atol=1e-9)


def test_powers_of_powers_end_before_their_errors_show():
    rows, before = np.arange(len(y)), None
    for gamma in 1e-6 * 8.0 ** np.arange(9):
        gram = Gram(Kernel("rbf", gamma=gamma), X, np.float64, 100, like=before)
        assert np.allclose(gram.rows(rows), rbf_kernel(X, gamma=gamma), rtol=1e-11, atol=0)
        gram.release()
        before = gram


def test_memory_is_given_away_once_and_with_it_what_was_held():
    first = KernelSVM(gamma=0.1).prepare(X)
    rows = np.arange(len(y))
    first.gram.hold(rows)
    KernelSVM().release(first)
    second = KernelSVM(gamma=0.3).prepare(X, like=first)
    assert np.allclose(second.gram.rows(rows), rbf_kernel(X, gamma=0.3), atol=1e-12)
    # The same kernel again, and another one: neither in the second's memory, nor from what is there now.
    for gamma in (0.1, 0.2):
        later = KernelSVM(gamma=gamma).prepare(X, like=first)
        assert np.allclose(later.gram.rows(rows), rbf_kernel(X, gamma=gamma), atol=1e-12)
    assert np.allclose(second.gram.rows(rows), rbf_kernel(X, gamma=0.3), atol=1e-12)
    assert np.allclose(first.gram.between(rows, rows[:5]), K[:, :5], atol=1e-12)


@pytest.mark.parametrize("bias", ["free", "none"])
def test_a_preparation_like_a_larger_one_is_in_its_own_order(bias):
    learner = KernelSVM(C=2, gamma=0.1, bias=bias, tol=1e-6)
    large = learner.prepare(X)
    expected = learner.fit_columns(large, y, MIXED).margins(X)
    # A third, a half or all of the rows fit, but not twice, as those do that are in the order of their classes.
    for megabytes in (0.25, 0.4, 1.0):
        small = KernelSVM(C=2, gamma=0.1, bias=bias, tol=1e-6, cache_size=megabytes, max_iter=20_000)
        fitted = small.fit_columns(small.prepare(X, like=large), y, MIXED)
        assert np.allclose(fitted.margins(X), expected, atol=1e-4)


def test_columns_in_company_read_an_arranged_gram_matrix_right(monkeypatch):
    learner = KernelSVM(C=2, gamma=0.1, tol=1e-6)
    data = learner.prepare(X)
    expected = learner.fit_columns(data, y, MIXED)
    monkeypatch.setattr(whole, "SMALL", 0)
    monkeypatch.setattr(columns, "FEW_ROWS", 0)
    for init in (None, expected):
        company = learner.fit_columns(data, y, MIXED, init=init)
        assert np.allclose(company.margins(X), expected.margins(X), atol=1e-4)


def test_another_first_fit_on_the_same_preparation_may_arrange_it(monkeypatch):
    learner = KernelSVM(C=2, gamma=0.1, tol=1e-6)
    expected, data, hold = fit(learner), learner.prepare(X), Gram.hold

    def after_another_thread(self, rows, *run):
        self.arrange(np.roll(y, 1))
        return hold(self, rows, *run)

    monkeypatch.setattr(Gram, "hold", after_another_thread)
    assert np.allclose(learner.fit_columns(data, y, MIXED).margins(X), expected.margins(X), atol=1e-4)


def test_gram_matrices_of_one_order_wait_for_each_other():
    wide = np.hstack([X] * 4)  # so many features that distances are kept at once
    first = Gram(Kernel("rbf", gamma=0.3), wide, np.float64, 100)
    second = Gram(Kernel("rbf", gamma=0.1), wide, np.float64, 100, like=first)
    rows, arranged = np.arange(len(y)), []

    def compute(task, blocks):
        # While the first computes its first rows, another thread would arrange the second.
        other = Thread(target=lambda: arranged.append(second.arrange(y)), daemon=True)
        other.start()
        other.join(0.05)
        assert not arranged
        return [task(block) for block in blocks]

    first.hold(rows, compute)
    assert np.allclose(first.rows(rows), rbf_kernel(wide, gamma=0.3), atol=1e-12)
    assert np.allclose(second.rows(rows), rbf_kernel(wide, gamma=0.1), atol=1e-12)


def test_a_tolerance_that_nothing_violates_leaves_no_support_vector():
    fitted = fit(KernelSVM(tol=5.0))
    assert len(fitted.support) == 0
    assert fitted.certificate.converged.all()
    for margins in (fitted.margins(X), fitted.margins(KernelSVM().prepare(X))):
        assert np.array_equal(margins, np.tile(fitted.intercept, (len(X), 1)))
    assert not fitted.dual().any()
    again = fit(KernelSVM(tol=1e-4), init=fitted)
    assert np.allclose(again.margins(X), fit(KernelSVM(tol=1e-4)).margins(X), atol=1e-3)
