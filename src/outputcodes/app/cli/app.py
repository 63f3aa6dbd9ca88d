"""The table of verbs."""

from __future__ import annotations

import typer

from outputcodes.app.cli.code import code
from outputcodes.app.cli.compare import compare
from outputcodes.app.cli.datasets import datasets
from outputcodes.app.cli.fit import fit
from outputcodes.app.cli.inspect import inspect
from outputcodes.app.cli.predict import predict

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    help="Multiclass classification by output codes.",
    pretty_exceptions_show_locals=False,
)
for verb in (compare, fit, predict, inspect, code, datasets):
    app.command()(verb)
