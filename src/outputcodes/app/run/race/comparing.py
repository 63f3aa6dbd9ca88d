"""`compare` as a race: results as they come, the best so far on disk, then a ranking, a report and the model."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from outputcodes._ground.validation import check_n_jobs
from outputcodes.app import persistence
from outputcodes.app.run.digest import digest_of
from outputcodes.app.run.fitting import FEW_ROWS, class_shares, training_summary
from outputcodes.app.run.race import journal as lines
from outputcodes.app.run.race.details import write_race_report
from outputcodes.app.run.race.results import is_split, notes_on, rows_of, tested_on
from outputcodes.app.run.race.winner import facts_of, in_folds, model_of, named_contestants, never_tested, race_on
from outputcodes.app.run.sources import Source
from outputcodes.app.run.writing import MODEL, RESULTS
from outputcodes.selection import Journal, Race, Result, Results
from outputcodes.selection.metrics import check_metric
from outputcodes.selection.table import html_ranking, text_ranking

# The share of the time that is kept for the report, and its bounds in seconds.
REPORT_SHARE, LEAST_REPORT, MOST_REPORT = 0.1, 1.5, 20.0
# The share of the time that may go to files of the best so far.
SAVING_SHARE = 0.05


@dataclass(frozen=True, eq=False, repr=False)
class RaceOutcome:
    """The outcome of a race on a table.

    Attributes
    ----------
    race : Race
        Fitted; `race.winner_`, `race.loss_` and the like.
    rows : Results
        The average, if it won, and the finalists, best first, with their errors on held-out rows.
    tested : Result or None
        The winner on the test rows of the table, if it has some: they had no part in the race.
    notes : list of str
    computed, found : int
        How many trainings were done now, and how many an earlier run had done.
    folder : Path or None
        Where results.jsonl, report.html and model.skops are.
    title : str
    """

    race: Race
    rows: Results
    tested: Result | None
    notes: list[str]
    computed: int
    found: int
    folder: Path | None
    title: str = ""

    def __repr__(self) -> str:
        return "\n".join([self.title, text_ranking(self.rows, self.rows.metric, notes=self.notes)])

    def _repr_html_(self) -> str:
        return html_ranking(self.rows, self.rows.metric, title=self.title, notes=self.notes)


def race_table(
    source: Source,
    contestants: Sequence[str] | None = None,
    *,
    metric: str = "error",
    cv: int | None = None,
    out: str | Path | None = None,
    resume: bool = False,
    time_limit: float | None = 60.0,
    started: float | None = None,
    device: str = "cpu",
    seed: int = 0,
    n_jobs: int | None = None,
    cluster: Any = None,
) -> RaceOutcome:
    """Race on a table, rank the finalists, and write report and model.

    Parameters
    ----------
    source : Source
        The table. If it is split in two, the race has the training rows, and the winner is tested on the others;
        otherwise the race makes its own folds.
    contestants : names, optional
        By default all whose models can be saved.
    metric : {"error", "log-loss", "balanced"}
    cv : int, optional
        Folds; by default 5, above 20,000 rows 3.
    out : path of a folder, optional
        Every training is written to results.jsonl there as soon as it is done, the scores of the rows that it held out
        to the folder scores; after every lap the best so far is in model.skops, in the end the winner and report.html.
    resume : bool
        Continue the race in the folder.
    time_limit : float or None
        Seconds from `started` to the end of everything; None for no limit.
    started : float, optional
        The time of `time.monotonic` that the seconds count from; by default now.
    device : {"cpu", "cuda", "auto"}
        Where kernel SVMs are trained.
    cluster : str or distributed.Client, optional
        Where every training is a task: the address of a Dask scheduler, "local", or a client. The journal is the same,
        so that a race may be continued elsewhere.

    Examples
    --------
    >>> from outputcodes.app.run import open_source
    >>> outcome = race_table(open_source("iris", cv=3), ["ridge", "decision-tree"], time_limit=None)
    >>> sorted({row.learner for row in outcome.rows})
    ['decision-tree', 'ridge']
    """
    started = time.monotonic() if started is None else started
    check_metric(metric)
    check_n_jobs(n_jobs)
    if resume and out is None:
        raise ValueError("resume=True (--resume) needs out (--out): the folder with the results to continue.")
    folder = None if out is None else Path(out)
    if folder is not None and folder.exists() and not folder.is_dir():
        raise ValueError(f"{folder} (--out) is a file: name a folder, which is made if it is not there.")
    names = named_contestants(contestants, len(source.table.schema.classes))
    clock = Clock(started, time_limit)
    run = _described(source, names, metric, cv, seed) | ({} if device == "cpu" else {"device": device})
    path = None if folder is None else folder / RESULTS
    with Journal(path, run, resume=resume, is_empty=lines.is_empty, check=lines.check_line) as kept:
        saver = None if folder is None else _Saver(source, folder / MODEL)
        recorder = lines.RaceJournal(kept, folder, saver)
        train = source.splits.pairs[0][0] if is_split(source) else None
        trained = len(source.table.target) if train is None else len(train)
        limit = clock.left - clock.reserve if time_limit is not None else None
        race = race_on(
            source.table,
            None if limit is None else max(1.0, limit),
            rows=train,
            contestants=names,
            metric=metric,
            cv=cv,
            device=device,
            seed=seed,
            n_jobs=n_jobs,
            recorder=recorder,
            cluster=cluster,
        )
        rows = rows_of(race)
        tested = None if saver is None else saver.tested
        if tested is None and train is not None:
            tested = tested_on(race, source)
        found = [*never_tested(source.table, train), *notes_on(race, rows, tested, trained)]
        notes = [*kept.notes, *source.table.notes, *found]
        if folder is not None:
            write_race_report(folder, source, race, rows, notes, tested, seconds=clock.left - 0.5, seed=seed)
    table = source.table
    folds = race.standings_[0]["folds"]
    title = f"{source.name}: {trained} rows, {len(table.schema.classes)} classes, {in_folds(folds)}"
    return RaceOutcome(race, rows, tested, notes, recorder.computed, recorder.found, folder, title)


@dataclass
class Clock:
    """The seconds that are left of a limit."""

    started: float
    limit: float | None

    @property
    def left(self) -> float:
        """Seconds until the limit."""
        return np.inf if self.limit is None else self.started + self.limit - time.monotonic()

    @property
    def reserve(self) -> float:
        """Seconds that are kept for the report."""
        assert self.limit is not None
        return min(MOST_REPORT, max(LEAST_REPORT, REPORT_SHARE * self.limit))


@dataclass
class _Saver:
    """Writes the best so far, unless the one before it took long and is recent; and in the end the winner."""

    source: Source
    path: Path
    tested: Result | None = field(default=None, init=False)
    seconds: float = field(default=0.0, init=False)
    at: float = field(default=-np.inf, init=False)

    def __call__(self, race: Race, final: bool) -> None:
        start = time.monotonic()
        if not final and self.seconds > SAVING_SHARE * (start - self.at):
            return
        self._write(race, final)
        self.at = time.monotonic()
        self.seconds = self.at - start

    def _write(self, race: Race, final: bool) -> None:
        table, model = self.source.table, model_of(race, self.source.table.schema)
        if is_split(self.source):
            # The model has not seen the others.
            train = self.source.splits.pairs[0][0]
            table = replace(table, frame=table.frame.iloc[train], target=table.target.iloc[train])
        facts: dict[str, Any] = {**facts_of(race), "data": self.source.name}
        if not final:
            facts |= {"class_shares": class_shares(table), "race": "still running"}
            persistence.save(model, self.path, schema=table.schema, summary=facts)
            return
        if is_split(self.source):
            self.tested = tested_on(race, self.source)
            facts |= {"test_rows": len(self.source.splits.pairs[0][1]), "test_error": self.tested.error}
        summary = training_summary(model, table, most=FEW_ROWS, **facts)
        persistence.save(model, self.path, schema=table.schema, summary=summary)


def _described(source: Source, contestants: list[str], metric: str, cv: int | None, seed: int) -> dict[str, Any]:
    """What makes two races the same, as plain data."""
    schema = source.table.schema
    test = source.splits.pairs[0][1].tobytes() if is_split(source) else b""
    return {
        "race": contestants,
        "data": digest_of(source.table),
        "columns": [f"{column.name}: {column.kind}" for column in schema.columns],
        "test_rows": hashlib.sha256(test).hexdigest(),
        "metric": metric,
        "folds": cv,
        "seed": seed,
        "versions": {name: version(name) for name in ("outputcodes", "scikit-learn", "numpy")},
    }
