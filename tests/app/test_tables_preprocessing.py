"""Preprocessing against arithmetic by hand, and tables that go through every learner."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier

from outputcodes.app.tables import Schema, categorical_features, errors, infer, preprocessing, read, read_chunks
from outputcodes.classifier import OutputCodeClassifier
from outputcodes.learners.names import LEARNERS
from outputcodes.learners.trees.stumps import BoostedStumps

pd = pytest.importorskip("pandas")
pytest.importorskip("pyarrow")

TRAIN = pd.DataFrame(
    {
        "colour": ["red", "blue", None, "red", "blue"],
        "x": [1.0, 2.0, np.nan, 6.0, 7.0],
        "born": pd.to_datetime(["1970-01-03", "1970-01-01", None, "1969-12-31", "1970-01-01"]),
    }
)
NEW = pd.DataFrame(
    {
        "colour": ["violet", None],
        "x": [np.nan, 4.0],
        "born": pd.to_datetime(["1970-01-01T12:00", None], format="ISO8601"),
    }
)
SCHEMA = infer(TRAIN)


def standardised(values, new):
    """`new` by mean and standard deviation of `values`, after the median has replaced what is missing."""
    middle = np.nanmedian(values)
    values, new = (np.where(np.isnan(v), middle, v) for v in (np.asarray(values), np.asarray(new)))
    return (new - values.mean()) / np.sqrt(((values - values.mean()) ** 2).mean())


@pytest.mark.parametrize("learner", ["ridge", "kernel-svm", "linear-svm", "logistic", None, LogisticRegression()])
def test_learners_of_complete_numbers(learner):
    transformer = preprocessing(SCHEMA, learner).fit(TRAIN)
    answer = transformer.transform(NEW)
    days = [2, 0, np.nan, -1, 0]
    expected = np.column_stack(
        [
            standardised([1, 2, np.nan, 6, 7], [np.nan, 4]),
            standardised(days, [0.5, np.nan]),
            # blue, red, missing: a new colour is none of them.
            [[0, 0, 0], [0, 0, 1]],
        ]
    )
    assert np.allclose(answer.toarray() if hasattr(answer, "toarray") else answer, expected, atol=1e-12)
    assert transformer.get_feature_names_out().tolist() == ["x", "born", "colour_blue", "colour_red", "colour_nan"]


def test_missing_values_of_nullable_columns():
    nullable = NEW.astype({"x": "Int64"})
    assert nullable["x"].array[0] is pd.NA
    transformer = preprocessing(SCHEMA, "ridge").fit(TRAIN)
    np.testing.assert_array_equal(transformer.transform(nullable), transformer.transform(NEW))


@pytest.mark.parametrize(
    "learner",
    [
        "stumps",
        BoostedStumps(),
        DecisionTreeClassifier(),
        HistGradientBoostingClassifier(),
        OutputCodeClassifier("stumps"),
    ],
)
def test_learners_of_missing_values(learner):
    transformer = preprocessing(SCHEMA, learner).fit(TRAIN)
    assert np.array_equal(transformer.transform(NEW), [[np.nan, 0.5, np.nan], [4, np.nan, np.nan]], equal_nan=True)
    assert transformer.transform(TRAIN)[:, 2].tolist()[:2] == [1, 0]
    assert categorical_features(SCHEMA).tolist() == [False, False, True]


def test_many_categories_are_sparse_where_the_learner_takes_it():
    frame = pd.DataFrame({"city": [f"c{i}" for i in range(50)]})
    assert preprocessing(infer(frame), "ridge").fit_transform(frame).nnz == 50
    assert isinstance(preprocessing(infer(frame), "stumps").fit_transform(frame), np.ndarray)


def test_a_fold_without_a_column():
    transformer = preprocessing(SCHEMA, "ridge").fit(TRAIN.assign(x=np.nan, born=pd.NaT))
    assert transformer.transform(TRAIN).shape == (5, 5)


def test_nothing_to_read():
    with pytest.raises(errors.MissingColumnsError, match="no column"):
        preprocessing(Schema(()), "ridge")


@pytest.mark.parametrize("learner", LEARNERS)
def test_a_table_goes_through_every_learner(tmp_path, learner):
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=60)
    frame = pd.DataFrame(
        {
            "x": np.where(rng.random(60) < 0.1, np.nan, y + 0.1 * rng.normal(size=60)),
            "colour": np.where(rng.random(60) < 0.1, None, np.array(["red", "blue", "green"])[y]),
            "born": pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(100, size=60), "D"),
            "kind": np.array(["a", "b", "c"])[y],
        }
    )
    train, new = tmp_path / "train.csv", tmp_path / "new.csv"
    frame.to_csv(train, index=False)
    frame.drop(columns="kind").assign(colour=["violet"] * 5 + frame["colour"].tolist()[5:]).to_csv(new, index=False)
    table = read(train, "kind")
    model = make_pipeline(preprocessing(table.schema, learner), OutputCodeClassifier(learner, random_state=0))
    model.fit(table.frame, table.target)
    (whole,) = read_chunks(new, table.schema)
    in_chunks = [model.predict(chunk) for chunk in read_chunks(new, table.schema, rows=7)]
    assert np.concatenate(in_chunks).tolist() == model.predict(whole).tolist()


@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize("huge", [1e300, -1e200, 1.7e308])
def test_huge_numbers_are_learned_from_and_predicted(learner, huge):
    # Warnings are errors in these tests: none of them is allowed to overflow.
    frame = pd.DataFrame({"x": np.tile([0.0, 1.0, 2.0], 10), "z": np.arange(30.0)})
    y = np.tile(["a", "b", "c"], 10)
    schema = infer(frame)
    model = make_pipeline(preprocessing(schema, learner), OutputCodeClassifier(learner, random_state=0))
    with_one = frame.assign(z=frame["z"].where(frame.index != 7, huge))
    for train, new in [(frame, with_one), (with_one, frame), (with_one, with_one)]:
        predicted = model.fit(train, y).predict(new)
        others = np.arange(30) != 7
        assert predicted[others].tolist() == model.predict(new[others]).tolist()
        # What a row with a huge number is predicted as, no other row depends on.
        assert predicted[7] in "abc"


def test_a_column_that_is_huge_throughout_is_scaled():
    frame = pd.DataFrame({"x": [1e300, -1e300, 1e200, 5.0]})
    answer = preprocessing(infer(frame), "ridge").fit_transform(frame)
    np.testing.assert_allclose(answer[:, 0], standardised([1, -1, 1, 0], [1, -1, 1, 0]), atol=1e-12)
