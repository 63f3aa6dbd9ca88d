"""The comparison of a table, its plans and splits, against other ways to the same numbers."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_wine
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import balanced_accuracy_score, log_loss
from sklearn.model_selection import cross_val_predict, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from outputcodes import OutputCodeClassifier, selection
from outputcodes.app import tables
from outputcodes.app.run import Source, Splits, build, compare_table, comparing, cross_validation, make_plan, official
from outputcodes.selection import Cell, Measurement
from outputcodes.selection.measure import attempt


@pytest.fixture(scope="module")
def wine():
    X, y = load_wine(return_X_y=True, as_frame=True)
    table = tables.from_frame(X, y)
    return Source("wine", table, cross_validation(table.target, 4))


def timeless(row):
    """A result without the times, which no two runs share."""
    return replace(row, fit_seconds=None, predict_seconds=None, frontier=False)


@pytest.mark.parametrize("learner", ["ridge", "kernel-svm", "stumps"])
@pytest.mark.parametrize("metric", ["error", "log-loss"])
@pytest.mark.parametrize("n_splits", [4, 1])
def test_both_faces_have_equal_rows(wine, learner, metric, n_splits):
    """`selection.compare` on plain X and y, and the comparison of a table, of the same cells on the same splits."""
    table, pairs = wine.table, wine.splits.pairs[:n_splits]
    source = Source("wine", table, Splits(pairs, "some folds"))
    parts = {"codes": ["all-pairs", "sparse"], "decoders": ["hamming", "loss", "vote", "likelihood"]}
    ours = compare_table(source, make_plan(178, 3, learners=[learner], **parts), metric=metric).rows
    model = build(table.schema, learner, rows=len(pairs[0][0]))
    how = {"cv": pairs, "metric": metric, "preprocessing": model[0]}
    theirs = selection.compare(table.frame, table.target, {learner: model[-1].estimator}, **parts, **how)
    assert len(theirs) == 7
    distinct = selection.one_row_each(theirs)
    theirs = selection.ranked(distinct, metric=metric, test_to_train=theirs.test_to_train)
    assert [timeless(row) for row in ours] == [timeless(row) for row in theirs]
    assert sum(1 + len(row.also) for row in ours) == 7
    for one, other in zip(ours, theirs, strict=True):
        np.testing.assert_array_equal(one.losses, other.losses)
        assert (one.losses is None) == (n_splits > 1)


def test_rows_are_those_of_the_models_trained_alone(wine):
    plan = make_plan(178, 3, learners=["ridge"], codes=["all-pairs", "sparse"], decoders=["hamming", "likelihood"])
    X, y = wine.table.frame, wine.table.target.to_numpy()
    for row in compare_table(wine, plan).rows:
        model = build(wine.table.schema, "ridge", row.code, row.decoder)
        alone = cross_val_score(model, X, y, cv=wine.splits.pairs)
        assert row.fold_errors == pytest.approx(tuple(1 - alone))


def test_metrics_of_a_system_are_scikit_learns(wine):
    X, y = wine.table.frame, wine.table.target.to_numpy()
    model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
    P = cross_val_predict(model, X, y, cv=wine.splits.pairs, method="predict_proba")
    for metric in ("error", "balanced", "log-loss"):
        plan = make_plan(len(y), 3, learners=["maxent"], metric=metric)
        expected = {
            "error": [np.mean(P[test].argmax(axis=1) != y[test]) for _, test in wine.splits.pairs],
            "balanced": [1 - balanced_accuracy_score(y[t], P[t].argmax(axis=1)) for _, t in wine.splits.pairs],
            "log-loss": [log_loss(y[test], P[test]) for _, test in wine.splits.pairs],
        }[metric]
        np.testing.assert_allclose(compare_table(wine, plan, metric=metric).rows[0].fold_errors, expected, rtol=1e-10)


def test_log_loss_of_a_code_is_that_of_its_softmax(wine):
    train, test = wine.splits.pairs[0]
    X, y = StandardScaler().fit(wine.table.frame.iloc[train]), wine.table.target.to_numpy()
    X = X.transform(wine.table.frame)
    plan = make_plan(178, 3, learners=["ridge"], codes=["all-pairs"], decoders=["loss"], metric="log-loss")
    found = compare_table(wine, plan, metric="log-loss").rows[0].fold_errors[0]
    model = OutputCodeClassifier("ridge", code="all-pairs", probability="softmax", random_state=0)
    P = model.fit(X[train], y[train]).predict_proba(X[test])
    assert found == pytest.approx(log_loss(y[test], P), rel=1e-9)


def test_a_class_that_a_fold_does_not_train_on_keeps_its_row():
    X = pd.DataFrame({"x": np.arange(13.0)})
    y = pd.Series(list("aaaabbbbccccd"), name="class")
    source = Source("few", tables.from_frame(X, y), Splits([(np.arange(12), np.array([0, 5, 12]))], "one split"))
    plan = make_plan(13, 4, learners=["ridge", "maxent"], codes=["one-vs-all"], decoders=["hamming"])
    for metric, least in [("error", 1 / 3), ("log-loss", 1.0)]:
        rows = {row.learner: row for row in compare_table(source, plan, metric=metric).rows}
        assert rows["ridge"].columns == 4
        assert rows["maxent"].error >= least


def test_what_cannot_be_trained_is_said_and_the_rest_goes_on(wine):
    plan = make_plan(178, 3, learners=["ridge", "decision-tree"], codes=["complete", "all-pairs"], decoders=["dag"])
    outcome = compare_table(wine, plan)
    assert {row.code for row in outcome.rows} == {"", "all-pairs"}
    assert any("ridge complete" in note for note in outcome.notes)


@pytest.mark.parametrize(
    ("reason", "message"),
    [
        (ValueError("two\n lines"), "two lines"),
        (MemoryError(), "MemoryError"),
        (ZeroDivisionError("division by zero"), "ZeroDivisionError: division by zero"),
    ],
)
def test_whatever_breaks_is_reported(wine, monkeypatch, reason, message):
    def broken(*args, **options):
        raise reason

    monkeypatch.setattr(comparing, "build", broken)
    with pytest.raises(ValueError, match=f"Nothing could be compared. maxent: {message}"):
        compare_table(wine, make_plan(178, 3, learners=["maxent"]))
    assert attempt(Cell("maxent"), 2, broken) == Measurement("maxent", "", 2, failed=message)


def test_compiling_is_no_part_of_the_time(wine, monkeypatch):
    sizes = []
    train = OutputCodeClassifier.train

    def counted(self, X, y, **options):
        sizes.append(X.shape[0])
        return train(self, X, y, **options)

    monkeypatch.setattr(OutputCodeClassifier, "train", counted)
    monkeypatch.setattr(comparing, "_WARM", set())
    plan = make_plan(178, 3, learners=["ridge", "decision-tree"], codes=["all-pairs"], decoders=["loss"])
    halves = Source("wine", wine.table, official(["train", "test"] * 89))
    first = compare_table(halves, plan)
    assert sizes == [24, 89]
    assert first.computed == 2
    again = compare_table(halves, plan)
    assert sizes == [24, 89, 89]
    assert [row.fold_errors for row in first.rows] == [row.fold_errors for row in again.rows]
