"""From a file of any length to chunks: the features of a known schema, or one column as it is written."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from outputcodes.app.tables.files_in_order import frames_in_turn, table_files
from outputcodes.app.tables.request import Dialect, Types
from outputcodes.app.tables.schema import Schema, as_text


def read_chunks(
    path: str | Path,
    schema: Schema,
    *,
    rows: int = 50_000,
    encoding: str = "utf-8",
    separator: str | None = None,
    decimal: str = ".",
) -> Iterator[Any]:
    """Yield features in data frames of at most `rows` rows that match `schema`; labels are not needed.

    `path` is a file, a folder of files or a pattern; files are read in the order of their names, and some of several
    may have no rows. For csv, tsv, arff and parquet files, only some blocks are in memory at a time. Rows are numbered
    from 1.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from outputcodes.app.tables import Column
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "new.csv"
    >>> _ = path.write_text("skin,mass\\nblue,1\\nred,2\\nred,3\\n")
    >>> schema = Schema((Column("mass", "number"), Column("skin", "category", ("green", "red"))))
    >>> [chunk.to_numpy().tolist() for chunk in read_chunks(path, schema, rows=2)]
    [[[1.0, 'blue'], [2.0, 'red']], [[3.0, 'red']]]
    """
    if rows < 1:
        raise ValueError(f"rows={rows} must be at least 1.")
    types: dict[str, Any] = dict.fromkeys(schema.used, "text") | dict.fromkeys(schema.names("number"), "number")
    start, first_rows = 1, dict[Path, int]()
    dialect = Dialect(encoding, separator, decimal)
    for file, frame in frames_in_turn(table_files(path), types, only=schema.used, rows=rows, dialect=dialect):
        # An error names the row in its file.
        in_file = start - first_rows.setdefault(file, start) + 1
        frame.index = range(in_file, in_file + len(frame))
        chunk = schema.conform(frame, file)
        chunk.index = range(start, start + len(frame))
        yield chunk
        start += len(frame)


def read_texts(
    path: str | Path,
    column: str,
    *,
    rows: int = 50_000,
    encoding: str = "utf-8",
    separator: str | None = None,
    decimal: str = ".",
) -> Iterator[Any]:
    """Yield one column as it is written, in the chunks of `read_chunks`.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "new.csv"
    >>> _ = path.write_text("id,mass\\n007,1\\nNA,2\\n3,3\\n")
    >>> [chunk.tolist() for chunk in read_texts(path, "id", rows=2)]
    [['007', 'NA'], ['3']]
    """
    types: Types = {column: "verbatim"}
    dialect = Dialect(encoding, separator, decimal)
    for _, frame in frames_in_turn(table_files(path), types, only=[column], rows=rows, dialect=dialect):
        yield as_text(frame[column])
