"""Packages whose modules are imported when they are first used, so that what needs none of them starts at once."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from typing import Any


def lazily(
    package: str, modules: Iterable[str] = (), names: Mapping[str, Iterable[str]] | None = None
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return the `__getattr__` and the `__dir__` of a package.

    Parameters
    ----------
    package : str
        Its `__name__`.
    modules : names of modules in it that are attributes of it
    names : mapping from modules in it to names that are imported from them

    Examples
    --------
    >>> get, listed = lazily("outputcodes._ground", ["files"], {"lazy": ["lazily"]})
    >>> get("lazily") is lazily, get("files").__name__, {"files", "lazily", "__doc__"} <= set(listed())
    (True, 'outputcodes._ground.files', True)
    """
    homes = {name: module for module, found in (names or {}).items() for name in found}
    known = {*modules, *homes}

    def get(name: str) -> Any:
        if name in homes:
            return getattr(import_module(f"{package}.{homes[name]}"), name)
        if name in known:
            return import_module(f"{package}.{name}")
        raise AttributeError(f"module {package!r} has no attribute {name!r}")

    return get, lambda: sorted(known.union(vars(sys.modules[package])))
