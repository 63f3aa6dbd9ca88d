"""The bounds hold on random codes, margins and labels, and on trained classifiers; their forms agree."""

import numpy as np
import oracles
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression, RidgeClassifier

from outputcodes import OutputCodeClassifier, bounds
from outputcodes.codes import Complete, min_distance
from outputcodes.decoders import as_decoder
from outputcodes.losses import LOSSES

THEOREM_1 = [name for name, loss in LOSSES.items() if loss.nonnegative and loss.convex_at_zero]
COROLLARY_2 = [name for name, loss in LOSSES.items() if loss.nonnegative and loss.penalises_errors]
problems = st.builds(
    lambda seed, k, L: random_problem(np.random.default_rng(seed), k, L),
    st.integers(0, 2**32),
    st.integers(2, 6),
    st.integers(3, 9),
)


def random_problem(rng, k, L):
    M = oracles.random_code(rng, k, L, zeros=bool(rng.integers(2)))
    y = rng.integers(k, size=40)
    # Between pure noise and perfect margins, with some exact zeros.
    F = rng.uniform(0, 2) * M[y] + rng.uniform(0.1, 3) * rng.normal(size=(40, L))
    F[rng.random(F.shape) < 0.05] = 0
    return F, y, M


def distances(F, M, loss):
    """Real distances, not scores: the theorems count their ties."""
    return np.array([oracles.loss_distances(f, M, oracles.loss(loss)) for f in F])


@pytest.mark.parametrize("loss", THEOREM_1)
@settings(max_examples=60, deadline=None)
@given(problem=problems)
def test_theorem_1(loss, problem):
    F, y, M = problem
    error = bounds.training_error(-distances(F, M, loss), y)
    bound = bounds.training_error_bound(F, y, M, loss)
    assert error <= bound + 1e-12
    assert bounds.training_error_bound_by_zeros(F, y, M, loss) == pytest.approx(bound)
    expected = M.shape[1] * bounds.average_binary_loss(F, y, M, loss) / (min_distance(M) * LOSSES[loss].at_zero)
    assert bound == pytest.approx(expected)


@settings(max_examples=100, deadline=None)
@given(problem=problems)
def test_corollary_2(problem):
    F, y, M = problem
    error = bounds.training_error(-distances(F, M, "hamming"), y)
    first = bounds.hamming_error_bound(F, y, M)
    assert error <= first + 1e-12
    n, total = len(y), sum(1 - oracles.sign(m * f) for i in range(len(y)) for m, f in zip(M[y[i]], F[i], strict=True))
    assert first == pytest.approx(total / (min_distance(M) * n))
    assert first <= bounds.hamming_error_bound_by_zeros(F, y, M) + 1e-12
    if (F != 0).all():
        assert first == pytest.approx(bounds.hamming_error_bound_by_zeros(F, y, M))
    for loss in COROLLARY_2:
        assert error <= bounds.hamming_error_bound(F, y, M, loss) + 1e-12


def test_average_binary_loss_is_the_plain_sum():
    F, y, M = random_problem(np.random.default_rng(0), 4, 7)
    for loss in LOSSES:
        plain = oracles.loss(loss)
        total = sum(plain(m * f) for i in range(40) for m, f in zip(M[y[i]], F[i], strict=True))
        assert bounds.average_binary_loss(F, y, M, loss) == pytest.approx(total / (40 * 7))


@pytest.mark.parametrize("k", range(3, 9))
def test_length_over_distance_of_the_classic_codes(k):
    # With margins of 0 the logistic bound is L/rho itself.
    pairs, splits = k * (k - 1) / 2, 2 ** (k - 1) - 1
    for M, expected in (
        (oracles.one_vs_all(k), k / 2),
        (oracles.all_pairs(k), 2 * pairs / (pairs + 1)),
        (Complete().draw(k).matrix(), 2 * splits / (splits + 1)),
    ):
        F = np.zeros((5, M.shape[1]))
        assert bounds.training_error_bound(F, [0, 1, 2, 0, 1], M, "logistic") == pytest.approx(expected)


@pytest.mark.parametrize("code", ["one-vs-all", "all-pairs", "dense", "sparse"])
@pytest.mark.parametrize("make", [RidgeClassifier, lambda: LogisticRegression(C=100, max_iter=1000)])
def test_trained_classifiers_keep_their_bound(code, make):
    X, y = load_digits(return_X_y=True)
    X, y = X[:400] / 16, y[:400]
    model = OutputCodeClassifier(make(), code=code, random_state=0).fit(X, y)
    F = model.margins(X)
    bound = bounds.training_error_bound(F, y, model.code_matrix_, model.margin_loss_)
    assert np.mean(model.predict(X) != y) <= bound
    hamming = np.mean(model.with_decoder("hamming").predict(X) != y)
    assert hamming <= bounds.hamming_error_bound(F, y, model.code_matrix_)


def test_the_shifted_linear_loss_is_a_counterexample_and_refused():
    # One-vs-all, k = 3, f = (10, -10, 11), y = 0 is misclassified while the "bound" is below 1.
    M, f = oracles.one_vs_all(3), np.array([[10.0, -10.0, 11.0]])
    assert as_decoder("linear").predict(f, M)[0] != 0
    false_bound = (3 / 2) * np.mean(1 - M[[0]] * f)
    assert false_bound < 1
    with pytest.raises(ValueError, match="which Theorem 1 requires"):
        bounds.training_error_bound(f, [0], M, lambda z: 1 - z)
    for name in ("linear", lambda z: (z <= 0).astype(float)):
        with pytest.raises(ValueError, match="which Theorem 1 requires"):
            bounds.training_error_bound(f, [0], M, name)
    with pytest.raises(ValueError, match="which Corollary 2 requires"):
        bounds.hamming_error_bound(f, [0], M, "linear")


def test_bad_arguments():
    M = oracles.one_vs_all(3)
    with pytest.raises(ValueError, match="distance 0"):
        bounds.hamming_error_bound(np.zeros((1, 3)), [0], M[[0, 0, 1]])
    with pytest.raises(ValueError, match="don't match"):
        bounds.average_binary_loss(np.zeros((2, 3)), [0], M, "hinge")
    for y in ([3], [-1]):
        with pytest.raises(ValueError, match="must be between 0 and 2"):
            bounds.average_binary_loss(np.zeros((1, 3)), y, M, "hinge")


def test_ties_count_as_errors_although_the_decoder_breaks_them():
    D = as_decoder("hinge").scores([[0.5, 0.5, -5.0], [0.5, 0.5, -5.0]], oracles.one_vs_all(3))
    assert bounds.training_error(D, [0, 1]) == 1
    assert bounds.expected_error(D, [0, 1]) == 0.5
    with pytest.raises(ValueError, match="NaN"):
        bounds.training_error([[np.nan, 1.0]], [0])


@settings(max_examples=100, deadline=None)
@given(problem=problems)
def test_random_ties_cost_what_a_long_run_of_coin_throws_costs_and_never_more_than_strict(problem):
    F, y, M = problem
    D = as_decoder("hamming").scores(F, M)
    expected = np.mean([1 - (y[i] in H) / len(H) for i, H in enumerate(np.flatnonzero(d == d.max()) for d in D)])
    assert bounds.expected_error(D, y) == pytest.approx(expected)
    assert bounds.expected_error(D, y) <= bounds.training_error(D, y) + 1e-12


@pytest.mark.parametrize("zeros", [True, False])
def test_rows_add_up_and_few_errors_are_corrected(zeros):
    # D(v, y) + D(v, r) >= D(y, r), hence D(v, y) < rho/2 decodes to y alone.
    rng = np.random.default_rng(1)
    for _ in range(50):
        M = oracles.random_code(rng, 5, 9, zeros=zeros)
        v = rng.choice([-1, 1], size=9)
        d = np.array([oracles.row_distance(v, row) for row in M])
        rho = min(oracles.row_distance(M[a], M[b]) for a in range(5) for b in range(a))
        for a in range(5):
            assert all(d[a] + d[b] >= oracles.row_distance(M[a], M[b]) for b in range(5) if b != a)
            if d[a] < rho / 2:
                assert np.array_equal(as_decoder("hamming").ties([v], M)[0], np.arange(5) == a)
