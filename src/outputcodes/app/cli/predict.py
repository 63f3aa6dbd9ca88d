"""`outputcodes predict`: the predictions of a saved model for the rows of a table."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from outputcodes._ground import progress
from outputcodes.app import run
from outputcodes.app.cli import _options
from outputcodes.app.cli._common import numbers, reported_errors

DECISIONS = "Costs, priors and rejection, for models with probabilities"


def predict(
    model: Annotated[Path, typer.Argument(help="A file of `outputcodes fit` or `compare`.")],
    data: Annotated[Path, typer.Argument(help="A table with the columns of training.")],
    out: Annotated[Path, typer.Option(help="The csv file to write; .csv.gz is compressed.")],
    proba: Annotated[bool, typer.Option("--proba", help="Add the probability of each class.")] = False,
    explain: Annotated[bool, typer.Option("--explain", help="Add a sentence on each prediction.")] = False,
    identifier: Annotated[
        str | None,
        typer.Option(
            "--id", metavar="COLUMN", help="A column to write before the predictions; that of fit by default."
        ),
    ] = None,
    chunk: Annotated[int, typer.Option(min=1, help="Rows in memory at a time.")] = 50_000,
    cost: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="A csv file of costs: a row for each true class, a column for each decision.",
            rich_help_panel=DECISIONS,
        ),
    ] = None,
    priors: Annotated[
        str | None,
        typer.Option(
            metavar="SHARES",
            help="The class frequencies to expect: label=share,label=share.",
            rich_help_panel=DECISIONS,
        ),
    ] = None,
    reject_below: Annotated[
        float | None,
        typer.Option(help="Reject predictions with a smaller probability.", rich_help_panel=DECISIONS),
    ] = None,
    reject_beyond: Annotated[
        float | None,
        typer.Option(
            help="Reject rows that contradict more than this share of the codeword.", rich_help_panel=DECISIONS
        ),
    ] = None,
    rejected: Annotated[
        str | None, typer.Option(metavar="LABEL", help="The label of rejected rows.", rich_help_panel=DECISIONS)
    ] = None,
    sep: _options.Separator = None,
    decimal: _options.Decimal = ".",
    encoding: _options.Encoding = "utf-8",
    plugin: _options.Plugin = None,
    trust: _options.Trust = None,
    max_bytes: _options.MaxBytes = _options.MAX_BYTES,
) -> None:
    """Predict the class of every row, chunk by chunk."""
    with reported_errors(), progress.showing(progress=progress.Progress(least=2.0)):
        run.load_plugins(plugin or ())
        written = run.predict_file(
            model,
            data,
            out,
            proba=proba,
            explain=explain,
            identifier=identifier,
            decisions=run.Decisions(cost, numbers(priors, "--priors"), reject_below, reject_beyond, rejected),
            rows=chunk,
            trusted=trust or (),
            max_bytes=max_bytes,
            separator=sep,
            decimal=decimal,
            encoding=encoding,
        )
    Console(soft_wrap=True).print(f"{out}: {written} predictions", markup=False, highlight=False)
