"""Codes: which classes are told apart by which column.

A code is a name in `CODES`, an object with `matrix(n_classes, random_state, problem)`, or a matrix.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from outputcodes._validation import unknown_name
from outputcodes.codes.algebraic import BCH, Hadamard
from outputcodes.codes.base import Code
from outputcodes.codes.elementary import AllPairs, Complete, OneVsAll, Ordinal, TernaryComplete
from outputcodes.codes.faults import (
    check_code,
    mirrored_columns,
    one_sided_columns,
    repeated_columns,
    repeated_rows,
    unseparated_pairs,
)
from outputcodes.codes.given import Given, rows_by_label
from outputcodes.codes.plotting import plot
from outputcodes.codes.properties import (
    column_distances,
    correctable_errors,
    min_column_distance,
    min_distance,
    row_distances,
)
from outputcodes.codes.report import CodeReport, describe
from outputcodes.codes.sampled import Dense, Sparse

CODES: dict[str, Callable[[], Code]] = {
    "one-vs-all": OneVsAll,
    "all-pairs": AllPairs,
    "complete": Complete,
    "ternary-complete": TernaryComplete,
    "dense": Dense,
    "sparse": Sparse,
    "ordinal": Ordinal,
    "hadamard": Hadamard,
    "bch": BCH,
}


def as_code(code: Any) -> Any:
    """Return the code meant by a name, an object with `matrix`, or a matrix.

    >>> as_code("one-vs-all")
    OneVsAll()
    >>> as_code([[1, -1], [-1, 1], [-1, -1]]).matrix(3).shape
    (3, 2)
    """
    if isinstance(code, str):
        if code in CODES:
            return CODES[code]()
        raise unknown_name("code", code, CODES)
    if hasattr(code, "matrix") and not isinstance(code, type):
        return code
    if np.ndim(code) == 0:
        raise ValueError(
            f"code={code!r} must be a name ({', '.join(CODES)}), an instance such as Dense(), "
            "a matrix over {-1, 0, +1} or a mapping {label: row}."
        )
    return Given(code)


__all__ = [
    "BCH",
    "CODES",
    "AllPairs",
    "Code",
    "CodeReport",
    "Complete",
    "Dense",
    "Given",
    "Hadamard",
    "OneVsAll",
    "Ordinal",
    "Sparse",
    "TernaryComplete",
    "as_code",
    "check_code",
    "column_distances",
    "correctable_errors",
    "describe",
    "min_column_distance",
    "min_distance",
    "mirrored_columns",
    "one_sided_columns",
    "plot",
    "repeated_columns",
    "repeated_rows",
    "row_distances",
    "rows_by_label",
    "unseparated_pairs",
]
