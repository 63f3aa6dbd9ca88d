"""docs/architecture.md is true: the tree is as it is drawn, and every walk leads down through functions that exist."""

import ast
import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "outputcodes"
PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
LAYERS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]["contracts"][0][
    "layers"
]
WALKS = {
    title: body
    for title, body in re.findall(r"^### (.+?)\n(.*?)(?=^##|\Z)", PAGE, re.MULTILINE | re.DOTALL)
    if "→" in body
}
STEP = re.compile(r"^( *)- `([\w/]+\.py)` → (`[\w.]+`(?:, `[\w.]+`)*)", re.MULTILINE)


def layer_of(file):
    room = file.split("/")[0].removesuffix(".py")
    return next(depth for depth, layer in enumerate(LAYERS) if room in re.split(r"\W+", layer))


def names_in(file):
    """All functions of a file and, with their class, all methods."""
    tree = ast.parse((PACKAGE / file).read_text(encoding="utf-8"))
    found = set()
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            found.add(node.name)
        if isinstance(node, ast.ClassDef):
            found |= {f"{node.name}.{method.name}" for method in node.body if isinstance(method, ast.FunctionDef)}
    return found


def test_the_six_walks_are_drawn():
    assert [title.strip("`") for title in WALKS] == [
        "OutputCodeClassifier.fit",
        "OutputCodeClassifier.predict",
        "selection.compare",
        "AdaBoostMO.fit",
        "KernelSVM.fit_columns",
        "BoundSearch.fit",
    ]


@pytest.mark.parametrize("title", WALKS)
def test_a_walk_leads_down_through_functions_that_exist(title):
    steps = [
        (len(indent), file, re.findall(r"`([\w.]+)`", names)) for indent, file, names in STEP.findall(WALKS[title])
    ]
    assert len(steps) == len([line for line in WALKS[title].splitlines() if line.lstrip().startswith("- ")])
    above: list[tuple[int, int]] = []
    for indent, file, names in steps:
        assert set(names) <= names_in(file), file
        while above and above[-1][0] >= indent:
            above.pop()
        assert not above or layer_of(file) >= above[-1][1], f"{file} is above its caller"
        above.append((indent, layer_of(file)))


def test_the_tree_is_as_drawn():
    entries = {path.name for path in PACKAGE.iterdir() if path.name != "__pycache__"}
    assert len(entries) <= 18
    drawn = re.findall(r"^    (\w[\w.]*)/?  +\S", PAGE, re.MULTILINE)
    assert sorted(drawn) == sorted(entries)


def test_no_file_is_long():
    tracked = [path for room in ("src", "tests", "reproduce", "benchmarks") for path in (ROOT / room).rglob("*.py")]
    assert not [str(path.relative_to(ROOT)) for path in tracked if len(path.read_text("utf-8").splitlines()) > 400]
