"""The experiments use public names of `outputcodes` only: no underscore in a module, a name or an attribute."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FILES = sorted(ROOT.rglob("*.py"))


def private_names(source: str) -> list[str]:
    """Modules and names imported from outputcodes, and attributes of anything but self, that begin with one `_`."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            paths = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            paths = [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Attribute) and not (isinstance(node.value, ast.Name) and node.value.id == "self"):
            found += [ast.unparse(node)] if _is_private(node.attr) else []
            continue
        else:
            continue
        ours = [path for path in paths if path.split(".")[0] == "outputcodes"]
        found += [path for path in ours if any(map(_is_private, path.split(".")))]
    return found


def _is_private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__")


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_only_public_names_are_used(path):
    assert private_names(path.read_text(encoding="utf-8")) == []


def test_private_names_are_found():
    for source in (
        "import outputcodes._ground.folds",
        "from outputcodes._ground import folds",
        "from outputcodes.app.cli._common import names",
        "from outputcodes.classifier import _fitted",
        "model._problem(X, y)",
        "outputcodes.codes._search.best()",
    ):
        assert private_names(source), source
    for source in (
        "from outputcodes.codes import as_code",
        "from sklearn._loss import HalfSquaredError",
        "self._rows = 1",
        "type(model).__name__",
        "model.columns_.fitted",
    ):
        assert not private_names(source), source
