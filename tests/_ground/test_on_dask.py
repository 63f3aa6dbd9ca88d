"""Passes over the blocks of a Dask cluster: rows stay on the workers that have them."""

import gc

import numpy as np
import pytest

from outputcodes._ground.stored_rows import Part

dask = pytest.importorskip("dask", reason="needs the extra dask")
distributed = pytest.importorskip("distributed", reason="needs the extra dask")
# Other clusters may have the usual port.
pytestmark = pytest.mark.filterwarnings("ignore")
LARGE = 250_000


def test_one_row_is_fetched_to_see_what_rows_are_like(client):
    import pandas as pd

    from outputcodes._ground.on_dask import DaskRows

    table = pd.DataFrame({"a": [1.0, 2.0, 3.0], "b": ["x", "y", "z"]})
    blocks = [dask.delayed(table.iloc[:0]), dask.delayed(table.iloc[1:])]
    pd.testing.assert_frame_equal(DaskRows(blocks).first(), table.iloc[1:2])
    assert DaskRows(blocks[:1]).first().empty


def test_tasks_that_read_sums_are_never_stolen_with_the_rows(client, monkeypatch):
    from dask.utils import key_split
    from distributed.stealing import fast_tasks

    from outputcodes._ground.on_dask import DaskRows

    named, plain = [], client.map

    def noting(task, *arguments, key):
        named.extend((task.__name__, key_split(one)) for one in key)
        return plain(task, *arguments, key=key)

    monkeypatch.setattr(client, "map", noting)
    DaskRows([dask.delayed(np.ones)((3, 2))] * 2).kept(_own_piece).step(_grown)
    names = [name for task, name in named if task == "_own_sums"]
    assert len(names) == 2
    assert set(names) <= fast_tasks


@pytest.fixture
def undisturbed():
    """A cluster that takes tasks to other workers by its first decision alone."""
    with (
        dask.config.set({"distributed.scheduler.work-stealing": False}),
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


@pytest.mark.parametrize("n_blocks", [4, 6])
def test_rows_stay_where_they_are(undisturbed, n_blocks):
    from outputcodes._ground.on_dask import DaskRows

    undisturbed.run(_silent)
    rows = DaskRows([dask.delayed(np.full)((LARGE, 2), float(number)) for number in range(n_blocks)])
    blocks = rows.kept(_own_piece)
    expected = sum(range(n_blocks)) * LARGE * 2.0
    for round_ in range(5):
        # Passes follow each other faster than the scheduler hears that the last one is no longer needed.
        assert blocks.total(_sum)[0] == expected
        blocks, (found,) = blocks.step(_grown)
        expected += n_blocks * LARGE * 2.0
        assert found == expected, round_
    gc.collect()
    moved = [size for one in undisturbed.run(_received).values() for size in one]
    assert max(moved, default=0) < rows.sizes[0]


def _own_piece(block, start):
    return Part(block)


def _sum(part):
    return (np.array(part.X.sum()),)


def _grown(part):
    X = part.X + 1
    return Part(X), (np.array(X.sum()),)


def _silent(dask_worker):
    dask_worker.transfer_incoming_log.clear()


def _received(dask_worker):
    return [one["total"] for one in dask_worker.transfer_incoming_log]
