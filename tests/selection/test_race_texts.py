"""Texts in a race: words are counted once, and the winner reads texts."""

import pickle

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from outputcodes._ground.counted_texts import CountedWords
from outputcodes._ground.text_features import TextFeatures
from outputcodes.selection import Race
from outputcodes.selection.race import race as module


def made(n=160, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    common = np.array(["the", "a", "of", "in", "and", "on", "it", "is"])
    own = np.array([["rose", "tulip", "oak", "leaf"], ["piston", "valve", "gear", "wheel"]])
    texts = [" ".join([*rng.choice(common, 6), *rng.choice(own[label], 2), f"id{i}"]) for i, label in enumerate(y)]
    return pd.DataFrame({"text": texts, "number": rng.normal(size=n)}), y


@pytest.mark.parametrize("contestant", ["ridge", "decision-tree"])  # sparse features, and components
def test_the_winner_reads_texts_as_one_that_was_trained_on_texts(contestant):
    X, y = made()
    race = Race(None, contestants=[contestant], random_state=0).fit(X, y)
    (model,) = race.model_.models
    words = dict(model[0].named_transformers_)["words"]
    assert type(words) is TextFeatures
    new, labels = made(seed=1)
    P = race.predict_proba(new)
    assert np.mean(race.predict(new) != labels) < 0.05
    # The same pipeline, trained on the texts themselves.
    race.model_.fit(X, y)
    assert_allclose(race.predict_proba(new), P, atol=1e-6)
    assert_allclose(pickle.loads(pickle.dumps(race)).predict_proba(new), P, atol=1e-6)


def test_words_are_counted_once(monkeypatch):
    counted = []
    known = module.with_counted_texts
    monkeypatch.setattr(module, "with_counted_texts", lambda *given: counted.append(1) or known(*given))
    read = []
    monkeypatch.setattr(TextFeatures, "fit", lambda self, X, y=None: read.append(1))
    fits = []
    fit = CountedWords.fit
    monkeypatch.setattr(CountedWords, "fit", lambda self, X, y=None: fits.append(1) or fit(self, X, y))
    Race(None, contestants=["ridge", "logistic"], random_state=0).fit(*made())
    assert len(counted) == 1
    assert not read
    assert len(fits) > 5


def test_classifiers_of_the_user_get_the_texts():
    from sklearn.compose import make_column_transformer
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.naive_bayes import MultinomialNB
    from sklearn.pipeline import make_pipeline

    X, y = made()
    # The columns of the table are called by their places.
    mine = make_pipeline(make_column_transformer((CountVectorizer(), "0")), MultinomialNB())
    race = Race(None, contestants={"mine": mine}, random_state=0).fit(X, y)
    assert race.loss_ < 0.1


def test_of_long_texts_the_beginning_is_read():
    X, y = made(60)
    filler = " ".join(f"w{i}" for i in range(20_000))
    X["text"] = X["text"] + " " + filler
    race = Race(1, contestants=["ridge"], random_state=0).fit(X, y)
    words = dict(race.model_.models[0][0].named_transformers_)["words"]
    # All that is read in training is all that is read when it predicts.
    assert words.characters < len(filler)
    short = X.assign(text=X["text"].str[: words.characters])
    assert_allclose(race.predict_proba(X), race.predict_proba(short), atol=1e-12)
