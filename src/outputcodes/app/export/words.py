"""Columns of sentences as ONNX operators: words and pairs of words, as `TextFeatures` weights them.

Texts are cut into words by an operator of onnxruntime, "Tokenizer" of the domain com.microsoft; other runtimes may not
have it.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np

from outputcodes._ground.text_features import TextFeatures
from outputcodes.app.export.errors import refuse
from outputcodes.app.export.graph import TOKENS, TREES, Features, Graph, Value

# Letters, digits of any script and the underscore: what \w is in Python.
WORD = r"[\p{L}\p{N}_]+"
# No text has it, and no word.
PADDING = "\x02"
# What the regular expressions of the tokenizer can count, and letters of which all capitalisations are listed.
MOST_CHARACTERS, MOST_CAPITALS = 1000, 4


def words(g: Graph, inputs: Sequence[Features], model: TextFeatures) -> str:
    """Return the features (n, d) of columns of texts."""
    blocks: list[Value] = []
    columns = [g.columns(name, np.array([j])) for name, width, _ in inputs for j in range(width)]
    for column, known, rarity in zip(columns, model.words_, model.rarity_, strict=True):
        counts = _counts(g, _beginning(g, column, model.characters), known.split("\n"))
        # A word that occurs c times counts 1 + log c.
        some = g("Greater", counts, 0.0)
        weighted = g("Mul", g("Where", some, g("Add", g("Log", g("Max", counts, 1.0)), 1.0), 0.0), rarity)
        length = g("Sqrt", g.total(g.square(weighted), keep=True))
        blocks.append(g("Div", weighted, g("Where", g("Equal", length, 0.0), 1.0, length)))
    features = blocks[0] if len(blocks) == 1 else g("Concat", *blocks, axis=1)
    if model.projection_ is not None:
        return g("MatMul", features, model.projection_.components_.T)
    return str(features)


def _beginning(g: Graph, column: Value, characters: int | None) -> str:
    """The texts (n,), or their first characters."""
    texts = g("Reshape", column, np.array([-1]))
    if characters is None:
        return texts
    if characters > MOST_CHARACTERS:
        raise refuse(
            TextFeatures,
            f"reads the first {characters} characters of each text, and ONNX can count {MOST_CHARACTERS}",
            "a race with more time, which reads all (--time-limit)",
        )
    return g("Gather", _tokens(g, texts, rf"(?s).{{1,{characters}}}"), 0, axis=1)


def _tokens(g: Graph, texts: Value, expression: str) -> str:
    """Return what matches an expression (n, most of a text + 1); the rest of a row is padding."""
    found = g("Tokenizer", texts, domain=TOKENS, mark=0, mincharnum=1, pad_value=PADDING, tokenexp=expression)
    # Where no text has a word there would be no column.
    return g("Concat", found, g.for_each_row(texts, np.array([PADDING], dtype=object)), axis=1)


def _counts(g: Graph, texts: Value, known: list[str]) -> str:
    """Return how often each word, or pair of words, occurs in each text."""
    grams = [tuple(one.split(" ")) for one in known]
    number = {word: i for i, word in enumerate(sorted({word for gram in grams for word in gram}))}
    spelled = {way: number[word] for word in number for way in _capitalised(word)}
    # The letters of ASCII become small here; other ones would need a locale, which a computer may lack.
    small = g("StringNormalizer", texts, case_change_action="LOWER", locale="C")
    place = g(
        "LabelEncoder",
        _tokens(g, small, WORD),
        domain=TREES,
        keys_strings=list(spelled),
        values_int64s=list(spelled.values()),
        default_int64=-1,
    )
    by_length = [[i for i, gram in enumerate(grams) if len(gram) == length] for length in (1, 2)]
    longest = 2 if by_length[1] else 1
    found = g(
        "TfIdfVectorizer",
        place,
        mode="TF",
        min_gram_length=1,
        max_gram_length=longest,
        max_skip_count=0,
        ngram_counts=[0, len(by_length[0])][:longest],
        ngram_indexes=[i for some in by_length for i in some],
        pool_int64s=[number[word] for some in by_length for i in some for word in grams[i]],
    )
    return g.cast(found)


def _capitalised(word: str) -> list[str]:
    """Return how a word may be spelled after the letters of ASCII have become small.

    >>> _capitalised("rose"), _capitalised("über")
    (['rose'], ['über', 'Über'])
    """
    large = [i for i, letter in enumerate(word) if not letter.isascii() and letter.upper() != letter]
    if len(large) <= MOST_CAPITALS:
        ways = ["".join(way) for way in product(*(_cases(one, i in large) for i, one in enumerate(word)))]
    else:
        ways = [word, _cases(word[0], True)[-1] + word[1:], "".join(_cases(one, True)[-1] for one in word)]
    # Some letters have no single small one: others are then written in their place.
    return list(dict.fromkeys(way for way in ways if way.lower() == word))


def _cases(letter: str, both: bool) -> tuple[str, ...]:
    upper: Any = letter.upper()
    return (letter, upper) if both and not letter.isascii() and len(upper) == 1 else (letter,)
