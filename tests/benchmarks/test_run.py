"""`make bench` runs what is older than the code, each results file says where it comes from, and scripts are listed."""

from __future__ import annotations

import ast
import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]
sys.path += [str(ROOT / "benchmarks"), str(ROOT / "examples")]

import common  # noqa: E402
import facts  # noqa: E402
import linear_learners as example  # noqa: E402
import run as runner  # noqa: E402

# Shared modules, and the scripts that need a second checkout, or a GPU.
NOT_RUN = {"common", "facts", "gpu", "made_tables", "many_classes_peers", "peers", "render", "run", "targets"} | {
    "two_checkouts"
}


def test_every_script_is_run_and_every_results_file_belongs_to_one():
    scripts = {path.stem for path in (ROOT / "benchmarks").glob("*.py")}
    assert scripts - NOT_RUN == set(runner.SCRIPTS)
    files = {name for script in runner.SCRIPTS.values() for name in script.files}
    assert {path.stem for path in facts.RESULTS.glob("*.json")} - {"two_checkouts"} <= files | {
        f"gpu_{part}" for part in ("sets", "grid", "large", "shares", "objectives")
    }


@pytest.mark.parametrize("script", sorted((ROOT / "benchmarks").glob("*.py")), ids=lambda path: path.stem)
def test_what_a_script_imports_from_the_library_is_there(script):
    # Many need packages that are not installed, or data, so they are not imported themselves.
    for node in ast.walk(ast.parse(script.read_text())):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("outputcodes"):
            module = importlib.import_module(node.module)
            for name in (alias.name for alias in node.names):
                assert hasattr(module, name) or importlib.util.find_spec(f"{node.module}.{name}"), f"{name} is gone"


def test_results_say_from_which_commit_when_and_under_which_load(monkeypatch, tmp_path):
    monkeypatch.setattr(common, "RESULTS", tmp_path / "new")
    monkeypatch.setattr(common, "code_version", lambda script: f"version of {script.name}")
    monkeypatch.setattr(sys, "argv", ["benchmarks/codes.py"])
    common.save("codes", [{"L": 3}])
    saved = json.loads((tmp_path / "new" / "codes.json").read_text())
    assert saved["rows"] == [{"L": 3}]
    assert saved["run"]["commit"] == "version of codes.py"
    assert set(saved["run"]) == {"commit", "date", "load average before", "minutes"}


def test_the_version_is_the_last_commit_of_the_code_and_shows_changes(monkeypatch, tmp_path):
    def git(*words):
        who = ["-c", "user.name=a", "-c", "user.email=a@b"]
        return subprocess.check_output(["git", *who, *words], cwd=tmp_path, text=True).strip()

    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "code.py").write_text("1")
    git("init", "-q")
    git("add", ".")
    git("commit", "-qm", "code")
    monkeypatch.setattr(common, "ROOT", tmp_path)
    version = common.code_version(tmp_path / "benchmarks" / "codes.py")
    assert version == git("log", "-1", "--format=%h")
    (tmp_path / "results.json").write_text("{}")
    git("add", ".")
    git("commit", "-qm", "results")
    assert common.code_version(tmp_path / "benchmarks" / "codes.py") == version
    (tmp_path / "src" / "code.py").write_text("2")
    assert common.code_version(tmp_path / "benchmarks" / "codes.py") == version + "+"


@pytest.mark.parametrize(
    ("version", "commits", "expected"),
    [
        ("abc", ["abc", "abc"], True),
        ("abc", ["abc", "def"], False),
        ("abc", ["abc"], False),
        ("abc+", ["abc+"] * 2, False),
        ("unknown", ["unknown"] * 2, False),
    ],
)
def test_a_script_is_skipped_if_all_its_results_are_those_of_the_code(
    monkeypatch, tmp_path, version, commits, expected
):
    (tmp_path / "results").mkdir()
    for name, commit in zip(("one", "two"), commits, strict=False):
        content = {"run": {"commit": commit, "minutes": 2.5}, "rows": []}
        (tmp_path / "results" / f"{name}.json").write_text(json.dumps(content))
    monkeypatch.setattr(runner, "HERE", tmp_path)
    monkeypatch.setattr(runner, "SCRIPTS", {"both": runner.Script(("one", "two"), 7.0)})
    monkeypatch.setattr(runner, "code_version", lambda script: version)
    assert runner.up_to_date("both") is expected
    assert runner.minutes("both") == (2.5 if len(commits) == 2 else 7.0)


def test_a_quick_trial_takes_rows_of_every_class():
    y = np.repeat([0, 1, 2], [500, 5, 3])
    kept = common._few(y, np.arange(508) % 2 == 0, 20)
    assert len(kept) == 20
    assert (kept % 2 == 0).all()
    # Of the few rows of the rare classes, all that the mask has.
    assert [np.count_nonzero(y[kept] == r) for r in (1, 2)] == [3, 1]


def test_the_example_still_gives_the_errors_of_the_results_file():
    """One row of 719 may fall on the other side of a tie on another processor."""
    found, (saved,) = example.errors("ridge"), facts.rows("linear_learners", learner="ridge")
    assert found.keys() == saved.keys()
    errors = [name for name in found if "," in name]
    assert np.allclose([found[name] for name in errors], [saved[name] for name in errors], atol=100 / 719 + 1e-9)
