"""The journal of a race: every training is on disk as soon as it is done, and a race that was stopped continues."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from zipfile import BadZipFile

import numpy as np

from outputcodes._ground.files import in_place_of
from outputcodes.selection import Journal, Race
from outputcodes.selection.journal import Line
from outputcodes.selection.race import Recorder
from outputcodes.selection.race.trials import Field, Task, Trial

SCORES = "scores"


class RaceJournal(Recorder):
    """Writes a line for every training, and the scores of the rows that it held out to a file of their own.

    Parameters
    ----------
    journal : Journal
    folder : Path or None
        That of the results, for the scores; without one, nothing is on disk, and no models are kept.
    save : callable, optional
        Called as save(race, final) with the best so far, and with the winner.

    Attributes
    ----------
    computed, found : int
        How many trainings were done now, and how many were taken from the journal.
    """

    def __init__(self, journal: Journal, folder: Path | None, save: Callable[[Race, bool], None] | None = None) -> None:
        self.journal, self.folder, self.save = journal, folder, save
        self.keeps_models = self.wants_details = folder is not None
        self.computed = self.found = 0
        # Of a failure and the next attempt, the latter counts.
        latest = {key_of(line): line for line in journal.lines}
        self._known = {key: line for key, line in latest.items() if not line["failed"]}
        self._data: Field | None = None

    def begin(self, data: Field) -> None:
        """Remember the labels of the rows that folds hold out."""
        self._data = data
        if self.folder is not None:
            (self.folder / SCORES).mkdir(parents=True, exist_ok=True)

    def earlier(self, task: Task) -> Trial | None:
        """Return the trial of a task that the journal has, with its scores; None if they are lost."""
        line = self._known.get(key_of(line_of(task)))
        if line is None or self.folder is None or self._data is None or task.fold is None:
            return None
        try:
            with (self.folder / SCORES / line["scores"]).open("rb") as file, np.load(file) as found:
                scores = {name: found[f"decoder_{i}"] for i, name in enumerate(line["errors"])}
        except (OSError, ValueError, KeyError, EOFError, BadZipFile):
            return None
        shape = len(self._data.folds[task.fold][1]), self._data.k
        if any(D.shape != shape or D.dtype != np.float32 for D in scores.values()):
            return None
        self.found += 1
        return Trial(task, float(line["seconds"]), scores)

    def trained(self, trial: Trial) -> None:
        """Write the scores, then the line that names them."""
        fold = trial.task.fold
        if fold is None or self._data is None:
            return
        line = line_of(trial.task)
        y = self._data.y[self._data.folds[fold][1]]
        errors = {name: float(np.mean(D.argmax(axis=1) != y)) for name, D in trial.scores.items()}
        line |= {"seconds": trial.seconds, "errors": errors, "failed": trial.failed or None, "scores": None}
        if self.folder is not None and not trial.failed:
            line["scores"] = hashlib.sha256(key_of(line).encode()).hexdigest()[:24] + ".npz"
            with in_place_of(self.folder / SCORES / line["scores"]) as part, part.open("wb") as file:
                np.savez(file, **{f"decoder_{i}": D for i, D in enumerate(trial.scores.values())})  # type: ignore[arg-type]
        self.computed += 1
        # What fails as before is in the journal already.
        if not trial.failed or line not in self.journal.lines:
            self.journal.add(line)

    def leads(self, race: Race, final: bool) -> None:
        """Hand the best so far to `save`."""
        if self.save is not None:
            self.save(race, final)


def line_of(task: Task) -> Line:
    """Return what a line says of a task."""
    entry = task.entry
    parameters = {name: value.item() if hasattr(value, "item") else value for name, value in entry.parameters}
    return {
        "contestant": entry.contestant,
        "code": entry.code,
        "parameters": parameters,
        "rows": task.rows,
        "fold": task.fold,
    }


def key_of(line: Line) -> str:
    """Return what tells a training from others."""
    names = ("contestant", "code", "parameters", "rows", "fold")
    return json.dumps([line[name] for name in names], sort_keys=True)


def check_line(line: Line) -> None:
    """Raise an error unless a line is one of a training in a race."""
    key_of(line)
    if line["failed"]:
        return
    for error in line["errors"].values():
        if not 0 <= error <= 1:
            raise ValueError(f"an error of {error!r} is impossible: it must be between 0 and 1")
    if not 0 <= line["seconds"] < np.inf:
        raise ValueError(f"a time of {line['seconds']!r} seconds is impossible")
    if Path(str(line["scores"])).name != line["scores"]:
        raise ValueError(f"the scores {line['scores']!r} are no file of this folder")


def is_empty(line: Line) -> bool:
    """Return whether a line holds no result."""
    return bool(line["failed"])
