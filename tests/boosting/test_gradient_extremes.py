"""Trees at the edges of what they accept: huge weights and limits, tiny penalties, and warm starts that fail."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris

from outputcodes.boosting import GradientBoost
from outputcodes.direct import DecisionTree
from outputcodes.learners import ColumnTree

X, y = load_iris(return_X_y=True)


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


def test_a_new_category_has_about_the_share_of_its_class_whatever_its_label():
    rng = np.random.default_rng(0)
    category = rng.integers(0, 50, 3000)
    y = (rng.random(3000) < np.clip(0.8 + 0.25 * rng.normal(size=50)[category], 0.02, 0.98)).astype(int)
    for labels, of_y in ((y, 1), (1 - y, 0)):
        model = GradientBoost(categorical_features=[0], random_state=0).fit(category[:, None], labels)
        for new in (np.nan, 77.0):
            assert abs(model.predict_proba([[new]])[0, of_y] - y.mean()) < 0.2


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
    model = GradientBoost(5, **parameters, random_state=0).fit(X, labels, weight)
    P = model.predict_proba(X)
    assert np.isfinite(P).all()
    assert ((P >= 0) & (P <= 1)).all()
    if "min_rows" in parameters:
        assert model.n_rounds_ == 0
    if parameters == {"l2": 1e300}:  # no leaf moves
        np.testing.assert_array_equal(P, P[:1].repeat(len(P), axis=0))


def scores(model, **parameters):
    return model.set_params(**parameters).fit(X, y == 1).decision_function(X)


@pytest.mark.parametrize("model", [GradientBoost(3, random_state=0), ColumnTree()])
@pytest.mark.parametrize("far", [2**63, 10**30])
def test_depths_beyond_64_bits_are_no_limit(model, far):
    np.testing.assert_array_equal(scores(clone(model), max_depth=far), scores(clone(model), max_depth=None))


@pytest.mark.parametrize("far", [2**63, 10**30])
def test_regions_beyond_64_bits_are_not_split(far):
    assert np.ptp(scores(ColumnTree(), min_region=far)) == 0
    assert DecisionTree(min_region=far).fit(X, y).n_leaves_ == 1
    assert DecisionTree(max_depth=far).fit(X, y).depth_ == DecisionTree().fit(X, y).depth_


@pytest.mark.parametrize("small", [1e-101, 1e-150])
def test_balanced_weights_make_up_for_small_weights_of_rows(small):
    weight = np.where(y == 0, small, 1.0)
    few = GradientBoost(3, class_weight="balanced", random_state=0).fit(X, y, weight)
    plain = GradientBoost(3, random_state=0).fit(X, y)
    np.testing.assert_array_equal(few.predict(X), plain.predict(X))
    with pytest.raises(ValueError, match="scale sample_weight up"):
        few.fit(X, y, np.where(y == 0, 1e-310, 1e90))


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
