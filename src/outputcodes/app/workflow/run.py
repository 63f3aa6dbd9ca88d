"""Run a plan over the splits of a table: results as they come, then a ranking, a report and the winner as a model."""

from __future__ import annotations

import hashlib
import re
import time
import warnings
from collections.abc import Callable
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from outputcodes.app import persistence
from outputcodes.app.report import answers, report_data, write_report
from outputcodes.app.report.notebook import ranking_html
from outputcodes.app.report.ranking import ranked
from outputcodes.app.workflow.evaluate import METRICS, evaluate, unpacked, warm_up
from outputcodes.app.workflow.journal import Journal, Line
from outputcodes.app.workflow.models import build, save_model
from outputcodes.app.workflow.plan import Cell, Plan
from outputcodes.app.workflow.sources import Source
from outputcodes.app.workflow.splits import MOST_NAMED
from outputcodes.decoders import as_decoder

RESULTS, REPORT, MODEL = "results.jsonl", "report.html", "model.skops"
# About so many held-out rows are looked at in the report: more would make it slow, and say no more.
REPORTED_ROWS = 5_000
Watch = Callable[[str, int, int], None]


@dataclass(frozen=True, eq=False)
class Outcome:
    """What came of a comparison.

    Attributes
    ----------
    rows : list of dict
        Best first, as the report ranks them: "learner", "code", "decoder", "columns", "error", "interval",
        "p_value", "fold_errors", "fit_seconds", "predict_seconds", "size_bytes"; with one split also "losses",
        those of the test rows in their order: whether a row is missed, or what it adds to another metric.
    notes : list of str
        What was left out and why, and what is unusual.
    computed, found : int
        How many trainings were done now, and how many were there of an earlier run.
    folder : Path or None
        Where results.jsonl, report.html and model.skops are.
    title, metric : str
        What was compared, and by what.
    """

    rows: list[dict[str, Any]]
    notes: list[str]
    computed: int
    folder: Path | None
    title: str = ""
    metric: str = "error"
    found: int = 0

    def _repr_html_(self) -> str:
        return ranking_html(self.rows, title=self.title, notes=self.notes, metric=self.metric)


def run(
    source: Source,
    plan: Plan,
    *,
    metric: str = "error",
    out: str | Path | None = None,
    resume: bool = False,
    time_limit: float | None = None,
    seed: int = 0,
    n_jobs: int | None = None,
    watch: Watch | None = None,
) -> Outcome:
    """Train every cell of a plan on every split, rank what came of it, and write report and model.

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
        Continue the results that are there: equal, but for the times, to those of a run that was never interrupted.
        What could not be trained is tried again, as the cause may be gone: memory, or a package that was missing.
    time_limit : float, optional
        Seconds after which nothing more is begun. A cell that lacks a split by then is left out.
    watch : callable, optional
        Called as watch(what, done, total) before each training, and at the end.

    Examples
    --------
    >>> from outputcodes.app.workflow import make_plan, open_source
    >>> plan = make_plan(150, 3, learners=["ridge", "decision-tree"], codes=["all-pairs"], decoders=["hamming", "loss"])
    >>> outcome = run(open_source("iris", cv=3), plan)
    >>> sorted((row["learner"], row["decoder"]) for row in outcome.rows)
    [('decision-tree', ''), ('ridge', 'hamming'), ('ridge', 'loss')]
    """
    if metric not in METRICS:
        raise ValueError(f"metric={metric!r} must be one of {', '.join(METRICS)}.")
    if resume and out is None:
        raise ValueError("resume=True (--resume) needs out (--out): the folder with the results to continue.")
    folder = None if out is None else Path(out)
    if folder is not None and folder.exists() and not folder.is_dir():
        raise ValueError(f"{folder} (--out) is a file: name a folder, which is made if it is not there.")
    described = _described(source, plan, metric, seed)
    pairs = source.splits.pairs
    how: dict[str, Any] = {"metric": metric, "seed": seed, "n_jobs": n_jobs}
    # Until the report and the model are written the folder belongs to this run.
    with Journal(None if folder is None else folder / RESULTS, described, resume=resume) as journal:
        found = sum("failed" not in line for line in journal.lines)
        computed, late = _train(source, plan, journal, time_limit, watch, keep_losses=len(pairs) == 1, **how)
        rows, notes = _gathered(plan, journal.lines, pairs)
        if late:
            late[MOST_NAMED:] = [f"and {len(late) - MOST_NAMED} more"] if len(late) > MOST_NAMED else []
            notes.append(f"Left out by the time limit: {', '.join(late)}.")
        if not rows:
            raise ValueError("Nothing could be compared. " + " ".join(notes))
        notes = [*source.table.notes, *source.splits.notes, *plan.left_out, *notes]
        table = ranked(rows, source.splits.test_to_train)
        if folder is not None:
            mark = hashlib.sha256(repr((described, notes)).encode()).hexdigest()
            with warnings.catch_warnings():
                # The notes tell it.
                warnings.simplefilter("ignore", ConvergenceWarning)
                _write(source, table, notes, folder, mark, **how)
    title = f"{source.name}: {len(source.table.target)} rows, {len(source.table.schema.classes)} classes, "
    return Outcome(table, notes, computed, folder, title + source.splits.title, metric, found)


def _train(
    source: Source, plan: Plan, journal: Journal, time_limit: float | None, watch: Watch | None, **how: Any
) -> tuple[int, list[str]]:
    """Do what the journal lacks; how much that was, and the cells that the time did not suffice for."""
    done = {(line["learner"], line["code"], line["fold"]) for line in journal.lines if "failed" not in line}
    failed: set[tuple[str, str]] = set()
    pairs = source.splits.pairs
    total, started, computed = len(plan.cells) * len(pairs), time.monotonic(), 0
    for c, cell in enumerate(plan.cells):
        for fold, (train, test) in enumerate(pairs):
            key = (cell.learner, cell.code)
            if (*key, fold) in done or key in failed:
                continue
            if time_limit is not None and time.monotonic() - started > time_limit:
                return computed, [str(cell), *map(str, plan.cells[c + 1 :])]
            if watch is not None:
                watch(str(cell), c * len(pairs) + fold, total)
            warm_up(cell, source.table, train, **how)
            result = evaluate(cell, source.table, train, test, **how)
            if "failed" in result:
                failed.add(key)
            line = {"learner": cell.learner, "code": cell.code, "fold": fold, **result}
            # What fails again as before is in the journal already.
            if "failed" not in result or line not in journal.lines:
                journal.add(line)
            computed += 1
    if watch is not None:
        watch("", total, total)
    return computed, []


def _gathered(plan: Plan, lines: list[Line], pairs: list[Any]) -> tuple[list[dict[str, Any]], list[str]]:
    """A row for each cell and decoder that has a result on every split; and what the others lack."""
    rows: list[dict[str, Any]] = []
    notes: list[str] = []
    early: list[str] = []
    # Of a failure and what came of the next attempt, the latter.
    latest = {(line["learner"], line["code"], line["fold"]): line for line in lines}
    for cell in plan.cells:
        keys = [(cell.learner, cell.code, fold) for fold in range(len(pairs))]
        found = [latest[key] for key in keys if key in latest]
        notes += [f"{cell}: {line['failed']}" for line in found if "failed" in line]
        if len(found) < len(pairs) or any("failed" in line for line in found):
            continue
        if any(line["unconverged"] for line in found):
            early.append(str(cell))
        served = [name for name in cell.decoders or ("",) if all(name in line["decoders"] for line in found)]
        if not served:
            notes.append(f"{cell}: None of the decoders {', '.join(cell.decoders)} can serve it.")
        for name in served:
            told = [line["decoders"][name] for line in found]
            lengths = [line["columns"] for line in found if line["columns"] is not None]
            rows.append(
                {
                    **{"learner": cell.learner, "code": cell.code, "decoder": name},
                    "columns": round(float(np.mean(lengths))) if lengths else None,
                    "fold_errors": [one["error"] for one in told],
                    # Medians, as the first training of a kind may include its compilation.
                    "fit_seconds": float(np.median([line["fit_seconds"] for line in found])),
                    "predict_seconds": float(np.median([one["predict_seconds"] for one in told])),
                    "size_bytes": round(float(np.mean([line["size_bytes"] for line in found]))),
                    "losses": unpacked(told[0]["losses"], len(pairs[0][1])) if "losses" in told[0] else None,
                }
            )
    if early:
        notes.append(f"Solvers stopped before they converged: {', '.join(early)}.")
    return rows, notes


def _write(
    source: Source,
    table: list[dict[str, Any]],
    notes: list[str],
    folder: Path,
    mark: str,
    metric: str,
    seed: int,
    n_jobs: int | None,
) -> None:
    """The report and the model, unless those of this very run are there."""
    best, data, splits = table[0], source.table, source.splits
    if (folder / REPORT).exists() and _mark_of(folder / MODEL) == mark:
        return
    decoder = best["decoder"] or "loss"
    # Predictions stay the decoder's; the report has a reliability curve, and `predict` can tell probabilities.
    probability = None if as_decoder(decoder).has_probabilities else "softmax"
    cell = Cell(best["learner"], best["code"])

    def fitted(frame: Any, y: Any) -> Any:
        how: dict[str, Any] = {"rows": len(y), "probability": probability, "seed": seed, "n_jobs": n_jobs}
        return build(data.schema, cell.learner, cell.code or None, decoder, **how).fit(frame, y)

    train, test = splits.pairs[0]
    test = test[:: max(1, len(test) // REPORTED_ROWS)]
    y = data.target.to_numpy()
    held_out = fitted(data.frame.iloc[train], y[train])
    seen = np.isin(y[test], held_out.classes_)
    frame = data.frame.iloc[test[seen]]
    title = f"{cell} {best['decoder']}".rstrip()
    asked = answers(held_out, frame, y[test[seen]], title=title, images=_pictures(frame))
    held = "held-out rows of the first fold" if len(splits.pairs) > 1 else "held-out rows"
    facts = {
        "rows": len(y),
        "features": len(data.schema.used),
        "classes": len(data.schema.classes),
        "tested by": splits.title,
        "metric": metric,
        "winner's details": f"on {len(test)} {held}",
    }
    ratio = splits.test_to_train
    told: dict[str, Any] = {"title": source.name, "facts": facts, "notes": notes, "metric": metric, "held_out": held}
    write_report(report_data(table, asked, test_to_train=ratio, **told), folder / REPORT)
    model = fitted(data.frame, y)
    won = {name: best[name] for name in ("learner", "code", "decoder", "error", "interval")}
    save_model(model, data, folder / MODEL, **won, metric=metric, tested_by=splits.title, data=source.name, run=mark)


def _pictures(frame: Any) -> Any:
    """The rows as images, where the columns are called pixel_0_0, pixel_0_1 and so on."""
    places = [re.fullmatch(r"pixel_(\d+)_(\d+)", str(name)) for name in frame.columns]
    if not all(places):
        return None
    height, width = (1 + max(int(place[part]) for place in places if place) for part in (1, 2))
    return frame.to_numpy().reshape(-1, height, width) if height * width == len(places) else None


def _mark_of(path: Path) -> Any:
    try:
        return persistence.describe(path).summary.get("run")
    except persistence.ModelFileError:
        return None


def _described(source: Source, plan: Plan, metric: str, seed: int) -> Line:
    """What makes two runs the same, as plain data."""
    import pandas as pd

    data, digest = source.table, hashlib.sha256()
    digest.update(pd.util.hash_pandas_object(data.frame, index=False).to_numpy().tobytes())
    digest.update("\0".join(map(str, data.target)).encode())
    folds = hashlib.sha256(b"".join(rows.tobytes() for pair in source.splits.pairs for rows in (*pair, np.array([-1]))))
    return {
        "data": digest.hexdigest(),
        "columns": [f"{column.name}: {column.kind}" for column in data.schema.columns],
        "splits": folds.hexdigest(),
        "plan": [{**asdict(cell), "decoders": list(cell.decoders)} for cell in plan.cells],
        "metric": metric,
        "seed": seed,
        "versions": {name: version(name) for name in ("outputcodes", "scikit-learn", "numpy")},
    }
