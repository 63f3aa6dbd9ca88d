"""What all boosters share: the door, rounds and stages, early stopping, decoders, scikit-learn's own checks."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.datasets import load_digits, load_iris
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from outputcodes.boosting.mh import AdaBoostMH
from outputcodes.boosting.mo import AdaBoostMO
from outputcodes.boosting.mr import AdaBoostMR
from outputcodes.decoders import Decoder

BOOSTERS = [
    AdaBoostMO("dense", 20, random_state=0),
    AdaBoostMO("all-pairs", 20, "discrete", "hamming"),
    AdaBoostMH(20, "abstaining"),
    AdaBoostMR(20),
]


WEIGHTS = ("check_sample_weight_equivalence_on_dense_data", "check_sample_weight_equivalence_on_sparse_data")
TREE = DecisionTreeClassifier(max_depth=4, random_state=0)


def allowed(booster):
    if booster.validation_fraction is not None:
        return dict.fromkeys(WEIGHTS, "a row given twice may be held out once")
    if booster.estimator is not None and isinstance(booster, AdaBoostMO):
        return dict.fromkeys(WEIGHTS, "trees break ties at random, and boosted weights tie up to rounding only")
    return {}


@parametrize_with_checks(
    [
        AdaBoostMO(n_rounds=10),
        AdaBoostMO("all-pairs", 10, "discrete", validation_fraction=0.3),
        AdaBoostMO("dense", 8, estimator=TREE),
        AdaBoostMH(10, "abstaining"),
        AdaBoostMR(10),
        AdaBoostMR(5, estimator=TREE),
    ],
    expected_failed_checks=allowed,
)
@pytest.mark.filterwarnings("ignore:.*kept no round")
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("booster", BOOSTERS, ids=repr)
def test_stages_are_models_with_fewer_rounds(booster):
    X, y = load_iris(return_X_y=True)
    model = clone(booster).fit(X, y)
    scores, predicted = list(model.staged_decision_function(X)), list(model.staged_predict(X))
    assert len(scores) == len(predicted) == model.n_rounds_
    for t in (1, 2, model.n_rounds_):
        fewer = clone(booster).set_params(n_rounds=t).fit(X, y)
        assert np.allclose(fewer.decision_function(X), scores[t - 1], rtol=1e-10, atol=1e-10)
        assert np.array_equal(fewer.predict(X), predicted[t - 1])


@pytest.mark.parametrize("booster", BOOSTERS, ids=repr)
def test_early_stopping_keeps_the_rounds_of_least_held_out_loss(booster):
    X, y = load_digits(n_class=5, return_X_y=True)
    noisy = np.where(np.arange(len(y)) % 4 == 0, (y + 1) % 5, y)
    stopping = clone(booster).set_params(n_rounds=400, validation_fraction=0.3, n_iter_no_change=5, random_state=3)
    model = clone(stopping).fit(X, noisy)
    # Without patience running out, the same split and rounds, and the loss of each of them.
    patient = clone(stopping).set_params(n_rounds=model.n_rounds_ + 5, n_iter_no_change=10**6)
    losses = []
    kept = type(patient)._loss
    patient._loss = lambda *args: losses.append(kept(patient, *args)) or losses[-1]
    patient.fit(X, noisy)
    assert len(losses) == model.n_rounds_ + 5
    assert np.argmin(losses) + 1 == model.n_rounds_
    assert np.array_equal(patient.margins(X), model.margins(X))


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
    with pytest.raises(TypeError, match="dense data is required"):
        AdaBoostMO().fit(sp.csr_matrix(X), y)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"n_rounds": 0}, "n_rounds=0"),
        ({"hypotheses": "sure"}, "hypotheses='sure' must be one of"),
        ({"learning_rate": 0}, "learning_rate=0 must be"),
        ({"smoothing": 0.0}, "smoothing=0.0 must be"),
        ({"bins": 1}, "bins=1 must be"),
        ({"validation_fraction": 1.5}, "validation_fraction=1.5"),
        ({"validation_fraction": 0.001}, "holds out no row"),
        ({"categorical_features": [9]}, "categorical_features"),
        ({"estimator": KNeighborsClassifier()}, "takes sample_weight"),
        ({"estimator": Ridge()}, "must be an instance of a scikit-learn classifier"),
        ({"estimator": LogisticRegression}, "must be an instance"),
        ({"estimator": LogisticRegression(), "categorical_features": [0]}, "for the built-in stumps"),
        ({"estimator": LogisticRegression(), "hypotheses": "abstaining"}, "for the built-in stumps"),
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
