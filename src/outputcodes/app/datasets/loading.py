"""A data set by name, from the first source that has it."""

from __future__ import annotations

from dataclasses import dataclass

from sklearn.utils import Bunch

from outputcodes._ground.validation import unknown_name
from outputcodes.app.datasets import sources
from outputcodes.app.datasets.known import KNOWN, check


@dataclass(frozen=True)
class Listed:
    """A known data set: its size, where it is, and whether it is available without a network."""

    name: str
    rows: int
    columns: int
    classes: int
    where: str
    here: bool


def load(name: str) -> Bunch:
    """Load a data set by name.

    It is searched for in the directory given by the environment variable OUTPUTCODES_DATA, among scikit-learn's own,
    and in the user's cache, and otherwise fetched from OpenML. Its rows, columns and class counts are checked.

    Parameters
    ----------
    name : str
        See `available`.

    Returns
    -------
    Bunch
        `data` : DataFrame of the features: numbers, text for categories, NaN for missing values.
        `target` : Series of labels, integers if all of them are written as such.
        `frame` : DataFrame of both.
        `split` : Series of "train" and "test", or None if the source defines no partition.
        `feature_names`, `target_names` : lists.
        `provenance` : dict with "source", "licence" and "location".

    Examples
    --------
    >>> wine = load("wine")
    >>> wine.data.shape, wine.target_names
    ((178, 13), [...])
    """
    if name not in KNOWN:
        raise unknown_name("name", name, KNOWN)
    folder = sources.directory()
    entry = sources.entry_in_directory(name)
    if entry is None and name in sources.BUNDLED:
        data, target, split = sources.read_bundled(name)
        provenance = {"source": "scikit-learn", "licence": "see scikit-learn", "location": "scikit-learn"}
    else:
        if entry is None or folder is None:
            folder, entry = sources.cache(), sources.entry_in_cache(name) or sources.fetch(name)
        data, target, split = sources.read_file(folder, entry)
        provenance = {
            "source": entry["source"],
            "licence": entry["licence"],
            "location": str(folder / entry["file"]),
        }
    check(name, data, target, provenance["location"])
    target = target.rename("target")
    return Bunch(
        name=name,
        data=data,
        target=target,
        frame=data.assign(target=target),
        split=split,
        feature_names=[str(column) for column in data.columns],
        target_names=sorted(target.unique().tolist()),
        provenance=provenance,
    )


def available() -> list[Listed]:
    """Return all known data sets, and where `load` would find each.

    >>> [listed.columns for listed in available() if listed.name == "digits"]
    [64]
    """
    return [
        Listed(name, known.rows, known.columns, len(known.class_counts), *_where(name, known.openml))
        for name, known in KNOWN.items()
    ]


def _where(name: str, openml: int | None) -> tuple[str, bool]:
    folder = sources.directory()
    if folder is not None and (entry := sources.entry_in_directory(name)) is not None:
        return str(folder / entry["file"]), True
    if name in sources.BUNDLED:
        return "scikit-learn", True
    if (entry := sources.entry_in_cache(name)) is not None:
        return str(sources.cache() / entry["file"]), True
    if openml is not None:
        return f"OpenML data set {openml}", False
    return f"only in a directory given by {sources.VARIABLE}", False
