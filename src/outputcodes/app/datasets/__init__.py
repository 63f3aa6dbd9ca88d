"""Data sets by name: those of the papers that this library implements."""

from outputcodes.app.datasets.errors import ChecksumError, DatasetError, UnavailableError, UnexpectedDataError
from outputcodes.app.datasets.loading import Listed, available, load

__all__ = [
    "ChecksumError",
    "DatasetError",
    "Listed",
    "UnavailableError",
    "UnexpectedDataError",
    "available",
    "load",
]
