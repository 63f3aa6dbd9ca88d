"""Models fitted to tables, and a summary of what they learned; nothing is written before it is fitted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from outputcodes.app import persistence
from outputcodes.app.run.paths import check_out
from outputcodes.app.run.sources import open_table
from outputcodes.app.run.systems import build
from outputcodes.app.tables import Table
from outputcodes.bounds import hamming_error_bound
from outputcodes.codes import min_distance
from outputcodes.decoders.classifier import DecodingClassifier
from outputcodes.diagnostics import column_errors
from outputcodes.learners import LEARNERS

# Errors of a fitted model are counted on about so many of its training rows.
SUMMARISED_ROWS = 100_000


def fit_file(
    data: str,
    out: str | Path,
    target: str | None = None,
    learner: str = "logistic",
    code: str | None = None,
    decoder: str = "loss",
    *,
    probability: str | None = None,
    seed: int = 0,
    n_jobs: int | None = None,
    encoding: str = "utf-8",
) -> tuple[Pipeline, dict[str, Any]]:
    """Fit a model to a table and save it; return the model and the summary in its file.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "iris.skops"
    >>> model, summary = fit_file("iris", path, learner="ridge", code="all-pairs")
    >>> summary["rows"], summary["learner"]
    (150, 'ridge')
    """
    check_out(out, (".skops",), data)
    table = open_table(data, target, encoding=encoding)
    how: dict[str, Any] = {"rows": len(table.target), "probability": probability, "seed": seed, "n_jobs": n_jobs}
    model = build(table.schema, learner, code, decoder, **how).fit(table.frame, table.target.to_numpy())
    facts: dict[str, Any] = {"learner": learner, "data": Path(data).name}
    if table.notes:
        facts["notes"] = list(table.notes)
    if learner in LEARNERS:
        facts |= {"code": code or "all-pairs", "decoder": decoder}
    summary = training_summary(model, table, **facts)
    persistence.save(model, out, schema=table.schema, summary=summary)
    return model, summary


def training_summary(model: Pipeline, table: Table, **facts: Any) -> dict[str, Any]:
    """Return plain data on a model that was fitted to a table: the facts given, and its errors on the table.

    For an output code these are the error of each column on the training rows, and the bound on the training error
    under Hamming decoding that follows (Allwein, Schapire & Singer, JMLR 1, 2000).
    """
    final, summary = model[-1], {"rows": len(table.target), **facts}
    some = slice(None, None, max(1, len(table.target) // SUMMARISED_ROWS))
    frame, labels = table.frame.iloc[some], table.target.to_numpy()[some]
    if not isinstance(final, DecodingClassifier):
        return {**summary, "training_error": float(np.mean(model.predict(frame) != labels))}
    y, M = np.searchsorted(final.classes_, labels), final.code_matrix_
    F = final.margins(model[:-1].transform(frame))
    summary["training_error"] = float(np.mean(final.decoder_.predict(F, M) != y))
    summary["column_errors"] = column_errors(F, y, M).round(6).tolist()
    if min_distance(M) > 0:
        summary["hamming_bound"] = float(hamming_error_bound(F, y, M))
    return summary
