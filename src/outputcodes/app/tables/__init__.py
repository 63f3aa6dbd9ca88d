"""Tables on disk: read with the kinds of their columns, and turned into numbers by a scikit-learn transformer."""

from outputcodes.app.tables import errors
from outputcodes.app.tables.errors import TableError
from outputcodes.app.tables.files_in_order import is_pattern, table_files
from outputcodes.app.tables.folders import BlockTable, read_blocks
from outputcodes.app.tables.preprocessing import (
    AsNumbersAndCategories,
    DaysSinceEpoch,
    categorical_features,
    preprocessing,
)
from outputcodes.app.tables.reading import Table, from_frame, read
from outputcodes.app.tables.schema import Column, Schema, infer
from outputcodes.app.tables.streaming import read_chunks, read_texts

__all__ = [
    "AsNumbersAndCategories",
    "BlockTable",
    "Column",
    "DaysSinceEpoch",
    "Schema",
    "Table",
    "TableError",
    "categorical_features",
    "errors",
    "from_frame",
    "infer",
    "is_pattern",
    "preprocessing",
    "read",
    "read_blocks",
    "read_chunks",
    "read_texts",
    "table_files",
]
