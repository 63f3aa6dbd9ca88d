"""Every measured number in README.md, docs/ and RESULTS.md is what the files of results say."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
sys.path += [str(ROOT / "docs"), str(ROOT / "benchmarks")]

import numbers_of_pages as numbers  # noqa: E402
import render  # noqa: E402

# Pages that are rendered as a whole, and the one that is about files.
RENDERED = {"published-results.md", "architecture.md"}
TEMPLATE = "benchmarks/RESULTS.template.md"
PAGES = [
    "README.md",
    TEMPLATE,
    *(f"docs/{path.name}" for path in sorted((ROOT / "docs").glob("*.md")) if path.name not in RENDERED),
]
# What looks like a measurement: shares, times, sizes, decimals, and numbers alone in a cell of a table.
MEASUREMENT = re.compile(
    r"\d+(?:[.,]\d+)*(?:\s*%|\s+(?:times|s|ms|seconds?|minutes?|hours?|MB|GB|points|of \d+)\b)"
    r"|\d+\.\d+|(?<=\| )\d[\d.,]+(?= \|)"
)
# Versions, settings and thresholds that are chosen, not measured.
DEFINITIONS = {
    "README.md": ["Python 3.11+"],
    "docs/first-hour.md": ["Python 3.11 or later"],
    "docs/theory.md": ["k - 1 times"],
    TEMPLATE: [
        "would take 1.6 GB",
        "cache of 200 MB",
        "with 1,000 MB",
        "γ = 0.02",
    ],
}


def text_of(page: str) -> str:
    return (ROOT / page).read_text(encoding="utf-8")


def blanked(text: str, pattern: str) -> str:
    return re.sub(pattern, lambda found: re.sub(r"\S", " ", found[0]), text, flags=re.DOTALL)


def unexplained(page: str, text: str) -> list[str]:
    """Measurements that no entry fills in and no definition explains, each with the words around it."""
    for entry in numbers.NUMBERS:
        if entry.page == page:
            place = numbers.found(entry, text)
            for group in range(1, len(place.groups()) + 1):
                start, end = place.span(group)
                text = text[:start] + re.sub(r"\S", " ", text[start:end]) + text[end:]
    # Code is run, expressions are evaluated, and addresses are no prose.
    for pattern in (r"```.*?```", r"\{\{.*?\}\}", r"`[^`\n]*`", r"\]\([^)]*\)"):
        text = blanked(text, pattern)
    for words in DEFINITIONS.get(page, []):
        assert words in text, f"{page} does not say {words!r} any more: take it out of the list."
        text = text.replace(words, re.sub(r"\S", " ", words))
    return [text[max(0, one.start() - 40) : one.end() + 20] for one in MEASUREMENT.finditer(text)]


@pytest.mark.parametrize("page", dict.fromkeys(entry.page for entry in numbers.NUMBERS))
def test_numbers_are_what_the_files_say(page):
    text = text_of(page)
    assert numbers.filled(page, text) == text, f"Run make docs: {page} has other numbers than the files of results."


@pytest.mark.parametrize("page", PAGES)
def test_no_measured_number_is_without_a_source(page):
    assert unexplained(page, text_of(page)) == []


def test_a_wrong_number_is_corrected_and_a_new_one_is_found():
    text = text_of("README.md")
    place = numbers.found(numbers.NUMBERS[0], text)
    wrong = text[: place.start(1)] + "99%" + text[place.end(1) :]
    assert numbers.filled("README.md", wrong) == text
    assert unexplained("README.md", text + "\nIt is 37 times as fast and takes 1.5 hours.\n") != []
    with pytest.raises(ValueError, match="0 places match"):
        numbers.filled("README.md", "")


def test_the_results_page_is_the_rendering_of_its_template():
    assert text_of("benchmarks/RESULTS.md") == render.page(), "Run python benchmarks/render.py."
