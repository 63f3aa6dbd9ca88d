"""Results on disk, one line of JSON each, written through at once: a run that is killed loses nothing."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, Self

from outputcodes._ground.words import in_words

Line = dict[str, Any]


# Where Windows locks a byte: beyond the end of any file, as a locked byte cannot be read there.
BEYOND = 1 << 60


class JournalError(ValueError):
    """A file of results that cannot be continued."""


class Journal:
    """The lines of a file, which begins with a description of the run; without a path, in memory only.

    One process at a time writes to a file: the lock is the operating system's and ends with the process.

    Parameters
    ----------
    path : Path, optional
    run : dict, optional
        Plain data: what must be the same for results to be continued.
    resume : bool, default=False
        Continue the results in the file. A last line that was not written to its end is dropped.
    is_empty : callable, optional
        Whether a line holds no result: a file of such lines alone is written over.
    check : callable, optional
        Called with each line that is continued; it raises an error that says what is wrong with it.

    Attributes
    ----------
    lines : list of dict
    notes : list of str
        What was dropped.

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

    def __init__(
        self,
        path: Path | None = None,
        run: Line | None = None,
        *,
        resume: bool = False,
        is_empty: Callable[[Line], bool] = lambda line: False,
        check: Callable[[Line], object] = lambda line: None,
    ) -> None:
        self.lines: list[Line] = []
        self.notes: list[str] = []
        self._is_empty, self._check = is_empty, check
        self._file: BinaryIO | None = None
        if path is None:
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file = path.open("a+b")
        try:
            self._begin(self._file, path, run or {}, resume)
        except BaseException:
            self._file.close()
            raise

    def _begin(self, file: BinaryIO, path: Path, run: Line, resume: bool) -> None:
        if not _locked(file):
            raise JournalError(
                f"{path} is being written by another run: wait until it ends, or write to another folder (--out)."
            )
        content = file.read()
        # What follows the last whole line was cut off when the run ended.
        whole = content[: content.rfind(b"\n") + 1]
        described_only = whole.count(b"\n") == 1
        if (described_only or not resume) and self._holds_no_result(whole, run):
            whole = b""  # There is nothing to continue, and nothing to lose.
        if whole:
            self.lines = _continued(path, whole, run, self._check)
        if whole and len(whole) < len(content):
            self.notes.append(f"{path}: the last line was cut off when the run ended; it is measured again.")
        if whole and not resume:
            raise JournalError(
                f"{path} holds the results of an earlier run: resume it (--resume), or write to another folder (--out)."
            )
        file.truncate(len(whole))
        if not whole:
            self._write(run)

    def _holds_no_result(self, whole: bytes, run: Line) -> bool:
        """Whether nothing but the description of such a run, and empty lines, was written."""
        try:
            first, *lines = map(json.loads, whole.split(b"\n")[:-1])
            return first.keys() == run.keys() and all(map(self._is_empty, lines))
        except (ValueError, AttributeError, TypeError, KeyError):
            return False

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
    """Lock the file until it is closed; False if another process has it. A file system without locks is trusted."""
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


def _continued(path: Path, whole: bytes, run: Line, check: Callable[[Line], object]) -> list[Line]:
    lines = [_read(path, number, text) for number, text in enumerate(whole.split(b"\n")[:-1], start=1)]
    first, *lines = lines
    if differing := sorted(name for name in run if first.get(name) != run[name]):
        raise JournalError(
            f"{path} holds the results of another run: it differs in {', '.join(differing)}. "
            "Write to another folder (--out)."
        )
    for number, line in enumerate(lines, start=2):
        try:
            check(line)
        except (ValueError, TypeError, KeyError, AttributeError) as reason:
            raise _damaged(path, number, in_words(reason)) from reason
    return lines


def _read(path: Path, number: int, text: bytes) -> Line:
    try:
        line = json.loads(text)
    except ValueError as reason:
        raise _damaged(path, number, str(reason)) from reason
    if not isinstance(line, dict):
        raise _damaged(path, number, f"it is a {type(line).__name__}, not a JSON object")
    return line


def _damaged(path: Path, number: int, reason: str) -> JournalError:
    remedy = "Remove this line to measure it again" if number > 1 else "Remove the file to start again"
    return JournalError(
        f"{path}, line {number}, is damaged: {' '.join(reason.split())}. {remedy}, or write to another folder (--out)."
    )
