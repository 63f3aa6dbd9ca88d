"""A table for notebooks: plain HTML, every text escaped."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

# Rows beyond these are counted, not shown.
MOST_ROWS = 50


def html_table(
    headings: Sequence[str],
    rows: Sequence[Sequence[object]],
    *,
    title: str = "",
    notes: Iterable[str] = (),
    bold: Sequence[bool] = (),
) -> str:
    """Return a table with a title, rows in bold, and sentences below it.

    >>> html_table(["a"], [["<1"], [2]], bold=[True])
    '<div>...<tbody><tr style="font-weight:bold"><td>&lt;1</td></tr><tr><td>2</td></tr></tbody></table></div>'
    """
    head = "".join(f"<th>{escape(heading)}</th>" for heading in headings)
    body = ""
    for i, row in enumerate(rows[:MOST_ROWS]):
        style = ' style="font-weight:bold"' if i < len(bold) and bold[i] else ""
        body += f"<tr{style}>" + "".join(f"<td>{escape(str(cell))}</td>" for cell in row) + "</tr>"
    hidden = [f"{len(rows) - MOST_ROWS} more rows."] if len(rows) > MOST_ROWS else []
    caption = f"<strong>{escape(title)}</strong>" if title else ""
    below = "".join(f"<div><small>{escape(note)}</small></div>" for note in [*hidden, *notes])
    return f"<div>{caption}<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{below}</div>"
