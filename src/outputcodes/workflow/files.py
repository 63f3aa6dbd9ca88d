"""A model from a table, and a model file in words."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from outputcodes import persistence
from outputcodes.codes import describe
from outputcodes.learners import LEARNERS
from outputcodes.workflow.models import build, save_model
from outputcodes.workflow.sources import open_table


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
) -> tuple[Any, dict[str, Any]]:
    """Fit a model to a table and save it; the model and the summary that its file carries.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "iris.skops"
    >>> model, summary = fit_file("iris", path, learner="ridge", code="all-pairs")
    >>> summary["rows"], summary["learner"]
    (150, 'ridge')
    """
    check_folder(out)
    table = open_table(data, target, encoding=encoding)
    how: dict[str, Any] = {"rows": len(table.target), "probability": probability, "seed": seed, "n_jobs": n_jobs}
    model = build(table.schema, learner, code, decoder, **how).fit(table.frame, table.target.to_numpy())
    facts = {"learner": learner, "data": Path(data).name}
    if learner in LEARNERS:
        facts |= {"code": code or "all-pairs", "decoder": decoder}
    return model, save_model(model, table, out, **facts)


def check_folder(out: str | Path) -> None:
    """Complain of a folder that is not there before the work is done, and not after."""
    folder = Path(out).parent
    if not folder.is_dir():
        raise ValueError(f"There is no folder {folder} for {Path(out).name}: make it first.")


def inspect_file(path: str | Path) -> str:
    """A model file in words: how it was made, its table, its code, the errors of its columns, its size.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "iris.skops"
    >>> _ = fit_file("iris", path, learner="ridge", code="all-pairs")
    >>> lines = inspect_file(path).splitlines()
    >>> lines[1], lines[-1][:55]
    ('rows: 150', 'errors of the columns on the training rows: mean 1.00 %')
    """
    model, manifest = persistence.load(path)
    versions = ", ".join(f"{name} {number}" for name, number in manifest.versions.items())
    lines = [f"{path}: {Path(path).stat().st_size} bytes, written by {versions}"]
    summary = dict(manifest.summary)
    errors = summary.pop("column_errors", None)
    told = {name: value for name, value in summary.items() if name != "run" and value not in ("", None)}
    lines += [f"{name.replace('_', ' ')}: {_short(value)}" for name, value in told.items()]
    if (schema := manifest.schema) is not None:
        kinds = [column.kind for column in schema.columns]
        lines.append("table: " + ", ".join(f"{kinds.count(kind)} {kind}" for kind in dict.fromkeys(kinds)))
        lines.append(f"target: {schema.target}, {len(schema.classes)} classes")
    lines.append("types beyond scikit-learn's estimators, all trusted: " + (", ".join(manifest.types) or "none"))
    final = model[-1] if hasattr(model, "steps") else model
    lines.append("model: " + " ".join(repr(final).split()))
    if hasattr(final, "code_matrix_"):
        lines += ["", str(describe(final.code_matrix_))]
    if errors:
        worst = np.argsort(-np.array(errors), kind="stable")[:10]
        named = ", ".join(f"{s}: {100 * errors[s]:.2f} %" for s in worst)
        lines += ["", f"errors of the columns on the training rows: mean {100 * np.mean(errors):.2f} %; worst {named}"]
    return "\n".join(lines)


def _short(value: Any) -> str:
    if isinstance(value, list):
        return " to ".join(map(_short, value))
    return f"{value:.4g}" if isinstance(value, float) else str(value)
