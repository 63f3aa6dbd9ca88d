"""Bad input in Dask collections and delayed tables: refused before the training, by name, with what to do."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris

from outputcodes import GradientBoost, OutputCodeClassifier
from outputcodes.training import RowBlocks

da = pytest.importorskip("dask.array", reason="needs the extra dask")
dd = pytest.importorskip("dask.dataframe", reason="needs the extra dask")
bag = pytest.importorskip("dask.bag", reason="needs the extra dask")
delayed = pytest.importorskip("dask").delayed
pytestmark = pytest.mark.filterwarnings("ignore")

X, y = load_iris(return_X_y=True)


def rows(table=X):
    return da.from_array(table, chunks=(50, table.shape[1]))


def changed(value, dtype=float):
    table = X.astype(dtype)
    table[120, 2] = value
    return table


def model(name="tree"):
    return GradientBoost(2) if name == "GradientBoost" else OutputCodeClassifier(name, code="one-vs-all")


@pytest.mark.parametrize("name", ["ridge", "tree", "stumps", "GradientBoost"])
def test_bad_values_and_lengths(client, name):
    weight = (np.arange(150) % 3 < 2) * 1.0
    for arguments, message in (
        ((rows(), y[:100]), "y has 100 labels but X has 150 rows; give one label per row"),
        ((rows(), da.from_array(y[:100])), "y has 100 labels but X has 150 rows; give one label per row"),
        ((rows(), y, da.ones(100)), "sample_weight has 100 entries but X has 150 rows; give one weight per row"),
        ((rows(), da.from_array(np.where(y > 1, np.nan, y))), "y has missing labels"),
        ((rows(changed(np.inf)), y), "^In block 2.*: Input X contains infinity"),
        ((rows(changed(np.inf)), y, weight), "^In block 2.*: Input X contains infinity"),
        ((rows(changed("red", object)), y), r"^In block 2, .*X has text in column 2 \('red' in row 20\)"),
        ((rows()[:, 0], y), "X has 1 dimensions; a table of rows and columns has 2"),
        ((rows(X[:0]), y[:0]), "0 sample"),
    ):
        with pytest.raises(ValueError, match=message):
            model(name).fit(*arguments)


def test_huge_values_are_numbered_among_all_rows(client):
    with pytest.raises(ValueError, match=r"^X\[120, 2\]=1e\+200 is too large"):
        model("ridge").fit(rows(changed(1e200)), y)
    with pytest.raises(ValueError, match=r"^X\[120, 2\]=1e\+200 is too large"):
        model("ridge").fit(rows(changed(1e200)), y, sample_weight=(np.arange(150) % 3 < 2) * 1.0)


def test_delayed_tables_are_blocks(client):
    given = [delayed(X[:50]), delayed(X[50:50]), delayed(X[50:])]
    expected = model().fit(RowBlocks([X[:50], X[50:50], X[50:]]), y).margins(X)
    fitted = model().fit(given, y)
    assert np.array_equal(fitted.margins(X), expected)
    assert np.array_equal(fitted.predict(given), fitted.predict(X))
    assert np.array_equal(model().fit(delayed(X), y).margins(X), expected)


@pytest.mark.parametrize(
    ("second", "message"),
    [
        (None, "^Block 1 is NoneType; a block is a table of rows and columns"),
        (y, r"^Block 1 is an array of shape \(150,\); a block is a table"),
        ("text", "^Block 1 is str; a block is a table"),
        (X[50:, :3], "^Block 1 and block 0 have different numbers of columns"),
        (X[50:].astype(np.float32), "^Block 1 and block 0 have different dtypes, float32 and float64"),
        (pd.DataFrame(X[50:]), "^Block 1 and block 0 have different types, data frame and array"),
    ],
    ids=["nothing", "vector", "text", "width", "dtype", "frame"],
)
def test_delayed_tables_are_of_one_kind(client, second, message):
    with pytest.raises(ValueError, match=message):
        model().fit([delayed(X[:50]), delayed(second)], y)


def test_other_collections(client):
    frame = dd.from_pandas(pd.DataFrame(X, columns=list("abcd")), npartitions=2)
    for given, message in (
        (bag.from_sequence([1, 2]), "^X is Bag; give a Dask array, a Dask DataFrame, or a list of delayed tables"),
        ([delayed(X), X], "^X is a list of delayed tables and of ndarray: make all of its items delayed"),
        ([rows(), rows()], "^X is a list of Array; give a Dask array, a Dask DataFrame, or a list of delayed tables"),
        (frame["a"], "X has 1 dimensions; a table of rows and columns has 2"),
    ):
        with pytest.raises(ValueError, match=message):
            model().fit(given, y)
    with pytest.raises(ValueError, match="X is in blocks of rows, and partial_fit takes one batch"):
        model("ridge").partial_fit(rows(), y)


def test_an_output_that_is_computed_later_names_the_block():
    names = list("abcd")
    trained = OutputCodeClassifier("ridge").fit(pd.DataFrame(X, columns=names), y)
    bad = changed(np.nan)
    for table in (rows(bad), dd.from_pandas(pd.DataFrame(bad, columns=names), npartitions=3)):
        with pytest.raises(ValueError, match=r"^In block 2, with its rows counted from 0: Input X contains NaN"):
            trained.predict(table).compute(scheduler="sync")
