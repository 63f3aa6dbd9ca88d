"""Tables in several files, a folder or a pattern such as parts/*.parquet, in blocks that need not fit in memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from outputcodes._ground.row_sequence import RowBlocks, rows_per_block
from outputcodes._ground.text_features import MOST_CATEGORIES, are_sentences
from outputcodes.app.tables import errors
from outputcodes.app.tables.files_in_order import FilesInOrder, table_files
from outputcodes.app.tables.ordering import joined_orders, order_of
from outputcodes.app.tables.reading import Table, from_frame, target_of
from outputcodes.app.tables.request import Dialect
from outputcodes.app.tables.schema import Column, Schema, as_text, labels, refuse_wrong

# A block of float64 of this many values has 64 MiB.
VALUES_PER_BLOCK = 1 << 23
# Rows from which preprocessing learns medians and scales.
SAMPLED_ROWS = 100_000


@dataclass(frozen=True, eq=False)
class BlockTable:
    """A table with labels that is read block by block.

    Attributes
    ----------
    frames : RowBlocks
        The features that models read, in data frames; every pass reads the files again.
    target : ndarray
        The labels of all rows: integers if all of them are written as such, else text.
    schema : Schema
        The kinds of the columns are those in a sample; categories and classes are those of all rows.
    sample : Table
        Rows that are spread over all files.
    unlabelled : int
        How many rows were left out because they have no label.
    orders : dict
        For each file with labels, the ordered categories of the target; none if they have no order. Where the files
        agree, this is the order of the schema.
    """

    frames: RowBlocks
    target: NDArray[Any]
    schema: Schema
    sample: Table
    unlabelled: int
    orders: dict[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def labels(self) -> Any:
        """The labels of all rows as a Series."""
        return _series(self.target)


@dataclass
class _FirstPass:
    """What is learned in one pass over all files: labels, sizes, values of text columns, and a sample."""

    target: str
    codes: dict[str, int] = field(default_factory=dict)
    numbers: list[NDArray[np.int32]] = field(default_factory=list)
    sizes: list[int] = field(default_factory=list)
    values: dict[str, set[str]] = field(default_factory=dict)
    sampled: list[Any] = field(default_factory=list)
    declared: set[str] = field(default_factory=set)
    orders: dict[str, tuple[str, ...]] = field(default_factory=dict)
    every: int = 1
    unlabelled: int = 0

    def add(self, frame: Any) -> None:
        path, ordered = frame.attrs["path"], frame.attrs["ordered"].get(self.target, ())
        self.declared.update(frame.attrs.get("declared", ()))
        text = as_text(frame[self.target])
        labelled = text.notna().to_numpy()
        self.unlabelled += int((~labelled).sum())
        frame, text = frame[labelled], text[labelled]
        if len(frame):
            self.orders[path] = joined_orders([self.orders.get(path, ()), ordered])
        own, names = text.factorize()
        places = np.array([self.codes.setdefault(one, len(self.codes)) for one in names], dtype=np.int32)
        self.numbers.append(places[own] if len(own) else places)
        self.sizes.append(len(frame))
        for name in frame.columns.drop(self.target):
            if frame[name].dtype.kind == "f":
                refuse_wrong(np.isinf(frame[name]), frame[name], "number", path)
            elif frame[name].dtype.kind not in "iuM":
                known = self.values.setdefault(str(name), set())
                if len(known) <= MOST_CATEGORIES:
                    known.update(as_text(frame[name]).dropna().unique())
        self.sampled.append(frame.iloc[:: self.every])
        if sum(map(len, self.sampled)) > 2 * SAMPLED_ROWS:
            self.every *= 2
            self.sampled = [part.iloc[::2] for part in self.sampled]


def read_blocks(
    data: str | Path,
    target: str | None = None,
    *,
    drop: Iterable[str] = (),
    identifier: str | None = None,
    order: Sequence[str] | None = None,
    rows: int | None = None,
    encoding: str = "utf-8",
    separator: str | None = None,
    decimal: str = ".",
) -> BlockTable:
    """Read the labels of a table in one or more files, and prepare its features for being read in blocks.

    Parameters
    ----------
    data : str or Path
        A file, a folder of files or a pattern, such as "parts/*.parquet"; files are taken in the order of their names,
        and have the same columns.
    rows : int, optional
        The most rows in a block; None is about 8 million numbers. A block has rows of one file.
    target, drop, identifier, order, encoding, separator, decimal
        As in `read`.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = (folder / "a.csv").write_text("x,class\\n1,no\\n2,yes\\n3,yes\\n")
    >>> _ = (folder / "b.csv").write_text("x,class\\n4,no\\n")
    >>> table = read_blocks(folder, rows=2)
    >>> table.frames.sizes, table.target.tolist()
    ([2, 1, 1], ['no', 'yes', 'yes', 'no'])
    """
    dialect, without = Dialect(encoding, separator, decimal), {*drop, *([] if identifier is None else [identifier])}
    files = FilesInOrder(table_files(data), dialect)
    columns = files.columns(without)
    target = target_of(columns, target, data)
    rows = rows_per_block(rows, len(columns), VALUES_PER_BLOCK)
    found = _FirstPass(target)
    only = columns if files.sparse else None
    for frame in files.blocks({target: "text"}, only, () if only else without, rows):
        found.add(frame)
    if not found.codes:
        raise errors.NoLabelsError(f"{data}: no row has a label in the target column {target!r}.")
    sample = _sample(found, data)
    schema = _of_all_rows(sample.schema, found, order, data)
    if identifier is not None:
        schema = replace(schema, identifier=identifier)
    sample = replace(sample, schema=schema)
    labelled = _Labelled(files, schema, target, rows)
    names = labels(_series(list(found.codes)))
    y = names.to_numpy()[np.concatenate(found.numbers)]
    frames = RowBlocks.counted(labelled, found.sizes, len(schema.used))
    return BlockTable(frames, y, schema, sample, found.unlabelled, found.orders)


@dataclass(frozen=True)
class _Labelled:
    """The features of the rows with a label, block by block, whenever it is iterated."""

    files: FilesInOrder
    schema: Schema
    target: str
    rows: int

    def __iter__(self) -> Iterator[Any]:
        types: dict[str, Any] = dict.fromkeys(self.schema.used, "text")
        types |= dict.fromkeys(self.schema.names("number"), "number") | {self.target: "text"}
        for frame in self.files.blocks(types, [*self.schema.used, self.target], (), self.rows):
            yield self.schema.conform(frame[frame[self.target].notna()], frame.attrs["path"])


def _sample(found: _FirstPass, data: str | Path) -> Table:
    """The sampled rows as a table whose kinds of columns are inferred from them."""
    import pandas as pd

    # A part without any value in a column says nothing about its kind.
    parts = [part.dropna(axis=1, how="all") for part in found.sampled]
    frame: Any = pd.concat(parts, ignore_index=True).reindex(columns=found.sampled[0].columns)
    found.sampled.clear()
    declared = found.declared - {found.target}
    return from_frame(frame.drop(columns=found.target), frame[found.target], categorical=declared, source=data)


def _of_all_rows(schema: Schema, found: _FirstPass, order: Sequence[str] | None, data: str | Path) -> Schema:
    """The schema with the classes, their order and the categories of all rows; a column of too many values is text."""
    classes = tuple(sorted(labels(_series(list(found.codes))).tolist()))
    if order is None and len(orders := set(found.orders.values())) == 1:
        # The files may have categories that no row has.
        order = [text for text in orders.pop() if text in found.codes] or None
    in_order = order_of(_series(list(found.codes)), classes, order, data)
    columns = []
    for column in schema.columns:
        values = found.values.get(column.name, set())
        if column.kind == "category" and len(values) > MOST_CATEGORIES:
            columns.append(Column(column.name, "words" if are_sentences(sorted(values)) else "text"))
        elif column.kind == "category":
            columns.append(Column(column.name, "category", tuple(sorted(values))))
        else:
            columns.append(column)
    return replace(schema, columns=tuple(columns), classes=classes, order=in_order)


def _series(values: Any) -> Any:
    import pandas as pd

    return pd.Series(values)
