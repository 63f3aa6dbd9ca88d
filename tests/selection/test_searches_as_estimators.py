"""The searches pass scikit-learn's common checks, as its own searches do."""

import inspect
import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.decomposition import PCA
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.model_selection import (
    GridSearchCV,
    HalvingGridSearchCV,
    HalvingRandomSearchCV,
    RandomizedSearchCV,
    cross_val_score,
)
from sklearn.utils.estimator_checks import parametrize_with_checks

from outputcodes import AdaBoostMH, OutputCodeClassifier
from outputcodes.learners import KernelSVM
from outputcodes.selection import GridSearch, HalvingRandomSearch, HalvingSearch, RandomSearch

PEERS = [
    (GridSearch, GridSearchCV),
    (RandomSearch, RandomizedSearchCV),
    (HalvingSearch, HalvingGridSearchCV),
    (HalvingRandomSearch, HalvingRandomSearchCV),
]
RIDGE = OutputCodeClassifier("ridge", code="one-vs-all", random_state=0)


@parametrize_with_checks(
    [
        GridSearch(RIDGE, {"estimator__alpha": [1.0, 10.0]}, cv=2, error_score="raise"),
        RandomSearch(RIDGE, {"estimator__alpha": [1.0, 10.0]}, n_iter=2, cv=2, random_state=0, error_score="raise"),
        GridSearch(OutputCodeClassifier(KernelSVM()), {"estimator__C": [1.0, 10.0]}, cv=2, error_score="raise"),
        GridSearch(AdaBoostMH(random_state=0), {"n_rounds": [2, 5]}, cv=2, error_score="raise"),
        # One iteration, on all rows: a class may be absent from some of them.
        HalvingSearch(RIDGE, {"estimator__alpha": [1.0, 10.0]}, cv=2, random_state=0, error_score="raise"),
        HalvingRandomSearch(
            RIDGE,
            {"estimator__alpha": [1.0, 10.0]},
            n_candidates=2,
            min_resources="exhaust",
            cv=2,
            random_state=0,
            error_score="raise",
        ),
    ],
    # The labels of rows without weight are in the folds, and a training part is refused as the classifier refuses it.
    expected_failed_checks=lambda estimator: {"check_classifiers_one_label_sample_weights": "refused in a fold"},
)
def test_common_checks(estimator, check):
    check(estimator)


def test_data_frames_are_split_and_settled_by_rows():
    """γ = "scale" is that of the training part, whatever holds the rows."""
    pandas = pytest.importorskip("pandas")
    X, y = load_iris(return_X_y=True)
    frame = pandas.DataFrame(X, columns=list("abcd"), index=np.arange(150) + 1000)
    grid = {"estimator__C": [1.0, 10.0]}
    searches = [GridSearch(OutputCodeClassifier(KernelSVM()), grid, cv=3).fit(rows, y) for rows in (X, frame)]
    scores = [search.cv_results_["mean_test_score"] for search in searches]
    np.testing.assert_array_equal(*scores)
    assert list(searches[1].feature_names_in_) == list("abcd")


@pytest.mark.parametrize("kind", [GridSearch, RandomSearch, HalvingSearch, HalvingRandomSearch])
def test_a_search_can_be_cloned_saved_and_validated(kind):
    X, y = load_iris(return_X_y=True)
    options = {"n_iter": 2} if kind is RandomSearch else {"n_candidates": 2} if kind is HalvingRandomSearch else {}
    search = kind(RIDGE, {"estimator__alpha": [0.1, 10.0]}, cv=3, **options)
    assert np.isfinite(cross_val_score(clone(search), X, y, cv=3)).all()
    fitted = pickle.loads(pickle.dumps(search.fit(X, y)))
    np.testing.assert_array_equal(fitted.predict(X), search.predict(X))
    np.testing.assert_array_equal(fitted.classes_, [0, 1, 2])
    assert fitted.n_features_in_ == 4


@pytest.mark.parametrize(("ours", "theirs"), PEERS, ids=lambda kind: kind.__name__)
def test_every_parameter_of_scikit_learn_is_accepted_with_its_default(ours, theirs):
    own, expected = (inspect.signature(kind).parameters for kind in (ours, theirs))
    assert set(expected) <= set(own)
    # Without a grid, ours search the space of the estimator.
    optional = {"param_grid", "param_distributions"}
    for name in set(expected) - optional:
        assert str(own[name].default) == str(expected[name].default), name
        assert own[name].kind == expected[name].kind, name
    public = {name for name in dir(theirs) if not name.startswith("_")}
    assert public - set(dir(ours)) <= {"set_callbacks"}


def test_other_methods_of_the_best_estimator():
    """`transform`, `inverse_transform` and `score_samples` are there where the best estimator has them."""
    X, y = load_iris(return_X_y=True)
    others = ("transform", "inverse_transform", "score_samples")
    ridge = GridSearch(RIDGE, {"estimator__alpha": [1.0]}, cv=3)
    for search in (ridge, clone(ridge).fit(X, y)):
        assert not any(hasattr(search, name) for name in others)
    reduced = PCA(2)
    ours, theirs = (kind(reduced, {"n_components": [1, 2]}, cv=3).fit(X, y) for kind in (GridSearch, GridSearchCV))
    for name in others:
        Z = theirs.transform(X) if name == "inverse_transform" else X
        np.testing.assert_allclose(getattr(ours, name)(Z), getattr(theirs, name)(Z))
    assert hasattr(GridSearch(reduced, {}), "transform")
    assert not hasattr(GridSearch(reduced, {}, refit=False), "transform")
