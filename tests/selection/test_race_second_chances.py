"""Who gets another chance in a race: what was stopped in the start, and families that a lap had no time for."""

import time

from sklearn.datasets import load_iris

from outputcodes.selection.race.laps import Lap
from outputcodes.selection.race.trials import Trial
from outputcodes.selection.race.workers import STOPPED
from race_courses import course_of


def test_what_was_stopped_in_the_start_gets_a_second_chance(monkeypatch):
    X, y = load_iris(return_X_y=True)
    course = course_of(X, y, ["ridge", "decision-tree", "neighbours"])
    course.until = time.monotonic() + 1000
    run, stopped = course.workers.run, []

    def hurried(tasks, *times):
        for trial in run(tasks, *times):
            if trial.task.entry.contestant == "neighbours" and not stopped:
                stopped.append(trial)
                trial = Trial(trial.task, failed=STOPPED)
            yield trial

    monkeypatch.setattr(course.workers, "run", hurried)
    course.run()
    assert "neighbours" in {entry.contestant for entry, _ in course.standings}
    assert not any(one.why == STOPPED for one in course.departures)


def test_families_that_a_lap_had_no_time_for_join_the_next_one(monkeypatch):
    """Not so those that were stopped twice, and none if no time is left."""
    X, y = load_iris(return_X_y=True)
    course = course_of(X, y, ["ridge", "decision-tree", "neighbours"])
    course.until = time.monotonic() + 1000
    run, laps = course.workers.run, [Lap(60, 2), Lap(100, 2)]
    monkeypatch.setattr(course, "laps", lambda: laps)
    rows = {"decision-tree": [], "neighbours": []}
    seconds = course.seconds

    def hurried(tasks, *times):
        for trial in run(tasks, *times):
            if trial.task.entry.contestant == "neighbours":
                rows["neighbours"].append(trial.task.rows)
                trial = Trial(trial.task, failed=STOPPED)
            yield trial

    def too_long(entry, n):
        return (1e6, True) if entry.contestant == "decision-tree" and n == 60 else seconds(entry, n)

    monkeypatch.setattr(course.workers, "run", hurried)
    monkeypatch.setattr(course, "seconds", too_long)
    course.run()
    reached = {(entry.contestant, lap.rows) for entry, lap in course.standings}
    assert ("decision-tree", 60) not in reached
    assert ("decision-tree", 100) in reached
    assert set(rows["neighbours"]) == {60}
    there = [one for (_, lap), one in course.standings.items() if lap == laps[0]]
    for left_out in [key for key in course.standings if key[0].contestant == "decision-tree"]:
        del course.standings[left_out]
    known = dict(course.standings)
    assert course._with_left_out(there, laps[1], time.monotonic() - 1) == there
    assert course.standings == known
    assert len(course._with_left_out(there, laps[1], time.monotonic() + 100)) == len(there) + 1
