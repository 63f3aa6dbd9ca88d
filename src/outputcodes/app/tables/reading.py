"""From a file to features, labels and their schema."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from outputcodes._ground.words import quoted
from outputcodes.app.tables import errors
from outputcodes.app.tables.formats import LABEL, frames, missing_words
from outputcodes.app.tables.ordering import order_of
from outputcodes.app.tables.request import Dialect, Types, other_separator
from outputcodes.app.tables.schema import Schema, as_text, infer, labels, spelled_as
from outputcodes.app.tables.unusual import (
    almost_numbers,
    check_classes,
    unlabelled_rows,
    unusual_columns,
    unusual_target,
)

# Names of the target column if none is given.
USUAL_TARGETS = ("target", "class", LABEL)


@dataclass(frozen=True, eq=False)
class Table:
    """A table with labels.

    Attributes
    ----------
    frame : DataFrame
        The features that models read: numbers, dates and categories. Its index, like those of the labels and of the
        split, counts the rows of the file from 1, including those without a label.
    target : Series
        The labels: integers if all of them are written as such, else text.
    split, group : Series or None
        The split column and the group column, as text.
    schema : Schema
        Of the features; `schema.names("text", "empty")` are those left out of `frame`.
    unlabelled : int
        How many rows were left out because they have no label.
    notes : tuple of str
        Sentences on what is unusual: rows and columns left out, and columns whose kind is doubtful.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "fruit.csv"
    >>> _ = path.write_text("mass,class\\n150,apple\\n60,lemon\\n140,\\n")
    >>> table = read(path)
    >>> table.frame.shape, table.target.tolist(), table.unlabelled
    ((2, 1), ['apple', 'lemon'], 1)
    """

    frame: Any
    target: Any
    split: Any
    schema: Schema
    unlabelled: int
    notes: tuple[str, ...] = ()
    group: Any = None


def read(
    path: str | Path,
    target: str | None = None,
    *,
    split: str | None = None,
    group: str | None = None,
    categorical: Iterable[str] = (),
    drop: Iterable[str] = (),
    identifier: str | None = None,
    order: Sequence[str] | None = None,
    schema: Schema | None = None,
    encoding: str = "utf-8",
    separator: str | None = None,
    decimal: str = ".",
) -> Table:
    """Read a table with labels: csv, tsv, arff, libsvm (these also .gz or .bz2) or parquet.

    Parameters
    ----------
    path : str or Path
    target : str, optional
        The column of the labels; None is the one named "target", "class" or "label", in upper or lower case.
    split : str, optional
        A column that is not a feature: it tells training rows from others.
    group : str, optional
        A column that is not a feature: rows with the same value belong together, such as those of one patient.
    categorical : iterable of str
        Columns of numbers that are codes of categories.
    drop : iterable of str
        Columns to leave out, whatever they hold.
    identifier : str, optional
        A column that names the rows: never a feature. The schema remembers it for predictions.
    order : sequence of str, optional
        The classes from the lowest to the highest, for ordinal codes. None is the order of an ordered categorical
        column of a parquet file, if the target is one.
    schema : Schema, optional
        The schema of the training table, which this table must match: features, target and classes.
    encoding : str
        The encoding of a text file.
    separator : str, optional
        The sign between the fields of a csv or tsv file, in place of a comma or a tabulator.
    decimal : {".", ","}, default="."
        The decimal mark in a csv or tsv file.

    Returns
    -------
    Table

    Examples
    --------
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "fruit.csv"
    >>> _ = path.write_text("mass,skin,class\\n150,red,apple\\n,green,pear\\n120,yellow,lemon\\n")
    >>> table = read(path)
    >>> table.target.tolist()
    ['apple', 'pear', 'lemon']
    >>> [(column.name, column.kind) for column in table.schema.columns]
    [('mass', 'number'), ('skin', 'category')]
    """
    categorical, dialect = list(categorical), Dialect(encoding, separator, decimal)
    without = {*drop, *([] if identifier is None else [identifier])}
    types: dict[str, Any] = dict.fromkeys(categorical, "text")
    if schema is not None:
        target = target or schema.target
        types |= dict.fromkeys(schema.names("category", "date", "words"), "text")
    types |= {name: "text" for name in (target, split, group) if name is not None}
    if taken := sorted(without & {target, split, group}, key=str):
        raise errors.NoTargetError(
            f"{path}: column {taken[0]!r} is the target, the split or the group, and can't be left out."
        )
    if group is not None and group in (target, split):
        raise errors.NoTargetError(
            f"{path}: column {group!r} can't be the group (--group) and the target or the split."
        )
    # A table that must match another one may have more columns, whatever they hold.
    only = None if schema is None else [*schema.used, *categorical, *(name for name in (target, split, group) if name)]
    frame = _whole(path, types, only, without, dialect)
    if target is None:
        # Recognised numbers are read again as text: a label is the text in the file.
        target = _usual_target(frame.columns, path)
        if frame[target].dtype.kind in "iufM":
            frame = _whole(path, {**types, target: "text"}, only, without, dialect)
    for name, role in [(target, "target"), (split, "split"), (group, "group")]:
        if name is not None and name not in frame.columns:
            raise errors.NoTargetError(
                f"{path} has no {role} column {name!r} (--{role}); it has {quoted(frame.columns)}."
                f"{other_separator(frame.columns)}"
            )
    features = frame.drop(columns=[name for name in (target, split, group) if name is not None])
    if absent := [name for name in categorical if name not in features]:
        raise errors.MissingColumnsError(f"{path} has no column {quoted(absent)}; it has {quoted(features)}.")
    declared = [*features.select_dtypes("category").columns, *frame.attrs.get("declared", ())]
    texts = list(dict.fromkeys([*categorical, *(name for name in declared if name in features)]))
    features = features.assign(**{name: as_text(features[name]) for name in texts})
    parts = None if split is None else frame[split]
    table = from_frame(features, frame[target], split=parts, order=order, categorical=texts, schema=schema, source=path)
    if group is not None:
        table = replace(table, group=_groups(frame[group], table.target.index, path))
    if identifier is not None:
        table = replace(table, schema=replace(table.schema, identifier=identifier))
    if not table.unlabelled:
        return table
    words = missing_words(path, target, dialect)
    return replace(table, notes=(unlabelled_rows(table.unlabelled, words), *table.notes[1:]))


def from_frame(
    features: Any,
    target: Any,
    *,
    split: Any = None,
    order: Sequence[str] | None = None,
    categorical: Iterable[str] = (),
    schema: Schema | None = None,
    source: object = "The table",
) -> Table:
    """Return a table of data in memory, such as those of `outputcodes.app.datasets`.

    Parameters
    ----------
    features : DataFrame
    target : Series
        One label per row; rows without one are left out.
    split : Series, optional
        Tells training rows from others.
    order : sequence of str, optional
        The classes from the lowest to the highest; None is the order of the target, if it is an ordered categorical.
    categorical : iterable of str
        Columns of text that are known to be categories, though most of it may be numbers.
    schema : Schema, optional
        That of the training table, which this one must match.
    source : object
        The name of the table in error messages.

    Examples
    --------
    >>> from outputcodes.app.datasets import load
    >>> digits = load("digits")
    >>> from_frame(digits.data, digits.target).schema.columns[0]
    Column(name='pixel_0_0', kind='number', categories=())
    """
    labelled = target.notna()
    if not labelled.any():
        raise errors.NoLabelsError(f"{source}: no row has a label in the target column {target.name!r}.")
    features, target, known = features[labelled], target[labelled], schema
    y = labels(target) if schema is None else _known_labels(target, schema, source)
    if schema is None:
        check_classes(y, target.name, source)
        if y.nunique() < 2:
            raise errors.OneClassError(f"{source}: all labels are {str(y.iloc[0])!r}; a classifier needs two classes.")
        schema = infer(features, target.name, sorted(y.unique().tolist()), categorical)
        schema = replace(schema, order=order_of(target, schema.classes, order, source))
    conformed = schema.conform(features, source)
    parts = None if split is None else as_text(split[labelled])
    for part in (conformed, y, parts):
        if part is not None:
            part.index = 1 + np.flatnonzero(labelled)
    unlabelled = int((~labelled).sum())
    notes: tuple[str, ...] = (unlabelled_rows(unlabelled),) if unlabelled else ()
    if known is None:
        doubtful = [column for column in schema.columns if column.name not in set(categorical)]
        almost = almost_numbers(replace(schema, columns=tuple(doubtful)), features, list(conformed.index))
        others = tuple(column for column in schema.columns if column.name not in almost)
        notes += (*unusual_target(y, target.name), *almost.values())
        notes += unusual_columns(replace(schema, columns=others), len(y))
    return Table(conformed, y, parts, schema, unlabelled, notes)


def _groups(values: Any, rows: Any, path: str | Path) -> Any:
    """The groups of the rows that have a label."""
    groups = as_text(values).loc[rows]
    if (missing := groups.isna()).any():
        raise errors.TableError(
            f"{path}: {int(missing.sum())} rows have no group (--group {values.name}); the first is row "
            f"{groups.index[missing][0]}. Fill in the column, or remove these rows."
        )
    return groups


def _whole(path: str | Path, types: Types, only: Iterable[str] | None, without: Iterable[str], dialect: Dialect) -> Any:
    (frame,) = frames(path, types, only=only, without=without, dialect=dialect)
    frame.index = range(1, len(frame) + 1)
    return frame


def target_of(columns: Any, target: str | None, path: str | Path) -> str:
    """Return the target column: the one given, which must exist, or the one with a usual name."""
    if target is None:
        return _usual_target(columns, path)
    if target not in columns:
        raise errors.NoTargetError(
            f"{path} has no target column {target!r} (--target); it has {quoted(columns)}.{other_separator(columns)}"
        )
    return target


def _usual_target(columns: Any, path: str | Path) -> str:
    found = [str(name) for name in columns if str(name).lower() in USUAL_TARGETS]
    if len(found) == 1:
        return found[0]
    raise errors.NoTargetError(
        f"{path}: name the target column (--target); it has {quoted(columns)}.{other_separator(columns)}"
    )


def _known_labels(values: Any, schema: Schema, source: object) -> Any:
    known = {str(label): label for label in schema.classes}
    text = spelled_as(as_text(values), known)
    if unknown := sorted(set(text) - set(known)):
        raise errors.UnknownLabelsError(f"{source} has labels that training did not: {quoted(unknown)}.")
    return text.map(known)
