"""Plug-ins and types of other libraries on the command line."""

import subprocess
import sys
from pathlib import Path

import pytest
from sklearn.datasets import load_iris
from sklearn.neighbors import KNeighborsClassifier

from outputcodes.app import persistence

TESTS = Path(__file__).parents[2]
MAIN = "from outputcodes.app.cli import main; main()"


def command(*words):
    """The command in a process of its own: what a plug-in registers stays there."""
    words = [sys.executable, "-c", MAIN, *map(str, words)]
    return subprocess.run(words, capture_output=True, text=True, timeout=120)


def test_a_plug_in_is_fitted_inspected_and_applied(fruit, tmp_path):
    model, plugin = tmp_path / "m.skops", ("--plugin", tmp_path / "my_plugin.py")
    lines = ["import sys", f"sys.path.insert(0, {str(TESTS)!r})", "import newcomers", "newcomers.register()"]
    plugin[1].write_text("\n".join(lines))
    words = ("fit", fruit, "--learner", "means", "--code", "circle", "--decoder", "correlation", "--out", model)
    done = command(*words, *plugin)
    assert done.returncode == 0, done.stderr
    done = command("inspect", model)
    assert (done.returncode, "--plugin MODULE" in done.stderr) == (2, True), done.stderr
    done = command("predict", model, fruit, *plugin, "--out", tmp_path / "p.csv")
    assert (done.returncode, "45 predictions" in done.stdout) == (0, True), done.stderr


class Neighbours(KNeighborsClassifier):
    """A type that no list of ours knows."""


@pytest.mark.parametrize("verb", ["inspect", "predict"])
def test_a_type_that_the_user_trusts(run, fruit, tmp_path, verb):
    model, X_y = tmp_path / "m.skops", load_iris(return_X_y=True)
    persistence.save(Neighbours(algorithm="brute").fit(*X_y), model)
    words = (verb, model) if verb == "inspect" else (verb, model, fruit, "--out", tmp_path / "p.csv")
    name = f"{Neighbours.__module__}.Neighbours"
    done = run(*words)
    assert (done.code, f"--trust {name}" in done.err) == (2, True), done.err
    done = run(*words, "--trust", name)
    if verb == "inspect":
        assert (done.code, "Neighbours(" in done.out) == (0, True), done.err
    else:  # trusted, and then lacking a schema
        assert "without the schema of its table" in done.err


@pytest.mark.parametrize("verb", ["inspect", "predict"])
def test_the_limit_of_a_model_file(run, fruit, model, tmp_path, verb):
    words = (verb, model) if verb == "inspect" else (verb, model, fruit, "--out", tmp_path / "p.csv")
    done = run(*words, "--max-bytes", "1000")
    assert (done.code, "the limit is 1.0 kB" in done.err) == (2, True), done.err
    needed = done.err.rpartition("--max-bytes ")[2].strip().rstrip(").")
    done = run(*words, "--max-bytes", needed)
    assert done.code == 0, done.err


@pytest.mark.parametrize("learner", ["ridge", "linear-svm", "logistic", "kernel-svm", "stumps", "svc"])
def test_a_huge_number_is_predicted_or_refused_by_row_and_column(run, fruit, tmp_path, learner):
    assert run("fit", fruit, "--learner", learner, "--out", tmp_path / "m.skops").code == 0
    head, *lines = fruit.read_text().splitlines()
    lines[13] = f"1e300,{lines[13].partition(',')[2]}"
    (tmp_path / "new.csv").write_text("\n".join([head, *lines]))
    done = run("predict", tmp_path / "m.skops", tmp_path / "new.csv", "--chunk", "10", "--out", tmp_path / "p.csv")
    if done.code == 0:
        assert len((tmp_path / "p.csv").read_text().splitlines()) == 46
    else:
        assert "new.csv: row 14 can't be predicted" in done.err
        assert "1e+300, in column 'mass'" in done.err
        assert not (tmp_path / "p.csv").exists()
