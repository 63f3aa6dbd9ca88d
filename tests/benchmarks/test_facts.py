"""Pages made of results files: values, tables, where they come from, and targets, by hand on made-up files."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
sys.path += [str(ROOT / "benchmarks")]

import facts  # noqa: E402
import render  # noqa: E402
from targets import TARGETS, Target  # noqa: E402


@pytest.fixture
def made_up(monkeypatch, tmp_path):
    """Two files, one of them from before dates were recorded."""
    rows = [
        {"data": "a", "ratio": 2.0, "error": 0.25, "leaves": 1234},
        {"data": "b", "ratio": 8.0, "error": 0.5, "leaves": 7, "more": "x"},
        {"grows with": "n", "exponent": 1.256},
    ]
    (tmp_path / "old.json").write_text(json.dumps({"machine": {}, "rows": rows}))
    run = {"commit": "abc1234", "date": "2026-11-16", "load average before": 0.25, "minutes": 1.5}
    (tmp_path / "new.json").write_text(json.dumps({"machine": {}, "run": run, "rows": rows}))
    monkeypatch.setattr(facts, "RESULTS", tmp_path)
    facts.record.cache_clear()
    yield
    facts.record.cache_clear()


def test_values_and_summaries(made_up):
    assert facts.value("old", "ratio", ".1f", data="b") == "8.0"
    assert facts.value("old", "exponent", ".2f") == "1.26"
    assert facts.span("old", "ratio") == "2 to 8"
    assert facts.geometric_mean("old", "ratio") == "4"
    assert facts.mean("old", "error") == "0.375"
    assert facts.lower("old", "error", "ratio") == "a, b"
    assert facts.lower("old", "ratio", "error") == "none"
    assert facts.value("absent", "ratio") == facts.span("absent", "ratio") == "not measured yet"
    with pytest.raises(ValueError, match="2 rows have 'ratio'"):
        facts.value("old", "ratio")


def test_a_table_has_all_columns_of_the_rows_that_have_one_of_them(made_up):
    assert facts.table("old", "ratio").splitlines() == [
        "| data | ratio | error | leaves | more |",
        "| --- | --- | --- | --- | --- |",
        "| a | 2 | 0.25 | 1234 | – |",
        "| b | 8 | 0.5 | 7 | x |",
    ]
    assert facts.table("absent") == "*Not measured yet: `make bench ARGS=absent`.*"


def test_the_origin_is_stated_also_where_it_was_not_recorded(made_up):
    assert facts.origin("old") == "Measured before dates were recorded (`results/old.json`)."
    assert facts.origin("new", "absent") == (
        "Measured on 2026-11-16 at abc1234, load average before 0.25 (`results/new.json`)."
    )
    assert facts.origin("absent") == "Not measured yet."


def test_targets_are_met_or_missed(made_up, monkeypatch):
    targets = [Target("old", "ratio", least=5), Target("old", "error", most=0.5), Target("absent", "ratio", least=1)]
    monkeypatch.setattr(facts, "TARGETS", targets)
    assert facts.targets("old").splitlines() == [
        "- Target: ratio at least 5: **missed** in 1 of 2: a: 2.",
        "- Target: error at most 0.5: met.",
    ]
    assert facts.targets("absent") == "- Target: ratio at least 1: not measured yet."


@pytest.mark.parametrize(
    ("most", "text"), [(1e-4, "0.0001"), (1 / 3, "0.333"), (0.1, "0.1"), (2.0, "2"), (1000, "1000")]
)
def test_a_bound_is_written_with_three_digits(most, text):
    assert str(Target("any", "ratio", most=most)) == f"ratio at most {text}"


def test_every_target_is_on_the_page():
    template = (ROOT / "benchmarks" / "RESULTS.template.md").read_text(encoding="utf-8")
    assert {target.results for target in TARGETS} == set(re.findall(r'targets\("(\w+)"\)', template))


def test_every_results_file_is_on_the_page_with_its_origin():
    template = (ROOT / "benchmarks" / "RESULTS.template.md").read_text(encoding="utf-8")
    named = {name for call in re.findall(r"origin\((.*?)\)", template) for name in re.findall(r'"(\w+)"', call)}
    assert {path.stem for path in facts.RESULTS.glob("*.json")} <= named


def test_paragraphs_are_wrapped_after_the_numbers_are_in(made_up):
    template = (
        "# A {{ value('old', 'exponent') }}\n\n" + "word " * 40 + "{{ value('old', 'exponent', '.2f') }}\n\n| a |\n"
    )
    heading, paragraph, table = render.rendered(template).split("\n\n")
    assert (heading, table) == ("# A 1.26", "| a |\n")
    assert max(map(len, paragraph.splitlines())) <= render.WIDTH
    assert paragraph.split() == ["word"] * 40 + ["1.26"]
