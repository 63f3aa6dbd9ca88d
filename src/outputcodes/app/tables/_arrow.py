"""Shared by the readers: pyarrow where it is installed, opened files, and arrow tables as data frames."""

from __future__ import annotations

import bz2
import gzip
from importlib import import_module
from pathlib import Path
from typing import Any

from outputcodes.app.tables import errors
from outputcodes.app.tables.ordering import joined_orders
from outputcodes.app.tables.request import Request

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


def as_frame(table: Any, path: Path, request: Request, *, is_text: bool) -> Any:
    """Return the chosen columns of an arrow table as a data frame of numbers, dates, text and ordered categories.

    In a text file (`is_text`), bytes are text in another encoding. In a part of a table, ordered categories become text
    too. Of columns that become text, the names of those with declared categories are in `attrs["declared"]`, and the
    categories of the ordered ones in `attrs["ordered"]`, by name.
    """
    pa, declared = pyarrow(), []
    ordered: dict[str, tuple[str, ...]] = {}
    table = table.select(request.chosen(table.schema.names, path))
    for place, field in enumerate(table.schema):
        kind = field.type
        if pa.types.is_nested(kind):
            raise errors.WrongKindError(f"{path}: column {field.name!r} holds {kind}, not single values.")
        if pa.types.is_binary(kind) or pa.types.is_large_binary(kind) or pa.types.is_fixed_size_binary(kind):
            raise _of_bytes(path, field.name, is_text, is_needed=field.name in request.types)
        # An order of categories matters for labels; the categories of a part may be others than those of the next.
        if pa.types.is_dictionary(kind) and kind.ordered and request.rows is None:
            continue
        if pa.types.is_dictionary(kind):
            declared.append(field.name)
            if kind.ordered:
                ordered[field.name] = _categories(table.column(place), pa)
        if pa.types.is_boolean(kind):
            # As csv files that pandas wrote and arrays have them; arrow's own text is "true".
            spelled = pyarrow("compute").if_else(table.column(place), "True", "False")
            table = table.set_column(place, field.name, spelled)
        as_text = pa.types.is_dictionary(kind) or pa.types.is_time(kind)
        if as_text or pa.types.is_decimal(kind):
            cast = table.column(place).cast(pa.string() if as_text else pa.float64())
            table = table.set_column(place, field.name, cast)
    # The types that pandas stored in the file no longer apply.
    frame = table.unify_dictionaries().to_pandas(date_as_object=False, ignore_metadata=True)
    frame.attrs |= {"declared": declared, "ordered": ordered}
    return frame


def _categories(column: Any, pa: Any) -> tuple[str, ...]:
    """The categories of an arrow column in their order, as the text that its values become."""
    dictionaries = (chunk.dictionary.cast(pa.string()).drop_null() for chunk in column.chunks)
    return joined_orders(one.to_pylist() for one in dictionaries)


def _of_bytes(path: Path, name: str, is_text: bool, is_needed: bool) -> errors.TableError:
    if is_text:
        return errors.WrongEncodingError(f"{path}: column {name!r} is not UTF-8 text; {OTHER_ENCODING}")
    # A column that was asked for by name, such as the target, can't be left out.
    remedy = "save it as text" if is_needed else f"leave it out, drop=[{name!r}] (--drop {name}), or save it as text"
    return errors.WrongKindError(f"{path}: column {name!r} holds bytes, which are neither numbers nor text: {remedy}.")
