"""Plug-ins: modules that add codes, losses, decoders and learners to their tables of names when they are imported."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from importlib import import_module
from pathlib import Path


def load_plugins(names: Iterable[str]) -> None:
    """Import modules by their names, or from .py files.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "my_plugin.py"
    >>> _ = path.write_text("print('registered')")
    >>> load_plugins([str(path)])
    registered
    """
    for name in names:
        module = name
        if name.endswith(".py"):
            if not Path(name).is_file():
                raise ValueError(f"plugin={name!r}: there is no such file.")
            # A saved model names the modules of its types, so they must be importable by name.
            sys.path.insert(0, str(Path(name).resolve().parent))
            module = Path(name).stem
        try:
            import_module(module)
        except Exception as reason:  # whatever the module does
            raise ValueError(
                f"plugin={name!r} can't be imported ({type(reason).__name__}: {reason}). Name an installed module, or "
                "a file that ends in .py."
            ) from reason
