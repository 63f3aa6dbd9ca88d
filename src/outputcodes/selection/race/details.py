"""What a report says of a race: its laps, the winner's learning curve, and a model that has not seen some rows."""

from __future__ import annotations

from collections import deque
from typing import Any

import numpy as np
from numpy.typing import NDArray

from outputcodes.selection.race.course import GRACE, Course
from outputcodes.selection.race.laps import Lap, Standing
from outputcodes.selection.race.trials import Field, Task

# Points of a learning curve where there are no more laps: the half, the quarter … of the rows.
FEWEST_POINTS, APART = 4, 1.5
# A curve starts with at least so many rows of each class, on average.
ROWS_OF_A_CLASS = 5


def fold_means(losses: NDArray[Any], data: Field, folds: int) -> list[float]:
    """Return the mean of losses on the held-out rows of each fold."""
    ends = np.cumsum([len(test) for _, test in data.folds[:folds]])
    return [float(part.mean()) for part in np.split(losses, ends[:-1])]


def laps_of(course: Course) -> list[dict[str, Any]]:
    """Return the laps in their order, with all entries that were measured on each, best first."""
    every = sorted(course.standings.values(), key=lambda one: one.key)
    return [
        {
            "rows": lap.rows,
            "folds": lap.folds,
            "estimated": course.plans[lap].estimated,
            "seconds": course.plans[lap].seconds,
            "entries": [
                {
                    "entry": str(one.entry),
                    "family": course.family(one.entry),
                    "decoder": one.decoder,
                    "loss": one.loss,
                    "seconds": one.seconds,
                }
                for one in every
                if one.lap == lap
            ],
        }
        for lap in course.plans
    ]


def learning_curve(course: Course, winner: Standing, end: float) -> list[dict[str, Any]]:
    """Return the losses of an entry by the number of training rows, trained where they are not known.

    What would not be trained before `end` is left out.
    """
    full = winner.lap.rows
    sizes = {lap.rows for lap in course.laps() if lap.rows <= full}
    least = ROWS_OF_A_CLASS * course.data.k
    smaller = full // 2
    while len(sizes) < FEWEST_POINTS and smaller >= least:
        # Points that are close to others say nothing new.
        if all(max(smaller, other) >= APART * min(smaller, other) for other in sizes):
            sizes.add(smaller)
        smaller //= 2
    points = []
    for rows in sorted(sizes):
        lap = Lap(rows, winner.lap.folds)
        for one in course.measure([winner.entry], lap, end, new=True):
            points.append({"rows": rows, "loss": one.loss, "folds": fold_means(one.losses, course.data, lap.folds)})
    return points


def with_fewer_rows(course: Course, one: Standing, end: float) -> Standing | None:
    """Return where an entry stands with clearly fewer training rows; with half of them, if that must be measured.

    None if there is no time for it before `end`, or the half has too few rows.
    """
    known = [
        other
        for (entry, lap), other in course.standings.items()
        if entry == one.entry and APART * lap.rows <= one.lap.rows
    ]
    if known:
        return max(known, key=lambda other: other.lap.rows)
    half = Lap(one.lap.rows // 2, one.lap.folds)
    if half.rows < ROWS_OF_A_CLASS * course.data.k:
        return None
    # What has begun may go on for a while.
    begun = end if end == np.inf else end - GRACE * (course.until - course.start)
    return next(iter(course.measure([one.entry], half, begun, new=True)), None)


def without_a_fold(course: Course, members: list[Standing], end: float) -> list[Any] | None:
    """Return models of the members that were trained without the held-out rows of the first fold.

    None if there is no time for all of them.
    """
    rows = len(course.data.folds[0][0])
    tasks = [Task(one.entry, None, rows, one.decoder) for one in members]
    found = {trial.task: trial for trial in course.workers.run(deque(tasks), end, end) if not trial.failed}
    return [found[task].model for task in tasks] if all(task in found for task in tasks) else None
