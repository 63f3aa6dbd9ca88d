"""The same table in every format, whole and in chunks; every bad table has its own error."""

from __future__ import annotations

import bz2
import gzip
import math
import re
import sys

import numpy as np
import pytest
from sklearn.datasets import dump_svmlight_file

from outputcodes.app import tables
from outputcodes.app.tables import Column, Schema, delimited, errors, read, read_chunks

pd = pytest.importorskip("pandas")
pytest.importorskip("pyarrow")

CSV = '''size,colour,born,open,note,class
1.5,red,2020-01-31,True,,10
,blue,2020-02-01T12:00:00,False,,2
3,"light, ""green""",,True,,2
4,,1969-12-31,,,10
'''
ARFF = """% a comment
@RELATION fruit
@attribute size NUMERIC
@attribute colour {red, blue, 'light, "green"'}
@attribute 'born' date "yyyy-MM-dd'T'HH:mm:ss"
@attribute open {True, False}
@attribute note string
@attribute class {10, 2}

@data
1.5,red,2020-01-31,True,?,10
?, blue ,2020-02-01T12:00:00,False,?,2
3,'light, "green"',?,True,?,2
4,?,1969-12-31,?,?,10
% the end
"""
SCHEMA = Schema(
    (
        Column("size", "number"),
        Column("colour", "category", ("blue", 'light, "green"', "red")),
        Column("born", "date"),
        Column("open", "category", ("False", "True")),
        Column("note", "empty"),
    ),
    "class",
    (2, 10),
)
ROWS = [
    [1.5, "red", "2020-01-31 00:00:00", "True"],
    [None, "blue", "2020-02-01 12:00:00", "False"],
    [3.0, 'light, "green"', None, "True"],
    [4.0, None, "1969-12-31 00:00:00", None],
]


def plain(frame):
    """Rows of Python values, None for missing, dates as text."""
    return [[None if pd.isna(v) else str(v) if isinstance(v, pd.Timestamp) else v for v in row] for row in frame.values]


def write(tmp_path, name):
    path = tmp_path / name
    if name.endswith(".parquet"):
        frame = pd.DataFrame(
            {
                "size": [1.5, None, 3, 4],
                "colour": pd.Categorical(["red", "blue", 'light, "green"', None]),
                "born": pd.to_datetime(["2020-01-31T00", "2020-02-01T12", None, "1969-12-31T00"]),
                "open": pd.array([True, False, True, None], dtype="boolean"),
                "note": pd.Series([None] * 4, dtype=object),
                "class": [10, 2, 2, 10],
            }
        )
        frame.to_parquet(path)
        return path
    text = ARFF if ".arff" in name else CSV
    if ".tsv" in name:
        text = text.replace('"light, ""green"""', "@").replace(",", "\t").replace("@", '"light, ""green"""')
    packed = {"gz": gzip.compress, "bz2": bz2.compress}.get(name.rsplit(".", 1)[1], bytes)
    path.write_bytes(packed(text.encode()))
    return path


@pytest.mark.parametrize("name", ["t.csv", "T.CSV.gz", "t.csv.bz2", "t.tsv", "t.parquet", "t.arff", "t.arff.gz"])
def test_every_format_gives_the_same_table(tmp_path, name):
    table = read(write(tmp_path, name.lower()))
    assert table.schema == SCHEMA
    assert table.target.tolist() == [10, 2, 2, 10]
    assert plain(table.frame) == ROWS
    assert table.unlabelled == 0


@pytest.mark.parametrize("name", ["t.csv", "t.csv.gz", "t.parquet", "t.arff"])
@pytest.mark.parametrize("rows", [1, 3, 100])
def test_chunks_are_the_table_in_pieces(tmp_path, name, rows):
    chunks = list(read_chunks(write(tmp_path, name), SCHEMA, rows=rows))
    assert [len(chunk) for chunk in chunks] == {1: [1] * 4, 3: [3, 1], 100: [4]}[rows]
    together = pd.concat(chunks)
    assert plain(together) == ROWS
    assert together.index.tolist() == [1, 2, 3, 4]


def test_chunks_over_several_blocks(tmp_path, monkeypatch):
    monkeypatch.setattr(delimited, "CHUNK_BLOCK_BYTES", 1000)
    path = tmp_path / "t.csv"
    # After the first block the unused column turns to text and the used one gets a fraction.
    path.write_text("unused,x\n" + "1,2\n" * 1000 + "text,2.5\n")
    schema = Schema((Column("x", "number"),))
    assert np.concatenate([chunk["x"] for chunk in read_chunks(path, schema)]).tolist() == [2] * 1000 + [2.5]


@pytest.mark.parametrize("zero_based", [True, False])
def test_libsvm(tmp_path, zero_based):
    X = np.array([[0.0, 1.5, 0.0], [2.0, 0.0, 0.0], [0.5, 0.0, 3.0]])
    path = tmp_path / "t.libsvm"
    dump_svmlight_file(X, [1, 3, 1], str(path), zero_based=zero_based)
    table = read(path)
    assert list(table.frame.columns) == (["0", "1", "2"] if zero_based else ["1", "2", "3"])
    assert np.array_equal(table.frame, X)
    assert table.target.tolist() == [1, 3, 1]
    assert np.array_equal(pd.concat(read_chunks(path, table.schema, rows=2)), X)


def test_a_schema_survives_json():
    import json

    assert Schema.from_dict(json.loads(json.dumps(SCHEMA.as_dict()))) == SCHEMA


def test_labels_keep_what_is_written(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("x,Class\n1,007\n2,7\n3,\n")
    for target in (None, "Class"):
        table = read(path, target)
        assert table.target.tolist() == ["007", "7"]
        assert table.unlabelled == 1
        assert table.frame["x"].tolist() == [1, 2]


def test_split_and_codes(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("code,part,kind\n01,train,a\n2,test,b\n")
    table = read(path, "kind", split="part", categorical=["code"])
    assert table.split.tolist() == ["train", "test"]
    assert table.schema.columns == (Column("code", "category", ("01", "2")),)
    with pytest.raises(errors.MissingColumnsError, match="no column 'cod'; it has 'code', 'part'"):
        read(path, "kind", categorical=["cod"])


def test_free_text_is_left_out(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("id,x,class\n" + "".join(f"id{i},{i},{i % 2}\n" for i in range(1001)))
    table = read(path)
    assert table.schema.names("text") == ["id"]
    assert list(table.frame) == ["x"]
    assert table.notes[0].startswith("Left out as text or identifiers of more than 1000 different values: 'id'.")


def test_test_table_takes_the_labels_and_kinds_of_training(tmp_path):
    train, test = tmp_path / "train.csv", tmp_path / "test.csv"
    train.write_text("code,x,class\na1,1,1\nb2,2,2\n")
    test.write_text("extra,x,class,code\n0,5,2,17\n0,6,2,\n")
    table = read(test, schema=read(train).schema)
    assert table.target.tolist() == [2, 2]
    assert plain(table.frame) == [["17", 5.0], [None, 6.0]]
    test.write_text("x,class,code\n5,3,a1\n")
    with pytest.raises(errors.UnknownLabelsError, match="'3'"):
        read(test, schema=read(train).schema)


BAD = {
    "empty.csv": (b"", errors.EmptyTableError, "empty"),
    "blank.csv": (b"\n\n", errors.EmptyTableError, "empty"),
    "header.csv": (b"x,class\n", errors.EmptyTableError, "no rows"),
    "long.csv": (b"x,class\n1,a\n2,b,c\n", errors.RaggedRowsError, "row 2 has 3 fields, not 2: 2,b,c"),
    "short.csv": (b"x,class\n1,a\n2\n", errors.RaggedRowsError, "row 2 has 1 fields, not 2: 2"),
    "latin.csv": ("x,class\n1,é\n2,b\n".encode("latin-1"), errors.WrongEncodingError, "encoding='latin-1'"),
    "latin_header.csv": ("é,class\n1,a\n2,b\n".encode("latin-1"), errors.WrongEncodingError, "encoding='latin-1'"),
    "wide.csv": ("x,class\n1,a\n2,b\n".encode("utf-16"), errors.WrongEncodingError, "encoding"),
    "twice.csv": (b"x,x,class,y,y\n1,2,a,1,1\n", errors.DuplicateColumnsError, "'x', 'y'"),
    "target.csv": (b"x,y\n1,a\n", errors.NoTargetError, "'x', 'y'"),
    "unlabelled.csv": (b"x,class\n1,\n2,?\n", errors.NoLabelsError, "'class'"),
    "same.csv": (b"x,class\n1,a\n2,a\n", errors.OneClassError, "'a'"),
    "cut.csv.gz": (gzip.compress(b"x,class\n" + b"1,a\n" * 99)[:-12], errors.DamagedTableError, "incomplete"),
    "no.csv.gz": (b"x,class\n1,a\n2,b\n", errors.DamagedTableError, "not in the format of its name"),
    "no.parquet": (b"x,class\n1,a\n2,b\n", errors.DamagedTableError, "not in the format of its name"),
    "no.arff": (b"x,class\n1,a\n2,b\n", errors.DamagedTableError, "no @attribute"),
    "sparse.arff": (b"@attribute x real\n@data\n{0 1}\n", errors.UnknownFormatError, "sparse"),
    "long.arff": (
        b"@attribute x real\n@attribute class {a,b}\n@data\n1,a,2\n",
        errors.RaggedRowsError,
        "row 1 has 3 fields",
    ),
    "text.arff": (
        b"@attribute x real\n@attribute class {a,b}\n@data\ny,a\n",
        errors.WrongKindError,
        "'x'.*row 1 has 'y'",
    ),
    "no.libsvm": (b"x,class\n1,a\n", errors.DamagedTableError, "not in the format of its name"),
    "infinite.csv": (b"x,class\n1,a\ninf,b\n", errors.WrongKindError, "'x'.*row 2 has 'inf'"),
    "table.xlsx": (b"PK", errors.UnknownFormatError, ".csv, .tsv"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_tables(tmp_path, name):
    content, error, words = BAD[name]
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(error, match=words) as caught:
        read(path)
    assert isinstance(caught.value, tables.TableError)
    assert name in str(caught.value)


def test_latin_text_with_its_encoding(tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes("é,class\nü,a\nö,b\n".encode("latin-1"))
    assert read(path, encoding="latin-1").schema.columns == (Column("é", "category", ("ö", "ü")),)


def test_no_such_file(tmp_path):
    with pytest.raises(errors.NoSuchTableError, match=r"nothing\.csv"):
        read(tmp_path / "nothing.csv")
    with pytest.raises(FileNotFoundError):
        next(read_chunks(tmp_path / "nothing.csv", SCHEMA))


def test_no_such_target(tmp_path):
    with pytest.raises(errors.NoTargetError, match=r"'kind'.*'size', 'colour'"):
        read(write(tmp_path, "t.csv"), "kind")


@pytest.mark.parametrize("packed", [False, True])
def test_a_line_over_64_mb(tmp_path, packed):
    path = tmp_path / ("t.csv.gz" if packed else "t.csv")
    line = b"x,class\n1,a\n" + b"x" * (65 << 20) + b",b\n"
    path.write_bytes(gzip.compress(line, 1) if packed else line)
    with pytest.raises(errors.LineTooLongError, match="longer than 32 MB"):
        read(path)
    with pytest.raises(errors.LineTooLongError, match="longer than 4 MB"):
        list(read_chunks(path, Schema((Column("x", "category"),))))


def test_a_column_of_lists(tmp_path):
    path = tmp_path / "t.parquet"
    pd.DataFrame({"x": [[1], [2]], "class": ["a", "b"]}).to_parquet(path)
    with pytest.raises(errors.WrongKindError, match="'x' holds list"):
        read(path)


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_wrong_tables_at_prediction(tmp_path, ending):
    path = tmp_path / f"t.{ending}"

    def chunk(**columns):
        frame = pd.DataFrame({"size": [1.0], "colour": ["red"], "born": ["2020-01-01"], "open": ["True"]} | columns)
        frame.to_csv(path, index=False) if ending == "csv" else frame.to_parquet(path)
        return next(read_chunks(path, SCHEMA))

    assert plain(chunk()) == [[1.0, "red", "2020-01-01 00:00:00", "True"]]
    assert plain(chunk(colour=["violet"], size=[None])) == [[None, "violet", "2020-01-01 00:00:00", "True"]]
    with pytest.raises(errors.WrongKindError, match="'size' must hold a number in every row, and row 1 has 'big'"):
        chunk(size=["big"])
    with pytest.raises(errors.WrongKindError, match="'born' must hold a date in every row, and row 1 has 'spring'"):
        chunk(born=["spring"])
    pd.DataFrame({"colour": ["red"], "open": ["True"]}).to_csv(tmp_path / "less.csv", index=False)
    with pytest.raises(errors.MissingColumnsError, match="lacks 'size', 'born'"):
        next(read_chunks(tmp_path / "less.csv", SCHEMA))


def test_times_of_day_and_time_zones(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("at,since,class\n12:30,2020-01-01T10:00:00+02:00,a\n9:05,2020-01-01T08:00:00Z,b\n")
    table = read(path)
    assert table.schema.columns == (Column("at", "category", ("12:30", "9:05")), Column("since", "date"))
    assert plain(table.frame) == [["12:30", "2020-01-01 08:00:00"], ["9:05", "2020-01-01 08:00:00"]]
    (chunk,) = read_chunks(path, table.schema)
    assert plain(chunk) == plain(table.frame)


def test_data_in_memory():
    features = pd.DataFrame({"x": pd.array([1, None, 3], dtype="Int64"), "good": [True, False, True]}, index=[5, 5, 6])
    table = tables.from_frame(features, pd.Series(["a", None, "b"], index=[5, 5, 6], name="kind"))
    assert table.schema == Schema((Column("x", "number"), Column("good", "category", ("True",))), "kind", ("a", "b"))
    assert plain(table.frame) == [[1.0, "True"], [3.0, "True"]]
    assert table.unlabelled == 1


def test_infinity_is_not_missing():
    frame = pd.DataFrame({"x": [1.0, -math.inf, math.nan]})
    with pytest.raises(errors.WrongKindError, match="row 1 has '-inf'"):
        tables.infer(frame).conform(frame)


def test_what_to_install(tmp_path, monkeypatch):
    path = write(tmp_path, "t.csv")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ImportError, match=r"pyarrow: pip install 'outputcodes\[table\]'"):
        read(path)


@pytest.mark.parametrize("ending", ["csv", "tsv", "arff"])
def test_rows_without_a_label_are_counted_by_what_stands_there(tmp_path, ending):
    path = tmp_path / f"t.{ending}"
    words = ["a", "NA", "b", "NA", "null", "a", "NULL", "None", "N/A", "?", "nan", "NaN"] + [""] * (ending != "arff")
    rows = [f"{i},{word}" for i, word in enumerate(words)]
    if ending == "arff":
        path.write_text("\n".join(["@attribute x real", "@attribute class {a,b}", "@data", *rows]))
    else:
        path.write_text("\n".join(["x,class", *rows]).replace(",", "\t" if ending == "tsv" else ","))
    table = read(path)
    (note,) = table.notes
    assert note.startswith(f"{len(words) - 3} rows without a label left out ('NA' 2, 'null' 1, 'NULL' 1")
    assert sum(int(count) for count in re.findall(r"(?:'|empty) (\d+)", note)) == table.unlabelled == len(words) - 3


def test_missing_labels_of_parquet_and_of_frames_are_counted(tmp_path):
    frame = pd.DataFrame({"x": [1, 2, 3], "class": ["a", None, "b"]})
    frame.to_parquet(tmp_path / "t.parquet")
    expected = ("1 row without a label left out.",)
    assert read(tmp_path / "t.parquet").notes == tables.from_frame(frame[["x"]], frame["class"]).notes == expected


@pytest.mark.parametrize("n", [100, 1500])
def test_a_slip_of_typing_in_a_column_of_numbers_is_named(tmp_path, n):
    """Of more than a thousand different values it would be left out as text, of fewer it is a category."""
    cells = [str(1000 + i) for i in range(n)]
    cells[6], cells[7] = "", "1,5OO"
    path = tmp_path / "t.csv"
    # The first row has no label: rows are counted as in the file.
    rows = [f'"{cell}",{"ab"[i % 2] if i else ""}\n' for i, cell in enumerate(cells)]
    path.write_text("weight,class\n" + "".join(rows))
    _, note = read(path).notes
    assert "'weight' is " + ("read as a category" if n == 100 else "left out as text") in note
    assert f"{n - 3} of its {n - 2} different values are numbers, and row 8 has '1,5OO'" in note
    assert note not in read(path, categorical=["weight"]).notes
    rows[7] = "1500,b\n"
    path.write_text("weight,class\n" + "".join(rows))
    assert len(read(path).notes) == 1


@pytest.mark.parametrize("codes", [["1", "2", "X"], [*map(str, range(30)), "A1", "B2"], ["7"] * 30 + ["other"]])
def test_categories_of_which_many_are_numbers_are_no_slips(tmp_path, codes):
    path = tmp_path / "t.csv"
    path.write_text("ward,class\n" + "".join(f"{code},{label}\n" for code in codes for label in "abc"))
    assert read(path).notes == ()


def test_measurements_are_no_labels(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("x,price\n" + "".join(f"{i},{i / 7:.3f}\n" for i in range(30)))
    with pytest.raises(errors.ContinuousTargetError, match=r"'price' holds 30 different numbers in 30 rows.*qcut"):
        read(path, "price")
    # Grades such as 1.3 are classes, and so are whole numbers, however many.
    path.write_text("x,price\n" + "".join(f"{i},{1 + i % 5 / 4}\n" for i in range(30)))
    assert len(read(path, "price").schema.classes) == 5
    path.write_text("x,price\n" + "".join(f"{i},{i}\n" for i in range(30)))
    assert len(read(path, "price").schema.classes) == 30


def test_columns_that_are_hardly_what_they_seem(tmp_path):
    path = tmp_path / "t.csv"
    lines = [f'"{i},5",id{i},{i % 3},,{i % 2}\n' for i in range(40)]
    path.write_text("price,id,colour,note,class\n" + "".join(lines))
    assert read(path).notes == (
        "Left out as empty: 'note'.",
        "'price': 40 categories in 40 rows, such as '0,5'; for a decimal comma, use decimal=',' (--decimal ,).",
        "'id': 40 categories in 40 rows, such as 'id0'; leave out identifiers, drop=['id'] (--drop id).",
    )


@pytest.mark.parametrize("target", [None, "class"])
@pytest.mark.parametrize("row", ["1;a", "1,5;a"])
def test_another_separator_is_reported(tmp_path, row, target):
    path = tmp_path / "t.csv"
    path.write_text(f"x;class\n{row}\n{row}\n")
    with pytest.raises(tables.TableError, match="fields look separated by ';'"):
        read(path, target)
