"""The page as text: self-contained, whole or not there, and safe whatever the names are."""

import json
import re
from html.parser import HTMLParser

import pytest

from outputcodes.app.report import render, report_data, write_report
from outputcodes.selection import Result, ranked

NASTY = [
    "<script>alert(1)</script>",
    "</script><img src=x onerror=alert(1)>",
    "<!--<script>",
    "{{data}} {{style}} \\1 $& \u2028\u2029 \"'",
    "snow ☃ and 表",
]


def nasty_data(title=NASTY[1]):
    rows = ranked(Result(name, name, name, fold_errors=[0.1, 0.2]) for name in NASTY)
    return report_data(rows, title=title, facts={NASTY[0]: NASTY[1]}, notes=NASTY)


class Reader(HTMLParser):
    def __init__(self):
        super().__init__()
        self.tags, self.scripts, self.title, self._inside = [], [], "", None

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self._inside = tag
        if tag == "script":
            self.scripts.append("")

    def handle_endtag(self, tag):
        self._inside = None

    def handle_data(self, data):
        if self._inside == "script":
            self.scripts[-1] += data
        elif self._inside == "title":
            self.title += data


@pytest.mark.parametrize("title", NASTY)
def test_names_are_text_and_never_markup(title):
    data = nasty_data(title)
    reader = Reader()
    reader.feed(render(data))
    assert reader.title == title
    assert len(reader.scripts) == 2
    assert json.loads(reader.scripts[0]) == data
    assert {tag for tag, _ in reader.tags}.isdisjoint({"img", "iframe", "object"})


def test_nothing_is_loaded_from_elsewhere():
    page = render(report_data(ranked([Result("SVC", fold_errors=[0.1])])))
    assert not re.search(r"https?:|//[a-z]|url\(|@import|\bsrc=|import\(|fetch\(|XMLHttp|innerHTML|eval\(", page)
    reader = Reader()
    reader.feed(page)
    assert [attrs["href"] for tag, attrs in reader.tags if tag == "link"] == ["data:,"]
    policies = [attrs["content"] for tag, attrs in reader.tags if "http-equiv" in attrs]
    assert policies
    assert policies[0].startswith("default-src 'none'")


def test_numbers_that_json_lacks_are_refused():
    with pytest.raises(ValueError, match="JSON"):
        render(nasty_data() | {"version": float("nan")})


def test_a_report_is_written_whole_or_not_at_all(tmp_path):
    path = tmp_path / "report.html"
    assert write_report(nasty_data(), path) == path
    whole = path.read_text("utf-8")
    assert whole == render(nasty_data())
    with pytest.raises(ValueError, match="JSON"):
        write_report(nasty_data() | {"version": float("nan")}, path)
    assert path.read_text("utf-8") == whole
    assert [one.name for one in tmp_path.iterdir()] == ["report.html"]
