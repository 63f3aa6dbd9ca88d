"""`outputcodes inspect`: the content of a model file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from outputcodes.app import run
from outputcodes.app.cli._common import reported_errors


def inspect(model: Annotated[Path, typer.Argument(help="A file of `outputcodes fit` or `compare`.")]) -> None:
    """Show a model: its table, its code with distances and bounds, the errors of its columns, its size."""
    with reported_errors():
        text = run.inspect_file(model)
    Console(soft_wrap=True).print(text, markup=False, highlight=False)
