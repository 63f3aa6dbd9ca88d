"""What can be wrong with a table: one class each, all of them `TableError`."""

from __future__ import annotations


class TableError(ValueError):
    """A table that cannot be used; the message names the file, what is wrong and what to do."""


class NoSuchTableError(TableError, FileNotFoundError):
    """There is no such file."""


class UnknownFormatError(TableError):
    """The file's name ends in nothing that is known."""


class EmptyTableError(TableError):
    """The file is empty or has no rows."""


class DamagedTableError(TableError):
    """The file is cut off, or is not what its name says."""


class WrongEncodingError(TableError):
    """The text is not in the encoding that was asked for."""


class RaggedRowsError(TableError):
    """A row has more or fewer fields than the header."""


class LineTooLongError(TableError):
    """A line is longer than a block."""


class DuplicateColumnsError(TableError):
    """Two columns have the same name."""


class TooWideError(TableError):
    """The table has more values than a data frame should hold."""


class NoTargetError(TableError):
    """There is no such target column, or none is named."""


class NoLabelsError(TableError):
    """All rows miss the target."""


class OneClassError(TableError):
    """All rows have the same label."""


class ContinuousTargetError(TableError):
    """The labels are measurements, nearly all of them different."""


class UnknownLabelsError(TableError):
    """Labels that the training table did not have."""


class MissingColumnsError(TableError):
    """Columns of the training table that this one lacks."""


class WrongKindError(TableError):
    """Text where numbers or dates were at training, infinite numbers, or lists in a column."""
