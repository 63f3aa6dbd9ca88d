"""Memory that was freed, kept for what is needed next."""

from __future__ import annotations

import ctypes
import sys
from functools import cache
from typing import Any

# What mallopt of glibc calls them: freed memory above the first is given back, arrays above the second are apart.
TRIM_THRESHOLD, MMAP_THRESHOLD = -1, -3
KEPT, LARGEST = 1 << 26, 1 << 25


@cache
def keep_freed_memory() -> None:
    """Let this process keep up to 64 MB of what it has freed.

    Dask starts its workers with MALLOC_TRIM_THRESHOLD_=65536: they give memory back to the system at once. The arrays
    of the next expression then cost a page fault for every 4 KB, which doubles the time of a pass over rows. Where the
    system has another `malloc` than glibc's, nothing is done.
    """
    if sys.platform != "linux":
        return
    mallopt: Any = getattr(ctypes.CDLL(None), "mallopt", None)  # musl has none
    if mallopt is not None:
        mallopt(TRIM_THRESHOLD, KEPT)
        mallopt(MMAP_THRESHOLD, LARGEST)
