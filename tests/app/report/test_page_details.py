"""The page of merged rows and of features: decoders are found by every name, and features beside the columns."""

from sklearn.datasets import load_iris

from outputcodes import OutputCodeClassifier
from outputcodes.app.report import answers, report_data, write_report
from outputcodes.selection import Result, ranked

iris = load_iris(as_frame=True)
X, y = iris.data, iris.target_names[iris.target]


def test_merged_rows_and_features_on_the_page(browser, tmp_path):
    model = OutputCodeClassifier("ridge", code="all-pairs").fit(X[::2], y[::2])
    rows = [
        Result("ridge", "dense", "loss", 3, fold_errors=[0.1, 0.2], also=("linear", "hinge")),
        Result("ridge", "dense", "hamming", 3, fold_errors=[0.3, 0.2]),
        Result("svc", fold_errors=[0.3, 0.3]),
    ]
    data = report_data(ranked(rows), answers(model, X[1::2], y[1::2]))
    path = write_report(data, tmp_path / "report.html")
    browser.open(path)
    assert browser.texts("#ranked td.of-decoder") == ["loss = linear, hinge", "hamming", ""]
    choice = "document.querySelector('select[data-key=decoder]')"
    for name, found in (("hinge", [1]), ("hamming", [2]), ("", [1, 2, 3])):
        browser.ask(f"{choice}.value = {name!r}; {choice}.dispatchEvent(new Event('change'))")
        assert [int(text) for text in browser.texts("#ranked tbody td.of-rank")] == found
    browser.ask("search.value = 'linear'; search.dispatchEvent(new Event('input'))")
    assert browser.texts("#ranked tbody td.of-rank") == ["1"]
    example = data["winner"]["examples"][0]
    assert example["features"]
    browser.click("tr[data-example='0'] button")
    assert browser.texts("#explanation .features td:first-child") == [name for name, _ in example["features"]]
    assert browser.ask("document.documentElement.scrollWidth <= innerWidth")
    assert not browser.complaints
