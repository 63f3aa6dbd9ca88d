"""Columns of sentences: read by their words, whatever the learner takes."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from outputcodes._ground.text_features import MOST_CATEGORIES
from outputcodes.app import persistence, tables
from outputcodes.app.run import fit_file, predict_file
from outputcodes.app.tables import folders
from outputcodes.selection import Race
from outputcodes.selection.race.views import kinds_of

TOPICS = {
    "garden": ["rose", "tulip", "soil", "water", "sun", "bee", "seed", "root", "leaf", "bloom"],
    "kitchen": ["pan", "stove", "salt", "pepper", "oven", "dough", "knife", "bowl", "spoon", "yeast"],
    "workshop": ["saw", "nail", "glue", "wood", "drill", "screw", "bench", "plane", "clamp", "vice"],
}


@pytest.fixture(scope="module")
def notes(tmp_path_factory):
    rng = np.random.default_rng(0)
    names = list(TOPICS)
    kind = rng.choice(names, size=1500)
    text = [" ".join(rng.choice(TOPICS[one] + ["the", "of", "a"], size=7)) + f" {i}" for i, one in enumerate(kind)]
    frame = pd.DataFrame({"note": text, "number": rng.normal(size=1500), "id": [f"N{i}" for i in range(1500)]})
    frame.loc[3, "note"] = None
    path = tmp_path_factory.mktemp("words") / "notes.csv"
    frame.assign(**{"class": kind}).to_csv(path, index=False)
    return path


@pytest.mark.parametrize("rows", [100, 1500])
def test_sentences_are_told_from_identifiers_and_categories(notes, rows):
    table = tables.read(notes)
    assert table.schema.names("words") == ["note"]
    assert table.schema.names("text") == ["id"]
    frame = pd.read_csv(notes)[:rows].assign(phrase=[f"the {i % 40}th of many" for i in range(rows)])
    kinds = kinds_of(frame.drop(columns="class"))
    assert [kinds.sentences, kinds.numbers, kinds.categories] == [[0], [1], [2, 3]]
    schema = tables.infer(frame)
    assert schema.names("words") == ["note"]
    assert schema.names("category") == [*(["id"] if rows == 100 else []), "class", "phrase"]


def test_numbers_with_a_misprint_and_declared_categories_are_no_sentences():
    prices = pd.Series([f"{i % 97},{i:02d}" for i in range(200)])
    prices[7] = "1,5OO"
    places = pd.Series([f"the {chr(0x4E00 + i)} of many places" for i in range(200)])
    frame = pd.DataFrame({"price": prices, "place": places, "known": places.astype("category")})
    assert tables.infer(frame).names("words") == ["place"]
    assert tables.infer(frame, categorical=["place"]).names("words") == []
    assert kinds_of(frame).sentences == [1]


@pytest.mark.parametrize("learner", ["ridge", "linear-svm", "kernel-svm", "stumps", "maxent", "gradient-boost"])
def test_every_kind_of_learner_reads_words(notes, tmp_path, learner):
    """The words give the class away, the number does not."""
    model, out = tmp_path / "m.skops", tmp_path / "answers.csv"
    params = {"n_rounds": 30} if learner in ("stumps", "gradient-boost") else None
    fit_file(str(notes), model, learner=learner, params=params)
    predict_file(model, notes, out)
    truth = pd.read_csv(notes)["class"]
    assert (pd.read_csv(out)["prediction"] == truth).mean() > 0.97
    loaded, manifest = persistence.load(model)
    new = pd.DataFrame({"note": ["soil and seed and bloom", None], "number": [0.0, np.nan]})
    assert loaded.predict(manifest.schema.conform(new))[0] == "garden"


def test_a_race_reads_words(notes):
    frame = tables.read(notes).frame
    y = pd.read_csv(notes)["class"].to_numpy()
    race = Race(None, contestants=["ridge", "decision-tree"], random_state=0).fit(frame[:1200], y[:1200])
    assert np.mean(race.predict(frame[1200:]) == y[1200:]) > 0.97


def test_declared_categories_that_read_like_sentences_stay_categories(tmp_path):
    pytest.importorskip("pyarrow", reason="needs the extra parquet")
    places = pd.Categorical([f"the {chr(0x4E00 + i % 80)} of many places" for i in range(100)])
    frame = pd.DataFrame({"place": places, "class": ["a", "b"] * 50})
    frame.to_parquet(tmp_path / "places.parquet")
    assert tables.read(tmp_path / "places.parquet").schema.names("category") == ["place"]
    assert tables.read_blocks(tmp_path).schema.names("category") == ["place"]
    frame.astype({"place": str}).to_parquet(tmp_path / "places.parquet")
    assert tables.read(tmp_path / "places.parquet").schema.names("words") == ["place"]
    assert tables.read_blocks(tmp_path).schema.names("words") == ["place"]


def test_sentences_that_the_sample_takes_for_categories_are_words(tmp_path, monkeypatch):
    """The first values of a folder are few; those of all rows are more than categories have."""
    monkeypatch.setattr(folders, "SAMPLED_ROWS", 20)
    rng = np.random.default_rng(0)
    word = [*"abcdefghijklmnopqrstuvwxyz"]
    notes = [f"the {' '.join(rng.choice(word, 3))} of many {i}" for i in range(2 * MOST_CATEGORIES)]
    names = [f"N{i}" for i in range(2 * MOST_CATEGORIES)]
    frame = pd.DataFrame({"note": notes, "name": names, "class": [f"c{i % 3}" for i in range(2 * MOST_CATEGORIES)]})
    frame.to_csv(tmp_path / "notes.csv", index=False)
    schema = tables.read_blocks(tmp_path).schema
    assert (schema.names("words"), schema.names("text")) == (["note"], ["name"])
