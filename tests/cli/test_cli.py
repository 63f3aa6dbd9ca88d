"""The command as a user types it."""

import subprocess
import sys

import pytest

pytest.importorskip("typer")


def run(*arguments):
    command = [sys.executable, "-c", "from outputcodes.cli import main; main()", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, env={"COLUMNS": "100", "PATH": ""})


def test_compare_prints_a_ranked_table():
    done = run("compare", "iris", "--codes", "one-vs-all,all-pairs", "--decoders", "hamming,vote", "--cv", "3")
    assert done.returncode == 0, done.stderr
    lines = [line for line in done.stdout.splitlines() if line.startswith("│")]
    assert "iris: 150 rows, 3 classes, 3-fold cross-validation" in done.stdout
    assert len(lines) == 3
    errors = [float(line.split("│")[5]) for line in lines]
    assert errors == sorted(errors)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["compare", "nowhere"], "nowhere"),
        (["compare", "iris", "--codes", "onevsall"], "onevsall"),
        (["compare", "iris", "--decoders", "guess"], "guess"),
        (["compare", "iris", "--cv", "1"], "--cv"),
        (["compare", "iris", "--cv", "60"], "cv=60"),
        (["compare", "iris", "--codes", "dense", "--decoders", "vote"], "None of the decoders vote"),
    ],
)
def test_bad_words_are_refused_with_code_2(arguments, message):
    done = run(*arguments)
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr
