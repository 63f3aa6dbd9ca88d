"""What is unusual about a table: sentences for its reader, and labels that are no classes."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from outputcodes.app.tables import errors
from outputcodes.app.tables.schema import MOST_CATEGORIES, Column, Schema, listed

# A column of so many categories, and more of them than half the rows, is told: ids, or numbers written unusually.
MANY_CATEGORIES = 20


def unlabelled_rows(number: int, words: Mapping[str, int] | None = None) -> str:
    """How many rows have no label, and by which words that was told.

    >>> unlabelled_rows(3, {"NA": 2, "": 1})
    "3 rows without a label left out ('NA' 2, '' 1)."
    """
    ordered = sorted((words or {}).items(), key=lambda item: -item[1])
    told = ", ".join(f"'{word}' {count}" for word, count in ordered)
    return f"{number} row{'s' if number > 1 else ''} without a label left out{f' ({told})' if told else ''}."


def unusual_columns(schema: Schema, n: int) -> tuple[str, ...]:
    """Sentences on columns that are left out, or that have a category for nearly every row.

    >>> schema = Schema((Column("price", "category", tuple(f"{i},5" for i in range(30))), Column("note", "empty")))
    >>> unusual_columns(schema, 40)  # doctest: +NORMALIZE_WHITESPACE
    ("Left out as empty: 'note'.",
     "'price': 30 categories in 40 rows, '0,5' say; numbers need a decimal point.")
    """
    notes = []
    if empty := schema.names("empty"):
        notes.append(f"Left out as empty: {listed(empty)}.")
    if text := schema.names("text"):
        many = f"{MOST_CATEGORIES} different values: {listed(text)}"
        notes.append(f"Left out as text or identifiers of more than {many}. Numbers need a decimal point.")
    return (*notes, *(_many(column, n) for column in schema.columns if len(column.categories) > _most(n)))


def _most(n: int) -> float:
    return max(MANY_CATEGORIES, n / 2)


def _many(column: Column, n: int) -> str:
    first = column.categories[0]
    commas = all(re.fullmatch(r"[-+]?\d*,\d+|[-+]?\d+", one) for one in column.categories)
    why = "numbers need a decimal point" if commas else "an identifier is best left out of the file"
    return f"{column.name!r}: {len(column.categories)} categories in {n} rows, {first!r} say; {why}."


def check_classes(y: Any, name: object, source: object) -> None:
    """Refuse measurements as labels: numbers, not all whole, of which more than half as many differ as there are."""
    import pandas as pd

    if y.dtype.kind == "i" or y.nunique() <= len(y) / 2:
        return
    numbers = pd.to_numeric(y, errors="coerce")
    if numbers.notna().all() and (numbers % 1 != 0).any():
        raise errors.ContinuousTargetError(
            f"{source}: the target column {name!r} holds {y.nunique()} different numbers in {len(y)} rows, {y.iloc[0]} "
            "say: measurements, not classes. Name another column, or cut this one into ranges first (pandas.qcut)."
        )
