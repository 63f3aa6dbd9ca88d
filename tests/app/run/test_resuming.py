"""A run and the next one in its folder: the lock, failures that are tried again, and which rows were missed."""

import numpy as np
import pytest
from scipy.stats import binomtest, ttest_1samp
from sklearn.datasets import load_wine
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from outputcodes.app import persistence, tables
from outputcodes.app.run import Source, compare_table, comparing, cross_validation, make_plan, official
from outputcodes.selection.journal import Journal, JournalError
from outputcodes.selection.measure import measure


@pytest.fixture(scope="module")
def wine():
    X, y = load_wine(return_X_y=True, as_frame=True)
    return tables.from_frame(X[["ash", "alcalinity_of_ash", "magnesium"]], y)


@pytest.fixture
def halves(wine):
    rows = np.random.default_rng(0).permutation(len(wine.target))
    return Source("wine", wine, official(np.where(rows < 90, "train", "test")))


def test_the_folder_is_held_until_report_and_model_are_written(halves, tmp_path, monkeypatch):
    write = comparing.write

    def meanwhile(*args, **options):
        with pytest.raises(JournalError, match="another run"):
            Journal(tmp_path / "results.jsonl", {}, resume=True)
        write(*args, **options)

    monkeypatch.setattr(comparing, "write", meanwhile)
    compare_table(halves, make_plan(178, 3, learners=["decision-tree"]), out=tmp_path)
    assert (tmp_path / "model.skops").exists()


def test_a_failure_is_reported_again_and_one_that_is_gone_is_repaired(wine, tmp_path, monkeypatch):
    source = Source("wine", wine, cross_validation(wine.target, 3))
    plan = make_plan(178, 3, learners=["maxent", "decision-tree", "ridge"], codes=["complete"], decoders=["loss"])
    short_of_memory = True

    def measured(cell, model, X, y, train, test, **options):
        if short_of_memory and cell.learner == "decision-tree" and 0 in test:
            raise MemoryError("no memory")
        if cell.learner == "ridge":
            raise ValueError("never")
        return measure(cell, model, X, y, train, test, **options)

    monkeypatch.setattr(comparing, "measure", measured)
    first = compare_table(source, plan, out=tmp_path)
    assert {row.learner for row in first.rows} == {"maxent"}
    assert {"decision-tree: no memory", "ridge complete: never"} <= set(first.notes)
    before = (tmp_path / "results.jsonl").read_bytes()
    again = compare_table(source, plan, out=tmp_path, resume=True)
    assert again.notes == first.notes
    assert (tmp_path / "results.jsonl").read_bytes() == before
    report = (tmp_path / "report.html").read_text()
    short_of_memory = False
    last = compare_table(source, plan, out=tmp_path, resume=True)
    assert {row.learner for row in last.rows} == {"maxent", "decision-tree"}
    assert (tmp_path / "results.jsonl").read_bytes().startswith(before)
    # The report of the run without the tree is not that of this one.
    assert "no memory" in report
    assert "no memory" not in (tmp_path / "report.html").read_text()
    alone = compare_table(source, plan)
    assert {row.learner: row.fold_errors for row in last.rows} == {row.learner: row.fold_errors for row in alone.rows}


def test_on_one_split_p_is_that_of_the_rows_which_one_of_two_misses(halves, tmp_path):
    plan = make_plan(178, 3, learners=["maxent", "decision-tree"])
    rows = {row.learner: row for row in compare_table(halves, plan, out=tmp_path).rows}
    ((train, test),) = halves.splits.pairs
    X, y = halves.table.frame, halves.table.target.to_numpy()
    models = {
        "maxent": make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000)),
        "decision-tree": DecisionTreeClassifier(random_state=0),
    }
    missed = {name: m.fit(X.iloc[train], y[train]).predict(X.iloc[test]) != y[test] for name, m in models.items()}
    for name, row in rows.items():
        np.testing.assert_array_equal(row.losses, missed[name])
        interval = binomtest(int(missed[name].sum()), len(test)).proportion_ci(0.95, method="wilson")
        assert row.interval == pytest.approx(list(interval))
    b, c = ((missed["maxent"] & ~missed["decision-tree"]).sum(), (missed["decision-tree"] & ~missed["maxent"]).sum())
    assert b + c > 5
    best, other = sorted(rows.values(), key=lambda row: row.rank)
    assert best.p_value is None
    assert other.p_value == pytest.approx(binomtest(int(b), int(b + c)).pvalue)
    # Read again from the file they are the same, and the report has the same p-value.
    resumed = compare_table(halves, plan, out=tmp_path, resume=True)
    assert resumed.computed == 0
    assert resumed.rows[1].p_value == other.p_value
    assert f'"p_value":{other.p_value!r}' in (tmp_path / "report.html").read_text()
    assert '"losses":' not in (tmp_path / "report.html").read_text()


@pytest.mark.parametrize("metric", ["balanced", "log-loss"])
def test_other_metrics_on_one_split_are_means_over_rows(halves, metric, tmp_path):
    plan = make_plan(178, 3, learners=["maxent", "decision-tree"], metric=metric)
    first, second = compare_table(halves, plan, metric=metric, out=tmp_path).rows
    n = len(first.losses)
    assert n == len(halves.splits.pairs[0][1])
    for row in (first, second):
        assert row.losses.mean() == pytest.approx(row.error, rel=1e-6)
        half = ttest_1samp(row.losses, 0).confidence_interval(0.95).high - row.losses.mean()
        assert row.interval == pytest.approx([max(row.error - half, 0), row.error + half], rel=1e-6)
    d = second.losses - first.losses
    assert second.p_value == pytest.approx(ttest_1samp(d, 0).pvalue)
    assert compare_table(halves, plan, metric=metric, out=tmp_path, resume=True).rows[1].p_value == second.p_value


def test_a_notebook_shows_the_ranking_and_the_model_file_the_winner(halves, tmp_path):
    outcome = compare_table(
        Source("<wine>", halves.table, halves.splits), make_plan(178, 3, learners=["maxent"]), out=tmp_path
    )
    shown = outcome._repr_html_()
    assert "&lt;wine&gt;: 178 rows, 3 classes, 90 rows for training, 88 for the test" in shown
    assert f"<td>{100 * outcome.rows[0].error:.2f}</td>" in shown
    assert persistence.describe(tmp_path / "model.skops").summary["error"] == outcome.rows[0].error
