"""The data of a report: everything its page shows, as JSON can hold it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from importlib.metadata import version
from typing import Any

from outputcodes.app.report.answers import Answers
from outputcodes.app.report.by_code import codes_pairwise, decoders_by_code
from outputcodes.app.report.page import Report
from outputcodes.app.report.plain import plain
from outputcodes.app.report.winner import winner_data
from outputcodes.selection import Result, Results
from outputcodes.selection.table import ranking_columns


def report_data(
    rows: Results,
    winner: Answers | None = None,
    *,
    title: str = "Output codes compared",
    facts: Mapping[str, Any] | None = None,
    notes: Iterable[str] = (),
    examples: int = 24,
    held_out: str = "held-out rows",
    race: Mapping[str, Any] | None = None,
) -> Report:
    """Gather the data of a report; nothing is ranked or trained here.

    Parameters
    ----------
    rows : Results
        As `outputcodes.selection.compare` and `ranked` return them. Systems that are no output codes are results like
        the others, without a code and a decoder.
    winner : Answers, optional
        Those of the best classifier for held-out rows: `answers(model, X_test, y_test)`.
    title, facts, notes : str, mapping and strings
        The heading, facts about the data in pairs of words, and sentences for the end: what was left out, and why.
    examples : int, default=24
        How many rows to explain.
    held_out : str, default="held-out rows"
        What to call the rows of `winner`.
    race : mapping, optional
        What `race_data` says of a race.

    Examples
    --------
    >>> import json
    >>> from sklearn.datasets import load_iris
    >>> from outputcodes import OutputCodeClassifier
    >>> from outputcodes.app.report import answers
    >>> from outputcodes.learners import Ridge
    >>> from outputcodes.selection import Result, compare, ranked
    >>> X, y = load_iris(return_X_y=True)
    >>> rows = compare(X, y, Ridge(), codes=["one-vs-all", "all-pairs"])
    >>> rows = ranked([*rows, Result("always the first", fold_errors=[2 / 3] * 5)])
    >>> best = OutputCodeClassifier(Ridge(), code=rows[0].code, decoder=rows[0].decoder).fit(X[::2], y[::2])
    >>> data = report_data(rows, answers(best, X[1::2], y[1::2]), title="iris")
    >>> data["rows"][-1]["learner"], data["winner"]["code"]["matrix"]
    ('always the first', ['++0', '-0+', '0--'])
    >>> json.loads(json.dumps(data, allow_nan=False)) == data
    True
    """
    if not isinstance(rows, Results) or not rows or any(row.rank is None for row in rows):
        raise ValueError("rows must be ranked results: give selection.ranked(results).")
    columns = ranking_columns(rows, rows.metric)
    table = [{"key": column.key, "heading": column.heading, "number": column.number} for column in columns]
    return Report(
        plain(
            {
                "version": version("outputcodes"),
                "title": title,
                "facts": [[name, str(value)] for name, value in dict(facts or {}).items()],
                "notes": list(notes),
                "metric": rows.metric,
                "rows": [_row(row) for row in rows],
                "columns": table,
                "cells": [[column.text(row) for column in columns] for row in rows],
                # The finalists of a race differ in their parameters too: their codes and decoders can't be compared.
                "decoders": decoders_by_code(rows) if race is None else [],
                "codes": codes_pairwise(rows) if race is None else [],
                "held_out": held_out,
                "winner": None if winner is None else winner_data(winner, examples),
                "race": race,
            }
        )
    )


def _row(row: Result) -> dict[str, Any]:
    """A result without what the page does not show: the losses of its test rows, and marks of its predictions."""
    return {name: value for name, value in row.as_dict().items() if name not in ("losses", "marks")}
