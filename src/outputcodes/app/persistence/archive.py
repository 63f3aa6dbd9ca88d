"""Model files are zip archives that may come from anywhere: they are unpacked within a limit before they are read.

A few megabytes can unpack to more than any memory holds: through a compressed member, through an archive inside the
archive (a sparse matrix is one), through JSON, whose objects take many times the size of the text, or through one
member that the model refers to again and again.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from shutil import copyfileobj
from tempfile import SpooledTemporaryFile
from typing import IO, Any
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile, ZipInfo

from outputcodes.app.persistence.errors import ModelFileError, NotAModelError, TooLargeModelError

# The default limit on the bytes that a model file may unpack to: 1 GiB.
MAX_BYTES = 1 << 30
# "[]," are three bytes of text and about ninety bytes of Python objects.
JSON_GROWTH = 32
# Archives up to this size stay in memory.
IN_MEMORY = 1 << 26
STEP = 1 << 20
# The member in which skops describes the objects.
SCHEMA = "schema.json"


@contextmanager
def unpacked(path: Path, max_bytes: int) -> Iterator[IO[bytes]]:
    """Provide the archive in a temporary file, without compression and with at most `max_bytes` in its members."""
    if max_bytes < 1:
        raise ModelFileError(f"max_bytes={max_bytes} must be at least 1.")
    with SpooledTemporaryFile(IN_MEMORY) as copy:
        with ZipFile(path) as packed:
            _copy(packed, copy, _Budget(path, max_bytes))
        with ZipFile(copy) as plain:
            _check_references(plain, _Budget(path, max_bytes))
        copy.seek(0)
        yield copy


class _Budget:
    """The bytes that are unpacked, in an archive and in those inside it, and their limit."""

    def __init__(self, path: Path, limit: int) -> None:
        self.path, self.limit, self.spent = path, limit, 0

    def admit(self, members: Collection[ZipInfo]) -> None:
        """Add the declared sizes of some members."""
        self.spend(sum(member.file_size for member in members))
        texts = [JSON_GROWTH * member.file_size for member in members if member.filename.endswith(".json")]
        self.check(max([self.spent, *texts]))

    def spend(self, size: int) -> None:
        self.spent += size

    def check(self, needed: int) -> None:
        if needed > self.limit:
            raise TooLargeModelError(
                f"{self.path} is refused: unpacked, it takes {size_in_words(needed)} or more, and the limit is "
                f"{size_in_words(self.limit)}. If you trust the file, raise the limit to max_bytes={needed} "
                f"(--max-bytes {needed})."
            )


def _copy(packed: ZipFile, target: IO[bytes], budget: _Budget) -> None:
    """Copy the members without compression.

    Sizes are checked in the directory before anything is unpacked. A directory may lie: no more than it declares is
    ever read of a member, and the checksum tells that there was more.
    """
    members = packed.infolist()
    for member in members:
        if member.compress_type not in (ZIP_STORED, ZIP_DEFLATED):
            raise NotAModelError(f"{budget.path}: {member.filename} has a compression that models are not saved with.")
    budget.admit(members)
    with ZipFile(target, "w", ZIP_STORED) as plain:
        for member in members:
            with packed.open(member) as source, plain.open(ZipInfo(member.filename), "w", force_zip64=True) as written:
                start = source.read(2)
                if start == b"PK":
                    inner = BytesIO()
                    with ZipFile(BytesIO(start + source.read(member.file_size))) as nested:
                        _copy(nested, inner, budget)
                    written.write(inner.getbuffer())
                else:
                    written.write(start)
                    copyfileobj(source, written, STEP)


def _check_references(plain: ZipFile, budget: _Budget) -> None:
    """Refuse a model that names the same member so often that its copies exceed the limit."""
    sizes = {member.filename: member.file_size for member in plain.infolist()}
    if SCHEMA not in sizes:
        return
    seen: set[tuple[Any, str]] = set()
    left: list[Any] = [json.loads(plain.read(SCHEMA))]
    while left:
        node = left.pop()
        if isinstance(node, list):
            left += node
        elif isinstance(node, dict):
            left += node.values()
            name, number = node.get("file"), node.get("__id__")
            # skops reads an object that has a number once, however often it occurs.
            if isinstance(name, str) and not (number and (repr(number), name) in seen):
                seen.add((repr(number), name))
                budget.spend(sizes.get(name, 0))
    budget.check(budget.spent)


def size_in_words(size: int) -> str:
    """Return a number of bytes for a message.

    >>> size_in_words(8_000_000_000), size_in_words(1500), size_in_words(7)
    ('8.0 GB', '1.5 kB', '7 bytes')
    """
    for unit, word in ((10**9, "GB"), (10**6, "MB"), (10**3, "kB")):
        if size >= unit:
            return f"{size / unit:.1f} {word}"
    return f"{size} bytes"
