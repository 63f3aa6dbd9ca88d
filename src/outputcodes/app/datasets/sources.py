"""The sources of data sets: a directory of csv.gz files, scikit-learn's own, the user's cache, OpenML.

A directory has an `index.json` with one entry per file (name, file, sha256, categorical, source, licence). A file has
the features, then `split` if there is a partition, then `target`. The cache has files of the same form, each with its
entry in a file of its own.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import warnings
from http.client import HTTPException
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from sklearn import datasets as bundled

from outputcodes._ground.files import in_place_of
from outputcodes.app.datasets.errors import ChecksumError, DatasetError, UnavailableError
from outputcodes.app.datasets.known import KNOWN, check, class_counts
from outputcodes.app.tables._arrow import pyarrow
from outputcodes.app.tables.formats import frames
from outputcodes.app.tables.schema import as_text, labels

VARIABLE = "OUTPUTCODES_DATA"
BUNDLED = {"digits": bundled.load_digits, "iris": bundled.load_iris, "wine": bundled.load_wine}

Entry = dict[str, Any]


def directory() -> Path | None:
    """Return the directory given by the environment variable."""
    named = os.environ.get(VARIABLE)
    return Path(named) if named else None


def cache() -> Path:
    """Return the user's cache: a folder in XDG_CACHE_HOME, by default ~/.cache."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "outputcodes"


def entry_in_directory(name: str) -> Entry | None:
    """Return the entry of a data set in the index of the directory; None if there is none."""
    folder = directory()
    if folder is None:
        return None
    try:
        entries = json.loads((folder / "index.json").read_text())["datasets"]
    except (OSError, ValueError, KeyError, TypeError) as reason:
        raise DatasetError(f"{VARIABLE}={str(folder)!r} has no index.json that can be read: {reason}") from reason
    return next((entry for entry in entries if entry["name"] == name), None)


def entry_in_cache(name: str) -> Entry | None:
    """Return the entry of a data set that was fetched before; None if it was not."""
    path = cache() / f"{name}.json"
    complete = path.exists() and (cache() / f"{name}.csv.gz").exists()
    return json.loads(path.read_text()) if complete else None


def read_file(folder: Path, entry: Entry) -> tuple[Any, Any, Any]:
    """Return features, labels and split of a file, which must be the one that the entry describes."""
    path = folder / entry["file"]
    try:
        found = hashlib.sha256(path.read_bytes()).hexdigest()
    except FileNotFoundError as reason:
        raise UnavailableError(f"{path} is in the index, but there is no such file.") from reason
    if found != entry["sha256"]:
        raise ChecksumError(
            f"{path} is incomplete or changed: its SHA-256 is {found}, not {entry['sha256']}. Replace it; if it is in "
            "the cache, delete it to fetch it again."
        )
    texts = [*entry["categorical"], *entry.get("text_columns", []), "split", "target"]
    (frame,) = frames(path, dict.fromkeys(texts, "text"))
    split = frame.pop("split").astype(object) if "split" in frame else None
    return frame, labels(frame.pop("target")), split


def read_bundled(name: str) -> tuple[Any, Any, None]:
    """Return features and labels of one of scikit-learn's own data sets."""
    pyarrow()  # asks for the extra, where pandas is missing too
    bunch = BUNDLED[name](as_frame=True)
    return bunch.data, bunch.target, None


def fetch(name: str) -> Entry:
    """Fetch a data set from OpenML into the cache."""
    known = KNOWN[name]
    elsewhere = f"set {VARIABLE} to a directory with {name}.csv.gz and an index.json."
    if known.openml is None:
        raise UnavailableError(f"{name!r} is not on this machine, and OpenML has no known full copy: {elsewhere}")
    source = f"OpenML data set {known.openml}"
    try:
        # With a temporary cache, scikit-learn fetches once and compares the checksum.
        with TemporaryDirectory() as folder, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            bunch = bundled.fetch_openml(
                data_id=known.openml, as_frame=True, parser="pandas", data_home=folder, n_retries=2, delay=0.5
            )
    except (OSError, HTTPException, EOFError, ValueError) as reason:
        damaged = isinstance(reason, EOFError) or "checksum" in str(reason)
        problem = f"came damaged from {source}" if damaged else f"could not be fetched from {source}"
        raise (ChecksumError if damaged else UnavailableError)(
            f"{name!r} {problem} ({reason}). Try again later, or {elsewhere}"
        ) from reason
    data = bunch.data.drop(columns=known.openml_drop or [], errors="ignore")
    target = as_text(bunch.target.astype(object)).str.strip("'\"")
    check(name, data, target, source)
    categorical = [str(c) for c in data.columns if data[c].dtype.kind not in "iuf"]
    data = data.assign(**{c: data[c].astype(object) for c in categorical})
    if known.train_class_counts is not None:
        n = sum(known.train_class_counts)
        # The partition of a copy in another order is unknown.
        if class_counts(target[:n]) == known.train_class_counts:
            data["split"] = np.where(np.arange(len(data)) < n, "train", "test")
    content = gzip.compress(data.assign(target=target).to_csv(index=False).encode(), mtime=0)
    entry = {
        "name": name,
        "file": f"{name}.csv.gz",
        "sha256": hashlib.sha256(content).hexdigest(),
        "categorical": categorical,
        "source": f"{source}, {bunch.url}",
        "licence": bunch.details.get("licence", "see there"),
    }
    write(cache() / entry["file"], content)
    write(cache() / f"{name}.json", json.dumps(entry, indent=1).encode())
    return entry


def write(path: Path, content: bytes) -> None:
    """Write a file that appears under its name only when it is complete."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with in_place_of(path) as part:
        part.write_bytes(content)
