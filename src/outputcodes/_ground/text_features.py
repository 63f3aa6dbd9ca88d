"""Columns of sentences as numbers: words and pairs of words, weighted by how rare they are."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer

WORD = r"(?u)\b\w+\b"
# Values that are looked at, and words of a value that others must share, in the middle of all values.
LOOKED_AT, SHARED_WORDS = 2000, 2
# A column with more different texts than this has no categories.
MOST_CATEGORIES = 1000
# With more than this, in more than half of its rows, it has none if they are sentences.
FEW_SENTENCES = 50
# Words and pairs of words of a column.
MOST_WORDS = 50_000
NGRAMS = (1, 2)
HOW: dict[str, Any] = {"sublinear_tf": True, "token_pattern": WORD, "ngram_range": NGRAMS}


def are_sentences(values: Iterable[str]) -> bool:
    """Return whether texts have words in common, as sentences and paths have, and identifiers and numbers have not.

    >>> are_sentences(["pain in the left knee", "the knee is swollen", "swollen left foot", "pain in the foot"])
    True
    >>> are_sentences([f"AB-{i}" for i in range(100)])
    False
    """
    words = [{word for word in re.findall(WORD, value.lower()) if not word.isdigit()} for value in values]
    counts = Counter(word for own in words for word in own)
    return bool(words) and float(np.median([sum(counts[word] > 1 for word in own) for own in words])) >= SHARED_WORDS


def hold_sentences(different: Any, n_rows: int, declared: bool = False) -> bool:
    """Return whether so many rows with these different values hold sentences, and not categories.

    `declared` says that the column is known to have categories, unless these are too many.

    >>> notes = [f"the {word} of many notes" for word in map(chr, range(0x4E00, 0x4E00 + 60))]
    >>> hold_sentences(notes, n_rows=80), hold_sentences(notes, n_rows=800), hold_sentences(notes, 80, declared=True)
    (True, False, False)
    """
    enough = MOST_CATEGORIES if declared else min(MOST_CATEGORIES, max(FEW_SENTENCES, n_rows / 2))
    some = different[:: max(1, len(different) // LOOKED_AT)]
    return len(different) > enough and are_sentences(map(str, some))


class TextFeatures(TransformerMixin, BaseEstimator):
    """Columns of text as tf-idf features of their words and pairs of words; a missing text has no words.

    Parameters
    ----------
    components : int or None, default=None
        Project on so many components, for estimators that take no sparse matrix.
    characters : int or None, default=None
        Read only so many characters of each text; None reads all.

    Examples
    --------
    >>> texts = np.array([["a red rose"], ["a red tulip"], [None]], dtype=object)
    >>> TextFeatures().fit_transform(texts).toarray().round(2)
    array([[0.58, 0.58, 0.58],
           [0.58, 0.58, 0.58],
           [0.  , 0.  , 0.  ]])
    """

    def __init__(self, components: int | None = None, characters: int | None = None) -> None:
        self.components = components
        self.characters = characters

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn the words of every column, and the components."""
        fitted = [_vectorizer(column) for column in texts_of(X, self.characters)]
        # One text for all words: a file of a model would have a member for each entry of a dictionary.
        self.words_ = ["\n".join(one.get_feature_names_out()) for one in fitted]
        self.rarity_ = [one.idf_ for one in fitted]
        self.projection_ = None
        counted = self._counted(X)
        if self.components is not None and counted.shape[1] > self.components:
            self.projection_ = TruncatedSVD(self.components, random_state=0).fit(counted)
        return self

    def transform(self, X: Any) -> Any:
        """Return (n, features): sparse, or dense if there are components."""
        counted = self._counted(X)
        if self.components is None:
            return counted
        return counted.toarray() if self.projection_ is None else self.projection_.transform(counted)

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """Return the words, each after the name of its column."""
        names = [str(one) for one in (range(len(self.words_)) if input_features is None else input_features)]
        if self.projection_ is not None:
            return np.array([f"text_{j}" for j in range(self.projection_.n_components)], dtype=object)
        each = zip(names, self.words_, strict=True)
        return np.array([f"{name}_{word}" for name, words in each for word in words.split("\n")], dtype=object)

    def _counted(self, X: Any) -> Any:
        parts = []
        for words, rarity, texts in zip(self.words_, self.rarity_, texts_of(X, self.characters), strict=True):
            known = TfidfVectorizer(vocabulary=words.split("\n"), **HOW)
            known.idf_ = rarity
            parts.append(known.transform(texts))
        return sparse.csr_array(sparse.hstack(parts, format="csr"))


def texts_of(X: Any, characters: int | None = None) -> list[list[str]]:
    """Return the texts of each column, or the beginning of each; nothing for a missing one."""
    values = X.to_numpy(dtype=object) if hasattr(X, "to_numpy") else np.asarray(X, dtype=object)
    return [["" if one is None or one != one else str(one)[:characters] for one in column] for column in values.T]


def _vectorizer(texts: list[str]) -> TfidfVectorizer:
    try:
        return TfidfVectorizer(min_df=2, max_features=MOST_WORDS, **HOW).fit(texts)
    except ValueError:
        # No word occurs twice: all are kept, and a few where there is none at all.
        return TfidfVectorizer(max_features=MOST_WORDS, **HOW).fit([*texts, "no words"])
