"""BoostedStumps as users meet it: threads, warm starts, early stopping, margins of new rows, errors."""

import pickle

import numpy as np
import pytest
from sklearn.datasets import load_digits, load_iris
from sklearn.utils.estimator_checks import parametrize_with_checks

from outputcodes import OutputCodeClassifier
from outputcodes.codes import as_code
from outputcodes.learners.trees import fitted_stumps
from outputcodes.learners.trees.stumps import BoostedStumps

HYPOTHESES = ["confidence", "discrete"]
X, y = load_digits(return_X_y=True)
X, y = X[:600], y[:600]
ALL_PAIRS = as_code("all-pairs").draw(10).matrix()
BINARY = np.array([[-1], [1]], dtype=np.int8)
PARTS = ("feature", "threshold", "left", "right", "n_rounds", "stopped")


@parametrize_with_checks([BoostedStumps(20), BoostedStumps(20, "discrete")])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("hypotheses", HYPOTHESES)
def test_the_same_bits_for_any_number_of_threads(hypotheses):
    learner = BoostedStumps(15, hypotheses)
    data = learner.prepare(X)
    fitted = [learner.fit_columns(data, y, ALL_PAIRS, n_jobs=n_jobs) for n_jobs in (1, 2, 3)]
    for part in PARTS:
        assert np.array_equal(getattr(fitted[0], part), getattr(fitted[1], part))
        assert np.array_equal(getattr(fitted[0], part), getattr(fitted[2], part))
    assert np.array_equal(fitted[0].certificate.gap, fitted[2].certificate.gap)


@pytest.mark.parametrize("hypotheses", HYPOTHESES)
def test_a_warm_start_goes_on_to_the_same_answer(hypotheses):
    few, many = BoostedStumps(6, hypotheses), BoostedStumps(20, hypotheses)
    data = few.prepare(X)
    cold = many.fit_columns(data, y, ALL_PAIRS)
    warm = many.fit_columns(data, y, ALL_PAIRS, init=few.fit_columns(data, y, ALL_PAIRS))
    assert np.array_equal(warm.n_rounds, cold.n_rounds)
    assert np.array_equal(warm.threshold, cold.threshold)
    assert np.allclose(warm.margins(X), cold.margins(X))
    assert np.allclose(warm.certificate.gap, cold.certificate.gap)
    assert np.array_equal(warm.stopped, cold.stopped)
    # Fewer rounds than are known already: the first of them.
    back = few.fit_columns(data, y, ALL_PAIRS, init=cold)
    again = few.fit_columns(data, y, ALL_PAIRS)
    assert np.array_equal(back.left, again.left)
    assert np.allclose(back.certificate.gap, again.certificate.gap)


def test_columns_that_stopped_stay_as_they_are_while_others_go_on():
    iris, species = load_iris(return_X_y=True)
    fitted = OutputCodeClassifier(BoostedStumps(12, "discrete"), code="one-vs-all").fit(iris, species).columns_.fitted
    # One stump separates setosa; ε = 0 counts as 1e-10.
    assert fitted.n_rounds.tolist() == [1, 12, 12]
    assert fitted.stopped.tolist() == [True, False, False]
    assert abs(fitted.left[0, 0]) == pytest.approx(np.log(1e10) / 2)


def test_staged_margins_and_tables_are_the_same_sums(monkeypatch):
    rng = np.random.default_rng(0)
    gaps = np.where(rng.random(X.shape) < 0.1, np.nan, X)
    learner = BoostedStumps(25, categorical_features=np.arange(64) % 2 == 0)
    fitted = learner.fit_columns(learner.prepare(gaps), y, ALL_PAIRS)
    new = np.where(rng.random(X.shape) < 0.1, 99.0, gaps)  # a category never seen
    stages = list(fitted.staged_margins(new))
    assert len(stages) == len(fitted.feature)
    assert np.array_equal(fitted.margins(new), stages[-1])
    shorter = BoostedStumps(10, categorical_features=np.arange(64) % 2 == 0)
    ten = shorter.fit_columns(shorter.prepare(gaps), y, ALL_PAIRS).margins(new)
    assert np.allclose(ten, stages[9], atol=1e-11)
    monkeypatch.setattr(fitted_stumps, "COLUMNS_PER_TABLE", 7)
    assert np.array_equal(fitted.margins(new), stages[-1])


def test_early_stopping_keeps_the_rounds_of_least_held_out_loss():
    rng = np.random.default_rng(0)
    noisy = np.where(rng.random(600) < 0.3, rng.integers(10, size=600), y)
    M = as_code("one-vs-all").draw(10).matrix()
    learner = BoostedStumps(60, validation_fraction=0.25, n_iter_no_change=5)
    data = learner.prepare(X)
    fitted = learner.fit_columns(data, noisy, M, seed=3)
    train, held = learner._split(np.arange(600), noisy, 3)
    everything = BoostedStumps(60).fit_columns(data, noisy, M, rows=train)
    losses = np.array([np.exp(-M[noisy[held]] * F).mean(axis=0) for F in everything.staged_margins(X[held])])
    for j, kept in enumerate(fitted.n_rounds):
        until = losses[: kept + 5, j]
        assert until.argmin() == kept - 1
        assert np.array_equal(fitted.threshold[:kept, j], everything.threshold[:kept, j])
        assert not fitted.left[kept:, j].any()
    z = M[noisy[train]] * fitted.margins(data, train)
    assert np.allclose(fitted.certificate.gap, np.exp(-z).mean(axis=0))
    again = learner.fit_columns(data, noisy, M, seed=3)
    other = learner.fit_columns(data, noisy, M, seed=4)
    assert np.array_equal(fitted.left, again.left)
    assert not np.array_equal(fitted.margins(X), other.margins(X))


def test_held_out_rows_leave_every_class_to_train_on():
    learner = BoostedStumps(validation_fraction=0.9)
    classes = np.repeat([0, 1, 2], [1, 2, 20])
    train, held = learner._split(np.arange(23), classes, 0)
    assert sorted(np.append(train, held)) == list(range(23))
    assert np.bincount(classes[train]).tolist() == [1, 1, 2]
    with pytest.raises(ValueError, match=r"validation_fraction=0\.01 holds out no row"):
        BoostedStumps(validation_fraction=0.01)._split(np.arange(23), classes, 0)


def test_a_column_without_any_edge_answers_0_and_says_so():
    exclusive_or = np.array([[0.0, 0], [0, 1], [1, 0], [1, 1]])
    for hypotheses in HYPOTHESES:
        with pytest.warns(UserWarning, match="1 of 1 columns return 0"):
            model = BoostedStumps(5, hypotheses).fit(exclusive_or, [0, 1, 1, 0])
        assert not model.decision_function(exclusive_or).any()
        assert model.n_iter_ == 0


def test_missing_values_get_the_answer_0():
    values = np.array([[1.0], [2.0], [np.nan], [4.0]])
    for hypotheses in HYPOTHESES:
        model = BoostedStumps(3, hypotheses).fit(values, [0, 0, 1, 1])
        f = model.decision_function(values)
        assert (f[:2] < 0).all()
        assert f[2] == 0
        assert f[3] > 0


def test_fitted_columns_can_be_pickled():
    model = OutputCodeClassifier(BoostedStumps(5)).fit(X, y)
    assert np.array_equal(pickle.loads(pickle.dumps(model)).margins(X), model.margins(X))


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_rounds": 0}, "n_rounds=0 must be an integer"),
        ({"n_iter_no_change": 1.5}, r"n_iter_no_change=1\.5 must be an integer"),
        ({"hypotheses": "real"}, "hypotheses='real' must be 'confidence' or 'discrete'"),
        ({"bins": 1}, "bins=1 must be 'exact' or an integer from 2 to 256"),
        ({"bins": 1000}, "bins=1000 must be"),
        ({"smoothing": 0}, "smoothing=0 must be a positive number"),
        ({"validation_fraction": 1}, "validation_fraction=1 must be between 0 and 1"),
        ({"categorical_features": [64]}, "feature numbers below 64"),
        ({"categorical_features": [True, False]}, "a mask of 64 booleans"),
        ({"categorical_features": ["age"]}, "feature numbers below 64"),
    ],
)
def test_bad_parameters(parameters, message):
    with pytest.raises(ValueError, match=message):
        OutputCodeClassifier(BoostedStumps(**parameters)).fit(X, y)


def test_bad_data():
    learner = BoostedStumps(2)
    with pytest.raises(ValueError, match="infinity"):
        learner.prepare([[np.inf], [1.0]])
    data = learner.prepare(X)
    fitted = learner.fit_columns(data, y, ALL_PAIRS)
    with pytest.raises(ValueError, match="X has 3 features, but the stumps were trained on 64"):
        fitted.margins(X[:, :3])
    with pytest.raises(ValueError, match="init has 45 columns but the code has 1"):
        learner.fit_columns(data, y, ALL_PAIRS[:, :1], init=fitted)
    one_sided = np.where(ALL_PAIRS > 0, 0.0, 1.0)
    with pytest.raises(ValueError, match="column 0 has no weight on its positive side"):
        learner.fit_columns(data, y, ALL_PAIRS, column_weight=one_sided)


def test_sparse_features_are_refused_with_the_remedy():
    import scipy.sparse as sp

    with pytest.raises(TypeError, match="toarray"):
        OutputCodeClassifier(BoostedStumps()).fit(sp.csr_array(X), y)


def test_an_interrupt_stops_training_soon(keyboard):
    nonsense = np.random.default_rng(0).permutation(y)
    learner = BoostedStumps(50_000)
    data = learner.prepare(X)
    learner.fit_columns(data, nonsense, ALL_PAIRS[:, :1], rows=np.arange(50))  # compiled
    # All rounds would take a minute.
    with keyboard(after=0.3, within=5):
        learner.fit_columns(data, nonsense, ALL_PAIRS, n_jobs=2)
