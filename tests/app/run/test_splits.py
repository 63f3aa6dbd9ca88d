"""Splits: the words of a column, and folds of rare classes."""

import pytest

from outputcodes.app.run import cross_validation, official
from outputcodes.app.tables import TableError


@pytest.mark.parametrize("words", [("train", "test"), ("Training", "x"), ("0", "1"), (False, True)])
def test_the_words_of_a_split(words):
    ((train, test),) = official([words[0], words[1], words[0]]).pairs
    assert (train.tolist(), test.tolist()) == ([0, 2], [1])
    with pytest.raises(TableError, match="'part' splits nothing"):
        official([words[0]] * 3, "part")


# Old versions of scikit-learn ask whether this is a regression.
@pytest.mark.filterwarnings("default:The number of unique classes is greater")
def test_of_many_rare_classes_some_are_named():
    (note,) = cross_validation(["many"] * 9 + [f"rare {i:02d}" for i in range(30)], 3).notes
    assert "rare 00 (1), rare 01 (1)" in note
    assert "rare 09 (1) and 20 more. Some" in note
