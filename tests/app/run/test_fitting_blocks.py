"""Models of folders: bins of stumps, which the command line sets, and the order of the classes."""

import numpy as np
import pytest

from outputcodes.app import run
from outputcodes.app.tables import errors, read, read_blocks

pd = pytest.importorskip("pandas")
pytest.importorskip("skops")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Two files with 20,000 different values in all, more than the 16,384 that blocks count exactly."""
    path, x = tmp_path_factory.mktemp("parts"), np.random.default_rng(0).permutation(20_000) / 7
    frame = pd.DataFrame({"x": x, "class": np.where(x > x.mean(), "high", "low")})
    for number, part in enumerate((frame[:12_000], frame[12_000:])):
        part.to_csv(path / f"{number}.csv", index=False)
    return path


@pytest.mark.parametrize(("given", "bins"), [({}, 128), ({"bins": "64"}, 64)])
def test_stumps_on_blocks_have_bins(folder, tmp_path, given, bins):
    how = {"target": "class", "learner": "stumps", "params": {"n_rounds": 3, **given}}
    model, summary = run.fit_file(str(folder), tmp_path / "m.skops", **how)
    assert model[-1].estimator.bins == bins
    assert summary["rows"] == 20_000


def test_bins_that_blocks_cannot_count_are_refused_with_a_remedy(folder, tmp_path):
    how = {"target": "class", "learner": "stumps", "params": {"bins": "exact"}}
    with pytest.raises(ValueError, match=r"bins='exact'.* more than 16384 .* Set bins to a number, such as 128"):
        run.fit_file(str(folder), tmp_path / "m.skops", **how)


SIZES = ["low", "mid", "high"]


def sized(path, categories, kind="parquet"):
    """Files of 30 rows; the target of each has ordered categories, or is plain text."""
    path.mkdir()
    rng = np.random.default_rng(0)
    for number, order in enumerate(categories):
        size = np.array(SIZES, dtype=object)[rng.integers(0, 3, 30)]
        target = size if order is None else pd.Categorical(size, order, ordered=True)
        frame = pd.DataFrame({"x": rng.normal(size=30) + pd.Series(size).map(SIZES.index), "class": target})
        getattr(frame, f"to_{kind}")(path / f"{number}.{kind}", index=False)
    return path


ORDINAL = {"learner": "ridge", "code": "ordinal"}


def test_a_folder_has_the_order_of_its_target_as_one_file_has(tmp_path):
    folder = sized(tmp_path / "parts", [[*SIZES, "nobody"]] * 2)
    table, one = read_blocks(folder, rows=7), read(folder / "0.parquet")
    assert table.schema.order == one.schema.order == tuple(SIZES)
    assert table.target[:30].tolist() == one.target.tolist()
    assert table.orders == {str(folder / f"{i}.parquet"): (*SIZES, "nobody") for i in range(2)}
    model, summary = run.fit_file(str(folder), tmp_path / "m.skops", **ORDINAL)
    assert model[-1].code_matrix_.sum(axis=1).tolist() == [2, -2, 0]  # high, low, mid
    assert "notes" not in summary


@pytest.mark.parametrize(
    ("other", "words"),
    [(["mid", "low", "high"], "has the order 'mid', 'low', 'high'"), (None, "has no order")],
    ids=["another", "none"],
)
def test_files_that_differ_in_the_order_are_refused_by_name(tmp_path, other, words):
    folder, out = sized(tmp_path / "parts", [SIZES, other]), tmp_path / "m.skops"
    message = (
        rf"1.parquet: the target 'class' {words}, and in .*0.parquet it has the order 'low', 'mid', 'high'. .*--order"
    )
    with pytest.raises(errors.WrongKindError, match=message):
        run.fit_file(str(folder), out, **ORDINAL)
    # An order that is given, and codes that need none, leave nothing to refuse.
    run.fit_file(str(folder), out, order=SIZES, **ORDINAL)
    run.fit_file(str(folder), out, learner="ridge", code="one-vs-all")


def test_row_groups_with_more_categories_add_to_the_order(tmp_path):
    import pyarrow as pa
    import pyarrow.parquet as pq

    first = pd.DataFrame({"x": [1.0, 2.0], "class": pd.Categorical(["mid", "low"], SIZES[:2], ordered=True)})
    more = first.assign(**{"class": pd.Categorical(["high", "low"], SIZES, ordered=True)})
    tables = [pa.Table.from_pandas(frame) for frame in (first, more)]
    with pq.ParquetWriter(tmp_path / "0.parquet", tables[0].schema) as writer:
        for table in tables:
            writer.write_table(table)
    for rows in (1, 2, 100):
        assert read_blocks(tmp_path, rows=rows).schema.order == tuple(SIZES)
    assert read(tmp_path / "0.parquet").schema.order == tuple(SIZES)


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_alphabetical_order_is_noted_for_folders(tmp_path, kind):
    folder = sized(tmp_path / "parts", [None, None], kind)
    _, summary = run.fit_file(str(folder), tmp_path / "m.skops", **ORDINAL)
    assert summary["notes"][0].startswith("The ordinal code takes the classes in alphabetical order, 'high', 'low'")
    _, summary = run.fit_file(str(folder), tmp_path / "m.skops", order=SIZES, **ORDINAL)
    assert "notes" not in summary
