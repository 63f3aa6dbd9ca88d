"""Results on disk, a line of JSON for each: written through at once, so that a killed run loses nothing."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, Self

Line = dict[str, Any]


# Where Windows locks a byte: beyond the end of any file, as a locked byte cannot be read there.
BEYOND = 1 << 60


class JournalError(ValueError):
    """A file of results that cannot be continued."""


class Journal:
    """The lines of a file, which begins with a description of the run; without a path, in memory only.

    One at a time writes to a file: the lock is the operating system's and ends with the process, however it ends.

    Parameters
    ----------
    path : Path or None
    run : dict
        Plain data: what must be the same for results to be continued.
    resume : bool
        Continue what is there. A last line that was not written to its end is dropped.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "results.jsonl"
    >>> with Journal(path, {"seed": 0}) as journal:
    ...     journal.add({"fold": 0, "error": 0.5})
    >>> _ = path.write_bytes(path.read_bytes() + b'{"fold": 1, "err')
    >>> with Journal(path, {"seed": 0}, resume=True) as journal:
    ...     journal.lines
    [{'fold': 0, 'error': 0.5}]
    """

    def __init__(self, path: Path | None, run: Line, *, resume: bool = False) -> None:
        self.lines: list[Line] = []
        self._file: BinaryIO | None = None
        if path is None:
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file = path.open("a+b")
        try:
            self._begin(self._file, path, run, resume)
        except BaseException:
            self._file.close()
            raise

    def _begin(self, file: BinaryIO, path: Path, run: Line, resume: bool) -> None:
        if not _locked(file):
            raise JournalError(f"{path} is being written by another run: wait for its end, or write elsewhere (--out).")
        content = file.read()
        # What follows the last whole line was cut off by whatever ended the run.
        whole = content[: content.rfind(b"\n") + 1]
        described_only = whole.count(b"\n") == 1
        if (described_only or not resume) and _holds_no_result(whole, run):
            whole = b""  # There is nothing to continue, and nothing to lose.
        if whole:
            self.lines = _continued(path, whole, run)
        if whole and not resume:
            raise JournalError(
                f"{path} holds the results of an earlier run: resume it (--resume), or write elsewhere (--out)."
            )
        file.truncate(len(whole))
        if not whole:
            self._write(run)

    def add(self, line: Line) -> None:
        """Keep a result; when this returns it is on disk."""
        self.lines.append(line)
        if self._file is not None:
            self._write(line)

    def _write(self, line: Line) -> None:
        assert self._file is not None
        self._file.write(json.dumps(line).encode() + b"\n")
        self._file.flush()
        os.fsync(self._file.fileno())

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._file is not None:
            self._file.close()


def _locked(file: BinaryIO) -> bool:
    """Whether the file is ours alone until it is closed; on a file system without locks it is taken to be."""
    try:
        if sys.platform == "win32":
            import msvcrt

            file.seek(BEYOND)
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        return False
    except OSError:
        pass
    file.seek(0)
    return True


def _holds_no_result(whole: bytes, run: Line) -> bool:
    """Whether nothing but the description of such a run, and what no decoder could read, was written."""
    try:
        first, *lines = map(json.loads, whole.split(b"\n")[:-1])
        return bool(
            first.keys() == run.keys() and all("failed" in line or line.get("decoders") == {} for line in lines)
        )
    except (ValueError, AttributeError, TypeError):
        return False


def _continued(path: Path, whole: bytes, run: Line) -> list[Line]:
    try:
        first, *lines = map(json.loads, whole.split(b"\n")[:-1])
        differing = sorted(name for name in run if first.get(name) != run[name])
    except (ValueError, AttributeError) as reason:
        raise JournalError(f"{path} is damaged: {reason}. Remove it to start again.") from reason
    if differing:
        raise JournalError(f"{path} is of another run: it differs in {', '.join(differing)}. Write elsewhere (--out).")
    return lines
