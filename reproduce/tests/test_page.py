"""The page is a rendering of the files of results, and the committed page is the rendering of the committed files."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from reproduce import EXPERIMENTS, run_experiment, write_page
from reproduce.page import page_text, read_sections
from reproduce.tests.powers import experiment, fails_at_two

ROOT = Path(__file__).parents[2]
COMMITTED = ROOT / "docs" / "published"


def test_the_page_is_a_rendering_of_the_files_alone(tmp_path):
    folder, page = tmp_path / "results", tmp_path / "docs" / "page.md"
    run_experiment(experiment(), out=folder)
    write_page([experiment(), experiment(name="absent")], folder, page)
    first = page.read_text()
    assert "| 3 | 9 |" in first
    assert "- **supported**: all fits (it does)." in first
    assert "](../results/powers.svg)" in first
    assert "`make reproduce ARGS=powers`" in first
    assert "absent" not in first
    drawn = (folder / "powers.svg").read_bytes()
    write_page([experiment(measure=fails_at_two)], folder, page)
    assert page.read_text() == first
    assert (folder / "powers.svg").read_bytes() == drawn
    assert not list(tmp_path.rglob("*.part"))


def test_the_page_shows_the_data_sets_that_are_finished_and_no_others(tmp_path):
    def units(numbers):
        return lambda data_sets, quick, power: [{"data_set": s, "x": x, "power": power} for s in "ab" for x in numbers]

    def shared(name, numbers):
        found = experiment(lambda data_set, x, power: x**power, name=name, units=units(numbers), record="shared")
        return replace(found, title=name)

    run_experiment(shared("one", (1, 2)), out=tmp_path)
    lines = (tmp_path / "shared.jsonl").read_bytes().splitlines(keepends=True)
    text = page_text(read_sections([shared("one", (1, 2)), shared("other", (2, 3))], tmp_path), Path())
    assert "## one" in text
    assert "## other" not in text
    assert "Not measured yet" not in text
    # Without the last unit data set b is unfinished.
    (tmp_path / "shared.jsonl").write_bytes(b"".join(lines[:4]))
    text = page_text(read_sections([shared("one", (1, 2))], tmp_path), Path())
    assert "| 2 | 4 |" in text
    assert text.count("| 1 | 1 |") == 1
    assert "**Not measured yet: 1 of 4 units: b.**" in text


@pytest.fixture(scope="module")
def committed():
    return read_sections(EXPERIMENTS.values(), COMMITTED)


def test_the_committed_page_is_the_rendering_of_the_committed_results(committed):
    assert [section.experiment.name for section in committed] == list(EXPERIMENTS)
    page = COMMITTED.parent / "published-results.md"
    assert page_text(committed, Path(COMMITTED.name)) == page.read_text(encoding="utf-8")
    for section in committed:
        for picture in section.findings.pictures:
            assert (COMMITTED / f"{picture.stem}.svg").exists()


@pytest.mark.parametrize("name", ["allwein-table2", "allwein-table3"])
def test_every_committed_cell_that_is_higher_is_listed_with_an_explanation_or_as_not_examined(committed, name):
    (findings,) = (section.findings for section in committed if section.experiment.name == name)
    (table,) = (table for table in findings.tables if table.title.startswith("Cells higher"))
    higher = sum(" ↑" in cell for shown in findings.tables for row in shown.rows for cell in row[1:])
    assert len(table.rows) == higher
    assert [row[:3] for row in table.rows if not row[-1]] == []
