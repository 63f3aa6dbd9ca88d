"""`outputcodes fit` without a learner: a race, whose winner is saved, inspected and applied."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from outputcodes.app import persistence
from outputcodes.app.run.race.winner import race_in_words


@pytest.fixture
def garden(tmp_path):
    """A table with numbers, categories, dates and missing values."""
    rng = np.random.default_rng(0)
    n = 240
    colour, size = rng.choice(["red", "green", "blue"], size=n), rng.normal(size=n)
    day = pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(300, size=n), unit="D")
    kind = np.where(colour == "red", "rose", np.where(size > 0, "lily", "fern"))
    frame = pd.DataFrame({"colour": colour, "size": size, "day": day, "class": kind})
    frame.loc[::17, "size"] = np.nan
    frame.loc[::19, "colour"] = None
    path = tmp_path / "garden.csv"
    frame.to_csv(path, index=False)
    return path


def test_the_winner_is_saved_inspected_and_applied(run, garden, tmp_path):
    model = tmp_path / "m.skops"
    done = run("fit", garden, "--time-limit", "8", "--out", model)
    assert done.code == 0, done.err
    assert "wrong on new ones" in done.out
    _, manifest = persistence.load(model)
    assert 0 <= manifest.summary["interval"][0] <= manifest.summary["error"] <= manifest.summary["interval"][1]
    shown = run("inspect", model).out
    assert "\n".join(race_in_words(manifest.summary)) in shown
    rows = tmp_path / "answers.csv"
    assert run("predict", model, garden, "--proba", "--out", rows).code == 0
    answers = pd.read_csv(rows)
    P = answers[["p(fern)", "p(lily)", "p(rose)"]]
    np.testing.assert_allclose(P.sum(axis=1), 1, atol=1e-6)
    assert (np.array(["fern", "lily", "rose"])[P.to_numpy().argmax(axis=1)] == answers["prediction"]).all()
    # The kind is a function of the colour and the size where both are there.
    truth = pd.read_csv(garden)
    whole = truth[["colour", "size"]].notna().all(axis=1)
    assert (answers["prediction"] == truth["class"])[whole].mean() > 0.9


def test_a_time_limit_must_be_a_time(run, garden, tmp_path):
    done = run("fit", garden, "--time-limit", "0", "--out", tmp_path / "m.skops")
    assert done.code == 2
    assert "--time-limit" in done.err
    done = run("fit", garden, "--time-limit", "5", "--learner", "ridge", "--out", tmp_path / "m.skops")
    assert done.code == 2
    assert "--time-limit" in done.err
