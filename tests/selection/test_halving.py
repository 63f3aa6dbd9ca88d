"""Halving searches: scikit-learn's, with the same candidates, folds and seed, are the oracle."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.stats import loguniform
from sklearn.datasets import load_iris, load_wine, make_multilabel_classification
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import RandomForestClassifier
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.model_selection import HalvingGridSearchCV, HalvingRandomSearchCV, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from outputcodes import AdaBoostMH, OutputCodeClassifier
from outputcodes.selection import HalvingRandomSearch, HalvingSearch

IRIS, WINE = load_iris(return_X_y=True), load_wine(return_X_y=True)
FOLDS = StratifiedKFold(3, shuffle=True, random_state=0)
RIDGE = OutputCodeClassifier("ridge", code="one-vs-all", random_state=0)
SCALED = make_pipeline(StandardScaler(), RIDGE)
ALPHAS = [1e-3, 0.1, 1.0, 10.0, 100.0, 1e3, 1e4, 1e5, 1e6, 1e7]


def mean_score_of_the_label(model, X, y):
    """Hardly ever equal for two candidates: of those that are, it depends on the processor which scikit-learn keeps."""
    scores = model.decision_function(X)
    return float(np.tanh(scores[np.arange(len(y)), np.searchsorted(model.classes_, y)]).mean())


CONTINUOUS = {"scoring": mean_score_of_the_label, "cv": FOLDS, "random_state": 0}
COUNTS = (
    "n_resources_",
    "n_candidates_",
    "n_remaining_candidates_",
    "min_resources_",
    "max_resources_",
    "n_iterations_",
    "n_required_iterations_",
    "n_possible_iterations_",
    "n_splits_",
)


def named(value):
    return str(value) if isinstance(value, dict) else "iris" if value is IRIS else "wine"


def assert_same(ours, theirs):
    """All that was counted, evaluated and chosen is the same; times differ."""
    assert_same_counts(ours, theirs)
    assert set(ours.cv_results_) == set(theirs.cv_results_)
    assert str(ours.cv_results_["params"]) == str(theirs.cv_results_["params"])
    for name, expected in theirs.cv_results_.items():
        if not name.endswith("_time") and not name.startswith("param"):
            assert_allclose(ours.cv_results_[name], expected, rtol=1e-6, atol=1e-9, err_msg=name)
    assert ours.best_index_ == theirs.best_index_
    assert ours.best_params_ == theirs.best_params_
    assert ours.best_score_ == pytest.approx(theirs.best_score_)


def assert_same_counts(ours, theirs):
    assert {name: getattr(ours, name) for name in COUNTS} == {name: getattr(theirs, name) for name in COUNTS}
    for name in ("iter", "n_resources"):
        assert_array_equal(ours.cv_results_[name], theirs.cv_results_[name])


@pytest.mark.parametrize("aggressive", [False, True])
@pytest.mark.parametrize(
    ("data", "options"),
    [
        (IRIS, {}),
        (WINE, {}),
        (IRIS, {"min_resources": "smallest", "factor": 2}),
        (WINE, {"min_resources": 60, "return_train_score": False}),
        (IRIS, {"max_resources": 60}),
        (WINE, {"max_resources": 100, "factor": 2.5}),
    ],
    ids=named,
)
def test_a_grid_is_halved_as_by_scikit_learn(data, options, aggressive):
    grid = {"outputcodeclassifier__estimator__alpha": ALPHAS}
    options = CONTINUOUS | options | {"aggressive_elimination": aggressive}
    ours, theirs = (kind(SCALED, grid, **options).fit(*data) for kind in (HalvingSearch, HalvingGridSearchCV))
    assert_same(ours, theirs)
    assert_allclose(ours.decision_function(data[0]), theirs.decision_function(data[0]))


def test_aggressive_elimination_repeats_the_first_size():
    """Ten candidates need three iterations, and 60 rows are enough for two."""
    options = CONTINUOUS | {"max_resources": 60}
    patient, aggressive = (
        HalvingSearch(RIDGE, {"estimator__alpha": ALPHAS}, aggressive_elimination=given, **options).fit(*IRIS)
        for given in (False, True)
    )
    assert (patient.n_resources_, patient.n_candidates_) == ([18, 54], [10, 4])
    assert (aggressive.n_resources_, aggressive.n_candidates_) == ([18, 18, 54], [10, 4, 2])
    assert (aggressive.n_required_iterations_, aggressive.n_possible_iterations_) == (3, 2)


@pytest.mark.parametrize(
    ("data", "options"),
    [
        (WINE, {}),
        (IRIS, {"factor": 2}),
        (WINE, {"n_candidates": 11, "min_resources": "exhaust"}),
        (IRIS, {"n_candidates": 11, "aggressive_elimination": True}),
        (WINE, {"n_candidates": 9, "min_resources": 50, "aggressive_elimination": True, "factor": 2}),
        # A generator draws the candidates first, then the rows.
        (IRIS, {"random_state": "generator"}),
    ],
    ids=named,
)
def test_drawn_candidates_are_halved_as_by_scikit_learn(data, options):
    drawn, found = {"outputcodeclassifier__estimator__alpha": loguniform(1e-3, 1e6)}, []
    for kind in (HalvingRandomSearch, HalvingRandomSearchCV):
        seed = np.random.RandomState(3) if options.get("random_state") == "generator" else 1
        found.append(kind(SCALED, drawn, **CONTINUOUS | options | {"random_state": seed}).fit(*data))
    assert_same(*found)


def test_lists_with_fewer_candidates_than_are_to_be_drawn():
    drawn, found = {"estimator__alpha": ALPHAS[:4]}, []
    for kind in (HalvingRandomSearch, HalvingRandomSearchCV):
        with pytest.warns(UserWarning, match="total space of parameters 4 is smaller"):
            found.append(kind(RIDGE, drawn, n_candidates=9, **CONTINUOUS).fit(*IRIS))
    assert_same(*found)


def test_rounds_are_a_resource():
    options = {"resource": "n_rounds", "max_resources": 9, **CONTINUOUS}
    model, grid = AdaBoostMH(random_state=0), {"learning_rate": [0.1, 0.5, 1.0]}
    ours, theirs = (kind(model, grid, **options).fit(*WINE) for kind in (HalvingSearch, HalvingGridSearchCV))
    assert_same(ours, theirs)
    assert ours.n_resources_ == [3, 9]
    assert ours.best_params_["n_rounds"] == 9
    drawn = {"learning_rate": loguniform(0.1, 1.0)}
    ours, theirs = (kind(model, drawn, **options).fit(*WINE) for kind in (HalvingRandomSearch, HalvingRandomSearchCV))
    assert_same(ours, theirs)


def test_estimators_that_depend_on_the_order_of_rows():
    """All rows, too, are in the order in which scikit-learn draws them."""
    model, grid = RandomForestClassifier(3, random_state=0), {"max_depth": [1, 2, 5]}
    ours, theirs = (
        kind(model, grid, **CONTINUOUS | {"scoring": "accuracy"}).fit(*WINE)
        for kind in (HalvingSearch, HalvingGridSearchCV)
    )
    assert ours.n_resources_[-1] > 170
    assert_same(ours, theirs)


@pytest.mark.parametrize(("count", "factor"), [(243, 3), (27, 3), (1, 3), (8, 2)])
def test_powers_of_the_factor(count, factor):
    """Logarithms are rounded in the same way: log(243, 3) is less than 5."""
    grid, options = (
        {"random_state": list(range(count))},
        {"factor": factor, "cv": 2, "min_resources": 2, "random_state": 0},
    )
    ours, theirs = (
        kind(DummyClassifier(), grid, **options).fit(*IRIS) for kind in (HalvingSearch, HalvingGridSearchCV)
    )
    assert_same_counts(ours, theirs)


def test_multilabel_samples():
    """With "smallest", which scikit-learn refuses here, a label has two classes."""
    X, Y = make_multilabel_classification(n_samples=150, n_classes=3, allow_unlabeled=False, random_state=0)
    model, grid = OutputCodeClassifier("ridge", code="one-vs-all"), {"estimator__alpha": [0.1, 10.0, 1e3]}
    options = {"min_resources": 40, "random_state": 0, "cv": 3}
    ours, theirs = (kind(model, grid, **options).fit(X, Y) for kind in (HalvingSearch, HalvingGridSearchCV))
    assert_same_counts(ours, theirs)
    for labels in (Y, sparse.csr_array(Y)):
        assert HalvingSearch(model, grid, **options | {"min_resources": "smallest"}).fit(X, labels).min_resources_ == 12


def test_of_equal_candidates_the_first_are_kept():
    grid = {"random_state": list(range(20))}
    search = HalvingSearch(DummyClassifier(), grid, random_state=0).fit(*IRIS)
    last = search.cv_results_["params"][-search.n_candidates_[-1] :]
    assert [one["random_state"] for one in last] == list(range(search.n_candidates_[-1]))
    assert search.best_params_ == last[0]


def test_a_function_chooses_the_candidate_to_fit():
    """As documented by scikit-learn, which accepts the function but does not call it."""
    search = HalvingSearch(RIDGE, {"estimator__alpha": ALPHAS}, refit=lambda results: 2, **CONTINUOUS).fit(*IRIS)
    assert search.best_index_ == 2
    assert search.best_params_ == {"estimator__alpha": ALPHAS[2]}
    assert search.best_estimator_.get_params()["estimator__alpha"] == ALPHAS[2]
    assert search.best_score_ == search.cv_results_["mean_test_score"][2]
    named = HalvingSearch(RIDGE, {"estimator__alpha": ALPHAS}, refit="score", **CONTINUOUS).fit(*IRIS)
    assert named.best_score_ == named.cv_results_["mean_test_score"][named.best_index_]
    kept = HalvingSearch(RIDGE, {"estimator__alpha": ALPHAS}, refit=False, **CONTINUOUS).fit(*IRIS)
    assert kept.best_params_ == named.best_params_
    assert not hasattr(kept, "best_estimator_")


def test_folds_may_be_shuffled_without_a_seed():
    search = HalvingSearch(RIDGE, {"estimator__alpha": ALPHAS[:4]}, cv=StratifiedKFold(3, shuffle=True)).fit(*IRIS)
    assert search.n_resources_ == [50, 150]


def test_the_own_space_is_halved_without_distributions():
    search = HalvingRandomSearch(RIDGE, n_candidates=4, random_state=0).fit(*IRIS)
    assert search.n_candidates_[0] == 4
    assert list(search.best_params_) == ["estimator__alpha"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"resource": "n_rounds"}, "max_resources='auto'"),
        (
            {"resource": "n_trees", "max_resources": 9},
            "resource='n_trees' must be 'n_samples' or a parameter of AdaBoostMH",
        ),
        ({"resource": "learning_rate", "max_resources": 9}, "resource='learning_rate' is one of the searched"),
        ({"factor": 1}, "factor=1 must be a number above 1"),
        ({"min_resources": "most"}, "min_resources='most' must be an integer"),
        ({"min_resources": 151}, "min_resources=151 must be at most max_resources, 150"),
        ({"min_resources": "smallest", "max_resources": 20}, "min_resources='smallest', 30 here, must be at most"),
        ({"max_resources": 0}, "max_resources=0 must be an integer"),
        ({"max_resources": 151}, "max_resources=151 is more than the 150 rows"),
        ({"aggressive_elimination": "yes"}, "aggressive_elimination='yes' must be True or False"),
        ({"scoring": ["accuracy", "f1_macro"]}, "has several metrics"),
        ({"scoring": lambda model, X, y: {"a": 1.0, "b": 2.0}}, "returns several metrics"),
    ],
)
def test_messages(options, message):
    with pytest.raises(ValueError, match=message):
        HalvingSearch(AdaBoostMH(2), {"learning_rate": [0.5, 1.0]}, **options).fit(*IRIS)


def test_messages_on_the_number_of_candidates():
    drawn = {"learning_rate": [0.5, 1.0]}
    with pytest.raises(ValueError, match="depend on each other"):
        HalvingRandomSearch(AdaBoostMH(2), drawn, min_resources="exhaust").fit(*IRIS)
    with pytest.raises(ValueError, match="n_candidates=0 must be an integer of at least 1, or 'exhaust'"):
        HalvingRandomSearch(AdaBoostMH(2), drawn, n_candidates=0).fit(*IRIS)
    with pytest.raises(ValueError, match="no candidates"):
        HalvingSearch(AdaBoostMH(2), []).fit(*IRIS)
    with pytest.raises(ValueError, match="Unknown label type"):
        HalvingSearch(AdaBoostMH(2), drawn, cv=FOLDS.split(*IRIS)).fit(IRIS[0], IRIS[0][:, 0] / 7)
