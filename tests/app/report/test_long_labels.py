"""Labels of any length: cut where they are shown, whole in a tooltip, and whole in the data."""

import numpy as np
import pytest
from sklearn.datasets import load_iris

from outputcodes import OutputCodeClassifier
from outputcodes.app.report import answers, explain, report_data, write_report
from outputcodes.learners import Ridge
from outputcodes.selection import Result, ranked

X, y = load_iris(return_X_y=True)
LABELS = np.array(["a" * 100_000, "a" * 50_000 + "b" + "a" * 49_999, "short"], dtype=object)


@pytest.fixture(scope="module")
def model():
    return OutputCodeClassifier(Ridge(), code="all-pairs").fit(X[::2], LABELS[y[::2]])


def test_explanations_are_short_and_predictions_whole(model):
    found = explain(model, X[60], truth=LABELS[2])
    assert str(found.classes[found.predicted]) == model.predict(X[[60]])[0]
    assert len(str(found)) < 1000
    assert len(found._repr_html_()) < 3000
    assert "a…a" in found.summary()


def test_a_report_of_long_labels_is_small_and_tells_them_apart(model):
    data = report_data(ranked([Result("ridge", fold_errors=[0.1])]), answers(model, X[1::2], LABELS[y[1::2]]))
    names = data["winner"]["classes"]
    assert max(map(len, names)) < 60
    assert len(set(names)) == 3
    assert set(data["winner"]["long_names"]) == {name for name in names if name != "short"}
    assert all(len(whole) == 2000 for whole in data["winner"]["long_names"].values())


@pytest.mark.parametrize("width", [1200, 360])
def test_a_page_of_long_labels_fits_the_window(browser, model, tmp_path, width):
    asked = answers(model, X[1::2], LABELS[y[1::2]])
    data = report_data(ranked([Result("ridge", fold_errors=[0.1])]), asked, title="long")
    path = write_report(data, tmp_path / "report.html")
    browser.open(path, width)
    assert browser.ask("document.documentElement.scrollWidth <= innerWidth")
    longest = "Math.max(...[...document.querySelectorAll('main td, main th')].map(cell => cell.textContent.length))"
    assert browser.ask(longest) < 150
    # The whole label, as far as a tooltip can show it, is in the title of the cell of a list and of a picture.
    assert browser.ask("[...document.querySelectorAll('.list td')].some(cell => cell.title.length === 2000)")
    assert browser.ask("[...document.querySelectorAll('svg title')].some(node => node.textContent.length === 2000)")
    assert not browser.complaints
