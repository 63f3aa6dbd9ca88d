"""The files of a table, in the order of their names, read in turn; one that changes meanwhile is refused."""

from __future__ import annotations

import glob
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from outputcodes._ground.words import quoted
from outputcodes.app.tables import errors
from outputcodes.app.tables.formats import LABEL, ending_of, feature_range, frames, is_table
from outputcodes.app.tables.ordering import joined_orders
from outputcodes.app.tables.request import Dialect, Types


def table_files(data: str | Path) -> list[Path]:
    """Return the files of a table: those in a folder or of a pattern, sorted by name, or the one file.

    >>> table_files("iris.csv")
    [PosixPath('iris.csv')]
    """
    path = Path(data)
    if path.is_dir():
        found = sorted(one for one in path.iterdir() if one.is_file() and not one.name.startswith((".", "_")))
        files = [one for one in found if is_table(one)]
        if not files:
            there = f"it has {quoted(one.name for one in found)}" if found else "it is empty"
            raise errors.NoSuchTableError(f"The folder {path} has no tables; {there}.")
        return files
    if not is_pattern(data):
        return [path]
    files = sorted(Path(one) for one in glob.glob(str(data), recursive=True) if Path(one).is_file())
    if not files:
        raise errors.NoSuchTableError(f"There is no file of the pattern {data}.")
    return files


def is_pattern(data: str | Path) -> bool:
    """Return whether a name is a pattern of files, and not itself the name of one."""
    return any(sign in str(data) for sign in "*?[") and not Path(data).exists()


def frames_in_turn(paths: list[Path], types: Types, **how: Any) -> Iterator[tuple[Path, Any]]:
    """Yield each frame of some files with its file; arguments as for `formats.frames`. One of several may be empty."""
    found = False
    for path in paths:
        for frame in _frames_of_one(path, len(paths), types, **how):
            found = True
            yield path, frame
    if not found:
        raise _none_has_rows(paths)


def _frames_of_one(path: Path, n_files: int, types: Types, **how: Any) -> Iterator[Any]:
    """Yield the frames of one of `n_files` files; one of several may have no rows."""
    try:
        yield from frames(path, types, **how)
    except errors.EmptyTableError:
        if n_files == 1:
            raise


def _none_has_rows(paths: list[Path]) -> errors.NoRowsError:
    return errors.NoRowsError(f"None of the files in {paths[0].parent} has rows; name others.")


class FilesInOrder:
    """Files with the same columns, of the same format."""

    def __init__(self, paths: list[Path], dialect: Dialect) -> None:
        if len(endings := sorted({ending_of(path) for path in paths})) > 1:
            raise errors.UnknownFormatError(
                f"{paths[0].parent} has tables of the formats {', '.join(endings)}; name those of one, such as "
                f"{paths[0].parent}/*{endings[0]}."
            )
        self.paths, self.dialect = paths, dialect
        # A row of a libsvm file names the features that it has.
        self.sparse = endings[0] in (".libsvm", ".svm")
        self._stamps = [self._stamp(path) for path in paths]

    def columns(self, without: Iterable[str]) -> list[str]:
        """Return the columns of the first file, apart from some; those of libsvm files are the features of any row."""
        if self.sparse:
            columns = [*map(str, feature_range(self.paths)), LABEL]
            return [name for name in columns if name not in set(without)]
        _, first = next(frames_in_turn(self.paths, {}, without=without, rows=1, dialect=self.dialect))
        return [str(name) for name in first.columns]

    def blocks(self, types: Types, only: Iterable[str] | None, without: Iterable[str], rows: int) -> Iterator[Any]:
        """Yield data frames of at most `rows` rows of one file; their `attrs` have its "path".

        The index counts the rows of the file from 1.
        """
        import pandas as pd

        expected: Any = None
        how = {"only": only, "without": without, "rows": rows, "dialect": self.dialect}
        for path, stamp in zip(self.paths, self._stamps, strict=True):
            self._check(path, stamp)
            waiting: list[Any] = []
            start = 1
            for frame in _frames_of_one(path, len(self.paths), types, **how):
                expected = self._matched(frame, expected, path, start)
                frame.index = range(start, start + len(frame))
                start += len(frame)
                if waiting and sum(map(len, waiting)) + len(frame) > rows:
                    yield _joined(pd, waiting, path)
                    waiting = []
                waiting.append(frame)
            # A file that was changed while it was read has a new stamp.
            self._check(path, stamp)
            if waiting:
                yield _joined(pd, waiting, path)
        if expected is None:
            raise _none_has_rows(self.paths)

    def _matched(self, frame: Any, expected: Any, path: Path, start: int) -> Any:
        """Refuse a frame with other columns, or columns of another kind, than the first; `start` is its first row."""
        kinds = {str(name): _kind(frame[name].dtype) for name in frame.columns if frame[name].notna().any()}
        names = [str(name) for name in frame.columns]
        if expected is None:
            return names, kinds
        first, known = expected
        if set(names) != set(first):
            lacks, more = sorted(set(first) - set(names)), sorted(set(names) - set(first))
            which = f"lacks {quoted(lacks)}" if lacks else f"has {quoted(more)} more"
            raise errors.MissingColumnsError(
                f"{path} {which}; the files of a table have the same columns, and {self.paths[0]} has {quoted(first)}."
            )
        for name, kind in kinds.items():
            if known.setdefault(name, kind) != kind:
                example = _first_other(frame[name], start) if (kind, known[name]) == ("text", "numbers") else ""
                raise errors.WrongKindError(
                    f"{path}: column {name!r} holds {kind}{example} and the files before it {known[name]}; give it one "
                    "kind."
                )
        return expected

    def _check(self, path: Path, stamp: tuple[int, int]) -> None:
        if self._stamp(path) != stamp:
            raise errors.ChangedTableError(
                f"{path} has changed since it was first read; train on files that stay as they are."
            )

    @staticmethod
    def _stamp(path: Path) -> tuple[int, int]:
        try:
            found = path.stat()
        except FileNotFoundError as reason:
            raise errors.NoSuchTableError(f"There is no file {path}.") from reason
        return found.st_size, found.st_mtime_ns


def _kind(dtype: Any) -> str:
    return "numbers" if dtype.kind in "iuf" else "dates" if dtype.kind == "M" else "text"


def _first_other(column: Any, start: int) -> str:
    """Name the first value that is no number, and its row in the file; `start` is the row of the first value."""
    import pandas as pd

    other = (pd.to_numeric(column, errors="coerce").isna() & column.notna()).to_numpy()
    at = int(other.argmax())
    return f" (row {start + at} has {str(column.iloc[at])!r})" if other.any() else ""


def _joined(pd: Any, waiting: list[Any], path: Path) -> Any:
    frame = waiting[0] if len(waiting) == 1 else pd.concat(waiting)
    ordered = dict.fromkeys(name for part in waiting for name in part.attrs.get("ordered", ()))
    joined = {name: joined_orders(part.attrs["ordered"].get(name, ()) for part in waiting) for name in ordered}
    # Attributes that differ are lost where frames are joined.
    frame.attrs = {**waiting[0].attrs, "ordered": joined, "path": str(path)}
    return frame
