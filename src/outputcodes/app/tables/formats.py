"""File formats by the ending of the name, with an error class for everything that can go wrong.

Rows are returned as they are: labels and kinds are decided elsewhere.
"""

from __future__ import annotations

import re
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from io import BytesIO
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_svmlight_file

from outputcodes.app.tables import errors
from outputcodes.app.tables._arrow import OTHER_ENCODING, as_frame, opened, pyarrow
from outputcodes.app.tables.arff import read_arff
from outputcodes.app.tables.delimited import BLOCK_BYTES, CHUNK_BLOCK_BYTES, MISSING, read_csv, read_tsv
from outputcodes.app.tables.request import Dialect, Request, Types

# A gigabyte of numbers. Wider sparse data can be given to the estimators directly, as a csr matrix.
LARGEST_FRAME = 1 << 27
# The libsvm format has no header: its labels get this name.
LABEL = "label"


def frames(
    path: str | Path,
    types: Types,
    *,
    only: Iterable[str] | None = None,
    without: Iterable[str] = (),
    rows: int | None = None,
    dialect: Dialect | None = None,
) -> Iterator[Any]:
    """Yield the table in data frames of at most `rows` rows, or in one; `only` some columns, those that exist.

    `types` has the columns that are read as text or as numbers; the kinds of the others are recognised. The columns
    `without` are left out, and must exist. The columns of a file without rows are not checked if `rows` is given.
    """
    path, dialect = Path(path), dialect or Dialect()
    ending = ending_of(path)
    dialect.check_encoding()
    if not dialect.is_usual and ending not in (".csv", ".tsv"):
        raise errors.TableError(
            f"{path}: a separator (--sep) and a decimal mark (--decimal) are for csv and tsv files."
        )
    read = FORMATS[ending]
    request = Request(types, None if only is None else frozenset(only), frozenset(without), rows, dialect)
    with _named_errors(path, rows):
        if not path.stat().st_size:
            # A parquet or npy file has a header even if it has no rows: without it, something is lost.
            if ending in (".parquet", ".npy"):
                raise errors.DamagedTableError(f"{path} is an empty file; write it again.")
            raise errors.EmptyTableError(f"{path} is an empty file.")
        found = False
        for frame in read(path, request):
            if len(frame):
                found = True
                yield frame
        if not found:
            raise errors.NoRowsError(f"{path} has no rows.")


def missing_words(path: str | Path, column: str, dialect: Dialect | None = None) -> Counter[str]:
    """Count the words for a missing value in a column of delimited text; other formats have none."""
    path = Path(path)
    if ending_of(path) not in (".csv", ".tsv", ".arff"):
        return Counter()
    (frame,) = frames(path, {column: "verbatim"}, only=[column], dialect=dialect)
    return Counter(word for word in frame[column] if word in MISSING)


def _parquet(path: Path, request: Request) -> Iterator[Any]:
    pa = pyarrow()
    with pyarrow("parquet").ParquetFile(path) as file:
        if not file.metadata.num_rows:
            return
        # pandas stores its index as a column with this name.
        names = [name for name in file.schema_arrow.names if not name.startswith("__index_level_")]
        columns = request.chosen(names, path)
        left = replace(request, without=frozenset())
        if request.rows is None:
            yield as_frame(file.read(columns), path, left, is_text=False)
            return
        for batch in file.iter_batches(request.rows, columns=columns):
            yield as_frame(pa.Table.from_batches([batch]), path, left, is_text=False)


def _libsvm(path: Path, request: Request) -> Iterator[Any]:
    pyarrow()
    import pandas as pd

    only = request.only
    # Columns are named by their indices, which begin at 0 or at 1.
    width = None if only is None else 1 + max((int(name) for name in only if name.isdecimal()), default=0)
    with opened(path) as lines:
        while block := b"".join(islice(lines, request.rows)):
            X, y = load_svmlight_file(BytesIO(block), zero_based=True)
            if width is not None:
                # Features that training did not see are left out, as in every format.
                X.resize(X.shape[0], width)
            if np.prod(X.shape) > LARGEST_FRAME:
                raise errors.TooWideError(
                    f"{path} has {X.shape[0]} rows and {X.shape[1]} columns, more than a data frame should hold: read "
                    "it with sklearn.datasets.load_svmlight_file and fit an estimator on the sparse matrix."
                )
            frame = pd.DataFrame(X.toarray(), columns=[str(j) for j in range(X.shape[1])])
            if only is None and X[:, :1].nnz == 0:
                frame = frame.iloc[:, 1:]
            frame = frame.assign(**{LABEL: y})
            yield frame[request.chosen(list(frame.columns), path)] if request.without else frame


def feature_range(paths: Iterable[Path], rows: int = 50_000) -> range:
    """Return the numbers of the features in libsvm files, from 0 or from 1."""
    last, zero = 0, False
    for path in paths:
        with _named_errors(path, rows), opened(path) as lines:
            while block := b"".join(islice(lines, rows)):
                X, _ = load_svmlight_file(BytesIO(block), zero_based=True)
                last, zero = max(last, X.shape[1]), zero or X[:, :1].nnz > 0
    return range(0 if zero else 1, last)


def _npy(path: Path, request: Request) -> Iterator[Any]:
    """The columns of an array are named by their numbers, from 0."""
    pyarrow()
    import pandas as pd

    array = np.load(path, mmap_mode="r")
    if array.ndim != 2 or array.dtype.kind not in "iufb":
        raise errors.DamagedTableError(
            f"{path} holds an array of shape {array.shape} and type {array.dtype}; a table has rows and columns of "
            "numbers."
        )
    if not len(array):
        return
    names = [str(j) for j in range(array.shape[1])]
    chosen = request.chosen(names, path)
    places = [int(name) for name in chosen]
    step = request.rows or max(1, len(array))
    for start in range(0, len(array), step):
        yield pd.DataFrame(np.array(array[start : start + step, places]), columns=chosen)


FORMATS: dict[str, Callable[..., Iterator[Any]]] = {
    ".csv": read_csv,
    ".tsv": read_tsv,
    ".parquet": _parquet,
    ".arff": read_arff,
    ".libsvm": _libsvm,
    ".svm": _libsvm,
    ".npy": _npy,
}


def is_table(path: Path) -> bool:
    """Return whether the name of a file ends as those of tables do."""
    return Path(re.sub(r"\.(gz|bz2)$", "", path.name.lower())).suffix in FORMATS


def ending_of(path: Path) -> str:
    """Return the ending of the name of a table, without that of a compressed file."""
    ending = Path(re.sub(r"\.(gz|bz2)$", "", path.name.lower())).suffix
    if ending not in FORMATS:
        if not path.exists():
            raise errors.NoSuchTableError(f"There is no file or folder {path}.")
        raise errors.UnknownFormatError(
            f"{path}: the name of a table ends in {', '.join(FORMATS)}; text files may be compressed (.gz, .bz2)."
        )
    return ending


@contextmanager
def _named_errors(path: Path, rows: int | None) -> Iterator[None]:
    """Turn every error of a reader into a `TableError` that names the file."""
    try:
        yield
    except (errors.TableError, ImportError):
        raise
    except FileNotFoundError as reason:
        raise errors.NoSuchTableError(f"There is no file {path}.") from reason
    except UnicodeError as reason:
        raise errors.WrongEncodingError(f"{path} is not text in this encoding ({reason}); {OTHER_ENCODING}") from reason
    except (ValueError, OSError, EOFError, zlib.error) as reason:
        text = str(reason)
        if "straddling" in text:
            most = (BLOCK_BYTES if rows is None else CHUNK_BLOCK_BYTES) >> 20
            raise errors.LineTooLongError(
                f"{path}: a line is longer than {most} MB; is a quotation mark left open?"
            ) from reason
        if "Empty CSV" in text:
            raise errors.EmptyTableError(f"{path} is empty.") from reason
        if "conversion error" in text:
            raise errors.WrongKindError(f"{path}: {text}") from reason
        raise errors.DamagedTableError(
            f"{path} is incomplete, damaged, or not in the format of its name ({text[:200]})."
        ) from reason
