"""GradientBoost and the learner "boosted-trees": what the trees of all rounds predict, and what does not change it."""

import os
import subprocess
import sys
from functools import partial

import numpy as np
import pytest
from scipy.special import softmax
from sklearn.datasets import load_digits, load_iris, make_classification
from sklearn.metrics import log_loss

from outputcodes import GradientBoost, OutputCodeClassifier, codes
from outputcodes._histograms.binning import bin_features
from outputcodes._histograms.vectors import growth as vector_growth
from outputcodes.boosting import gradient
from outputcodes.learners import BoostedTrees
from outputcodes.learners.trees.boosted import forest, in_memory
from outputcodes.learners.trees.boosted.forest import BoostedForest
from outputcodes.learners.trees.boosted.multinomial import Multinomial
from outputcodes.learners.trees.boosted.rounds import boost
from outputcodes.learners.trees.boosted.settings import checked_settings
from outputcodes.learners.trees.boosted.sketches import random_signs
from outputcodes.training import RowBlocks


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    return X[:600], y[:600], X[600:900], y[600:900]


def test_the_forest_gives_the_probabilities_of_the_training(digits):
    X, y, *_ = digits
    X = np.where(np.random.default_rng(0).random(X.shape) < 0.05, np.nan, X)
    data = bin_features(X, 255, np.arange(64) % 7 == 0)
    loss, every = Multinomial(y, np.ones(len(y)), 10, np.arange(len(y))), np.arange(len(y))

    def sketch(t):
        return random_signs(10, 6, np.random.default_rng(t), balanced=True)

    settings = checked_settings(GradientBoost(n_rounds=25), 0.1)
    boosted = boost(loss, data, every[::2], every[1::2], sketch, settings, 0, n_jobs=1)
    # Rows that were trained on, watched, and trained on at the end all took the steps of their leaves.
    F = BoostedForest(loss.base, boosted.trees, 64).scores(X)
    np.testing.assert_allclose(softmax(F, axis=1), loss.P[:, :10] * loss.scale[:, None], atol=1e-4)
    assert len(boosted.trees) == 25


@pytest.mark.parametrize("code", [codes.OneVsAll(), codes.Hadamard()])
def test_all_gradients_or_a_code_that_keeps_their_lengths_give_the_same_trees(code):
    # Gradients sum to 0: 2e_c - 1 projects them on twice the gradient of class c, and three orthogonal columns that sum
    # to 0 keep the length of all vectors of four numbers that do.
    X, y = make_classification(300, 10, n_informative=6, n_classes=4, random_state=0)
    whole = GradientBoost(20, sketch=4, random_state=0).fit(X, y)
    coded = GradientBoost(20, sketch=code, random_state=0).fit(X, y)
    np.testing.assert_array_equal(whole.decision_function(X), coded.decision_function(X))
    fewer = GradientBoost(20, sketch=2, random_state=0).fit(X, y)
    assert (fewer.decision_function(X) != whole.decision_function(X)).any()


@pytest.mark.parametrize(
    "model", [GradientBoost(30, random_state=0), GradientBoost(30, validation_fraction=None, random_state=1)]
)
def test_outputs_agree_and_jobs_change_nothing(model, digits):
    X, y, X_test, _ = digits
    model.set_params(n_jobs=1).fit(X, y)
    scores, P, predicted = model.decision_function(X_test), model.predict_proba(X_test), model.predict(X_test)
    np.testing.assert_array_equal(scores.argmax(axis=1), predicted)
    np.testing.assert_array_equal(P.argmax(axis=1), predicted)
    np.testing.assert_allclose(P, softmax(scores, axis=1))
    *_, last = model.staged_predict_proba(X_test)
    np.testing.assert_allclose(last, P, atol=1e-9)
    assert sum(1 for _ in model.staged_predict(X_test)) == model.n_rounds_
    # Boosting lowers the loss of the rows it is trained on.
    losses = [log_loss(y, stage) for stage in model.staged_predict_proba(X)]
    assert losses[-1] < losses[5] < losses[0] < np.log(10)
    again = model.set_params(n_jobs=2).fit(X, y)
    np.testing.assert_array_equal(again.decision_function(X_test), scores)
    assert again.feature_importances_.sum() == pytest.approx(1)


def test_threads_within_threads_change_nothing(digits, monkeypatch):
    """Even small leaves are shared, also while the watched rows are tested beside the growth."""
    X, y, X_test, _ = digits
    monkeypatch.setattr(vector_growth, "LARGE_LEAF", 64)
    monkeypatch.setattr(in_memory, "NUMBERS_AT_A_TIME", 64)
    monkeypatch.setattr(in_memory, "NUMBERS_FOR_THREADS", 0)
    how = {"n_rounds": 12, "max_features": 0.5, "categorical_features": [20, 21, 42], "random_state": 0}
    first, *others = (GradientBoost(**how, n_jobs=n_jobs).fit(X, y) for n_jobs in (1, 2, 3))
    for other in others:
        assert np.array_equal(other.decision_function(X_test), first.decision_function(X_test))
        assert np.array_equal(other.history_["loss"], first.history_["loss"])


def test_held_out_rows_end_the_rounds():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 5)), rng.integers(3, size=300)  # nothing to learn
    model = GradientBoost(400, random_state=0, n_iter_no_change=5).fit(X, y)
    best = model.history_["loss"].argmin() + 1
    assert len(model.history_["loss"]) == best + 5
    # A fifth as many rounds on all rows follow.
    assert model.n_rounds_ == len(model.history_["loss"]) + np.ceil(0.2 * len(model.history_["loss"]))
    assert len(GradientBoost(30, validation_fraction=None).fit(X, y).history_["loss"]) == 0


@pytest.mark.parametrize("multilabel", [False, True])
def test_a_warm_start_adds_the_rounds_that_one_fit_would_have_run(digits, multilabel):
    X, y, X_test, _ = digits
    y = np.column_stack([y % 2, y > 4]) if multilabel else y
    parameters = {"validation_fraction": None, "max_leaves": 8, "random_state": 0}
    whole = GradientBoost(12, **parameters).fit(X, y)
    grown = GradientBoost(5, warm_start=True, **parameters).fit(X, y)
    five = grown.predict_proba(X_test)
    grown.set_params(n_rounds=12).fit(X, y)
    assert grown.n_rounds_ == 12
    # Scores are kept in 32 bits while boosting, and summed up again when it goes on.
    np.testing.assert_allclose(grown.predict_proba(X_test), whole.predict_proba(X_test), atol=1e-4)
    stages = list(grown.staged_predict_proba(X_test))
    np.testing.assert_allclose(stages[4], five, atol=1e-9)
    again = grown.fit(X, y)
    np.testing.assert_array_equal(again.predict_proba(X_test), grown.predict_proba(X_test))


def test_a_warm_start_that_cannot_continue_is_refused(digits):
    X, y, *_ = digits
    model = GradientBoost(5, warm_start=True, validation_fraction=None).fit(X, y)
    with pytest.raises(ValueError, match="n_rounds=3 must be at least 5, the rounds of the last fit"):
        model.set_params(n_rounds=3).fit(X, y)
    with pytest.raises(ValueError, match="warm_start=True needs the classes of the last fit"):
        model.set_params(n_rounds=6).fit(X[y < 4], y[y < 4])
    with pytest.raises(ValueError, match="X has 10 features, but GradientBoost is expecting 64"):
        model.fit(X[:, :10], y)
    assert len(model.predict(X)) == len(X)


@pytest.mark.parametrize("n_rounds", [0, 2.5, 6])
def test_rounds_that_were_not_trained_are_refused(digits, n_rounds):
    X, y, *_ = digits
    model = GradientBoost(5, validation_fraction=None).fit(X, y)
    with pytest.raises(ValueError, match=f"n_rounds={n_rounds} must be an integer from 1 to 5"):
        model.with_rounds(n_rounds)


def test_a_warm_start_after_held_out_rows_joined(digits):
    X, y, *_ = digits
    model = GradientBoost(10, warm_start=True, random_state=0).fit(X, y)
    assert model.n_rounds_ == 10
    before = model.predict_proba(X)
    np.testing.assert_array_equal(model.fit(X, y).predict_proba(X), before)
    assert model.set_params(n_rounds=15).fit(X, y).n_rounds_ == 15


def test_rows_are_predicted_in_blocks(digits, monkeypatch):
    X, y, X_test, _ = digits
    model = GradientBoost(5, random_state=0).fit(X, y)
    whole = model.predict_proba(X_test), model.predict(X_test), model.decision_function(X_test)
    widest = []
    add_trees = forest.add_trees

    def watched(*arrays):
        widest.append(len(arrays[-1]))
        add_trees(*arrays)

    monkeypatch.setattr(forest, "add_trees", watched)
    monkeypatch.setattr(gradient, "row_blocks", lambda n, width: (slice(at, at + 7) for at in range(0, n, 7)))
    parts = model.predict_proba(X_test), model.predict(X_test), model.decision_function(X_test)
    assert max(widest) == 7
    for one, other in zip(whole, parts, strict=True):
        np.testing.assert_array_equal(one, other)


def test_categories_are_split_by_subsets():
    # The class is the parity of the category: no single threshold tells more than one category from its neighbours.
    category = np.repeat(np.arange(12.0), 20)
    X, y = category[:, None], (category % 2).astype(int)
    parameters = {"n_rounds": 1, "max_leaves": 2, "validation_fraction": None, "learning_rate": 1.0}
    told = GradientBoost(**parameters, categorical_features=[0]).fit(X, y)
    np.testing.assert_array_equal(told.predict(X), y)
    assert (GradientBoost(**parameters).fit(X, y).predict(X) != y).any()


def test_missing_values_are_a_side_of_their_own():
    X, y = np.array([[1.0], [2.0], [np.nan], [np.nan]] * 10), np.array([0, 0, 1, 1] * 10)
    model = GradientBoost(5, validation_fraction=None, learning_rate=1.0).fit(X, y)
    np.testing.assert_array_equal(model.predict(X), y)


def test_nothing_to_ask_about():
    y = np.array([0, 0, 0, 1, 2] * 4)
    with pytest.warns(UserWarning, match="no question that gains anything"):
        model = GradientBoost(5, random_state=0).fit(np.zeros((20, 2)), y)
    assert model.n_rounds_ == 0
    np.testing.assert_array_equal(model.predict(np.ones((3, 2))), 0)
    np.testing.assert_array_equal(model.feature_importances_, 0)
    learner = OutputCodeClassifier(BoostedTrees(5), code="one-vs-all").fit(np.zeros((20, 2)), y)
    np.testing.assert_array_equal(learner.predict(np.ones((3, 2))), 0)


@pytest.mark.parametrize("blocks", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_draws_that_offer_no_question_are_drawn_again(seed, blocks):
    """One feature of forty tells the classes; the others are constant, or too rare for a leaf."""
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=600)
    X = np.zeros((600, 40))
    X[:, 0] = 10 * y + rng.integers(10, size=600)
    X[rng.integers(600, size=20), np.arange(20, 40)] = 1
    parameters = {"n_rounds": 30, "min_rows": 20, "max_features": 0.1, "validation_fraction": None}
    data = RowBlocks(np.array_split(X, 3)) if blocks else X
    model = GradientBoost(**parameters, random_state=seed).fit(data, y)
    assert model.n_rounds_ == 30
    assert model.score(X, y) == 1
    np.testing.assert_array_equal(model.feature_importances_ > 0, np.arange(40) == 0)
    one_draw = {name: value for name, value in parameters.items() if name != "max_features"}
    everything = GradientBoost(**one_draw, max_features=1.0, random_state=seed).fit(data, y)
    # Every tree asks about the one feature in the end, so that it is the same.
    np.testing.assert_array_equal(model.decision_function(X), everything.decision_function(X))
    learner = OutputCodeClassifier(BoostedTrees(**parameters), code="one-vs-all", random_state=seed).fit(data, y)
    assert learner.score(X, y) == 1


@pytest.mark.parametrize("make", [GradientBoost, partial(OutputCodeClassifier, "boosted-trees", code="one-vs-all")])
@pytest.mark.parametrize("blocks", [False, True])
def test_constant_features_change_nothing(make, blocks):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 40))
    y = (X[:, 0] + X[:, 1] * X[:, 2] > 0).astype(int) + (X[:, 3] > 1)
    wide = np.column_stack([X, np.zeros((500, 300)), np.full((500, 5), np.nan)])
    few, many = (
        make(random_state=0).fit(RowBlocks([data]) if blocks else data, y).decision_function(data) for data in (X, wide)
    )
    np.testing.assert_array_equal(few, many)


@pytest.mark.parametrize("n_jobs", [1, 3])
def test_draws_again_beside_watched_rows(monkeypatch, n_jobs):
    """While one thread takes the steps of watched rows, another draws the features of the next tree, and again."""
    monkeypatch.setattr(in_memory, "NUMBERS_FOR_THREADS", 0)
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=600)
    X = np.zeros((600, 40))
    X[:, 0] = y + rng.normal(size=600)
    X[rng.integers(600, size=20), np.arange(20, 40)] = 1
    how = {"n_rounds": 40, "min_rows": 30, "validation_fraction": 0.2, "n_iter_no_change": 40, "random_state": 0}
    some = GradientBoost(**how, max_features=0.1, n_jobs=n_jobs).fit(X, y)
    every = GradientBoost(**how, max_features=1.0).fit(X, y)
    assert some.n_rounds_ == every.n_rounds_ == 40
    np.testing.assert_array_equal(some.decision_function(X), every.decision_function(X))
    np.testing.assert_array_equal(some.history_["loss"], every.history_["loss"])


def test_steps_of_labels_are_newton_steps():
    counts = [500, 100, 150, 250]
    x, label = np.repeat([0.0, 0.0, 1.0, 1.0], counts)[:, None], np.repeat([0, 1, 0, 1], counts)
    model = GradientBoost(1, l2=3.0, validation_fraction=None).fit(x, np.column_stack([label, 1 - label]))
    share = (350 + 1) / (1000 + 2)
    for value, n, positive in ((0.0, 600, 100), (1.0, 400, 250)):
        # Half of the log-odds: the gradient is 2 Σ (y - p), the curvature 4 Σ p (1 - p).
        step = 0.2 * 2 * (positive - n * share) / (4 * n * share * (1 - share) + 3.0)
        expected = np.log(share / (1 - share)) / 2 + step
        np.testing.assert_allclose(model.decision_function([[value]])[0], [expected, -expected], atol=1e-4)


@pytest.mark.parametrize("rate", [0.2, 0.5, 1.0])
def test_steps_of_two_classes_are_newton_steps_of_their_log_odds(rate):
    """Against the logistic loss of one feature with two values: one step in exact terms, and where they lead."""
    counts = [5000, 1000, 1500, 2500]
    x, y = np.repeat([0.0, 0.0, 1.0, 1.0], counts)[:, None], np.repeat([0, 1, 0, 1], counts)
    parameters = {"learning_rate": rate, "l2": 3.0, "validation_fraction": None, "random_state": 0}
    share = (1000 + 2500 + 5) / (10000 + 10)
    for value, n, positive in ((0.0, 6000, 1000), (1.0, 4000, 2500)):
        # Both classes share the penalty: l2 / 2 is that of the log-odds.
        step = rate * (positive - n * share) / (n * share * (1 - share) + 3.0 / 2)
        first = GradientBoost(1, **parameters).fit(x, y).decision_function([[value]])
        assert first == pytest.approx(np.log(share / (1 - share)) + step, abs=5e-4)
        model = GradientBoost(200, **parameters).fit(x, y)
        assert model.predict_proba([[value]])[0, 1] == pytest.approx(positive / n, abs=1e-3)


def test_a_whole_step_does_not_overshoot_where_two_of_three_classes_are_confused():
    x, y = np.repeat([0.0, 1.0], [1000, 100])[:, None], np.repeat([0, 1, 2], [600, 400, 100])
    model = GradientBoost(200, learning_rate=1.0, validation_fraction=None, random_state=0).fit(x, y)
    np.testing.assert_allclose(model.predict_proba([[0.0]])[0], [0.6, 0.4, 0.0], atol=2e-3)


@pytest.mark.parametrize("size", [2.0**-150, 2.0**150])
def test_only_the_ratio_of_weights_and_penalty_counts(size):
    X, y = load_iris(return_X_y=True)
    weight = np.random.default_rng(0).integers(1, 4, 150).astype(float)
    for labels in (y, np.column_stack([y == 0, y == 2])):
        one = GradientBoost(10, l2=0.5, random_state=0).fit(X, labels, weight)
        other = GradientBoost(10, l2=0.5 * size, random_state=0).fit(X, labels, weight * size)
        np.testing.assert_array_equal(one.decision_function(X), other.decision_function(X))
    one, other = (
        OutputCodeClassifier(
            BoostedTrees(10, l2=0.5 * factor), class_weight={c: (1 + c) * factor for c in range(3)}, random_state=0
        ).fit(X, y)
        for factor in (1.0, size)
    )
    np.testing.assert_array_equal(one.margins(X), other.margins(X))


def test_more_leaves_than_rows_take_no_memory():
    X, y = load_iris(return_X_y=True)
    many, enough = (GradientBoost(5, max_leaves=leaves, random_state=0).fit(X, y) for leaves in (10**9, 150))
    np.testing.assert_array_equal(many.decision_function(X), enough.decision_function(X))


def test_labels_on_their_own():
    X, y = load_iris(return_X_y=True)
    Y = np.column_stack([y == 0, y == 2, y == 0]).astype(int)
    model = GradientBoost(20, random_state=0).fit(X, Y)
    P = model.predict_proba(X)
    # Equal labels have equal gradients and steps.
    np.testing.assert_allclose(P[:, 0], P[:, 2], atol=1e-6)
    np.testing.assert_array_equal(model.predict(X), P > 0.5)


def test_a_class_weight_is_a_sample_weight():
    X, y = load_iris(return_X_y=True)
    parameters = {"n_rounds": 10, "validation_fraction": None, "random_state": 0}
    weighted = GradientBoost(**parameters).fit(X, y, sample_weight=np.array([1.0, 3.0, 1.0])[y])
    named = GradientBoost(**parameters, class_weight={1: 3.0}).fit(X, y)
    np.testing.assert_array_equal(named.decision_function(X), weighted.decision_function(X))
    # A class without weight is no class.
    two = GradientBoost(**parameters, class_weight="balanced").fit(X, y, sample_weight=(y < 2).astype(float))
    without = GradientBoost(**parameters, class_weight="balanced").fit(X[y < 2], y[y < 2])
    np.testing.assert_array_equal(two.decision_function(X), without.decision_function(X))


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_rounds": 0}, "n_rounds=0 must be an integer of at least 1"),
        ({"max_leaves": 1}, "max_leaves=1 must be 'auto' or an integer of at least 2"),
        ({"max_depth": 0}, "max_depth=0 must be None or an integer"),
        ({"learning_rate": 2}, "learning_rate=2 must be a number above 0, and at most 1"),
        ({"max_features": 0}, "max_features=0 must be 'auto' or a number above 0, and at most 1"),
        ({"l2": -1}, "l2=-1 must be 'auto' or a positive number"),
        ({"sketch": 0}, "sketch=0 must be an integer of at least 1, or a code"),
        ({"max_bins": 256}, "max_bins=256 must be an integer from 2 to 255"),
        ({"validation_fraction": "a"}, "validation_fraction='a' must be None or a number between 0 and 1"),
        ({"sketch": codes.Tree()}, r"sketch=Tree\(\) is made from data: give a code that is not"),
        ({"validation_fraction": 1}, "validation_fraction=1 must be None or a number between 0 and 1"),
        ({"monitor": "x"}, "monitor='x' must be 'loss' or 'error'"),
        ({"class_weight": "balance"}, "class_weight='balance' must be 'balanced', a mapping"),
        ({"class_weight": {0: -1}}, "class_weight={0: -1} must hold positive numbers only"),
    ],
)
def test_bad_parameters_are_refused_by_name(parameters, message):
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match=message):
        GradientBoost(**parameters).fit(X, y)


def test_the_learner_under_every_kind_of_code(digits):
    X, y, X_test, _ = digits
    for code in ("one-vs-all", "dense", "sparse"):
        model = OutputCodeClassifier(BoostedTrees(15), code=code, random_state=0).fit(X, y)
        *_, last = model.columns_.fitted.staged_margins(X_test)
        np.testing.assert_allclose(last, model.columns_.fitted.margins(X_test))
        two = OutputCodeClassifier(BoostedTrees(15), code=code, random_state=0, n_jobs=2).fit(X, y)
        np.testing.assert_array_equal(two.decision_function(X_test), model.decision_function(X_test))


def test_rows_that_a_column_leaves_out_do_not_move_it():
    # Class 2 is absent from column 0 and far away: what its rows are called in column 1 changes nothing for the others.
    X, y = load_iris(return_X_y=True)
    X[y == 2] += 100
    learner = BoostedTrees(10, validation_fraction=None, max_leaves=3, learning_rate=1.0)
    data = learner.prepare(X)
    margins = learner.fit_columns(data, y, np.array([[1, 1], [-1, 1], [0, -1]])).margins(data, np.arange(100))
    alone = learner.fit_columns(data, y, np.array([[1], [-1], [0]])).margins(data, np.arange(100))
    np.testing.assert_array_equal(margins[:, 0] > 0, y[:100] == 0)
    np.testing.assert_array_equal(alone[:, 0] > 0, y[:100] == 0)
    # Both signs are equally frequent without class 2.
    assert learner.fit_columns(data, y, np.array([[1], [-1], [0]])).forest.base == pytest.approx(0)


def test_a_process_that_compiles_gives_the_same_bits_as_one_that_loads(tmp_path):
    # A compiled function that several others contain would be another one for whichever is loaded first.
    script = (
        "import hashlib, numpy as np\n"
        "from outputcodes import GradientBoost\n"
        "rng = np.random.default_rng(0)\n"
        "y = rng.integers(0, 100, 3000)\n"
        "X = rng.normal(size=(100, 8))[y] + rng.normal(size=(3000, 8))\n"
        "P = GradientBoost(6, random_state=0).fit(X, y).predict_proba(X)\n"
        "print(hashlib.sha256(P.tobytes()).hexdigest())"
    )
    own = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
    command = [sys.executable, "-c", script]
    first, later = (subprocess.run(command, env=own, capture_output=True, text=True, check=True) for _ in range(2))
    assert first.stdout == later.stdout
