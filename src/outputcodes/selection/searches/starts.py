"""Where a training of a search starts: from trainings on other rows, or ahead on the line through the last two."""

from __future__ import annotations

import numpy as np

from outputcodes.training import TrainedCode

# Steps of a path that are foreseen from the last one at most.
FARTHEST = 2.0


def on_other_rows(trained: TrainedCode | None) -> TrainedCode | None:
    """Return a training if trainings on other rows may start from it."""
    return trained if trained is not None and trained.problem.learner.starts_from_other_rows else None


class Walk:
    """The last two trainings of a segment of a path, each with its value of the path's last parameter."""

    def __init__(self, start: TrainedCode | None) -> None:
        self.first: TrainedCode | None = None
        self._start, self._passed = start, list[tuple[float, TrainedCode]]()

    def reached(self, place: tuple[float, ...], trained: TrainedCode) -> None:
        """Take note of a training."""
        self.first, self._start = self.first or trained, trained
        self._passed = [*self._passed[-1:], (place[-1] if place else 0.0, trained)]

    def lost(self, start: TrainedCode | None) -> None:
        """Begin again from another start, after a training that failed."""
        self._start = start
        self._passed.clear()

    def start(self, place: tuple[float, ...]) -> TrainedCode | None:
        """Return where the training at a place starts: on the line through the last two, over its logarithm."""
        if len(self._passed) < 2:
            return self._start
        (earlier, before), (later, last) = self._passed
        if not 0 < abs(earlier) < np.inf or 0 in (later, place[-1]) or earlier == later:
            return last
        steps = np.log(place[-1] / later) / np.log(later / earlier)
        guess = last.columns.beyond(before.columns, float(np.clip(steps, 0, FARTHEST)))
        return TrainedCode(last.problem, last.code, guess)
