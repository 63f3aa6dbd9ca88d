"""Saved models: one skops file with the model, the schema of its table, a summary of the training and the versions.

A skops file names the type of every object in it. `load` reads the names first and builds nothing unless each of
them is one of ours or on a short list: no code from the file is run, and nothing is unpickled. The archive is unpacked
within a limit, so that a small file cannot fill the memory. The numbers in the file are not checked: scikit-learn's
trees and our stumps follow the indices they hold, so a forged file can crash the process.
"""

# Public here, for projects that write files as whole as these: reproduce/ does.
from outputcodes.app.persistence.archive import MAX_BYTES
from outputcodes.app.persistence.errors import (
    DamagedModelError,
    ModelFileError,
    NoSuchModelError,
    NotAModelError,
    OtherVersionError,
    TooLargeModelError,
    UnsavableModelError,
    UntrustedTypesError,
)
from outputcodes.app.persistence.files import FORMAT, MANIFEST, OLDEST_FORMAT, TRUSTED, Manifest, describe, load, save

__all__ = [
    "FORMAT",
    "MANIFEST",
    "MAX_BYTES",
    "OLDEST_FORMAT",
    "TRUSTED",
    "DamagedModelError",
    "Manifest",
    "ModelFileError",
    "NoSuchModelError",
    "NotAModelError",
    "OtherVersionError",
    "TooLargeModelError",
    "UnsavableModelError",
    "UntrustedTypesError",
    "describe",
    "load",
    "save",
]
