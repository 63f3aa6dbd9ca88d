"""`outputcodes names`: everything that can be named, and the parameters of a learner."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from outputcodes.app import run
from outputcodes.app.cli import _options
from outputcodes.app.cli._common import reported_errors


def names(
    learner: Annotated[
        str | None, typer.Argument(help="A learner or system: list its parameters for `outputcodes fit --param`.")
    ] = None,
    plugin: _options.Plugin = None,
) -> None:
    """List the learners, systems, codes, decoders and metrics that can be named, and what each is."""
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True)
    table.add_column()
    with reported_errors(arguments=("learner",)):
        run.load_plugins(plugin or ())
        if learner is not None:
            for name, default in run.list_parameters(learner).items():
                table.add_row(name, repr(default))
        else:
            for kind, found in run.list_names().items():
                table.add_row(kind, style="bold")
                for name, sentence in found.items():
                    table.add_row(f"  {name}", sentence)
    Console().print(table, markup=False, highlight=False)
