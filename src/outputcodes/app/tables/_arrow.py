"""Shared by the readers: pyarrow where it is installed, opened files, and arrow tables as data frames."""

from __future__ import annotations

import bz2
import gzip
from collections import Counter
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any, Literal

from outputcodes.app.tables import errors

# Columns that are read as text or as numbers whatever they look like; "verbatim" is text without missing values.
Types = Mapping[str, Literal["text", "number", "verbatim"]]

OTHER_ENCODING = "save it as UTF-8, or name its encoding, such as encoding='latin-1' (--encoding latin-1)."


def pyarrow(part: str = "") -> Any:
    """Import pyarrow or a part of it; if it is missing, the error says what to install."""
    try:
        import_module("pandas")
        return import_module(f"pyarrow.{part}" if part else "pyarrow")
    except ImportError as missing:
        name = str(missing.name).partition(".")[0]
        raise ImportError(f"Tables need {name}: pip install 'outputcodes[table]'") from missing


def opened(path: Path) -> Any:
    """Open a file as bytes, decompressed if its name ends in .gz or .bz2."""
    openers: dict[str, Any] = {".gz": gzip.open, ".bz2": bz2.open}
    return openers.get(path.suffix.lower(), open)(path, "rb")


def check_unique(names: list[str], path: Path) -> None:
    """Refuse two columns with the same name."""
    if twice := sorted(name for name, count in Counter(names).items() if count > 1):
        raise errors.DuplicateColumnsError(f"{path} has more than one column named {', '.join(map(repr, twice))}.")


def as_frame(table: Any, path: Path, only: set[str] | None = None) -> Any:
    """Return an arrow table as a data frame of numbers, dates and text."""
    pa = pyarrow()
    check_unique(table.schema.names, path)
    if only is not None:
        table = table.select([name for name in table.schema.names if name in only])
    for place, field in enumerate(table.schema):
        kind = field.type
        if pa.types.is_nested(kind):
            raise errors.WrongKindError(f"{path}: column {field.name!r} holds {kind}, not single values.")
        if pa.types.is_binary(kind) or pa.types.is_large_binary(kind):
            raise errors.WrongEncodingError(f"{path}: column {field.name!r} is not UTF-8 text; {OTHER_ENCODING}")
        as_text = pa.types.is_dictionary(kind) or pa.types.is_boolean(kind) or pa.types.is_time(kind)
        if as_text or pa.types.is_decimal(kind):
            cast = table.column(place).cast(pa.string() if as_text else pa.float64())
            table = table.set_column(place, field.name, cast)
    # The types that pandas stored in the file no longer apply.
    return table.to_pandas(date_as_object=False, ignore_metadata=True)
