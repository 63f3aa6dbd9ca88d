"""Blocks of rows whose size depends on the problem alone, and threads over blocks."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import AbstractContextManager, contextmanager
from functools import cache, reduce
from typing import Any, TypeVar

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import ArrayLike
from threadpoolctl import ThreadpoolController

S = TypeVar("S")
T = TypeVar("T")
# A `map` that returns a list, possibly computed by threads.
Run = Callable[[Callable[[Any], Any], Iterable[Any]], list[Any]]

# A block of float64 that stays in cache: 4 MiB.
BLOCK_VALUES = 1 << 19


def row_blocks(n_rows: int, width: int) -> Iterator[slice]:
    """Yield slices of rows such that a block with `width` values per row holds about `BLOCK_VALUES` values.

    >>> [(b.start, b.stop) for b in row_blocks(5, BLOCK_VALUES // 2)]
    [(0, 2), (2, 4), (4, 5)]
    """
    step = max(1, BLOCK_VALUES // max(1, width))
    for start in range(0, n_rows, step):
        yield slice(start, min(start + step, n_rows))


def sum_in_order(parts: Iterable[ArrayLike]) -> Any:
    """Return the sum of numbers or arrays, added one by one.

    `sum` corrects rounding errors from Python 3.12 on, and `np.sum` adds pairs first, so their last bits differ.

    >>> float(sum_in_order([1e16, 1.0, 1.0, -1e16]))
    0.0
    """
    return reduce(np.add, map(np.asarray, parts))


def serially(work: Callable[[Any], Any], items: Iterable[Any]) -> list[Any]:
    """Call `work` on each item in turn: the `Run` of one thread."""
    return [work(item) for item in items]


@cache
def _libraries() -> ThreadpoolController:
    """Find the BLAS libraries that this process has loaded; cached, because the search takes milliseconds."""
    return ThreadpoolController()


def one_blas_thread() -> AbstractContextManager[Any]:
    """Return a context in which BLAS uses one thread: more would compete with ours for the processors."""
    limited: AbstractContextManager[Any] = _libraries().limit(limits=1, user_api="blas")
    return limited


# Idle pools by size, kept because starting a thread takes as long as a small piece of work.
_idle: dict[int, ThreadPoolExecutor] = {}
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_idle.clear)  # threads don't survive a fork


@contextmanager
def threads(n_jobs: int | None) -> Iterator[Run]:
    """Provide a `map` by Python threads that returns a list; BLAS runs single-threaded inside.

    As blocks don't depend on `n_jobs` and results come in their order, sums over them have the same bits for any number
    of threads. After an error no work is left running.

    >>> with threads(n_jobs=2) as run:
    ...     run(lambda block: block.stop - block.start, row_blocks(5, BLOCK_VALUES // 2))
    [2, 2, 1]
    """
    count = effective_n_jobs(n_jobs)
    with one_blas_thread():
        if count == 1:
            yield serially
            return
        # The thread that asks does its share: it need not wait for others to wake.
        pool, process = _idle.pop(count, None) or ThreadPoolExecutor(count - 1), os.getpid()

        def run(work: Callable[[Any], Any], items: Iterable[Any]) -> list[Any]:
            given = list(items)
            results, places = [None] * len(given), iter(range(len(given)))
            errors: dict[int, BaseException] = {}

            def take() -> None:
                for place in places:
                    try:
                        results[place] = work(given[place])
                    except BaseException as error:
                        errors[place] = error
                        deque(places, maxlen=0)  # nobody starts another one

            helpers = [pool.submit(take) for _ in range(min(count, len(given)) - 1)]
            try:
                take()
            finally:
                wait([helper for helper in helpers if not helper.cancel()])
            if errors:  # an interrupt comes first; the first item that fails has always been started
                raise errors[min(errors, key=lambda place: (isinstance(errors[place], Exception), place))]
            return results

        try:
            yield run
        finally:
            if os.getpid() == process and _idle.setdefault(count, pool) is not pool:
                pool.shutdown()


def over_blocks(work: Callable[[S], T], blocks: Iterable[S], n_jobs: int | None) -> list[T]:
    """Return the results of `work` on each block, in order, computed by `threads`."""
    with threads(n_jobs) as run:
        return run(work, blocks)
