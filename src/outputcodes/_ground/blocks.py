"""Row blocks: large passes cut into pieces whose size depends on the problem alone, and threads over them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import AbstractContextManager, contextmanager
from functools import cache
from typing import Any, TypeVar

from joblib import effective_n_jobs
from threadpoolctl import ThreadpoolController

S = TypeVar("S")
T = TypeVar("T")
# A `map` that answers a list; perhaps by threads.
Run = Callable[[Callable[[Any], Any], Iterable[Any]], list[Any]]

# A block of float64 that stays near the processor: 4 MiB.
BLOCK_VALUES = 1 << 19


def row_blocks(n_rows: int, width: int) -> Iterator[slice]:
    """Slices over the rows such that a block of `width` values a row holds about `BLOCK_VALUES`.

    >>> [(b.start, b.stop) for b in row_blocks(5, BLOCK_VALUES // 2)]
    [(0, 2), (2, 4), (4, 5)]
    """
    step = max(1, BLOCK_VALUES // max(1, width))
    for start in range(0, n_rows, step):
        yield slice(start, min(start + step, n_rows))


def serially(work: Callable[[Any], Any], items: Iterable[Any]) -> list[Any]:
    """The `Run` of one thread."""
    return [work(item) for item in items]


@cache
def _libraries() -> ThreadpoolController:
    """The BLAS libraries of this process, which are loaded by now; to look for them takes milliseconds."""
    return ThreadpoolController()


def one_blas_thread() -> AbstractContextManager[Any]:
    """While entered, BLAS has one thread: its others would wait for work where ours do theirs."""
    limited: AbstractContextManager[Any] = _libraries().limit(limits=1, user_api="blas")
    return limited


# A pool of each size that nobody uses at the moment: to start a thread takes as long as a small piece of work.
_idle: dict[int, ThreadPoolExecutor] = {}
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_idle.clear)  # threads don't survive it


@contextmanager
def threads(n_jobs: int | None) -> Iterator[Run]:
    """A `map` by Python threads that answers a list; BLAS runs single-threaded inside.

    As blocks don't depend on `n_jobs` and answers come in their order, sums over them are the same to the last bit
    for any number of threads. After an error nothing is under way any more.

    >>> with threads(n_jobs=2) as run:
    ...     run(lambda block: block.stop - block.start, row_blocks(5, BLOCK_VALUES // 2))
    [2, 2, 1]
    """
    count = effective_n_jobs(n_jobs)
    with one_blas_thread():
        if count == 1:
            yield serially
            return
        pool, process = _idle.pop(count, None) or ThreadPoolExecutor(count), os.getpid()

        def run(work: Callable[[Any], Any], items: Iterable[Any]) -> list[Any]:
            tasks = [pool.submit(work, item) for item in items]
            try:
                return [task.result() for task in tasks]
            finally:
                for task in tasks:
                    task.cancel()
                wait(tasks)

        try:
            yield run
        finally:
            if os.getpid() == process and _idle.setdefault(count, pool) is not pool:
                pool.shutdown()


def over_blocks(work: Callable[[S], T], blocks: Iterable[S], n_jobs: int | None) -> list[T]:
    """The answers of `work` on each block in turn, by `threads`."""
    with threads(n_jobs) as run:
        return run(work, blocks)
