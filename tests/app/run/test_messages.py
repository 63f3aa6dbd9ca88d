"""What a comparison says: damaged results, fewer folds than usual, failures once, columns without errors."""

from __future__ import annotations

import json
import warnings

import numpy as np
import pandas as pd
import pytest

from outputcodes._ground import progress
from outputcodes.app import tables
from outputcodes.app.cli._common import reported_errors
from outputcodes.app.run import (
    Source,
    compare_table,
    comparing,
    cross_validation,
    fit_file,
    inspect_file,
    make_plan,
    open_source,
    predict_file,
)
from outputcodes.selection import JournalError

pytest.importorskip("skops")


@pytest.fixture
def finished(tmp_path):
    """A comparison in a folder, and how to continue it."""
    source, plan = open_source("iris", cv=3), make_plan(150, 3, learners=["ridge", "maxent"], codes=["all-pairs"])

    def again():
        return compare_table(source, plan, out=tmp_path, resume=True)

    again()
    return tmp_path / "results.jsonl", again


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda line: line["decoders"][""].update(error=-5),
            "an error of -5 is impossible: it must be between 0 and 1",
        ),
        (lambda line: line.update(fit_seconds=1e999), "a time of inf seconds is impossible"),
        (lambda line: line.pop("decoders"), "KeyError: 'decoders'"),
        (lambda line: line.update(colour="red"), "TypeError: .*unexpected keyword argument 'colour'"),
        (lambda line: line["decoders"].update(loss=3), "TypeError"),
    ],
)
def test_a_damaged_line_is_refused_by_its_number(finished, change, message):
    path, again = finished
    lines = path.read_text().splitlines()
    number = next(i for i, line in enumerate(lines) if i and '"learner": "maxent"' in line)
    line = json.loads(lines[number])
    change(line)
    path.write_text("\n".join([*lines[:number], json.dumps(line), *lines[number + 1 :], ""]))
    remedy = "Remove this line to measure it again, or write to another folder"
    with pytest.raises(JournalError, match=f"results.jsonl, line {number + 1}, is damaged: .*{message}.*{remedy}"):
        again()


def test_a_line_that_was_cut_off_is_measured_again_and_reported(finished):
    path, again = finished
    path.write_bytes(path.read_bytes()[:-10])
    outcome = again()
    assert (outcome.computed, outcome.notes[0]) == (
        1,
        f"{path}: the last line was cut off when the run ended; it is measured again.",
    )
    # The report and the model of that run are still the right ones.
    assert again().notes == outcome.notes[1:]


def test_fewer_folds_than_usual_are_reported_with_the_reason():
    assert open_source("iris").splits.notes == ()
    assert open_source("iris", quick=True, cv=5).splits.notes == ()
    assert open_source("iris", quick=True).splits.notes == (
        "5 folds in place of 10, as the plan is quick (--quick); --cv sets another number.",
    )


def test_the_advice_on_folds_can_be_followed():
    with pytest.raises(ValueError, match=r"^cv=5 is more than the 3 rows of the largest class; use --cv 3 or less.$"):
        cross_validation(["a"] * 3 + ["b"] * 2, 5)
    with pytest.raises(ValueError, match=r"^Every class has one row"):
        cross_validation(["a", "b"], 2)
    (note,) = cross_validation(["a"] * 3 + ["b" * 100_000], 3).notes
    assert len(note) < 200


def test_two_folds_are_said_to_test_hardly_anything():
    frame = pd.DataFrame({"x": np.arange(20.0)})
    table = tables.from_frame(frame, pd.Series(["a", "b"] * 10))
    plan = make_plan(20, 2, learners=["maxent", "decision-tree"])
    for cv, said in ((2, True), (3, False)):
        notes = compare_table(Source("t", table, cross_validation(table.target, cv)), plan).notes
        assert any("one degree of freedom" in note for note in notes) == said


def test_an_outcome_prints_its_title_ranking_and_notes():
    plan = make_plan(150, 3, learners=["maxent", "decision-tree"])
    outcome = compare_table(open_source("iris", cv=2), plan)
    title, heading, first, second, *notes = str(outcome).splitlines()
    assert title == "iris: 150 rows, 3 classes, 2-fold cross-validation"
    assert heading.split()[:4] == ["#", "learner", "error", "%"]
    assert {first.split()[1], second.split()[1]} == {"maxent", "decision-tree"}
    assert notes == outcome.notes


def test_the_same_failure_of_several_learners_is_reported_once(monkeypatch):
    def broken(*args, **options):
        raise RuntimeError("/opt/lib/site-packages/thing/core.py: no")

    monkeypatch.setattr(comparing, "measure", broken)
    plan = make_plan(150, 3, learners=["maxent", "decision-tree"])
    with pytest.raises(
        ValueError, match=r"^Nothing could be compared. maxent, decision-tree: RuntimeError: core.py: no$"
    ):
        compare_table(open_source("iris", cv=3), plan)


def test_inspect_names_only_columns_with_errors(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": np.repeat([0.0, 10.0, 20.0], 10) + rng.random(30)})
    frame["class"] = np.repeat(["a", "b", "c"], 10)
    frame.to_csv(tmp_path / "t.csv", index=False)
    fit_file(str(tmp_path / "t.csv"), tmp_path / "m.skops", learner="stumps", code="all-pairs")
    last = inspect_file(tmp_path / "m.skops").splitlines()[-1]
    assert last == "errors of the columns on the training rows: none in any of the 3 columns"


def test_warnings_on_the_command_line_name_no_file(capsys):
    with reported_errors():
        warnings.simplefilter("always")
        warnings.warn("[red] is\nfine", stacklevel=1)
    assert capsys.readouterr() == ("", "· [red] is\nfine\n")


def test_predictions_report_their_rows_and_are_the_same_then(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(progress, "OFTEN", 0.0)
    pd.DataFrame({"x": np.arange(90.0), "class": np.repeat(["a", "b", "c"], 30)}).to_csv(
        tmp_path / "t.csv", index=False
    )
    fit_file(str(tmp_path / "t.csv"), tmp_path / "m.skops", learner="ridge")
    files = tmp_path / "m.skops", tmp_path / "t.csv"
    predict_file(*files, tmp_path / "silent.csv", rows=30)
    assert capsys.readouterr() == ("", "")
    with progress.showing():
        predict_file(*files, tmp_path / "told.csv", rows=30)
    lines = capsys.readouterr().err.splitlines()
    assert [line.split(",")[0] for line in lines] == [f"predictions: {n} of 90 rows" for n in (30, 60, 90)]
    assert (tmp_path / "told.csv").read_bytes() == (tmp_path / "silent.csv").read_bytes()
