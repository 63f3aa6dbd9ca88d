"""The user's own matrix as a code."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from numpy.typing import ArrayLike

from outputcodes._ground.drawn_code import DrawnCode, MatrixCode
from outputcodes.codes.base import Code, as_entries, checked_n_classes


def rows_by_label(code: Any) -> dict[Any, list[int]] | None:
    """Return {label: row} if the code is a mapping or a data frame indexed by label, otherwise None.

    >>> rows_by_label({"cat": [1, -1], "dog": [-1, 1]})
    {'cat': [1, -1], 'dog': [-1, 1]}
    """
    if hasattr(code, "iterrows"):
        if code.index.has_duplicates:
            label = code.index[code.index.duplicated()][0]
            raise ValueError(f"code has two rows for the label {label}; give each label one row.")
        return {label: row.tolist() for label, row in code.iterrows()}
    return dict(code) if isinstance(code, Mapping) else None


class Given(Code):
    """A matrix given by the user, with one row per class in sorted order; used unchanged, also for k = 2.

    >>> Given([[1, 1, -1], [1, -1, 1], [-1, 1, 1]]).draw(3).matrix()
    array([[ 1,  1, -1],
           [ 1, -1,  1],
           [-1,  1,  1]], dtype=int8)
    """

    def __init__(self, entries: ArrayLike) -> None:
        self.entries = entries

    def draw(self, n_classes: int, random_state: Any = None, problem: Any = None) -> DrawnCode:
        """Return the matrix if it has one row per class; `check_code` reports its faults."""
        k = checked_n_classes(n_classes)
        if rows_by_label(self.entries) is not None:
            raise ValueError("Given takes rows in sorted order of the labels; give a mapping {label: row} as the code.")
        M = as_entries(self.entries)
        if len(M) != k:
            raise ValueError(
                f"the given code has {len(M)} rows but there are n_classes={k} classes: give one row per class, "
                "or a mapping {label: row}, which may include classes without examples."
            )
        return MatrixCode(M)
