"""Rows of delimited text, read by pyarrow: csv and tsv; arff has another header."""

from __future__ import annotations

import re
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from outputcodes.app.tables import errors
from outputcodes.app.tables._arrow import OTHER_ENCODING, as_frame, opened, pyarrow
from outputcodes.app.tables.request import Dialect, Request, other_separator
from outputcodes.app.tables.unusual import DECIMAL_COMMA

# Lines up to one block are always read; a line of more than two blocks, 64 MB, never is.
BLOCK_BYTES = 1 << 25
# Smaller for chunks, as pyarrow reads about thirty blocks ahead.
CHUNK_BLOCK_BYTES = 1 << 22
MISSING = ["", "?", "NA", "N/A", "NaN", "nan", "NULL", "null", "None"]


def read_csv(path: Path, request: Request, usual: str = ",") -> Iterator[Any]:
    """Yield the frames of a file whose first line names the columns."""
    return read_rows(path, request, parse={"delimiter": request.dialect.between_fields(usual)})


read_tsv = partial(read_csv, usual="\t")


def read_rows(
    path: Path, request: Request, *, read: dict[str, Any] | None = None, parse: dict[str, Any]
) -> Iterator[Any]:
    """Yield the frames of delimited text; `read` and `parse` are further options of pyarrow's reader."""
    csv, pa = pyarrow("csv"), pyarrow()
    types, rows, dialect = request.types, request.rows, request.dialect
    with opened(path) as file:
        if file.read(2) in (BOM_UTF16_LE, BOM_UTF16_BE) and dialect.encoding == "utf-8":
            raise errors.WrongEncodingError(
                f"{path} is UTF-16 text; read it with encoding='utf-16' (--encoding utf-16)."
            )
    arrow = {"text": pa.string(), "verbatim": pa.string(), "number": pa.float64()}
    above = (read or {}).get("skip_rows", 1)
    verbatim = [name for name, kind in types.items() if kind == "verbatim"] or None

    def options(texts: Iterable[str] = (), names: list[str] | None = None) -> dict[str, Any]:
        return {
            # With one thread, errors name the row.
            "read_options": csv.ReadOptions(
                block_size=BLOCK_BYTES if rows is None else CHUNK_BLOCK_BYTES,
                use_threads=False,
                encoding=dialect.encoding,
                **(read or {}),
            ),
            "parse_options": csv.ParseOptions(newlines_in_values=True, **parse),
            "convert_options": csv.ConvertOptions(
                column_types={name: arrow[kind] for name, kind in types.items()} | dict.fromkeys(texts, pa.string()),
                include_columns=names,
                null_values=MISSING,
                strings_can_be_null=verbatim is None,
                decimal_point=dialect.decimal,
                # Booleans stay text, as they are written.
                true_values=[],
                false_values=[],
            ),
        }

    if rows is None:
        with _named_places(path, (read or {}).get("column_names"), above, dialect):
            table = csv.read_csv(path, **options(names=verbatim))
        # Columns have no kind for a time of day: "12:30" stays text.
        if times := [field.name for field in table.schema if pa.types.is_time(field.type)]:
            table = csv.read_csv(path, **options(times))
        yield as_frame(table, path, request, is_text=True)
        return
    # Kinds are recognised in the first block only, so columns that are not needed are read as text.
    with (
        _named_places(path, None, above, dialect),
        csv.open_csv(path, **options(texts=request.only or ())) as header,
    ):
        names = header.schema.names
        if not any(batch.num_rows for batch in header):
            return
    wanted, left = request.chosen(names, path), replace(request, without=frozenset())
    with _named_places(path, names, above, dialect), csv.open_csv(path, **options(names=wanted)) as batches:
        for batch in batches:
            for start in range(0, batch.num_rows, rows):
                yield as_frame(pa.Table.from_batches([batch.slice(start, rows)]), path, left, is_text=True)


@contextmanager
def _named_places(path: Path, names: list[str] | None, above: int, dialect: Dialect) -> Iterator[None]:
    """Name the column, and count rows from 1 below the header; pyarrow counts columns, and rows from the top."""
    try:
        yield
    except ValueError as reason:
        ragged = re.search(r"(?:Row #(\d+): )?Expected (\d+) columns, got (\d+)(.*)", str(reason), re.DOTALL)
        if ragged is not None:
            place = f"row {int(ragged[1]) - above}" if ragged[1] else "a row"
            with opened(path) as file:
                header = file.readline().decode(dialect.encoding).strip()
            hint = other_separator([header]) if ragged[2] == "1" else ""
            raise errors.RaggedRowsError(
                f"{path}: {place} has {ragged[3]} fields, not {ragged[2]}{ragged[4].rstrip()[:200]}.{hint}"
            ) from reason
        found = re.search(r"In CSV column #(\d+): (?:Row #(\d+): )?.*invalid (?:value '(.*)'|UTF8)", str(reason))
        if found is None:
            raise
        place = f"row {int(found[2]) - above}" if found[2] else "a row"
        if found[3] is None:
            raise errors.WrongEncodingError(f"{path}: {place} is not UTF-8 text; {OTHER_ENCODING}") from reason
        if names is None:
            raise
        comma = re.fullmatch(DECIMAL_COMMA, found[3]) and dialect.decimal == "."
        hint = " For a decimal comma, use decimal=',' (--decimal ',')." if comma else ""
        raise errors.WrongKindError(
            f"{path}: column {names[int(found[1])]!r} must hold a number in every row, and {place} has "
            f"{found[3]!r}.{hint}"
        ) from reason
