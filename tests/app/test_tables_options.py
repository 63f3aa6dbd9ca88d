"""How a table is read, as the user says: separators, decimal marks, columns left out, the order of classes."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest

from outputcodes.app import tables
from outputcodes.app.tables import Schema, errors, read, read_chunks, read_texts
from outputcodes.app.tables.request import Dialect

pd = pytest.importorskip("pandas")
pa = pytest.importorskip("pyarrow")


def written(path, text, encoding="utf-8"):
    path.write_bytes(text.encode(encoding))
    return path


@pytest.mark.parametrize(
    ("name", "separator", "decimal"),
    [("t.csv", ";", ","), ("t.csv", "|", "."), ("t.csv", "tab", ","), ("t.csv", r"\t", "."), ("t.tsv", ";", ",")],
)
def test_separator_and_decimal_mark(tmp_path, name, separator, decimal):
    plain = read(written(tmp_path / "plain.csv", "x,class,z\n1.5,a,7\n-2.25,b,8\n"))
    sign = {"tab": "\t", r"\t": "\t"}.get(separator, separator)
    text = "x,class,z\n1.5,a,7\n-2.25,b,8\n".replace(",", sign).replace(".", decimal)
    path = written(tmp_path / name, text)
    how = {"separator": separator, "decimal": decimal}
    table = read(path, **how)
    pd.testing.assert_frame_equal(table.frame, plain.frame)
    assert table.target.tolist() == plain.target.tolist()
    (chunk,) = read_chunks(path, plain.schema, **how)
    pd.testing.assert_frame_equal(chunk, plain.frame)


def test_a_quoted_decimal_comma_between_commas(tmp_path):
    path = written(tmp_path / "t.csv", 'x,class\n"1,5",a\n"2,5",b\n')
    assert read(path, decimal=",").frame["x"].tolist() == [1.5, 2.5]


@pytest.mark.parametrize("separator", ["", ";;", '"', "\n"])
def test_what_is_no_separator(tmp_path, separator):
    path = written(tmp_path / "t.csv", "x,class\n1,a\n2,b\n")
    with pytest.raises(errors.TableError, match=re.escape(f"separator={separator!r} (--sep) must be one character")):
        read(path, separator=separator)
    with pytest.raises(errors.TableError, match=r"decimal='x' .* must be a point or a comma"):
        read(path, decimal="x")
    assert Dialect().between_fields(",") == ","


def test_a_separator_is_for_delimited_text(tmp_path):
    pd.DataFrame({"x": [1, 2], "class": ["a", "b"]}).to_parquet(tmp_path / "t.parquet")
    with pytest.raises(errors.TableError, match=r"--sep.*--decimal.*csv and tsv"):
        read(tmp_path / "t.parquet", separator=";")


def test_columns_left_out(tmp_path):
    path = written(tmp_path / "t.csv", "id,x,secret,class\n07,1,5,a\nNA,2,6,b\n")
    table = read(path, drop=["secret"], identifier="id")
    assert table.schema.used == ["x"]
    assert table.schema.identifier == "id"
    assert list(table.frame.columns) == ["x"]
    assert [text for chunk in read_texts(path, "id", rows=1) for text in chunk] == ["07", "NA"]
    assert Schema.from_dict(table.schema.as_dict()) == table.schema
    with pytest.raises(errors.MissingColumnsError, match=r"no column 'secrets' to leave out; it has 'id', 'x'"):
        read(path, drop=["secrets"])
    with pytest.raises(errors.MissingColumnsError, match="no column 'key'; it has 'id', 'x'"):
        list(read_texts(path, "key"))
    with pytest.raises(errors.NoTargetError, match="column 'class' is the target"):
        read(path, "class", drop=["class"])


def test_bytes_in_a_parquet_file_can_be_left_out(tmp_path):
    path = tmp_path / "t.parquet"
    pd.DataFrame({"x": [1, 2], "image": [b"\xff\x00", b"\x01"], "class": ["a", "b"]}).to_parquet(path)
    with pytest.raises(errors.WrongKindError, match=r"column 'image' holds bytes.*\(--drop image\)") as raised:
        read(path)
    assert "encoding" not in str(raised.value)
    table = read(path, drop=["image"])
    assert table.schema.used == ["x"]
    # A test table has no more to offer than the training table took.
    assert read(path, schema=table.schema).frame["x"].tolist() == [1, 2]
    assert [len(chunk) for chunk in read_chunks(path, table.schema)] == [2]


def test_labels_in_bytes_are_not_said_to_be_left_out(tmp_path):
    path = tmp_path / "t.parquet"
    pd.DataFrame({"x": [1, 2], "class": [b"a", b"b"]}).to_parquet(path)
    with pytest.raises(errors.WrongKindError, match=r"column 'class' holds bytes, .*: save it as text\.$"):
        read(path, "class")


@pytest.mark.parametrize("target", [None, "class", "name"])
def test_another_encoding_is_named_wherever_it_is_met(tmp_path, target):
    path = written(tmp_path / "t.csv", "name,x,class\nJürgen,1,ä\nZoë,2,ö\n", "latin-1")
    with pytest.raises(errors.WrongEncodingError, match=r"encoding='latin-1' \(--encoding latin-1\)"):
        read(path, target)
    assert read(path, target, encoding="latin-1").target.tolist() in (["ä", "ö"], ["Jürgen", "Zoë"])
    schema = read(path, "class", encoding="latin-1").schema
    with pytest.raises(errors.WrongEncodingError, match="--encoding latin-1"):
        list(read_chunks(path, schema))


ARFF = """@relation fruit
@attribute colour {red, 'dark blue', "light green"}
@attribute size real
@attribute class {apple, pear}
@data
% a comment
red, 1, apple
'dark blue', 2, pear
"light green", 3, pear
?, 4, apple
"""


def test_declared_values_are_read(tmp_path):
    table = read(written(tmp_path / "t.arff", ARFF))
    assert table.frame["colour"].tolist()[:3] == ["red", "dark blue", "light green"]
    assert math.isnan(table.frame["colour"].iloc[3])


@pytest.mark.parametrize(
    ("line", "column", "value", "declared"),
    [
        ("reed, 5, apple", "colour", "reed", "'red', 'dark blue', 'light green'"),
        ("red, 5, plum", "class", "plum", "'apple', 'pear'"),
    ],
)
@pytest.mark.parametrize("rows", [None, 2])
def test_undeclared_values_are_refused_by_row_and_column(tmp_path, line, column, value, declared, rows):
    schema = read(written(tmp_path / "t.arff", ARFF)).schema
    path = written(tmp_path / "bad.arff", f"{ARFF}{line}\n")
    message = rf"bad\.arff: column '{column}' has '{value}' in row 5, .* declares {declared}\."
    if rows is None or column == "class":
        with pytest.raises(errors.UndeclaredValueError, match=message):
            read(path)
    else:
        with pytest.raises(errors.UndeclaredValueError, match=message):
            list(read_chunks(path, schema, rows=rows))


def test_a_row_of_an_arff_file_that_cannot_be_decoded_prints_nothing(tmp_path, capfd):
    # Arrow decodes rows of the wrong length for us, and prints the traceback where it can't.
    text = "@attribute a string\n@attribute class string\n@data\n'1','2','ä'\n"
    with pytest.raises(errors.WrongEncodingError, match="--encoding latin-1"):
        read(written(tmp_path / "t.arff", text, "latin-1"), "class")
    assert capfd.readouterr().err == ""


def test_whole_numbers_that_may_be_measurements_are_noted(tmp_path):
    path = written(tmp_path / "t.csv", "x,age\n" + "".join(f"{i % 7},{20 + i}\n" for i in range(40)))
    table = read(path, "age")
    assert table.notes == (
        "The target 'age' has 40 different whole numbers in 40 rows, and each of them is a class. If they are "
        "measurements, name another target, or cut them into ranges (pandas.qcut).",
    )
    few = written(tmp_path / "few.csv", "x,digit\n" + "".join(f"{i},{i % 10}\n" for i in range(40)))
    assert read(few, "digit").notes == ()


SIZES = "x,size\n1,mid\n2,low\n3,high\n4,mid\n"


def test_the_order_of_the_classes(tmp_path):
    path = written(tmp_path / "t.csv", SIZES)
    table = read(path, "size", order=["low", "mid", "high"])
    assert table.schema.classes == ("high", "low", "mid")
    assert table.schema.order == table.schema.classes_in_order == ("low", "mid", "high")
    assert Schema.from_dict(table.schema.as_dict()) == table.schema
    assert read(path, "size").schema.order == ()
    assert read(path, "size").schema.classes_in_order == ("high", "low", "mid")
    numbers = written(tmp_path / "n.csv", "x,grade\n1,10\n2,2\n")
    assert read(numbers, "grade", order=["10", "2"]).schema.order == (10, 2)


@pytest.mark.parametrize(
    ("order", "wrong"),
    [
        (["low", "mid"], "it lacks 'high'"),
        (["low", "mid", "hihg"], "it lacks 'high'; no row has 'hihg'"),
        (["low", "mid", "high", "mid"], "it repeats 'mid'"),
    ],
)
def test_an_order_names_every_class_once(tmp_path, order, wrong):
    with pytest.raises(errors.UnknownLabelsError, match=rf"--order.*must name every class once.*: {wrong}\."):
        read(written(tmp_path / "t.csv", SIZES), "size", order=order)


def test_an_ordered_column_of_a_parquet_file(tmp_path):
    path, labels = tmp_path / "t.parquet", ["low", "mid", "high"]
    target = pd.Categorical([labels[i] for i in (1, 0, 2, 1)], categories=[*labels, "nobody"], ordered=True)
    colour = pd.Categorical(["b", "a", "b", "a"], categories=["b", "a"], ordered=True)
    pd.DataFrame({"x": range(4), "colour": colour, "class": target}).to_parquet(path)
    for named in (None, "class"):
        table = read(path, named)
        assert table.schema.order == tuple(labels)
        assert table.target.tolist() == [labels[i] for i in (1, 0, 2, 1)]
        assert table.frame["colour"].tolist() == ["b", "a", "b", "a"]
    frame = pd.read_parquet(path)
    assert tables.from_frame(frame[["x"]], frame["class"]).schema.order == tuple(labels)
    numbers = pd.Series(pd.Categorical([3, 1, 2, 3], categories=[3, 1, 2], ordered=True))
    assert tables.from_frame(frame[["x"]], numbers).schema.order == (3, 1, 2)
    np.testing.assert_array_equal(next(iter(read_chunks(path, table.schema)))["colour"], ["b", "a", "b", "a"])


@pytest.mark.parametrize("text", ["inf", "-inf", "1e400", "1.5.2"])
def test_a_cell_that_is_no_finite_number_is_named(tmp_path, text):
    schema = read(written(tmp_path / "t.csv", "x,z,class\n1,1,a\n2,1,b\n")).schema
    path = written(tmp_path / "new.csv", f"x,z\n1,1\n2,1\n3,{text}\n")
    for rows in (2, 50):
        with pytest.raises(errors.WrongKindError, match=r"new\.csv: column 'z' .* row 3 has '?[^ ]+'?\.$"):
            list(read_chunks(path, schema, rows=rows))


def test_more_features_of_a_libsvm_file_are_left_out(tmp_path):
    schema = read(written(tmp_path / "t.svm", "1 1:5 2:6\n2 1:7 2:8\n")).schema
    path = written(tmp_path / "new.svm", "1 1:3 7:1\n2 2:4\n")
    (chunk,) = read_chunks(path, schema)
    assert chunk.to_numpy().tolist() == [[3, 0], [0, 4]]
    assert read(path, schema=schema).frame.to_numpy().tolist() == [[3, 0], [0, 4]]


def test_another_separator_is_named_at_prediction(tmp_path):
    schema = read(written(tmp_path / "t.csv", "x,z,class\n1,1,a\n2,1,b\n")).schema
    path = written(tmp_path / "new.csv", "x;z\n1;1\n")
    with pytest.raises(errors.MissingColumnsError, match=r"no column 'x', 'z'; it has 'x;z'\..*\(--sep ';'\)"):
        list(read_chunks(path, schema))


def test_a_nul_in_the_name_of_a_column(tmp_path):
    path = written(tmp_path / "t.csv", "x\0,class\n1,a\n2,b\n")
    with pytest.raises(errors.DamagedTableError, match=r"column 'x\\x00' holds a NUL character"):
        read(path)


def test_long_names_of_columns_are_cut_in_messages(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(f"{'x' * 100_000},kind\n1,a\n2,b\n")
    with pytest.raises(
        errors.NoTargetError, match=r"no target column 'class' \(--target\); it has 'x+…x+', 'kind'\."
    ) as raised:
        read(path, "class")
    assert len(str(raised.value)) < 500
