"""BoundSearch does what judging each candidate alone does, and behaves like scikit-learn's searches."""

import numpy as np
import pytest
from sklearn.base import clone, is_classifier
from sklearn.datasets import load_iris, load_wine
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import ParameterGrid, StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler, minmax_scale
from sklearn.svm import SVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from outputcodes import OutputCodeClassifier
from outputcodes.codes import Dense
from outputcodes.learners import KernelSVM, Ridge
from outputcodes.selection import BoundSearch, leave_one_out

X, y = load_wine(return_X_y=True)
X, names = minmax_scale(X)[::2], np.array(["bari", "asti", "como"])[y[::2]]
GRID = {"estimator__gamma": [1.0, 0.1, 10.0], "estimator__C": [10.0, 0.3]}
SVM = OutputCodeClassifier(KernelSVM(bias="folded", tol=1e-8), code="dense", decoder="linear", random_state=3)

WEIGHTS = ("check_sample_weight_equivalence_on_dense_data", "check_sample_weight_equivalence_on_sparse_data")


def allowed(search):
    return dict.fromkeys(
        WEIGHTS, "an example given twice is left out one copy at a time, as in scikit-learn's searches"
    )


@parametrize_with_checks(
    [
        BoundSearch(OutputCodeClassifier(KernelSVM(bias="folded", tol=1e-9)), {"estimator__gamma": [0.1, 1.0]}),
        BoundSearch(OutputCodeClassifier(Ridge(), code="one-vs-all"), {"estimator__alpha": [1.0, 10.0]}),
    ],
    expected_failed_checks=allowed,
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def test_each_candidate_is_judged_as_if_alone():
    weight = np.random.default_rng(0).integers(0, 3, size=len(X)).astype(float)
    for grid in (GRID, [{"decoder": ["hinge", "hamming"]}, {"code": ["one-vs-all", "all-pairs"]}]):
        for w in (None, weight):
            search = BoundSearch(SVM, grid).fit(X, names, w)
            candidates = list(ParameterGrid(grid))
            assert search.cv_results_["params"] == candidates
            models = [clone(SVM).set_params(**params).fit(X, names, w) for params in candidates]
            alone = [leave_one_out(model, X, names, w) for model in models]
            assert search.cv_results_["loo_error"] == pytest.approx([one.error for one in alone])
            assert set(search.cv_results_["loo_kind"]) == {"bound"}
            best = search.best_index_
            assert search.best_score_ == pytest.approx(1 - min(one.error for one in alone))
            assert search.best_params_ == candidates[best]
            assert search.cv_results_["rank_test_score"][best] == 1
            assert np.allclose(search.decision_function(X), models[best].decision_function(X), atol=1e-5)
            assert np.array_equal(search.predict(X), models[best].predict(X))
            assert search.score(X, names) == models[best].score(X, names)
    masked = search.cv_results_["param_code"]
    assert masked.mask.tolist() == [True, True, False, False]
    assert masked[2:].tolist() == ["one-vs-all", "all-pairs"]


def test_the_best_classifier_is_the_users_own_and_trained_once(monkeypatch):
    calls = []
    original = KernelSVM.fit_columns
    monkeypatch.setattr(
        KernelSVM, "fit_columns", lambda self, *a, **k: calls.append((self.gamma, self.C, k)) or original(self, *a, **k)
    )
    likes, prepare = [], KernelSVM.prepare
    monkeypatch.setattr(KernelSVM, "prepare", lambda self, X, like=None: likes.append(like) or prepare(self, X, like))
    search = BoundSearch(SVM, GRID).fit(X, names)
    # Gamma rises and for each gamma C, whatever the order of the grid; all but the first start from the last.
    assert [call[:2] for call in calls] == [(0.1, 0.3), (0.1, 10.0), (1.0, 0.3), (1.0, 10.0), (10.0, 0.3), (10.0, 10.0)]
    assert [call[2]["init"] is None for call in calls] == [True] + 5 * [False]
    assert [like is None for like in likes] == [True] + 5 * [False]
    best = search.best_estimator_
    expected = clone(SVM).set_params(**search.best_params_)
    assert repr(best) == repr(expected)
    assert repr(clone(best)) == repr(expected)
    assert SVM.get_params()["estimator__gamma"] == "scale"


def test_ties_go_to_the_smoothest():
    # Three tight heaps far apart: nobody is missed when left out, whatever the kernel and C.
    heaps = np.repeat(np.eye(3) * 100, 10, axis=0) + np.random.default_rng(0).normal(size=(30, 3)) / 100
    grid = {"estimator__C": [10.0, 1.0], "estimator__gamma": [0.3, 0.1, 0.2]}
    search = BoundSearch(SVM, grid).fit(heaps, np.repeat([0, 1, 2], 10))
    assert (search.cv_results_["loo_error"] == 0).all()
    assert search.best_params_ == {"estimator__C": 1.0, "estimator__gamma": 0.1}
    ridge = BoundSearch(OutputCodeClassifier(Ridge()), {"estimator__alpha": [0.1, 1.0, 0.3]})
    assert ridge.fit(heaps, np.repeat([0, 1, 2], 10)).best_params_ == {"estimator__alpha": 1.0}


def test_one_code_for_all_candidates_whatever_the_seed():
    search = BoundSearch(clone(SVM).set_params(random_state=None), {"estimator__gamma": [1.0] * 4}).fit(X, names)
    assert len(set(search.cv_results_["loo_error"])) == 1
    assert search.best_estimator_.random_state is None


def test_a_kernel_matrix_gives_the_same_choice():
    gamma = 1.0
    precomputed = clone(SVM).set_params(estimator__kernel="precomputed")
    direct = clone(SVM).set_params(estimator__gamma=gamma)
    weight = np.tile([1.0, 0.0, 2.0], 30)[: len(X)]
    grid = {"estimator__C": [0.1, 1.0, 10.0]}
    for w in (None, weight):
        ours, theirs = BoundSearch(precomputed, grid), BoundSearch(direct, grid)
        K = rbf_kernel(X, gamma=gamma)
        ours.fit(K, names, w)
        theirs.fit(X, names, w)
        assert ours.cv_results_["loo_error"] == pytest.approx(theirs.cv_results_["loo_error"])
        assert np.array_equal(ours.predict(K), theirs.predict(X))


def test_ridge_is_judged_by_its_exact_error():
    Xi, yi = load_iris(return_X_y=True)
    Xi, yi = Xi[::5], yi[::5]
    model = OutputCodeClassifier(Ridge(), code="all-pairs", decoder="loss")
    alphas = [0.01, 100.0]
    search = BoundSearch(model, {"estimator__alpha": alphas}).fit(Xi, yi)
    everyone = np.arange(len(yi))
    for alpha, error in zip(alphas, search.cv_results_["loo_error"], strict=True):
        wrong = [
            clone(model)
            .set_params(estimator__alpha=alpha)
            .fit(Xi[everyone != i], yi[everyone != i])
            .predict(Xi[[i]])[0]
            != yi[i]
            for i in everyone
        ]
        assert error == pytest.approx(np.mean(wrong))
    assert set(search.cv_results_["loo_kind"]) == {"exact"}


def test_a_free_bias_is_said_to_be_an_estimate():
    free = clone(SVM).set_params(estimator__bias="free")
    with pytest.warns(UserWarning, match="estimate") as said:
        search = BoundSearch(free, GRID).fit(X, names)
    assert len(said) == 1
    assert set(search.cv_results_["loo_kind"]) == {"estimate"}
    with pytest.warns(UserWarning, match="semi-definite") as said:
        search = BoundSearch(SVM, {"estimator__kernel": ["sigmoid", "linear"], "estimator__C": [0.1, 1.0]}).fit(
            X, names
        )
    assert len(said) == 1
    assert search.cv_results_["loo_kind"].tolist() == ["estimate", "bound"] * 2


def test_it_stands_in_pipelines_and_in_cross_validation():
    search = BoundSearch(SVM, {"estimator__C": [1.0, 10.0]})
    assert is_classifier(search)
    folds = list(StratifiedKFold(3).split(X, names))
    scores = cross_val_score(make_pipeline(StandardScaler(), search), X, names, cv=folds)
    for score, (train, test) in zip(scores, folds, strict=True):
        scaler = StandardScaler().fit(X[train])
        alone = clone(search).fit(scaler.transform(X[train]), names[train])
        assert score == alone.score(scaler.transform(X[test]), names[test])
    assert not hasattr(search, "predict_proba")
    kept = BoundSearch(SVM, GRID, refit=False).fit(X, names)
    assert not hasattr(kept, "best_estimator_")
    assert kept.best_params_ == BoundSearch(SVM, GRID).fit(X, names).best_params_
    assert not hasattr(kept, "predict")


def test_a_name_has_no_parameters():
    named = OutputCodeClassifier("kernel-svm")
    with pytest.raises(ValueError, match=r"estimator='kernel-svm', which is a name; pass an instance"):
        BoundSearch(named, {"estimator__gamma": [1.0]}).fit(X, names)
    with pytest.warns(UserWarning, match="estimate"):
        BoundSearch(named, {"code": ["one-vs-all"]}).fit(X, names)


def test_what_cannot_be_judged_is_refused():
    for estimator in (SVC(), OutputCodeClassifier(SVC()), make_pipeline(StandardScaler(), SVM)):
        with pytest.raises(ValueError, match="no leave-one-out error after one training"):
            BoundSearch(estimator, {}).fit(X, names)
    with pytest.raises(ValueError, match=r"param_grid=\[\] holds no candidate"):
        BoundSearch(SVM, []).fit(X, names)
    with pytest.raises(ValueError, match="increases for large margins"):
        BoundSearch(clone(SVM).set_params(decoder="squared"), {}).fit(X, names)


def test_several_labels_a_row_are_refused_before_the_training(monkeypatch):
    monkeypatch.setattr(KernelSVM, "fit_columns", lambda *args, **options: pytest.fail("it was trained"))
    labels = np.stack([names == "bari", X[:, 0] > 0.5], axis=1).astype(int)
    with pytest.raises(ValueError, match="y is multilabel"):
        BoundSearch(OutputCodeClassifier(KernelSVM(bias="folded"), code="one-vs-all"), {}).fit(X, labels)


def test_memory_does_not_change_what_is_found():
    wide = np.hstack([X, X, X])  # with this many features distances are kept
    model = OutputCodeClassifier(KernelSVM(bias="none", tol=1e-6, max_iter=20_000), code="one-vs-all")
    found = BoundSearch(model, {"estimator__cache_size": [2000, 0.02, 0.05]}).fit(wide, names).cv_results_["loo_error"]
    assert found == pytest.approx([leave_one_out(clone(model).fit(wide, names), wide, names).error] * 3)


def test_objects_in_the_grid_are_copied():
    given = KernelSVM(bias="folded", gamma=1.0, tol=1e-8)
    costs = [0.001, 1.0, 100.0]
    search = BoundSearch(SVM, {"estimator": [given], "estimator__C": costs}).fit(X, names)
    alone = BoundSearch(clone(SVM).set_params(estimator=given), {"estimator__C": costs}).fit(X, names)
    assert search.cv_results_["loo_error"] == pytest.approx(alone.cv_results_["loo_error"])
    assert len(set(search.cv_results_["loo_error"])) > 1
    assert given.C == 1.0
    assert search.best_estimator_.estimator.C == search.best_params_["estimator__C"]


def test_seeds_in_the_grid_are_used():
    model = clone(SVM).set_params(code=Dense(length=4))
    seeds = [0, 1, 2, 3]
    search = BoundSearch(model, {"random_state": seeds}).fit(X, names)
    alone = [clone(model).set_params(random_state=seed).fit(X, names) for seed in seeds]
    assert search.cv_results_["loo_error"] == pytest.approx([leave_one_out(one, X, names).error for one in alone])
    assert len(set(search.cv_results_["loo_error"])) > 1
    best = search.best_estimator_
    assert np.array_equal(best.code_matrix_, clone(best).fit(X, names).code_matrix_)


def test_different_learners_in_one_grid():
    learners = [Ridge(), KernelSVM(bias="folded", tol=1e-8), Ridge(10.0)]
    search = BoundSearch(SVM, {"estimator": learners}).fit(X, names)
    alone = [clone(SVM).set_params(estimator=learner).fit(X, names) for learner in learners]
    assert search.cv_results_["loo_error"] == pytest.approx([leave_one_out(one, X, names).error for one in alone])
    assert search.cv_results_["loo_kind"].tolist() == ["exact", "bound", "exact"]
