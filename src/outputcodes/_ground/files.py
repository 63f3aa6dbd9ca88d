"""Files that are either complete or absent: written under a temporary name, then renamed."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def in_place_of(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Provide a temporary path in the folder of `path`; its file replaces `path` unless an error occurs.

    A reader sees the old file or the complete new one; if the process is killed, the old one is left.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "page.html"
    >>> with in_place_of(path) as part:
    ...     _ = part.write_text("whole")
    >>> [(one.name, one.read_text()) for one in path.parent.iterdir()]
    [('page.html', 'whole')]
    """
    target = Path(path)
    # Two threads, or two processes, may write to the same path.
    part = target.with_name(f".{target.name}.{os.getpid()}.{secrets.token_hex(4)}.part")
    try:
        yield part
        part.replace(target)
    finally:
        part.unlink(missing_ok=True)
