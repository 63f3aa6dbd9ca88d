"""Sums over blocks: their order, their threads, their working files."""

import os
import subprocess
import sys
from dataclasses import dataclass, replace
from functools import reduce

import numpy as np
import pytest

from outputcodes._ground.blocks import serially, threads
from outputcodes._ground.passes import Blocks, Combination, in_groups, in_tree
from outputcodes._ground.row_sequence import RowBlocks
from outputcodes._ground.working_files import WorkingFiles, is_mapped, mapped

rng = np.random.default_rng(0)


@dataclass(frozen=True)
class Some:
    X: np.ndarray
    columns: np.ndarray | None = None


def spread(sizes, pieces=3):
    """Values of very different sizes, whose sums depend on their order."""
    return [[Some(rng.normal(size=7) * 10.0 ** rng.integers(-8, 8)) for _ in range(min(pieces, n))] for n in sizes]


def own_sum(piece, factor):
    return (factor * piece.X, np.array(piece.X.sum()))


@pytest.mark.parametrize("count", [1, 2, 3, 4, 7, 8, 13])
def test_the_tree_joins_neighbours(count):
    parts = [str(i) for i in range(count)]
    joined = in_tree(parts, lambda a, b: f"({a} {b})")
    assert joined.replace("(", "").replace(")", "").split() == parts
    # Half of the joins are of single parts, so that depth grows with the logarithm.
    assert max(joined.count("(", 0, i) - joined.count(")", 0, i) for i in range(len(joined))) <= np.ceil(np.log2(count))


@pytest.mark.parametrize("size", [2, 4, 8])
def test_groups_leave_the_tree_as_it_is(size):
    for count in range(1, 70):
        parts = [str(i) for i in range(count)]
        found = in_groups(parts, size, lambda group: in_tree(group, "({} {})".format))
        assert found == in_tree(parts, "({} {})".format)


@pytest.mark.parametrize("files", [None, "files"])
def test_sums_have_the_same_bits_for_any_number_of_threads(files):
    blocks = spread([3, 0, 1, 5, 2])
    # A block without pieces keeps its place in the tree.
    sums = [
        [reduce(np.add, (own_sum(p, 2.0)[i] for p in block)) for i in range(2)] if block else [] for block in blocks
    ]
    expected = in_tree(sums, lambda a, b: [x + y for x, y in zip(a, b, strict=True)] if a and b else a or b)
    for n_jobs in (1, 2, 3):
        with threads(n_jobs) as run:
            some = Blocks(blocks, run, WorkingFiles() if files else None)
            found = some.total(own_sum, 2.0)
            again, also = some.step(lambda piece, factor: (replace(piece, X=-piece.X), own_sum(piece, factor)), 2.0)
        for a, b, c in zip(found, also, expected, strict=True):
            assert np.array_equal(a, b)
            assert np.array_equal(a, c)
        for block, other in zip(blocks, again.blocks, strict=True):
            assert all(np.array_equal(-p.X, q.X) for p, q in zip(block, other, strict=True))


def test_pieces_add_to_their_own_columns_and_maxima_too():
    pieces = [Some(np.ones((2, 2)), np.array([0, 3])), Some(np.full((2, 1), 5.0), np.array([3]))]
    blocks = Blocks([pieces, [Some(np.full((2, 4), 2.0), np.arange(4))]], serially)
    (total,) = blocks.total(lambda piece: (piece.X,), combine=Combination(np.add, 4))
    assert total.tolist() == [[3, 2, 2, 8]] * 2
    (largest,) = blocks.total(lambda piece: (piece.X.max(axis=0),), combine=Combination(np.maximum, 4))
    assert largest.tolist() == [2, 2, 2, 5]


def test_one_result_per_item_and_one_per_block():
    blocks = Blocks(spread([2, 1, 3]), serially)
    found = blocks.each(
        lambda pieces, item: item * sum(piece.X.sum() for piece in pieces), [1, 10], index=list, combine=np.add
    )
    (whole,) = blocks.total(lambda piece: (np.array(piece.X.sum()),))
    assert np.allclose(found, [whole, 10 * whole])
    assert blocks.collected(lambda pieces, b: (b, len(pieces)), given=[(0,), (1,), (2,)]) == [(0, 2), (1, 1), (2, 3)]
    doubled = blocks.recut(lambda pieces, b: pieces + pieces[:b], [(0,), (1,), (2,)])
    assert [len(block) for block in doubled.blocks] == [2, 2, 5]


def test_working_files_keep_values_until_the_last_array_is_gone():
    files = WorkingFiles()
    values = [rng.normal(size=(300, 9)), np.asfortranarray(rng.normal(size=(300, 4))), np.arange(4000, dtype=np.int32)]
    kept = [files.keep(Some(value)).X for value in values]
    for value, own in zip(values, kept, strict=True):
        assert is_mapped(own)
        assert np.array_equal(own, value)
        assert own.strides == value.strides
    assert not is_mapped(files.keep(Some(np.ones(3))).X)
    address, part = kept[0].ctypes.data, kept[0][100:, 2:]
    kept[0] = None
    # A view still holds the place.
    other = files.keep(Some(values[0] + 1)).X
    assert other.ctypes.data != address
    assert np.array_equal(part, values[0][100:, 2:])
    del part
    again = files.keep(Some(values[1] + 1)).X
    assert again.ctypes.data == address
    assert np.array_equal(other, values[0] + 1)
    assert np.array_equal(kept[1], values[1])


def test_working_files_leave_nothing_and_take_no_private_memory(tmp_path):
    # In a process of its own: 400 MiB are kept under a limit of what it may allocate for itself.
    script = """
import os, numpy as np
from outputcodes._ground.working_files import mapped
blocks = [mapped(np.full((1 << 21,), float(b))) for b in range(25)]
assert [block[-1] for block in blocks] == list(range(25))
anonymous = next(int(line.split()[1]) for line in open("/proc/self/smaps_rollup") if line.startswith("Anonymous"))
assert anonymous < 300 * 1024, anonymous
print(os.listdir(os.environ["TMPDIR"]))
os.kill(os.getpid(), 9)
"""
    done = subprocess.run(
        [sys.executable, "-u", "-c", script], env=os.environ | {"TMPDIR": str(tmp_path)}, capture_output=True, text=True
    )
    assert done.returncode == -9, done.stderr
    assert done.stdout.strip() == "[]"
    assert os.listdir(tmp_path) == []


def test_row_blocks_of_all_sources_and_what_they_refuse():
    X = rng.normal(size=(50, 3))
    assert RowBlocks.of(X, 20).sizes == [20, 20, 10]
    assert RowBlocks.of(X).sizes == [50]
    assert RowBlocks.of(X, 20).in_memory
    assert not RowBlocks.of(mapped(X), 20).in_memory
    assert not RowBlocks(lambda: iter([X])).in_memory
    with pytest.raises(ValueError, match=r"rows=0 must be an integer of at least 1"):
        RowBlocks.of(X, 0)
    with pytest.raises(ValueError, match="takes a table of rows and columns"):
        RowBlocks.of([1, 2])
    with pytest.raises(ValueError, match="can be read more than once"):
        RowBlocks(block for block in [X])
    with pytest.raises(ValueError, match="can be read more than once"):
        RowBlocks(X)
    with pytest.raises(ValueError, match=r"Block 1 and block 0 have different dtypes, float32 and float64"):
        RowBlocks([X, X.astype(np.float32)])
    left = [[X, X]]
    with pytest.raises(ValueError, match=r"There were 2 blocks when they were first read, and 0 now"):
        list(RowBlocks(lambda: iter(left.pop() if left else [])))
    sizes = iter([10, 11])
    with pytest.raises(ValueError, match=r"Block 0 has changed since it was first read: it had 10 rows of 3 columns"):
        list(RowBlocks(lambda: iter([X[: next(sizes)]])))


def test_frames_of_different_columns_are_refused():
    import pandas as pd

    frame = pd.DataFrame({"a": [1.0], "b": [2.0]})
    with pytest.raises(ValueError, match=r"different columns: column 0 is 'b' in the one and 'a' in the other"):
        RowBlocks([frame, frame[["b", "a"]]])
    with pytest.raises(ValueError, match=r"different dtypes of column 'b', int64 and float64"):
        RowBlocks([frame, frame.astype({"b": int})])
    with pytest.raises(ValueError, match="different types, array and data frame"):
        RowBlocks([frame, frame.to_numpy()])


@pytest.mark.parametrize("files", [None, "files"])
def test_pieces_beside_those_of_other_blocks(files):
    blocks, others = spread([3, 0, 1]), spread([3, 0, 1])
    some = Blocks(blocks, serially, WorkingFiles() if files else None)
    both = some.beside(Blocks(others, serially), lambda piece, other, factor: Some(factor * piece.X - other.X), 2.0)
    for block, first, second in zip(both.blocks, blocks, others, strict=True):
        for piece, one, other in zip(block, first, second, strict=True):
            assert np.array_equal(piece.X, 2.0 * one.X - other.X)
