"""Saved models: one skops file with the model, the schema of its table, a summary of the training and the versions.

A skops file names the type of every object in it. `load` reads the names first and builds nothing unless each of
them is ours or on the short list below: no code from the file is run, and nothing is unpickled. That says nothing of
the numbers in it: the trees of scikit-learn and our stumps follow the indices they hold, so that a file forged for
the purpose can crash the process.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, BadZipFile, ZipFile

from outputcodes._ground.files import in_place_of
from outputcodes.app.tables.schema import Schema

# What fitted models need beyond our types and scikit-learn's estimators, which skops trusts by itself.
TRUSTED = frozenset(
    {
        "numpy.dtype",
        "scipy.sparse._csr.csr_array",
        "scipy.sparse._csr.csr_matrix",
        "sklearn.ensemble._hist_gradient_boosting.predictor.TreePredictor",
        "sklearn.tree._tree.Tree",
    }
)
# The member of the archive that says what the file is; the rest is what `skops.io.dump` wrote.
MANIFEST = "outputcodes.json"
FORMAT = 1


class ModelFileError(ValueError):
    """A file that is no usable model; the message names the file, what is wrong and what to do."""


class NoSuchModelError(ModelFileError, FileNotFoundError):
    """There is no such file."""


class NotAModelError(ModelFileError):
    """The file is something else: a pickle, say."""


class DamagedModelError(ModelFileError):
    """The file is cut off or damaged."""


class UntrustedTypesError(ModelFileError):
    """The file holds types that are not on the list."""


class OtherVersionError(ModelFileError):
    """The file was written by another version."""


class UnsavableModelError(ModelFileError):
    """The model holds something that skops cannot write."""


@dataclass(frozen=True)
class Manifest:
    """What a model file says of itself.

    Attributes
    ----------
    schema : Schema or None
        Of the table that the model was trained on.
    summary : dict
        What was given to `save`: plain data.
    versions : dict
        Of the packages that wrote the file.
    types : list of str
        The types in it beyond NumPy's and scikit-learn's estimators.
    """

    schema: Schema | None
    summary: dict[str, Any]
    versions: dict[str, str]
    types: list[str]


def save(
    model: Any, path: str | Path, *, schema: Schema | None = None, summary: Mapping[str, Any] | None = None
) -> None:
    """Write a fitted model to one file; it appears under its name only when it is complete.

    Parameters
    ----------
    model : estimator
    path : str or Path
        By custom it ends in ".skops".
    schema : Schema, optional
        Of the training table.
    summary : mapping, optional
        Of the training: plain data, as JSON knows it.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from sklearn.datasets import load_iris
    >>> from outputcodes import OutputCodeClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "iris.skops"
    >>> save(OutputCodeClassifier("ridge").fit(X, y), path, summary={"rows": 150})
    >>> model, manifest = load(path)
    >>> model.predict(X[:1]), manifest.summary
    (array([0]), {'rows': 150})
    """
    skops = _skops()
    path = Path(path)
    manifest = {
        "format": FORMAT,
        "versions": {name: version(name) for name in ("outputcodes", "scikit-learn", "numpy", "skops")},
        "schema": None if schema is None else schema.as_dict(),
        "summary": dict(summary or {}),
    }
    described = json.dumps(manifest, indent=1)
    with in_place_of(path) as part:
        try:
            skops.dump(model, part, compression=ZIP_DEFLATED)
            # skops writes some things that it cannot read again; better to learn it while the model is still there.
            skops.load(part, trusted=skops.get_untrusted_types(file=part))
        except (TypeError, ValueError, AttributeError, ImportError) as reason:
            raise UnsavableModelError(f"{type(model).__name__} cannot be saved by skops: {reason}") from reason
        with ZipFile(part, "a", compression=ZIP_DEFLATED) as archive:
            archive.writestr(MANIFEST, described)


def load(path: str | Path, *, trusted: Iterable[str] = ()) -> tuple[Any, Manifest]:
    """The model in a file that `save` wrote, and what the file says of it.

    Parameters
    ----------
    path : str or Path
    trusted : iterable of str
        Further types that you trust, by their full names: those of a foreign estimator, such as LightGBM's.
    """
    manifest = describe(path)
    accepted = TRUSTED | set(trusted)
    if refused := [name for name in manifest.types if name not in accepted and not _is_ours(name)]:
        raise UntrustedTypesError(
            f"{path} holds types that are not trusted: {', '.join(refused)}. Nothing was loaded. If you know where the "
            f"file comes from, name them: load(path, trusted={refused})."
        )
    with _named_errors(path):
        return _skops().load(path, trusted=manifest.types), manifest


def describe(path: str | Path) -> Manifest:
    """What a model file says of itself; nothing of the model is built.

    Raises
    ------
    ModelFileError
        If it is no model file, damaged, or of another version.
    """
    path, skops = Path(path), _skops()
    with _named_errors(path):
        with ZipFile(path) as archive:
            if MANIFEST not in archive.namelist():
                raise NotAModelError(f"{path} is an archive, but outputcodes.app.persistence.save did not write it.")
            found = json.loads(archive.read(MANIFEST))
        _check_version(path, found["format"], found["versions"]["outputcodes"])
        return Manifest(
            schema=None if found["schema"] is None else Schema.from_dict(found["schema"]),
            summary=found["summary"],
            versions=found["versions"],
            types=skops.get_untrusted_types(file=path),
        )


def _check_version(path: Path, form: int, theirs: str) -> None:
    """Until 1.0 what is inside a fitted model may change with each minor version."""
    ours = version("outputcodes")
    if form != FORMAT or theirs.split(".")[:2] != ours.split(".")[:2]:
        raise OtherVersionError(
            f"{path} was saved by outputcodes {theirs}, and this is {ours}: install that version, or train again."
        )


def _is_ours(name: str) -> bool:
    """Whether a name is that of a class of this package; a function of it, say, is not to be called by a file."""
    module, _, attribute = name.rpartition(".")
    if not module.startswith("outputcodes."):
        return False
    try:
        found = getattr(import_module(module), attribute)
    except (ImportError, AttributeError):
        return False
    return isinstance(found, type) and found.__module__ == module


@contextmanager
def _named_errors(path: str | Path) -> Iterator[None]:
    try:
        yield
    except ModelFileError:
        raise
    except FileNotFoundError as reason:
        raise NoSuchModelError(f"There is no model file {path}.") from reason
    except BadZipFile as reason:
        with Path(path).open("rb") as file:
            start = file.read(2)
        if start == b"PK":
            raise DamagedModelError(f"{path} is cut off or damaged: save the model again.") from reason
        what = "a pickle, which may run any code when it is read" if start[:1] == b"\x80" else "no skops file"
        raise NotAModelError(f"{path} is {what}; only files written by persistence.save are loaded.") from reason
    except Exception as reason:  # what damaged bytes lead a reader to do has no bounds
        raise DamagedModelError(f"{path} is damaged: {reason}") from reason


def _skops() -> Any:
    try:
        return import_module("skops.io")
    except ImportError as missing:
        raise ImportError("Saved models need skops: pip install 'outputcodes[skops]'") from missing
