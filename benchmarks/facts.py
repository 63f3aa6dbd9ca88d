"""Numbers from the files in results/, as pages show them: values, tables, where they come from, targets met or missed.

RESULTS.template.md uses these functions by name; docs/numbers_of_pages.py uses them for README.md and docs/.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from targets import TARGETS, Target

RESULTS = Path(__file__).parent / "results"
Row = dict[str, Any]
ABSENT = "not measured yet"


@cache
def record(name: str) -> dict[str, Any]:
    """Return a results file; one without rows if it does not exist yet."""
    path = RESULTS / f"{name}.json"
    return json.loads(path.read_text()) if path.exists() else {"rows": []}


def rows(name: str, having: str | None = None, **where: Any) -> list[Row]:
    """Return the rows of a file that have a column and these values; a file may hold several tables."""
    return [
        row
        for row in record(name)["rows"]
        if (having is None or having in row) and all(row.get(column) == wanted for column, wanted in where.items())
    ]


def shown(value: Any, form: str = ".3g") -> str:
    """Format a value; numbers to three digits unless another form is given.

    >>> shown(12345.678), shown(0.12345, ".0%"), shown("dense"), shown(None)
    ('12346', '12%', 'dense', 'None')
    """
    if isinstance(value, int | float) and not isinstance(value, bool):
        if form == ".3g" and (isinstance(value, int) or abs(value) >= 1000):
            return f"{value:.0f}"
        return f"{value:{form}}"
    return str(value)


def value(name: str, column: str, form: str = ".3g", **where: Any) -> str:
    """Return the value of a column in the one row that fits."""
    found = rows(name, column, **where)
    if not record(name)["rows"] or not found:
        return ABSENT
    if len(found) > 1:
        raise ValueError(f"{name}: {len(found)} rows have {column!r} and {where}; name more columns.")
    return shown(found[0][column], form)


def column(name: str, of: str, **where: Any) -> list[float]:
    """Return the numbers of a column; an empty cell is left out."""
    return [row[of] for row in rows(name, of, **where) if isinstance(row[of], int | float)]


def span(name: str, of: str, form: str = ".3g", **where: Any) -> str:
    """Return "smallest to largest" of a column."""
    found = column(name, of, **where)
    return f"{shown(min(found), form)} to {shown(max(found), form)}" if found else ABSENT


def geometric_mean(name: str, of: str, form: str = ".3g", **where: Any) -> str:
    """Return the geometric mean of a column."""
    found = column(name, of, **where)
    return shown(float(np.exp(np.mean(np.log(found)))), form) if found else ABSENT


def mean(name: str, of: str, form: str = ".3g", **where: Any) -> str:
    """Return the mean of a column."""
    found = column(name, of, **where)
    return shown(float(np.mean(found)), form) if found else ABSENT


def lower(name: str, first: str, second: str, margin: float = 0.0) -> str:
    """List the data sets on which the first column is lower than the second by more than the margin."""
    names = [row["data"] for row in rows(name, first) if row[first] < row[second] - margin]
    return ", ".join(names) or "none"


def table(name: str, having: str | None = None, **where: Any) -> str:
    """Return the rows as a Markdown table, with a dash where a row lacks a column."""
    found = rows(name, having, **where)
    if not found:
        return f"*Not measured yet: `make bench ARGS={name}`.*"
    header = list(dict.fromkeys(column for row in found for column in row))
    return as_table(header, [[shown(row.get(column, "–")) for column in header] for row in found])


def as_table(header: list[str], body: list[list[str]]) -> str:
    """Return a Markdown table."""
    lines = [header, ["---"] * len(header), *body]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def origin(*names: str) -> str:
    """Say when and from which commit files were measured, and how busy the machine was before."""
    parts: dict[str, list[str]] = {}
    for name in names:
        run = record(name).get("run")
        if not record(name)["rows"]:
            continue
        if run is None:
            text = "before dates were recorded"
        else:
            text = f"on {run['date']} at {run['commit']}, load average before {run['load average before']:.2f}"
        parts.setdefault(text, []).append(f"`results/{name}.json`")
    said = "; ".join(f"{text} ({', '.join(files)})" for text, files in parts.items())
    return f"Measured {said}." if said else f"{ABSENT.capitalize()}."


def targets(name: str) -> str:
    """List the targets of a results file, each met or missed, with the rows that miss it."""
    return "\n".join(_judged(target) for target in TARGETS if target.results == name)


def _judged(target: Target) -> str:
    found = rows(target.results, target.column, **target.where)
    found = [row for row in found if isinstance(row[target.column], int | float)]
    if not found:
        return f"- Target: {target}: {ABSENT}."
    missed = [row for row in found if not target.met(row[target.column])]
    if not missed:
        return f"- Target: {target}: met."
    cells = "; ".join(" ".join([*_names(row, target.named_by), shown(row[target.column])]) for row in missed)
    return f"- Target: {target}: **missed** in {len(missed)} of {len(found)}: {cells}."


def _names(row: dict[str, Any], columns: tuple[str, ...]) -> list[str]:
    """Return what names a row, in one text, or nothing; a number says nothing without its column."""
    parts = [f"{column} {row[column]}" if isinstance(row[column], int | float) else row[column] for column in columns]
    return [f"{', '.join(parts)}:"] if parts else []
