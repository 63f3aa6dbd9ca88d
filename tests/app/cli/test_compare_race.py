"""`outputcodes compare` as a race: results, report and model on disk; killed, interrupted, resumed and applied."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time

import pandas as pd
import pytest

from outputcodes.app import persistence

RACE = ("compare", "iris", "--learners", "ridge,decision-tree,neighbours", "--cv", "3", "--time-limit", "inf")
COMMAND = [sys.executable, "-c", "from outputcodes.app.cli import main; main()"]


def without_times(path):
    found = [json.loads(line) for line in path.read_text().splitlines()]
    return [{name: value for name, value in line.items() if name != "seconds"} for line in found]


def report_of(folder):
    page = (folder / "report.html").read_text()
    return json.loads(page.partition('id="data">')[2].partition("</script>")[0])


def test_a_race_from_the_table_to_predictions(run, fruit, tmp_path):
    out = tmp_path / "out"
    done = run("compare", fruit, "--learners", "ridge,tree,decision-tree", "--time-limit", "inf", "--out", out)
    assert done.code == 0, done.err
    assert "Expected error of the model on new rows" in done.out
    _, manifest = persistence.load(out / "model.skops")
    assert set(manifest.summary["winner"][0].split()) & {"ridge", "tree", "decision-tree"}
    lines = without_times(out / "results.jsonl")
    assert all((out / "scores" / line["scores"]).exists() for line in lines[1:])
    answers = tmp_path / "answers.csv"
    assert run("predict", out / "model.skops", fruit, "--proba", "--out", answers).code == 0
    assert len(pd.read_csv(answers)) == 45
    assert "left the race" in run("inspect", out / "model.skops").out
    race = report_of(out)["race"]
    named = {line["contestant"] for line in lines[1:]}
    assert {entry["name"].split()[0] for entry in race["entries"]} == named
    assert [point["rows"] for point in race["curve"]] == sorted(point["rows"] for point in race["curve"])
    assert len(race["curve"]) > 1
    columns = race["importance"]["columns"]
    assert sorted(name for name, _, _ in columns) == ["mass", "picked", "skin"]
    # The fruit has mass and skin; the day says nothing.
    assert min(mean for name, mean, _ in columns if name != "picked") > columns[-1][1]
    assert columns[-1][0] == "picked"


def test_killed_and_resumed(run, tmp_path):
    alone, killed = tmp_path / "alone", tmp_path / "killed"
    assert run(*RACE, "--out", alone).code == 0
    expected, results = without_times(alone / "results.jsonl"), killed / "results.jsonl"
    rng = random.Random(0)
    for lines in sorted(rng.sample(range(2, len(expected) - 5), 2)):
        process = subprocess.Popen([*COMMAND, *RACE, "--out", str(killed), "--resume"], stdout=subprocess.DEVNULL)
        while process.poll() is None and (not results.exists() or results.read_bytes().count(b"\n") < lines):
            time.sleep(0.002)
        time.sleep(rng.random() / 100)
        process.kill()
        process.wait()
    assert run(*RACE, "--out", killed, "--resume").code == 0
    assert without_times(results) == expected
    assert report_of(killed)["race"]["members"] == report_of(alone)["race"]["members"]


@pytest.mark.skipif(not hasattr(os, "killpg"), reason="no process groups: Ctrl-C is not tried")
@pytest.mark.parametrize(("jobs", "number"), [("1", "SIGINT"), ("2", "SIGINT"), ("2", "SIGTERM")])
def test_ctrl_c_or_sigterm_ends_the_race_and_its_processes(run, fruit, tmp_path, keyboard, jobs, number):
    """Ctrl-C as a terminal sends it, to all processes of the group; SIGTERM to the first one."""
    out, temporary = tmp_path / "out", tmp_path / "temporary"
    temporary.mkdir()
    words = ("compare", fruit, "--out", out, "--jobs", jobs)
    how = {"start_new_session": True, "stderr": subprocess.PIPE, "text": True}
    process = subprocess.Popen([*COMMAND, *map(str, words)], env=os.environ | {"TMPDIR": str(temporary)}, **how)
    results = out / "results.jsonl"
    while process.poll() is None and (not results.exists() or results.read_bytes().count(b"\n") < 6):
        time.sleep(0.002)
    (os.killpg if number == "SIGINT" else os.kill)(process.pid, getattr(signal, number))
    # It takes a second; a busy machine takes longer, and a hang forever.
    _, errors = process.communicate(timeout=100)
    assert process.returncode == 128 + getattr(signal, number)
    if number == "SIGINT":
        assert f"The results so far are in {out}: --resume continues them" in errors
    assert "Traceback" not in errors
    assert not list(temporary.rglob("sample"))
    for _ in range(1000):
        try:
            os.killpg(process.pid, 0)
        except ProcessLookupError:
            break
        time.sleep(0.1)
    else:
        pytest.fail("processes of the race are left")
    assert run("compare", fruit, "--time-limit", "1", "--out", out, "--resume").code == 0


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--codes", "dense"), "--codes dense is for the full table: add --exhaustive"),
        (("--decoders", "loss"), "--decoders loss is for the full table"),
        (("--order", "a,b"), "--order a,b is for the full table"),
        (("--learners", "svc"), "--learners 'svc' takes no part in races: add --exhaustive"),
        (("--time-limit", "0"), "--time-limit 0 leaves no time"),
        (("--group", "x"), "--group x is for files"),
        (("--resume",), "needs out (--out)"),
    ],
)
def test_what_a_race_does_not_know_is_refused(run, words, message):
    done = run("compare", "iris", *words)
    assert (done.code, message in " ".join(done.err.split())) == (2, True), done.err


def test_groups_of_a_table_stay_together(run, fruit, tmp_path):
    frame = pd.read_csv(fruit)
    frame["tree"] = frame.index // 3
    path = tmp_path / "trees.csv"
    frame.to_csv(path, index=False)
    words = ("--group", "tree", "--learners", "ridge,decision-tree")
    done = run("compare", path, *words, "--time-limit", "inf", "--out", tmp_path / "out")
    assert done.code == 0, done.err
    _, manifest = persistence.load(tmp_path / "out" / "model.skops")
    assert "tree" not in manifest.schema.used
    assert run("fit", path, "--group", "tree", "--time-limit", "2", "--out", tmp_path / "m.skops").code == 0
    assert run("compare", path, *words, "--exhaustive", "--codes", "one-vs-all", "--cv", "3").code == 0
    done = run("compare", path, "--group", "tree", "--split", "skin")
    assert (done.code, "--group tree is for folds" in done.err) == (2, True)


def test_tuned_parameters_are_printed_kept_and_used(run, fruit, tmp_path):
    model = tmp_path / "m.skops"
    done = run("fit", fruit, "--learner", "kernel-svm", "--param", "C=3", "--tune", "--out", model)
    assert done.code == 0, done.err
    fitted, manifest = persistence.load(model)
    tuned = manifest.summary["tuned"]
    assert list(tuned["parameters"]) == ["gamma"]
    assert fitted[-1].estimator.gamma == tuned["parameters"]["gamma"]
    assert fitted[-1].estimator.C == 3
    assert f"the best of {tuned['candidates']} candidates" in done.out
    assert "tuned: gamma" in run("inspect", model).out
    for words, message in [
        (("--tune",), "--tune is for a learner"),
        (("--learner", "kernel-svm", "--param", "C=3", "--param", "gamma=1", "--tune"), "leave out --tune"),
    ]:
        done = run("fit", fruit, *words, "--out", model)
        assert (done.code, message in " ".join(done.err.split())) == (2, True), done.err
