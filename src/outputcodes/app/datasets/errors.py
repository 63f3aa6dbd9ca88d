"""What can go wrong with a named data set."""

from __future__ import annotations


class DatasetError(ValueError):
    """A data set that cannot be used; the message says where it was looked for and what to do."""


class UnavailableError(DatasetError):
    """It is not on this machine and could not be fetched."""


class ChecksumError(DatasetError):
    """A file is not the one that its index describes: cut off, or changed."""


class UnexpectedDataError(DatasetError):
    """Rows, columns or class counts are not those of the data set."""
