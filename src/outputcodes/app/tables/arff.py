"""Arff files: delimited text below a header that declares the columns and the values of the nominal ones."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from outputcodes._ground.words import quoted
from outputcodes.app.tables import errors
from outputcodes.app.tables._arrow import opened
from outputcodes.app.tables.delimited import read_rows
from outputcodes.app.tables.request import Request, Types

QUOTED = r"'(?:\\.|[^'\\])*'|\"(?:\\.|[^\"\\])*\""
ATTRIBUTE = re.compile(rf"@attribute\s+({QUOTED}|\S+)\s+(\S.*)", re.IGNORECASE)
VALUE = re.compile(rf"{QUOTED}|[^,'\"\s](?:[^,]*[^,\s])?")


def read_arff(path: Path, request: Request) -> Iterator[Any]:
    """Yield the frames of an arff file; the sparse form is refused, and so are values that were not declared."""
    kinds: dict[str, str] = {}
    names: list[str] = []
    skip = 0
    with opened(path) as lines:
        for line in lines:
            skip += 1
            text = line.decode(request.dialect.encoding).strip()
            if text.lower() == "@data":
                break
            if attribute := ATTRIBUTE.match(text):
                names.append(_unquoted(attribute[1]))
                kinds[names[-1]] = attribute[2].strip()
        start = lines.peek(1 << 16)[: 1 << 16]
        for line in lines:  # Arrow would print a traceback for a row that it can't decode for our handler
            line.decode(request.dialect.encoding)
    if not names:
        raise errors.DamagedTableError(f"{path} declares no @attribute.")
    if start.lstrip().startswith(b"{"):
        raise errors.UnknownFormatError(f"{path} is a sparse arff file; save it as a dense one, or as libsvm.")
    declared: Types = {name: kind for name in names if (kind := _declared_kind(kinds[name])) is not None}
    verbatim = "verbatim" in request.types.values()
    allowed = {} if verbatim else {name: values for name in names if (values := _nominal(kinds[name])) is not None}
    quote = '"' if b'"' in start and b"'" not in start else "'"

    def comment(row: Any) -> str:
        return "skip" if row.text.lstrip().startswith("%") else "error"

    first = 1
    for frame in read_rows(
        path,
        replace(request, types={**declared, **request.types}),
        read={"column_names": names, "skip_rows": skip},
        parse={"quote_char": quote, "escape_char": "\\", "invalid_row_handler": comment},
    ):
        texts = frame.select_dtypes(["object", "string"]).columns
        frame = frame.assign(**{name: frame[name].str.strip() for name in texts})
        for name in texts:
            if name in allowed:
                frame[name] = _checked(frame[name], allowed[name], path, first)
        first += len(frame)
        yield frame


def _declared_kind(kind: str) -> Any:
    """The kind that an arff file declares for a column; None for a date, which is recognised."""
    first = kind.split()[0].lower()
    return "number" if first in ("numeric", "real", "integer") else None if first == "date" else "text"


def _nominal(kind: str) -> list[str] | None:
    """The values of a nominal attribute; None for other attributes.

    >>> _nominal("{red, 'light, green'}"), _nominal("real")
    (['red', 'light, green'], None)
    """
    if not (kind.startswith("{") and "}" in kind):
        return None
    return [_unquoted(value) for value in VALUE.findall(kind[1 : kind.rindex("}")])]


def _unquoted(text: str) -> str:
    return re.sub(r"\\(.)", r"\1", text[1:-1]) if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"" else text


def _checked(values: Any, allowed: list[str], path: Path, first: int) -> Any:
    """Return the values of a nominal column, all of them declared; `first` is the number of the first row."""
    unknown = values.notna() & ~values.isin(allowed)
    if not unknown.any():
        return values
    # A file may use both kinds of quotation marks, and the reader knows one of them.
    values = values.where(~unknown, values[unknown].map(_unquoted))
    unknown = values.notna() & ~values.isin(allowed)
    if unknown.any():
        at = int(unknown.to_numpy().argmax())
        raise errors.UndeclaredValueError(
            f"{path}: column {values.name!r} has {values.iloc[at]!r} in row {first + at}, and its @attribute line "
            f"declares {quoted(allowed)}. Correct the row, or declare the value."
        )
    return values
