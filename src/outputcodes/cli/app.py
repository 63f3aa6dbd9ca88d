"""The table of verbs."""

from __future__ import annotations

import typer

from outputcodes.cli.code import code
from outputcodes.cli.compare import compare
from outputcodes.cli.datasets import datasets
from outputcodes.cli.fit import fit
from outputcodes.cli.inspect import inspect
from outputcodes.cli.predict import predict
from outputcodes.cli.reproduce import reproduce

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    help="Multiclass classification by output codes.",
    pretty_exceptions_show_locals=False,
)
for verb in (compare, fit, predict, inspect, code, datasets, reproduce):
    app.command()(verb)
