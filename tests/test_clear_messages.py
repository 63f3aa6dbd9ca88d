"""Errors and warnings that say what was wrong, with the value, and what to do: at every door of the library."""

import re

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_iris

from outputcodes import AdaBoostMH, AdaBoostMO, GradientBoost, OutputCodeClassifier
from outputcodes.codes import OneVsAll
from outputcodes.decisions import DecisionClassifier
from outputcodes.direct import DecisionTree
from outputcodes.learners import Ridge
from outputcodes.training import Problem, RowBlocks

X, y = load_iris(return_X_y=True)


def test_a_missing_predict_proba_names_the_parameter():
    message = re.escape(
        "This OutputCodeClassifier has no predict_proba, as its decoder 'loss' has no probabilities; set "
        "probability='likelihood', 'coupling' or 'softmax' before fit."
    )
    for model in (OutputCodeClassifier("ridge"), OutputCodeClassifier("ridge").fit(X, y)):
        assert not hasattr(model, "predict_proba")
        with pytest.raises(AttributeError, match=message):
            model.predict_proba(X)
    with pytest.raises(AttributeError, match=r"AdaBoostMO has no predict_proba, .* use with_decoder\('likelihood', X"):
        AdaBoostMO(n_rounds=2).fit(X, y).predict_proba(X)
    assert OutputCodeClassifier("ridge", probability="softmax").fit(X, y).predict_proba(X).shape == (150, 3)


@pytest.mark.parametrize("probability", ["likelihood", "coupling", "softmax"])
def test_too_few_rows_for_held_out_margins(probability):
    with pytest.raises(ValueError, match="in 3 folds, but there are only 2 rows; give at least 3 rows, or use"):
        OutputCodeClassifier("logistic", probability=probability).fit(X[[0, 100]], y[[0, 100]])


def test_two_rows_are_enough_for_the_default():
    model = OutputCodeClassifier().fit(X[[0, 100]], y[[0, 100]])
    assert model.predict(X[[0, 100]]).tolist() == [0, 2]


def test_constant_labels_are_called_labels():
    Y = np.column_stack([y == 0, y == 1, np.ones(150), np.zeros(150)]).astype(int)
    message = "2 of 4 labels are the same in all rows of this sample, and so in all predictions: 2, 3."
    with pytest.warns(UserWarning, match=message):
        model = OutputCodeClassifier("ridge", code="one-vs-all").fit(X, Y)
    assert np.array_equal(model.predict(X)[:, 2:], Y[:, 2:])


def test_problems_take_learners_and_class_numbers():
    with pytest.raises(ValueError, match="learner='ridge' must be a Learner; as_learner makes one of a name"):
        Problem("ridge", X, y)
    for labels in (np.array(["a", "b", "c"])[y], y.astype(float), y[:, None], y - 2):
        with pytest.raises(ValueError, match=r"y must be a vector of class numbers 0..k-1, .* np.unique"):
            Problem(Ridge(), X, labels)
    trained = Problem(Ridge(), X, y.tolist()).train(OneVsAll().draw(3))
    assert np.array_equal(trained.margins(X), Problem(Ridge(), X, y).train(OneVsAll().draw(3)).margins(X))


def test_fit_decoder_takes_a_decoder():
    trained = Problem(Ridge(), X, y).train(OneVsAll().draw(3))
    with pytest.raises(ValueError, match=r"fit_decoder takes a Decoder, not 'likelihood'; decoder\(...\) makes one"):
        trained.fit_decoder("likelihood")


@pytest.mark.parametrize(
    ("blocks", "found"),
    [([X, 3], "Block 1 is int"), ([X[0]], r"Block 0 is an array of shape \(4,\)"), (["ab"], "Block 0 is str")],
)
def test_row_blocks_are_tables(blocks, found):
    with pytest.raises(ValueError, match=f"{found}; a block is a table of rows and columns"):
        RowBlocks(blocks)


def test_row_blocks_of_all_kinds():
    assert RowBlocks([X[:5], X[5:]]).shape == (150, 4)
    assert RowBlocks([sp.csr_array(X)]).shape == (150, 4)
    assert RowBlocks([["a text", "another"], ["a third"]]).shape == (3,)
    assert RowBlocks([[[1, 2], [3, 4]], [], [[1, 2]]]).shape == (3, 2)
    assert RowBlocks([[["some", "words"], ["one"]]]).shape == (2,)


def test_the_identity_is_no_code():
    with pytest.raises(ValueError, match="columns with one sign only 0, 1, 2"):
        OutputCodeClassifier("ridge", code=np.eye(3)).fit(X, y)


def test_ragged_rows_of_a_code_are_called_a_code():
    with pytest.raises(ValueError, match=r"^a code must be a rectangular table of numbers: "):
        OutputCodeClassifier("ridge", code=[[1, 0], [-1, 1, 1], [-1]]).fit(X, y)


def test_decisions_without_probabilities_name_our_own_remedy():
    with pytest.raises(
        ValueError, match=r"such as OutputCodeClassifier\(probability='softmax'\), or calibrate it with"
    ):
        DecisionClassifier(OutputCodeClassifier("ridge"), reject_below=0.9).fit(X, y)


def test_a_decoder_that_learns_names_its_margins():
    model = OutputCodeClassifier("ridge").fit(X, y)
    for decoder, margins in (("accuracy-weighted", "training"), ("likelihood", "held-out")):
        with pytest.raises(ValueError, match=f"^decoder='{decoder}' learns from {margins} margins: give X and y, "):
            model.with_decoder(decoder)


FRUIT = pd.DataFrame({"mass": [1.0, 2.0, 3.0] * 4, "code": ["7", "8", "9"] * 4, "skin": ["1", "red", "blue"] * 4})
TABLES = [
    FRUIT,
    FRUIT.astype({"skin": "category"}),
    FRUIT.to_numpy(),
    FRUIT.to_numpy().astype(str),
    FRUIT.values.tolist(),
]
ONE_HOT, ORDINAL = "OneHotEncoder", r"OrdinalEncoder, with categorical_features=\[2\]"


@pytest.mark.parametrize("X", TABLES, ids=["frame", "categories", "objects", "strings", "lists"])
@pytest.mark.parametrize(
    ("model", "name", "remedy"),
    [
        (GradientBoost(2), "GradientBoost", ORDINAL),
        (GradientBoost(2, categorical_features=[2]), "GradientBoost", ORDINAL),
        (DecisionTree(), "DecisionTree", ORDINAL),
        (AdaBoostMH(2), "AdaBoostMH", ORDINAL),
        (OutputCodeClassifier("boosted-trees"), "BoostedTrees", ORDINAL),
        (OutputCodeClassifier("ridge"), "Ridge", ONE_HOT),
    ],
)
def test_text_in_a_table_names_its_column_and_the_remedy(model, name, remedy, X):
    column = "'skin'" if hasattr(X, "columns") else "2"
    expected = rf"X has text in column {column} \('red' in row 1\), but {name} takes numbers: .*{remedy}\."
    with pytest.raises(ValueError, match=expected):
        model.fit(X, [0, 1, 2] * 4)


def test_numbers_as_text_are_taken_and_new_text_is_named():
    model = GradientBoost(2, validation_fraction=None).fit(FRUIT[["mass", "code"]], [0, 1, 2] * 4)
    with pytest.raises(ValueError, match=r"column 'code' \('seven' in row 0\), but GradientBoost takes numbers"):
        model.predict(pd.DataFrame({"mass": [1.0], "code": ["seven"]}))
