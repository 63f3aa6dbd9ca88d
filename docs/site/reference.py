"""The pages of the API reference: one for each public module, with its values, and one for each class and function."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from types import ModuleType
from typing import Any

import outputcodes

# In the order in which a reader needs them; other public modules follow.
FIRST = ["outputcodes", "outputcodes.codes", "outputcodes.learners", "outputcodes.decoders", "outputcodes.losses"]

# Values have no docstrings: what each of them is, in a sentence. A test fails where one is missing here.
VALUES = {
    "outputcodes.codes.CODES": "The codes by name, for `code=`. A plug-in adds its own.",
    "outputcodes.learners.LEARNERS": "The learners by name, for `estimator=`. A plug-in adds its own.",
    "outputcodes.decoders.DECODERS": "The decoders by name, for `decoder=`. Every margin loss has one of its name.",
    "outputcodes.losses.LOSSES": "The margin losses by name.",
    "outputcodes.decisions.REJECTED": "The label of rejected rows if labels are numbers and no other is given.",
    "outputcodes.app.persistence.FORMAT": "The number of the format that `save` writes.",
    "outputcodes.app.persistence.MANIFEST": "The member of a model file that describes it.",
    "outputcodes.app.persistence.MAX_BYTES": "The default limit on the bytes that a model file may unpack to: 1 GiB.",
    "outputcodes.app.persistence.OLDEST_FORMAT": "The number of the oldest format that `load` reads.",
    "outputcodes.app.persistence.TRUSTED": "The types in model files that are loaded besides ours and scikit-learn's.",
    "outputcodes.app.run.RACE_SECONDS": "How long a race takes, unless its time limit is given.",
    "outputcodes.app.run.SYSTEMS": "The classifiers that need no code, by name, for `--learner`.",
    "outputcodes.selection.CONTESTANTS": "The contestants of a race by name, in the order in which they start.",
    "outputcodes.selection.METRICS": "The names of what races and comparisons minimise, for `metric=`.",
    "outputcodes.selection.SPACES": "The parameters that races, searches and `--tune` try, by the name of the class.",
}


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


def public_values() -> dict[str, list[str]]:
    """Return the values that modules offer in `__all__`, and those of `VALUES`; each is in its first module."""
    listed: dict[str, list[str]] = {}
    seen: list[tuple[str, Any]] = []
    for module in public_modules():
        described = [name.rpartition(".")[2] for name in VALUES if name.rpartition(".")[0] == module.__name__]
        for name in dict.fromkeys([*getattr(module, "__all__", ()), *described]):
            thing: Any = getattr(module, name)
            known = any(name == other and thing is value for other, value in seen)
            if not (known or inspect.isclass(thing) or inspect.isfunction(thing) or inspect.ismodule(thing)):
                seen.append((name, thing))
                listed.setdefault(module.__name__, []).append(name)
    return listed


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
    listed, values = homes(), public_values()
    texts = {}
    for module, names in listed.items():
        sentence = (inspect.getdoc(importlib.import_module(module)) or "").split("\n\n")[0].replace("\n", " ")
        table = "\n".join(f"   {name}" for name in names)
        texts[f"api/{module}.rst"] = (
            f"{module}\n{'=' * len(module)}\n\n.. module:: {module}\n\n{sentence}\n\n"
            f".. autosummary::\n   :toctree: names\n   :nosignatures:\n\n{table}\n"
        )
        entries = [f".. py:data:: {name}\n\n   {VALUES[f'{module}.{name}']}\n" for name in values.get(module, [])]
        if entries:
            texts[f"api/{module}.rst"] += "\n" + "\n".join(["Values\n------\n", *entries])
    modules = "\n".join(f"   {module}" for module in listed)
    texts["api/index.rst"] = (
        "API reference\n=============\n\nEvery public class, function and value. The tests run all examples.\n\n"
        "What other packages add to them, such as prediction sets: :doc:`/neighbours`.\n\n"
        f".. toctree::\n   :maxdepth: 2\n\n{modules}\n"
    )
    return texts
