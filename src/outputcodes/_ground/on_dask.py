"""Blocks of rows that lie on the workers of a Dask cluster, and passes over them as pure tasks.

Every task is a function of a block and of state. If that is large it is a task of its own: it goes to the scheduler
once per pass, and workers fetch it from each other. What a lost worker had computed is computed again elsewhere, with
the same bits. Sums go along the tree of `passes.in_tree`; only the last one comes to the client.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from functools import cache
from typing import Any
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray

from outputcodes._ground.blocks import Run, one_blas_thread, serially
from outputcodes._ground.delayed import is_computed_later, is_delayed
from outputcodes._ground.freed_memory import keep_freed_memory
from outputcodes._ground.passes import Blocks, Combination, Combine, Sums, in_groups, in_tree
from outputcodes._ground.row_sequence import BlockKind, RowBlocks, naming_block
from outputcodes._ground.travelling import aligned, bytes_sent, in_few_bytes, n_bytes
from outputcodes._ground.validation import n_rows_of, take_rows

# State of a pass goes with every task if that is fewer bytes for all blocks: a task of its own is one more delay.
FEW_BYTES = 1 << 16
# The number of neighbouring sums that one task adds up.
TOGETHER = 4
# Dask takes a short task to an idle worker together with all that it reads, unless its name is one of those that split
# the result of another task (`distributed.scheduler.default-task-durations`).
NOT_MOVED = "split-stage"


def taken(X: Any, whole: bool = False) -> Any:
    """Return Dask collections and delayed tables as blocks, anything else unchanged; blocks are joined if `whole`."""
    X = DaskRows(X) if is_computed_later(X) else X
    return X.joined() if whole and isinstance(X, RowBlocks) else X


def client_of_this_process() -> Any:
    """Return the client that was started last; collections need one."""
    from distributed import get_client

    try:
        return get_client()
    except ValueError as reason:
        raise ValueError(
            "A Dask collection is trained on by the workers of a cluster: start a client first, such as "
            "dask.distributed.Client() for processes on this machine."
        ) from reason


class DaskRows(RowBlocks):
    """The blocks of a Dask array or DataFrame, or delayed blocks, kept by the workers.

    Parameters
    ----------
    X : dask array or DataFrame, a delayed block or a list of them
        An array must not be cut between columns.
    """

    def __init__(self, X: Any) -> None:
        self.client = client_of_this_process()
        delayed = _rows_of(X)
        self.blocks = self.client.compute(delayed)
        self.each = _as_it_is
        numbered = enumerate(self.blocks)
        facts = self.client.gather(
            [self.client.submit(_facts, block, number, pure=False) for number, block in numbered]
        )
        self.sizes = [size for size, _ in facts]
        first = facts[0][1]
        for number, (_, kind) in enumerate(facts):
            if (difference := kind.difference(first)) is not None:
                raise ValueError(f"Block {number} and block 0 have {difference}")
        self.kind, self.shape = first, (sum(self.sizes), *first.width)

    @property
    def in_memory(self) -> bool:
        """Whether the blocks are in the memory of this process."""
        return False

    def _read(self) -> Any:
        """Fetch one block after another: for learners that need them here."""
        return (self.client.gather(block) for block in self.blocks)

    def first(self) -> Any:
        """Return the first row, as a table: a block may be large, and workers check all of it when they keep it."""
        number = next((number for number, size in enumerate(self.sizes) if size), 0)
        return self.client.submit(_first_row, self.each, self.blocks[number], number, pure=False).result()

    def taken(self, rows: NDArray[np.intp]) -> RowBlocks:
        """Return the blocks of some rows, which ascend; workers take them."""
        own, some = self._own_rows(rows), copy.copy(self)
        some.blocks = [
            block
            if len(chosen) == self.sizes[number]
            else self.client.submit(_some_rows, self.each, block, number, chosen, pure=False)
            for number, (block, chosen) in enumerate(zip(self.blocks, own, strict=True))
        ]
        some.sizes = [len(chosen) for chosen in own]
        some.shape = (sum(some.sizes), *self.shape[1:])
        return some

    def kept(self, make: Callable[[Any, int], Any]) -> Blocks:
        """Return blocks of one piece each, make(block, its first row), which workers compute and keep."""
        starts = np.cumsum([0, *self.sizes[:-1]]).tolist()
        made = [
            self.client.submit(_piece, make, self.each, block, number, start, pure=False)
            for number, (block, start) in enumerate(zip(self.blocks, starts, strict=True))
        ]
        return DaskBlocks(made, self.client)


class DaskBlocks(Blocks):
    """Blocks whose lists of pieces are futures."""

    may_change = False
    # A pass takes some milliseconds, however little there is to do.
    ahead = 8

    def __init__(self, blocks: Sequence[Any], client: Any, run: Run = serially) -> None:
        self.blocks, self.client, self.run, self.files = blocks, client, run, None

    def total(self, work: Callable[..., Sums], *state: Any, combine: Combination | None = None) -> Sums:
        """Return the combination of work(piece, *state) over all pieces."""
        combine = combine or Combination()
        sums: Sums = self._summed(self._tasks(_total, work, combine, state=state), combine)
        return sums

    def through(self, work: Callable[..., Any], *state: Any) -> Blocks:
        """Return the blocks of the pieces work(piece, *state)."""
        return DaskBlocks(self._tasks(_through, work, state=state), self.client, self.run)

    def step(
        self, work: Callable[..., tuple[Any, Sums]], *state: Any, combine: Combination | None = None
    ) -> tuple[Blocks, Sums]:
        """Return new blocks and a combination."""
        combine = combine or Combination()
        made = self._tasks(_step, work, combine, state=state)
        sums = self._mapped(_own_sums, made, name=NOT_MOVED)
        return DaskBlocks(made, self.client, self.run), self._summed(sums, combine)

    def each(
        self,
        work: Callable[..., Any],
        items: Sequence[Any],
        *state: Any,
        index: Callable[[list[Any]], Any],
        combine: Combine,
    ) -> list[Any]:
        """Return, for each item, the combination of work(index(pieces of a block), item, *state) over all blocks."""
        if not items:
            return []
        found: list[Any] = self._summed(self._tasks(_each, work, index, list(items), state=state), _Pairwise(combine))
        return found

    def recut(self, make: Callable[..., Iterable[Any]], given: Sequence[tuple[Any, ...]], *state: Any) -> Blocks:
        """Return the blocks of the pieces make(pieces of a block, *given to this block, *state)."""
        packed = [tuple(map(in_few_bytes, own)) for own in given]
        return DaskBlocks(self._tasks(_recut, make, state=state, given=packed), self.client, self.run)

    def beside(self, other: Blocks, work: Callable[..., Any], *state: Any) -> Blocks:
        """Return the blocks of the pieces work(piece, piece of the same place in other blocks, *state)."""
        given = [(block,) for block in other.blocks]
        return DaskBlocks(self._tasks(_beside, work, state=state, given=given), self.client, self.run)

    def collected(
        self, work: Callable[..., Any], *state: Any, given: Sequence[tuple[Any, ...]] | None = None
    ) -> list[Any]:
        """Return work(pieces of a block, *given to this block, *state) of each block, in order."""
        found: list[Any] = aligned(self.client.gather(self._tasks(_collected, work, state=state, given=given)))
        return found

    def by(self, run: Run) -> Blocks:
        """Return the same blocks; `run` is for what is computed at the client."""
        return DaskBlocks(self.blocks, self.client, run)

    def _tasks(
        self, task: Callable[..., Any], *fixed: Any, state: Any, given: Sequence[tuple[Any, ...]] | None = None
    ) -> list[Any]:
        shared: Any = _State(state)
        if bytes_sent(state) * len(self.blocks) > FEW_BYTES:
            shared = self.client.submit(_as_it_is, shared, pure=False)
        if given is not None:  # too much, perhaps, for one message
            return [
                self.client.submit(task, block, shared, own, *fixed, pure=False)
                for block, own in zip(self.blocks, given, strict=True)
            ]
        return self._mapped(task, self.blocks, shared, (), *fixed)

    def _mapped(self, task: Callable[..., Any], blocks: Sequence[Any], *same: Any, name: str = "") -> list[Any]:
        """Return the task of each block, all at once: the scheduler takes time per message."""
        # Dask spreads groups of tasks of four blocks or fewer over workers, wherever the blocks are, if the group is
        # larger than the cluster. So each pass has a name of its own.
        name = f"{name or task.__name__}-{uuid4()}"
        keys = [(name, number) for number in range(len(blocks))]
        tasks: list[Any] = self.client.map(task, blocks, *([one] * len(blocks) for one in same), key=keys)
        return tasks

    def _summed(self, parts: list[Any], combine: Any) -> Any:
        # Neighbours often lie on the same worker, and then only their sum leaves it.
        # `map` of distributed 2025.4.0 and 2025.4.1 does not look for futures inside of lists.
        root = in_groups(parts, TOGETHER, lambda group: self.client.submit(_joined, group, combine, pure=False))
        return aligned(root.result())


class _State(tuple[Any, ...]):
    """The state of a pass. Dask 2024.8 takes a plain tuple that begins with a function for a call of that function."""


class _Pairwise:
    """Combines two lists item by item."""

    def __init__(self, combine: Combine) -> None:
        self.combine = combine

    def __call__(self, left: list[Any], right: list[Any]) -> list[Any]:
        return [self.combine(a, b) for a, b in zip(left, right, strict=True)]


def _rows_of(X: Any) -> list[Any]:
    given = X if isinstance(X, list) else [X]
    if all(map(is_delayed, given)):
        return given
    if isinstance(X, list) or not hasattr(X, "ndim"):
        names = sorted({type(one).__name__ for one in given})
        raise ValueError(
            f"X is {'a list of ' if isinstance(X, list) else ''}{', '.join(names)}; give a Dask array, a Dask "
            "DataFrame, or a list of delayed tables."
        )
    if X.ndim != 2:
        raise ValueError(f"X has {X.ndim} dimensions; a table of rows and columns has 2.")
    if hasattr(X, "npartitions") and hasattr(X, "columns"):
        return list(X.to_delayed())
    X = X.rechunk({1: -1}) if X.numblocks[1] > 1 else X
    return list(X.to_delayed().ravel())


def _as_it_is(value: Any) -> Any:
    return value


def _facts(block: Any, number: int) -> tuple[int, BlockKind]:
    # What is no table, and may have no rows to count, is refused first.
    kind = BlockKind.of(block, number)
    return n_rows_of(block), kind


class _Pieces(list[Any]):
    """The pieces of a block, perhaps with its sums. Dask must know their size: what is small goes to other workers."""

    sums: Any = None


@cache
def _prepare_worker() -> None:
    from dask.sizeof import sizeof

    keep_freed_memory()
    sizeof.register(_Pieces)(n_bytes)


def _computing() -> AbstractContextManager[Any]:
    """Return the context of a task."""
    _prepare_worker()
    return one_blas_thread()


def _piece(make: Any, each: Any, block: Any, number: int, start: int) -> list[Any]:
    with _computing(), naming_block(number):
        return _Pieces([make(aligned(each(block) if n_rows_of(block) else block), start)])


def _first_row(each: Any, block: Any, number: int) -> Any:
    if not n_rows_of(block):
        return block
    with naming_block(number):
        return each(take_rows(block, np.arange(1)))


def _some_rows(each: Any, block: Any, number: int, rows: NDArray[np.intp]) -> Any:
    """Some rows of a block, all of which are checked."""
    if n_rows_of(block):
        with naming_block(number):
            each(block)
    return take_rows(block, rows)


def _joined(parts: list[Any], combine: Any) -> Any:
    return in_tree(map(aligned, parts), combine)


def _own_sums(pieces: _Pieces) -> Any:
    return pieces.sums


def _total(pieces: list[Any], state: Any, _: Any, work: Any, combine: Combination) -> Sums:
    pieces, state = aligned(pieces), aligned(state)
    with _computing():
        return combine.of_block(pieces, [work(piece, *state) for piece in pieces])


def _through(pieces: list[Any], state: Any, _: Any, work: Any) -> list[Any]:
    pieces, state = aligned(pieces), aligned(state)
    with _computing():
        return _Pieces(work(piece, *state) for piece in pieces)


def _step(pieces: list[Any], state: Any, _: Any, work: Any, combine: Combination) -> list[Any]:
    pieces, state = aligned(pieces), aligned(state)
    with _computing():
        both = [work(piece, *state) for piece in pieces]
        made = _Pieces(piece for piece, _ in both)
        made.sums = combine.of_block(pieces, [sums for _, sums in both])
        return made


def _each(pieces: list[Any], state: Any, _: Any, work: Any, index: Any, items: list[Any]) -> list[Any]:
    pieces, state = aligned(pieces), aligned(state)
    with _computing():
        of_block = index(pieces)
        return [work(of_block, item, *state) for item in items]


def _recut(pieces: list[Any], state: Any, own: Any, make: Any) -> list[Any]:
    pieces, state, own = aligned(pieces), aligned(state), aligned(own)
    with _computing():
        return _Pieces(make(pieces, *own, *state))


def _beside(pieces: list[Any], state: Any, own: Any, work: Any) -> list[Any]:
    pieces, state, others = aligned(pieces), aligned(state), aligned(own[0])
    with _computing():
        return _Pieces(work(piece, other, *state) for piece, other in zip(pieces, others, strict=True))


def _collected(pieces: list[Any], state: Any, own: Any, work: Any) -> Any:
    pieces, state, own = aligned(pieces), aligned(state), aligned(own)
    with _computing():
        return work(pieces, *own, *state)
