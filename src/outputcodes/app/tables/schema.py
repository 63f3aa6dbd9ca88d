"""The schema of a table: its columns and their kinds, as plain data that is saved with a model."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import asdict, dataclass
from typing import Any, Literal, Self

import numpy as np

from outputcodes._ground.text_features import MOST_CATEGORIES, hold_sentences
from outputcodes._ground.words import quoted
from outputcodes.app.tables import errors

Kind = Literal["number", "category", "date", "words", "text", "empty"]


@dataclass(frozen=True)
class Column:
    """A column of a table.

    Attributes
    ----------
    name : str
    kind : {"number", "category", "date", "words", "text", "empty"}
        "words" and "text" have more than a thousand distinct values. Those of "words" have words in common, and become
        features of these; "text" is other text, such as identifiers. It is left out of models, and so is "empty".
    categories : tuple of str
        The values of a category, sorted.

    Examples
    --------
    >>> Column("skin", "category", ("green", "red"))
    Column(name='skin', kind='category', categories=('green', 'red'))
    """

    name: str
    kind: Kind
    categories: tuple[str, ...] = ()


@dataclass(frozen=True)
class Schema:
    """The columns of a table, its target and classes.

    Attributes
    ----------
    columns : tuple of Column
    target : str or None
    classes : tuple of int or str
        Sorted.
    order : tuple of int or str
        The classes from the lowest to the highest, for ordinal codes; empty if they have no order.
    identifier : str or None
        The column that names the rows; it is not among `columns`.

    Examples
    --------
    >>> schema = Schema((Column("age", "number"), Column("job", "category", ("cook", "smith"))), "class", (1, 2))
    >>> schema.names("number", "category")
    ['age', 'job']
    >>> Schema.from_dict(schema.as_dict()) == schema
    True
    """

    columns: tuple[Column, ...]
    target: str | None = None
    classes: tuple[int | str, ...] = ()
    order: tuple[int | str, ...] = ()
    identifier: str | None = None

    def names(self, *kinds: Kind) -> list[str]:
        """Return the names of the columns of some kinds, in their order."""
        return [column.name for column in self.columns if column.kind in kinds]

    @property
    def used(self) -> list[str]:
        """The columns that a model reads."""
        return self.names("number", "date", "category", "words")

    @property
    def classes_in_order(self) -> tuple[int | str, ...]:
        """The classes in their order, or sorted if they have none."""
        return self.order or self.classes

    def as_dict(self) -> dict[str, Any]:
        """Return plain data, as JSON can hold it."""
        return asdict(self)

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        """Return the schema of which `as_dict` made the data, also after JSON."""
        columns = tuple(Column(c["name"], c["kind"], tuple(c["categories"])) for c in data["columns"])
        order, identifier = tuple(data.get("order", ())), data.get("identifier")
        return cls(columns, data["target"], tuple(data["classes"]), order, identifier)

    def conform(self, frame: Any, source: object = "The table") -> Any:
        """Return the columns that a model reads, in their order and kind; others are left out.

        Categories that training did not see are accepted: `preprocessing` treats them as none of the known ones.
        Booleans are spelled as in training. A value that is not a number or a date raises an error that names column,
        value and row (by the index).
        """
        if missing := [name for name in self.used if name not in frame.columns]:
            raise errors.MissingColumnsError(
                f"{source} lacks {quoted(missing)}; the model was trained on {quoted(self.used)}."
            )
        import pandas as pd

        as_kind = {"number": _numbers, "date": _dates, "category": as_text, "words": as_text}
        kinds = {column.name: column.kind for column in self.columns}
        categories = {column.name: column.categories for column in self.columns}
        columns = {}
        for name in self.used:
            columns[name] = as_kind[kinds[name]](frame[name])
            if categories[name]:
                columns[name] = spelled_as(columns[name], categories[name])
            lost = columns[name].isna() & frame[name].notna()
            if kinds[name] == "number":
                lost |= np.isinf(columns[name])
            refuse_wrong(lost, frame[name], kinds[name], source)
        return pd.DataFrame(columns, index=frame.index)


def refuse_wrong(wrong: Any, values: Any, kind: Kind, source: object) -> None:
    """Refuse a column that has wrong values: name the first, and its row by the index."""
    if wrong.any():
        at = int(wrong.to_numpy().argmax())
        raise errors.WrongKindError(
            f"{source}: column {values.name!r} must hold a {kind} in every row, and row {wrong.index[at]} has "
            f"{str(values.iloc[at])!r}."
        )


def infer(
    frame: Any, target: str | None = None, classes: Iterable[int | str] = (), categorical: Iterable[str] = ()
) -> Schema:
    """Return the schema of a data frame of features.

    Numbers and dates are recognised by their dtype; booleans and text are categories. Many different texts with words
    in common are sentences, unless the column is `categorical`.

    >>> import pandas as pd
    >>> infer(pd.DataFrame({"x": [1, 2], "colour": ["red", None]})).columns
    (Column(name='x', kind='number', categories=()), Column(name='colour', kind='category', categories=('red',)))
    """
    declared = {*map(str, categorical), *map(str, frame.select_dtypes("category").columns)}
    columns = (_column(str(name), frame[name], str(name) in declared) for name in frame.columns)
    return Schema(tuple(columns), target, tuple(classes))


def _column(name: str, values: Any, declared: bool) -> Column:
    if not values.notna().any():
        return Column(name, "empty")
    if values.dtype.kind in "iuf":
        return Column(name, "number")
    if values.dtype.kind == "M":
        return Column(name, "date")
    categories = as_text(values).dropna().unique()
    if hold_sentences(categories, values.notna().sum(), declared):
        return Column(name, "words")
    if len(categories) > MOST_CATEGORIES:
        return Column(name, "text")
    return Column(name, "category", tuple(sorted(map(str, categories))))


def as_text(values: Any) -> Any:
    """Return values as text, missing ones missing; a whole number has no decimal point, whatever its type.

    >>> import pandas as pd
    >>> as_text(pd.Series([1.0, None, 3.0])).tolist()
    ['1', nan, '3']
    """
    present = values.notna()
    if values.dtype.kind == "f" and (values[present] % 1 == 0).all():
        values = values.astype("Int64")
    return values.astype("str").where(present)


def spelled_as(text: Any, known: Collection[object]) -> Any:
    """Return text with booleans spelled as known values, if these are booleans: True, true or TRUE.

    >>> import pandas as pd
    >>> spelled_as(pd.Series(["True", "FALSE", "maybe"]), ["false", "true"]).tolist()
    ['true', 'false', 'maybe']
    """
    own = {str(value).lower(): value for value in known}
    if not own or len(own) < len(known) or not set(own) <= {"true", "false"}:
        return text
    return text.str.lower().map(own).astype(text.dtype).fillna(text)


def labels(values: Any) -> Any:
    """Return class labels: integers if all of them are written as such, else text.

    >>> import pandas as pd
    >>> labels(pd.Series(["2", "10"])).tolist(), labels(pd.Series(["007", "10"])).tolist()
    ([2, 10], ['007', '10'])
    """
    text = as_text(values)
    return text.astype("int64") if text.str.fullmatch(r"0|-?[1-9]\d{0,17}").all() else text.astype(object)


def _numbers(values: Any) -> Any:
    import pandas as pd

    if values.dtype.kind == "M":
        return pd.Series(np.nan, index=values.index)
    return pd.to_numeric(values, errors="coerce").astype("float64")


def _dates(values: Any) -> Any:
    import pandas as pd

    if values.dtype.kind in "iufb" and values.notna().any():
        return pd.Series(pd.NaT, index=values.index)
    dates = pd.to_datetime(values, format="ISO8601", utc=True, errors="coerce")
    return dates.dt.tz_localize(None).astype("datetime64[us]")
