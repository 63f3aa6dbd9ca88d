"""Killed at random moments and resumed, a comparison ends with the results of one that was left alone."""

import json
import random
import subprocess
import sys
import time

import pytest

from outputcodes.selection.journal import Journal

PLAN = (
    *("compare", "--exhaustive", "iris", "--learners", "ridge,maxent,decision-tree,logistic"),
    *("--codes", "one-vs-all,all-pairs,dense", "--decoders", "hamming,loss,likelihood", "--cv", "10"),
)
LINES = 1 + 10 * (2 + 2 * 3)


def without_times(path):
    def strip(value):
        if isinstance(value, dict):
            return {name: strip(one) for name, one in value.items() if not name.endswith("_seconds")}
        return value

    return [strip(json.loads(line)) for line in path.read_text().splitlines()]


def test_killed_three_times_and_resumed(run, tmp_path):
    alone, killed = tmp_path / "alone", tmp_path / "killed"
    assert run(*PLAN, "--out", alone).code == 0
    command = [sys.executable, "-c", "from outputcodes.app.cli import main; main()", *PLAN, "--out", str(killed)]
    rng, results = random.Random(0), killed / "results.jsonl"
    moments = sorted(rng.sample(range(2, LINES - 15), 3))
    for lines in moments:
        process = subprocess.Popen([*command, "--resume"], stdout=subprocess.DEVNULL)
        while process.poll() is None and (not results.exists() or results.read_bytes().count(b"\n") < lines):
            time.sleep(0.002)
        time.sleep(rng.random() / 100)
        process.kill()
        assert process.wait() == -9
        assert lines <= results.read_bytes().count(b"\n") < LINES
        assert not (killed / "report.html").exists()
    before = results.read_bytes()
    whole = before[: before.rindex(b"\n") + 1]
    assert run(*PLAN, "--out", killed, "--resume").code == 0
    assert results.read_bytes().startswith(whole)
    assert without_times(results) == without_times(alone / "results.jsonl")
    assert len(without_times(results)) == LINES
    assert (killed / "model.skops").exists()
    assert (killed / "report.html").exists()


def test_a_stopped_run_says_how_to_continue(run, fruit, tmp_path, monkeypatch):
    def stop(*args, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr("outputcodes.app.run.compare_table", stop)
    done = run("compare", "--exhaustive", fruit, "--out", tmp_path / "out")
    assert (done.code, "--resume continues them" in done.err) == (130, True)


def test_two_runs_do_not_write_to_one_folder(run, fruit, tmp_path):
    words = (
        "compare",
        "--exhaustive",
        fruit,
        "--learners",
        "ridge",
        "--codes",
        "all-pairs",
        "--decoders",
        "loss",
        "--out",
        tmp_path / "out",
    )
    with Journal(tmp_path / "out" / "results.jsonl", {}):
        for more in ((), ("--resume",)):
            done = run(*words, *more)
            assert (done.code, "is being written by another run" in done.err) == (2, True)


def test_a_run_without_any_result_is_in_nobodys_way(run, fruit, tmp_path):
    words = ("compare", "--exhaustive", fruit, "--learners", "ridge", "--cv", "2", "--out", tmp_path / "out")
    nothing = run(*words, "--codes", "one-vs-all", "--decoders", "vote")
    assert (nothing.code, "Nothing could be compared" in nothing.err) == (2, True)
    assert run(*words, "--codes", "all-pairs", "--decoders", "vote").code == 0
    done = run(*words, "--codes", "all-pairs", "--decoders", "loss")
    assert (done.code, "holds the results of another run: it differs in plan" in done.err) == (2, True)


def test_results_of_another_run_are_neither_overwritten_nor_continued(run, fruit, tmp_path):
    out = tmp_path / "out"
    words = (
        "compare",
        "--exhaustive",
        fruit,
        "--learners",
        "ridge",
        "--codes",
        "all-pairs",
        "--decoders",
        "loss",
        "--out",
        out,
    )
    assert run(*words, "--cv", "2").code == 0
    before = (out / "results.jsonl").read_bytes()
    done = run(*words, "--cv", "2")
    assert (done.code, "earlier run" in done.err) == (2, True)
    for change, name in [
        (("--cv", "3"), "splits"),
        (("--cv", "2", "--seed", "1"), "seed"),
        (("--cv", "2", "--metric", "balanced"), "metric"),
    ]:
        done = run(*words, *change, "--resume")
        assert (done.code, name in done.err) == (2, True)
    fruit.write_text(fruit.read_text().replace("red", "pink"))
    done = run(*words, "--cv", "2", "--resume")
    assert (done.code, "differs in" in done.err) == (2, True)
    assert (out / "results.jsonl").read_bytes() == before


@pytest.mark.parametrize("cut", [1, 40, 1000])
def test_a_finished_run_computes_nothing_and_a_cut_line_again(run, fruit, tmp_path, cut):
    out = tmp_path / "out"
    words = (
        "compare",
        "--exhaustive",
        fruit,
        "--learners",
        "ridge,maxent",
        "--codes",
        "all-pairs",
        "--decoders",
        "loss",
        "--cv",
        "3",
        "--out",
        out,
        "--resume",
    )
    assert run(*words).code == 0
    whole = (out / "results.jsonl").read_bytes()
    model = (out / "model.skops").stat().st_mtime_ns
    assert run(*words).code == 0
    assert (out / "results.jsonl").read_bytes() == whole
    assert (out / "model.skops").stat().st_mtime_ns == model
    expected = without_times(out / "results.jsonl")
    (out / "results.jsonl").write_bytes(whole[:-cut])
    assert run(*words).code == 0
    assert without_times(out / "results.jsonl") == expected
