"""Files that are whole or not there: written beside their place, then moved into it."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def in_place_of(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Give a temporary name in the folder of `path` to write to; the file takes its place unless an error occurs.

    A reader sees the old file or the whole new one, and a process that is killed leaves the old one.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "page.html"
    >>> with in_place_of(path) as part:
    ...     _ = part.write_text("whole")
    >>> [(one.name, one.read_text()) for one in path.parent.iterdir()]
    [('page.html', 'whole')]
    """
    target = Path(path)
    # Two threads, or two processes, may write to one name.
    part = target.with_name(f".{target.name}.{os.getpid()}.{secrets.token_hex(4)}.part")
    try:
        yield part
        part.replace(target)
    finally:
        part.unlink(missing_ok=True)
