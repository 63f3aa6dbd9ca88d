"""`outputcodes inspect`: the content of a model file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from outputcodes.app import run
from outputcodes.app.cli import _options
from outputcodes.app.cli._common import reported_errors


def inspect(
    model: Annotated[Path, typer.Argument(help="A file of `outputcodes fit` or `compare`.")],
    plugin: _options.Plugin = None,
    trust: _options.Trust = None,
    max_bytes: _options.MaxBytes = _options.MAX_BYTES,
) -> None:
    """Show a model: its table, its code with distances and bounds, the errors of its columns, its size."""
    with reported_errors():
        run.load_plugins(plugin or ())
        text = run.inspect_file(model, trusted=trust or (), max_bytes=max_bytes)
    Console(soft_wrap=True).print(text, markup=False, highlight=False)
