"""Tables in several files: read in blocks, trained on without being joined, and refused where the files differ."""

import os

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import dump_svmlight_file

from outputcodes import OutputCodeClassifier
from outputcodes._ground.row_sequence import RowBlocks
from outputcodes.app import run, tables
from outputcodes.app.run.fitting_blocks import trains_on_blocks
from outputcodes.app.run.systems import SYSTEMS
from outputcodes.app.tables import errors, read_blocks
from outputcodes.boosting import AdaBoostMH, AdaBoostMO, AdaBoostMR, AdaBoostOC, GradientBoost, SmoothBoost
from outputcodes.learners import BoostedStumps, BoostedTrees, ColumnTree, LinearSVM, Logistic, Ridge

rng = np.random.default_rng(0)
CLASS = rng.integers(0, 3, 700)
X = rng.normal(size=(700, 4)) + np.outer(CLASS, [1.0, 0.5, -1.0, 0.0])
CUTS = [200, 203, 500]
PARTS = [slice(a, b) for a, b in zip([0, *CUTS], [*CUTS, 700], strict=True)]


def written(folder, kind, frame):
    folder.mkdir(exist_ok=True)
    for number, rows in enumerate(PARTS):
        part, path = frame.iloc[rows], folder / f"part{number}.{kind}"
        if kind == "npy":
            np.save(path, part.to_numpy())
        elif kind == "libsvm":
            dump_svmlight_file(part.iloc[:, :4].to_numpy(), part.iloc[:, 4].to_numpy(), str(path))
        else:
            getattr(part, f"to_{kind}")(path, index=False)
    return folder


NUMBERS = pd.DataFrame(X, columns=list("abcd")).assign(target=CLASS)


WEIGHT = rng.integers(0, 3, 700).astype(float)
LEARNERS = [Ridge(), Logistic(), LinearSVM(), BoostedStumps(3, bins=8), ColumnTree(max_depth=3), BoostedTrees(3)]


@pytest.mark.parametrize("kind", ["parquet", "csv", "npy", "libsvm"])
def test_files_give_their_rows(tmp_path, kind):
    table = read_blocks(written(tmp_path, kind, NUMBERS), {"npy": "4", "libsvm": None}.get(kind, "target"))
    assert table.frames.sizes == [200, 3, 297, 200]
    assert np.array_equal(np.asarray(table.target, dtype=float), CLASS)
    found = np.concatenate([block.to_numpy() for block in table.frames])
    assert np.allclose(found, X, rtol=1e-14)
    assert kind == "libsvm" or np.array_equal(found, X)  # libsvm is written with sixteen digits


@pytest.mark.parametrize("code", ["one-vs-all", "all-pairs"])
@pytest.mark.parametrize("learner", LEARNERS, ids=str)
@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["equal", "weights"])
def test_files_give_the_bits_of_their_rows_in_memory(tmp_path, code, learner, weight):
    table = read_blocks(written(tmp_path, "parquet", NUMBERS), "target")
    frames, here = table.frames.through(lambda f: f.to_numpy()), RowBlocks([X[rows] for rows in PARTS])
    model = OutputCodeClassifier(learner, code=code, random_state=0)
    memory = clone(model).fit(here, CLASS, sample_weight=weight).margins(X)
    for n_jobs in (1, 2):
        files = clone(model).set_params(n_jobs=n_jobs).fit(frames, table.target.astype(int), sample_weight=weight)
        assert np.array_equal(files.margins(X), memory)


BOOSTERS = [GradientBoost(3), AdaBoostMO(n_rounds=3, bins=8), AdaBoostMH(3, bins=8), AdaBoostMR(3, bins=8)]
BOOSTERS += [AdaBoostOC(3, bins=8), SmoothBoost(3, coding="probabilistic", bins=8)]


@pytest.mark.parametrize("booster", BOOSTERS, ids=str)
@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["equal", "weights"])
def test_boosters_have_the_bits_of_rows_in_memory(tmp_path, booster, weight, monkeypatch):
    monkeypatch.setattr(RowBlocks, "joined", None)
    table = read_blocks(written(tmp_path, "parquet", NUMBERS), "target")
    frames, here = table.frames.through(lambda f: f.to_numpy()), RowBlocks([X[rows] for rows in PARTS])
    memory = clone(booster).set_params(random_state=0).fit(here, CLASS, weight)
    for n_jobs in (1, 2):
        files = clone(booster).set_params(random_state=0, n_jobs=n_jobs)
        files.fit(frames, table.target.astype(int), weight)
        assert np.array_equal(files.decision_function(X), memory.decision_function(X))


def test_blocks_have_at_most_the_rows_asked_for_and_lie_in_one_file(tmp_path):
    written(tmp_path, "parquet", NUMBERS)
    table = read_blocks(str(tmp_path / "*.parquet"), rows=150)
    assert table.frames.sizes == [150, 50, 3, 150, 147, 150, 50]
    assert len(table.sample.target) == 700


def test_categories_and_classes_of_all_files_and_rows_without_label(tmp_path):
    for name, colour, label in [("a", "red", "x"), ("b", "blue", "y"), ("c", "green", None)]:
        frame = pd.DataFrame({"v": [1.0, 2.0, None], "colour": [colour, None, colour], "class": [label, "x", label]})
        frame.to_csv(tmp_path / f"{name}.csv", index=False)
    table = read_blocks(tmp_path)
    assert table.schema.classes == ("x", "y")
    assert table.schema.columns[1].categories == ("blue", "red")  # green has no label
    assert table.unlabelled == 2
    assert table.frames.sizes == [3, 3, 1]
    assert [len(block) for block in table.frames] == [3, 3, 1]
    assert table.target.tolist() == ["x", "x", "x", "y", "x", "y", "x"]


def test_a_model_of_a_folder_is_that_of_its_rows_in_one_file(tmp_path):
    frame = NUMBERS.assign(colour=rng.choice(["red", "green", None], 700))
    folder = written(tmp_path / "parts", "csv", frame)
    frame.to_csv(tmp_path / "whole.csv", index=False)
    out, asked = tmp_path / "m.skops", {"learner": "logistic", "code": "all-pairs", "params": {"tol": 1e-12}}
    parts, summary = run.fit_file(str(folder), out, **asked)
    whole, other = run.fit_file(str(tmp_path / "whole.csv"), tmp_path / "w.skops", **asked)
    assert np.allclose(parts.decision_function(frame), whole.decision_function(frame), atol=1e-6)
    assert summary["rows"] == other["rows"] == 700
    assert summary["class_shares"] == pytest.approx(other["class_shares"])
    assert summary["training_error"] == pytest.approx(other["training_error"], abs=0.002)
    written_rows = run.predict_file(out, str(folder / "part*.csv"), tmp_path / "predicted.csv")
    assert written_rows == 700
    predicted = pd.read_csv(tmp_path / "predicted.csv")["prediction"].to_numpy()
    assert np.array_equal(predicted, whole.predict(frame))


@pytest.mark.parametrize("learner", [name for name in trains_on_blocks() if name in SYSTEMS])
def test_systems_train_on_folders_without_joining_them(tmp_path, monkeypatch, learner):
    folder, out, params = written(tmp_path / "parts", "csv", NUMBERS), tmp_path / "m.skops", {"n_rounds": 5}
    monkeypatch.delattr(RowBlocks, "joined")
    model, summary = run.fit_file(str(folder), out, learner=learner, params=params)
    monkeypatch.undo()
    NUMBERS.to_csv(tmp_path / "whole.csv", index=False)
    whole, other = run.fit_file(str(tmp_path / "whole.csv"), tmp_path / "w.skops", learner=learner, params=params)
    assert np.allclose(model.decision_function(NUMBERS), whole.decision_function(NUMBERS), atol=1e-6)
    assert summary.keys() == other.keys()
    assert run.predict_file(out, str(folder), tmp_path / "predicted.csv") == 700


def test_a_large_file_is_read_in_blocks(tmp_path, monkeypatch):
    NUMBERS.to_parquet(tmp_path / "t.parquet")
    assert not run.fitting_blocks.reads_blocks(str(tmp_path / "t.parquet"), "ridge")
    monkeypatch.setattr(run.fitting_blocks, "LARGE_FILE", 1000)
    assert run.fitting_blocks.reads_blocks(str(tmp_path / "t.parquet"), "ridge")
    assert run.fitting_blocks.reads_blocks(str(tmp_path / "t.parquet"), "gradient-boost")
    assert not run.fitting_blocks.reads_blocks(str(tmp_path / "t.parquet"), "kernel-svm")


def test_a_file_that_changes_between_passes_is_refused_by_name(tmp_path):
    written(tmp_path, "csv", NUMBERS)
    table = read_blocks(tmp_path)
    os.utime(tmp_path / "part1.csv", ns=(1, 1))
    with pytest.raises(errors.ChangedTableError, match=r"part1.csv has changed since it was first read"):
        OutputCodeClassifier("ridge").fit(table.frames, table.target)
    os.remove(tmp_path / "part1.csv")
    with pytest.raises(errors.NoSuchTableError, match=r"There is no file .*part1.csv"):
        list(table.frames)


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        (lambda f: f.drop(columns="b"), errors.MissingColumnsError, r"part1.csv lacks 'b'; the files of a table have"),
        (lambda f: f.assign(z=1), errors.MissingColumnsError, r"part1.csv has 'z' more"),
        (lambda f: f.assign(b="word"), errors.WrongKindError, r"holds text \(row 1 has 'word'\) and the files before"),
        (
            lambda f: f.assign(b=["1", "2", "", "hello", "5"]),
            errors.WrongKindError,
            r"part1.csv: column 'b' holds text \(row 4 has 'hello'\) and the files before it numbers; give it one kind",
        ),
    ],
)
def test_files_that_differ_are_refused_by_name(tmp_path, change, error, message):
    written(tmp_path, "csv", NUMBERS)
    change(NUMBERS.iloc[:5]).to_csv(tmp_path / "part1.csv", index=False)
    with pytest.raises(error, match=message):
        read_blocks(tmp_path)


def test_errors_of_predict_name_the_row_in_its_file(tmp_path):
    folder, out = written(tmp_path / "parts", "csv", NUMBERS), tmp_path / "m.skops"
    run.fit_file(str(folder), out, learner="ridge")
    NUMBERS.iloc[:5].assign(b=["1", "2", "word", "4", "5"]).to_csv(folder / "part3.csv", index=False)
    with pytest.raises(errors.WrongKindError, match=r"part3.csv: column 'b' must hold a number .* row 3 has 'word'"):
        run.predict_file(out, str(folder), tmp_path / "predicted.csv", rows=2)


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_an_infinite_value_is_named_by_the_row_in_its_file(tmp_path, kind):
    infinite = NUMBERS.astype({"target": float})
    infinite.loc[[0, 210], ["target", "b"]] = [[np.nan, 0.0], [1.0, np.inf]]  # a row without a label counts too
    folder = written(tmp_path / "parts", kind, infinite)
    with pytest.raises(errors.WrongKindError, match=rf"part2.{kind}: column 'b' must hold .* and row 8 has 'inf'"):
        read_blocks(folder, rows=3)


def test_blocks_count_the_rows_of_their_file(tmp_path):
    folder = written(tmp_path, "csv", NUMBERS)
    indices = [(block.index[0], block.index[-1]) for block in read_blocks(folder, rows=150).frames]
    assert indices == [(1, 150), (151, 200), (1, 3), (1, 150), (151, 297), (1, 150), (151, 200)]


def test_folders_and_patterns_without_tables(tmp_path):
    with pytest.raises(errors.NoSuchTableError, match="has no tables"):
        read_blocks(tmp_path)
    with pytest.raises(errors.NoSuchTableError, match="no file of the pattern"):
        read_blocks(tmp_path / "*.csv")
    written(tmp_path, "csv", NUMBERS)
    NUMBERS.to_parquet(tmp_path / "more.parquet")
    with pytest.raises(errors.UnknownFormatError, match=r"has tables of the formats .csv, .parquet; name those of one"):
        read_blocks(tmp_path)
    with pytest.raises(errors.NoTargetError, match=r"has no target column 'kind' \(--target\)"):
        read_blocks(tmp_path / "*.csv", "kind")
    with pytest.raises(
        ValueError,
        match=r"name a learner \(--learner\); boosted-trees, .*, tree, adaboost-mh, .*smoothboost train on blocks",
    ):
        run.fit_file(str(tmp_path / "*.csv"), tmp_path / "m.skops")
    with pytest.raises(ValueError, match=r"learner='svc' needs one table in memory.* or choose one .*gradient-boost"):
        run.fit_file(str(tmp_path / "*.csv"), tmp_path / "m.skops", learner="svc")
    np.save(tmp_path / "flat.npy", np.ones(3))
    with pytest.raises(errors.DamagedTableError, match=r"flat.npy holds an array of shape \(3,\)"):
        tables.read(tmp_path / "flat.npy", "0")


@pytest.mark.parametrize("kind", ["csv", "parquet"])
@pytest.mark.parametrize("place", [0, 1, 4])
def test_a_part_without_a_value_in_a_column_says_nothing_of_its_kind(tmp_path, kind, place):
    """The schema is that of one file with the same rows, wherever the part is."""
    whole = NUMBERS.assign(
        number=np.arange(700.0) * 3,
        day=pd.Timestamp("2020-01-01") + pd.to_timedelta(np.arange(700), unit="D"),
        word=np.where(CLASS == 1, "one", "other"),
        yes=CLASS > 1,
    )
    folder = written(tmp_path / "parts", kind, whole)
    nothing = whole.iloc[[0]].assign(number=None, day=None, word=None, yes=None)
    getattr(nothing, f"to_{kind}")(folder / f"part{place - 1}z.{kind}", index=False)
    getattr(whole, f"to_{kind}")(one := tmp_path / f"whole.{kind}", index=False)
    expected = tables.read(one, "target").schema
    found = read_blocks(folder, "target")
    assert found.schema == expected
    assert found.frames.sizes.count(1) == 1
    assert sum(int(block["number"].isna().sum()) for block in found.frames) == 1
