"""Boosters of other libraries in a race: they know categories as such, and folds may lack a class."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

from outputcodes.app import persistence
from outputcodes.selection import Race
from outputcodes.selection.race.contestants import CONTESTANTS, Entry, build
from outputcodes.selection.race.views import Kinds, as_categories, kinds_of, plain_table
from outputcodes.selection.renumbered import Renumbered

FOREIGN = ["lightgbm", "xgboost", "catboost"]


def made(n=300, seed=0):
    """A class is a set of categories that no threshold on their codes separates."""
    rng = np.random.default_rng(seed)
    letter = rng.choice(list("abcdefgh"), n)
    frame = pd.DataFrame({"letter": letter, "noise": rng.normal(size=n)})
    y = np.isin(letter, list("aceg")).astype(int) + 2 * (letter == "h")
    frame.loc[rng.choice(n, 20, replace=False), "noise"] = np.nan
    frame["noise"] = frame["noise"].where(rng.random(n) > 0.05)
    return frame, y


@pytest.fixture(params=FOREIGN)
def name(request):
    if not CONTESTANTS[request.param].is_here:
        pytest.skip(f"{request.param} is not installed")
    return request.param


def model_of(name, frame, **parameters):
    X = plain_table(frame)
    prefix = "classifier__estimator__" if name == "xgboost" else "classifier__"
    rounds = {"catboost": "iterations"}.get(name, "n_estimators")
    depth = {"lightgbm": ("num_leaves", 2), "xgboost": ("max_depth", 1), "catboost": ("depth", 1)}[name]
    given = {rounds: 20, depth[0]: depth[1]} | parameters
    entry = Entry(name, "", tuple((prefix + key, value) for key, value in given.items()))
    return build(CONTESTANTS[name], entry, X, kinds_of(X), 0), X


def test_categories_are_known_as_such(name):
    frame, y = made()
    model, X = model_of(name, frame)
    view = model[0].fit_transform(X)
    assert list(view.dtypes.map(str)) == ["float64", "int64" if name == "catboost" else "category"]
    model.fit(X, y)
    if name == "catboost":
        assert model[-1].get_cat_feature_indices() == [1]
    if name == "lightgbm":
        # One split of a stump asks for a set of categories.
        tree = model[-1].booster_.dump_model()["tree_info"][0]["tree_structure"]
        assert tree["decision_type"] == "=="
    if name == "xgboost":
        assert model[-1].estimator_.get_booster().feature_types == ["float", "c"]
    assert (np.ravel(model.predict(X)) == y).mean() > 0.95


def test_new_and_missing_categories_can_be_predicted(name):
    frame, y = made()
    model, X = model_of(name, frame)
    model.fit(X, y)
    strange = plain_table(pd.DataFrame({"letter": ["a", "never seen", None], "noise": [0.0, np.nan, 1.0]}))
    P = model.predict_proba(strange)
    assert P.shape == (3, 3)
    assert np.isfinite(P).all()


def test_they_can_be_saved_and_opened_without_trusting_more(name, tmp_path):
    frame, y = made()
    model, X = model_of(name, frame)
    persistence.save(model.fit(X, y), tmp_path / "model.skops")
    opened, _ = persistence.load(tmp_path / "model.skops")
    assert_array_equal(opened.predict_proba(X), model.predict_proba(X))


def test_a_fold_may_lack_a_class(name):
    frame, y = made()
    model, X = model_of(name, frame)
    kept = y != 1
    model.fit(X[kept], y[kept])
    assert_array_equal(model.classes_, [0, 2])
    P = model.predict_proba(X[kept])
    assert P.shape == (kept.sum(), 2)
    # What is right more often than not is more probable where it is right.
    assert P[y[kept] == 2, 1].mean() > P[y[kept] == 0, 1].mean()


def test_a_race_whose_folds_lack_a_class_keeps_xgboost():
    pytest.importorskip("xgboost")
    frame, y = made(120)
    y[:2] = 7  # some fold has no row of it
    y[y == 2] = 9
    race = Race(time_limit=None, contestants=["xgboost", "decision-tree"], random_state=0, blend=False).fit(frame, y)
    assert not any(row["entry"].startswith("xgboost") and row["loss"] is None for row in race.departures_)


def test_codes_that_were_not_there_are_missing():
    X = pd.DataFrame({"0": ["x", "y", "x"], "1": [1.0, 2.0, 3.0]})
    view = as_categories(Kinds([1], [0], []), whole_numbers=True).fit(X)
    other = view.transform(pd.DataFrame({"0": ["y", "z", None], "1": [1.0, 2.0, 3.0]}))
    assert other[1].tolist() == [1, -1, -1]


def test_renumbered_labels_come_back():
    from sklearn.tree import DecisionTreeClassifier

    X, y = np.arange(6.0)[:, None], np.array([3, 3, 9, 9, 4, 4])
    model = Renumbered(DecisionTreeClassifier(random_state=0)).fit(X, y)
    assert_array_equal(model.classes_, [3, 4, 9])
    assert_array_equal(model.predict(X), y)
    assert_array_equal(model.predict_proba(X).argmax(axis=1), [0, 0, 2, 2, 1, 1])
