"""`partial_fit` of Logistic and LinearSVM on features of any size: as on standardised ones, and as well as `fit`."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp

from outputcodes import OutputCodeClassifier
from outputcodes.learners import LinearSVM, Logistic
from outputcodes.learners.linear.metrics import Centre, DiagonalMetric, FullMetric

RNG = np.random.default_rng(0)
X = RNG.normal(size=(900, 4))
y = (X[:, 0] + 0.5 * RNG.normal(size=900) > 0) + 2 * (X[:, 1] - X[:, 2] > 0.5)
SECONDS = RNG.integers(0, 10**7, 900)
TRAIN, TEST = np.split(np.arange(900), [600])
LEARNERS = [Logistic(), LinearSVM()]


def streamed(learner, data, batches=6, n_jobs=None, classes=(0, 1, 2, 3)):
    model = OutputCodeClassifier(learner, code="one-vs-all", n_jobs=n_jobs)
    for rows in np.array_split(TRAIN, batches):
        model.partial_fit(data[rows], y[rows], classes=classes)
    return model


def accuracy(model, data):
    return model.score(data[TEST], y[TEST])


DATA = {
    "timestamps": np.c_[X, 1.7e9 + SECONDS],
    "timestamps in order": np.c_[X, 1.7e9 + np.sort(SECONDS)],
    "constant at first": np.c_[X, np.where(np.arange(900) < 100, 0, 1.7e9 + SECONDS)],
    "offset of all": X + 1e6,
    "constant": np.c_[X, np.full(900, 1.7e9)],
    **{f"all times {scale:g}": X * scale for scale in (1e6, 1e8, 1e10, 1e15)},
}


@pytest.mark.parametrize("name", DATA)
@pytest.mark.parametrize("learner", LEARNERS, ids=str)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_batches_are_as_good_as_fit(learner, name):
    data = DATA[name]
    whole = OutputCodeClassifier(learner, code="one-vs-all").fit(data[TRAIN], y[TRAIN])
    assert accuracy(streamed(learner, data), data) > accuracy(whole, data) - 0.0134  # four rows of 300


@pytest.mark.parametrize("learner", LEARNERS, ids=str)
@pytest.mark.parametrize("exponent", [20, 100, 300])
def test_scaling_by_powers_of_two_changes_next_to_nothing(learner, exponent):
    plain, scaled = streamed(learner, X * 2.0**14), streamed(learner, X * 2.0**exponent)
    assert np.allclose(scaled.margins(X * 2.0**exponent), plain.margins(X * 2.0**14), atol=1e-3)
    # Each feature by its own factor, of which none leaves a penalty that matters.
    factors = 2.0 ** np.array([14, exponent, 60, 200])
    assert np.allclose(streamed(learner, X * factors).margins(X * factors), plain.margins(X * 2.0**14), atol=1e-3)


@pytest.mark.parametrize("learner", LEARNERS, ids=str)
def test_shifts_change_next_to_nothing(learner):
    scale, shift = np.array([2.0**20, 1, 2.0**30, 2.0**14]), np.array([1e12, 1e5, 0, -1e9])
    plain, shifted = streamed(learner, X * scale), streamed(learner, X * scale + shift)
    assert np.allclose(shifted.margins(X * scale + shift), plain.margins(X * scale), atol=2e-3)


def test_timestamps_that_matter_have_the_coefficient_of_fit():
    informative = np.where(SECONDS > 5e6, 1, y % 2)
    data = np.c_[X, 1.7e9 + SECONDS]
    model = OutputCodeClassifier("logistic", code="one-vs-all")
    for rows in np.array_split(TRAIN, 6):
        model.partial_fit(data[rows], informative[rows], classes=[0, 1])
    whole = OutputCodeClassifier("logistic", code="one-vs-all").fit(data[TRAIN], informative[TRAIN])
    assert model.score(data[TEST], informative[TEST]) > whole.score(data[TEST], informative[TEST]) - 0.01
    assert np.allclose(model.columns_.fitted.coef[4, -1], whole.columns_.fitted.coef[4, -1], rtol=0.1, atol=0)


@pytest.mark.parametrize("learner", [*LEARNERS, LinearSVM(loss="hinge")], ids=str)
@pytest.mark.parametrize("make", [np.asarray, sp.csr_array])
def test_huge_features_that_come_and_go_and_late_classes(make, learner):
    data = np.c_[X, 10.0 ** (np.arange(900) / 30), np.where(np.arange(900) % 90, 0, 1e30)]
    order = TRAIN[np.argsort(y[TRAIN] == 3, kind="stable")]
    models = [OutputCodeClassifier(learner, code="one-vs-all", random_state=0, n_jobs=n) for n in (1, 2, 1)]
    for rows in np.array_split(order, 5):
        for model in models:
            model.partial_fit(make(data[rows]), y[rows])
        models[2] = pickle.loads(pickle.dumps(models[2]))
    one, *others = models
    assert one.classes_.tolist() == [0, 1, 2, 3]
    assert np.isfinite(one.coef_).all()
    for other in others:
        assert np.array_equal(one.coef_, other.coef_)
        assert np.array_equal(one.intercept_, other.intercept_)


def test_large_weights_and_penalties_do_not_crash():
    # One penalty of all, and weights that grow between two batches.
    for learner in (Logistic(C=1e12), LinearSVM(C=1e12)):
        assert accuracy(streamed(learner, X), X) > 0.8
    model, weight = OutputCodeClassifier("logistic"), np.where(np.arange(900) < 300, 1e-6, 1e20)
    for rows in np.array_split(TRAIN, 6):
        model.partial_fit(X[rows], y[rows], classes=[0, 1, 2, 3], sample_weight=weight[rows])
    assert accuracy(model, X) > 0.8


def test_a_limit_adds_to_the_diagonal_of_the_curvature():
    rows, least = RNG.normal(size=(9, 4)), np.array([0.0, 1e3, 0.0, 1e2])
    full, diagonal = FullMetric(np.ones(4)), DiagonalMetric(np.ones(4), Centre(4, 0.0))
    for metric in (full, diagonal):
        metric.add(rows, np.ones(9))
        metric.limit(np.full(4, 1e-3))
    A = np.eye(4) + rows.T @ rows
    assert np.allclose(full.inverse, np.linalg.inv(A), rtol=1e-12)
    full.limit(least)
    diagonal.limit(least)
    added = np.linalg.inv(full.inverse) - A
    assert np.allclose(added, np.diag(added.diagonal()), atol=1e-9)
    assert np.allclose(added.diagonal()[[0, 2]], 0, atol=1e-9)
    assert np.allclose(1 / full.inverse.diagonal()[[1, 3]], least[[1, 3]], rtol=0.01)
    assert np.array_equal(1 / diagonal.inverse[[1, 3]], least[[1, 3]])
    # The difference of large numbers would be negative.
    free = FullMetric(np.array([1e-6, 1.0]))
    free.limit(np.array([1e200, 0.0]))
    assert np.allclose(free.inverse, np.diag([1e-200, 1.0]), rtol=1e-12, atol=0)
