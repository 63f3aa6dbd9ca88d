"""Columns of sentences: the same words and pairs of words in onnxruntime, in small and capital letters."""

import re

import numpy as np
import pytest

from outputcodes import OutputCodeClassifier, to_onnx
from outputcodes._ground.text_features import TextFeatures
from outputcodes.app.export import NotExportableError
from outputcodes.app.export.words import MOST_CHARACTERS, _capitalised
from outputcodes.app.run import build
from outputcodes.app.tables import infer
from outputcodes.selection import Race

pd = pytest.importorskip("pandas")
WORDS = "Red rose ÜBER über Straße STRASSE the The GARDEN x² Étude d'été knee_1 2nd 日本 Οδός ΟΔΟΣ Москва МОСКВА москва"


def notes(n=1100):
    """Sentences with words of their class, of several scripts; some are missing."""
    rng = np.random.default_rng(0)
    y = np.arange(n) % 3
    own = np.array(["alpha beta.", "Beta gamma!", "GAMMA alpha?"])[y]
    texts = [f"{' '.join(rng.choice(WORDS.split(), 4))}, {own[i]} No. {i}" for i in range(n)]
    frame = pd.DataFrame({"note": texts, "size": rng.standard_normal(n) + y})
    frame.loc[::17, "note"] = None
    return frame, y


def other_texts(frame):
    some = frame.head(40).copy()
    some["note"] = [
        "",
        "ÜBER the GARDEN",
        None,
        "unknown Words",
        "ALPHA\nbeta\tbeta beta",
        "…",
        "Москва, über alpha",
        "a" * 5000,
    ] * 5
    return some


@pytest.mark.parametrize("learner", ["ridge", "tree"])
def test_words_and_components_of_words(agree, learner):
    """A linear learner takes a feature for each word, a tree the components of all."""
    frame, y = notes()
    schema = infer(frame, "class")
    assert schema.names("words") == ["note"]
    model = build(schema, learner, probability="softmax").fit(schema.conform(frame), y)
    agree(model, schema.conform(frame))
    agree(model, schema.conform(other_texts(frame)))
    # No text has a word.
    agree(model, schema.conform(frame.head(3).assign(note=None)))


def test_a_race_on_sentences(agree):
    frame, y = notes()
    race = Race(None, contestants=["ridge", "maxent"], cv=2, random_state=0).fit(frame, y)
    agree(race, frame, frame)
    agree(race, other_texts(frame), frame)


def pipeline(characters):
    from sklearn.compose import ColumnTransformer
    from sklearn.pipeline import make_pipeline

    table = ColumnTransformer([("words", TextFeatures(characters=characters), ["note"])])
    return make_pipeline(table, OutputCodeClassifier("ridge"))


def test_the_beginning_of_texts(agree):
    frame, y = notes(120)
    frame = frame[["note"]]
    model = pipeline(25).fit(frame, y)
    agree(model, frame)
    assert (model.predict(frame) != pipeline(None).fit(frame, y).predict(frame)).any()
    with pytest.raises(NotExportableError, match=re.escape(f"ONNX can count {MOST_CHARACTERS}")):
        to_onnx(pipeline(MOST_CHARACTERS + 1).fit(frame, y))


def test_words_without_pairs(agree):
    frame = pd.DataFrame({"note": ["rose", "tulip", "rose", "tulip"] * 3})
    agree(pipeline(None).fit(frame, [0, 1] * 6), frame)


@pytest.mark.parametrize("word", ["rose", "über", "straße", "éèêëé", "москва", "ας", "日本"])
def test_spellings_of_a_word(word):
    found = _capitalised(word)
    assert found[0] == word
    assert len(set(found)) == len(found)
    assert {way.lower() for way in found} == {word}
    if word.upper().lower() == word:
        # After the letters of ASCII have become small, that is how its capitals look.
        assert "".join(one.lower() if one.isascii() else one for one in word.upper()) in found
