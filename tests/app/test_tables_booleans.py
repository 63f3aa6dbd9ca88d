"""Booleans have the same text in every format, and are known to a model however a table spells them."""

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline

from outputcodes import OutputCodeClassifier
from outputcodes.app import persistence, run, tables
from outputcodes.app.tables import Column, Schema, errors, read, read_blocks, read_chunks

pd = pytest.importorskip("pandas")
pytest.importorskip("pyarrow")

rng = np.random.default_rng(0)
OPEN = rng.integers(0, 2, 80).astype(bool)
TABLE = pd.DataFrame({"open": OPEN, "x": rng.normal(size=80), "class": np.where(OPEN, "yes", "no")})
SPELLINGS = [("False", "True"), ("false", "true"), ("FALSE", "TRUE")]


def spelled(frame, spelling):
    return frame.assign(open=np.array(spelling)[OPEN.astype(int)])


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_every_file_of_booleans_has_the_same_text(tmp_path, kind):
    getattr(TABLE, f"to_{kind}")(tmp_path / f"t.{kind}", index=False)
    expected = Column("open", "category", ("False", "True"))
    assert read(tmp_path / f"t.{kind}").schema.columns[0] == expected
    assert read_blocks(tmp_path).schema.columns[0] == expected
    assert tables.from_frame(TABLE[["open", "x"]], TABLE["class"]).schema.columns[0] == expected
    assert read(tmp_path / f"t.{kind}", "open").schema.classes == ("False", "True")


def test_missing_booleans_of_parquet_stay_missing(tmp_path):
    column = pd.array([True, None, False, True], dtype="boolean")
    pd.DataFrame({"open": column, "class": list("abab")}).to_parquet(tmp_path / "t.parquet")
    frame = read(tmp_path / "t.parquet").frame
    assert frame["open"].isna().tolist() == [False, True, False, False]
    assert frame["open"].dropna().tolist() == ["True", "False", "True"]


@pytest.mark.parametrize("other", SPELLINGS, ids=lambda one: one[1])
@pytest.mark.parametrize("trained", [None, *SPELLINGS], ids=["parquet", "True", "true", "TRUE"])
def test_a_model_knows_booleans_in_every_spelling(tmp_path, trained, other):
    if trained is None:
        TABLE.to_parquet(train := tmp_path / "train.parquet")
    else:
        spelled(TABLE, trained).to_csv(train := tmp_path / "train.csv", index=False)
    spelled(TABLE, other).to_csv(tmp_path / "new.csv", index=False)
    TABLE.to_parquet(tmp_path / "new.parquet")
    run.fit_file(str(train), tmp_path / "m.skops", "class", learner="ridge")
    for kind in ("csv", "parquet"):
        run.predict_file(tmp_path / "m.skops", tmp_path / f"new.{kind}", tmp_path / "out.csv")
        assert pd.read_csv(tmp_path / "out.csv")["prediction"].tolist() == TABLE["class"].tolist()
    # As labels, they are those of training too.
    schema = read(train, "open").schema
    for kind in ("csv", "parquet"):
        again = read(tmp_path / f"new.{kind}", schema=schema).target
        assert again.tolist() == np.array(schema.classes)[OPEN.astype(int)].tolist()


def test_only_booleans_are_matched_regardless_of_case(tmp_path):
    frame = pd.DataFrame({"open": ["True", None, "maybe"], "name": ["Red", "red", "RED"]})
    columns = Column("open", "category", ("false", "true")), Column("name", "category", ("red",))
    found = Schema(columns).conform(frame)
    assert found["open"].fillna("").tolist() == ["true", "", "maybe"]
    assert found["name"].tolist() == ["Red", "red", "RED"]
    assert Schema(columns).conform(frame.assign(open=None))["open"].isna().all()
    both = Schema((Column("open", "category", ("True", "true")),))
    assert both.conform(frame)["open"].fillna("").tolist() == ["True", "", "maybe"]
    pd.DataFrame({"open": [None], "name": ["red"]}).to_csv(tmp_path / "t.csv", index=False)
    assert next(iter(read_chunks(tmp_path / "t.csv", Schema(columns))))["open"].isna().all()


@pytest.mark.parametrize("spelling", SPELLINGS, ids=lambda one: one[1])
@pytest.mark.parametrize("learner", ["ridge", "stumps"])
@pytest.mark.parametrize("dtype", [bool, "boolean", object])
def test_a_model_of_a_file_takes_booleans_of_a_data_frame(tmp_path, spelling, learner, dtype):
    spelled(TABLE, spelling).to_csv(tmp_path / "t.csv", index=False)
    table = read(tmp_path / "t.csv")
    model = make_pipeline(tables.preprocessing(table.schema, learner), OutputCodeClassifier(learner))
    model.fit(table.frame, table.target)
    persistence.save(model, tmp_path / "m.skops", schema=table.schema)
    again, _ = persistence.load(tmp_path / "m.skops")
    new = TABLE.astype({"open": dtype})
    assert (again.predict(new) == TABLE["class"]).all()
    if dtype is not bool:
        new.loc[0, "open"] = None
        assert (again.predict(new)[1:] == TABLE["class"][1:]).all()


def test_codes_of_categories_may_be_integers_in_a_data_frame():
    codes = TABLE.assign(code=OPEN + 1)[["code", "x"]]
    table = tables.from_frame(codes.astype({"code": str}), TABLE["class"], categorical=["code"])
    model = make_pipeline(tables.preprocessing(table.schema, "ridge"), OutputCodeClassifier("ridge"))
    assert (model.fit(table.frame, table.target).predict(codes) == TABLE["class"]).all()
    step = tables.AsNumbersAndCategories(numbers=["x"], categories=["code"])
    assert step.transform(codes)["code"].tolist() == codes["code"].astype(str).tolist()


def test_a_category_may_have_any_name():
    named = TABLE.rename(columns={"open": "self"})
    table = tables.from_frame(named[["self", "x"]], TABLE["class"])
    model = make_pipeline(tables.preprocessing(table.schema, "ridge"), OutputCodeClassifier("ridge"))
    assert (model.fit(table.frame, table.target).predict(named) == TABLE["class"]).all()


@pytest.mark.parametrize("dtype", [bool, "boolean", object])
def test_the_table_of_a_race_refuses_booleans_by_name(dtype):
    step = tables.AsNumbersAndCategories(numbers=["x"], categories=["open"])
    with pytest.raises(errors.WrongKindError, match=r"Column 'open' holds booleans, not text: .* schema.conform"):
        step.transform(TABLE.astype({"open": dtype}))
    schema = Schema((Column("open", "category", ("FALSE", "TRUE")), Column("x", "number")))
    assert step.transform(schema.conform(TABLE))["open"].tolist() == np.where(OPEN, "TRUE", "FALSE").tolist()
