"""Ranked results as a table for notebooks."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from outputcodes.app.report.ranking import Row
from outputcodes.selection.html_table import html_table

HEADINGS = ("#", "learner", "code", "decoder", "columns", "{}", "± 95 %", "p", "fit s", "predict s", "size")


def ranking_html(rows: list[Row], *, title: str = "", notes: Iterable[str] = (), metric: str = "error") -> str:
    """The rows of `ranked` as HTML; in bold what is not significantly worse than the best.

    Examples
    --------
    >>> from outputcodes.app.report.ranking import ranked
    >>> rows = ranked([{"learner": "SVC", "fold_errors": [0.1, 0.2]}, {"learner": "tree", "error": 0.4}])
    >>> ranking_html(rows).count("<tr"), "15.00" in ranking_html(rows)
    (3, True)
    """
    unit, scale, digits = (metric, 1, 4) if metric == "log-loss" else (f"{metric} %", 100, 2)
    lines = [
        (
            row["rank"],
            row["learner"],
            row["code"],
            row["decoder"],
            _known(row["columns"], "d"),
            f"{scale * row['error']:.{digits}f}",
            "" if row["interval"] is None else f"{scale * (row['interval'][1] - row['error']):.{digits}f}",
            _known(row["p_value"], ".3f"),
            _known(row["fit_seconds"], ".3f"),
            _known(row["predict_seconds"], ".3f"),
            _known(row["size_bytes"], ",.0f"),
        )
        for row in rows
    ]
    bold = [row["rank"] == 1 or (row["p_value"] or 0) > 0.05 for row in rows]
    return html_table([name.format(unit) for name in HEADINGS], lines, title=title, notes=notes, bold=bold)


def _known(value: Any, form: str) -> str:
    return "" if value is None else format(value, form)
