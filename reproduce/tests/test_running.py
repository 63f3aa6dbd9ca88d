"""The frame of experiments: what runs, what is kept, what is not measured twice, and the page made of it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from outputcodes.selection import JournalError
from reproduce import EXPERIMENTS, Claim, Experiment, Findings, Picture, Table, find, run, write_page
from reproduce.comparing import compare, lower_claim, signed_ranks


def square(x: int, power: int) -> int:
    return int(x**power)


def broken(x: int, power: int) -> int:
    if x == 2:
        raise RuntimeError("the machine stopped")
    return square(x, power)


def experiment(measure=square, **changes) -> Experiment:
    def present(results):
        rows = [(str(r.unit["x"]), str(r.found)) for r in results]
        pictures = [Picture("squares", "Squares", lambda figure: figure.subplots().plot([r.found for r in results]))]
        return Findings([Table("Powers", ("x", "power"), rows)], [Claim("all fits", "supported", "it does")], pictures)

    given = {
        "name": "powers",
        "title": "Powers of numbers",
        "source": "a text",
        "protocol": "Raise.",
        "data_sets": ("a", "b"),
        "units": lambda data_sets, quick, power: [{"x": x, "power": power} for x in range(2 if quick else 4)],
        "measure": measure,
        "present": present,
        "options": {"power": 2},
    }
    return Experiment(**(given | changes))


def test_results_come_in_the_order_of_the_units():
    assert [(r.unit["x"], r.found) for r in run(experiment())] == [(0, 0), (1, 1), (2, 4), (3, 9)]


def test_what_was_measured_before_a_failure_is_not_measured_again(tmp_path):
    with pytest.raises(RuntimeError, match="stopped"):
        run(experiment(broken), out=tmp_path)
    watched = []
    results = run(experiment(), out=tmp_path, resume=True, watch=lambda *told: watched.append(told))
    assert [r.found for r in results] == [0, 1, 4, 9]
    # Two were there; two more follow.
    assert [done for _, done, _ in watched] == [2, 3, 4]
    lines = [json.loads(line) for line in (tmp_path / "powers.jsonl").read_text().splitlines()]
    assert sorted(line["unit"]["x"] for line in lines if "unit" in line) == [0, 1, 2, 3]


def test_results_of_other_choices_are_not_mixed(tmp_path):
    run(experiment(), out=tmp_path)
    with pytest.raises(JournalError, match="earlier run"):
        run(experiment(), out=tmp_path)
    with pytest.raises(JournalError, match="differs in options"):
        run(experiment(), out=tmp_path, resume=True, options={"power": 3})
    with pytest.raises(JournalError, match="differs in quick"):
        run(experiment(), out=tmp_path, resume=True, quick=True)


def test_experiments_with_one_record_share_their_measurements(tmp_path):
    run(experiment(record="shared"), out=tmp_path)
    watched = []
    other = experiment(broken, name="other", record="shared")
    assert [r.found for r in run(other, out=tmp_path, resume=True, watch=lambda *told: watched.append(told))] == [
        0,
        1,
        4,
        9,
    ]
    assert watched == [("other", 4, 4)]


def test_unknown_names_are_told_with_the_known_ones():
    with pytest.raises(ValueError, match="Choose from: a, b"):
        run(experiment(), data_sets=["c"])
    with pytest.raises(ValueError, match=r"options: exponent unknown here\. Choose from: power"):
        run(experiment(), options={"exponent": 3})
    with pytest.raises(ValueError, match="jin-table2"):
        find("jin-table22")


def test_the_page_is_a_rendering_of_the_files_alone(tmp_path):
    pytest.importorskip("matplotlib")
    results, page = tmp_path / "results", tmp_path / "docs" / "page.md"
    run(experiment(), out=results)
    write_page([experiment(), experiment(name="absent")], results, page)
    first = page.read_text()
    assert "| 3 | 9 |" in first
    assert "- **supported**: all fits (it does)." in first
    assert "](../results/squares.svg)" in first
    assert "absent" not in first
    drawn = (results / "squares.svg").read_bytes()
    write_page([experiment(measure=broken)], results, page)
    assert page.read_text() == first
    assert (results / "squares.svg").read_bytes() == drawn
    assert not list(tmp_path.rglob("*.part"))


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_every_experiment_is_described_and_its_units_are_plain_and_distinct(name):
    found = EXPERIMENTS[name]
    assert found.name == name
    for quick in (False, True):
        units = found.units(found.data_sets, quick, **found.options)
        keys = [json.dumps(unit, sort_keys=True) for unit in units]
        assert keys
        assert len(set(keys)) == len(keys)
    assert all(json.loads(key) == unit for key, unit in zip(keys, units, strict=True))
    assert found.present([]) is not None


def test_a_page_that_is_committed_is_what_its_files_of_results_give(tmp_path):
    pytest.importorskip("matplotlib")
    docs = Path(__file__).parents[2] / "docs"
    page = docs / "published-results.md"
    copy = tmp_path / "published"
    copy.mkdir()
    for file in (docs / "published").glob("*.jsonl"):
        (copy / file.name).write_bytes(file.read_bytes())
    write_page(EXPERIMENTS.values(), copy, tmp_path / page.name)
    assert (tmp_path / page.name).read_text() == page.read_text()


def test_two_standard_errors_are_binomial():
    found = compare(12.0, 10.0, 1000)
    p = 0.11
    assert found.standard_error == pytest.approx(100 * np.sqrt(p * (1 - p) / 1000))
    assert compare(11.9, 10.0, 1000).within
    assert not compare(12.1, 10.0, 1000).within
    assert compare(7.0, 10.0, 1000).lower
    assert not compare(9.0, 10.0, 1000).lower


def test_claims_are_weighed_by_all_sign_changes():
    # Wilcoxon's p-value is the share of all signs of the ranks with a sum as small: here by listing all of them.
    d = np.array([-3.0, -1.5, 0.5, -2.0, -4.0, -0.7])
    ranks = stats.rankdata(abs(d))
    signs = np.array(np.meshgrid(*[[0, 1]] * len(d))).reshape(len(d), -1)
    share = np.mean(ranks @ signs <= ranks[d > 0].sum())
    assert signed_ranks(d, "less") == pytest.approx(share)
    names = "abcdef"
    claim = lower_claim("", dict(zip(names, d, strict=True)), dict.fromkeys(names, 0.0))
    assert claim.verdict == ("supported" if share < 0.05 else "undecided")
    reverse = lower_claim("", dict.fromkeys(names, 0.0), dict(zip(names, d, strict=True)))
    assert reverse.verdict == ("not supported" if share < 0.05 else "undecided")
    assert lower_claim("", {"a": 1.0}, {"a": 1.0}).verdict == "undecided"


def test_a_quick_run_from_the_command_line_continues_after_a_kill(tmp_path, monkeypatch):
    testing = pytest.importorskip("typer.testing")
    from outputcodes.app.cli.app import app

    monkeypatch.setenv("COLUMNS", "200")
    command = ["reproduce", "jin-table6", "--quick", "--datasets", "wine,iris", "--out", str(tmp_path), "--resume"]
    answers = []
    for _ in range(2):
        done = testing.CliRunner().invoke(app, command)
        assert done.exit_code == 0, done.stderr
        assert "The probabilistic code is better than the deterministic one" in done.stdout
        lines = (tmp_path / "jin.jsonl").read_bytes().splitlines(keepends=True)
        found = [json.loads(line) for line in lines if b'"unit"' in line]
        answers.append({json.dumps(line["unit"]): line["found"] for line in found})
        # As a kill leaves it: the third measurement is half written.
        (tmp_path / "jin.jsonl").write_bytes(b"".join(lines[:3]) + lines[3][:20])
    assert len(answers[0]) == 4
    assert answers[0] == answers[1]


def test_the_command_names_its_experiments_and_mistakes(monkeypatch):
    testing = pytest.importorskip("typer.testing")
    from outputcodes.app.cli.app import app

    monkeypatch.setenv("COLUMNS", "200")
    listed = testing.CliRunner().invoke(app, ["reproduce", "--list"])
    assert all(name in listed.stdout for name in EXPERIMENTS)
    for words, told in (
        (["jin-table7"], "jin-table6"),
        (["jin-table6", "--datasets", "letter"], "letter"),
        (["jin-table6", "--set", "lambda"], "name=value"),
    ):
        done = testing.CliRunner().invoke(app, ["reproduce", *words])
        assert done.exit_code == 2
        assert told in done.stderr


def test_a_run_that_measured_nothing_claims_no_folder(tmp_path):
    with pytest.raises(RuntimeError, match="stopped"):
        run(experiment(broken, units=lambda data_sets, quick, power: [{"x": 2, "power": power}]), out=tmp_path)
    assert [r.found for r in run(experiment(), out=tmp_path, options={"power": 1})] == [0, 1, 2, 3]


def test_the_page_shows_what_is_measured_to_the_end_and_no_more(tmp_path):
    pytest.importorskip("matplotlib")

    def units(names):
        return lambda data_sets, quick, power: [{"data_set": s, "x": x, "power": power} for s in "ab" for x in names]

    def power_of(data_set, x, power):
        return x**power

    def shared(name, numbers):
        found = experiment(power_of, name=name, units=units(numbers), record="shared")
        return replace(found, title=name)

    run(shared("one", (1, 2)), out=tmp_path)
    lines = (tmp_path / "shared.jsonl").read_bytes().splitlines(keepends=True)
    page = tmp_path / "page.md"
    write_page([shared("one", (1, 2)), shared("other", (2, 3))], tmp_path, page)
    assert "## one" in page.read_text()
    assert "## other" not in page.read_text()
    # Without the last unit data set b is unfinished.
    (tmp_path / "shared.jsonl").write_bytes(b"".join(lines[:4]))
    write_page([shared("one", (1, 2))], tmp_path, page)
    assert "| 2 | 4 |" in page.read_text()
    assert page.read_text().count("| 1 | 1 |") == 1
