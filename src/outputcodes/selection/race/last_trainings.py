"""The last trainings of a race: the winner on all rows, or what there is time for."""

from __future__ import annotations

from collections import deque

from outputcodes.selection.race.course import Course
from outputcodes.selection.race.laps import Standing
from outputcodes.selection.race.trials import Task, Trial
from outputcodes.selection.race.workers import Here

# What the model consists of, the weight of each, and its training.
Fitted = list[tuple[Standing, float, Trial]]
# Seconds that a training may take when the time is over.
SPARE = 1.0


def trained_on_all_rows(
    course: Course, members: list[tuple[Standing, float]], finalists: list[Standing], end: float
) -> Fitted:
    """Return the members on all rows; where time is short, the best finalist that was or can still be trained."""
    n = len(course.data.y)
    wanted = [(finalists[0], 0.0), *members] if members[0][0] is not finalists[0] else members
    tasks = {Task(one.entry, None, n, one.decoder): (one, weight) for one, weight in wanted}
    found = dict(course.fitted)
    missing = deque(task for task in tasks if task not in found)
    found |= {trial.task: trial for trial in course.workers.run(missing, end=end) if not trial.failed}
    if all(task in found for task, (_, weight) in tasks.items() if weight > 0):
        return [(one, weight, found[task]) for task, (one, weight) in tasks.items() if weight > 0]
    for one in finalists:
        if (task := Task(one.entry, None, n, one.decoder)) in found:
            return [(one, 1.0, found[task])]
    return too_late(course, finalists)


def too_late(course: Course, finalists: list[Standing]) -> Fitted:
    """Return the best finalist that trains in about a second, or else the quickest, on the rows it was measured on.

    It is trained in this process: another one may have been stopped, and takes seconds to start.
    """
    n, quickest = len(course.data.y), min(finalists, key=lambda one: one.seconds)
    tasks = {Task(one.entry, None, n, one.decoder): one for one in finalists if course.seconds(one.entry, n)[0] < SPARE}
    tasks[Task(quickest.entry, None, quickest.lap.rows, quickest.decoder)] = quickest
    for trial in Here(course.data).run(deque(tasks)):
        if not trial.failed:
            return [(tasks[trial.task], 1.0, trial)]
    raise ValueError(f"{quickest.entry} could not be trained again. {trial.failed}")
