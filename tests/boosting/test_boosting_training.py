"""Boosters train on the same objects as the classifier: a problem, its trained code, and decoders on its margins."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_digits, make_multilabel_classification
from sklearn.tree import DecisionTreeClassifier

from outputcodes import AdaBoostMH, AdaBoostMO, AdaBoostMR, AdaBoostOC, SmoothBoost
from outputcodes.decoders import AccuracyWeighted, Likelihood
from outputcodes.learners.trees.stumps import hold_out
from outputcodes.training import TrainedCode

X, y = load_digits(n_class=4, return_X_y=True)
X, y = X[:240], y[:240]
WEIGHT = 0.5 + np.arange(240) % 3

BOOSTERS = [
    AdaBoostMO("dense", 8, random_state=0),
    AdaBoostMO("all-pairs", 4, estimator=DecisionTreeClassifier(max_depth=1, random_state=0), random_state=0),
    AdaBoostMH(8),
    AdaBoostMR(8),
    AdaBoostOC(8, random_state=0),
    SmoothBoost(8, random_state=0),
]


@pytest.mark.parametrize("booster", BOOSTERS, ids=repr)
def test_a_trained_code_is_the_fitted_booster(booster):
    model = clone(booster)
    trained = model.train(X, y, WEIGHT)
    assert isinstance(trained, TrainedCode)
    fitted = clone(booster).fit(X, y, WEIGHT)
    assert np.array_equal(trained.margins(X), fitted.margins(X))
    assert np.array_equal(trained.training_margins(), fitted.margins(X))
    assert np.array_equal(trained.code.matrix(), fitted.code_matrix_)
    assert np.array_equal(model.predict(X), fitted.predict(X))
    again = trained.decoder("hamming")
    assert np.array_equal(again.predict(trained.margins(X), trained.code), fitted.with_decoder("hamming").predict(X))


@pytest.mark.parametrize("booster", BOOSTERS, ids=repr)
@pytest.mark.parametrize("decoder", [AccuracyWeighted(), Likelihood()], ids=repr)
def test_decoders_learn_from_the_training_rows_or_from_those_set_aside(booster, decoder):
    model = clone(booster).set_params(validation_fraction=0.25, random_state=1, decoder=decoder).fit(X, y, WEIGHT)
    rows = hold_out(np.arange(240), y, 0.25, 1)[decoder.needs == "held-out"]
    F = model.margins(X)
    by_hand = clone(decoder).fit(F[rows], y[rows], model.code_matrix_, WEIGHT[rows])
    assert np.array_equal(model.decision_function(X), by_hand.scores(F, model.code_matrix_))


def test_held_out_margins_are_those_of_boosters_without_the_rows():
    halves = [(np.arange(0, 240, 2), np.arange(1, 240, 2)), (np.arange(1, 240, 2), np.arange(0, 240, 2))]
    booster = AdaBoostMO("all-pairs", 8, "discrete")
    F = booster.train(X, y, WEIGHT).held_out_margins(halves)
    for train, test in halves:
        without = clone(booster).fit(X[train], y[train], WEIGHT[train])
        assert np.array_equal(F[test], without.margins(X[test]))


def test_a_code_that_grows_cannot_be_trained_again_on_folds():
    trained = AdaBoostOC(5, random_state=0).train(X, y)
    with pytest.raises(NotImplementedError, match="AdaBoostOC grows its own columns"):
        trained.held_out_margins(3)


@pytest.mark.parametrize("make", [AdaBoostMH, AdaBoostMR])
def test_labels_that_all_rows_have_or_none_are_trained_with_the_others(make):
    A, Y = make_multilabel_classification(120, n_classes=3, random_state=0)
    Y = np.column_stack([Y, np.ones(120, dtype=int), np.zeros(120, dtype=int)])
    model = make(n_rounds=6)
    trained = model.train(A, Y)
    assert trained.columns.live.all()
    # Rows that lack every feature get 0 from each stump, and so from each column: none of them is a constant.
    assert not trained.margins(np.full((1, A.shape[1]), np.nan)).any()
    assert np.array_equal(model.predict(A)[:, 3:], Y[:, 3:])
