"""A fit that fails leaves the classifier as it was: its labels, features and model are of one fit."""

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.svm import LinearSVC

from outputcodes import OutputCodeClassifier
from outputcodes.boosting import AdaBoostMH, AdaBoostMO, AdaBoostMR, AdaBoostOC, GradientBoost, SmoothBoost
from outputcodes.direct import DecisionTree, MulticlassSVC
from outputcodes.learners import Ridge

X, y = load_iris(return_X_y=True)
OTHER_NAMES = np.array(["c", "a", "b"])[y]
BOOSTERS = [
    Booster(n_rounds=3, random_state=0) for Booster in (AdaBoostMH, AdaBoostMO, AdaBoostMR, AdaBoostOC, SmoothBoost)
]
FAILURES = [
    *((booster, {"categorical_features": [99]}, "categorical_features") for booster in BOOSTERS),
    *((booster, {"decoder": "zz"}, "zz") for booster in BOOSTERS),
    (GradientBoost(3, random_state=0), {"categorical_features": [99]}, "categorical_features"),
    (GradientBoost(3, random_state=0), {"class_weight": {"a": -1.0}}, "class_weight"),
    (DecisionTree(), {"categorical_features": [99]}, "categorical_features"),
    (MulticlassSVC("linear"), {"random_state": -1}, "random_state"),
    (OutputCodeClassifier(LinearSVC()), {"estimator__C": -1}, "'C' parameter"),
]


@pytest.mark.parametrize(("model", "parameters", "message"), FAILURES)
def test_a_fit_that_fails_changes_nothing(model, parameters, message):
    before = {name: parameter for name, parameter in model.get_params().items() if name in parameters}
    expected = model.fit(X, y).predict(X)
    with pytest.raises(ValueError, match=message):
        model.set_params(**parameters).fit(X[:, :2], OTHER_NAMES)
    model.set_params(**before)
    assert model.n_features_in_ == 4
    np.testing.assert_array_equal(model.predict(X), expected)
    assert model.fit(X[:, :2], OTHER_NAMES).predict(X[:, :2]).dtype.kind == "U"


def test_a_learner_whose_fit_fails_is_what_it_was():
    model = Ridge().fit(X, y == 0)
    expected = model.predict(X)
    with pytest.raises(ValueError, match="alpha"):
        model.set_params(alpha=-1.0).fit(X[:, :2], OTHER_NAMES == "c")
    assert model.n_features_in_ == 4
    np.testing.assert_array_equal(model.predict(X), expected)
