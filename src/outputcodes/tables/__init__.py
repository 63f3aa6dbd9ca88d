"""Tables on disk: read with the kinds of their columns, and made into numbers by a scikit-learn transformer."""

from outputcodes.tables import errors
from outputcodes.tables.errors import TableError
from outputcodes.tables.preprocessing import DaysSinceEpoch, categorical_features, preprocessing
from outputcodes.tables.reading import Table, from_frame, read, read_chunks
from outputcodes.tables.schema import Column, Schema, infer

__all__ = [
    "Column",
    "DaysSinceEpoch",
    "Schema",
    "Table",
    "TableError",
    "categorical_features",
    "errors",
    "from_frame",
    "infer",
    "preprocessing",
    "read",
    "read_chunks",
]
