"""`outputcodes export`: a saved model as a file for other runtimes."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from outputcodes.app import run
from outputcodes.app.cli import _options
from outputcodes.app.cli._common import reported_errors


def export(
    model: Annotated[Path, typer.Argument(help="A file of `outputcodes fit` or `compare`.")],
    to: Annotated[Path, typer.Option(metavar="FILE", help="The .onnx file to write.")],
    plugin: _options.Plugin = None,
    trust: _options.Trust = None,
    max_bytes: _options.MaxBytes = _options.MAX_BYTES,
) -> None:
    """Write a model as an ONNX file, for programs without Python."""
    with reported_errors():
        run.load_plugins(plugin or ())
        text = run.export_file(model, to, trusted=trust or (), max_bytes=max_bytes)
    Console(soft_wrap=True).print(text, markup=False, highlight=False)
