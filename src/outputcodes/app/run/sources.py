"""A table with its splits, from the names that a user gives: a file, a data set, a test file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from outputcodes._ground.validation import unknown_name
from outputcodes.app import datasets, tables
from outputcodes.app.datasets.known import KNOWN
from outputcodes.app.run.paths import same_file
from outputcodes.app.run.splits import Splits, cross_validation, official

# Where each fold tests thousands of rows, more folds cost more than they are worth.
FOLDS, QUICK_FOLDS, FEW_FOLDS, MANY_ROWS = 10, 5, 3, 20_000


@dataclass(frozen=True, eq=False)
class Source:
    """A table, what it is called, and how it is split."""

    name: str
    table: tables.Table
    splits: Splits


def open_table(
    data: str,
    target: str | None = None,
    split: str | None = None,
    *,
    drop: Sequence[str] = (),
    identifier: str | None = None,
    order: Sequence[str] | None = None,
    group: str | None = None,
    **text: Any,
) -> tables.Table:
    """Return the table in a file, or the known data set of that name where there is no such file.

    Arguments as for `tables.read`; `text` are encoding, separator and decimal.

    >>> len(open_table("iris").target)
    150
    """
    if data in KNOWN and not Path(data).exists():
        named = {"target": target, "split": split, "group": group, "id": identifier, "sep": text.get("separator")}
        for option, value in named.items():
            if value is not None:
                raise tables.TableError(
                    f"The data set {data!r} has its own columns; --{option} {value} is for files. Leave it out."
                )
        known = datasets.load(data)
        if absent := [name for name in drop if name not in known.data]:
            raise tables.errors.MissingColumnsError(
                f"{data} has no column {', '.join(map(repr, absent))} to leave out."
            )
        features = known.data.drop(columns=list(drop))
        return tables.from_frame(features, known.target, split=known.split, order=order, source=data)
    if Path(data).name == data and not Path(data).suffix and not Path(data).exists():
        raise unknown_name("data", data, KNOWN)
    return tables.read(data, target, split=split, group=group, drop=drop, identifier=identifier, order=order, **text)


def open_source(
    data: str,
    target: str | None = None,
    *,
    cv: int | None = None,
    test: str | None = None,
    split: str | None = None,
    quick: bool = False,
    seed: int = 0,
    **reading: Any,
) -> Source:
    """Read a table and split it: by `test`, a file; by `split`, a column; by `cv` folds; else as suits the table.

    `reading` says how to read the file, see `tables.read`: drop, identifier, order, encoding, separator, decimal, and
    group, a column whose equal values stay together in folds.

    Examples
    --------
    >>> open_source("iris", cv=3).splits.title
    '3-fold cross-validation'
    """
    if sum(choice is not None for choice in (cv, test, split)) > 1:
        raise ValueError("Choose one of cv, test and split (--cv, --test, --split).")
    if reading.get("group") is not None and (test is not None or split is not None):
        raise ValueError(
            f"--group {reading['group']} is for folds: with --test or --split, the test rows are given; leave it out."
        )
    if test is not None and same_file(data, test):
        raise ValueError(f"--test {test} is the table itself: name a file with other rows, or choose --cv or --split.")
    if Path(data).is_dir() or tables.is_pattern(data):
        raise tables.errors.UnknownFormatError(
            f"{data} is a {'folder' if Path(data).is_dir() else 'pattern'} of files, and a race needs one table: join "
            "them to one file, or train one learner on them (outputcodes fit --learner)."
        )
    table = open_table(data, target, split, **reading)
    name = Path(data).name
    if test is not None:
        text = {name: value for name, value in reading.items() if name in ("encoding", "separator", "decimal")}
        return Source(f"{name} + {Path(test).name}", *_with_test(table, test, text))
    if cv is None and table.split is not None:
        return Source(name, table, official(table.split, split or "split"))
    if cv is not None:
        return Source(name, table, cross_validation(table.target, cv, seed, table.group))
    largest = int(table.target.value_counts().max())
    if len(table.target) > MANY_ROWS:
        cv, reason = FEW_FOLDS, f"the table has more than {MANY_ROWS} rows"
    else:
        cv, reason = (QUICK_FOLDS, "the plan is quick (--quick)") if quick else (FOLDS, "")
    if cv > max(largest, 2):
        cv, reason = max(largest, 2), f"the largest class has {largest} rows"
    if table.group is not None and cv > (count := max(2, table.group.nunique())):
        cv, reason = count, f"there are {count} groups"
    splits = cross_validation(table.target, cv, seed, table.group)
    if reason:
        note = f"{cv} folds in place of {FOLDS}, as {reason}; --cv sets another number."
        splits = replace(splits, notes=(note, *splits.notes))
    return Source(name, table, splits)


def _with_test(table: tables.Table, path: str, text: dict[str, Any]) -> tuple[tables.Table, Splits]:
    """Both tables as one, split where the second begins."""
    import pandas as pd

    tested = tables.read(path, schema=table.schema, **text)
    n, m = len(table.target), len(tested.target)
    # Rows keep the numbers that they have in their files.
    frame: Any = pd.concat([table.frame, tested.frame])
    y: Any = pd.concat([table.target, tested.target])
    splits = official(["train"] * n + ["test"] * m)
    notes = (*table.notes, *(f"{Path(path).name}: {note}" for note in tested.notes))
    return replace(table, frame=frame, target=y, notes=notes), splits
