"""The command line: quick runs, resuming after a kill, the list of experiments, and messages about mistakes."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from reproduce import EXPERIMENTS, __main__
from reproduce.tests.powers import experiment

COLUMNS = {"COLUMNS": "200"}


def invoke(*words):
    return CliRunner().invoke(__main__.app, list(map(str, words)), env=COLUMNS)


def test_a_quick_run_continues_after_a_kill(tmp_path):
    command = ["jin-table6", "--quick", "--datasets", "wine,iris", "--out", tmp_path, "--resume"]
    found = []
    for _ in range(2):
        done = invoke(*command)
        assert done.exit_code == 0, done.stderr
        assert "The probabilistic code is better than the deterministic one" in done.stdout
        assert (tmp_path / "published-results.md").exists()
        lines = (tmp_path / "jin.jsonl").read_bytes().splitlines(keepends=True)
        measured = [json.loads(line) for line in lines if b'"unit"' in line]
        found.append({json.dumps(line["unit"]): line["found"] for line in measured})
        # What a kill leaves: the third observation is half written.
        (tmp_path / "jin.jsonl").write_bytes(b"".join(lines[:3]) + lines[3][:20])
    assert len(found[0]) == 4
    assert found[0] == found[1]


@pytest.fixture
def two_powers(monkeypatch, tmp_path):
    """The catalogue replaced by two small experiments, and the committed results by a temporary folder."""
    cubes = experiment(name="cubes", title="Cubes", record="cubes", options={"power": 3})
    monkeypatch.setattr(__main__, "EXPERIMENTS", {"powers": experiment(), "cubes": cubes})
    monkeypatch.setattr(__main__, "COMMITTED", tmp_path / "docs" / "published")
    return tmp_path / "docs"


def test_without_a_name_all_experiments_run_and_nothing_is_written(two_powers):
    done = invoke("--quick")
    assert done.exit_code == 0
    assert "powers:" in done.stdout
    assert "cubes:" in done.stdout
    assert not two_powers.exists()


def test_resume_without_a_folder_continues_the_committed_results(two_powers):
    for _ in range(2):
        assert invoke("--resume").exit_code == 0
    page = (two_powers / "published-results.md").read_text()
    assert "## Powers of numbers" in page
    assert "## Cubes" in page
    lines = [json.loads(line) for line in (two_powers / "published" / "cubes.jsonl").read_text().splitlines()]
    assert [line["found"] for line in lines if "unit" in line] == [0, 1, 8, 27]


@pytest.mark.parametrize(("text", "value"), [("1.5", 1.5), ("[1, 2]", [1, 2]), ("null", None), ("high", "high")])
def test_settings_are_read_as_json_or_as_text(text, value, monkeypatch, tmp_path):
    monkeypatch.setattr(__main__, "EXPERIMENTS", {"powers": experiment(lambda x, power: x)})
    done = invoke("--set", f"power={text}", "--out", tmp_path)
    assert done.exit_code == 0
    description = json.loads((tmp_path / "powers.jsonl").read_text().splitlines()[0])
    assert description["options"] == {"power": value}


def test_the_list_names_all_experiments():
    listed = invoke("--list")
    assert listed.exit_code == 0
    assert all(name in listed.stdout for name in EXPERIMENTS)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["jin-table7"], "jin-table6"),
        (["jin-table6", "--datasets", "letter"], "letter"),
        (["jin-table6", "--set", "lambda"], "name=value"),
        (["jin-table6", "--set", "lambda=1"], "lambdas"),
    ],
)
def test_mistakes_are_messages(words, message):
    done = invoke(*words)
    assert done.exit_code == 2
    assert message in done.stderr
