"""The pages of the API reference: one for each public module, and one for each public name."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from types import ModuleType
from typing import Any

import outputcodes

# In the order in which a reader needs them; other public modules follow.
FIRST = ["outputcodes", "outputcodes.codes", "outputcodes.learners", "outputcodes.decoders", "outputcodes.losses"]


def public_modules() -> list[ModuleType]:
    """Return the modules without an underscore in their name that are packages, or lie directly in the package."""
    found = [outputcodes]
    for module in pkgutil.walk_packages(outputcodes.__path__, "outputcodes."):
        parts = module.name.split(".")[1:]
        private = any(part.startswith("_") for part in parts) or parts[:2] == ["app", "cli"]
        inside = len(parts) > 1 and not module.ispkg
        if not private and not inside:
            found.append(importlib.import_module(module.name))
    named = {module.__name__: module for module in found}
    first = [name for name in FIRST if name in named]
    return [named[name] for name in [*first, *sorted(set(named) - set(first))]]


def public_names(module: ModuleType) -> list[str]:
    """Return the functions and classes that a module offers, without its own modules and plain values."""
    given = getattr(module, "__all__", None)
    names = given or [name for name in vars(module) if not name.startswith("_")]
    found = []
    for name in names:
        thing = getattr(module, name)
        own = given is not None or getattr(thing, "__module__", None) == module.__name__
        if own and (inspect.isclass(thing) or inspect.isfunction(thing)):
            found.append(name)
    return found


def homes() -> dict[str, list[str]]:
    """Return the names of each module; a thing with several homes is in the first of them."""
    seen: set[int] = set()
    listed = {}
    for module in public_modules():
        own: list[str] = []
        for name in public_names(module):
            thing: Any = getattr(module, name)
            if id(thing) not in seen:
                seen.add(id(thing))
                own.append(name)
        if own:
            listed[module.__name__] = own
    return listed


def pages() -> dict[str, str]:
    """Return the text of each page by its name."""
    listed = homes()
    texts = {}
    for module, names in listed.items():
        sentence = (inspect.getdoc(importlib.import_module(module)) or "").split("\n\n")[0].replace("\n", " ")
        table = "\n".join(f"   {name}" for name in names)
        texts[f"api/{module}.rst"] = (
            f"{module}\n{'=' * len(module)}\n\n.. module:: {module}\n\n{sentence}\n\n"
            f".. autosummary::\n   :toctree: names\n   :nosignatures:\n\n{table}\n"
        )
    entries = "\n".join(f"   {module}" for module in listed)
    texts["api/index.rst"] = (
        "API reference\n=============\n\nEvery public class and function, with an example that the tests run.\n\n"
        "What other packages add to them, such as prediction sets: :doc:`/neighbours`.\n\n"
        f".. toctree::\n   :maxdepth: 2\n\n{entries}\n"
    )
    return texts
