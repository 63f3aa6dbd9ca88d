"""Words that are counted once: every part of the rows learns what it learns from its texts alone."""

import copy
import pickle

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone

from outputcodes._ground import counted_texts
from outputcodes._ground.counted_texts import CountedTexts, CountedWords, counted_within
from outputcodes._ground.text_features import TextFeatures

WORDS = np.array(["rose", "tulip", "oak", "fir", "red", "green", "tall", "small", "old", "new", "leaf", "of", "the"])


def made(n=80, columns=2, seed=0):
    rng = np.random.default_rng(seed)
    texts = np.array([[" ".join(rng.choice(WORDS, rng.integers(0, 9))) for _ in range(columns)] for _ in range(n)])
    frame = pd.DataFrame(texts.astype(object))
    frame.iloc[3, 0] = None
    return frame


def numbers(rows, columns=2):
    return np.tile(np.asarray(rows, dtype=float)[:, None], (1, columns))


@pytest.mark.parametrize("components", [None, 4, 10_000])
@pytest.mark.parametrize("characters", [None, 12])
def test_features_are_those_of_the_texts_of_the_part(components, characters):
    X = made()
    counted = CountedTexts(X, characters)
    for train in (np.arange(50), np.arange(79, 20, -1), np.arange(0, 80, 7)):
        held_out = np.setdiff1d(np.arange(80), train)
        ours = CountedWords(counted, components)
        theirs = TextFeatures(components, characters).fit(X.iloc[train])
        fitted = ours.fit_transform(numbers(train))
        assert ours.words_ == theirs.words_
        for rows, found in ((train, fitted), (held_out, ours.transform(numbers(held_out)))):
            wanted = theirs.transform(X.iloc[rows])
            assert sparse.issparse(found) == sparse.issparse(wanted)
            dense = [one.toarray() if sparse.issparse(one) else one for one in (found, wanted)]
            assert_allclose(*dense, atol=1e-9)
            again = ours.of_texts().transform(X.iloc[rows])
            assert_allclose(dense[1], again.toarray() if sparse.issparse(again) else again, atol=1e-9)


def test_only_the_most_frequent_words_stay(monkeypatch):
    monkeypatch.setattr(counted_texts, "MOST_WORDS", 5)
    X = made(columns=1)
    words = CountedWords(CountedTexts(X)).fit(numbers(np.arange(80), 1)).words_[0].split("\n")
    counts = pd.Series(" ".join(X[0].dropna()).split()).value_counts()
    assert len(words) == 5
    assert set(words) == set(counts.index[:5])


def test_clones_and_copies_share_the_counts_and_a_pickle_has_no_memory():
    counted = CountedTexts(made())
    words = CountedWords(counted, 3).fit(numbers(np.arange(40)))
    assert clone(words).counted is counted
    assert copy.deepcopy(words).counted is counted
    assert counted._kept
    assert not pickle.loads(pickle.dumps(counted))._kept


def test_rows_without_words_have_no_features():
    X = pd.DataFrame({"a": ["one two", "one two", "", None, "three", "four"]})
    words = CountedWords(CountedTexts(X))
    assert words.fit_transform(numbers([2, 3], 1)).nnz == 0
    assert words.fit_transform(numbers([0, 2], 1)).nnz == 3


def test_little_time_reads_the_beginning_of_long_texts():
    X = pd.DataFrame({"a": [" ".join(np.random.default_rng(i).choice(WORDS, 2000)) for i in range(300)]})
    found = counted_within(X, 1e-4)
    assert found.characters == counted_texts.FEWEST_CHARACTERS
    assert counted_within(X.head(20), np.inf).characters is None
    assert_array_equal(found.columns[0].counts.shape[0], 300)


def test_texts_without_a_word_in_common_are_not_counted():
    assert counted_within(pd.DataFrame({"a": ["x1", "x2", "x3"]}), np.inf) is None
