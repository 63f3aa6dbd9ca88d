"""Rows of delimited text, read by pyarrow: csv, tsv, and arff, which is csv with another header."""

from __future__ import annotations

import re
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from outputcodes.app.tables import errors
from outputcodes.app.tables._arrow import Types, as_frame, check_unique, opened, pyarrow

# Lines up to one block are always read; a line of more than two blocks, 64 MB, never is.
BLOCK_BYTES = 1 << 25
# Smaller for chunks, as pyarrow reads about thirty blocks ahead.
CHUNK_BLOCK_BYTES = 1 << 22
SEPARATORS = {";": "';'", "\t": "tabs", "|": "'|'"}
MISSING = ["", "?", "NA", "N/A", "NaN", "nan", "NULL", "null", "None"]

ATTRIBUTE = re.compile(r"@attribute\s+('(?:\\.|[^'])*'|\"(?:\\.|[^\"])*\"|\S+)\s+(\S.*)", re.IGNORECASE)


def read_csv(
    path: Path, types: Types, only: set[str] | None, rows: int | None, encoding: str, separator: str = ","
) -> Iterator[Any]:
    """Yield the frames of a file whose first line names the columns."""
    return _read(path, types, only, rows, encoding, parse={"delimiter": separator})


read_tsv = partial(read_csv, separator="\t")


def read_arff(path: Path, types: Types, only: set[str] | None, rows: int | None, encoding: str) -> Iterator[Any]:
    """Yield the frames of an arff file; the sparse form is refused."""
    names, declared, skip = [], {}, 0
    with opened(path) as lines:
        for line in lines:
            skip += 1
            text = line.decode(encoding).strip()
            if text.lower() == "@data":
                break
            if attribute := ATTRIBUTE.match(text):
                name = re.sub(r"\\(.)", r"\1", attribute[1][1:-1]) if attribute[1][0] in "'\"" else attribute[1]
                names.append(name)
                declared[name] = _declared_kind(attribute[2])
        start = lines.peek(1 << 16)[: 1 << 16]
    if not names:
        raise errors.DamagedTableError(f"{path} declares no @attribute.")
    if start.lstrip().startswith(b"{"):
        raise errors.UnknownFormatError(f"{path} is a sparse arff file; save it as a dense one, or as libsvm.")
    known: Types = {name: kind for name, kind in declared.items() if kind is not None}
    quote = '"' if b'"' in start and b"'" not in start else "'"

    def comment(row: Any) -> str:
        return "skip" if row.text.lstrip().startswith("%") else "error"

    for frame in _read(
        path,
        {**known, **types},
        only,
        rows,
        encoding,
        read={"column_names": names, "skip_rows": skip},
        parse={"quote_char": quote, "escape_char": "\\", "invalid_row_handler": comment},
    ):
        texts = frame.select_dtypes(["object", "string"]).columns
        yield frame.assign(**{name: frame[name].str.strip() for name in texts})


def _declared_kind(kind: str) -> Any:
    """The kind that an arff file declares for a column; None for a date, which is recognised."""
    first = kind.split()[0].lower()
    return "number" if first in ("numeric", "real", "integer") else None if first == "date" else "text"


def _read(
    path: Path,
    types: Types,
    only: set[str] | None,
    rows: int | None,
    encoding: str,
    *,
    read: dict[str, Any] | None = None,
    parse: dict[str, Any],
) -> Iterator[Any]:
    csv, pa = pyarrow("csv"), pyarrow()
    with opened(path) as file:
        if file.read(2) in (BOM_UTF16_LE, BOM_UTF16_BE) and encoding == "utf-8":
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
                encoding=encoding,
                **(read or {}),
            ),
            "parse_options": csv.ParseOptions(newlines_in_values=True, **parse),
            "convert_options": csv.ConvertOptions(
                column_types={name: arrow[kind] for name, kind in types.items()} | dict.fromkeys(texts, pa.string()),
                include_columns=names,
                null_values=MISSING,
                strings_can_be_null=verbatim is None,
                # Booleans stay text, as they are written.
                true_values=[],
                false_values=[],
            ),
        }

    if rows is None:
        with _named_places(path, (read or {}).get("column_names"), above, encoding):
            table = csv.read_csv(path, **options(names=verbatim))
        # Columns have no kind for a time of day: "12:30" stays text.
        if times := [field.name for field in table.schema if pa.types.is_time(field.type)]:
            table = csv.read_csv(path, **options(times))
        yield as_frame(table, path, only)
        return
    # Kinds are recognised in the first block only, so columns that are not needed are read as text.
    with (
        _named_places(path, None, above, encoding),
        csv.open_csv(path, **options(texts=only or ())) as header,
    ):
        names = header.schema.names
    check_unique(names, path)
    wanted = [name for name in names if only is None or name in only]
    with _named_places(path, names, above, encoding), csv.open_csv(path, **options(names=wanted)) as batches:
        for batch in batches:
            for start in range(0, batch.num_rows, rows):
                yield as_frame(pa.Table.from_batches([batch.slice(start, rows)]), path)


@contextmanager
def _named_places(path: Path, names: list[str] | None, above: int, encoding: str) -> Iterator[None]:
    """Name the column, and count rows from 1 below the header; pyarrow counts columns, and rows from the top."""
    try:
        yield
    except ValueError as reason:
        ragged = re.search(r"(?:Row #(\d+): )?Expected (\d+) columns, got (\d+)(.*)", str(reason), re.DOTALL)
        if ragged is not None:
            place = f"row {int(ragged[1]) - above}" if ragged[1] else "a row"
            with opened(path) as file:
                header = file.readline().decode(encoding).strip()
            hint = other_separator([header]) if ragged[2] == "1" else ""
            raise errors.RaggedRowsError(
                f"{path}: {place} has {ragged[3]} fields, not {ragged[2]}{ragged[4].rstrip()[:200]}.{hint}"
            ) from reason
        found = re.search(r"In CSV column #(\d+): (?:Row #(\d+): )?.*invalid value '(.*)'", str(reason))
        if found is None or names is None:
            raise
        place = f"row {int(found[2]) - above}" if found[2] else "a row"
        raise errors.WrongKindError(
            f"{path}: column {names[int(found[1])]!r} must hold a number in every row, and {place} has {found[3]!r}."
        ) from reason


def other_separator(columns: Iterable[Any]) -> str:
    """Return a hint if the table has one column whose name contains another separator.

    >>> other_separator(["x;y;class"])
    " Its fields look separated by ';': save it with commas, or as .tsv with tabs."
    """
    names = [str(name) for name in columns]
    found = [word for sign, word in SEPARATORS.items() if len(names) == 1 and sign in names[0]]
    return f" Its fields look separated by {found[0]}: save it with commas, or as .tsv with tabs." if found else ""
