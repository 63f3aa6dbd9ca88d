"""`outputcodes compare`: which model is best on a table, by how much, and the model itself."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from outputcodes._ground import progress
from outputcodes.app import run
from outputcodes.app.cli import _options
from outputcodes.app.cli._common import names, reported_errors, start_of_process

if TYPE_CHECKING:
    from outputcodes.app.run import Outcome, RaceOutcome, Source
    from outputcodes.selection import Results

SHOWN_ROWS = 25
# Seconds of a quick race.
QUICK_SECONDS = 20.0
# Columns that a terminal of fewer characters than these has no room for.
NARROW = ((85, ("fit_seconds", "predict_seconds", "size_bytes")), (105, ("predict_seconds", "size_bytes")))


def compare(
    data: Annotated[
        str, typer.Argument(help="A csv, tsv, parquet, arff or libsvm file, or a data set by name.")
    ] = "digits",
    learners: Annotated[
        str | None,
        typer.Option(
            metavar="NAMES",
            help="Learners, and systems that need no code, separated by commas; by default all that suit the table. "
            "`outputcodes names` lists all names.",
        ),
    ] = None,
    exhaustive: Annotated[
        bool, typer.Option("--exhaustive", help="The full table of learners, codes and decoders, in place of a race.")
    ] = False,
    codes: Annotated[
        str | None, typer.Option(metavar="NAMES", help="With --exhaustive: codes, separated by commas.")
    ] = None,
    decoders: Annotated[
        str | None, typer.Option(metavar="NAMES", help="With --exhaustive: decoders, separated by commas.")
    ] = None,
    cv: Annotated[
        int | None,
        typer.Option(min=2, help="Folds; by default 5, above 20,000 rows 3; with --exhaustive 10 in place of 5."),
    ] = None,
    test: Annotated[str | None, typer.Option(help="A file with test rows.")] = None,
    split: Annotated[str | None, typer.Option(help="A column that names the rows for training.")] = None,
    group: _options.Group = None,
    metric: Annotated[str, typer.Option(help="What to rank by: error, log-loss or balanced.")] = "error",
    quick: Annotated[
        bool, typer.Option("--quick", help="A race of 20 seconds; with --exhaustive a small plan.")
    ] = False,
    time_limit: Annotated[
        float | None,
        typer.Option(
            metavar="SECONDS",
            min=0,
            help="From the start to the saved model, 60 by default, inf for no limit; with --exhaustive, when no "
            "training begins any more.",
        ),
    ] = None,
    out: Annotated[Path | None, typer.Option(help="A folder for results.jsonl, report.html and model.skops.")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Continue the results in the folder.")] = False,
    jobs: Annotated[int, typer.Option(help="Trainings at a time; with --exhaustive, columns.")] = 1,
    cluster: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS",
            help="Train on a Dask cluster: the address of its scheduler, or local for --jobs processes. Not with "
            "--exhaustive.",
        ),
    ] = None,
    device: _options.Device = "cpu",
    seed: _options.Seed = 0,
    target: _options.Target = None,
    identifier: _options.Identifier = None,
    drop: _options.Drop = None,
    order: _options.Order = None,
    sep: _options.Separator = None,
    decimal: _options.Decimal = ".",
    encoding: _options.Encoding = "utf-8",
    plugin: _options.Plugin = None,
) -> None:
    """Race many models for the best one, and print a ranking of the finalists.

    With --exhaustive, train every learner and code once per fold, and decode them in every way.
    """
    started = start_of_process()
    console = Console()
    stopped = "Stopped." if out is None else f"Stopped. The results so far are in {out}: --resume continues them."
    with reported_errors(stopped), progress.showing(progress=progress.Progress(least=2.0)):
        run.load_plugins(plugin or ())
        if not exhaustive:
            given = {"--codes": codes, "--decoders": decoders, "--order": order}
            for option, value in given.items():
                if value is not None:
                    raise ValueError(f"{option} {value} is for the full table: add --exhaustive, or leave it out.")
        if order is not None and codes is not None and "ordinal" not in (names(codes) or ()):
            raise ValueError(f"--order {order} is for the ordinal code: add it to --codes, or leave out --codes.")
        source = run.open_source(
            data,
            target,
            cv=cv,
            test=test,
            split=split,
            quick=quick,
            seed=seed,
            identifier=identifier,
            drop=drop or (),
            order=names(order),
            group=group,
            separator=sep,
            decimal=decimal,
            encoding=encoding,
        )
        common: dict[str, Any] = {"metric": metric, "out": out, "resume": resume, "seed": seed, "n_jobs": jobs}
        common["device"] = device
        outcome: Outcome | RaceOutcome
        if exhaustive and cluster is not None:
            raise ValueError(f"--cluster {cluster} is for races: leave out --exhaustive, or --cluster.")
        if exhaustive:
            plan = _plan(source, learners, codes, decoders, metric, quick, device)
            outcome = run.compare_table(source, plan, time_limit=time_limit, **common)
        else:
            seconds = (QUICK_SECONDS if quick else run.RACE_SECONDS) if time_limit is None else time_limit
            if seconds == 0:
                raise ValueError("--time-limit 0 leaves no time for a race: give at least 1 second.")
            limit = None if math.isinf(seconds) else seconds
            outcome = run.race_table(
                source, names(learners), cv=cv, time_limit=limit, started=started, cluster=cluster, **common
            )
    console.print(ranking_table(outcome.rows, outcome.title, console.width))
    for note in outcome.notes:
        console.print(f"· {note}", style="dim", markup=False, highlight=False)
    if outcome.found:
        counts = f"trainings: {outcome.found} found in the folder, {outcome.computed} done now"
        console.print(counts, markup=False, highlight=False)
    if outcome.folder is not None:
        console.print(f"{outcome.folder}: results.jsonl, report.html, model.skops", markup=False, highlight=False)


def _plan(
    source: Source,
    learners: str | None,
    codes: str | None,
    decoders: str | None,
    metric: str,
    quick: bool,
    device: str,
) -> run.Plan:
    schema = source.table.schema
    return run.make_plan(
        len(source.table.target),
        len(schema.classes),
        len(schema.used),
        learners=names(learners),
        codes=names(codes),
        decoders=names(decoders),
        metric=metric,
        quick=quick,
        ordered=bool(schema.order),
        device=device,
    )


def ranking_table(rows: Results, title: str, width: int) -> Table:
    """Return the best rows, with as many columns as the terminal has room for."""
    hidden, tested = len(rows) - SHOWN_ROWS, any(row.p_value is not None for row in rows)
    captions = ["bold, *: not significantly worse than the best"] if tested else []
    captions += [f"{hidden} more rows"] if hidden > 0 else []
    # A line of parameters is broken between them, not within: they need the room.
    tight = width < NARROW[0][0] and any(row.parameters for row in rows)
    padding = (0, 0 if tight else 1, 0, 0)
    table = Table(title=title, caption="; ".join(captions) or None, box=SIMPLE_HEAD, show_edge=False, padding=padding)
    columns = run.ranking_columns(rows, rows.metric)
    left_out = next((keys for characters, keys in NARROW if width < characters), ())
    if tight:
        left_out = (*left_out, "columns")
    columns = [column for column in columns if column.key not in left_out]
    for column in columns:
        # In a narrow terminal, decoders and parameters go on in the next line: rich would otherwise cut numbers.
        wraps = column.key in ("decoder", "parameters")
        table.add_column(
            column.heading,
            justify="right" if column.number else "left",
            no_wrap=not wraps,
            overflow="fold" if wraps else "ellipsis",
        )
    for row in rows[:SHOWN_ROWS]:
        first, *cells = (column.text(row) for column in columns)
        # The mark is for terminals without bold letters.
        mark = "*" if row.level_with_best and row.rank != 1 else ""
        table.add_row(mark + first, *cells, style="bold" if row.level_with_best else None)
    return table
