"""What notebooks show: results, reports and explanations as HTML in which no name is markup."""

import io
import re
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.datasets import load_iris
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from outputcodes import OutputCodeClassifier
from outputcodes.app.report import answers, explain, render, report_data
from outputcodes.app.report.values import MOST_FEATURES, row_values
from outputcodes.selection import Result, ranked
from outputcodes.selection.html_table import MOST_ROWS, html_table
from outputcodes.selection.table import html_ranking, ranking_columns

NASTY = '<b onclick="x">&'
iris = load_iris()


class Read(HTMLParser):
    """The cells of tables, the tags, and the attributes of a page."""

    def __init__(self, page):
        super().__init__()
        self.tags, self.rows, self.attributes = [], [], {}
        self.feed(page)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.attributes |= {(tag, name): value for name, value in attributes}
        if tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_data(self, text):
        if self.tags[-1:] in (["td"], ["th"]):
            self.rows[-1][-1] += text


def test_the_ranking_as_a_table():
    rows = ranked([Result(NASTY, fold_errors=[0.1, 0.2]), Result("tree", "dense", "loss", 9, fold_errors=[0.25, 0.38])])
    found = Read(html_ranking(rows, title=NASTY, notes=[NASTY]))
    assert found.rows[0] == ["#", "learner", "code", "decoder", "L", "error %", "± 95 %", "p"]
    assert [row[1] for row in found.rows[1:]] == [NASTY, "tree"]
    assert [row[4:6] for row in found.rows[1:]] == [["", "15.00"], ["9", "31.50"]]
    assert found.rows[2][7] == f"{rows[1].p_value:.3f}" == "0.099"
    assert "b" not in found.tags
    assert Read(rows._repr_html_()).rows == found.rows


def test_terminal_notebook_and_page_show_the_same_cells():
    pytest.importorskip("rich")
    from rich.console import Console

    from outputcodes.app.cli.compare import ranking_table

    rows = ranked(
        [
            Result("svc", fold_errors=[0.1, 0.2], fit_seconds=0.5, predict_seconds=0.25, size_bytes=123_456),
            Result("tree", "dense", "loss", 9, fold_errors=[0.25, 0.37], fit_seconds=1e-5, size_bytes=9),
        ]
    )
    columns = ranking_columns(rows)
    cells = [[column.heading for column in columns], *([column.text(row) for column in columns] for row in rows)]
    assert Read(rows._repr_html_()).rows == cells
    data = report_data(rows)
    assert [[column["heading"] for column in data["columns"]], *data["cells"]] == cells
    console = Console(width=200, record=True, file=io.StringIO())
    console.print(ranking_table(rows, "", 200))
    printed = [line.split() for line in console.export_text().splitlines() if re.match(r" *\*?[#12] ", line)]
    assert [" ".join(line).lstrip("*") for line in printed] == [" ".join(" ".join(row).split()) for row in cells]


def test_a_log_loss_is_no_share():
    row = Result("maxent", fold_errors=[1.23456, 1.23456])
    assert Read(ranked([row], metric="log-loss")._repr_html_()).rows[1][2] == "1.2346"
    assert Read(ranked([row], metric="balanced")._repr_html_()).rows[0][2] == "balanced %"


def test_long_tables_are_cut_and_say_so():
    page = html_table(["x"], [[i] for i in range(MOST_ROWS + 3)])
    assert len(Read(page).rows) == 1 + MOST_ROWS
    assert "3 more rows." in page


def test_a_report_is_shown_as_its_page():
    data = report_data(ranked([Result(NASTY, fold_errors=[0.1])]), title=NASTY)
    found = Read(data._repr_html_())
    assert found.tags == ["iframe"]
    assert found.attributes["iframe", "srcdoc"] == render(data)


def test_an_explanation_has_the_features_as_they_were_given():
    frame = pd.DataFrame(iris.data, columns=[NASTY, "b", "c", "d"])
    model = make_pipeline(StandardScaler(), OutputCodeClassifier("ridge", random_state=0)).fit(frame, iris.target)
    found = explain(model, frame.iloc[[70]], 1)
    expected = list(zip(frame.columns, (f"{value:g}" for value in iris.data[70]), strict=True))
    assert found.values == expected
    shown = Read(found._repr_html_())
    assert [tuple(row) for row in shown.rows[-4:]] == expected
    order = np.argsort(-found.scores)
    assert [row[0] for row in shown.rows[1:4]] == [str(model.classes_[c]) for c in order]
    assert "b" not in shown.tags
    held = report_data(ranked([Result(fold_errors=[0.1])]), answers(model, frame, iris.target))["winner"]["examples"]
    for example in held:
        assert [value for _, value in example["values"]] == [f"{value:g}" for value in iris.data[example["name"]]]
    pictures = answers(model, frame, iris.target, images=iris.data.reshape(-1, 2, 2))
    assert report_data(ranked([Result(fold_errors=[0.1])]), pictures)["winner"]["examples"][0]["values"] == []


@pytest.mark.parametrize(
    ("X", "expected"),
    [
        (pd.DataFrame({"a": [1.5], "b": ["red"], "c": [pd.Timestamp("2026-01-02")]}), ["1.5", "red", "2026-01-02"]),
        (pd.DataFrame({"a": [None], "b": [pd.NaT], "c": [pd.NA]}), ["missing"] * 3),
        (np.array([[3, 12345678]]), ["3", "12345678"]),
        ([[0.5, 2.0]], ["0.5", "2"]),
        (["some text"], ["some text"]),
    ],
)
def test_rows_of_every_kind_in_words(X, expected):
    found = row_values(X, 0)
    assert [value for _, value in found] == expected
    if isinstance(X, pd.DataFrame):
        assert [name for name, _ in found] == list(X.columns)


def test_many_features_are_cut_and_sparse_rows_tell_what_is_not_zero():
    wide = np.arange(100.0)[None]
    assert len(row_values(wide, 0)) == MOST_FEATURES + 1
    assert row_values(wide, 0)[-1] == (f"{100 - MOST_FEATURES} other features", "…")
    thin = sparse.csr_array(([2.0, 3.0], ([0, 0], [5, 90])), shape=(1, 100))
    assert row_values(thin, 0) == [("x5", "2"), ("x90", "3")]
