"""The table of verbs."""

from __future__ import annotations

import typer

from outputcodes.cli.compare import compare

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    help="Multiclass classification by output codes.",
    pretty_exceptions_show_locals=False,
)
app.command()(compare)


@app.callback()
def _verbs() -> None:
    """Keep `compare` a verb: typer would drop its name while it is the only one."""
