"""What pages ask a reader to type works in the order in which it is read."""

import ast
import builtins
import doctest
import re
import sys
import tomllib
from pathlib import Path

import pytest

from outputcodes._ground import text_features
from outputcodes._histograms import binned_blocks
from outputcodes.app.run import systems
from outputcodes.selection.race import course, estimate

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
# Packages whose modules have another name.
MODULES = {"scikit-learn": "sklearn", "imbalanced-learn": "imblearn"}


def installed_with_all():
    """The modules that the wheel with the extra "all" brings, as far as they are named."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    (everything,) = extras["all"]
    names = re.search(r"\[(.*)\]", everything)[1].split(",")
    needed = [*project["dependencies"], *(one for name in names for one in extras[name])]
    found = {re.match(r"[\w-]+", one)[0] for one in needed}
    return {MODULES.get(name, name) for name in found} | {"outputcodes"} | sys.stdlib_module_names


def code_of(path):
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".py":
        return text
    return "".join(example.source for example in doctest.DocTestParser().get_examples(text))


PAGES = [*DOCS.glob("*.md"), ROOT / "README.md", *(ROOT / "examples").rglob("*.py")]


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_a_page_says_how_to_install_what_its_examples_import(path):
    imported = set()
    for node in ast.walk(ast.parse(code_of(path))):
        if isinstance(node, ast.Import):
            imported |= {one.name.split(".")[0] for one in node.names}
        elif isinstance(node, ast.ImportFrom):
            imported.add(node.module.split(".")[0])
    packages = {module: name for name, module in MODULES.items()}
    text = path.read_text(encoding="utf-8")
    for module in imported - installed_with_all():
        assert f"pip install {packages.get(module, module)}" in text


LIMITS = [
    ("more-data.md", f"refused if features have more than {binned_blocks.MOST_VALUES:,} values"),
    ("more-data.md", f"`bins={systems.BINS}` for tables of more than {systems.EXACT_UP_TO:,} rows"),
    ("more-data.md", f"exact for up to 2^{binned_blocks.EXACT_VALUES.bit_length() - 1} values in all"),
    ("race.md", f"of more than {text_features.MOST_CATEGORIES:,}, or of more than {text_features.FEW_SENTENCES} if"),
    ("race.md", f"{estimate.DRAWS} bootstrap samples"),
    ("command-line.md", f"as many as hold out {course.ENOUGH_IN_THE_END:,} rows are enough"),
]


@pytest.mark.parametrize(("page", "limit"), LIMITS)
def test_limits_in_pages_are_those_of_the_code(page, limit):
    assert limit in " ".join((DOCS / page).read_text(encoding="utf-8").split())


def test_each_python_session_of_the_first_hour_stands_alone():
    """The page goes back to the terminal in between: what the second session uses, the second session defines."""
    page = (DOCS / "first-hour.md").read_text(encoding="utf-8")
    sessions = page.split("start `python` again")
    assert len(sessions) == 2
    for session in sessions:
        code = "".join(example.source for example in doctest.DocTestParser().get_examples(session))
        names = [node for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Name)]
        imported = [one for node in ast.walk(ast.parse(code)) for one in getattr(node, "names", ())]
        defined = {node.id for node in names if isinstance(node.ctx, ast.Store)} | set(dir(builtins))
        defined |= {one.asname or one.name for one in imported}
        assert {node.id for node in names} <= defined


@pytest.mark.parametrize("path", sorted((ROOT / "examples" / "gallery").glob("*.py")), ids=lambda path: path.name)
def test_a_title_in_the_gallery_is_underlined(path):
    """The site is not built by the tests; Sphinx refuses a shorter line."""
    title, line, *_ = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))).splitlines()
    assert line == "=" * len(title)
