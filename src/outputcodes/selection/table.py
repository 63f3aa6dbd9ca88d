"""The table of ranked results: its columns, described once for the terminal, the notebook and the report."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from outputcodes.selection.html_table import html_table
from outputcodes.selection.results import Result


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
        RankingColumn("learner", "learner", lambda row: row.learner, number=False),
        RankingColumn("code", "code", lambda row: row.code, number=False),
        RankingColumn("decoder", "decoder", lambda row: row.decoder, number=False),
        RankingColumn("columns", "L", lambda row: _known(row.columns, "d")),
        RankingColumn("error", unit, lambda row: f"{scale * row.error:.{digits}f}"),
        RankingColumn("interval", "± 95 %", plus_minus),
        RankingColumn("p_value", "p", lambda row: _chance(row.p_value)),
        RankingColumn("fit_seconds", "fit s", lambda row: _known(row.fit_seconds, ".3f")),
        RankingColumn("predict_seconds", "predict s", lambda row: _known(row.predict_seconds, ".3f")),
        RankingColumn("size_bytes", "size", lambda row: _size(row.size_bytes)),
    ]
    return [column for column in columns if any(map(column.text, results))]


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
