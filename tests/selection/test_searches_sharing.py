"""What the folds of a search share changes no result: sums, starts and what was prepared."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_digits
from sklearn.model_selection import GridSearchCV, StratifiedKFold

from outputcodes import OutputCodeClassifier
from outputcodes.learners import KernelSVM, LinearSVM, Logistic, Ridge
from outputcodes.selection import GridSearch

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
