"""LinearSVM against LIBLINEAR, against its own columns trained alone, and against the definition."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.sparse import csr_array
from sklearn.datasets import load_digits, make_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from outputcodes import OutputCodeClassifier
from outputcodes.learners import PerColumn
from outputcodes.learners.linear.hessian import Hessian
from outputcodes.learners.linear.linear_svm import LinearSVM

X, y = load_digits(return_X_y=True)
X, y = X[:500] / 16, y[:500]
CODES = ["one-vs-all", "all-pairs", "dense", "sparse"]
SIGNS = np.random.default_rng(0).choice([-1, 0, 1], size=(10, 9)).astype(np.int8)
FULL = np.where(SIGNS == 0, 1, SIGNS).astype(np.int8)
LOSSES = ["squared-hinge", "hinge"]
FORMS = [np.asarray, csr_array]
# The hinge's dual has corners: coordinate descent closes its last gaps slowly.
TIGHT = {
    "squared-hinge": LinearSVM(tol=1e-15, max_iter=100_000),
    "hinge": LinearSVM(0.1, "hinge", tol=1e-12, max_iter=1_000_000),
}


def objective(coef, intercept, X, t, weight, C=1.0, loss="squared-hinge", scaling=1.0):
    short = np.maximum(1 - t * (X @ coef + intercept), 0)
    return 0.5 * (coef @ coef + (intercept / scaling) ** 2) + C * weight @ (short**2 if loss[0] == "s" else short)


def fit(learner, X=X, M=SIGNS, labels=y, **options):
    return learner.fit_columns(learner.prepare(X), labels, M, **options)


@pytest.mark.parametrize("C", [0.01, 1.0, 30.0])
@pytest.mark.parametrize(("scaling", "fit_intercept"), [(1.0, True), (4.0, True), (1.0, False)])
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("make", FORMS)
def test_objectives_are_those_of_liblinear(C, scaling, fit_intercept, loss, make):
    weight = np.random.default_rng(1).uniform(0.2, 3, len(y))
    M = SIGNS[:, :2]
    options = {"C": C, "fit_intercept": fit_intercept, "intercept_scaling": scaling}
    ours = fit(LinearSVM(loss=loss, max_iter=100_000, **options), make(X), M, weight=weight)
    assert ours.certificate.converged.all()
    for j in range(2):
        t = M[y, j]
        seen = t != 0
        peer = LinearSVC(loss=loss.replace("-", "_"), tol=1e-5, dual=True, max_iter=1_000_000, **options)
        peer.fit(X[seen], t[seen], weight[seen])
        of = (X[seen], t[seen], weight[seen], C, loss, scaling)
        best = objective(peer.coef_[0], np.ravel(peer.intercept_)[0] if fit_intercept else 0.0, *of)
        value = objective(ours.coef[:, j], ours.intercept[j], *of)
        assert value == pytest.approx(best, rel=1e-4)
        # The certificate is true: the optimum is no further below than it says.
        assert value * (1 - ours.certificate.gap[j]) <= best * (1 + 1e-12)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("make", FORMS)
def test_tight_tolerances_are_reached(loss, make):
    ours = fit(LinearSVM(loss=loss, tol=1e-8, max_iter=100_000), make(X), SIGNS[:, :3])
    for j in range(3):
        t = SIGNS[y, j]
        seen = t != 0
        peer = LinearSVC(loss=loss.replace("-", "_"), tol=1e-8, dual=True, max_iter=1_000_000).fit(X[seen], t[seen])
        of = (X[seen], t[seen], np.ones(seen.sum()), 1.0, loss)
        best = objective(peer.coef_[0], peer.intercept_[0], *of)
        assert objective(ours.coef[:, j], ours.intercept[j], *of) == pytest.approx(best, rel=2e-8)
        assert np.allclose(ours.margins(X)[:, j], peer.decision_function(X), atol=2e-3)


@pytest.mark.parametrize("make", FORMS)
def test_a_small_problem_solved_by_a_general_optimiser(make):
    few, t = X[:40, 20:24], np.where(y[:40] % 2 == 0, 1.0, -1.0)
    found = minimize(lambda v: objective(v[:4], v[4], few, t, np.ones(40)), np.zeros(5), tol=1e-12)
    ours = TIGHT["squared-hinge"].fit(make(few), t)
    assert np.allclose(ours.columns_.coef[:, 0], found.x[:4], atol=1e-5)
    assert np.allclose(ours.decision_function(few), few @ found.x[:4] + found.x[4], atol=1e-5)


@pytest.mark.parametrize("code", CODES)
@pytest.mark.parametrize("make", FORMS)
@pytest.mark.parametrize("loss", LOSSES)
def test_all_columns_at_once_equal_each_alone(code, make, loss):
    learner, few = TIGHT[loss], slice(0, 200)
    models = [
        OutputCodeClassifier(estimator, code=code, decoder=loss, random_state=0).fit(make(X[few]), y[few])
        for estimator in (learner, PerColumn(learner, margin_loss=loss))
    ]
    joint, alone = (model.margins(X) for model in models)
    assert np.allclose(joint, alone, atol=1e-5)


@pytest.mark.parametrize("loss", LOSSES)
def test_dense_and_sparse_agree(loss):
    dense, sparse = fit(TIGHT[loss]), fit(TIGHT[loss], csr_array(X))
    assert np.allclose(dense.margins(X), sparse.margins(csr_array(X)), atol=1e-5)


@pytest.mark.parametrize("loss", LOSSES)
def test_more_features_than_rows(loss):
    wide, labels = make_classification(60, 200, n_informative=20, random_state=0)
    ours = LinearSVM(0.01, loss, tol=1e-10, max_iter=100_000).fit(wide, labels)
    peer = LinearSVC(C=0.01, loss=loss.replace("-", "_"), tol=1e-8, max_iter=1_000_000, dual=True).fit(wide, labels)
    assert np.allclose(ours.decision_function(wide), peer.decision_function(wide), atol=1e-4)


@pytest.mark.parametrize("make", FORMS)
@pytest.mark.parametrize("M", [SIGNS, FULL])
@pytest.mark.parametrize("loss", LOSSES)
def test_the_same_bits_for_any_number_of_threads(make, M, loss):
    big, labels = np.tile(X, (10, 1)), np.tile(y, 10)
    learner = LinearSVM(0.01, loss, tol=1e-3)
    one, two, three = (fit(learner, make(big), M, labels, n_jobs=n) for n in (1, 2, 3))
    assert np.array_equal(one.coef, two.coef)
    assert np.array_equal(one.coef, three.coef)
    assert np.array_equal(one.intercept, three.intercept)


@pytest.mark.parametrize("make", FORMS)
@pytest.mark.parametrize("loss", LOSSES)
def test_weights_are_repetitions(make, loss):
    times = np.random.default_rng(2).integers(0, 3, len(y))
    again = np.repeat(np.arange(len(y)), times)
    weighted = fit(TIGHT[loss], make(X), SIGNS[:, :2], weight=times.astype(float))
    repeated = fit(TIGHT[loss], make(X[again]), SIGNS[:, :2], labels=y[again])
    assert np.allclose(weighted.margins(X), repeated.margins(X), atol=1e-5)


@pytest.mark.parametrize("make", FORMS)
@pytest.mark.parametrize("loss", LOSSES)
def test_rows_and_column_weights(make, loss):
    M, learner = SIGNS[:, :3], TIGHT[loss]
    rows = np.random.default_rng(3).permutation(len(y))[:200]
    column_weight = np.random.default_rng(4).uniform(0, 2, M.shape)
    column_weight[0, 0] = 0
    data = learner.prepare(make(X))
    part = learner.fit_columns(data, y, M, column_weight=column_weight, rows=rows)
    for j in range(M.shape[1]):
        weight = column_weight[y[rows], j] * (M[y[rows], j] != 0)
        alone = LinearSVM(**learner.get_params()).fit(X[rows], M[y[rows], j], sample_weight=weight)
        assert np.allclose(part.margins(data, rows)[:, j], alone.decision_function(X[rows]), atol=1e-5)


@pytest.mark.parametrize("make", FORMS)
def test_a_bootstrap_sample_counts_its_repetitions(make):
    learner, rows = TIGHT["squared-hinge"], np.random.default_rng(5).integers(0, len(y), len(y))
    data, times = learner.prepare(make(X)), np.bincount(rows, minlength=len(y)).astype(float)
    part, weighted = learner.fit_columns(data, y, SIGNS, rows=rows), learner.fit_columns(data, y, SIGNS, times)
    assert np.allclose(part.margins(data), weighted.margins(data), atol=1e-5)


@pytest.mark.parametrize("price", [np.inf, 0.0], ids=["conjugate gradients", "exact steps"])
@pytest.mark.parametrize("loss", LOSSES)
def test_exact_newton_steps_and_conjugate_gradients_end_in_the_same_place(price, loss, monkeypatch):
    learner = LinearSVM(0.1, loss, tol=1e-10, max_iter=10_000)
    default = fit(learner)
    monkeypatch.setattr(Hessian, "_price", lambda self: np.full(self.scale.shape, price))
    forced = fit(learner)
    assert forced.certificate.converged.all()
    assert np.allclose(default.margins(X), forced.margins(X), atol=1e-4)


@pytest.mark.parametrize("loss", LOSSES)
def test_resting_examples_and_tiles_of_few_rows_change_nothing(loss, monkeypatch):
    M = OutputCodeClassifier(code="all-pairs").fit(X, y).code_matrix_
    learner = LinearSVM(0.1, loss, tol=1e-8, max_iter=100_000)
    default = fit(learner, csr_array(X), M)
    monkeypatch.setattr("outputcodes.learners.linear.descent.WHOLE_EVERY", 1)
    monkeypatch.setattr("outputcodes.learners.linear.descent.FEW", 0.0)
    plain = fit(learner, csr_array(X), M)
    assert np.allclose(default.margins(X), plain.margins(X), atol=1e-3)


@pytest.mark.parametrize("make", FORMS)
@pytest.mark.parametrize("loss", LOSSES)
def test_a_warm_start_reaches_the_same_answer(make, loss):
    learner = TIGHT[loss]
    data = learner.prepare(make(X))
    cold = learner.fit_columns(data, y, SIGNS[:, :2])
    warm = learner.fit_columns(data, y, SIGNS[:, :2], init=cold)
    assert np.allclose(cold.margins(data), warm.margins(data), atol=1e-5)
    if loss == "squared-hinge":
        assert (warm.certificate.iterations < cold.certificate.iterations).all()


def test_empty_rows_and_features():
    holes = X.copy()
    holes[:20] = 0
    holes[:, 5] = 0
    for loss in LOSSES:
        learner = LinearSVM(0.01, loss, fit_intercept=False, tol=1e-8, max_iter=100_000)
        dense, sparse = fit(learner, holes), fit(learner, csr_array(holes))
        assert dense.certificate.converged.all()
        assert np.allclose(dense.margins(holes), sparse.margins(holes), atol=1e-3)


def test_data_prepared_for_the_other_loss():
    data = TIGHT["hinge"].prepare(X)
    ours = TIGHT["squared-hinge"].fit_columns(data, y, SIGNS)
    assert np.allclose(ours.margins(X), fit(TIGHT["squared-hinge"]).margins(X), atol=1e-6)


@pytest.mark.parametrize("loss", LOSSES)
def test_stopping_early_is_said(loss):
    with pytest.warns(ConvergenceWarning, match="9 of 9 columns did not converge"):
        certificate = fit(LinearSVM(loss=loss, max_iter=1)).certificate
    assert not certificate.converged.any()


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"C": 0}, "C=0 must be a finite number greater than 0"),
        ({"C": np.inf}, "C=inf"),
        ({"loss": "logistic"}, "loss='logistic' must be 'squared-hinge' or 'hinge'"),
        ({"intercept_scaling": 0}, "intercept_scaling=0"),
        ({"tol": -1e-3}, "tol=-0.001"),
        ({"max_iter": 0}, "max_iter=0"),
    ],
)
def test_bad_parameters(parameters, message):
    with pytest.raises(ValueError, match=message):
        LinearSVM(**parameters).fit(X, y < 5)


@parametrize_with_checks([TIGHT["squared-hinge"], LinearSVM(loss="hinge", tol=1e-13, max_iter=10_000)])
def test_scikit_learn_checks(estimator, check):
    check(estimator)
