"""Every engine shows its progress when it is asked to, and its results do not depend on that."""

from __future__ import annotations

import re

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression

from outputcodes import OutputCodeClassifier
from outputcodes._ground import progress
from outputcodes.boosting import AdaBoostMH, AdaBoostMO, AdaBoostMR, AdaBoostOC, SmoothBoost
from outputcodes.direct import MulticlassSVC
from outputcodes.learners import LEARNERS, KernelSVM, LinearSVM, PerColumn
from outputcodes.learners.kernel import columns as kernel_columns
from outputcodes.selection import BoundSearch, compare

X, y = load_iris(return_X_y=True)
LINE = re.compile(r"^(.*): (\d+) of (\d+) (\w+|%), [\dsmin h.]+(, about [\dsmin h.]+ left)?$")


@pytest.fixture(autouse=True)
def _impatient(monkeypatch):
    """Fast work, too, prints a line for each tenth of it."""
    monkeypatch.setattr(progress, "OFTEN", 0.0)


def lines_of(text):
    """What each line names, how much is done of how much, and the unit; every line has the form of a report."""
    found = [LINE.match(line) for line in text.splitlines()]
    assert all(found), text
    return [(match[1], int(match[2]), int(match[3]), match[4]) for match in found]


def check(model, X, capsys):
    """Fit with and without reports: the last says that all is done, nothing else is printed, the scores are equal."""
    model.set_params(verbose=1).fit(X, y)
    out, err = capsys.readouterr()
    assert out == ""
    reports = lines_of(err)
    scores = model.decision_function(X)
    model.set_params(verbose=0).fit(X, y)
    assert capsys.readouterr() == ("", "")
    np.testing.assert_array_equal(model.decision_function(X), scores)
    assert reports
    assert all(done <= total for _, done, total, _ in reports)
    assert reports[-1][1] == reports[-1][2] > 0
    return reports


@pytest.mark.parametrize("name", LEARNERS)
def test_every_learner_reports_its_columns_or_rounds(name, capsys):
    reports = check(OutputCodeClassifier(name, code="all-pairs", random_state=0), X, capsys)
    assert {(name, unit) for name, _, _, unit in reports} <= {("training", "columns"), ("training", "rounds")}


@pytest.mark.parametrize(
    ("learner", "X"),
    [
        (LinearSVM(), sparse.csr_array(X)),
        (LinearSVM(loss="hinge"), X),
        (LogisticRegression(max_iter=1000), X),
    ],
    ids=["sparse", "hinge", "foreign"],
)
def test_every_solver_reports(learner, X, capsys):
    check(OutputCodeClassifier(learner, code="all-pairs", random_state=0), X, capsys)


def test_columns_of_large_kernel_problems_report_between_working_sets(capsys, monkeypatch):
    monkeypatch.setattr(kernel_columns, "is_small", lambda gram, n_rows: False)
    monkeypatch.setattr(kernel_columns, "FEW_ROWS", 100)
    for code in ("all-pairs", "one-vs-all"):
        check(OutputCodeClassifier(KernelSVM(), code=code, random_state=0), X, capsys)


def test_held_out_margins_are_reported_fold_by_fold(capsys):
    model = OutputCodeClassifier("stumps", code="one-vs-all", probability="softmax", random_state=0)
    names = dict.fromkeys(name for name, *_ in check(model, X, capsys))
    assert list(names) == ["training", *(f"held-out margins, fold {f} of 3" for f in (1, 2, 3))]


@pytest.mark.parametrize("booster", [AdaBoostMH, AdaBoostMO, AdaBoostMR, AdaBoostOC, SmoothBoost])
def test_every_booster_reports_its_rounds(booster, capsys):
    reports = check(booster(n_rounds=20, random_state=0), X, capsys)
    assert {(name, unit) for name, _, _, unit in reports} == {("training", "rounds")}


def test_rounds_that_stopped_early_are_counted_as_they_are(capsys):
    AdaBoostMH(n_rounds=10_000, validation_fraction=0.3, n_iter_no_change=2, random_state=0, verbose=1).fit(X, y)
    *_, last = lines_of(capsys.readouterr().err)
    assert last[1] == last[2] < 10_000


@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_the_multiclass_svm_reports_how_near_it_is(kernel, capsys):
    reports = check(MulticlassSVC(kernel=kernel, C=10, gamma=0.1), X, capsys)
    assert reports[-1] == ("MulticlassSVC", 100, 100, "%")


def test_a_learner_that_is_asked_alone_reports_alone(capsys):
    OutputCodeClassifier(PerColumn(LogisticRegression(max_iter=1000), verbose=1), code="all-pairs").fit(X, y)
    assert lines_of(capsys.readouterr().err)[-1] == ("training", 3, 3, "columns")


def test_a_comparison_reports_its_trainings_and_not_their_columns(capsys):
    found = compare(X, y, ["ridge", "logistic"], ["all-pairs"], ["loss"], 3, verbose=1)
    reports = lines_of(capsys.readouterr().err)
    assert {unit for *_, unit in reports} == {"trainings"}
    assert reports[-1] == ("comparison", 6, 6, "trainings")
    assert "comparison: logistic all-pairs" in {name for name, *_ in reports}
    silent = compare(X, y, ["ridge", "logistic"], ["all-pairs"], ["loss"], 3)
    assert capsys.readouterr() == ("", "")
    assert [row.fold_errors for row in silent] == [row.fold_errors for row in found]


def test_a_search_reports_its_candidates(capsys):
    search = BoundSearch(OutputCodeClassifier(KernelSVM(bias="folded")), {"estimator__C": [0.1, 1.0, 10.0]}, verbose=1)
    search.fit(X, y)
    assert lines_of(capsys.readouterr().err)[-1] == ("BoundSearch", 3, 3, "candidates")
