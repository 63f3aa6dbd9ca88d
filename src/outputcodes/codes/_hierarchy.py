"""A tree of classes from groups that are known: a path for each label."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from outputcodes._ground.drawn_code import Rows
from outputcodes._ground.tree_code import TreeCode, grown

Path = tuple[Hashable, ...]


def given_tree(hierarchy: Any, labels: NDArray[Any] | None) -> TreeCode:
    """Return the code of a given hierarchy for sorted labels.

    >>> paths = {"cat": ("animal", "mammal"), "cow": ("animal", "mammal"), "hen": ("animal",), "ivy": ("plant",)}
    >>> given_tree(paths, np.array(["cat", "cow", "hen", "ivy"])).matrix()
    array([[ 1, -1,  1, -1,  1, -1],
           [ 1, -1,  1, -1, -1,  1],
           [ 1, -1, -1,  1,  0,  0],
           [-1,  1,  0,  0,  0,  0]], dtype=int8)
    """
    if labels is None:
        raise ValueError("A hierarchy is one of labels: use it in a classifier, OutputCodeClassifier(code=Tree(...)).")
    known, present = paths_by_label(hierarchy), labels.tolist()
    if lacking := [label for label in present if label not in known]:
        hint = _other_type(lacking[0], known)
        raise ValueError(f"hierarchy has no path for the labels {lacking[:5]} of y{hint}; give every label a path.")
    if unknown := sorted(set(known) - set(present), key=str):
        raise ValueError(f"hierarchy has labels that y lacks, {unknown[:5]}; remove them.")
    paths = [known[label] for label in present]

    def split(classes: Rows, depth: int) -> list[tuple[Rows, Any]] | None:
        groups: dict[Any, list[int]] = {}
        for r in classes.tolist():
            # A path that ends here is a child of its own.
            key = ("group", paths[r][depth]) if depth < len(paths[r]) else ("class", r)
            groups.setdefault(key, []).append(r)
        if all(kind == "class" for kind, _ in groups):
            return None
        return [(np.array(group), depth + 1) for group in groups.values()]

    return grown(len(present), [(np.arange(len(present)), 0)], split)


def paths_by_label(hierarchy: Any) -> dict[Any, Path]:
    """Return the path of each label of a mapping or a pandas Series; raise ValueError for what is no path.

    >>> paths_by_label({1: ["a", "b"], 2: np.array(["a"])})
    {1: ('a', 'b'), 2: ('a',)}
    """
    is_series = hasattr(hierarchy, "index") and hasattr(hierarchy, "items") and np.ndim(hierarchy) == 1
    if not isinstance(hierarchy, Mapping) and not is_series:
        raise ValueError(
            f"hierarchy must be a mapping {{label: path}} or a pandas Series, got {type(hierarchy).__name__}; "
            "dict(zip(labels, paths)) makes one of two lists."
        )
    found: dict[Any, Path] = {}
    for label, path in hierarchy.items():
        if label in found:
            raise ValueError(f"hierarchy has the label {label!r} more than once; give it one path.")
        found[label] = _checked(label, path)
    return found


def _checked(label: Any, path: Any) -> Path:
    given = f"hierarchy[{label!r}]={path!r}"
    if isinstance(path, np.ndarray) and path.ndim == 1:
        path = path.tolist()
    if isinstance(path, str | bytes) or not isinstance(path, Sequence):
        raise ValueError(
            f"{given} must be a tuple or list of the names of its groups, the largest first, such as ({str(path)!r},)."
        )
    for name in path:
        if not _has_hash(name):
            raise ValueError(f"{given} has the group {name!r}, which can't be a name: use a text or a number.")
        if _is_missing(name):
            raise ValueError(f"{given} has a missing name, {name!r}; end the path where its groups end.")
    return tuple(path)


def _has_hash(name: Any) -> bool:
    try:
        hash(name)
    except TypeError:  # a tuple with a list in it
        return False
    return True


def _is_missing(name: Any) -> bool:
    # NaN and pandas' NaT are not equal to themselves, and pandas' NA is neither equal nor different.
    return name is None or type(name).__name__ == "NAType" or bool(name != name)


def _other_type(label: Any, known: Mapping[Any, Path]) -> str:
    """Return a hint if the labels of the hierarchy are texts where those of y are numbers, or the reverse."""
    same = next((key for key in known if str(key) == str(label)), None)
    if same is None:
        return ""
    return f" ({same!r} is there, of type {type(same).__name__} where the label has {type(label).__name__})"
