"""`outputcodes code`: draw a code and describe it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from outputcodes.app import run
from outputcodes.app.cli import _options
from outputcodes.app.cli._common import reported_errors


def code(
    name: Annotated[str, typer.Argument(help="A code that is not made from data, see `outputcodes names`.")],
    k: Annotated[int, typer.Option("-k", "--classes", min=2, help="The number of classes.")] = 10,
    seed: Annotated[int, typer.Option(min=0, help="Seed of a random code.")] = 0,
    out: Annotated[
        Path | None, typer.Option(help="A file: .csv for the matrix, .png, .svg or .pdf for a picture.")
    ] = None,
    plugin: _options.Plugin = None,
) -> None:
    """Draw a code for k classes, describe it, and save it."""
    console = Console(soft_wrap=True)
    with reported_errors(arguments=("code",)):
        run.load_plugins(plugin or ())
        console.print(run.draw_code(name, k, seed=seed, out=out), markup=False, highlight=False)
    if out is not None:
        console.print(f"saved as {out}", markup=False, highlight=False)
