"""A race in the report: its data, and the page in a browser."""

from __future__ import annotations

import json
import time
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

from outputcodes.app.report import importance as module
from outputcodes.app.report import permuted_columns, race_data, report_data, write_report
from outputcodes.selection import Result, ranked

NASTY = "<script>alert(1)</script>"


def entry(name, loss, family="linear"):
    return {"entry": name, "family": family, "decoder": "loss", "loss": loss, "seconds": 0.2}


@pytest.fixture(scope="module")
def race():
    """The attributes of a fitted race of two laps, written by hand."""
    a, b, c = "ridge dense (alpha=1)", "tree dense (min_region=3)", NASTY
    laps = [
        {"rows": 2000, "folds": 1, "estimated": 3.0, "seconds": 4.5, "entries": [entry(a, 0.1), entry(c, 0.5)]},
        {"rows": 8000, "folds": 3, "estimated": 8.0, "seconds": 9.0, "entries": [entry(b, 0.04), entry(a, 0.05)]},
    ]
    row = {"code": "dense", "decoder": "loss", "log-loss": 0.2, "seconds": 1.0, "rows": 8000, "folds": 3}
    standings = [
        {"name": f"{b}, decoder loss", "contestant": "tree", "parameters": {"x__min_region": 3}, "loss": 0.04, **row},
        {"name": f"{a}, decoder loss", "contestant": "ridge", "parameters": {"x__alpha": 1.0}, "loss": 0.05, **row},
    ]
    return SimpleNamespace(
        laps_=laps,
        departures_=[
            {"entry": c, "rows": 2000, "loss": 0.5, "why": "It is clearly behind."},
            {"entry": "adaboost-mh", "rows": 2000, "loss": None, "why": "Training would take too long."},
        ],
        winner_=[row["name"] for row in standings],
        n_rows_=120,
        model_=SimpleNamespace(weights=[0.75, 0.25]),
        standings_=standings,
        loss_=0.035,
        interval_=(0.03, 0.04),
        curve_=[{"rows": n, "loss": e, "folds": [e, e * 1.1]} for n, e in [(2000, 0.08), (4000, 0.06), (8000, 0.04)]],
    )


def test_who_came_how_far_and_why_they_left(race):
    data = race_data(race)
    assert [one["name"] for one in data["entries"]] == [
        "tree dense (min_region=3)",
        "ridge dense (alpha=1)",
        NASTY,
        "adaboost-mh",
    ]
    ridge, nasty, late = data["entries"][1:]
    assert [(point["lap"], point["loss"]) for point in ridge["points"]] == [(0, 0.1), (1, 0.05)]
    assert ridge["left"] is None
    assert nasty["left"] == {"rows": 2000, "loss": 0.5, "why": "It is clearly behind."}
    assert (late["points"], late["left"]["loss"]) == ([], None)
    assert [(one["weight"], one["parameters"]) for one in data["members"]] == [
        (0.75, {"min_region": 3}),
        (0.25, {"alpha": 1.0}),
    ]
    assert [(lap["estimated"], lap["seconds"], lap["entries"]) for lap in data["laps"]] == [
        (3.0, 4.5, 2),
        (8.0, 9.0, 2),
    ]
    assert json.loads(json.dumps(data)) == data


@pytest.fixture(scope="module")
def path(race, tmp_path_factory):
    rng = np.random.default_rng(0)
    missed = rng.random((500, 3)) < [0.03, 0.04, 0.05]
    rows = [
        Result("average of 2", fold_errors=[missed[:, 0].mean()], losses=missed[:, 0]),
        Result("tree", "dense", "loss", fold_errors=[missed[:, 1].mean()], losses=missed[:, 1], fit_seconds=1.0),
        Result("ridge", "dense", "loss", fold_errors=[missed[:, 2].mean()], losses=missed[:, 2], fit_seconds=0.1),
    ]
    rows[1:] = [
        Result(**{**vars_of(row), "parameters": one})
        for row, one in zip(rows[1:], [{"min_region": 3}, {"alpha": 1.0}], strict=True)
    ]
    shuffled = {"rows": 500, "repeats": 5, "features": 40, "columns": [(NASTY, 0.2, 0.01), ("b", 0.0, 0.0)]}
    tested = {"loss": 0.036, "interval": [0.03, 0.05], "rows": 1000}
    data = report_data(ranked(rows), title="a race", race=race_data(race, shuffled, tested))
    return write_report(data, tmp_path_factory.mktemp("race") / "report.html")


def vars_of(row):
    names = ("learner", "code", "decoder", "fold_errors", "losses", "fit_seconds")
    return {name: getattr(row, name) for name in names}


@pytest.mark.parametrize("width", [1200, 360])
@pytest.mark.parametrize("dark", [False, True])
def test_every_section_is_drawn_and_fits_the_window(browser, path, width, dark):
    browser.open(path, width, dark)
    assert browser.texts("h2") == [
        "Ranking",
        "The race",
        "The average",
        "Learning curve",
        "Columns that matter",
        "Time against error",
    ]
    assert browser.requests == [path.as_uri()]
    assert not browser.complaints
    assert browser.ask("document.documentElement.scrollWidth <= window.innerWidth")
    assert browser.ask("document.querySelectorAll('.runner').length") == 3
    assert browser.ask("document.querySelectorAll('.runner.won').length") == 2
    assert browser.ask("document.querySelectorAll('#learning circle.bubble').length") == 3
    ends = browser.texts("#race .entries td:last-child")
    assert ends == ["winner", "winner", "It is clearly behind.", "Training would take too long."]
    assert browser.texts("#columns .what") == [NASTY, "b"]
    assert "3.50 % ± 0.50" in " ".join(browser.texts("#headline strong")).replace("\u00a0", " ")


def test_a_single_finalist_has_nothing_to_be_compared_with(browser, race, tmp_path):
    """It was measured by folds, though a race's row has one error: "one split" would be wrong."""
    missed = np.arange(500) % 20 == 0
    rows = ranked([Result("ridge", "dense", "loss", fold_errors=[missed.mean()], losses=missed, fit_seconds=0.1)])
    browser.open(write_report(report_data(rows, title="one", race=race_data(race)), tmp_path / "race.html"))
    assert "There is nothing to compare with." in browser.texts("#ranking .lead")[0]
    browser.open(write_report(report_data(rows, title="one"), tmp_path / "plain.html"))
    assert "There is one split, and no paired test." in browser.texts("#ranking .lead")[0]


def test_the_column_that_labels_hang_on_matters_and_the_others_do_not():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(600, 3)), columns=["a", "b", "c"])
    y = np.where(frame["b"] > 0, "yes", "no")
    model = LogisticRegression().fit(frame[:300], y[:300])
    found = permuted_columns(model, frame[300:], y[300:], seed=1)
    (first, mean, _), *others = found["columns"]
    assert first == "b"
    # Shuffled, it is as good as a coin.
    assert mean == pytest.approx(0.5, abs=0.1)
    assert all(abs(small) < 0.02 for _, small, _ in others)
    assert found == permuted_columns(model, frame[300:], y[300:], seed=1)
    losses = permuted_columns(model, frame[300:], y[300:], metric="log-loss")
    assert losses["columns"][0][0] == "b"
    assert losses["columns"][0][1] > 0.5


def test_little_time_is_fewer_repetitions_then_fewer_rows_then_nothing(monkeypatch):
    frame = pd.DataFrame(np.zeros((400, 3)), columns=["a", "b", "c"])
    y = np.arange(400) % 2
    model = LogisticRegression().fit(frame, y)
    monkeypatch.setattr(module, "seconds_per_row", lambda model, frame: 0.001)
    # 4 · 0.4 seconds for one repetition on all rows.
    for seconds, rows, repeats in [(np.inf, 400, 5), (9.0, 400, 5), (3.3, 400, 2), (1.7, 400, 1), (0.9, 200, 1)]:
        found = permuted_columns(model, frame, y, seconds=seconds)
        assert (found["rows"], found["repeats"]) == (rows, repeats), seconds
    assert permuted_columns(model, frame, y, seconds=0.1) is None
    start = time.monotonic()
    assert permuted_columns(model, frame, y, seconds=-1.0) is None
    assert time.monotonic() - start < 10
