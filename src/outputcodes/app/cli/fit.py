"""`outputcodes fit`: one model from a table."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from outputcodes._ground import progress
from outputcodes.app import run
from outputcodes.app.cli._common import reported_errors


def fit(
    data: Annotated[str, typer.Argument(help="A table, or a data set by name.")],
    out: Annotated[Path, typer.Option(help="The file of the model, such as model.skops.")],
    target: Annotated[str | None, typer.Option(help="The column of the labels.")] = None,
    learner: Annotated[str, typer.Option(help="A learner, or a system that needs no code.")] = "logistic",
    code: Annotated[str | None, typer.Option(help="The code; all-pairs by default.")] = None,
    decoder: Annotated[str, typer.Option(help="The decoder.")] = "loss",
    probability: Annotated[
        str | None, typer.Option(help="softmax, likelihood or coupling: for predict --proba.")
    ] = None,
    jobs: Annotated[int, typer.Option(help="Columns trained at a time.")] = 1,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the code.")] = 0,
    encoding: Annotated[str, typer.Option(help="The encoding of a text file.")] = "utf-8",
) -> None:
    """Train a learner under a code, and save the model with the preprocessing of its table."""
    with reported_errors(), progress.showing():
        model, summary = run.fit_file(
            data,
            out,
            target,
            learner,
            code,
            decoder,
            probability=probability,
            seed=seed,
            n_jobs=jobs,
            encoding=encoding,
        )
    Console().print(
        f"{out}: {model[-1].__class__.__name__}, {summary['rows']} rows, "
        f"{100 * summary['training_error']:.2f} % wrong on them",
        markup=False,
        highlight=False,
    )
    for note in summary.get("notes", ()):
        Console().print(f"· {note}", style="dim", markup=False, highlight=False)
