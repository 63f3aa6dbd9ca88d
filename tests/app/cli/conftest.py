"""The command in this process, and small tables."""

from collections import namedtuple

import numpy as np
import pytest

pytest.importorskip("typer")
pytest.importorskip("pandas")
pytest.importorskip("skops")

Done = namedtuple("Done", "code out err")


@pytest.fixture(autouse=True)
def _wide(monkeypatch):
    monkeypatch.setenv("COLUMNS", "120")


@pytest.fixture
def run():
    from typer.testing import CliRunner

    from outputcodes.app.cli.app import app

    def command(*words):
        result = CliRunner().invoke(app, [str(word) for word in words])
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        return Done(result.exit_code, result.stdout, result.stderr)

    return command


@pytest.fixture
def fruit(tmp_path):
    """A csv with numbers, categories, dates and missing values: 3 classes, 45 rows."""
    rng = np.random.default_rng(0)
    lines = ["mass,skin,picked,class"]
    for i in range(45):
        fruit, skin, mass = [("apple", "red", 150), ("lemon", "yellow", 100), ("pear", "green", 180)][i % 3]
        skin = skin if rng.random() > 0.3 else "brown"
        shown = "" if i % 11 == 0 else f"{mass + 25 * rng.standard_normal():.1f}"
        lines.append(f"{shown},{skin},2026-{1 + i % 12:02d}-03,{fruit}")
    path = tmp_path / "fruit.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.fixture
def model(run, fruit, tmp_path):
    path = tmp_path / "fruit.skops"
    done = run("fit", fruit, "--learner", "ridge", "--code", "all-pairs", "--probability", "softmax", "--out", path)
    assert done.code == 0, done.err
    return path
