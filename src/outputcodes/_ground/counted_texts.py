"""Texts whose words are counted once, for many trainings on parts of the rows: each has the words of its own rows."""

from __future__ import annotations

import time
from collections import OrderedDict
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.preprocessing import normalize

from outputcodes._ground.text_features import MOST_WORDS, NGRAMS, WORD, TextFeatures, texts_of

Rows = NDArray[np.intp]
# Trainings whose words and components are kept: several models are trained on the same rows.
KEPT = 6
# Texts from which the speed of counting is estimated, and the fewest characters of a text that are read.
TIMED, FEWEST_CHARACTERS = 200, 200


class Column(NamedTuple):
    """The counts (n, words) of a column of texts, and its words and pairs of words, in order."""

    counts: Any
    words: NDArray[Any]


class Part(NamedTuple):
    """What some rows know: of each column the words that occur in two of them and their rarity, and the components."""

    chosen: list[Rows]
    rarity: list[NDArray[np.float64]]
    projection: Any


class CountedTexts:
    """Counts of the words, and pairs of words, of columns of texts.

    What a part of the rows learns from them is what `TextFeatures` learns from its texts: words that occur in two of
    its rows, and their rarity there. No label and no other row has a part in it.

    Parameters
    ----------
    X : table of texts
    characters : int or None, default=None
        Read only so many characters of each text.

    Examples
    --------
    >>> texts = np.array([["a red rose"], ["a red tulip"], ["a tulip"]], dtype=object)
    >>> counted = CountedTexts(texts)
    >>> counted.columns[0].words.tolist()
    ['a', 'a red', 'red', 'tulip']
    """

    def __init__(self, X: Any, characters: int | None = None) -> None:
        self.characters = characters
        self.columns: list[Column] = []
        for texts in texts_of(X, characters):
            # What occurs in one row of all occurs in no two rows of a part.
            vectorizer = CountVectorizer(min_df=2, token_pattern=WORD, ngram_range=NGRAMS)
            counts = sparse.csr_array(vectorizer.fit_transform(texts))
            self.columns.append(Column(counts, vectorizer.get_feature_names_out()))
        self._kept: OrderedDict[Any, tuple[Part, Any]] = OrderedDict()

    def __deepcopy__(self, memo: Any) -> CountedTexts:
        # Models that are cloned share the counts.
        return self

    def __getstate__(self) -> dict[str, Any]:
        return {"characters": self.characters, "columns": self.columns, "_kept": OrderedDict()}

    def part(self, rows: Rows, components: int | None) -> tuple[Part, Any]:
        """Return what some rows know, and their features."""
        key = rows.tobytes(), components
        if key not in self._kept:
            chosen, rarity = zip(*(_known(column, rows) for column in self.columns), strict=True)
            part = Part(list(chosen), list(rarity), None)
            weighted = self.features(part, rows)
            if components is not None and weighted.shape[1] > components:
                projection = TruncatedSVD(components, random_state=0)
                weighted = projection.fit_transform(weighted)
                part = part._replace(projection=projection)
            self._kept[key] = part, weighted
            while len(self._kept) > KEPT:
                self._kept.popitem(last=False)
        self._kept.move_to_end(key)
        return self._kept[key]

    def features(self, part: Part, rows: Rows) -> Any:
        """Return the features of any rows with the words and components of a part."""
        blocks = []
        for (counts, _), chosen, rarity in zip(self.columns, part.chosen, part.rarity, strict=True):
            weighted = sparse.csr_array(counts[rows][:, chosen], dtype=np.float64)
            weighted.data = (1 + np.log(weighted.data)) * rarity[weighted.indices]
            blocks.append(normalize(weighted))
        joined = sparse.csr_array(sparse.hstack(blocks, format="csr"))
        return joined if part.projection is None else part.projection.transform(joined)


def _known(column: Column, rows: Rows) -> tuple[Rows, NDArray[np.float64]]:
    """Return the words of some rows, and their rarity, as scikit-learn's TfidfVectorizer has them."""
    own = column.counts[rows]
    frequency = np.bincount(own.indices, minlength=len(column.words))
    chosen = np.flatnonzero(frequency >= 2)
    if not len(chosen):
        # Words that occur once, if there is none that occurs twice; any word, if there is none at all.
        chosen = np.flatnonzero(frequency) if frequency.any() else np.arange(1)
    if len(chosen) > MOST_WORDS:
        total = own.sum(axis=0)
        chosen = np.sort(chosen[np.argsort(-total[chosen], kind="stable")[:MOST_WORDS]])
    return chosen, np.log((1 + len(rows)) / (1 + frequency[chosen])) + 1


class CountedWords(TextFeatures):
    """`TextFeatures` of texts that were counted: in their place, columns hold the numbers of the rows.

    Parameters
    ----------
    counted : CountedTexts
    components : int or None, default=None
        As in `TextFeatures`.
    """

    def __init__(self, counted: Any = None, components: int | None = None) -> None:
        super().__init__(components, None if counted is None else counted.characters)
        self.counted = counted

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn the words of some rows, and the components."""
        part, _ = self.counted.part(_numbers(X), self.components)
        each = zip(self.counted.columns, part.chosen, strict=True)
        self.words_ = ["\n".join(column.words[chosen]) for column, chosen in each]
        self.rarity_, self.projection_, self.part_ = part.rarity, part.projection, part
        return self

    def fit_transform(self, X: Any, y: Any = None, **params: Any) -> Any:
        """Learn the words of some rows, and return their features."""
        self.fit(X)
        return self._shaped(self.counted.part(_numbers(X), self.components)[1])

    def transform(self, X: Any) -> Any:
        """Return the features of some rows."""
        return self._shaped(self.counted.features(self.part_, _numbers(X)))

    def _shaped(self, features: Any) -> Any:
        return features.toarray() if self.components is not None and sparse.issparse(features) else features

    def of_texts(self) -> TextFeatures:
        """Return the same features for texts."""
        plain = TextFeatures(self.components, self.characters)
        plain.words_, plain.rarity_, plain.projection_ = self.words_, self.rarity_, self.projection_
        return plain


def _numbers(X: Any) -> Rows:
    """The numbers of the rows; all columns have the same."""
    values = X.to_numpy() if hasattr(X, "to_numpy") else np.asarray(X)
    return np.ascontiguousarray(values[:, 0].astype(np.intp))


def counted_within(X: Any, seconds: float) -> CountedTexts | None:
    """Count the words of columns of texts within about so many seconds, by reading the beginning of long texts.

    None if some column has no word that occurs twice.
    """
    columns = texts_of(X)
    characters = None
    if seconds < np.inf:
        n = len(columns[0])
        some = np.linspace(0, n - 1, min(n, TIMED)).astype(np.intp)
        start = time.perf_counter()
        read = 0
        for column in columns:
            few = [column[i] for i in some]
            CountVectorizer(token_pattern=WORD, ngram_range=NGRAMS).fit_transform([*few, "no words"])
            read += sum(map(len, few))
        speed = read / max(1e-9, time.perf_counter() - start)
        characters = _characters([len(text) for column in columns for text in column], speed * seconds)
    try:
        return CountedTexts(X, characters)
    except ValueError:  # nothing is left of the words
        return None


def _characters(lengths: list[int], most: float) -> int | None:
    """Return how many characters of each text may be read so that there are at most so many in all; None for all.

    >>> _characters([1000, 3000, 5000], 6000.0)
    2500
    >>> _characters([1000, 3000], 6000.0)
    """
    sizes = np.sort(np.asarray(lengths, dtype=np.float64))
    if sizes.sum() <= most:
        return None
    # The shortest i texts are read whole, and the same number of characters of each other text.
    whole = np.concatenate([[0.0], np.cumsum(sizes)[:-1]])
    each = (most - whole) / (len(sizes) - np.arange(len(sizes)))
    return max(FEWEST_CHARACTERS, int(each[np.argmax(each < sizes)]))
