"""`outputcodes compare`: which reduction to binary is best on a table, by how much, and the model."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from outputcodes.app import workflow
from outputcodes.app.cli._common import names, progress_bar, told_errors
from outputcodes.codes import CODES
from outputcodes.decoders import DECODERS
from outputcodes.learners import LEARNERS

SHOWN_ROWS, WIDE, NARROW = 25, 105, 85


def compare(
    data: Annotated[
        str, typer.Argument(help="A csv, tsv, parquet, arff or libsvm file, or a data set by name.")
    ] = "digits",
    target: Annotated[str | None, typer.Option(help="The column of the labels.")] = None,
    learners: Annotated[
        str | None,
        typer.Option(
            help=f"With commas between: learners ({', '.join(LEARNERS)}), systems that need no code "
            f"({', '.join(workflow.SYSTEMS)}). By default what suits the table."
        ),
    ] = None,
    codes: Annotated[str | None, typer.Option(help=f"Of {', '.join(CODES)}.")] = None,
    decoders: Annotated[str | None, typer.Option(help=f"Of {', '.join(DECODERS)}.")] = None,
    cv: Annotated[int | None, typer.Option(min=2, help="Folds; 10, or fewer for large tables.")] = None,
    test: Annotated[str | None, typer.Option(help="A file with test rows, in place of folds.")] = None,
    split: Annotated[str | None, typer.Option(help="A column that says which rows are for training.")] = None,
    metric: Annotated[str, typer.Option(help=f"What to rank by: {', '.join(workflow.METRICS)}.")] = "error",
    quick: Annotated[bool, typer.Option("--quick", help="A small plan.")] = False,
    time_limit: Annotated[float | None, typer.Option(min=0, help="Seconds after which no training begins.")] = None,
    out: Annotated[Path | None, typer.Option(help="A folder for results.jsonl, report.html and model.skops.")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Continue the results in the folder.")] = False,
    jobs: Annotated[int, typer.Option(help="Columns trained at a time.")] = 1,
    seed: Annotated[int, typer.Option(min=0, help="Seed of codes and folds.")] = 0,
    encoding: Annotated[str, typer.Option(help="Of a text file.")] = "utf-8",
) -> None:
    """Train every learner and code once per fold, decode it in every way, and print which does best."""
    console = Console()
    stopped = "Stopped." if out is None else f"Stopped. What is done is in {out}: --resume goes on."
    with told_errors(stopped), progress_bar(console) as progress:
        source = workflow.open_source(
            data, target, cv=cv, test=test, split=split, quick=quick, seed=seed, encoding=encoding
        )
        schema = source.table.schema
        plan = workflow.make_plan(
            len(source.table.target),
            len(schema.classes),
            len(schema.used),
            learners=names(learners),
            codes=names(codes),
            decoders=names(decoders),
            metric=metric,
            quick=quick,
        )
        task = progress.add_task("", total=None)
        outcome = workflow.run(
            source,
            plan,
            metric=metric,
            out=out,
            resume=resume,
            time_limit=time_limit,
            seed=seed,
            n_jobs=jobs,
            watch=lambda what, done, total: progress.update(task, description=what, completed=done, total=total),
        )
    console.print(_table(outcome.rows, outcome.title, metric, console.width))
    for note in outcome.notes:
        console.print(f"· {note}", style="dim", markup=False, highlight=False)
    if outcome.found:
        told = f"{outcome.found} trainings were there already, {outcome.computed} were done now"
        console.print(told, markup=False, highlight=False)
    if outcome.folder is not None:
        console.print(f"{outcome.folder}: results.jsonl, report.html, model.skops", markup=False, highlight=False)


def _table(rows: list[dict[str, Any]], title: str, metric: str, width: int) -> Table:
    """The best rows, with as many columns as the terminal has room for."""
    hidden, tested = len(rows) - SHOWN_ROWS, any(row["p_value"] is not None for row in rows)
    told = ["bold, *: not significantly worse than the best"] if tested else []
    table = Table(
        title=title,
        caption="; ".join(told + ([f"{hidden} more rows"] if hidden > 0 else [])) or None,
        box=SIMPLE_HEAD,
        show_edge=False,
        padding=(0, 1, 0, 0),
    )
    unit, scale, digits = ("log-loss", 1, 4) if metric == "log-loss" else (f"{metric} %", 100, 2)
    for name in ("", "learner", "code", "decoder"):
        table.add_column(name, justify="left" if name else "right", no_wrap=True)
    headings = ["L", unit, "± 95%", "p", "fit s", "predict s", "size"][
        : 7 if width >= WIDE else 5 if width >= NARROW else 4
    ]
    for name in headings:
        table.add_column(name, justify="right", no_wrap=True)
    for row in rows[:SHOWN_ROWS]:
        p, interval = row["p_value"], row["interval"]
        level = p is not None and p > 0.05
        cells = [
            f"{'*' if level else ''}{row['rank']}",
            row["learner"],
            row["code"],
            row["decoder"],
            "" if row["columns"] is None else str(row["columns"]),
            f"{scale * row['error']:.{digits}f}",
            "" if interval is None else f"{scale * (interval[1] - row['error']):.{digits}f}",
            "" if p is None else f"{p:.3f}" if p >= 0.001 else "<.001",
            f"{row['fit_seconds']:.3f}",
            f"{row['predict_seconds']:.3f}",
            _size(row["size_bytes"]),
        ]
        table.add_row(*cells[: 4 + len(headings)], style="bold" if row["rank"] == 1 or level else None)
    return table


def _size(size: float) -> str:
    for unit in ("B", "kB", "MB"):
        if size < 1000:
            return f"{size:.3g} {unit}"
        size /= 1000
    return f"{size:.3g} GB"
