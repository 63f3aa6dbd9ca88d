"""The race: what it promises of its laps, its time and its winner."""

from __future__ import annotations

import itertools
import threading
import time

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_digits, load_iris, load_wine, make_classification
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from outputcodes.selection import Race
from outputcodes.selection.race.blend import Calibration, greedy_weights, losses_of
from outputcodes.selection.race.contestants import CONTESTANTS, Entry, build, chosen_contestants
from outputcodes.selection.race.folds import race_folds
from outputcodes.selection.race.trials import scores_of
from outputcodes.selection.race.views import kinds_of
from race_courses import course_of

QUICK = ["ridge", "decision-tree", "neighbours"]


class Sleeper(ClassifierMixin, BaseEstimator):
    """Needs an hour for any training."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        if len(y) > 50:
            time.sleep(3600)
        return self

    def predict_proba(self, X):
        return np.full((len(X), len(self.classes_)), 1 / len(self.classes_))

    def predict(self, X):
        return np.repeat(self.classes_[:1], len(X))


class Broken(ClassifierMixin, BaseEstimator):
    def fit(self, X, y):
        raise RuntimeError("the wheels came off")


@parametrize_with_checks([Race(time_limit=None, contestants=["ridge", "decision-tree"], random_state=0)])
def test_it_is_a_classifier_as_scikit_learn_wants_it(estimator, check):
    check(estimator)


def test_every_beginning_of_the_training_rows_is_stratified():
    rng = np.random.default_rng(0)
    y = rng.choice(4, size=3000, p=[0.6, 0.3, 0.08, 0.02])
    shares = np.bincount(y) / len(y)
    for train, test in race_folds(y, 0):
        assert not np.intersect1d(train, test).size
        assert len(train) + len(test) == len(y)
        for m in (100, 500, 1500):
            assert np.abs(np.bincount(y[train[:m]], minlength=4) - m * shares).max() <= 1


def test_laps_grow_and_the_last_has_all_rows():
    X = np.zeros((40_000, 1))
    laps = course_of(X, np.arange(40_000) % 5, ["ridge"]).laps()
    assert [lap.rows for lap in laps] == sorted(lap.rows for lap in laps)
    assert laps[-1].rows == len(race_folds(np.arange(40_000) % 5, 0)[0][0])
    assert laps[-1].folds >= 2
    few = course_of(X[:60], np.arange(60) % 5, ["ridge"]).laps()
    assert len(few) == 1
    assert few[0].folds == 5


def test_a_start_that_is_too_short_leaves_nobody_out(monkeypatch):
    X, y = load_iris(return_X_y=True)
    course = course_of(X, y, ["ridge", "decision-tree", "neighbours"])
    course.until = time.monotonic() + 1000
    measure = course.measure

    def hurried(entries, lap, end, **how):
        # As where nearly all of the start went to loading and compiling.
        return measure(entries if end > course.until - 500 else entries[:1], lap, end, **how)

    monkeypatch.setattr(course, "measure", hurried)
    course.run()
    assert {entry.contestant for entry, _ in course.standings} == {"ridge", "decision-tree", "neighbours"}


def test_one_seed_one_race_however_many_processes_run_it():
    X, y = load_wine(return_X_y=True)
    races = [Race(None, contestants=QUICK, n_jobs=jobs, random_state=3).fit(X, y) for jobs in (None, 2)]
    a, b = races
    # Trainings with their times differ; everything else is the same.
    rows = [[{key: value for key, value in row.items() if key != "seconds"} for row in r.standings_] for r in races]
    assert rows[0] == rows[1]
    assert (a.winner_, a.loss_, a.interval_) == (b.winner_, b.loss_, b.interval_)
    np.testing.assert_array_equal(a.predict_proba(X), b.predict_proba(X))


def test_what_runs_when_the_time_is_over_is_stopped():
    X, y = load_iris(return_X_y=True)
    start = time.monotonic()
    race = Race(20, contestants={"sleeper": Sleeper(), "tree": DecisionTreeClassifier(random_state=0)}, n_jobs=2)
    race.fit(X, y)
    assert time.monotonic() - start < 20 + 3
    assert race.winner_ == ["tree"]
    assert any("sleeper" in one["entry"] and "stopped" in one["why"] for one in race.departures_)


def test_a_training_on_a_small_table_is_stopped_too():
    X, y = load_iris(return_X_y=True)
    start = time.monotonic()
    race = Race(10, contestants={"sleeper": Sleeper(), "tree": DecisionTreeClassifier(random_state=0)}).fit(X, y)
    # The sleeper needs an hour; where little else is at work, the race ends in time.
    assert time.monotonic() - start < 60
    assert race.winner_ == ["tree"]


def test_who_has_not_run_all_folds_when_the_time_is_over_is_named(monkeypatch):
    course = course_of(*load_iris(return_X_y=True), ["ridge", "decision-tree"])
    run, (first, second) = course.workers.run, course.entries()

    def hurried(tasks, *times):
        """The time is over when the second one has run three folds."""
        folds = []
        for trial in run(tasks, *times):
            yield trial
            folds += [trial.task.fold] if trial.task.entry == second else []
            if len(folds) == 3:
                return

    monkeypatch.setattr(course.workers, "run", hurried)
    assert [one.entry for one in course.measure([first, second], course.laps()[-1], np.inf)] == [first]
    (gone,) = course.departures
    assert (gone.entry, gone.loss) == (second, None)
    assert gone.why == "The time of this lap was over before all of its folds were measured."


def test_a_contestant_that_breaks_is_named_and_the_others_go_on():
    X, y = load_iris(return_X_y=True)
    race = Race(None, contestants={"broken": Broken(), "tree": DecisionTreeClassifier(random_state=0)}).fit(X, y)
    assert race.winner_ == ["tree"]
    assert any(one["entry"] == "broken" and "the wheels came off" in one["why"] for one in race.departures_)
    with pytest.raises(ValueError, match=r"No contestant could be trained.*the wheels came off"):
        Race(None, contestants={"broken": Broken()}).fit(X, y)


class Once(ClassifierMixin, BaseEstimator):
    """Is best, and can't be trained on all rows."""

    def fit(self, X, y):
        if len(y) == 150:
            raise RuntimeError("too many")
        self.model_ = LogisticRegression().fit(X, y)
        self.classes_ = self.model_.classes_
        return self

    def predict_proba(self, X):
        return self.model_.predict_proba(X)

    def predict(self, X):
        return self.model_.predict(X)


def test_the_reported_error_is_that_of_the_model_that_is_there():
    X, y = load_iris(return_X_y=True)
    stump = DecisionTreeClassifier(max_depth=1, random_state=0)
    race = Race(None, contestants={"once": Once(), "stump": stump}, random_state=0).fit(X, y)
    assert race.standings_[0]["contestant"] == "once"
    assert race.winner_ == ["stump"]
    assert race.loss_ == pytest.approx(next(r["loss"] for r in race.standings_ if r["contestant"] == "stump"))


def test_a_contestant_that_needs_more_rows_than_the_warm_up_has_takes_part():
    X, y = load_iris(return_X_y=True)
    given = {"calibrated": CalibratedClassifierCV(LogisticRegression(), cv=5)}
    assert Race(None, contestants=given).fit(X, y).winner_ == ["calibrated"]


def test_a_limit_too_short_for_anything_still_gives_a_model():
    X, y = load_iris(return_X_y=True)
    race = Race(0.01, contestants=["ridge", "decision-tree"], random_state=0).fit(X, y)
    assert len(race.winner_) == 1
    assert race.predict(X).shape == (150,)


def test_what_cannot_be_sent_between_processes_leaves_alone():
    X, y = load_iris(return_X_y=True)

    class Mine(DecisionTreeClassifier):
        """A class that another process can't import."""

    class Locked(DecisionTreeClassifier):
        def fit(self, X, y):
            self.lock_ = threading.Lock()
            return super().fit(X, y)

    race = Race(None, contestants={"mine": Mine(random_state=0), "locked": Locked(max_depth=1)}, n_jobs=2).fit(X, y)
    assert race.winner_ == ["mine"]


def test_strange_tables():
    rng = np.random.default_rng(0)
    y = np.arange(120) % 3
    X = pd.DataFrame(
        {
            "a[b]": pd.array(np.where(rng.random(120) < 0.1, None, y), dtype="Int64"),
            "day": pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(99, size=120), unit="D"),
            "word": pd.array(np.where(rng.random(120) < 0.1, None, "x"), dtype="string"),
            "mixed": [1 if i % 2 else "one" for i in range(120)],
            "flag": pd.array(rng.random(120) < 0.5, dtype="boolean"),
            "huge": np.where(rng.random(120) < 0.1, 1e300, 0.0),
        }
    )
    race = Race(None, contestants=["ridge", "tree", "decision-tree"], random_state=0).fit(X, y)
    assert not [one for one in race.departures_ if one["loss"] is None]
    assert np.mean(race.predict(X) == y) > 0.8


def test_a_class_with_one_row_is_trained_in_every_fold():
    y = np.array([0] * 30 + [1])
    for train, test in race_folds(y, 0):
        assert 30 in train
        assert 30 not in test
    with pytest.raises(ValueError, match="Every class in y has one row"):
        Race(None, contestants=["ridge"]).fit(np.eye(2), [0, 1])


def test_the_prediction_is_the_most_probable_class_and_probabilities_sum_to_one():
    X, y = load_digits(return_X_y=True)
    race = Race(None, contestants=["ridge", "neighbours"], random_state=0).fit(X[:600], y[:600])
    P = race.predict_proba(X[600:])
    np.testing.assert_allclose(P.sum(axis=1), 1)
    np.testing.assert_array_equal(race.classes_[P.argmax(axis=1)], race.predict(X[600:]))


def test_the_winner_is_the_one_that_is_better():
    """A straight border: a linear model has it, a guess has not; and the estimate is that of new rows."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 5))
    y = (X @ [1, 2, 0, 0, -1] + rng.normal(size=3000) > 0).astype(int)
    given = {"guess": DummyClassifier(), "linear": LogisticRegression()}
    race = Race(None, contestants=given, random_state=0).fit(X[:1000], y[:1000])
    assert race.winner_ == ["linear"]
    error = np.mean(race.predict(X[1000:]) != y[1000:])
    assert race.interval_[0] - 0.02 < error < race.interval_[1] + 0.02


def test_frames_with_categories_and_missing_values():
    rng = np.random.default_rng(0)
    colour, size = rng.choice(["red", "green", "blue"], size=400), rng.normal(size=400)
    y = np.where(colour == "red", 0, np.where(size > 0, 1, 2))
    size[rng.random(400) < 0.05] = np.nan
    X = pd.DataFrame({"colour": pd.Categorical(colour), "size": size})
    X.loc[5, "colour"] = None
    new = X[300:].astype({"colour": object})
    new.iloc[0, 0] = "violet"
    for name, contestant in CONTESTANTS.items():
        if contestant.is_here:
            model = build(contestant, Entry(name, (contestant.codes or ("",))[0]), X, kinds_of(X), 0).fit(
                X[:300], y[:300]
            )
            assert np.mean(scores_of(model, X[300:]).argmax(axis=1) == y[300:]) > 0.8, name
            assert scores_of(model, new).shape == (100, 3)
    race = Race(None, contestants=["ridge", "decision-tree"], random_state=0).fit(X[:300], y[:300])
    assert np.mean(race.predict(new[1:]) == y[301:]) > 0.9


def test_sparse_rows_go_to_those_who_can_read_them():
    X, y = load_digits(return_X_y=True)
    names = chosen_contestants(None, sparse.csr_array(X), 10)
    assert "ridge" in names
    assert "gradient-boost" not in names
    race = Race(None, contestants=["ridge", "maxent"], random_state=0).fit(sparse.csr_array(X[:400]), y[:400])
    assert race.predict(sparse.csr_array(X[400:410])).shape == (10,)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"time_limit": 0}, "time_limit=0 must be a positive number of seconds"),
        ({"time_limit": "1"}, "time_limit='1' must be"),
        ({"contestants": []}, "contestants is empty"),
        ({"contestants": ["forrest"]}, "contestants='forrest'"),
        ({"metric": "loss"}, "metric='loss' must be one of"),
    ],
)
def test_bad_parameters_are_named(parameters, message):
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match=message):
        Race(**parameters).fit(X, y)


def test_greedy_weights_are_the_best_of_all_sequences_on_a_small_case():
    """With two models every average of up to twenty parts can be tried: none has less log-loss."""
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=200)
    P = [Calibration(1.0, 0.1)(np.eye(3)[y] * 2 + rng.normal(size=(200, 3))) for _ in range(2)]
    weights = greedy_weights(P, y, "log-loss")
    found = losses_of(weights[0] * P[0] + weights[1] * P[1], y, "log-loss").mean()
    every = [
        losses_of(a / (a + b) * P[0] + b / (a + b) * P[1], y, "log-loss").mean()
        for a, b in itertools.product(range(21), repeat=2)
        if 0 < a + b <= 20
    ]
    assert found <= min(every) + 2e-4
    assert found < min(losses_of(one, y, "log-loss").mean() for one in P)


def test_calibration_is_that_of_the_likeliest_temperature():
    rng = np.random.default_rng(1)
    D = rng.normal(size=(4000, 4))
    true = Calibration(0.5, 0.0)(D)
    y = np.array([rng.choice(4, p=p) for p in true])
    found = Calibration.of(3 * D, y)
    assert found.temperature == pytest.approx(1.5, rel=0.1)
    assert log_loss(y, found(3 * D)) <= log_loss(y, true) + 1e-3


def test_an_average_wins_where_members_see_different_features():
    X, y = make_classification(3000, 20, n_informative=12, n_classes=3, flip_y=0, shuffle=False, random_state=0)
    halves = {
        name: make_pipeline(ColumnTransformer([("half", "passthrough", list(half))]), LogisticRegression())
        for name, half in {"first": range(6), "second": range(6, 12)}.items()
    }
    race = Race(None, contestants=halves, random_state=0).fit(X[::2], y[::2])
    alone = Race(None, contestants=halves, blend=False, random_state=0).fit(X[::2], y[::2])
    assert sorted(race.winner_) == ["first", "second"]
    assert len(alone.winner_) == 1
    assert sum(race.model_.weights) == pytest.approx(1)
    errors = [np.mean(one.predict(X[1::2]) != y[1::2]) for one in (race, alone)]
    assert errors[0] < errors[1]
    assert race.loss_ == pytest.approx(errors[0], abs=0.04)
