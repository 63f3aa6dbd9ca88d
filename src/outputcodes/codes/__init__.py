"""Codes: which classes each column separates.

A code is a name in `CODES`, a `Code` object, or a matrix.
"""

from outputcodes._ground.drawn_code import ColumnBlock, DrawnCode, MatrixCode
from outputcodes._ground.tree_code import TreeCode
from outputcodes.codes.algebraic import BCH, Hadamard
from outputcodes.codes.assignment import Assigned, assign, centroid_similarity, confusion_similarity
from outputcodes.codes.base import Code
from outputcodes.codes.column_rule import first_column
from outputcodes.codes.confusion_guided import ConfusionGuided
from outputcodes.codes.designed import Design, Designed
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
from outputcodes.codes.names import CODES
from outputcodes.codes.plotting import plot
from outputcodes.codes.properties import (
    column_distances,
    correctable_errors,
    min_column_distance,
    min_distance,
    row_distances,
)
from outputcodes.codes.report import CodeReport, describe
from outputcodes.codes.resolve import as_code, code_for
from outputcodes.codes.sampled import Dense, Sparse
from outputcodes.codes.tree import Tree
from outputcodes.codes.trees import DiscriminantTree, Forest

__all__ = [
    "BCH",
    "CODES",
    "AllPairs",
    "Assigned",
    "Code",
    "CodeReport",
    "ColumnBlock",
    "Complete",
    "ConfusionGuided",
    "Dense",
    "Design",
    "Designed",
    "DiscriminantTree",
    "DrawnCode",
    "Forest",
    "Given",
    "Hadamard",
    "MatrixCode",
    "OneVsAll",
    "Ordinal",
    "Sparse",
    "TernaryComplete",
    "Tree",
    "TreeCode",
    "as_code",
    "assign",
    "centroid_similarity",
    "check_code",
    "code_for",
    "column_distances",
    "confusion_similarity",
    "correctable_errors",
    "describe",
    "first_column",
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
