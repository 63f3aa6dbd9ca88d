"""What all boosters share: rounds and stages, early stopping, decoders, and what they refuse."""

import math

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.datasets import load_digits, load_iris
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from outputcodes.boosting.mh import AdaBoostMH
from outputcodes.boosting.mo import AdaBoostMO
from outputcodes.boosting.mr import AdaBoostMR
from outputcodes.boosting.oc import AdaBoostOC
from outputcodes.boosting.smooth import SmoothBoost
from outputcodes.decoders import Decoder, as_decoder
from outputcodes.learners.trees.stumps import hold_out

BOOSTERS = [
    AdaBoostMO("dense", 20, random_state=0),
    AdaBoostMO("all-pairs", 20, "discrete", "hamming"),
    AdaBoostMH(20, "abstaining"),
    AdaBoostMR(20),
    AdaBoostOC(20, random_state=0),
    SmoothBoost(20, random_state=0),
]


@pytest.mark.parametrize("booster", BOOSTERS, ids=repr)
def test_stages_are_models_with_fewer_rounds(booster):
    X, y = load_iris(return_X_y=True)
    model = clone(booster).fit(X, y)
    scores, predicted = list(model.staged_decision_function(X)), list(model.staged_predict(X))
    assert len(scores) == len(predicted) == model.n_rounds_
    assert np.array_equal(scores[-1], model.decision_function(X))
    assert np.array_equal(predicted[-1], model.predict(X))
    for t in (1, 2, model.n_rounds_):
        fewer = clone(booster).set_params(n_rounds=t).fit(X, y)
        assert np.allclose(fewer.decision_function(X), scores[t - 1], rtol=1e-10, atol=1e-10)
        assert np.array_equal(fewer.predict(X), predicted[t - 1])


def loss_of_row(booster, f, d, y, M):
    """What early stopping watches, of one row with margins f and class scores d, from the definitions."""
    wrong = [r for r in range(len(M)) if r != y]
    if isinstance(booster, AdaBoostMR):
        return np.mean([math.exp((f[r] - f[y]) / 2) for r in wrong])
    if isinstance(booster, AdaBoostOC):
        return sum(math.exp((d[r] - d[y]) / 2) for r in wrong)
    if isinstance(booster, SmoothBoost):
        others = sum(math.exp(d[r]) for r in wrong)
        return others / (math.exp(d[y]) + booster.lam * others)
    return sum(math.exp(-m * g) for m, g in zip(M[y], f, strict=True) if m)


@pytest.mark.parametrize("booster", [*BOOSTERS, SmoothBoost(20, lam=0)], ids=repr)
def test_early_stopping_keeps_the_rounds_of_least_held_out_loss(booster):
    X, y = load_digits(n_class=5, return_X_y=True)
    X, y = X[:300], np.where(np.arange(300) % 4 == 0, (y[:300] + 1) % 5, y[:300])
    weight = 0.5 + np.arange(300) % 3
    stopping = clone(booster).set_params(n_rounds=400, validation_fraction=0.3, n_iter_no_change=5, random_state=3)
    model = clone(stopping).fit(X, y, weight)
    # The same rounds, trained on the other rows alone.
    train, held = hold_out(np.arange(300), y, 0.3, 3)
    longer = clone(stopping).set_params(n_rounds=model.n_rounds_ + 5, validation_fraction=None, bins="exact")
    longer.fit(X[train], y[train], weight[train])
    losses = []
    for F, M in longer._staged(X[held]):
        D = F @ M.T.astype(float)
        rows = [loss_of_row(booster, f, d, label, M) for f, d, label in zip(F, D, y[held], strict=True)]
        losses.append(np.average(rows, weights=weight[held]))
    assert len(losses) == model.n_rounds_ + 5
    assert np.argmin(losses) + 1 == model.n_rounds_
    watched = []
    kept = type(booster)._loss
    widths = set()
    stopping._loss = lambda F, *rest: widths.add(F.shape[1]) or watched.append(kept(stopping, F, *rest)) or watched[-1]
    stopping.fit(X, y, weight)
    assert len(widths) == 1  # a round costs the same however many there were
    assert np.allclose(np.array(watched) / watched[0], np.array(losses) / losses[0], rtol=1e-8)
    assert np.allclose(
        model.margins(X),
        longer.set_params(n_rounds=model.n_rounds_).fit(X[train], y[train], weight[train]).margins(X),
        rtol=1e-8,
    )


@pytest.mark.parametrize("booster", BOOSTERS, ids=repr)
def test_rows_of_weight_zero_don_t_exist(booster):
    X, y = load_iris(return_X_y=True)
    weight = (np.arange(150) % 3 > 0).astype(float)
    seen = weight > 0
    model, alone = clone(booster).fit(X, y, weight), clone(booster).fit(X[seen], y[seen])
    assert np.array_equal(model.margins(X), alone.margins(X))


@pytest.mark.parametrize("booster", BOOSTERS, ids=repr)
def test_a_smaller_learning_rate_takes_smaller_steps(booster):
    X, y = load_iris(return_X_y=True)
    whole, half = (clone(booster).set_params(n_rounds=1, learning_rate=rate).fit(X, y) for rate in (1.0, 0.5))
    assert np.allclose(half.margins(X), whole.margins(X) / 2)


def test_missing_values_get_the_answer_zero():
    X, y = load_iris(return_X_y=True)
    for booster in BOOSTERS:
        model = clone(booster).fit(np.where(X == 1.4, np.nan, X), y)
        assert not model.margins(np.full((2, 4), np.nan)).any()


def test_quantile_bins_limit_the_thresholds():
    X = np.random.default_rng(0).normal(size=(500, 2))
    y = np.digitize(X[:, 0] + X[:, 1] ** 2, [0, 1])
    coarse = AdaBoostMO(n_rounds=60, bins=8).fit(X, y).columns_
    assert len(np.unique(coarse.threshold)) <= 2 * 7 + 1
    few, exact = (AdaBoostMO(n_rounds=20, bins=bins).fit(X.round(1), y) for bins in (128, "exact"))
    assert np.array_equal(few.margins(X), exact.margins(X))


def test_decoders_and_what_they_learn_from():
    X, y = load_iris(return_X_y=True)
    model = AdaBoostMO("all-pairs", 20).fit(X, y)
    assert np.array_equal(
        model.with_decoder("vote").predict(X), AdaBoostMO("all-pairs", 20, decoder="vote").fit(X, y).predict(X)
    )
    learned = AdaBoostMO("all-pairs", 20, decoder="accuracy-weighted").fit(X, y)
    assert np.array_equal(
        model.with_decoder("accuracy-weighted", X, y).decision_function(X), learned.decision_function(X)
    )


@pytest.mark.parametrize("booster", [AdaBoostMH(10), AdaBoostMR(10), AdaBoostOC(10), SmoothBoost(10)], ids=repr)
@pytest.mark.parametrize("name", ["hamming", "euclidean", "accuracy-weighted"])
def test_another_decoder_reads_the_same_margins(booster, name):
    X, y = load_iris(return_X_y=True)
    model = clone(booster).set_params(random_state=0).fit(X, y)
    F, M = model.margins(X), model.code_matrix_
    other, decoder = model.with_decoder(name, X, y), as_decoder(name).fit(F, y, M)
    assert np.array_equal(other.decision_function(X), decoder.scores(F, M))
    assert np.array_equal(other.predict(X), decoder.predict(F, M))
    assert np.array_equal(other.margins(X), F)


class MeanRows(Decoder):
    """The class whose mean margins are nearest, learned from held-out rows."""

    needs = "held-out"

    def fit(self, F, y, M, weight=None):
        self.rows_, self.means_ = len(F), np.array([F[y == r].mean(axis=0) for r in range(len(M))])
        return self

    def _scorer(self, M):
        return lambda F: -((F[:, None] - self.means_) ** 2).sum(axis=2)


def test_decoders_that_need_held_out_rows_get_the_validation_share():
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match="set validation_fraction"):
        AdaBoostMO(decoder=MeanRows()).fit(X, y)
    model = AdaBoostMO(n_rounds=20, decoder=MeanRows(), validation_fraction=0.2, random_state=0).fit(X, y)
    assert model.decoder_.rows_ == 30
    train = AdaBoostMO(n_rounds=20, validation_fraction=0.2, random_state=0).fit(X, y)
    assert np.array_equal(model.margins(X), train.margins(X))


def test_sparse_data_for_foreign_estimators():
    X, y = load_digits(n_class=3, return_X_y=True)
    booster = AdaBoostMO("all-pairs", 4, estimator=DecisionTreeClassifier(max_depth=2), random_state=0)
    dense, sparse = booster.fit(X, y).margins(X), clone(booster).fit(sp.csr_matrix(X), y).margins(sp.csr_matrix(X))
    assert np.allclose(dense, sparse)
    with pytest.raises(TypeError, match="AdaBoostMO takes dense X only"):
        AdaBoostMO().fit(sp.csr_matrix(X), y)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"n_rounds": 0}, "n_rounds=0"),
        ({"hypotheses": "sure"}, "hypotheses='sure' must be one of"),
        ({"learning_rate": 0}, "learning_rate=0 must be"),
        ({"learning_rate": 2}, "learning_rate=2 must be above 0 and below 2"),
        ({"random_state": -1}, "random_state=-1 must be"),
        ({"hypotheses": []}, "hypotheses=\\[\\] must be one of"),
        ({"smoothing": 0.0}, "smoothing=0.0 must be"),
        ({"bins": 1}, "bins=1 must be"),
        ({"validation_fraction": 1.5}, "validation_fraction=1.5"),
        ({"validation_fraction": 0.001}, "holds out no row"),
        ({"categorical_features": [9]}, "categorical_features"),
        ({"estimator": KNeighborsClassifier()}, "supports sample_weight"),
        ({"estimator": Ridge()}, "must be an instance of a scikit-learn classifier"),
        ({"estimator": LogisticRegression}, "must be an instance"),
        ({"estimator": "stumps"}, "estimator='stumps' must be an instance"),
        ({"estimator": SVC(kernel="precomputed")}, "uses a precomputed kernel"),
        ({"code": "designed"}, "code='designed' is learned from data and needs OutputCodeClassifier"),
        ({"estimator": LogisticRegression(), "categorical_features": [0]}, "for the built-in stumps"),
        ({"estimator": LogisticRegression(), "hypotheses": "abstaining"}, "needs the built-in stumps"),
        ({"decoder": "nearest"}, "decoder='nearest' is unknown"),
        ({"code": "one-vs-one"}, "code='one-vs-one' is unknown"),
    ],
)
def test_what_can_t_be_is_refused(params, message):
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match=message):
        AdaBoostMO(**params).fit(X, y)
    with pytest.raises(ValueError, match="only one class"):
        AdaBoostMO().fit(X[:50], y[:50])
