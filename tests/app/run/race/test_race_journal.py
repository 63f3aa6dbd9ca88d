"""A race that was stopped continues where it ended, and ends as one that was never stopped."""

from __future__ import annotations

import json

import numpy as np
import pytest
from sklearn.datasets import load_wine

from outputcodes.app import persistence, tables
from outputcodes.app.run import Source, cross_validation, race_table
from outputcodes.app.run.race import journal as lines
from outputcodes.selection import JournalError
from outputcodes.selection.race.contestants import Entry
from outputcodes.selection.race.trials import Task

QUICK = ["ridge", "decision-tree", "neighbours"]


@pytest.fixture(scope="module")
def wine():
    X, y = load_wine(return_X_y=True, as_frame=True)
    table = tables.from_frame(X, y)
    return Source("wine", table, cross_validation(table.target, 3))


@pytest.fixture(scope="module")
def alone(wine, tmp_path_factory):
    """The race without any interruption: its folder and outcome."""
    out = tmp_path_factory.mktemp("alone") / "out"
    return out, race_table(wine, QUICK, cv=3, time_limit=None, out=out)


def without_times(path):
    found = [json.loads(line) for line in path.read_text().splitlines()]
    return [{name: value for name, value in line.items() if name != "seconds"} for line in found]


def stopping_after(count, monkeypatch):
    """Let a race be stopped after so many trainings, before the line of the last one is written."""
    trained, done = lines.RaceJournal.trained, []

    def stop(self, trial):
        if len(done) == count:
            raise KeyboardInterrupt
        # Models that are kept have no lines.
        done.extend([trial] if trial.task.fold is not None else [])
        trained(self, trial)

    monkeypatch.setattr(lines.RaceJournal, "trained", stop)


@pytest.mark.parametrize("count", [0, 1, 7, 20])
def test_stopped_and_resumed(wine, alone, tmp_path, monkeypatch, count):
    folder, expected = alone
    with monkeypatch.context() as patched:
        stopping_after(count, patched)
        with pytest.raises(KeyboardInterrupt):
            race_table(wine, QUICK, cv=3, time_limit=None, out=tmp_path)
    outcome = race_table(wine, QUICK, cv=3, time_limit=None, out=tmp_path, resume=True)
    assert without_times(tmp_path / "results.jsonl") == without_times(folder / "results.jsonl")
    assert outcome.computed + outcome.found == expected.computed
    assert outcome.found == count
    assert [(row.name, row.error, row.parameters) for row in outcome.rows] == [
        (row.name, row.error, row.parameters) for row in expected.rows
    ]
    assert outcome.race.winner_ == expected.race.winner_
    assert outcome.race.interval_ == expected.race.interval_
    frame = wine.table.frame
    models = [persistence.load(one / "model.skops")[0] for one in (tmp_path, folder)]
    np.testing.assert_array_equal(*(model.predict_proba(frame) for model in models))


def test_the_best_so_far_is_a_model_that_predicts(wine, tmp_path, monkeypatch):
    stopping_after(20, monkeypatch)
    with pytest.raises(KeyboardInterrupt):
        race_table(wine, QUICK, cv=3, time_limit=None, out=tmp_path)
    model, manifest = persistence.load(tmp_path / "model.skops")
    assert manifest.summary["race"] == "still running"
    y = wine.table.target.to_numpy()
    assert np.mean(model.predict(wine.table.frame) == y) > 0.9


def test_scores_that_are_lost_or_damaged_are_trained_again(wine, alone, tmp_path):
    race_table(wine, QUICK, cv=3, time_limit=None, out=tmp_path)
    first, second, *_ = sorted((tmp_path / "scores").iterdir())
    first.unlink()
    second.write_bytes(second.read_bytes()[:100])
    outcome = race_table(wine, QUICK, cv=3, time_limit=None, out=tmp_path, resume=True)
    assert outcome.computed == 2
    assert [row.error for row in outcome.rows] == [row.error for row in alone[1].rows]


def test_another_race_is_neither_continued_nor_written_over(wine, alone):
    folder, _ = alone
    before = (folder / "results.jsonl").read_bytes()
    with pytest.raises(JournalError, match="earlier run"):
        race_table(wine, QUICK, cv=3, time_limit=None, out=folder)
    for change, name in [({"seed": 1}, "seed"), ({"cv": 4}, "folds"), ({"metric": "log-loss"}, "metric")]:
        with pytest.raises(JournalError, match=f"differs in {name}"):
            race_table(wine, QUICK, **{"cv": 3, "time_limit": None, "out": folder, "resume": True} | change)
    with pytest.raises(JournalError, match="differs in race"):
        race_table(wine, QUICK[:2], cv=3, time_limit=None, out=folder, resume=True)
    assert (folder / "results.jsonl").read_bytes() == before


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        ({"errors": {"": 1.5}}, "an error of 1.5 is impossible"),
        ({"seconds": -1.0}, "a time of -1.0 seconds is impossible"),
        ({"scores": "../elsewhere.npz"}, "no file of this folder"),
    ],
)
def test_a_damaged_line_is_refused(wine, alone, tmp_path, damage, message):
    first, *others = (alone[0] / "results.jsonl").read_text().splitlines()
    others[3] = json.dumps(json.loads(others[3]) | damage)
    (tmp_path / "results.jsonl").write_text("\n".join([first, *others]) + "\n")
    with pytest.raises(JournalError, match=rf"line 5, is damaged: .*{message}"):
        race_table(wine, QUICK, cv=3, time_limit=None, out=tmp_path, resume=True)


def test_the_key_of_a_task_is_that_of_its_line_after_json():
    task = Task(Entry("tree", "dense", (("a", np.float64(0.1)), ("b", None), ("c", "auto"), ("d", np.int64(3)))), 2, 80)
    line = lines.line_of(task)
    assert lines.key_of(json.loads(json.dumps(line))) == lines.key_of(line)
    assert lines.key_of(lines.line_of(Task(task.entry, 1, 80))) != lines.key_of(line)
