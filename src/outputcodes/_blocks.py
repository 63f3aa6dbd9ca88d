"""Row blocks: large passes over the rows cut into pieces whose size depends on the problem alone."""

from __future__ import annotations

from collections.abc import Iterator

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
