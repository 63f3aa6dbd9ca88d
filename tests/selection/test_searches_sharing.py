"""What the folds of a search share changes no result: sums, starts and what was prepared."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_digits
from sklearn.exceptions import FitFailedWarning
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
    "learner",
    [Logistic(tol=1e-12), LinearSVM(tol=1e-10), LinearSVM(tol=1e-6, loss="hinge")],
    ids=["logistic", "squared hinge", "hinge"],
)
def test_folds_trained_at_once_are_those_trained_one_by_one(learner, code, weighted, monkeypatch):
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
        assert_allclose(together[f"split{fold}_test_score"], alone[f"split{fold}_test_score"], rtol=2e-3)


def mean_margin(model, X, y):
    """A score that any difference between trainings changes."""
    return float(np.abs(model.decision_function(X)).mean())


def test_folds_that_are_more_than_zeros_are_trained_one_by_one(monkeypatch):
    seen, rng, parts = joint_trainings(monkeypatch), np.random.default_rng(0), np.array_split(np.arange(400), 4)
    several_left_out = [(np.arange(0, 200), parts[3]), (np.arange(100, 300), parts[3]), (np.arange(50, 250), parts[3])]
    drawn_twice = [(rng.choice(np.arange(200), 200), parts[3]), (rng.choice(np.arange(200, 400), 200), parts[0])]
    a_class_less = [(np.flatnonzero(y != 3), parts[0]), (np.flatnonzero(y != 4), parts[1])]
    grid = {"estimator__C": [0.1, 1, 10]}
    for cv in (several_left_out, drawn_twice, a_class_less):
        ours = GridSearch(ova(Logistic(tol=1e-10)), grid, cv=cv).fit(X, y)
        theirs = GridSearchCV(ova(Logistic(tol=1e-10)), grid, cv=cv).fit(X, y)
        assert_allclose(ours.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"], atol=1e-12)
    for params in ({"class_weight": "balanced"}, {"column_weight": "balanced"}, {"code": "designed"}):
        model = ova(Logistic(tol=1e-10)).set_params(**params)
        ours = GridSearch(model, grid, cv=FOLDS).fit(X, y)
        theirs = GridSearchCV(model, grid, cv=FOLDS).fit(X, y)
        assert_allclose(ours.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"], atol=1e-12)
    assert not seen


def test_what_fails_on_all_folds_at_once_is_reported_fold_by_fold():
    grid = {"estimator__C": [0.1, -1.0, 1.0]}
    with (
        pytest.warns(FitFailedWarning, match="3 fits failed(.|\n)*C=-1.0 must"),
        pytest.warns(UserWarning, match="nan"),
    ):
        found = GridSearch(ova(Logistic()), grid, cv=FOLDS).fit(X, y).cv_results_["mean_test_score"]
    assert_array_equal(np.isnan(found), [False, True, False])


def test_labels_of_several_columns_are_searched_as_by_scikit_learn():
    labels = np.column_stack([y % 2 == 0, y > 4, y % 3 == 0])
    grid, cv = (
        {"estimator__C": [0.1, 1, 10]},
        [(np.arange(200), np.arange(200, 400)), (np.arange(200, 400), np.arange(200))],
    )
    ours = GridSearch(ova(Logistic(tol=1e-10)), grid, cv=cv).fit(X, labels)
    theirs = GridSearchCV(ova(Logistic(tol=1e-10)), grid, cv=cv).fit(X, labels)
    assert_allclose(ours.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"], atol=1e-12)
