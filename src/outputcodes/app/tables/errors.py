"""The errors of tables: one class per cause, all of them `TableError`."""

from __future__ import annotations


class TableError(ValueError):
    """A table that cannot be used; the message names the file, what is wrong and what to do."""


class NoSuchTableError(TableError, FileNotFoundError):
    """There is no such file."""


class UnknownFormatError(TableError):
    """The ending of the file name is unknown."""


class EmptyTableError(TableError):
    """The file is empty or has no rows."""


class NoRowsError(EmptyTableError):
    """The file has columns and no rows."""


class DamagedTableError(TableError):
    """The file is incomplete, or not in the format of its name."""


class ChangedTableError(TableError):
    """The file changed while it was being used."""


class WrongEncodingError(TableError):
    """The text is not in the encoding that was named."""


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
    """No row has a label."""


class OneClassError(TableError):
    """All rows have the same label."""


class ContinuousTargetError(TableError):
    """The labels are measurements, nearly all of them different."""


class UnknownLabelsError(TableError):
    """The table has labels that the training table did not have."""


class MissingColumnsError(TableError):
    """The table lacks columns of the training table."""


class UndeclaredValueError(TableError):
    """A nominal column of an arff file has a value that the header does not declare."""


class WrongKindError(TableError):
    """A column holds text where the training table had numbers or dates, infinite numbers, bytes, or lists."""
