"""What is unusual about a table: notes for its reader, and labels that are not classes."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from outputcodes._ground.text_features import MOST_CATEGORIES
from outputcodes._ground.words import quoted, shorten
from outputcodes.app.tables import errors
from outputcodes.app.tables.schema import Column, Schema, as_text

# A column with more categories than this, and than half the rows, is reported: identifiers, or numbers as text.
MANY_CATEGORIES = 20
# With so many different whole numbers, and in more than half the rows, a target may be a measurement.
MANY_WHOLE_NUMBERS = 10
DECIMAL_COMMA = r"[-+]?\d*,\d+"
# Text of which so many different values are numbers, and this share of all, is numbers with slips of typing.
FEWEST_NUMBERS, SHARE_OF_NUMBERS = 20, 0.95
COMMAS = "for a decimal comma, use decimal=',' (--decimal ,)"


def unlabelled_rows(number: int, words: Mapping[str, int] | None = None) -> str:
    """Return a note on the rows without a label, with the words that stand for a missing one.

    >>> unlabelled_rows(3, {"NA": 2, "": 1})
    "3 rows without a label left out ('NA' 2, empty 1)."
    """
    ordered = sorted((words or {}).items(), key=lambda item: -item[1])
    counted = ", ".join(f"{repr(word) if word else 'empty'} {count}" for word, count in ordered)
    return f"{number} row{'s' if number > 1 else ''} without a label left out{f' ({counted})' if counted else ''}."


def almost_numbers(schema: Schema, frame: Any, rows: Sequence[int]) -> dict[str, str]:
    """Return a note, by column, on text whose values are numbers but for a few; `rows` are the numbers of its rows.

    >>> import pandas as pd
    >>> from outputcodes.app.tables import infer
    >>> frame = pd.DataFrame({"weight": [*map(str, range(1400, 1450)), "1,5OO"], "code": ["1", "2", "X"] * 17})
    >>> print(*almost_numbers(infer(frame), frame, range(1, 52)).values())
    'weight' is read as a category, but 50 of its 51 different values are numbers, and row 51 has '1,5OO'. Correct what
    is not a number, or leave it empty. If these are categories: tables.read(..., categorical=['weight']).
    """
    import pandas as pd

    notes = {}
    for column in schema.columns:
        if column.kind not in ("category", "text"):
            continue
        values = as_text(frame[column.name]).reset_index(drop=True).dropna().drop_duplicates()
        others = values[pd.to_numeric(values, errors="coerce").isna()]
        numbers = len(values) - len(others)
        if len(others) and numbers >= max(FEWEST_NUMBERS, SHARE_OF_NUMBERS * len(values)):
            name, taken = column.name, "read as a category" if column.kind == "category" else "left out as text"
            notes[name] = (
                f"{name!r} is {taken}, but {numbers} of its {len(values)} different values are numbers, and row "
                f"{rows[others.index[0]]} has {shorten(others.iloc[0])!r}. Correct what is not a number, or leave it "
                f"empty. If these are categories: tables.read(..., categorical=[{name!r}])."
            )
    return notes


def unusual_columns(schema: Schema, n: int) -> tuple[str, ...]:
    """Return notes on columns that are left out, or that have a category for nearly every row.

    >>> schema = Schema((Column("price", "category", tuple(f"{i},5" for i in range(30))), Column("note", "empty")))
    >>> unusual_columns(schema, 40)  # doctest: +NORMALIZE_WHITESPACE
    ("Left out as empty: 'note'.",
     "'price': 30 categories in 40 rows, such as '0,5'; for a decimal comma, use decimal=',' (--decimal ,).")
    """
    notes = []
    if empty := schema.names("empty"):
        notes.append(f"Left out as empty: {quoted(empty)}.")
    if text := schema.names("text"):
        many = f"{MOST_CATEGORIES} different values: {quoted(text)}"
        notes.append(f"Left out as text or identifiers of more than {many}. {COMMAS.capitalize()}.")
    if words := schema.names("words"):
        notes.append(f"Read as sentences, by their words and pairs of words: {quoted(words)}.")
    return (*notes, *(_many(column, n) for column in schema.columns if len(column.categories) > _most(n)))


def _most(n: int) -> float:
    return max(MANY_CATEGORIES, n / 2)


def _many(column: Column, n: int) -> str:
    first = column.categories[0]
    commas = all(re.fullmatch(rf"{DECIMAL_COMMA}|[-+]?\d+", one) for one in column.categories)
    name = column.name
    why = COMMAS if commas else f"leave out identifiers, drop=[{name!r}] (--drop {name})"
    return f"{column.name!r}: {len(column.categories)} categories in {n} rows, such as {first!r}; {why}."


def unusual_target(y: Any, name: object) -> tuple[str, ...]:
    """Return a note on whole numbers as labels, if nearly every row has another one.

    >>> import pandas as pd
    >>> unusual_target(pd.Series(range(30)), "age")[0][:58]
    "The target 'age' has 30 different whole numbers in 30 rows"
    >>> unusual_target(pd.Series([0, 1, 2] * 10), "kind")
    ()
    """
    number = y.nunique()
    if y.dtype.kind != "i" or number <= max(MANY_WHOLE_NUMBERS, len(y) / 2):
        return ()
    return (
        f"The target {name!r} has {number} different whole numbers in {len(y)} rows, and each of them is a class. If "
        "they are measurements, name another target, or cut them into ranges (pandas.qcut).",
    )


def check_classes(y: Any, name: object, source: object) -> None:
    """Refuse measurements as labels: numbers with fractions, with more different values than half the rows."""
    import pandas as pd

    if y.dtype.kind == "i" or y.nunique() <= len(y) / 2:
        return
    numbers = pd.to_numeric(y, errors="coerce")
    if numbers.notna().all() and (numbers % 1 != 0).any():
        raise errors.ContinuousTargetError(
            f"{source}: the target column {name!r} holds {y.nunique()} different numbers in {len(y)} rows, such as "
            f"{y.iloc[0]}: measurements, not classes. Name another column, or cut this one into ranges (pandas.qcut)."
        )
