"""The page in a real browser: it sorts, filters and explains, asks nothing of the network and complains of nothing."""

import csv
from urllib.parse import unquote

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_digits
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.svm import SVC

from outputcodes import OutputCodeClassifier
from outputcodes.app.report import answers, report_data, write_report
from outputcodes.learners import Ridge
from outputcodes.selection import Result, compare, ranked

NASTY = "<script>alert(1)</script>"
X, y = load_digits(return_X_y=True)
X = X / 16
LABELS = np.array([NASTY, *"abcdefghi"])[y]
LOW, MIDDLE = slice(0, 500), slice(500, 900)


@pytest.fixture(scope="module")
def data():
    codes = ["one-vs-all", "all-pairs", "dense"]
    rows = list(compare(X[LOW], y[LOW], Ridge(), codes=codes, decoders=["hamming", "loss", "vote"], cv=3))
    rows.append(Result("SVC", fold_errors=[0.05, 0.04, 0.06], fit_seconds=0.2, size_bytes=10_000))
    rows.append(Result(NASTY, fold_errors=[0.5, 0.4, 0.6]))
    model = OutputCodeClassifier(Ridge(), code="dense", probability="softmax", random_state=0)
    winner = answers(model.fit(X[LOW], LABELS[LOW]), X[MIDDLE], LABELS[MIDDLE], images=X[MIDDLE].reshape(-1, 8, 8))
    return report_data(ranked(rows), winner, title="digits", notes=["One thing was left out."])


@pytest.fixture(scope="module")
def path(data, tmp_path_factory):
    return write_report(data, tmp_path_factory.mktemp("report") / "report.html")


def quiet(browser, path):
    return browser.requests == [path.as_uri()] and not browser.complaints


@pytest.mark.parametrize("width", [1200, 700, 360])
@pytest.mark.parametrize("dark", [False, True])
def test_every_section_is_drawn_and_fits_the_window(browser, path, width, dark):
    browser.open(path, width, dark)
    assert browser.texts("h2") == [
        "Ranking",
        "Time against error",
        "Decoders, code by code",
        "Codes, pair by pair",
        "The code",
        "Confusions",
        "Margins",
        "Reliability",
        "Explain one row",
        "Notes",
    ]
    assert browser.ask("document.documentElement.scrollWidth <= innerWidth")
    # Every picture has something in it, and no number in it went wrong.
    assert browser.ask("[...document.querySelectorAll('.picture')].every(p => p.querySelector('path, rect, circle'))")
    assert not browser.ask("document.getElementById('main').outerHTML.match(/NaN|undefined|Infinity/)")
    light = browser.ask("getComputedStyle(document.body).backgroundColor.match(/\\d+/g).every(v => v > 128)")
    assert light != dark
    assert quiet(browser, path)


def ranks(browser):
    return [int(text) for text in browser.texts("#ranked tbody td.of-rank")]


@pytest.mark.parametrize("key", ["rank", "error", "learner", "code", "columns", "p_value", "fit_seconds", "size_bytes"])
def test_headings_sort_up_and_down_with_the_unknown_last(browser, path, data, key):
    browser.open(path)
    values = {row["rank"]: row[key] for row in data["rows"]}
    known = [rank for rank, value in values.items() if value not in (None, "")]
    unknown = [rank for rank in values if rank not in known]
    browser.click("#ranked th[data-key=code] button")  # so that the next click is the first on its heading
    browser.click("#ranked th[data-key=decoder] button")
    for down, name in ((False, "ascending"), (True, "descending")):
        browser.click(f"#ranked th[data-key={key}] button")
        shown = ranks(browser)
        assert shown[len(known) :] == unknown
        assert [values[rank] for rank in shown[: len(known)]] == sorted((values[r] for r in known), reverse=down)
        assert browser.ask(f"document.querySelector('#ranked th[data-key={key}]').ariaSort") == name
        assert browser.ask("document.querySelectorAll('#ranked th[aria-sort]').length") == 1
    assert quiet(browser, path)


def test_words_and_choices_filter(browser, path, data):
    browser.open(path)
    assert ranks(browser) == [row["rank"] for row in data["rows"]]

    def type_in(text):
        browser.ask(f"search.value = {text!r}; search.dispatchEvent(new Event('input'))")

    type_in("PAIRS loss")
    assert ranks(browser) == [r["rank"] for r in data["rows"] if (r["code"], r["decoder"]) == ("all-pairs", "loss")]
    assert browser.texts(".shown") == [f"1 of {len(data['rows'])}"]
    type_in("")
    choice = "document.querySelector('select[data-key=code]')"
    browser.ask(f"{choice}.value = 'dense'; {choice}.dispatchEvent(new Event('change'))")
    assert ranks(browser) == [row["rank"] for row in data["rows"] if row["code"] == "dense"]
    href = browser.ask("document.querySelector('.save').href")
    saved = list(csv.DictReader(unquote(href.partition(",")[2]).splitlines()))
    for line, row in zip(saved, [row for row in data["rows"] if row["code"] == "dense"], strict=True):
        assert (line["decoder"], int(line["rank"])) == (row["decoder"], row["rank"])
        assert float(line["error"]) == row["error"]
    type_in("nothing is called that")
    assert ranks(browser) == []
    assert quiet(browser, path)


def test_a_row_is_picked_everywhere(browser, path, data):
    browser.open(path)
    row = next(row for row in data["rows"] if row["code"] == "dense")
    browser.click(f"#ranked tr[data-rank='{row['rank']}']")
    browser.ask("search.value = 'SVC'; search.dispatchEvent(new Event('input'))")
    browser.click("#ranked tbody tr button")
    browser.ask("search.value = ''; search.dispatchEvent(new Event('input'))")
    browser.click(f"#ranked tr[data-rank='{row['rank']}']")
    picked = browser.ask("[...document.querySelectorAll('.picked[data-rank]')].map(e => [e.tagName, e.dataset.rank])")
    assert sorted(picked) == sorted([tag, str(row["rank"])] for tag in ("TR", "circle", "DIV"))


def test_examples_are_explained_when_picked(browser, path, data):
    browser.open(path)
    classes, code = data["winner"]["classes"], data["winner"]["code"]
    examples = data["winner"]["examples"]
    for i in (0, len(examples) - 1, next(i for i, e in enumerate(examples) if e["wrong"])):
        example = examples[i]
        browser.click(f"tr[data-example='{i}'] button")
        text = browser.texts("#explanation")[0]
        assert example["summary"] in text
        assert ("Right." in text) == (example["truth"] == example["predicted"])
        pressed = "[...document.querySelectorAll('.list [aria-pressed=true]')].map(e => e.textContent)"
        assert browser.ask(pressed) == [str(example["name"])]
        # The dots are the bits that contradict the margins, over all codewords.
        signs = np.array([[{"+": 1, "-": -1, "0": 0}[sign] for sign in row] for row in code["matrix"]])
        dots = "document.querySelectorAll('#explanation .against').length"
        assert browser.ask(dots) == np.count_nonzero(signs * np.array(example["margins"]) < 0)
        ordered = browser.texts("#explanation .word text:nth-of-type(2)")
        best = classes[example["predicted"]]
        assert ordered[0].startswith(best[:8])
    browser.click(".chip[data-kind=missed]")
    shown = browser.ask("[...document.querySelectorAll('.list tbody tr:not([hidden])')].map(e => +e.dataset.example)")
    assert shown == [i for i, e in enumerate(examples) if e["truth"] != e["predicted"]]
    assert quiet(browser, path)


def test_names_are_shown_as_they_are(browser, path):
    browser.open(path)
    assert NASTY in browser.texts("#ranked td.of-learner")
    assert browser.ask("document.querySelector('#confusion th[title]').title") == NASTY
    assert browser.ask("document.scripts.length") == 2


SMALL = {
    "no winner": lambda: (None, {}),
    "a system without a code": lambda: (answers(SVC().fit(X[LOW], y[LOW]), X[MIDDLE], y[MIDDLE]), {}),
    "two classes": lambda: (_two_classes(), {"metric": "log-loss"}),
    "a long code": lambda: (_long_code(), {"tested": 100}),
}


def _two_classes():
    few = y < 2
    return answers(OutputCodeClassifier(Ridge()).fit(X[few], y[few]), X[few], y[few])


def _long_code():
    model = OutputCodeClassifier(Ridge(), code=np.random.default_rng(0).choice([-1, 1], size=(10, 300)))
    return answers(model.fit(X[LOW], y[LOW]), X[MIDDLE], y[MIDDLE])


@pytest.mark.parametrize("kind", SMALL)
def test_lesser_reports_are_whole_too(browser, tmp_path, kind):
    winner, options = SMALL[kind]()
    rows = ranked([Result("SVC", fold_errors=[0.1])], **options)
    path = write_report(report_data(rows, winner), tmp_path / "report.html")
    browser.open(path, 500)
    assert "Ranking" in browser.texts("h2")
    assert ("Explain one row" in browser.texts("h2")) == (winner is not None)
    assert browser.ask("document.documentElement.scrollWidth <= innerWidth")
    assert not browser.ask("document.getElementById('main').outerHTML.match(/NaN|undefined|Infinity/)")
    assert quiet(browser, path)


def test_losses_have_four_decimals_and_one_far_off_does_not_press_the_others(browser, tmp_path):
    errors = {"a": 0.5, "b": 0.61234567, "c": 16.0}
    rows = [
        Result(name, fold_errors=[error - 0.25, error + 0.25], fit_seconds=1.0 + error)
        for name, error in errors.items()
    ]
    path = write_report(report_data(ranked(rows, metric="log-loss")), tmp_path / "report.html")
    browser.open(path, 800)
    assert browser.texts("#ranked td.of-error b") == ["0.5000", "0.6123", "16.0000"]
    assert all(len(text.partition(".")[2]) == 4 for text in browser.texts("#ranked td.of-interval"))
    a, b, c = (
        browser.ask(f"+document.querySelector('#time .mark[data-rank=\"{rank}\"]').getAttribute('y')")
        for rank in (1, 2, 3)
    )
    # Distances are those of logarithms.
    ratio = (a - b) / (a - c)
    assert ratio == pytest.approx(np.log(0.61234567 / 0.5) / np.log(16 / 0.5), rel=1e-3)
    assert quiet(browser, path)


def test_names_that_begin_alike_stay_different(browser, tmp_path):
    few, names = y < 3, np.array([f"a-name-that-begins-alike-{end}" for end in ("one", "two", "six")])
    winner = answers(OutputCodeClassifier(Ridge()).fit(X[few], names[y[few]]), X[few], names[y[few]])
    data = report_data(ranked([Result("ridge", fold_errors=[0.1])]), winner, held_out="rows of the first fold")
    path = write_report(data, tmp_path / "report.html")
    browser.open(path, 800)
    shown = browser.ask("[...document.querySelectorAll('#code .code text')].map(t => t.firstChild.textContent)")
    assert [text[-4:] for text in shown if "…" in text] == ["-one", "-six", "-two"]
    assert all(len(text) == 14 for text in shown if "…" in text)
    assert f"of {few.sum()} rows of the first fold are wrong" in browser.texts("#confusion .lead")[0]


def test_one_split_and_the_features_of_a_row(browser, tmp_path):
    frame = pd.DataFrame({NASTY: X[:, 2], "shape": np.where(X[:, 3] > 0.5, NASTY, "round")})
    table = make_pipeline(make_column_transformer((OneHotEncoder(), ["shape"]), remainder="passthrough"), Ridge())
    model = OutputCodeClassifier(table, random_state=0).fit(frame[LOW], y[LOW])
    missed = model.predict(frame[MIDDLE]) != y[MIDDLE]
    rows = [
        Result("ridge", fold_errors=[missed.mean()], losses=missed),
        Result("never", fold_errors=[1.0], losses=np.ones(len(missed), dtype=bool)),
    ]
    data = report_data(ranked(rows), answers(model, frame[MIDDLE], y[MIDDLE]))
    path = write_report(data, tmp_path / "report.html")
    browser.open(path, 500)
    assert "McNemar's exact test" in browser.texts("#ranking .lead")[0]
    assert browser.texts("#ranked td.of-p_value") == ["best", "<.001"]
    example = data["winner"]["examples"][-1]
    browser.click(f"tr[data-example='{len(data['winner']['examples']) - 1}'] button")
    assert browser.texts("#explanation .values dt") == [NASTY, "shape"]
    assert browser.texts("#explanation .values dd") == [value for _, value in example["values"]]
    assert browser.ask("document.documentElement.scrollWidth <= innerWidth")
    assert quiet(browser, path)
