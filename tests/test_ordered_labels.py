"""code="ordinal" with labels whose order y declares."""

import numpy as np
import pytest
from sklearn.datasets import load_iris

from outputcodes import AdaBoostMO, OutputCodeClassifier
from outputcodes.codes import Ordinal
from outputcodes.selection import compare

pd = pytest.importorskip("pandas")

X, numbers = load_iris(return_X_y=True)
# Sorted, these are high, low, mid.
WORDS = np.array(["low", "mid", "high"])
ORDER = pd.CategoricalDtype(["none", "low", "mid", "high"], ordered=True)
ROWS = {"low": [-1, -1], "mid": [1, -1], "high": [1, 1]}


@pytest.mark.parametrize("kind", [pd.Series, pd.Categorical])
@pytest.mark.parametrize("code", ["ordinal", Ordinal()])
def test_the_declared_order_is_used(kind, code):
    y = kind(WORDS[numbers], dtype=ORDER)
    model = OutputCodeClassifier("ridge", code=code).fit(X, y)
    assert model.classes_.tolist() == ["high", "low", "mid"]
    assert model.code_matrix_.tolist() == [ROWS[label] for label in model.classes_]
    mapped = OutputCodeClassifier("ridge", code=ROWS).fit(X, WORDS[numbers])
    assert np.array_equal(model.margins(X), mapped.margins(X))
    assert np.array_equal(model.predict(X), mapped.predict(X))
    # Class numbers in the declared order are the same problem.
    numbered = OutputCodeClassifier("ridge", code=code).fit(X, numbers)
    assert np.array_equal(WORDS[numbered.predict(X)], model.predict(X))


def test_two_of_the_categories():
    rows = numbers != 1
    model = OutputCodeClassifier("ridge", code="ordinal").fit(X[rows], pd.Series(WORDS[numbers[rows]], dtype=ORDER))
    assert dict(zip(model.classes_, model.code_matrix_[:, 0], strict=True)) == {"low": -1, "high": 1}


def test_without_an_order_labels_are_sorted():
    unordered = pd.Series(WORDS[numbers], dtype=pd.CategoricalDtype(["low", "mid", "high"]))
    model = OutputCodeClassifier("ridge", code="ordinal").fit(X, unordered)
    assert model.code_matrix_.tolist() == Ordinal().draw(3).matrix().tolist()


def test_other_codes_know_no_order():
    model = OutputCodeClassifier("ridge", code="one-vs-all").fit(X, pd.Series(WORDS[numbers], dtype=ORDER))
    assert (np.diag(model.code_matrix_) == 1).all()


def test_a_missing_label_is_refused():
    y = pd.Series(np.where(numbers == 1, None, WORDS[numbers]), dtype=ORDER)
    with pytest.raises(ValueError, match="y has missing labels"):
        OutputCodeClassifier("ridge", code="ordinal").fit(X, y)


def test_boosters_follow_the_order_too():
    booster = AdaBoostMO("ordinal", n_rounds=5).fit(X, pd.Series(WORDS[numbers], dtype=ORDER))
    assert booster.code_matrix_.tolist() == [ROWS[label] for label in booster.classes_]


def test_comparisons_follow_the_order_too():
    ordered = compare(X, pd.Series(WORDS[numbers], dtype=ORDER), "ridge", codes=["ordinal"], decoders=["loss"])
    mapped = compare(X, WORDS[numbers], "ridge", codes=[ROWS], decoders=["loss"])
    assert ordered[0].error == mapped[0].error
    assert ordered[0].error < compare(X, WORDS[numbers], "ridge", codes=["ordinal"], decoders=["loss"])[0].error
