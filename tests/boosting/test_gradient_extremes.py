"""GradientBoost at the edges of what it accepts: huge weights, tiny penalties, and fits that fail."""

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError

from outputcodes.boosting import GradientBoost
from outputcodes.direct import DecisionTree

X, y = load_iris(return_X_y=True)


@pytest.mark.parametrize(
    ("model", "parameters"),
    [
        (GradientBoost(5, random_state=0), {"n_rounds": 0}),
        (GradientBoost(5, random_state=0), {"class_weight": {0: -1.0}}),
        (DecisionTree(), {"categorical_features": [7]}),
    ],
)
def test_a_fit_that_fails_leaves_no_trees_for_other_features(model, parameters):
    model.fit(X, y)
    with pytest.raises(ValueError, match=str(next(iter(parameters)))):
        model.set_params(**parameters).fit(X[:, :2], y)
    with pytest.raises(NotFittedError):
        model.predict(X[:, :2])


def test_a_warm_start_that_fails_keeps_its_trees():
    model = GradientBoost(5, warm_start=True, random_state=0).fit(X, y)
    F = model.decision_function(X)
    with pytest.raises(ValueError, match="n_rounds=2 must be at least 5"):
        model.set_params(n_rounds=2).fit(X, y)
    with pytest.raises(ValueError, match="max_leaves=1"):
        model.set_params(n_rounds=7, max_leaves=1).fit(X, y)
    np.testing.assert_array_equal(model.decision_function(X), F)


def test_the_score_of_labels_of_either_sign():
    Y = np.column_stack([y == 0, y == 2])
    model, signed = (GradientBoost(5, random_state=0).fit(X, some) for some in (Y.astype(int), 2 * Y - 1))
    assert signed.score(X, 2 * Y - 1) == model.score(X, Y.astype(int)) > 0.9


EXTREME = [{"l2": 1e-60}, {"l2": 1e300}, {"max_depth": 10**30}, {"min_rows": 10**30}]


@pytest.mark.parametrize(
    ("labels", "parameters"),
    [
        *((np.column_stack([y == 0, y == 1]).astype(int), one) for one in EXTREME),
        *((y, one) for one in [*EXTREME, {"class_weight": {0: 1e100, 1: 1e-100}}]),
    ],
)
@pytest.mark.parametrize("weight", [np.geomspace(1e-100, 1e100, 150), np.r_[1e100, np.ones(149)], np.full(150, 1e-310)])
@pytest.mark.filterwarnings("ignore:GradientBoost found no question")
def test_any_weight_penalty_and_limit_gives_probabilities(labels, parameters, weight):
    P = GradientBoost(5, **parameters, random_state=0).fit(X, labels, weight).predict_proba(X)
    assert np.isfinite(P).all()
    assert ((P >= 0) & (P <= 1)).all()


def test_limits_beyond_64_bits_are_those_of_64_bits():
    far = GradientBoost(3, max_depth=10**30, random_state=0).fit(X, y)
    without = GradientBoost(3, random_state=0).fit(X, y)
    np.testing.assert_array_equal(far.decision_function(X), without.decision_function(X))


@pytest.mark.parametrize(
    ("parameters", "weight", "message"),
    [
        ({"class_weight": {0: 1e308}}, None, "class_weight=.* must hold positive numbers only, from 1e-100 to 1e"),
        ({"class_weight": {0: "x"}}, None, "class_weight={0: 'x'} must hold positive numbers only"),
        ({"class_weight": np.ones(3)}, None, "class_weight=.* must be 'balanced', a mapping"),
        ({"random_state": "x"}, None, "random_state='x' must be None, an integer"),
        ({}, ["a"] * 150, "sample_weight must hold numbers only"),
    ],
)
def test_what_cannot_be_a_weight_or_a_seed_is_refused_by_name(parameters, weight, message):
    with pytest.raises(ValueError, match=message):
        GradientBoost(2, **parameters).fit(X, y, weight)
