"""Files without rows among others: `fit` and `predict` pass over them, whatever their format."""

import gzip

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import dump_svmlight_file

from outputcodes.app import run, tables
from outputcodes.app.tables import errors, read_blocks

rng = np.random.default_rng(0)
CLASS = rng.integers(0, 3, 90)
TABLE = pd.DataFrame(np.round(rng.normal(size=(90, 3)) + 2 * np.eye(3)[CLASS], 3), columns=["0", "1", "2"])
TABLE = TABLE.assign(**{"3": CLASS})
FILES = {"a": TABLE[:40], "b": TABLE[:0], "c": TABLE[40:41], "d": TABLE[:0], "e": TABLE[41:]}
KINDS = ["csv", "tsv", "csv.gz", "parquet", "npy", "libsvm"]


def write(path, part):
    kind = path.name.partition(".")[2]
    if kind == "npy":
        np.save(path, part.to_numpy())
    elif kind == "parquet":
        part.to_parquet(path, index=False)
    elif kind == "libsvm" and len(part):
        dump_svmlight_file(part.iloc[:, :3].to_numpy(), part["3"].to_numpy(), str(path))
    elif kind == "libsvm":
        path.write_bytes(b"")
    else:
        part.to_csv(path, index=False, sep="\t" if kind == "tsv" else ",")


def folder_of(tmp_path, kind, files=FILES):
    folder = tmp_path / "parts"
    folder.mkdir()
    for name, part in files.items():
        write(folder / f"{name}.{kind}", part)
    return folder


@pytest.mark.parametrize("as_pattern", [False, True], ids=["folder", "pattern"])
@pytest.mark.parametrize("kind", KINDS)
def test_fit_and_predict_take_the_rows_of_the_others_in_order(tmp_path, kind, as_pattern):
    folder = folder_of(tmp_path, kind)
    data, model = str(folder / f"*.{kind}") if as_pattern else str(folder), tmp_path / "m.skops"
    fitted, summary = run.fit_file(data, model, None if kind == "libsvm" else "3", learner="ridge")
    assert summary["rows"] == 90
    assert run.predict_file(model, data, tmp_path / "out.csv", rows=15) == 90
    found = pd.read_csv(tmp_path / "out.csv")["prediction"].astype(float).to_numpy()
    # The same rows, predicted one by one in Python.
    names = [str(name) for name in fitted.feature_names_in_]
    features = TABLE.iloc[:, :3].set_axis(names, axis=1)
    expected = [float(fitted.predict(features[i : i + 1])[0]) for i in range(90)]
    assert np.array_equal(found, expected)


@pytest.mark.parametrize("content", [b"", b"\n\n"], ids=["no bytes", "blank lines"])
@pytest.mark.parametrize("kind", ["csv", "csv.gz"])
def test_text_without_a_header_has_no_rows_and_identifiers_stay_beside_their_rows(tmp_path, kind, content):
    table = TABLE.assign(id=[f"row {i}" for i in range(90)])
    folder = folder_of(tmp_path, kind, {"a": table[:40], "c": table[40:]})
    (folder / f"b.{kind}").write_bytes(gzip.compress(content) if kind == "csv.gz" else content)
    run.fit_file(str(folder), tmp_path / "m.skops", "3", identifier="id", learner="ridge")
    assert run.predict_file(tmp_path / "m.skops", str(folder), tmp_path / "out.csv", rows=25) == 90
    assert pd.read_csv(tmp_path / "out.csv")["id"].tolist() == table["id"].tolist()


@pytest.mark.parametrize("kind", KINDS)
def test_files_none_of_which_has_rows_are_refused(tmp_path, kind):
    folder = folder_of(tmp_path, kind, {"a": TABLE[:0], "b": TABLE[:0]})
    with pytest.raises(errors.NoRowsError, match=r"None of the files in .*parts has rows"):
        read_blocks(folder, None if kind == "libsvm" else "3")
    schema = tables.Schema((tables.Column("0", "number"),))
    with pytest.raises(errors.NoRowsError, match=r"None of the files in .*parts has rows"):
        list(tables.read_chunks(folder, schema))
    with pytest.raises(errors.EmptyTableError, match=rf"a\.{kind} (has no rows|is an empty file)"):
        list(tables.read_chunks(folder / f"a.{kind}", schema))


@pytest.mark.parametrize("kind", ["parquet", "npy"])
def test_a_file_that_lost_its_header_is_damaged(tmp_path, kind):
    folder = folder_of(tmp_path, kind)
    (folder / f"d.{kind}").write_bytes(b"")
    with pytest.raises(errors.DamagedTableError, match=rf"d\.{kind} is an empty file; write it again"):
        read_blocks(folder, "3")


@pytest.mark.parametrize("kind", KINDS[:-1])
@pytest.mark.parametrize("drop", [[], ["1"]], ids=["all columns", "one left out"])
def test_the_columns_of_files_without_rows_are_not_checked(tmp_path, kind, drop):
    folder = folder_of(tmp_path, kind, {"a": TABLE, "b": pd.DataFrame(columns=["zz", "qq"], dtype=float)})
    run.fit_file(str(folder), tmp_path / "m.skops", "3", learner="ridge", drop=drop)
    assert run.predict_file(tmp_path / "m.skops", str(folder), tmp_path / "out.csv") == 90
