"""The table of known data sets: the shape and class counts of each, and its number at OpenML."""

from __future__ import annotations

import json
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

import numpy as np

from outputcodes.app.datasets.errors import UnexpectedDataError


@dataclass(frozen=True)
class Known:
    """The shape and class counts of a data set.

    Attributes
    ----------
    rows, columns : int
    class_counts : list of int
        Sorted. Labels are not compared, as sources write them in different ways.
    train_class_counts : list of int or None
        Those of the training rows, where the source defines a partition.
    openml : int or None
        Its number at OpenML, where a copy with these rows is.
    openml_drop : list of str
        Columns of that copy that are not features.
    """

    rows: int
    columns: int
    class_counts: list[int]
    train_class_counts: list[int] | None = None
    openml: int | None = None
    openml_drop: list[str] | None = None


KNOWN: dict[str, Known] = {
    name: Known(**entry) for name, entry in json.loads(files(__package__).joinpath("known.json").read_text()).items()
}


def class_counts(target: Any) -> list[int]:
    """Return how many rows each class has, the largest first.

    >>> class_counts(["a", "b", "b"])
    [2, 1]
    """
    counts: list[int] = np.unique(np.asarray(target, dtype=str), return_counts=True)[1].tolist()
    return sorted(counts, reverse=True)


def check(name: str, data: Any, target: Any, source: str) -> None:
    """Refuse data with other rows, columns or class counts than those of the table."""
    known = KNOWN[name]
    seen = {"rows": len(data), "columns": data.shape[1], "class counts": class_counts(target)}
    expected = {"rows": known.rows, "columns": known.columns, "class counts": known.class_counts}
    if wrong := [what for what in seen if seen[what] != expected[what]]:
        differing = "; ".join(f"{what} {seen[what]} in place of {expected[what]}" for what in wrong)
        raise UnexpectedDataError(f"{source} is not the data set {name!r}: {differing}.")
