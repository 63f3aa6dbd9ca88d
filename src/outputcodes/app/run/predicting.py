"""Predictions for a table of any length: read, predicted and written chunk by chunk."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

from outputcodes._ground.files import in_place_of
from outputcodes.app import persistence, tables
from outputcodes.app.report.answers import answers
from outputcodes.app.report.explain import explain_row
from outputcodes.app.run.paths import check_out
from outputcodes.classifier import OutputCodeClassifier


def predict_file(
    model: str | Path,
    data: str | Path,
    out: str | Path,
    *,
    proba: bool = False,
    explain: bool = False,
    rows: int = 50_000,
    encoding: str = "utf-8",
) -> int:
    """Write the predictions of a saved model for the rows of a table to a csv file; return how many there are.

    Parameters
    ----------
    model, data, out : paths
        The model is one of `outputcodes.app.persistence.save` with the schema of its table. A file that ends in .gz is
        compressed.
    proba : bool
        Add the probability of each class.
    explain : bool
        Add a sentence on each prediction.
    rows : int
        How many are in memory at a time. `out` appears when all are written.
    """
    check_out(out, (".csv", ".csv.gz"), data, model)
    fitted, manifest = persistence.load(model)
    if manifest.schema is None:
        raise persistence.ModelFileError(f"{model} was saved without the schema of its table: it can't read tables.")
    if proba and not hasattr(fitted, "predict_proba"):
        final = fitted[-1] if hasattr(fitted, "steps") else fitted
        coded = isinstance(final, OutputCodeClassifier)
        remedy = "fit it with --probability softmax" if coded else "fit another, by --learner"
        raise ValueError(f"{model}: the {type(final).__name__} in it has no probabilities: {remedy}.")
    out = Path(out)
    written = 0
    opened: Any = gzip.open if out.suffix == ".gz" else open
    with in_place_of(out) as part, opened(part, "wt", encoding="utf-8", newline="") as file:
        for chunk in tables.read_chunks(data, manifest.schema, rows=rows, encoding=encoding):
            predictions(fitted, chunk, proba, explain).to_csv(file, index=False, header=written == 0)
            written += len(chunk)
    return written


def predictions(model: Any, chunk: Any, proba: bool = False, explain: bool = False) -> Any:
    """Return the predictions for a data frame as another: prediction, p(class) for each class, explanation."""
    import pandas as pd

    asked = answers(model, chunk)
    columns: dict[str, Any] = {"prediction": asked.classes[asked.predicted]}
    if proba:
        assert asked.probabilities is not None
        columns |= {f"p({label})": P for label, P in zip(asked.classes, asked.probabilities.T, strict=True)}
    if explain:
        columns["explanation"] = [explain_row(asked, i, brief=True).summary() for i in range(len(chunk))]
    return pd.DataFrame(columns)
