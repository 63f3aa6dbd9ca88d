"""The errors of named data sets."""

from __future__ import annotations


class DatasetError(ValueError):
    """A data set that cannot be used; the message says where it was searched for and what to do."""


class UnavailableError(DatasetError):
    """The data set is not on this machine and could not be fetched."""


class ChecksumError(DatasetError):
    """A file is not the one that its index describes: it is incomplete, or changed."""


class UnexpectedDataError(DatasetError):
    """Rows, columns or class counts are not those of the data set."""
