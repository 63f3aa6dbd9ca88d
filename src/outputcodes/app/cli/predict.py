"""`outputcodes predict`: the predictions of a saved model for the rows of a table."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from outputcodes.app import run
from outputcodes.app.cli._common import reported_errors


def predict(
    model: Annotated[Path, typer.Argument(help="A file of `outputcodes fit` or `compare`.")],
    data: Annotated[Path, typer.Argument(help="A table with the columns of training.")],
    out: Annotated[Path, typer.Option(help="The csv file to write; .csv.gz is compressed.")],
    proba: Annotated[bool, typer.Option("--proba", help="Add the probability of each class.")] = False,
    explain: Annotated[bool, typer.Option("--explain", help="Add a sentence on each prediction.")] = False,
    chunk: Annotated[int, typer.Option(min=1, help="Rows in memory at a time.")] = 50_000,
    encoding: Annotated[str, typer.Option(help="The encoding of a text file.")] = "utf-8",
) -> None:
    """Predict the class of every row, chunk by chunk."""
    with reported_errors():
        written = run.predict_file(model, data, out, proba=proba, explain=explain, rows=chunk, encoding=encoding)
    Console().print(f"{out}: {written} predictions", markup=False, highlight=False)
