"""Bad input in blocks of rows, in files and in batches: refused at the door, by name, with what to do."""

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_iris

from outputcodes import AdaBoostMH, AdaBoostMO, AdaBoostMR, AdaBoostOC, GradientBoost, OutputCodeClassifier, SmoothBoost
from outputcodes.app.tables import errors, read_blocks
from outputcodes.learners import ColumnTree, Ridge
from outputcodes.training import RowBlocks

X, y = load_iris(return_X_y=True)
FRAME = pd.DataFrame(X, columns=list("abcd"))
MODELS = {name: OutputCodeClassifier(name, code="one-vs-all") for name in ("ridge", "logistic", "linear-svm", "tree")}
MODELS |= {name: OutputCodeClassifier(name, code="one-vs-all") for name in ("stumps", "boosted-trees", "kernel-svm")}
MODELS |= {"MO": AdaBoostMO("one-vs-all", 2, bins=8), "MH": AdaBoostMH(2, bins=8), "GradientBoost": GradientBoost(2)}
MODELS |= {"MR": AdaBoostMR(2, bins=8), "OC": AdaBoostOC(2, bins=8), "SmoothBoost": SmoothBoost(2, bins=8)}
every_model = pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)


def blocks(table=X):
    return RowBlocks([table[:50], table[50:]])


def changed(value, dtype=float):
    table = X.astype(dtype)
    table[120, 2] = value
    return table


@pytest.mark.parametrize(
    ("second", "message"),
    [
        (X[50:, :3], "different numbers of columns, [3, 4]; give them the same"),
        (X[50:].astype(np.float32), "different dtypes, float32 and float64; convert them with astype"),
        (sp.csr_array(X[50:]), "different types, sparse matrix and array; give them the same"),
        (FRAME[50:], "different types, data frame and array; give them the same"),
    ],
    ids=["width", "dtype", "sparse", "frame"],
)
def test_blocks_are_of_one_kind(second, message):
    with pytest.raises(ValueError, match="^Block 1 and block 0 have " + re.escape(message)):
        RowBlocks([X[:50], second])


def test_frames_have_the_same_columns():
    for names, message in (
        ("abdc", "different columns: column 2 is 'd' in the one and 'c' in the other; give them the same columns"),
        ("abcd", "different dtypes of column 'c', int64 and float64; convert them with astype"),
    ):
        other = pd.DataFrame(X[50:], columns=list(names)).astype({"c": int})
        with pytest.raises(ValueError, match=f"^Block 1 and block 0 have {message}"):
            RowBlocks([FRAME[:50], other])


@every_model
def test_functions_of_blocks_keep_all_rows(model):
    message = "^In block 1: the function given to through returned 99 rows for 100: it must keep every row"
    with pytest.raises(ValueError, match=message):
        model.fit(blocks().through(lambda block: block[-99:]), y)
    model.fit(blocks(), y)
    with pytest.raises(ValueError, match=message):
        model.predict(blocks().through(lambda block: block[-99:]))
    with pytest.raises(ValueError, match=r"^through takes a function of a block"):
        blocks().through(np.eye(3))


@pytest.mark.parametrize("name", ["table.npy", Path("table.npy")], ids=type)
def test_names_of_files_are_no_tables(name):
    with pytest.raises(ValueError, match=r"^X='table.npy' is the name of a file: give its values, or read it by"):
        OutputCodeClassifier("ridge").fit(name, y)


@pytest.mark.parametrize("block", [None, 3.5, y, "text", np.ones((2, 2, 2))], ids=str)
def test_a_block_is_a_table(block):
    with pytest.raises(ValueError, match=r"^Block 1 is .*; a block is a table of rows and columns"):
        RowBlocks([X, block])


@pytest.mark.parametrize(
    ("later", "message"),
    [
        (None, "Block 1 is NoneType"),
        (X[50:149], "Block 1 has changed since it was first read: it had 100 rows of 4 columns"),
        (X[50:, :3], "Block 1 has changed since it was first read: it had 100 rows of 4 columns"),
        (X[50:].astype(int), "Block 1 has changed since it was first read: it had 100 rows of 4 columns"),
    ],
    ids=["nothing", "rows", "columns", "dtype"],
)
def test_blocks_that_become_something_else_are_refused(later, message):
    second = [X[50:]]
    given = RowBlocks(lambda: iter([X[:50], second[0]]))
    second[0] = later
    with pytest.raises(ValueError, match=message):
        OutputCodeClassifier("tree", code="one-vs-all").fit(given, y)


@every_model
def test_lengths_and_labels(model):
    short = "y has 100 labels but X has 150 rows; give one label per row"
    for labels, message in (
        (y[:100], short),
        (None, "requires y to be passed"),
        (np.where(y > 1, np.nan, y), "y has missing labels"),
        ([y[:50], y[50:]], "y is a list of 2 parts: give the labels of all rows as one array"),
        (
            RowBlocks([y[:50, None], y[50:, None]]),
            "y is a RowBlocks of 2 parts: give the labels of all rows as one array",
        ),
        (np.zeros(150), "only one class with positive weight"),
    ):
        with pytest.raises(ValueError, match=message):
            model.fit(blocks(), labels)
    with pytest.raises(ValueError, match="sample_weight has 100 entries but X has 150 rows; give one weight per row"):
        model.fit(blocks(), y, np.ones(100))
    with pytest.raises(ValueError, match=r"sample_weight\[3\]=-1.0 must be finite and at least 0"):
        model.fit(blocks(), y, np.where(np.arange(150) == 3, -1.0, 1.0))


@every_model
def test_values(model):
    with pytest.raises(ValueError, match=r"^In block 1.*: Input X contains infinity"):
        model.fit(blocks(changed(np.inf)), y)
    with pytest.raises(ValueError, match=r"^In block 1, with its rows counted from 0: Input X contains infinity"):
        model.fit(RowBlocks([X[:0], changed(np.inf)]), y)
    with pytest.raises(ValueError, match=r"^(?!In block).*0 sample"):
        model.fit(RowBlocks([X[:0], X[:0]]), y[:0])
    with pytest.raises(ValueError, match="0 feature"):
        model.fit(blocks(X[:, :0]), y)
    for table in (changed("red", object), pd.DataFrame(changed("red", object), columns=list("abcd"))):
        column = "'c'" if hasattr(table, "columns") else "2"
        found = rf"X has text in column {column} \('red' in row (7|12)0\), but \w+ takes numbers: encode its categories"
        with pytest.raises(ValueError, match=found):
            model.fit(blocks(table), y)
    with pytest.raises(ValueError, match=r"X is a list of 2 tables; make them blocks of rows: .*RowBlocks\(X\)"):
        model.fit([X[:50], X[50:]], y)
    fitted = model.fit(blocks(), y)
    with pytest.raises(ValueError, match=f"X has 3 features, but {type(model).__name__} is expecting 4"):
        fitted.predict(blocks(X[:, :3]))
    with pytest.raises(ValueError, match=r"^In block 1, .*infinity"):
        fitted.predict(blocks(changed(np.inf)))


def test_the_first_infinite_value_is_named():
    where = (
        r"^In block 1, with its rows counted from 0: Input X contains infinity .* The first is in row 70, column 2\.$"
    )
    for table in (changed(np.inf), sp.csr_array(changed(np.inf))):
        with pytest.raises(ValueError, match=where):
            MODELS["ridge"].fit(blocks(table), y)
    with pytest.raises(ValueError, match=r"^Input X contains NaN, and .* The first is in row 120, column 2\.$"):
        MODELS["ridge"].fit(changed(np.nan), y)


def test_generators_are_wrapped_in_a_function():
    parts = (part for part in (X[:50], X[50:]))
    with pytest.raises(ValueError, match=r"^X is a generator, which can be read only once; .*RowBlocks\(lambda: "):
        MODELS["ridge"].fit(parts, y)


@pytest.mark.parametrize("returned", [None, X], ids=["nothing", "table"])
def test_functions_return_blocks(returned):
    found = f"^The function that RowBlocks was given returned {type(returned).__name__}; .* return all blocks"
    with pytest.raises(ValueError, match=found):
        RowBlocks(lambda: returned)


@pytest.mark.parametrize("names", ["folder", Path("folder"), ["a.csv", "b.csv"], [Path("a.csv")]], ids=str)
def test_files_are_read_by_read_blocks(names):
    with pytest.raises(ValueError, match=r"outputcodes.app.tables.read_blocks reads a file, a folder or a pattern"):
        RowBlocks(names)


@pytest.mark.parametrize("name", ["ridge", "logistic", "linear-svm", "kernel-svm"])
def test_missing_and_huge_values(name):
    for table in (changed(np.nan), pd.DataFrame(changed(np.nan))):
        with pytest.raises(ValueError, match=r"Input X contains NaN, and \w+ takes no missing values here: fill them"):
            MODELS[name].fit(blocks(table), y)
    with pytest.raises(ValueError, match=r"^X\[120, 2\]=1e\+200 is too large"):
        MODELS[name].fit(blocks(changed(1e200)), y)
    with pytest.raises(ValueError, match=r"^X\[120, 2\]=1e\+200 is too large"):
        MODELS[name].fit(blocks(changed(1e200)), y, sample_weight=(np.arange(150) % 3 < 2) * 1.0)


@pytest.mark.parametrize("learner", [Ridge(), ColumnTree()], ids=str)
def test_a_learner_alone_reads_one_table(learner):
    with pytest.raises(ValueError, match=r"blocks of rows, which \w+ does not read: give one table, X.joined\(\)"):
        learner.fit(blocks(), y > 0)


@pytest.mark.parametrize("code", ["decoc", "forest", "tree", "designed", "ecoc-one"])
def test_codes_from_data_read_all_rows(code):
    one, whole = (OutputCodeClassifier("ridge", code=code, random_state=0).fit(data, y) for data in (blocks(), X))
    assert np.array_equal(one.code_matrix_, whole.code_matrix_)
    assert np.allclose(one.margins(X), whole.margins(X))


def test_a_tree_as_the_weak_learner_of_a_booster_reads_all_rows():
    booster = AdaBoostMO("one-vs-all", 2, estimator=ColumnTree(max_depth=2), random_state=0)
    first = booster.fit(blocks(), y).margins(X)
    assert np.array_equal(first, booster.fit(X, y).margins(X))


@pytest.mark.parametrize("name", ["ridge", "logistic", "linear-svm"])
def test_batches(name):
    for arguments, message in (
        ((X[:, :3], y), "X has 3 features, but OutputCodeClassifier is expecting 4"),
        ((X, y[:100]), "y has 100 labels but X has 150 rows"),
        ((X, y, None, np.ones(3)), "sample_weight has 3 entries but X has 150 rows"),
        ((changed(np.nan), y), "Input X contains NaN, and"),
        ((X, np.where(y > 1, np.nan, y)), "y has missing labels"),
        ((changed("red", object), y), r"X has text in column 2 \('red' in row 120\)"),
        ((X, np.array(list("abc"))[y]), "y has the label 'a', and those before are such as 0: text and numbers"),
        ((blocks(), y), "X is in blocks of rows, and partial_fit takes one batch: call it for each block"),
        ((changed(1e200), y), r"X\[120, 2\]=1e\+200 is too large"),
        ((X, np.eye(3, dtype=int)[y]), "y is multilabel, which partial_fit does not take"),
    ):
        model = OutputCodeClassifier(name, code="one-vs-all").partial_fit(X[::2], y[::2])
        expected = model.margins(X)
        with pytest.raises(ValueError, match=message):
            model.partial_fit(*arguments)
        assert np.array_equal(model.margins(X), expected)
    if name != "ridge":
        with pytest.raises(ValueError, match="X is sparse, and the batches before were dense: give all batches in one"):
            model.partial_fit(sp.csr_array(X), y)


@pytest.mark.parametrize("code", ["complete", "ternary-complete", "hadamard", "bch", "ordinal", np.eye(3) * 2 - 1])
def test_codes_that_can_not_grow(code):
    model = OutputCodeClassifier("ridge", code=code).partial_fit(X, y)
    with pytest.raises(ValueError, match=r"has a row for each of its 3 classes and can't grow: name all classes"):
        model.partial_fit(X, y + 1)


def test_folders_and_patterns(tmp_path):
    with pytest.raises(errors.NoSuchTableError, match="has no tables; it is empty"):
        read_blocks(tmp_path)
    with pytest.raises(errors.NoSuchTableError, match="There is no file of the pattern"):
        read_blocks(tmp_path / "*.csv")
    with pytest.raises(errors.NoSuchTableError, match=r"There is no file or folder .*missing"):
        read_blocks(tmp_path / "missing")
    (tmp_path / "a.csv").write_text("a,target\n")
    with pytest.raises(errors.NoRowsError, match=r"a.csv has no rows"):
        read_blocks(tmp_path)
    (tmp_path / "b.csv").write_text("a,target\n")
    with pytest.raises(errors.NoRowsError, match=r"None of the files in .* has rows"):
        read_blocks(tmp_path)
    # Beside others, a file without rows is normal.
    (tmp_path / "c.csv").write_text("a,target\n1,x\n2,y\n")
    assert read_blocks(tmp_path).frames.shape == (2, 1)
    for rows in (0, 1.5, True):
        with pytest.raises(ValueError, match=f"rows={rows} must be an integer of at least 1, or None"):
            read_blocks(tmp_path, rows=rows)


@pytest.mark.parametrize(("value", "words"), [(np.nan, "contains NaN"), (np.inf, "contains infinity")])
@pytest.mark.parametrize("name", ["ridge", "logistic", "linear-svm", "kernel-svm"])
def test_a_data_frame_is_refused_with_the_place_as_an_array_is(name, value, words):
    model, bad = OutputCodeClassifier(name).fit(FRAME, y), FRAME.copy()
    bad.iloc[120, 2] = value
    place = "The first is in row {}, column 'c'"
    for output in (model.predict, lambda rows: OutputCodeClassifier(name).fit(rows, y)):
        with pytest.raises(ValueError, match=f"^Input X {words}.*{place.format(120)}"):
            output(bad)
        with pytest.raises(ValueError, match=f"^In block 1.*Input X {words}.*{place.format(70)}"):
            output(blocks(bad))


STAGED = [AdaBoostMH(3), AdaBoostMO("one-vs-all", 3), AdaBoostMR(3), AdaBoostOC(3), SmoothBoost(3), GradientBoost(3)]


@pytest.mark.parametrize("model", STAGED, ids=str)
def test_stages_of_blocks_are_those_of_their_rows(model):
    model.fit(X, y)
    stages = model.staged_decision_function(RowBlocks([FRAME.iloc[:0].to_numpy(), X[:50], X[50:]]))
    for found, expected in zip(stages, model.staged_decision_function(X), strict=True):
        np.testing.assert_array_equal(found, expected)
