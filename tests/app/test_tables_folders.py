"""Tables in several files: read in blocks, trained on without being joined, and refused where the files differ."""

import os

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import dump_svmlight_file

from outputcodes import OutputCodeClassifier
from outputcodes._ground.row_sequence import RowBlocks
from outputcodes.app import run, tables
from outputcodes.app.tables import errors, read_blocks
from outputcodes.learners import Logistic, Ridge

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


@pytest.mark.parametrize("kind", ["parquet", "csv", "npy", "libsvm"])
@pytest.mark.parametrize("learner", [Ridge(), Logistic()], ids=str)
def test_files_give_the_bits_of_their_rows_in_memory(tmp_path, kind, learner):
    written(tmp_path / kind, kind, NUMBERS)
    table = read_blocks(tmp_path / kind, {"npy": "4", "libsvm": None}.get(kind, "target"))
    assert table.frames.sizes == [200, 3, 297, 200]
    assert np.array_equal(np.asarray(table.target, dtype=float), CLASS)
    for code in ("one-vs-all", "all-pairs"):
        files = OutputCodeClassifier(learner, code=code).fit(table.frames.through(lambda f: f.to_numpy()), table.target)
        blocks = RowBlocks([X[rows] for rows in PARTS])
        memory = OutputCodeClassifier(learner, code=code).fit(blocks, CLASS)
        assert np.allclose(np.concatenate([block.to_numpy() for block in table.frames]), X, rtol=1e-14)
        if kind != "libsvm":  # written with sixteen digits
            assert np.array_equal(files.coef_, memory.coef_)


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


def test_a_large_file_is_read_in_blocks(tmp_path, monkeypatch):
    NUMBERS.to_parquet(tmp_path / "t.parquet")
    assert not run.fitting_blocks.reads_blocks(str(tmp_path / "t.parquet"), "ridge")
    monkeypatch.setattr(run.fitting_blocks, "LARGE_FILE", 1000)
    assert run.fitting_blocks.reads_blocks(str(tmp_path / "t.parquet"), "ridge")
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
        match=r"name a learner \(--learner\); boosted-trees, linear-svm, logistic, ridge, stumps, tree train on blocks",
    ):
        run.fit_file(str(tmp_path / "*.csv"), tmp_path / "m.skops")
    with pytest.raises(ValueError, match="needs one table in memory"):
        run.fit_file(str(tmp_path / "*.csv"), tmp_path / "m.skops", learner="gradient-boost")
    np.save(tmp_path / "flat.npy", np.ones(3))
    with pytest.raises(errors.DamagedTableError, match=r"flat.npy holds an array of shape \(3,\)"):
        tables.read(tmp_path / "flat.npy", "0")
