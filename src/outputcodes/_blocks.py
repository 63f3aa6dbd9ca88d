"""Row blocks: large passes cut into pieces whose size depends on the problem alone, and threads over them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from joblib import effective_n_jobs
from threadpoolctl import threadpool_limits

S = TypeVar("S")
T = TypeVar("T")

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


def over_blocks(work: Callable[[S], T], blocks: Iterable[S], n_jobs: int | None) -> list[T]:
    """The answers of `work` on each block, in the order of the blocks, computed by Python threads.

    BLAS runs single-threaded meanwhile. As blocks don't depend on `n_jobs` and answers come in their order, sums
    over them are the same to the last bit for any number of threads.

    >>> over_blocks(lambda block: block.stop - block.start, row_blocks(5, BLOCK_VALUES // 2), n_jobs=2)
    [2, 2, 1]
    """
    with threadpool_limits(limits=1, user_api="blas"):
        threads = effective_n_jobs(n_jobs)
        if threads == 1:
            return [work(block) for block in blocks]
        with ThreadPoolExecutor(threads) as pool:
            return list(pool.map(work, blocks))
