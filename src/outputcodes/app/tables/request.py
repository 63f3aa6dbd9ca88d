"""What to read of a file: which columns, of which types, in how many rows at a time, and how its text is written."""

from __future__ import annotations

import codecs
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from outputcodes._ground.words import quoted
from outputcodes.app.tables import errors

# Columns that are read as text or as numbers whatever they look like; "verbatim" is text without missing values.
Types = Mapping[str, Literal["text", "number", "verbatim"]]

TAB = ("\\t", "tab")
SEPARATORS = {",": ",", ";": ";", "\t": "tab", "|": "|"}


@dataclass(frozen=True)
class Dialect:
    """How a text file is written.

    Attributes
    ----------
    encoding : str
    separator : str or None
        The sign between two fields of a csv or tsv file; None is the usual one.
    decimal : str
        The decimal mark in a csv or tsv file.
    """

    encoding: str = "utf-8"
    separator: str | None = None
    decimal: str = "."

    def between_fields(self, usual: str) -> str:
        """Return the separator of a file that usually has another one.

        >>> Dialect(separator="tab").between_fields(",")
        '\\t'
        """
        sign = "\t" if self.separator in TAB else usual if self.separator is None else self.separator
        if len(sign) != 1 or sign in "\r\n\"'":
            raise errors.TableError(
                f"separator={sign!r} (--sep) must be one character, such as ';', or the word tab for a tabulator."
            )
        if self.decimal not in (".", ","):
            raise errors.TableError(f"decimal={self.decimal!r} (--decimal) must be a point or a comma.")
        return sign

    def check_encoding(self) -> None:
        """Refuse an encoding that Python does not know."""
        try:
            codecs.lookup(self.encoding)
        except LookupError as reason:
            raise errors.WrongEncodingError(
                f"encoding={self.encoding!r} (--encoding) is unknown; usual ones are utf-8, latin-1, cp1252 and utf-16."
            ) from reason

    @property
    def is_usual(self) -> bool:
        """Whether neither separator nor decimal mark was named."""
        return self.separator is None and self.decimal == "."


@dataclass(frozen=True)
class Request:
    """What to read of a file.

    Attributes
    ----------
    types : mapping from names to types
        The kinds of the other columns are recognised.
    only : set of str or None
        Read only those of these columns that exist.
    without : set of str
        Columns to leave out, whatever they hold.
    rows : int or None
        The most rows in a data frame; None reads all rows into one.
    dialect : Dialect
    """

    types: Types = field(default_factory=dict)
    only: frozenset[str] | None = None
    without: frozenset[str] = frozenset()
    rows: int | None = None
    dialect: Dialect = Dialect()

    def chosen(self, names: list[str], path: Path) -> list[str]:
        """Return the columns to read; refuse equal and damaged names, and columns to leave out that are absent."""
        if twice := sorted(name for name, count in Counter(names).items() if count > 1):
            raise errors.DuplicateColumnsError(f"{path} has more than one column named {', '.join(map(repr, twice))}.")
        if damaged := [name for name in names if "\0" in name]:
            raise errors.DamagedTableError(
                f"{path}: the name of column {damaged[0]!r} holds a NUL character: the file is damaged, or in another "
                "encoding; name it by encoding= (--encoding)."
            )
        if absent := sorted(self.without - set(names)):
            raise errors.MissingColumnsError(
                f"{path} has no column {quoted(absent)} to leave out; it has {quoted(names)}."
            )
        if self.only and not self.only & set(names):
            raise errors.MissingColumnsError(
                f"{path} has no column {quoted(sorted(self.only))}; it has {quoted(names)}.{other_separator(names)}"
            )
        return [name for name in names if name not in self.without and (self.only is None or name in self.only)]


def other_separator(columns: Iterable[Any]) -> str:
    """Return a hint if the table has one column whose name contains another separator.

    >>> other_separator(["x;y;class"])
    " Its fields look separated by ';': name the separator, separator=';' (--sep ';')."
    """
    names = [str(name) for name in columns]
    found = [word for sign, word in SEPARATORS.items() if len(names) == 1 and sign in names[0]]
    if not found:
        return ""
    return (
        f" Its fields look separated by {found[0]!r}: name the separator, separator={found[0]!r} (--sep '{found[0]}')."
    )
