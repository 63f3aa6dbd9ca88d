"""No measured number is typed into the page: it comes from a file of results, from a published table or an option."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

HERE = Path(__file__).parents[1]
SOURCES = [path for path in sorted(HERE.rglob("*.py")) if "tests" not in path.parts and path.name != "published.py"]
# Decimals in prose were measured; thresholds and settings are numbers in the source, and formatted into texts. A word
# alone is no prose but a shade of grey.
DECIMAL = re.compile(r"(?<!Corollary )\b\d+\.\d.* | .*(?<!Corollary )\b\d+\.\d", re.DOTALL)


def texts(source: str) -> list[str]:
    """String literals that are not docstrings."""
    tree = ast.parse(source)
    docstrings = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    constants = (node for node in ast.walk(tree) if isinstance(node, ast.Constant) and id(node) not in docstrings)
    return [node.value for node in constants if isinstance(node.value, str)]


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(HERE)))
def test_texts_have_no_measured_numbers(path):
    assert [text for text in texts(path.read_text(encoding="utf-8")) if DECIMAL.search(text)] == []


def test_a_measured_number_in_a_text_would_be_found():
    source = '"""Docs may have 1.5."""\nWHY = "with seed 1 it has 5.6"\nLEVEL = 0.05\nTEXT = f"{LEVEL:.1f} of 3"\n'
    assert [text for text in texts(source) if DECIMAL.search(text)] == ["with seed 1 it has 5.6"]
