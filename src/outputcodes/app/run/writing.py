"""Report and model of a comparison on disk: what is written was fitted before."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from outputcodes.app import persistence
from outputcodes.app.report import report_data, write_report
from outputcodes.app.run.finishing import Winner
from outputcodes.app.run.sources import Source
from outputcodes.selection import Results

RESULTS, REPORT, MODEL = "results.jsonl", "report.html", "model.skops"


def write(folder: Path, source: Source, rows: Results, notes: Iterable[str], winner: Winner, mark: str = "") -> None:
    """Write report.html and model.skops; `mark` in the model file tells this run from others."""
    table, splits = source.table, source.splits
    held = "held-out rows of the first fold" if len(splits.pairs) > 1 else "held-out rows"
    facts = {
        "rows": len(table.target),
        "features": len(table.schema.used),
        "classes": len(table.schema.classes),
        "tested by": splits.title,
        "metric": rows.metric,
        "winner's details": f"on {len(winner.held_out.predicted)} {held}",
    }
    data = report_data(rows, winner.held_out, title=source.name, facts=facts, notes=notes, held_out=held)
    write_report(data, folder / REPORT)
    # Written last: `is_written` looks for its mark.
    persistence.save(winner.model, folder / MODEL, schema=table.schema, summary={**winner.summary, "run": mark})


def is_written(folder: Path, mark: str) -> bool:
    """Return whether the folder has the report and the model of this very run."""
    try:
        found = persistence.describe(folder / MODEL).summary.get("run")
    except persistence.ModelFileError:
        return False
    return (folder / REPORT).exists() and found == mark
