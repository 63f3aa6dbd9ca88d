"""The table of ranked results: its columns, described once for the terminal, the notebook and the report."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from outputcodes._ground.words import listed, shorten
from outputcodes.selection.html_table import html_table
from outputcodes.selection.results import Result

# Rows of the table in text, letters of a name, and other names in a cell.
SHOWN_ROWS, LONGEST, MOST_ALSO = 25, 40, 2


@dataclass(frozen=True)
class RankingColumn:
    """A column of the table: the field of a `Result` that it shows, its heading, and the text of a cell.

    `number` says whether it is set to the right.
    """

    key: str
    heading: str
    text: Callable[[Result], str]
    number: bool = True


def ranking_columns(results: Sequence[Result], metric: str = "error") -> list[RankingColumn]:
    """Return the columns of a ranking in their order, without those that would be empty.

    >>> rows = [Result("SVC", fold_errors=(0.1, 0.2), rank=1)]
    >>> [(column.heading, column.text(rows[0])) for column in ranking_columns(rows)]
    [('#', '1'), ('learner', 'SVC'), ('error %', '15.00')]
    """
    unit, scale, digits = ("log-loss", 1, 4) if metric == "log-loss" else (f"{metric} %", 100, 2)

    def plus_minus(row: Result) -> str:
        # The interval of a share is not symmetric, and none goes below 0: shown is the side of the larger errors.
        return "" if row.interval is None else f"{scale * (row.interval[1] - row.error):.{digits}f}"

    columns = [
        RankingColumn("rank", "#", lambda row: _known(row.rank, "d")),
        RankingColumn("learner", "learner", lambda row: shorten(row.learner, LONGEST), number=False),
        RankingColumn("code", "code", lambda row: shorten(row.code, LONGEST), number=False),
        RankingColumn("decoder", "decoder", _decoders, number=False),
        RankingColumn("parameters", "parameters", _parameters, number=False),
        RankingColumn("columns", "L", lambda row: _known(row.columns, "d")),
        RankingColumn("error", unit, lambda row: f"{scale * row.error:.{digits}f}"),
        RankingColumn("interval", "± 95 %", plus_minus),
        RankingColumn("p_value", "p", lambda row: _chance(row.p_value)),
        RankingColumn("fit_seconds", "fit s", lambda row: _known(row.fit_seconds, ".3f")),
        RankingColumn("predict_seconds", "predict s", lambda row: _known(row.predict_seconds, ".3f")),
        RankingColumn("size_bytes", "size", lambda row: _size(row.size_bytes)),
    ]
    return [column for column in columns if any(map(column.text, results))]


def text_ranking(results: Sequence[Result], metric: str = "error", *, notes: Iterable[str] = ()) -> str:
    """Return the best of ranked results as lines of text; an asterisk marks those not significantly worse.

    >>> print(text_ranking([Result("SVC", fold_errors=(0.1, 0.2), rank=1)]))
    #   learner  error %
    1*  SVC        15.00
    """
    columns = ranking_columns(results, metric)
    columns = [column for column in columns if column.key not in ("predict_seconds", "size_bytes")]
    lines = [[column.heading for column in columns]]
    lines += [[column.text(row) for column in columns] for row in results[:SHOWN_ROWS]]
    marks = ["", *("*" if row.level_with_best else "" for row in results[:SHOWN_ROWS])]
    for line, mark in zip(lines, marks, strict=True):
        line[0] += mark
    widths = [max(map(len, cells)) for cells in zip(*lines, strict=True)]
    aligned = [column.number and column.key != "rank" for column in columns]
    text = [
        "  ".join(
            f"{cell:>{w}}" if right else f"{cell:<{w}}" for cell, w, right in zip(line, widths, aligned, strict=True)
        )
        for line in lines
    ]
    hidden = [f"{len(results) - SHOWN_ROWS} more rows"] if len(results) > SHOWN_ROWS else []
    return "\n".join([*(line.rstrip() for line in text), *hidden, *notes])


def caveats(results: Sequence[Result]) -> list[str]:
    """Return sentences on what the tests in a ranking can't show.

    >>> caveats([Result("a", fold_errors=(0.1, 0.2)), Result("b", fold_errors=(0.1, 0.3))])
    ['With 2 folds the test against the best has one degree of freedom and finds hardly any difference; use 5 or more.']
    """
    if len(results) > 1 and len(results[0].fold_errors) == 2:
        return [
            "With 2 folds the test against the best has one degree of freedom and finds hardly any difference; "
            "use 5 or more."
        ]
    return []


def html_ranking(
    results: Sequence[Result], metric: str = "error", *, title: str = "", notes: Iterable[str] = ()
) -> str:
    """Return ranked results as HTML; bold rows are not significantly worse than the best."""
    columns = ranking_columns(results, metric)
    return html_table(
        [column.heading for column in columns],
        [[column.text(row) for column in columns] for row in results],
        title=title,
        notes=notes,
        bold=[row.level_with_best for row in results],
    )


def _decoders(row: Result) -> str:
    """The decoder, and those that predict the same."""
    others = f" = {listed(row.also, MOST_ALSO)}" if row.also else ""
    return shorten(row.decoder, LONGEST) + others


def _parameters(row: Result) -> str:
    return ", ".join(f"{name}={f'{v:.3g}' if isinstance(v, float) else v}" for name, v in row.parameters.items())


def _known(value: Any, form: str) -> str:
    return "" if value is None else format(value, form)


def _chance(p: float | None) -> str:
    return "" if p is None else f"{p:.3f}" if p >= 0.001 else "<.001"


def _size(size: float | None) -> str:
    """Bytes in the unit that suits them.

    >>> _size(123_456)
    '123 kB'
    """
    if size is None:
        return ""
    for unit in ("B", "kB", "MB"):
        if size < 1000:
            return f"{size:.3g} {unit}"
        size /= 1000
    return f"{size:.3g} GB"
