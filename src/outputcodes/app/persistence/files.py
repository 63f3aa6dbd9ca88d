"""A model and its description, written to one file and read from it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import IO, Any
from zipfile import ZIP_DEFLATED, BadZipFile, ZipFile

from outputcodes._ground.files import in_place_of
from outputcodes.app.persistence.archive import MAX_BYTES, unpacked
from outputcodes.app.persistence.errors import (
    DamagedModelError,
    ModelFileError,
    NoSuchModelError,
    NotAModelError,
    OtherVersionError,
    UnsavableModelError,
    UntrustedTypesError,
)
from outputcodes.app.tables.schema import Schema
from outputcodes.codes import CODES
from outputcodes.decoders import DECODERS
from outputcodes.learners import LEARNERS

# Types in fitted models beyond ours and scikit-learn's estimators, which skops trusts. The boosters that a race may
# choose keep their trees as text or bytes, which their own parsers read: nothing in them is called.
TRUSTED = frozenset(
    {
        "catboost.core.CatBoostClassifier",
        "collections.OrderedDict",
        "lightgbm.basic.Booster",
        "lightgbm.sklearn.LGBMClassifier",
        "xgboost.core.Booster",
        "xgboost.sklearn.XGBClassifier",
        # In scikit-learn's boosting with categories. A partial of another function is refused by that function's name.
        "functools.partial",
        "numpy.dtype",
        "scipy.sparse._csr.csr_array",
        "scipy.sparse._csr.csr_matrix",
        "sklearn.ensemble._hist_gradient_boosting.predictor.TreePredictor",
        "sklearn.tree._tree.Tree",
        "sklearn.utils.validation.check_array",
    }
)
# The member of the archive that describes the file; `skops.io.dump` writes the rest.
MANIFEST = "outputcodes.json"
# Its number grows when fitted models change in a way that old files don't have; those from OLDEST_FORMAT on are read.
FORMAT = OLDEST_FORMAT = 4
# Endings that promise another format, whose readers would run into a skops file.
OTHER_FORMATS = frozenset({".pkl", ".pickle", ".joblib", ".npy", ".npz", ".json", ".csv", ".zip", ".onnx", ".h5"})


@dataclass(frozen=True)
class Manifest:
    """The description in a model file.

    Attributes
    ----------
    schema : Schema or None
        That of the table that the model was trained on.
    summary : dict
        The one given to `save`: plain data.
    versions : dict
        Those of the packages that wrote the file.
    types : list of str
        The types in it other than NumPy's and scikit-learn's estimators.
    """

    schema: Schema | None
    summary: dict[str, Any]
    versions: dict[str, str]
    types: list[str]


def save(
    model: Any, path: str | Path, *, schema: Schema | None = None, summary: Mapping[str, Any] | None = None
) -> None:
    """Write a fitted model to one file, which appears under its name only when it is complete.

    Parameters
    ----------
    model : estimator
    path : str or Path
        Usually it ends in ".skops". An ending of another format, such as ".pkl", is refused.
    schema : Schema, optional
        That of the training table.
    summary : mapping, optional
        Facts about the training: plain data, as JSON can hold it.

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
    if path.suffix.lower() in OTHER_FORMATS:
        raise ModelFileError(
            f"{path} ends in {path.suffix}, which promises another format; models are saved as skops files: name it "
            f"{path.with_suffix('.skops').name}."
        )
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
            # skops writes some things that it cannot read; this shows while the model is still in memory.
            skops.load(part, trusted=skops.get_untrusted_types(file=part))
        except (TypeError, ValueError, AttributeError, ImportError) as reason:
            raise UnsavableModelError(f"{type(model).__name__} cannot be saved by skops: {reason}") from reason
        with ZipFile(part, "a", compression=ZIP_DEFLATED) as archive:
            archive.writestr(MANIFEST, described)


def load(path: str | Path, *, trusted: Iterable[str] = (), max_bytes: int = MAX_BYTES) -> tuple[Any, Manifest]:
    """Return the model in a file that `save` wrote, and the description in the file.

    Parameters
    ----------
    path : str or Path
    trusted : iterable of str
        The full names of further types that you trust, such as those of an estimator of your own.
    max_bytes : int, default=1 GiB
        The most bytes that the file may unpack to; a larger one is refused before it is unpacked.
    """
    skops = _skops()
    with _named_errors(path), unpacked(Path(path), max_bytes) as archive:
        manifest = _described(path, archive, skops)
        accepted = TRUSTED | set(trusted)
        if refused := [name for name in manifest.types if name not in accepted and not _is_ours(name)]:
            options = " ".join(f"--trust {name}" for name in refused)
            raise UntrustedTypesError(
                f"{path} has types that are not trusted: {', '.join(refused)}. Nothing was loaded. If you trust the "
                f"source of the file, name them: trusted={refused} ({options}). The types of a plug-in are "
                "trusted once it is imported (--plugin MODULE)."
            )
        archive.seek(0)
        return skops.load(archive, trusted=manifest.types), manifest


def describe(path: str | Path, *, max_bytes: int = MAX_BYTES) -> Manifest:
    """Return the description in a model file; the model itself is not built.

    Parameters
    ----------
    path : str or Path
    max_bytes : int, default=1 GiB
        As for `load`.

    Raises
    ------
    ModelFileError
        If it is not a model file, damaged, too large, or of another version.
    """
    skops = _skops()
    with _named_errors(path), unpacked(Path(path), max_bytes) as archive:
        return _described(path, archive, skops)


def _described(path: str | Path, unpacked_file: IO[bytes], skops: Any) -> Manifest:
    with ZipFile(unpacked_file) as archive:
        if MANIFEST not in archive.namelist():
            raise NotAModelError(f"{path} is an archive, but outputcodes.app.persistence.save did not write it.")
        found = json.loads(archive.read(MANIFEST))
    _check_version(path, found["format"], found["versions"]["outputcodes"])
    return Manifest(
        schema=None if found["schema"] is None else Schema.from_dict(found["schema"]),
        summary=found["summary"],
        versions=found["versions"],
        types=skops.get_untrusted_types(file=unpacked_file),
    )


def _check_version(path: str | Path, form: int, theirs: str) -> None:
    """Refuse files of later minor versions, and of formats that are no longer read."""
    ours = version("outputcodes")
    if form > FORMAT or _minor(theirs) > _minor(ours):
        raise OtherVersionError(
            f"{path} was saved by outputcodes {theirs}, and this is {ours}: install {theirs} or later, or train again."
        )
    if form < OLDEST_FORMAT:
        raise OtherVersionError(
            f"{path} was saved by outputcodes {theirs}, too old for this version, {ours}: open and save it with the "
            "versions between, or train again."
        )


def _minor(number: str) -> tuple[int, ...]:
    return tuple(int(part) for part in number.split(".")[:2])


def _is_ours(name: str) -> bool:
    """Whether a name is that of a class of this package, or of a plug-in; files must not call functions."""
    module, _, attribute = name.rpartition(".")
    tables: tuple[Mapping[str, Any], ...] = (CODES, DECODERS, LEARNERS)
    plugged_in = {make.__module__ for table in tables for make in table.values() if isinstance(make, type)}
    if not module.startswith("outputcodes.") and module not in plugged_in:
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
    except IsADirectoryError as reason:
        raise NotAModelError(f"{path} is a folder: name the model file in it.") from reason
    except BadZipFile as reason:
        with Path(path).open("rb") as file:
            start = file.read(2)
        if start == b"PK":
            raise DamagedModelError(f"{path} is incomplete or damaged: save the model again.") from reason
        what = "a pickle, which may run any code when it is read" if start[:1] == b"\x80" else "not a skops file"
        raise NotAModelError(
            f"{path} is {what}; only files written by `outputcodes fit`, `compare` or persistence.save are loaded."
        ) from reason
    except Exception as reason:  # damaged bytes can lead to any error
        raise DamagedModelError(f"{path} is damaged: {reason}") from reason


def _skops() -> Any:
    try:
        return import_module("skops.io")
    except ImportError as missing:
        raise ImportError("Saved models need skops: pip install 'outputcodes[skops]'") from missing
