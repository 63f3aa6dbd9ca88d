"""The errors of model files: one class per cause, all of them `ModelFileError`."""

from __future__ import annotations


class ModelFileError(ValueError):
    """A file without a usable model; the message names the file, what is wrong and what to do."""


class NoSuchModelError(ModelFileError, FileNotFoundError):
    """There is no such file."""


class NotAModelError(ModelFileError):
    """The file is something else, such as a pickle."""


class DamagedModelError(ModelFileError):
    """The file is incomplete or damaged."""


class TooLargeModelError(ModelFileError):
    """The file unpacks to more bytes than the limit."""


class UntrustedTypesError(ModelFileError):
    """The file has types that are not trusted."""


class OtherVersionError(ModelFileError):
    """The file was written by another version."""


class UnsavableModelError(ModelFileError):
    """The model has something in it that skops cannot write."""
