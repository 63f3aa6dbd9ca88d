"""Searches that share work: scikit-learn's searches with the same folds are the oracle."""

import numpy as np
import pytest
import sklearn
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.stats import loguniform
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.datasets import load_digits, load_iris, make_multilabel_classification
from sklearn.exceptions import FitFailedWarning
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    LeaveOneOut,
    RandomizedSearchCV,
    StratifiedKFold,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from outputcodes import (
    AdaBoostMH,
    AdaBoostMO,
    AdaBoostMR,
    AdaBoostOC,
    DecisionTree,
    GradientBoost,
    MulticlassSVC,
    OutputCodeClassifier,
    SmoothBoost,
)
from outputcodes.codes import Designed
from outputcodes.learners import BoostedStumps, BoostedTrees, ColumnTree, KernelSVM, LinearSVM, Logistic, Ridge
from outputcodes.selection import GridSearch, RandomSearch
from outputcodes.selection.searches.plan import paths

X, y = load_digits(return_X_y=True)
X, y = X[:400] / 16, y[:400]
FOLDS = StratifiedKFold(3, shuffle=True, random_state=0)

DECODED = {"decoder": ["loss", "hamming"]}


def ova(learner, **options):
    return OutputCodeClassifier(learner, code="one-vs-all", random_state=0, **options)


class Counting(TransformerMixin, BaseEstimator):
    """Counts how often it is fitted."""

    fits = 0

    def __init__(self, scale=1.0):
        self.scale = scale

    def fit(self, X, y=None):
        type(self).fits += 1
        self.n_ = len(X)
        return self

    def transform(self, X):
        return X * self.scale


CASES = {
    "kernel": (ova(KernelSVM()), {"estimator__gamma": [0.02, 0.1], "estimator__C": [1, 10]}),
    "kernel-pairs": (
        OutputCodeClassifier("kernel-svm"),
        {"estimator__gamma": [0.02, 0.1], "estimator__C": [0.5, 8], "decoder": ["loss", "vote"]},
    ),
    "kernel-scale": (ova(KernelSVM()), {"estimator__gamma": ["scale", "auto", 0.1]}),
    "kernel-linear": (OutputCodeClassifier(KernelSVM(kernel="linear")), {"estimator__C": [0.1, 1]}),
    "ridge": (ova(Ridge()), {"estimator__alpha": [0.01, 1, 100]}),
    "ridge-pairs": (OutputCodeClassifier(Ridge()), {"estimator__alpha": [0.01, 1, 100]}),
    "ridge-dense": (OutputCodeClassifier(Ridge(), code="dense", random_state=1), {"estimator__alpha": [0.01, 1]}),
    "logistic": (ova(Logistic(tol=1e-8)), {"estimator__C": [0.1, 1, 10]}),
    "linear": (
        OutputCodeClassifier(LinearSVM(tol=1e-8)),
        {"estimator__C": [0.1, 1], "column_weight": ["none", "balanced"]},
    ),
    "several-codes": (OutputCodeClassifier(Ridge(), random_state=0), {"code": ["dense", "one-vs-all", Designed(7)]}),
    "stumps": (
        ova(BoostedStumps()),
        {"estimator__n_rounds": [3, 20], **DECODED},
    ),
    "boosted-trees": (
        ova(BoostedTrees(validation_fraction=None)),
        {"estimator__n_rounds": [3, 12], "estimator__max_leaves": [4, 8]},
    ),
    "boosted-trees-held-out": (ova(BoostedTrees(12)), {"estimator__n_rounds": [3, 12]}),
    "tree": (ova(ColumnTree()), {"estimator__min_region": [1, 10]}),
    "foreign": (
        ova(LogisticRegression()),
        {"estimator__C": [0.1, 1], **DECODED},
    ),
    "probability": (ova(Ridge()), {"probability": [None, "likelihood", "softmax"]}),
    "mh": (AdaBoostMH(random_state=0), {"n_rounds": [3, 20], "decoder": ["exponential", "hamming"]}),
    "mo": (AdaBoostMO("dense", random_state=0), {"n_rounds": [3, 20], "learning_rate": [0.5, 1.0]}),
    "mo-watched": (AdaBoostMO(validation_fraction=0.2, random_state=0), {"n_rounds": [3, 20]}),
    "mr": (AdaBoostMR(random_state=0), {"n_rounds": [3, 20]}),
    "oc": (AdaBoostOC(random_state=0), {"n_rounds": [3, 20], "decoder": ["linear", "hamming"]}),
    "smooth": (SmoothBoost(random_state=0), {"n_rounds": [3, 10]}),
    "smooth-guided": (SmoothBoost(coding="probabilistic", random_state=0), {"n_rounds": [3, 10]}),
    "gradient": (GradientBoost(validation_fraction=None, random_state=0), {"n_rounds": [3, 12], "max_leaves": [4, 8]}),
    "decision-tree": (DecisionTree(), {"min_region": [1, 10]}),
    "multiclass-svc": (MulticlassSVC(), {"C": [1, 10]}),
    "other": (LogisticRegression(), {"C": [0.1, 1]}),
    "pipeline": (
        make_pipeline(StandardScaler(), ova(KernelSVM())),
        {"standardscaler__with_std": [True, False], "outputcodeclassifier__estimator__C": [1, 10]},
    ),
    "pipeline-tree": (make_pipeline(StandardScaler(), AdaBoostMH(random_state=0)), {"adaboostmh__n_rounds": [3, 9]}),
}


def both(model, grid, X=X, y=y, params=None, **options):
    options = {"cv": FOLDS} | options
    ours = GridSearch(model, grid, **options).fit(X, y, **(params or {}))
    return ours, GridSearchCV(model, grid, **options).fit(X, y, **(params or {}))


def assert_same(ours, theirs, rows=1.0):
    """All results agree, scores up to a row of a fold."""
    assert set(ours.cv_results_) == set(theirs.cv_results_)
    for name, expected in theirs.cv_results_.items():
        found = ours.cv_results_[name]
        if name.endswith("_time"):
            assert (found >= 0).all()
        elif name.startswith("split"):
            assert_allclose(found, expected, atol=rows * 1.01 / (len(y) // 3), err_msg=name)
        elif name.startswith("param_"):
            assert found.dtype == expected.dtype
            assert_array_equal(found.mask, expected.mask)
            assert str(found) == str(expected)
    assert str(ours.cv_results_["params"]) == str(theirs.cv_results_["params"])
    assert ours.n_splits_ == theirs.n_splits_
    if "mean_test_score" in theirs.cv_results_ and hasattr(theirs, "best_score_"):
        assert theirs.cv_results_["mean_test_score"][ours.best_index_] >= theirs.best_score_ - 1.01 * rows / len(y)


@pytest.mark.parametrize("name", CASES)
def test_results_are_those_of_scikit_learn(name):
    ours, theirs = both(*CASES[name])
    # Solvers stop at their tolerance from another start; everything else is the same training.
    assert_same(ours, theirs, rows=1.0 if "kernel" in name or "pipeline" == name else 0.0)
    assert (ours.predict(X) == theirs.predict(X)).mean() > 0.99


def test_trainings_are_shared():
    C = [1, 10]
    models = [
        OutputCodeClassifier(KernelSVM(c, gamma=g), decoder=d) for c in C for g in (0.1, 0.2) for d in ("loss", "vote")
    ]
    (path,) = paths(list(enumerate(models)))
    assert [[len(one.readers) for one in segment] for segment in path.segments] == [[2, 2], [2, 2]]
    assert [one.model.estimator.C for one in path.segments[0]] == [10, 1]
    rounds = [AdaBoostMH(t) for t in (5, 50, 20)]
    (path,) = paths(list(enumerate(rounds)))
    assert path.segments[0][0].model.n_rounds == 50
    # Held-out rows decide how many rounds are kept: each number is a training of its own.
    assert len(paths(list(enumerate(AdaBoostMH(t, validation_fraction=0.2) for t in (5, 50))))) == 2
    assert len(paths(list(enumerate(OutputCodeClassifier(Ridge(), code=c) for c in ("dense", "sparse"))))) == 2


def test_a_search_prepares_and_trains_no_more_than_it_needs(monkeypatch):
    calls = {"prepare": 0, "fit": 0}
    prepare, fit_columns = KernelSVM.prepare, KernelSVM.fit_columns

    def counted_fit(self, *args, **options):
        calls["fit"] += 1
        return fit_columns(self, *args, **options)

    grams = set()

    def counted_prepare(self, X, like=None):
        data = prepare(self, X, like)
        grams.add(id(data.gram))
        calls.setdefault("grams", []).append(data.gram)
        return data

    monkeypatch.setattr(KernelSVM, "fit_columns", counted_fit)
    monkeypatch.setattr(KernelSVM, "prepare", counted_prepare)
    grid = {"estimator__C": [1, 10], "decoder": ["loss", "vote", "hamming", "linear"]}
    GridSearch(OutputCodeClassifier(KernelSVM(gamma=0.1)), grid, cv=3, refit=False).fit(X, y)
    assert calls["fit"] == 2 * 3
    assert len(grams) == 1


def test_first_steps_of_a_pipeline_are_fitted_once_per_fold():
    Counting.fits = 0
    model = make_pipeline(Counting(), ova(Ridge()))
    grid = {"outputcodeclassifier__estimator__alpha": [0.1, 1, 10], "counting__scale": [1.0, 2.0]}
    GridSearch(model, grid, cv=3, refit=False).fit(X, y)
    assert Counting.fits == 2 * 3


def test_every_decoder_is_read_from_the_margins_of_its_fold():
    decoders = ["loss", "hamming", "vote", "dag", "euclidean", "linear", "likelihood", "laplacian"]
    model = OutputCodeClassifier(LinearSVM(), random_state=0)
    search = GridSearch(model, {"decoder": decoders}, cv=FOLDS).fit(X, y)
    for s, (train, test) in enumerate(FOLDS.split(X, y)):
        expected = [
            sklearn.clone(model).set_params(decoder=d).fit(X[train], y[train]).score(X[test], y[test]) for d in decoders
        ]
        assert_array_equal(search.cv_results_[f"split{s}_test_score"], expected)


@pytest.mark.parametrize("scoring", ["accuracy", "f1_macro", "balanced_accuracy", "neg_log_loss"])
def test_scorers(scoring):
    model = ova(Ridge(), probability="softmax")
    assert_same(*both(model, {"estimator__alpha": [0.1, 10]}, scoring=scoring, return_train_score=True), rows=0)


def test_several_metrics_and_functions():
    model, grid = ova(Ridge()), {"estimator__alpha": [0.1, 10, 1000]}
    for scoring in (
        ["accuracy", "f1_macro"],
        {"a": "accuracy", "b": "f1_macro"},
        lambda m, X, y: {"a": m.score(X, y), "b": 1.0},
    ):
        refit = "accuracy" if isinstance(scoring, list) else "a"
        ours, theirs = both(model, grid, scoring=scoring, refit=refit)
        assert_same(ours, theirs, rows=0)
        assert ours.multimetric_
        assert ours.best_params_ == theirs.best_params_
        assert ours.score(X, y) == pytest.approx(theirs.score(X, y))
        with pytest.raises(ValueError, match="refit must be set to a scorer key"):
            GridSearch(model, grid, scoring=scoring).fit(X, y)
    ours, theirs = both(model, grid, refit=lambda results: int(np.argmin(results["mean_test_score"])))
    assert ours.best_index_ == theirs.best_index_
    assert not hasattr(ours, "best_score_")
    unfitted = GridSearch(model, grid, refit=False).fit(X, y)
    assert not hasattr(unfitted, "predict")
    assert unfitted.best_params_ == theirs.cv_results_["params"][unfitted.best_index_]


def test_failures_are_scored_or_raised():
    grid = {"estimator__C": [1, -1], "decoder": ["loss", "vote"]}
    model = ova(KernelSVM(gamma=0.1))
    with pytest.warns(FitFailedWarning, match=r"fits failed"), pytest.warns(UserWarning, match="non-finite"):
        search = GridSearch(model, grid, cv=3).fit(X, y)
    # A vote needs all pairs; C must be positive.
    assert_array_equal(np.isnan(search.cv_results_["mean_test_score"]), [False, True, True, True])
    assert search.best_params_ == {"estimator__C": 1, "decoder": "loss"}
    with pytest.warns(FitFailedWarning):
        assert GridSearch(model, grid, cv=3, error_score=0.0).fit(X, y).cv_results_["mean_test_score"][1] == 0
    with pytest.raises(ValueError, match="must be a positive number"):
        GridSearch(model, {"estimator__C": [1, -1]}, error_score="raise").fit(X, y)
    with pytest.raises(ValueError, match="All the 3 fits failed"):
        GridSearch(model, {"estimator__C": [-1]}, cv=3).fit(X, y)
    with pytest.raises(ValueError, match="Invalid parameter"):
        GridSearch(model, {"no": [1]}).fit(X, y)
    with pytest.raises(ValueError, match="judge='fold'"):
        GridSearch(model, {}, judge="fold").fit(X, y)


@pytest.mark.parametrize("wanted", [False, True])
@pytest.mark.parametrize("scoring", [None, ["accuracy", "neg_log_loss"]])
def test_the_first_candidate_may_fail(wanted, scoring):
    model, grid = ova(Logistic(), probability="softmax"), {"estimator__C": [-1, 1]}
    options = {"cv": 3, "return_train_score": wanted, "scoring": scoring, "refit": False}
    found = {}
    for kind in (GridSearch, GridSearchCV):
        with pytest.warns(FitFailedWarning), pytest.warns(UserWarning, match="non-finite"):
            found[kind] = kind(model, grid, **options).fit(X, y).cv_results_
    assert set(found[GridSearch]) == set(found[GridSearchCV])
    for name in found[GridSearch]:
        if "test_" in name or "train_" in name:
            assert_array_equal(np.isnan(found[GridSearch][name]), np.isnan(found[GridSearchCV][name]))


def test_weights_and_groups():
    weight = np.where(y < 5, 3.0, 0.5)
    weight[:20] = 0
    model, grid = ova(Ridge(), class_weight="balanced"), {"estimator__alpha": [0.1, 10, 1000]}
    assert_same(*both(model, grid, params={"sample_weight": weight}), rows=0)
    groups = np.arange(len(y)) % 7
    assert_same(*both(model, grid, params={"groups": groups}, cv=GroupKFold(3)), rows=0)
    tree = ova(ColumnTree())
    assert_same(*both(tree, {"estimator__min_region": [1, 9]}, params={"sample_weight": weight + 1}), rows=0)


def test_metadata_is_routed_by_request():
    weight = np.where(y < 5, 3.0, 0.5)
    with sklearn.config_context(enable_metadata_routing=True):
        model = ova(Ridge()).set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
        ours, theirs = both(model, {"estimator__alpha": [0.1, 1000]}, params={"sample_weight": weight})
        assert_same(ours, theirs, rows=0)
        assert ours.score(X, y, sample_weight=weight) == theirs.score(X, y, sample_weight=weight)
        silent = ova(Ridge())
        with pytest.raises(sklearn.exceptions.UnsetMetadataPassedError):
            GridSearch(silent, {}).fit(X, y, sample_weight=weight)


def test_other_kinds_of_rows():
    model, grid = ova(KernelSVM()), {"estimator__C": [1, 10]}
    assert_same(*both(model, grid, sparse.csr_array(X)))
    kernel = ova(KernelSVM(kernel="precomputed"))
    assert_same(*both(kernel, grid, X @ X.T))
    strings = np.array(list("abcdefghij"))[y]
    assert_same(*both(model, grid, y=strings))
    Z, Y = make_multilabel_classification(n_samples=400, n_classes=4, random_state=0)
    assert_same(*both(ova(Ridge()), {"estimator__alpha": [1, 10]}, Z, Y, cv=3), rows=0)
    ours, theirs = both(ova(Ridge()), {"estimator__alpha": [1, 10]}, Z, sparse.csr_array(Y), cv=3)
    assert_same(ours, theirs, rows=0)
    scaled, grid = make_pipeline(StandardScaler(), ova(Ridge())), {"outputcodeclassifier__estimator__alpha": [1, 10]}
    assert_same(*both(scaled, grid, Z, sparse.csr_array(Y), cv=3), rows=0)


def test_a_class_that_a_fold_lacks():
    """A class that is absent from the training part of a fold can't be predicted there."""
    labels = np.where(np.arange(len(y)) < 9, 77, y)
    cut = [(np.arange(50, 400), np.arange(50)), (np.arange(350), np.arange(350, 400))]
    for model in (ova(Ridge()), OutputCodeClassifier(KernelSVM(), decoder="vote")):
        ours, theirs = (kind(model, DECODED, cv=cut).fit(X, labels) for kind in (GridSearch, GridSearchCV))
        assert_array_equal(ours.cv_results_["split0_test_score"], theirs.cv_results_["split0_test_score"])
        assert_array_equal(ours.cv_results_["split1_test_score"], theirs.cv_results_["split1_test_score"])


def test_random_search_draws_the_same_candidates():
    model, drawn = (
        ova(Ridge()),
        {"estimator__alpha": loguniform(1e-3, 1e3), **DECODED},
    )
    options = {"n_iter": 6, "random_state": 3, "cv": FOLDS}
    assert_same(
        RandomSearch(model, drawn, **options).fit(X, y), RandomizedSearchCV(model, drawn, **options).fit(X, y), rows=0
    )


@pytest.mark.parametrize("code", ["one-vs-all", "all-pairs"])
def test_leaving_one_out_of_ridge_is_exact(code):
    A, b = load_iris(return_X_y=True)
    A, b = A[::3], b[::3]
    model, grid = (
        OutputCodeClassifier(Ridge(), code=code),
        {"estimator__alpha": [0.01, 1, 100], **DECODED},
    )
    ours = GridSearch(model, grid, judge="leave-one-out").fit(A, b)
    theirs = GridSearchCV(model, grid, cv=LeaveOneOut()).fit(A, b)
    assert_allclose(ours.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"])
    assert ours.best_params_ == theirs.best_params_
    assert set(ours.cv_results_["loo_kind"]) == {"exact"}


def test_leave_one_out_needs_a_closed_form():
    with pytest.raises(ValueError, match="no leave-one-out error"):
        GridSearch(OutputCodeClassifier(LinearSVM()), {}, judge="leave-one-out").fit(X, y)
    with pytest.raises(ValueError, match="scoring='f1_macro'"):
        GridSearch(OutputCodeClassifier(Ridge()), {}, judge="leave-one-out", scoring="f1_macro").fit(X, y)


def test_the_own_space_is_searched_without_a_grid():
    search = GridSearch(ova("ridge"), cv=3).fit(X, y)
    assert len(search.cv_results_["params"]) == 7
    assert RandomSearch(OutputCodeClassifier("kernel-svm"), n_iter=2, cv=2, random_state=0).fit(X, y).best_score_ > 0.9


def test_threads_change_nothing():
    model, grid = CASES["kernel-pairs"]
    one, two = (GridSearch(model, grid, cv=FOLDS, n_jobs=jobs).fit(X, y) for jobs in (None, 2))
    assert_array_equal(one.cv_results_["mean_test_score"], two.cv_results_["mean_test_score"])
    assert_array_equal(one.decision_function(X), two.decision_function(X))
