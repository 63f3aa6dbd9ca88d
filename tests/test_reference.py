"""The API reference: every name that a public module offers has an entry. The built pages are tested by `make docs`."""

import importlib
import inspect
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1] / "docs" / "site"))

import reference


def test_every_public_name_has_an_entry():
    pages, values = reference.homes(), reference.public_values()
    listed = [(module, name) for found in (pages, values) for module, names in found.items() for name in names]
    entries = {name: [] for _, name in listed}
    for module, name in listed:
        entries[name].append(getattr(importlib.import_module(module), name))
    for module in reference.public_modules():
        for name in getattr(module, "__all__", ()):
            thing = getattr(module, name)
            assert inspect.ismodule(thing) or any(thing is one for one in entries.get(name, [])), (module, name)


def test_every_public_value_is_described():
    offered = {f"{module}.{name}" for module, names in reference.public_values().items() for name in names}
    assert offered - set(reference.VALUES) == set(), "Describe it in docs/site/reference.py."
    assert set(reference.VALUES) - offered == set(), "Leave it out of docs/site/reference.py."
    pages = reference.pages()
    for name, sentence in reference.VALUES.items():
        module, _, own = name.rpartition(".")
        assert f".. py:data:: {own}\n\n   {sentence}\n" in pages[f"api/{module}.rst"]


def test_what_the_methods_of_classifiers_return_has_an_entry():
    assert "TopK" in reference.homes()["outputcodes.decoders"]
