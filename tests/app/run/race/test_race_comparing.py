"""A race on a table: what is ranked, what is tested, what has to stay together, and how much time it may take."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris

from outputcodes._ground.folds import grouped_folds
from outputcodes.app import persistence, tables
from outputcodes.app.run import Source, cross_validation, fit_file, official, open_source, race_table
from outputcodes.app.run.race import comparing
from outputcodes.app.run.race.results import MOST_NAMED, notes_on, rows_of
from outputcodes.app.run.race.winner import never_tested
from outputcodes.selection import CONTESTANTS, Race
from outputcodes.selection.race import Recorder
from outputcodes.selection.race.contestants import Contestant

QUICK = ["ridge", "decision-tree"]


@pytest.fixture(scope="module")
def iris():
    X, y = load_iris(return_X_y=True, as_frame=True)
    return tables.from_frame(X, y)


def test_test_rows_have_no_part_in_the_race(iris, tmp_path):
    parts = np.where(np.arange(150) % 3 == 0, "test", "train")
    source = Source("iris", iris, official(parts))
    outcome = race_table(source, QUICK, time_limit=None, out=tmp_path)
    model, manifest = persistence.load(tmp_path / "model.skops")
    frame, y = iris.frame[parts == "test"], iris.target.to_numpy()[parts == "test"]
    wrong = np.mean(model.predict(frame) != y)
    assert outcome.tested.error == manifest.summary["test_error"] == pytest.approx(wrong)
    low, high = outcome.tested.interval
    assert low <= wrong <= high
    assert any("50 test rows" in note for note in outcome.notes)
    # The same race without these rows is the same race.
    rows = np.flatnonzero(parts == "train")
    fewer = tables.from_frame(iris.frame.iloc[rows], iris.target.iloc[rows])
    again = race_table(Source("iris", fewer, cross_validation(fewer.target, 2)), QUICK, time_limit=None)
    assert again.race.winner_ == outcome.race.winner_
    assert again.race.loss_ == outcome.race.loss_


def test_rows_are_the_finalists_with_the_tests_of_their_held_out_rows(iris):
    outcome = race_table(Source("iris", iris, cross_validation(iris.target, 3)), QUICK, time_limit=None)
    race = outcome.race
    assert [row.error for row in outcome.rows] == sorted(row.error for row in outcome.rows)
    singles = [row for row in outcome.rows if not row.learner.startswith("average")]
    assert sorted(row.error for row in singles) == sorted(race.finalist_losses_.mean(axis=0))
    assert all(0 <= row.p_value <= 1 for row in outcome.rows[1:])


def test_of_many_that_could_not_be_trained_a_note_says_where_the_others_are(iris):
    race = Race(None, contestants=QUICK, random_state=0).fit(iris.frame, iris.target)
    race.departures_ = [{"entry": f"e{i}", "loss": None, "why": "It failed."} for i in range(MOST_NAMED + 2)]
    *_, last, note = notes_on(race, rows_of(race), None, 150)
    assert last == f"e{MOST_NAMED - 1}: It failed."
    assert note == "2 more could not be trained: report.html in the folder of --out names them."


class Listener(Recorder):
    def begin(self, data):
        self.data = data


def test_groups_are_never_both_trained_and_tested_on(iris):
    rng = np.random.default_rng(0)
    groups = rng.integers(12, size=150)
    listener = Listener()
    Race(None, contestants=QUICK, random_state=0).fit(iris.frame, iris.target, groups=groups, recorder=listener)
    for train, test in listener.data.folds:
        assert not set(groups[train]) & set(groups[test])
    assert sorted(np.concatenate([test for _, test in listener.data.folds])) == list(range(150))
    for train, test in cross_validation(iris.target, 4, 0, groups).pairs:
        assert not set(groups[train]) & set(groups[test])


def test_an_error_that_groups_hide_is_found():
    """Each group has its own label by chance and its own place: rows of it tell nothing about other groups."""
    rng = np.random.default_rng(0)
    group = np.repeat(np.arange(30), 10)
    y = rng.integers(2, size=30)[group]
    X = rng.normal(size=(30, 3))[group] + 0.01 * rng.normal(size=(300, 3))
    race = Race(None, contestants=["neighbours"], random_state=0)
    assert race.fit(X, y).loss_ < 0.02
    assert race.fit(X, y, groups=group).loss_ > 0.3


def test_groups_must_be_several_and_one_for_each_row():
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match="groups has 1 different values, and 2 folds need 2 or more"):
        Race(None, contestants=QUICK).fit(X, y, groups=np.zeros(150))
    with pytest.raises(ValueError, match=r"groups has the shape \(3,\)"):
        Race(None, contestants=QUICK).fit(X, y, groups=[0, 1, 2])
    with pytest.raises(ValueError, match="cv=1 must be a number of folds"):
        Race(None, contestants=QUICK, cv=1).fit(X, y)
    assert len(grouped_folds(y, np.arange(150) % 3, 3)) == 3


def test_a_column_of_groups_is_no_feature(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.normal(size=60), "patient": np.arange(60) // 5, "class": np.arange(60) // 5 % 2})
    path = tmp_path / "visits.csv"
    frame.to_csv(path, index=False)
    source = open_source(str(path), group="patient", cv=3)
    assert source.table.schema.used == ["x"]
    assert source.splits.title == "3-fold cross-validation by groups"
    for train, test in source.splits.pairs:
        assert not set(frame["patient"][train]) & set(frame["patient"][test])
    _, summary = fit_file(str(path), tmp_path / "m.skops", learner="ridge", tune=True, group="patient")
    assert summary["tuned"]["folds"] == 5
    with pytest.raises(ValueError, match=r"group='patient' \(--group patient\) is for the folds"):
        fit_file(str(path), tmp_path / "m.skops", learner="ridge", group="patient")
    frame.loc[7, "patient"] = None
    frame.to_csv(path, index=False)
    with pytest.raises(tables.TableError, match=r"1 rows have no group \(--group patient\); the first is row 8"):
        open_source(str(path), group="patient")
    with pytest.raises(tables.TableError, match="no group column 'doctor'"):
        open_source(str(path), group="doctor")


def test_the_race_gets_what_reading_and_report_leave_of_the_time(iris, monkeypatch):
    """With a clock of its own: nothing depends on how busy the machine is."""
    now, given = [1000.0], []

    def raced(table, time_limit, **options):
        given.append(time_limit)
        raise KeyboardInterrupt

    monkeypatch.setattr(comparing, "time", SimpleNamespace(monotonic=lambda: now[0]))
    monkeypatch.setattr(comparing, "race_on", raced)
    source = Source("iris", iris, cross_validation(iris.target, 3))
    for limit, elapsed, expected in [(60.0, 5.0, 49.0), (10.0, 1.0, 7.5), (600.0, 0.0, 580.0), (2.0, 5.0, 1.0)]:
        now[0] = 1000.0 + elapsed
        with pytest.raises(KeyboardInterrupt):
            race_table(source, QUICK, time_limit=limit, started=1000.0)
        assert given[-1] == pytest.approx(expected)
    with pytest.raises(KeyboardInterrupt):
        race_table(source, QUICK, time_limit=None, started=1000.0)
    assert given[-1] is None


def test_the_best_so_far_is_written_as_often_as_it_costs_little(iris, monkeypatch, tmp_path):
    now, written = [0.0], []

    def save(*args, **options):
        written.append(now[0])
        now[0] += 1.0

    monkeypatch.setattr(comparing, "time", SimpleNamespace(monotonic=lambda: now[0]))
    monkeypatch.setattr(comparing.persistence, "save", save)
    source = Source("iris", iris, cross_validation(iris.target, 3))
    race = comparing.race_on(iris, None, contestants=["ridge"])
    saver = comparing._Saver(source, tmp_path / "model.skops")
    for moment in (0.0, 2.0, 15.0, 30.0):
        now[0] = moment
        saver(race, False)
    assert written == [0.0, 30.0]
    now[0] = 32.0
    saver(race, True)
    assert written[-1] == 32.0


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("svc", "learners='svc' takes no part in races: add --exhaustive"),
        ("absent", "learners='absent' needs a package: pip install nowhere"),
        ("rigde", "did you mean 'ridge'"),
    ],
)
def test_who_takes_no_part_is_told(iris, name, message, monkeypatch):
    monkeypatch.setitem(CONTESTANTS, "absent", Contestant("boosted trees", object, needs="nowhere"))
    with pytest.raises(ValueError, match=message):
        race_table(Source("iris", iris, cross_validation(iris.target, 3)), [name])


def test_classes_that_are_never_tested_are_named(iris, tmp_path):
    frame = pd.concat([iris.frame, iris.frame.iloc[[0, 0]]], ignore_index=True)
    labels = pd.Series([*np.array(["a", "b", "c"])[iris.target], "solo", "single"], name="class")
    table = tables.from_frame(frame, labels)
    source = Source("iris", table, cross_validation(labels, 2))
    outcome = race_table(source, ["ridge"], time_limit=None, out=tmp_path / "out")
    told = "One row only: 'single', 'solo'. They are trained on and never tested"
    assert any(told in note for note in outcome.notes)
    assert len(outcome.race.finalist_losses_) == 150
    frame.assign(**{"class": labels}).to_csv(tmp_path / "t.csv", index=False)
    _, summary = fit_file(str(tmp_path / "t.csv"), tmp_path / "model.skops", time_limit=1)
    assert any(told in note for note in summary["notes"])


def test_classes_of_one_group_are_named(iris):
    labels = np.array(["a", "b", "c"])[iris.target]
    table = tables.from_frame(iris.frame.reset_index(drop=True), pd.Series(labels, name="class"))
    group = pd.Series(np.where(labels == "c", "g", np.arange(150) % 4), index=table.target.index)
    (note,) = never_tested(replace(table, group=group))
    assert note == "In one group only: 'c'. It is never trained on where its rows are tested."
    assert never_tested(replace(table, group=group), np.flatnonzero(labels != "c")) == []
