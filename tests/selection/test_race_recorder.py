"""What a race says to its recorder, and what it tells of itself in the end."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.datasets import load_digits, load_wine

from outputcodes.selection import Race
from outputcodes.selection.race import Recorder
from outputcodes.selection.race import course as course_module
from outputcodes.selection.race.contestants import chosen_contestants
from outputcodes.selection.race.course import Course
from outputcodes.selection.race.folds import race_folds
from outputcodes.selection.race.trials import Field
from outputcodes.selection.race.views import kinds_of
from outputcodes.selection.race.workers import Here

QUICK = ["ridge", "decision-tree", "neighbours"]


class Tape(Recorder):
    """Remembers everything, and knows the trials that it is given."""

    keeps_models = wants_details = True

    def __init__(self, known=()):
        self.known = {trial.task: trial for trial in known}
        self.data, self.trials, self.leaders = None, [], []

    def begin(self, data):
        self.data = data

    def earlier(self, task):
        return self.known.get(task)

    def trained(self, trial):
        self.trials.append(trial)

    def leads(self, race, final):
        self.leaders.append((race.winner_, race.loss_, final, race.predict(self.data.X)))


@pytest.fixture(scope="module")
def wine():
    X, y = load_wine(return_X_y=True)
    tape = Tape()
    return X, y, tape, Race(None, contestants=QUICK, random_state=0).fit(X, y, recorder=tape)


def test_a_recorder_changes_nothing(wine):
    X, y, _, race = wine
    alone = Race(None, contestants=QUICK, random_state=0).fit(X, y)
    assert alone.winner_ == race.winner_
    assert (alone.loss_, alone.interval_) == (race.loss_, race.interval_)
    assert (alone.curve_, alone.held_out_, alone.held_out_probabilities_) == ([], None, None)
    np.testing.assert_array_equal(alone.predict_proba(X), race.predict_proba(X))


def test_there_is_a_model_that_predicts_as_soon_as_anything_is_measured(wine):
    _, y, tape, race = wine
    first = next(i for i, trial in enumerate(tape.trials) if trial.task.fold is None)
    # All folds of the first entry were measured, and nothing else.
    assert len({trial.task.entry for trial in tape.trials[:first]}) == 1
    assert [final for _, _, final, _ in tape.leaders] == [False] * (len(tape.leaders) - 1) + [True]
    for _, loss, _, predicted in tape.leaders:
        assert np.mean(predicted != y) < loss + 0.1
    assert tape.leaders[-1][:2] == (race.winner_, race.loss_)


def test_what_an_earlier_run_has_trained_is_not_trained_again(wine):
    X, y, tape, race = wine
    known = [trial for trial in tape.trials if trial.task.fold is not None]
    again = Tape(known)
    second = Race(None, contestants=QUICK, random_state=0).fit(X, y, recorder=again)
    assert all(trial.task.fold is None for trial in again.trials)
    assert second.standings_ == race.standings_
    half = Tape(known[::2])
    third = Race(None, contestants=QUICK, random_state=0).fit(X, y, recorder=half)
    trained = {trial.task for trial in half.trials if trial.task.fold is not None}
    assert trained == {trial.task for trial in known[1::2]}
    assert third.loss_ == race.loss_


def test_the_learning_curve_is_that_of_trainings_on_the_first_rows(wine):
    _, _, tape, race = wine
    rows = [point["rows"] for point in race.curve_]
    assert rows == sorted(set(rows))
    assert rows[-1] == race.standings_[0]["rows"]
    assert race.curve_[-1]["loss"] == pytest.approx(race.standings_[0]["loss"])
    best = race.standings_[0]
    data = tape.data
    for point in race.curve_:
        found = [
            trial
            for trial in tape.trials
            if trial.task.fold is not None
            and trial.task.rows == point["rows"]
            and f"{trial.task.entry}, decoder {best['decoder']}".removesuffix(", decoder ") == best["name"]
        ]
        errors = [
            np.mean(trial.scores[best["decoder"]].argmax(axis=1) != data.y[data.folds[trial.task.fold][1]])
            for trial in sorted(found, key=lambda trial: trial.task.fold)
        ]
        assert point["folds"] == pytest.approx(errors)


def test_the_model_for_the_report_has_not_seen_the_rows_it_is_shown_on(wine):
    _, y, tape, race = wine
    model, rows = race.held_out_
    train, test = tape.data.folds[0]
    np.testing.assert_array_equal(rows, test)
    assert len(model.models) == len(race.winner_)
    # Labels of rows that it was not trained on have no part in it.
    changed = y.copy()
    changed[rows] = (changed[rows] + 1) % 3
    table = tape.data.X
    refitted = type(model)(model.models, model.temperatures, model.doubts, model.weights, model.classes)
    before = model.predict_proba(table)
    refitted.fit(table[train], changed[train])
    np.testing.assert_allclose(refitted.predict_proba(table), before)
    held, P = race.held_out_probabilities_
    assert sorted(held) == list(range(len(y)))
    np.testing.assert_allclose(P.sum(axis=1), 1, rtol=1e-5)
    assert np.mean(P.argmax(axis=1) != y[held]) == pytest.approx(race.losses_.mean())


def test_laps_have_every_entry_and_their_times():
    X, y = load_digits(return_X_y=True)
    X, y = np.tile(X, (3, 1)), np.tile(y, 3)
    race = Race(None, contestants=["ridge", "decision-tree"], random_state=0, cv=2).fit(X, y)
    assert len(race.laps_) > 1
    assert [lap["rows"] for lap in race.laps_] == sorted(lap["rows"] for lap in race.laps_)
    for lap in race.laps_:
        losses = [entry["loss"] for entry in lap["entries"]]
        assert losses == sorted(losses)
        assert lap["estimated"] > 0
        assert lap["seconds"] > 0
    names = {row["name"].partition(", decoder")[0] for row in race.standings_}
    assert names <= {entry["entry"] for entry in race.laps_[-1]["entries"]}


def test_a_lap_that_is_too_short_for_all_entries_goes_on_with_the_time_of_the_next(monkeypatch):
    """Estimates say that nothing fits into the second lap; there is time before the last trainings."""
    X, y = load_digits(return_X_y=True)
    X, y = np.tile(X, (3, 1)), np.tile(y, 3)
    asked = []
    measure = Course.measure
    monkeypatch.setattr(Course, "_end_for", lambda self, leader, lap, end: end)

    def reluctant(self, entries, lap, end, new=False):
        entries = list(entries)
        asked.append((lap, end))
        if lap.rows > 2000 and end < self.until and not new:
            for entry in entries:
                self._leave(entry, lap, None, "It would take too long.")
            return []
        return measure(self, entries, lap, end, new)

    monkeypatch.setattr(Course, "measure", reluctant)
    race = Race(500, contestants=["ridge"], random_state=0, cv=2).fit(X, y)
    assert any(lap.rows > 2000 for lap, _ in asked)
    assert race.standings_[0]["rows"] > 2000
    assert not [one for one in race.departures_ if one["why"] == "It would take too long."]


def test_the_leader_does_not_leave_because_its_lap_is_short(monkeypatch):
    X, y = load_wine(return_X_y=True)
    numbers = np.searchsorted(np.unique(y), y)
    data = Field(chosen_contestants(QUICK, X, 3), X, kinds_of(X), numbers, 3, race_folds(numbers, 0), 0)
    course = Course(data, "error", Here(data), 0.0, 100.0)
    (leader, *_), (lap, *_) = course.entries(), course.laps()
    monkeypatch.setattr(course_module, "time", SimpleNamespace(monotonic=lambda: 40.0))
    monkeypatch.setattr(Course, "seconds", lambda self, entry, rows: (20.0, True))
    assert course._end_for(leader, lap, 50.0) == 100.0
    assert course._end_for(leader, lap, 70.0) == 70.0
