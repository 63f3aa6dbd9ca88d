"""Logistic against LogisticRegression, against its own columns trained alone, and against the definition."""

import warnings

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.sparse import csr_array, random_array
from sklearn.datasets import load_digits, make_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.utils.estimator_checks import parametrize_with_checks

from outputcodes import OutputCodeClassifier
from outputcodes._ground.folds import folds
from outputcodes.learners import PerColumn
from outputcodes.learners.linear.logistic import Logistic

X, y = load_digits(return_X_y=True)
X, y = X[:500] / 16, y[:500]
CODES = ["one-vs-all", "all-pairs", "dense", "sparse"]
SIGNS = np.random.default_rng(0).choice([-1, 0, 1], size=(10, 7)).astype(np.int8)
FULL = np.where(SIGNS == 0, 1, SIGNS).astype(np.int8)
TIGHT = Logistic(tol=1e-16)


def objective(coef, intercept, X, t, weight, C=1.0):
    return 0.5 * coef @ coef + C * weight @ np.logaddexp(0, -t * (X @ coef + intercept))


def fit(learner, X=X, M=SIGNS, labels=y, **options):
    return learner.fit_columns(learner.prepare(X), labels, M, **options)


@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("make", [np.asarray, csr_array])
def test_objectives_are_those_of_scikit_learn(C, fit_intercept, make):
    weight = np.random.default_rng(1).uniform(0.2, 3, len(y))
    loose, tight = (
        fit(Logistic(C, fit_intercept, tol=tol), make(X), SIGNS[:, :3], weight=weight) for tol in (1e-4, 1e-13)
    )
    assert tight.certificate.converged.all()
    for j in range(3):
        t = SIGNS[y, j]
        seen = t != 0
        peer = LogisticRegression(C=C, fit_intercept=fit_intercept, tol=1e-9, max_iter=100_000, solver="newton-cg")
        peer.fit(X[seen], t[seen], weight[seen])
        best = objective(peer.coef_[0], peer.intercept_, X[seen], t[seen], weight[seen], C)
        ours = [objective(f.coef[:, j], f.intercept[j], X[seen], t[seen], weight[seen], C) for f in (loose, tight)]
        assert ours[0] <= best * (1 + 1e-4)
        # The certificate is true: the optimum is no further below than it says.
        assert ours[0] * (1 - loose.certificate.gap[j]) <= best * (1 + 1e-9)
        assert ours[1] == pytest.approx(best, rel=1e-8)
        assert np.allclose(tight.margins(X)[:, j], peer.decision_function(X) / 2, atol=1e-3 * max(1, C))


def test_a_small_problem_solved_by_a_general_optimiser():
    few, t = X[:40, 20:24], np.where(y[:40] % 2 == 0, 1.0, -1.0)
    found = minimize(lambda v: objective(v[:4], v[4], few, t, np.ones(40)), np.zeros(5), tol=1e-12)
    ours = Logistic(tol=1e-16).fit(few, t)
    assert np.allclose(ours.columns_.coef[:, 0], found.x[:4], atol=1e-5)
    assert np.allclose(ours.decision_function(few), (few @ found.x[:4] + found.x[4]) / 2, atol=1e-5)


@pytest.mark.parametrize("code", CODES)
@pytest.mark.parametrize("make", [np.asarray, csr_array])
def test_all_columns_at_once_equal_each_alone(code, make):
    few = slice(0, 200)
    joint, alone = (
        OutputCodeClassifier(learner, code=code, decoder="logistic", random_state=0).fit(make(X[few]), y[few])
        for learner in (TIGHT, PerColumn(TIGHT, margin_loss="logistic", scale=1.0))
    )
    assert np.allclose(joint.margins(X), alone.margins(X), atol=1e-6)
    assert np.array_equal(joint.predict(X), alone.predict(X))


def test_dense_and_sparse_agree():
    assert np.allclose(fit(TIGHT).margins(X), fit(TIGHT, csr_array(X)).margins(csr_array(X)), atol=1e-6)


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_more_features_than_rows(fit_intercept):
    wide, labels = make_classification(60, 200, n_informative=20, random_state=0)
    ours = Logistic(fit_intercept=fit_intercept, tol=1e-13).fit(wide, labels)
    peer = LogisticRegression(fit_intercept=fit_intercept, tol=1e-10, max_iter=10_000).fit(wide, labels)
    assert np.allclose(ours.decision_function(wide), peer.decision_function(wide) / 2, atol=1e-4)


def test_features_far_from_zero_and_of_unlike_scales():
    far = X[:, 10:30] * np.logspace(-3, 3, 20) + 1000
    t = np.where(y < 5, 1, -1)
    ours = Logistic(C=10, tol=1e-12).fit(far, t).columns_
    assert ours.certificate.converged.all()
    start = np.append(ours.coef[:, 0], ours.intercept)
    ones = np.ones(len(y))
    best = minimize(lambda v: objective(v[:-1], v[-1], far, t, ones, 10), start, method="Nelder-Mead").fun
    assert objective(ours.coef[:, 0], ours.intercept, far, t, ones, 10) == pytest.approx(best, rel=1e-9)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("scale", [1e-25, 1e25])
def test_extreme_scales_stay_finite(scale):
    ours = Logistic().fit(X * scale, y < 5)
    assert np.isfinite(ours.decision_function(X * scale)).all()


@pytest.mark.parametrize("make", [np.asarray, csr_array])
@pytest.mark.parametrize("M", [SIGNS, FULL])
def test_the_same_bits_for_any_number_of_threads(make, M):
    big, labels = np.tile(X, (20, 1)), np.tile(y, 20)
    one, two, three = (fit(Logistic(), make(big), M, labels, n_jobs=n) for n in (1, 2, 3))
    assert np.array_equal(one.coef, two.coef)
    assert np.array_equal(one.coef, three.coef)
    assert np.array_equal(one.intercept, three.intercept)


def test_weights_are_repetitions():
    times = np.random.default_rng(2).integers(0, 3, len(y))
    again = np.repeat(np.arange(len(y)), times)
    weighted = fit(TIGHT, weight=times.astype(float))
    repeated = fit(TIGHT, X[again], labels=y[again])
    assert np.allclose(weighted.margins(X), repeated.margins(X), atol=1e-7)


@pytest.mark.parametrize("M", [SIGNS, FULL])
def test_rows_and_column_weights(M):
    rows = np.random.default_rng(3).permutation(len(y))[:300]
    column_weight = np.random.default_rng(4).uniform(0, 2, M.shape)
    column_weight[0, 0] = 0
    data = TIGHT.prepare(X)
    part = TIGHT.fit_columns(data, y, M, column_weight=column_weight, rows=rows)
    for j in range(M.shape[1]):
        weight = column_weight[y[rows], j] * (M[y[rows], j] != 0)
        alone = Logistic(tol=1e-16).fit(X[rows], M[y[rows], j], sample_weight=weight)
        assert np.allclose(part.margins(data, rows)[:, j], alone.decision_function(X[rows]), atol=1e-6)


@pytest.mark.parametrize("make", [np.asarray, csr_array])
def test_a_bootstrap_sample_counts_its_repetitions(make):
    rows = np.random.default_rng(5).integers(0, len(y), len(y))
    data, times = TIGHT.prepare(make(X)), np.bincount(rows, minlength=len(y)).astype(float)
    M = SIGNS[:, :2]
    part, weighted = TIGHT.fit_columns(data, y, M, rows=rows), TIGHT.fit_columns(data, y, M, times)
    assert np.allclose(part.margins(data), weighted.margins(data), atol=1e-6)


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("C", [0.1, 1.0, 30.0])
@pytest.mark.parametrize("code", ["one-vs-all", "all-pairs"])
def test_coordinate_descent_alone_is_certified_truly(code, C, fit_intercept, monkeypatch):
    # Rows with few features in common, of different lengths and some empty, as in text.
    rng = np.random.default_rng(6)
    words = random_array((400, 900), density=0.02, rng=rng, format="csr")
    labels = rng.integers(0, 8, 400)
    M = OutputCodeClassifier(code=code).fit(words, labels).code_matrix_
    optimum = fit(Logistic(C, fit_intercept, tol=1e-14), words.toarray(), M, labels)
    monkeypatch.setattr("outputcodes.learners.linear.logistic.JointNewton", None)
    for tol in (1e-2, 1e-5):
        ours = fit(Logistic(C, fit_intercept, tol=tol), words, M, labels)
        for j in range(M.shape[1]):
            t = M[labels, j]
            seen = t != 0
            of = (words[seen], t[seen], np.ones(seen.sum()), C)
            value, best = (objective(f.coef[:, j], f.intercept[j], *of) for f in (ours, optimum))
            assert best * (1 - 1e-12) <= value <= best * (1 + tol)
            assert value * (1 - ours.certificate.gap[j]) <= best * (1 + 1e-12)


def test_what_coordinate_descent_leaves_open_newton_finishes(monkeypatch):
    monkeypatch.setattr("outputcodes.learners.linear.logistic.MOST_EPOCHS", 1)
    finished = fit(Logistic(tol=1e-5), csr_array(X))
    assert finished.certificate.converged.all()
    assert np.allclose(finished.margins(X), fit(TIGHT).margins(X), atol=0.05)


def test_a_warm_start_reaches_the_same_answer_sooner():
    data = TIGHT.prepare(X)
    cold = TIGHT.fit_columns(data, y, SIGNS)
    warm = TIGHT.fit_columns(data, y, SIGNS, init=cold)
    assert (warm.certificate.iterations == 0).all()
    other = Logistic(C=1.1, tol=1e-16)
    near, fresh = other.fit_columns(data, y, SIGNS, init=cold), other.fit_columns(data, y, SIGNS)
    assert np.allclose(near.margins(data), fresh.margins(data), atol=1e-6)
    assert near.certificate.iterations.max() <= fresh.certificate.iterations.max()
    with pytest.raises(ValueError, match="init has coefficients of shape"):
        other.fit_columns(data, y, SIGNS[:, :2], init=cold)


def test_a_warm_start_outside_the_span_of_the_rows():
    few, labels = X[:30], y[:30] < 5
    whole = fit(TIGHT, M=np.where(np.arange(10) < 5, 1, -1).astype(np.int8)[:, None])
    data, M = TIGHT.prepare(few), np.array([[-1], [1]], dtype=np.int8)
    warm, cold = (TIGHT.fit_columns(data, labels.astype(int), M, init=init) for init in (whole, None))
    assert np.allclose(warm.coef, cold.coef, atol=1e-6)


@pytest.mark.parametrize("M", [SIGNS, FULL])
def test_too_large_for_a_rotation(monkeypatch, M):
    turned = fit(TIGHT, M=M)
    monkeypatch.setattr("outputcodes.learners.linear.base.LARGEST_ROTATION", 0)
    assert TIGHT.prepare(X).rotation is None
    assert np.allclose(turned.margins(X), fit(TIGHT, M=M).margins(X), atol=1e-6)


def test_data_prepared_with_another_intercept():
    without = Logistic(fit_intercept=False, tol=1e-16)
    from_other = without.fit_columns(TIGHT.prepare(X), y, SIGNS)
    assert np.allclose(from_other.margins(X), fit(without).margins(X))
    assert TIGHT.prepare(X, like=TIGHT.prepare(X)).X is X


def test_stopping_early_is_said():
    with pytest.warns(ConvergenceWarning, match="7 of 7 columns did not converge"):
        certificate = fit(Logistic(max_iter=1)).certificate
    assert not certificate.converged.any()
    assert (certificate.gap > 1e-4).all()


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"C": 0}, "C=0 must be a finite number greater than 0"),
        ({"C": -1.0}, "C=-1.0"),
        ({"C": "1"}, "C='1'"),
        ({"C": np.nan}, "C=nan"),
        ({"tol": 0.0}, "tol=0.0"),
        ({"max_iter": 0}, "max_iter=0 must be an integer of at least 1"),
        ({"max_iter": 2.5}, "max_iter=2.5"),
    ],
)
def test_bad_parameters(parameters, message):
    with pytest.raises(ValueError, match=message):
        Logistic(**parameters).fit(X, y < 5)
    with pytest.raises(ValueError, match=message):
        Logistic(**parameters).fit_columns(TIGHT.prepare(X), y, SIGNS)


def test_a_column_without_one_of_its_signs():
    column_weight = np.where(SIGNS > 0, 1.0, 0.0)
    with pytest.raises(ValueError, match="column 0 has no example of sign -1 with positive weight"):
        fit(Logistic(), column_weight=column_weight)


def test_bad_features():
    bad = X.copy()
    bad[3, 3] = np.inf
    with pytest.raises(ValueError, match="infinity"):
        Logistic().prepare(bad)


def test_little_regularised_columns_of_a_fold_converge_on_sparse_rows():
    # After 50 epochs of coordinate descent the w of column 7 is so far off that Newton's method diverged from it.
    digits, labels = load_digits(return_X_y=True)
    digits, M = digits / 16, np.where(np.eye(10, dtype=bool), 1, -1).astype(np.int8)
    rows = folds(labels, 3, 0)[2][0]
    for learner in (Logistic(C=100.0), Logistic(C=100.0, tol=1e-10)):
        dense, sparse = (
            learner.fit_columns(learner.prepare(data), labels, M, rows=rows) for data in (digits, csr_array(digits))
        )
        assert sparse.certificate.converged.all()
        # Both are within the tolerance of the same minimum.
        z = [M[labels[rows]] * (digits[rows] @ fitted.coef + fitted.intercept) for fitted in (dense, sparse)]
        penalty = [0.5 * (fitted.coef**2).sum(axis=0) for fitted in (dense, sparse)]
        P, Q = (p + 100.0 * np.logaddexp(0, -scores).sum(axis=0) for p, scores in zip(penalty, z, strict=True))
        assert (np.abs(P - Q) <= learner.tol * np.maximum(P, Q)).all()
    np.testing.assert_allclose(sparse.margins(digits), dense.margins(digits), atol=2e-4)


@parametrize_with_checks([Logistic(tol=1e-18)])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("heavy", [1e2, 1e3, 1e5])
@pytest.mark.parametrize("light", [1e-5, 1e-6])
def test_a_start_where_all_losses_are_straight(heavy, light):
    # Held-out rows can take away what outweighed the other class: the intercept is far on the wrong side.
    X, labels, M = np.array([[1.3], [3.6]]), np.array([0, 1]), np.array([[1], [-1]])
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # overflows, and columns that don't converge
        start = fit(Logistic(), X, M, labels, weight=np.array([1e-3, heavy]))
        weight = np.array([1e-3, light])
        warm, cold = (fit(Logistic(), X, M, labels, weight=weight, init=init) for init in (start, None))
    found, best = (objective(f.coef[:, 0], f.intercept[0], X, np.array([1, -1]), weight) for f in (warm, cold))
    assert abs(found - best) <= 2e-4 * best
