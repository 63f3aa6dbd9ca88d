"""What comes through the door of a booster: frames for foreign pipelines, several labels, weights; what is refused."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_iris
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.tree import DecisionTreeClassifier

from outputcodes import AdaBoostMH, AdaBoostMO, AdaBoostMR, AdaBoostOC, SmoothBoost


def table():
    X, y = load_iris(return_X_y=True)
    frame = pd.DataFrame(X, columns=list("abcd"))
    frame["size"] = np.where(X[:, 2] > 4.5, "large", "small")
    encoder = make_column_transformer((OneHotEncoder(), ["size"]), remainder="passthrough")
    return frame, y, encoder


@pytest.mark.parametrize(
    "booster",
    [
        AdaBoostOC(5, random_state=0),
        SmoothBoost(5, coding="probabilistic", random_state=0),
        AdaBoostOC(5, validation_fraction=0.2, random_state=0),
    ],
    ids=repr,
)
def test_pipelines_on_data_frames(booster):
    frame, y, encoder = table()
    tree = DecisionTreeClassifier(max_depth=2, random_state=0)
    weight = np.arange(150) % 3
    on_frames = clone(booster).set_params(estimator=make_pipeline(encoder, tree)).fit(frame, y, weight)
    encoded = encoder.fit_transform(frame)
    on_numbers = clone(booster).set_params(estimator=tree).fit(encoded, y, weight)
    assert np.array_equal(on_frames.margins(frame), on_numbers.margins(encoded))
    assert on_frames.feature_names_in_.tolist() == list(frame.columns)


def test_pipelines_that_begin_with_an_imputer():
    X, y = load_iris(return_X_y=True)
    gaps = np.where(np.arange(600).reshape(X.shape) % 7 == 0, np.nan, X)
    pipeline = make_pipeline(SimpleImputer(), DecisionTreeClassifier(max_depth=2, random_state=0))
    model = AdaBoostOC(4, estimator=pipeline, random_state=0).fit(gaps, y)
    plain = AdaBoostOC(4, estimator=pipeline.steps[-1][1], random_state=0).fit(SimpleImputer().fit_transform(gaps), y)
    assert np.array_equal(model.margins(gaps), plain.margins(SimpleImputer().fit_transform(gaps)))


@pytest.mark.parametrize("make", [AdaBoostMO, AdaBoostMH, AdaBoostMR])
def test_pairs_with_a_column_need_numbers(make):
    frame, y, _ = table()
    with pytest.raises(ValueError, match=f"{make.__name__} adds columns to X, which must be numbers"):
        make(n_rounds=2, estimator=LogisticRegression()).fit(frame, y)


@pytest.mark.parametrize("make", [AdaBoostMO, AdaBoostOC, SmoothBoost])
def test_label_sets_are_for_others(make):
    X, y = load_iris(return_X_y=True)
    for labels in (np.eye(3, dtype=int)[y], sp.csr_array(np.eye(3, dtype=int)[y])):
        with pytest.raises(ValueError, match="use AdaBoostMH"):
            make().fit(X, labels)


def test_weights_whose_sums_overflow_are_refused():
    X, y = load_iris(return_X_y=True)
    for make in (AdaBoostMO, AdaBoostMR, AdaBoostOC):
        with pytest.raises(ValueError, match="whose sums overflow; scale them down"):
            make(n_rounds=2).fit(X, y, np.full(150, 1e308))
        assert np.isfinite(make(n_rounds=2, random_state=0).fit(X, y, np.full(150, 1e100)).margins(X)).all()
