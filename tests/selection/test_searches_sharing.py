"""What the folds of a search share changes no result: sums, starts and what was prepared."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning, FitFailedWarning
from sklearn.model_selection import GridSearchCV, StratifiedKFold

from outputcodes import OutputCodeClassifier
from outputcodes.learners import KernelSVM, LinearSVM, Logistic, Ridge
from outputcodes.selection import GridSearch
from outputcodes.selection.searches import joined_folds

X, y = load_digits(return_X_y=True)
X, y = X[:400] / 16, y[:400]
FOLDS = StratifiedKFold(3, shuffle=True, random_state=0)


def ova(learner):
    return OutputCodeClassifier(learner, code="one-vs-all", random_state=0)


def test_folds_that_overlap_share_no_sums():
    overlapping = [(np.arange(0, 300), np.arange(300, 400)), (np.arange(100, 400), np.arange(0, 150))]
    grid = {"estimator__alpha": [0.01, 1, 100]}
    ours = GridSearch(ova(Ridge()), grid, cv=overlapping).fit(X, y)
    theirs = GridSearchCV(ova(Ridge()), grid, cv=overlapping).fit(X, y)
    assert_allclose(ours.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"], atol=1e-12)


def test_rows_that_are_drawn_twice_are_no_part():
    rng = np.random.default_rng(0)
    parts = np.array_split(rng.permutation(400), 2)
    drawn = [(rng.choice(own, 200), other) for own, other in (parts, parts[::-1])]
    grid = {"estimator__alpha": [0.01, 1, 100]}
    ours = GridSearch(ova(Ridge()), grid, cv=drawn).fit(X, y)
    theirs = GridSearchCV(ova(Ridge()), grid, cv=drawn).fit(X, y)
    assert_allclose(ours.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"], atol=1e-12)
    data, code = Ridge().prepare(X), np.where(np.eye(10), 1, -1).astype(np.int8)
    Ridge().foresee(data, [parts[0], parts[1]], y)
    twice = rng.choice(parts[0], 200)
    alone = Ridge().fit_columns(Ridge().prepare(X[twice]), y[twice], code)
    assert_allclose(Ridge().fit_columns(data, y, code, rows=twice).margins(X), alone.margins(X), atol=1e-9)


@pytest.mark.parametrize("learner", [Ridge(), LinearSVM(tol=1e-9), Logistic(tol=1e-10)], ids=repr)
def test_the_last_training_is_that_of_the_best_candidate_alone(learner):
    grid = {"estimator__C": [0.1, 1, 10, 30]} if hasattr(learner, "C") else {"estimator__alpha": [0.1, 1, 10]}
    weight = np.random.default_rng(0).random(len(y)) + 0.5
    search = GridSearch(ova(learner), grid, cv=FOLDS).fit(X, y, sample_weight=weight)
    alone = ova(learner).set_params(**search.best_params_).fit(X, y, sample_weight=weight)
    assert_allclose(search.best_estimator_.margins(X), alone.margins(X), atol=2e-3)
    assert_array_equal(search.predict(X), alone.predict(X))


def test_starts_ahead_on_a_path_change_no_solution():
    grid = {"estimator__C": [0.01, 0.1, 1, 10, 100]}
    for learner in (Logistic(tol=1e-10), LinearSVM(tol=1e-9, loss="squared-hinge")):
        ours = GridSearch(ova(learner), grid, cv=FOLDS).fit(X, y)
        theirs = GridSearchCV(ova(learner), grid, cv=FOLDS).fit(X, y)
        assert_allclose(ours.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"], atol=1e-12)


@pytest.mark.parametrize("code", ["one-vs-all", "all-pairs"])
def test_kernels_that_folds_share_and_columns_that_are_known_change_no_score(code):
    model = OutputCodeClassifier(KernelSVM(tol=1e-7), code=code, random_state=0)
    grid = {"estimator__gamma": [0.01, 0.02, 0.2], "estimator__C": [0.5, 4.0, 32.0, 256.0]}
    ours = GridSearch(model, grid, cv=FOLDS).fit(X, y)
    theirs = GridSearchCV(model, grid, cv=FOLDS).fit(X, y)
    assert_allclose(ours.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"], atol=1e-12)
    assert ours.best_params_ == theirs.best_params_
    assert_allclose(ours.best_estimator_.margins(X), theirs.best_estimator_.margins(X), atol=1e-5)


def joint_trainings(monkeypatch):
    """Return a list that grows by one for each training of all folds at once."""
    seen, train = [], joined_folds.apart
    monkeypatch.setattr(joined_folds, "apart", lambda *words: seen.append(1) or train(*words))
    return seen


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("code", ["one-vs-all", "all-pairs", "dense"])
@pytest.mark.parametrize(
    ("learner", "within"),
    [(Logistic(tol=1e-13), 1e-6), (LinearSVM(tol=1e-12), 1e-6), (LinearSVM(tol=1e-6, loss="hinge"), 2e-3)],
    ids=["logistic", "squared hinge", "hinge"],
)
def test_folds_trained_at_once_are_those_trained_one_by_one(learner, within, code, weighted, monkeypatch):
    few, params = slice(0, 150), {}
    if weighted:
        # Rows without weight count nowhere.
        params = {"sample_weight": np.random.default_rng(0).integers(0, 3, 150).astype(float)}
    model = OutputCodeClassifier(learner, code=code, random_state=0)
    search = GridSearch(model, {"estimator__C": [0.05, 0.5, 2]}, cv=FOLDS, scoring=mean_margin)
    seen = joint_trainings(monkeypatch)
    together = search.fit(X[few], y[few], **params).cv_results_
    assert len(seen) == 3
    monkeypatch.setattr(joined_folds, "MOST_SCORES", 0)
    alone = search.fit(X[few], y[few], **params).cv_results_
    assert len(seen) == 3
    for fold in range(3):
        assert_allclose(together[f"split{fold}_test_score"], alone[f"split{fold}_test_score"], rtol=within)


def mean_margin(model, X, y):
    """A score that any difference between trainings changes; the model is as `fit` leaves it."""
    assert model.n_features_in_ == X.shape[1]
    return float(np.abs(model.decision_function(X)).mean())


def same_as_by_scikit_learn(model, cv, labels=y):
    grid = {"estimator__C": [0.1, 1, 10]}
    ours, theirs = (search(model, grid, cv=cv).fit(X, labels) for search in (GridSearch, GridSearchCV))
    assert_allclose(ours.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"], atol=1e-12)


def test_folds_that_are_more_than_zeros_are_trained_one_by_one(monkeypatch):
    seen, rng, parts = joint_trainings(monkeypatch), np.random.default_rng(0), np.array_split(np.arange(400), 4)
    several_left_out = [(np.arange(first, first + 200), parts[3]) for first in (0, 50, 100)]
    drawn_twice = [(rng.choice(np.arange(200), 200), parts[3]), (rng.choice(np.arange(200, 400), 200), parts[0])]
    a_class_less = [(np.flatnonzero(y != 3), parts[0]), (np.flatnonzero(y != 4), parts[1])]
    for cv in (several_left_out, drawn_twice, a_class_less):
        same_as_by_scikit_learn(ova(Logistic(tol=1e-10)), cv)
    for params in ({"class_weight": "balanced"}, {"column_weight": "balanced"}, {"code": "designed"}):
        same_as_by_scikit_learn(ova(Logistic(tol=1e-10)).set_params(**params), FOLDS)
    assert not seen


def test_many_folds_and_multilabel_problems_are_trained_at_once(monkeypatch):
    seen = joint_trainings(monkeypatch)
    same_as_by_scikit_learn(ova(Logistic(tol=1e-10)), StratifiedKFold(11))
    halves = np.split(np.arange(400), 2)
    labels = np.column_stack([y % 2 == 0, y > 4, y % 3 == 0])
    same_as_by_scikit_learn(ova(Logistic(tol=1e-10)), [halves, halves[::-1]], labels)
    assert len(seen) == 6
    # A label that no row of a fold has is constant there.
    with pytest.warns(UserWarning, match="the same in all rows"):
        same_as_by_scikit_learn(
            ova(Logistic(tol=1e-10)), [halves, halves[::-1]], labels & (np.arange(400) < 200)[:, None]
        )
    assert len(seen) == 6


def test_each_fold_draws_its_own_code_if_the_seed_is_not_given(monkeypatch):
    seen, codes = joint_trainings(monkeypatch), []
    model = OutputCodeClassifier("logistic", code="dense")
    search = GridSearch(model, {"estimator__C": [1.0]}, cv=FOLDS, scoring=lambda m, X, y: codes.append(m.code_) or 0.0)
    search.fit(X, y)
    assert not seen
    assert not codes[0].same_as(codes[1])


def test_what_does_not_converge_is_reported_fold_by_fold(monkeypatch):
    seen = joint_trainings(monkeypatch)
    with pytest.warns(ConvergenceWarning, match="of 10 columns did not converge"):
        GridSearch(ova(Logistic(tol=1e-9, max_iter=2)), {"estimator__C": [1.0, 10.0]}, cv=FOLDS).fit(X, y)
    assert not seen


def test_what_fails_on_all_folds_at_once_is_reported_fold_by_fold(monkeypatch):
    seen, grid = joint_trainings(monkeypatch), {"estimator__C": [0.1, np.inf, 1.0]}
    failed = pytest.warns(FitFailedWarning, match="3 fits failed(.|\n)*C=inf must")
    with failed, pytest.warns(UserWarning, match="nan"):
        found = GridSearch(ova(Logistic()), grid, cv=FOLDS).fit(X, y).cv_results_["mean_test_score"]
    assert_array_equal(np.isnan(found), [False, True, False])
    assert len(seen) == 2
