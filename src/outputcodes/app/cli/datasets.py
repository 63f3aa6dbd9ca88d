"""`outputcodes datasets`: the known data sets, and where each is."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table

from outputcodes import app
from outputcodes.app.cli._common import reported_errors


def datasets() -> None:
    """List the known data sets, their sizes, and where each is found or fetched from."""
    table = Table(caption="bold: on this machine")
    for name in ("name", "rows", "columns", "classes", "where"):
        table.add_column(name, justify="left" if name in ("name", "where") else "right")
    with reported_errors():
        for one in app.datasets.available():
            cells = (one.name, str(one.rows), str(one.columns), str(one.classes), one.where)
            table.add_row(*cells, style="bold" if one.here else "dim")
    Console().print(table)
