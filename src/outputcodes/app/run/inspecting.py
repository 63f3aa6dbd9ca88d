"""A model file in words."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from outputcodes._ground.tree_code import TreeCode
from outputcodes._ground.words import shorten
from outputcodes.app import persistence
from outputcodes.app.run.fitting import LARGEST_SUMMARISED
from outputcodes.app.run.race.winner import race_in_words
from outputcodes.classifier import OutputCodeClassifier
from outputcodes.codes import describe
from outputcodes.decoders.classifier import DecodingClassifier
from outputcodes.selection.race.blend import Blend

SHARES = {"error", "interval", "test_error", "training_error", "hamming_bound"}
WORDS = {"interval": "95 % interval", "hamming_bound": "bound on the training error under Hamming decoding"}


def inspect_file(path: str | Path, *, trusted: Iterable[str] = (), max_bytes: int = persistence.MAX_BYTES) -> str:
    """Return a model file in words: how it was made, its table, its code, the errors of its columns, its size.

    `trusted` and `max_bytes` are those of `persistence.load`.

    Examples
    --------
    >>> import tempfile
    >>> from outputcodes.app.run import fit_file
    >>> path = Path(tempfile.mkdtemp()) / "iris.skops"
    >>> _ = fit_file("iris", path, learner="ridge", code="all-pairs")
    >>> lines = inspect_file(path).splitlines()
    >>> lines[1], lines[-1][:55]
    ('rows: 150', 'errors of the columns on the training rows: mean 1.00 %')
    """
    model, manifest = persistence.load(path, trusted=trusted, max_bytes=max_bytes)
    versions = ", ".join(f"{name} {number}" for name, number in manifest.versions.items())
    lines = [f"{path}: {Path(path).stat().st_size} bytes, written by {versions}"]
    summary = dict(manifest.summary)
    errors = summary.pop("column_errors", None)
    notes = summary.pop("notes", [])
    summary.pop("class_shares", None)
    tuned = summary.pop("tuned", None)
    race = race_in_words(summary) if "standings" in summary else []
    for name in ("winner", "weights", "standings", "departures") if race else ():
        del summary[name]
    shown = {name: value for name, value in summary.items() if name != "run" and value not in ("", None)}
    shares = SHARES - {"error", "interval", "test_error"} if summary.get("metric") == "log-loss" else SHARES
    lines += [
        f"{WORDS.get(name, name.replace('_', ' '))}: {_short(value, name in shares)}" for name, value in shown.items()
    ]
    if tuned is not None:
        found = ", ".join(f"{name} {_short(value)}" for name, value in tuned["parameters"].items())
        error = _short(tuned["error"], share=True)
        lines.append(f"tuned: {found}; the best of {tuned['candidates']}, error {error} in {tuned['folds']} folds")
    lines += [f"note: {note}" for note in notes]
    if (schema := manifest.schema) is not None:
        kinds = [column.kind for column in schema.columns]
        lines.append(
            "columns of the table: " + ", ".join(f"{kind} ({kinds.count(kind)})" for kind in dict.fromkeys(kinds))
        )
        lines.append(f"target: {schema.target}, {len(schema.classes)} classes")
        if schema.order:
            lines.append(f"order of the classes: {', '.join(map(str, schema.order))}")
        if schema.identifier is not None:
            lines.append(f"identifier of the rows: {schema.identifier}")
    lines.append("types beyond scikit-learn's estimators, all trusted: " + (", ".join(manifest.types) or "none"))
    final = _final(model)
    lines.append("model: " + " ".join(repr(final).split()))
    members = [_final(member) for member in final.models] if isinstance(final, Blend) else [final]
    lines += [f"trained on: {device}" for device in sorted(_devices(members) - {"cpu"})]
    if isinstance(final, DecodingClassifier):
        k, L = final.code_.shape
        small = k * L <= LARGEST_SUMMARISED
        if isinstance(final.code_, TreeCode):
            lines += ["", f"code: {final.code_}"]
        elif not small:
            lines += ["", f"code: {k} classes, {L} columns"]
        if small:
            lines += ["", _labelled(str(describe(final.code_matrix_)), final.classes_)]
    if errors:
        lines += ["", "errors of the columns on the training rows: " + _of_columns(np.array(errors))]
    lines += ["", *race] if race else []
    return "\n".join(lines)


def _final(model: Any) -> Any:
    """What predicts in a model: the last step of a pipeline."""
    return model[-1] if hasattr(model, "steps") else model


def _devices(models: Iterable[Any]) -> set[str]:
    return {model.columns_.device for model in models if isinstance(model, OutputCodeClassifier)}


def _of_columns(errors: NDArray[np.float64]) -> str:
    """The mean error, and the columns with the largest errors; those without errors are not named.

    >>> _of_columns(np.array([0.0, 0.25, 0.0])), _of_columns(np.zeros(2))
    ('mean 8.33 %; largest in column 1 (25.00 %)', 'none in any of the 2 columns')
    """
    worst = [s for s in np.argsort(-errors, kind="stable")[:10] if errors[s] > 0]
    if not worst:
        return f"none in any of the {len(errors)} columns"
    named = ", ".join(f"{s} ({100 * errors[s]:.2f} %)" for s in worst)
    where = "column" if len(worst) == 1 else "the columns"
    return f"mean {100 * errors.mean():.2f} %; largest in {where} {named}"


def _short(value: Any, share: bool = False) -> str:
    if isinstance(value, list):
        return " to ".join(_short(one, share) for one in value)
    if share:
        # A bound may be larger, and then says nothing.
        return f"{min(100 * value, 100):.2f} %"
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _labelled(described: str, classes: Any) -> str:
    """A described code with the class before each row of its picture."""
    facts, _, picture = described.partition("\n\n")
    rows = [row for row in picture.splitlines() if not row.startswith("…")]
    names = [shorten(str(label)) for label in classes[: len(rows)]]
    width = max(map(len, names))
    drawn = [f"{name:>{width}}  {row}" for name, row in zip(names, rows, strict=True)]
    return "\n".join([facts.replace("%", " %"), "", *drawn, *picture.splitlines()[len(rows) :]])
