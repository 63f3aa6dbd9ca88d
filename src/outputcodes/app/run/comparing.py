"""Compare the cells of a plan on the splits of a table: results as they come, then a ranking, a report and a model."""

from __future__ import annotations

import hashlib
import warnings
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from outputcodes._ground.folds import Rows
from outputcodes._ground.validation import check_n_jobs
from outputcodes._ground.words import listed
from outputcodes._kernel_machines.device.backend import as_device, check_device
from outputcodes.app.run.digest import digest_of
from outputcodes.app.run.finishing import finish
from outputcodes.app.run.fitting import sorted_as_text
from outputcodes.app.run.plan import Plan
from outputcodes.app.run.sources import Source
from outputcodes.app.run.systems import build, is_ours, uses_device
from outputcodes.app.run.writing import RESULTS, is_written, write
from outputcodes.selection import Cell, Journal, Measurement, Results, ranked
from outputcodes.selection.engine import Watch, gather, measure_all
from outputcodes.selection.measure import attempt, fixed_code, measure
from outputcodes.selection.metrics import check_metric
from outputcodes.selection.same_predictions import one_row_each
from outputcodes.selection.table import caveats, html_ranking, text_ranking
from outputcodes.selection.table import ranking_columns as ranking_columns

FEW_CLASSES, FEW_ROWS = 3, 8
# The learners and codes that were trained in this process: their compiled code is loaded.
_WARM: set[tuple[str, str]] = set()


@dataclass(frozen=True, eq=False, repr=False)
class Outcome:
    """The outcome of a comparison.

    Attributes
    ----------
    rows : Results
        Best first; with one split they have the losses of the test rows in their order.
    notes : list of str
        What was left out and why, and what is unusual.
    computed, found : int
        How many trainings were done now, and how many an earlier run had done.
    folder : Path or None
        Where results.jsonl, report.html and model.skops are.
    title : str
        What was compared.
    """

    rows: Results
    notes: list[str]
    computed: int
    folder: Path | None
    title: str = ""
    found: int = 0

    def __repr__(self) -> str:
        return "\n".join([self.title, text_ranking(self.rows, self.rows.metric, notes=self.notes)])

    def _repr_html_(self) -> str:
        return html_ranking(self.rows, self.rows.metric, title=self.title, notes=self.notes)


def compare_table(
    source: Source,
    plan: Plan,
    *,
    metric: str = "error",
    out: str | Path | None = None,
    resume: bool = False,
    time_limit: float | None = None,
    seed: int = 0,
    n_jobs: int | None = None,
    device: str = "cpu",
    watch: Watch | None = None,
) -> Outcome:
    """Train every cell of a plan on every split, rank the results, and write report and model.

    Parameters
    ----------
    source : Source
        The table and its splits: `open_source`.
    plan : Plan
    metric : {"error", "log-loss", "balanced"}
    out : path of a folder, optional
        Every training is written to results.jsonl there as soon as it is done; then report.html, and in model.skops
        the winner fitted to all rows.
    resume : bool
        Continue the results in the folder: equal, but for the times, to those of a run that was never interrupted.
        What could not be trained is tried again, as the cause may be gone: memory, or a package that was missing.
    time_limit : float, optional
        Seconds after which no training begins. A cell that lacks a split by then is left out.
    device : {"cpu", "cuda", "auto"}
        Where learners train that can do so on a GPU.
    watch : callable, optional
        Called as watch(what, done, total) before each training, and at the end.

    Examples
    --------
    >>> from outputcodes.app.run import make_plan, open_source
    >>> plan = make_plan(150, 3, learners=["ridge", "decision-tree"], codes=["all-pairs"], decoders=["hamming", "loss"])
    >>> outcome = compare_table(open_source("iris", cv=3), plan)
    >>> sorted(row.name for row in outcome.rows)
    ['decision-tree', 'ridge all-pairs hamming', 'ridge all-pairs loss']
    """
    check_metric(metric)
    check_n_jobs(n_jobs)
    check_device(device)
    if any(uses_device(cell.learner) for cell in plan.cells):
        as_device(device)
    if resume and out is None:
        raise ValueError("resume=True (--resume) needs out (--out): the folder with the results to continue.")
    folder = None if out is None else Path(out)
    if folder is not None and folder.exists() and not folder.is_dir():
        raise ValueError(f"{folder} (--out) is a file: name a folder, which is made if it is not there.")
    described = _described(source, plan, metric, seed)
    path, n_folds = None if folder is None else folder / RESULTS, len(source.splits.pairs)
    measurer = _Measurer(source, plan.cells, metric, seed, n_jobs, device)
    # Until the report and the model are written the folder belongs to this run.
    kept: dict[str, Any] = {"is_empty": lambda line: not line["decoders"], "check": partial(_check_line, metric)}
    with Journal(path, described, resume=resume, **kept) as journal:
        measured = measure_all(plan.cells, n_folds, measurer, journal, time_limit=time_limit, watch=watch)
        results, notes = gather(plan.cells, measured.found, n_folds)
        if measured.late:
            notes.append(f"Left out by the time limit: {listed(measured.late)}.")
        if not results:
            raise ValueError("Nothing could be compared. " + " ".join(notes))
        in_order = sorted_as_text(source.table, {cell.code for cell in plan.cells if cell.code})
        notes = [*source.table.notes, *source.splits.notes, *plan.left_out, *in_order, *notes]
        rows = ranked(one_row_each(results), metric=metric, test_to_train=source.splits.test_to_train)
        notes += caveats(rows)
        mark = hashlib.sha256(repr((described, notes)).encode()).hexdigest()
        if folder is not None and not is_written(folder, mark):
            with warnings.catch_warnings():
                # The notes have it.
                warnings.simplefilter("ignore", ConvergenceWarning)
                winner = finish(source, rows[0], metric, seed=seed, n_jobs=n_jobs, device=device)
            write(folder, source, rows, notes, winner, mark)
    table = source.table
    title = f"{source.name}: {len(table.target)} rows, {len(table.schema.classes)} classes, {source.splits.title}"
    return Outcome(rows, [*journal.notes, *notes], measured.computed, folder, title, measured.known)


def _check_line(metric: str, line: dict[str, Any]) -> None:
    Measurement.from_dict(line).check(metric)


class _Measurer:
    """Measures the cells of a plan on the splits of a table; what fails is part of the measurement."""

    def __init__(
        self, source: Source, cells: tuple[Cell, ...], metric: str, seed: int, n_jobs: int | None, device: str
    ) -> None:
        self.table, self.pairs, self.cells = source.table, source.splits.pairs, cells
        self.y, self.classes = source.table.target.to_numpy(), np.array(source.table.schema.classes_in_order)
        self.metric, self.seed, self.n_jobs, self.device = metric, seed, n_jobs, device

    def __call__(self, number: int, fold: int) -> Measurement:
        cell, (train, test) = self.cells[number], self.pairs[fold]
        self.warm_up(cell, train)
        return attempt(cell, fold, lambda: self.measured(cell, train, test, len(train), fold, self.n_jobs))

    def measured(
        self, cell: Cell, train: Rows, test: Rows, rows: int, fold: int = 0, n_jobs: int | None = None
    ) -> Measurement:
        code = fixed_code(cell.code, self.classes, self.seed) if cell.code else None
        how: dict[str, Any] = {"rows": rows, "seed": self.seed, "n_jobs": n_jobs, "device": self.device}
        model = build(self.table.schema, cell.learner, code, "hamming", **how)
        keep = len(self.pairs) == 1
        return measure(
            cell, model, self.table.frame, self.y, train, test, fold=fold, metric=self.metric, keep_losses=keep
        )

    def warm_up(self, cell: Cell, train: Rows) -> None:
        """Train a cell of ours on a few rows, unless this process has: compiling is no part of its time."""
        key = (cell.learner, cell.code)
        if key in _WARM or not is_ours(cell.learner):
            return
        _WARM.add(key)
        y = self.y[train]
        classes, counts = np.unique(y, return_counts=True)
        largest = classes[np.argsort(-counts, kind="stable")[:FEW_CLASSES]]
        few = train[np.concatenate([np.flatnonzero(y == label)[:FEW_ROWS] for label in largest])]
        with warnings.catch_warnings(), suppress(Exception):  # what fails here is reported when it fails on all rows
            warnings.simplefilter("ignore")
            self.measured(cell, few, few, len(train))


def _described(source: Source, plan: Plan, metric: str, seed: int) -> dict[str, Any]:
    """What makes two runs the same, as plain data."""
    data = source.table
    folds = hashlib.sha256(b"".join(rows.tobytes() for pair in source.splits.pairs for rows in (*pair, np.array([-1]))))
    return {
        "data": digest_of(data),
        "columns": [f"{column.name}: {column.kind}" for column in data.schema.columns],
        "splits": folds.hexdigest(),
        "plan": [{**asdict(cell), "decoders": list(cell.decoders)} for cell in plan.cells],
        "metric": metric,
        "seed": seed,
        **({"order": list(data.schema.order)} if data.schema.order else {}),
        "versions": {name: version(name) for name in ("outputcodes", "scikit-learn", "numpy")},
    }
