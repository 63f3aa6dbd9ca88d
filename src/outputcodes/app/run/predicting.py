"""Predictions for a table of any length: read, predicted and written chunk by chunk."""

from __future__ import annotations

import gzip
from collections.abc import Callable, Iterable, Iterator
from itertools import chain, repeat
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from outputcodes._ground import progress
from outputcodes._ground.files import in_place_of
from outputcodes.app import persistence, tables
from outputcodes.app.report.answers import answers
from outputcodes.app.report.explain import explain_row
from outputcodes.app.run.deciding import Decider, Decisions
from outputcodes.app.run.paths import check_out
from outputcodes.classifier import OutputCodeClassifier

# Endings of files whose rows are lines.
TEXT = (".csv", ".tsv", ".txt", ".svm", ".libsvm", ".arff")
# Of more classes than this, only so many of the most probable ones are written.
MOST_PROBABILITIES, TOP = 1000, 10


def predict_file(
    model: str | Path,
    data: str | Path,
    out: str | Path,
    *,
    proba: bool = False,
    explain: bool = False,
    identifier: str | None = None,
    decisions: Decisions | None = None,
    rows: int = 50_000,
    trusted: Iterable[str] = (),
    max_bytes: int = persistence.MAX_BYTES,
    **text: Any,
) -> int:
    """Write the predictions of a saved model for the rows of a table to a csv file; return how many there are.

    Parameters
    ----------
    model, data, out : paths
        The model is one of `outputcodes.app.persistence.save` with the schema of its table. A file that ends in .gz is
        compressed.
    proba : bool
        Add the probability of each class; of more than a thousand classes, the ten most probable ones.
    explain : bool
        Add a sentence on each prediction.
    identifier : str, optional
        A column that is written before the predictions as it is; by default that of the training table, if it had one
        and the file has it.
    decisions : Decisions, optional
        Decide by costs, priors or rejection.
    rows : int
        How many are in memory at a time. `out` appears when all are written.
    trusted, max_bytes
        As for `persistence.load`.
    **text
        How the file is written, see `tables.read`: encoding, separator, decimal.

    Examples
    --------
    >>> import tempfile
    >>> from outputcodes.app.run import fit_file
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = (folder / "fruit.csv").write_text("mass,class\\n" + "150,apple\\n60,lemon\\n" * 10)
    >>> _ = fit_file(folder / "fruit.csv", folder / "fruit.skops", learner="ridge")
    >>> _ = (folder / "new.csv").write_text("mass\\n145\\n71\\n")
    >>> predict_file(folder / "fruit.skops", folder / "new.csv", folder / "answers.csv")
    2
    >>> (folder / "answers.csv").read_text().split()
    ['prediction', 'apple', 'lemon']
    """
    check_out(out, (".csv", ".csv.gz"), model, *tables.table_files(data))
    fitted, manifest = persistence.load(model, trusted=trusted, max_bytes=max_bytes)
    schema = manifest.schema
    if schema is None:
        raise persistence.ModelFileError(f"{model} was saved without the schema of its table: it can't read tables.")
    if (proba or decisions) and not hasattr(fitted, "predict_proba"):
        final = fitted[-1] if hasattr(fitted, "steps") else fitted
        coded = isinstance(final, OutputCodeClassifier)
        remedy = "fit it with --probability softmax" if coded else "fit another, by --learner"
        raise ValueError(f"{model}: the {type(final).__name__} in it has no probabilities: {remedy}.")
    if decisions is not None and decisions.rejected is not None and not decisions:
        raise ValueError(
            f"rejected={decisions.rejected!r} is the label of rejected rows, and nothing is rejected: add "
            "--reject-below, --reject-beyond or --cost."
        )
    decider = decisions.for_model(schema, manifest.summary.get("class_shares")) if decisions else None

    def answered(chunk: Any) -> Any:
        return predictions(fitted, chunk, proba, explain, decider)

    out = Path(out)
    written = 0
    chunks = tables.read_chunks(data, schema, rows=rows, **text)
    named = _identifiers(data, schema, identifier, rows, text)
    opened: Any = gzip.open if out.suffix == ".gz" else open
    total = expected_rows(data) if progress.is_watched() else 0
    with (
        in_place_of(out) as part,
        opened(part, "wt", encoding="utf-8", newline="") as file,
        progress.phase("predictions", total, "rows"),
    ):
        for chunk, names in zip(chunks, named, strict=False):
            progress.reached(written, total, "rows")
            found = by_row(answered, chunk, data)
            if names is not None:
                found.insert(0, names.name, names.to_numpy())
            found.to_csv(file, index=False, header=written == 0)
            written += len(chunk)
        progress.reached(written, written, "rows")
    return written


def expected_rows(data: str | Path) -> int:
    """Return about how many rows a text file has, by its line breaks; 0 for files that would have to be unpacked.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "t.csv"
    >>> _ = path.write_text("x,y\\n1,2\\n3,4\\n")
    >>> expected_rows(path), expected_rows("t.csv.gz")
    (2, 0)
    """
    path = Path(data)
    if path.suffix not in TEXT or not path.is_file():
        return 0
    with path.open("rb") as file:
        lines = sum(block.count(b"\n") for block in iter(lambda: file.read(1 << 20), b""))
    return max(0, lines - 1)


def predictions(
    model: Any, chunk: Any, proba: bool = False, explain: bool = False, decider: Decider | None = None
) -> Any:
    """Return the predictions for a data frame as another: prediction, probabilities, explanation."""
    import pandas as pd

    asked = answers(model, chunk)
    P, chosen, labels = asked.probabilities, asked.predicted, asked.classes
    if decider is not None:
        assert P is not None
        P, chosen, labels = decider.probabilities(P), decider(asked), np.array(decider.labels, dtype=object)
    columns: dict[str, Any] = {"prediction": labels[chosen]}
    if proba:
        assert P is not None
        columns |= probability_columns(asked.classes, P)
    if explain:
        texts = [explain_row(asked, i, brief=True).summary() for i in range(len(chunk))]
        changed = [f"Decided as {labels[s]} by costs, priors or rejection; the model itself: " for s in chosen]
        columns["explanation"] = [
            text if s == own else before + text
            for text, s, own, before in zip(texts, chosen, asked.predicted, changed, strict=True)
        ]
    return pd.DataFrame(columns)


def probability_columns(classes: NDArray[Any], P: NDArray[np.float64]) -> dict[str, Any]:
    """Return a column for each class; of more than a thousand, the ten most probable ones of each row.

    >>> probability_columns(np.array(["a", "b"]), np.array([[0.3, 0.7]]))
    {'p(a)': array([0.3]), 'p(b)': array([0.7])}
    >>> many = probability_columns(np.arange(2000), np.full((1, 2000), 1 / 2000))
    >>> list(many)[:3], len(many)
    (['class 1', 'p 1', 'class 2'], 20)
    """
    if len(classes) <= MOST_PROBABILITIES:
        return {f"p({label})": one for label, one in zip(classes, P.T, strict=True)}
    order = np.argsort(-P, axis=1, kind="stable")[:, :TOP].T
    rows, columns = np.arange(len(P)), dict[str, Any]()
    for place, best in enumerate(order, start=1):
        columns |= {f"class {place}": classes[best], f"p {place}": P[rows, best]}
    return columns


def by_row(answered: Callable[[Any], Any], chunk: Any, source: object) -> Any:
    """Return the answer for a chunk; where there is none, name the first row that has none, and its largest number.

    >>> import pandas as pd
    >>> def refusing(chunk):
    ...     if (chunk["x"] > 1e9).any():
    ...         raise ValueError("too large")
    >>> by_row(refusing, pd.DataFrame({"x": [1.0, 1e300]}, index=[1, 2]), "new.csv")
    Traceback (most recent call last):
    ValueError: new.csv: row 2 can't be predicted: too large Its largest number is 1e+300, in column 'x'.
    """
    try:
        return answered(chunk)
    except ValueError as reason:
        if (row := _first_refused(answered, chunk)) is None:
            raise
        numbers = row.select_dtypes("number").abs().max()
        where = (
            f" Its largest number is {row[numbers.idxmax()].iloc[0]}, in column {numbers.idxmax()!r}."
            if len(numbers)
            else ""
        )
        raise ValueError(f"{source}: row {row.index[0]} can't be predicted: {reason}{where}") from reason


def _first_refused(answered: Callable[[Any], Any], chunk: Any) -> Any:
    """The first row that is refused alone, found by halving; None if only all rows together are."""
    while len(chunk) > 1:
        half = len(chunk) // 2
        try:
            answered(chunk.iloc[:half])
        except ValueError:
            chunk = chunk.iloc[:half]
        else:
            chunk = chunk.iloc[half:]
    try:
        answered(chunk)
    except ValueError:
        return chunk
    return None


def _identifiers(
    data: str | Path, schema: tables.Schema, asked: str | None, rows: int, text: dict[str, Any]
) -> Iterator[Any]:
    """The column that names the rows, in chunks; None for each chunk if there is none."""
    name = schema.identifier if asked is None else asked
    if name is None:
        return repeat(None)
    if name in schema.used:
        raise ValueError(
            f"identifier={name!r} (--id) is a feature of the model: fit the model again with --id {name}, which keeps "
            "it out of the features."
        )
    if name == "prediction":
        raise ValueError("identifier='prediction' (--id) is the name of the column of predictions: rename the column.")
    texts = tables.read_texts(data, name, rows=rows, **text)
    if asked is not None:
        return texts
    try:
        return chain([next(texts)], texts)
    except tables.errors.MissingColumnsError:
        return repeat(None)
