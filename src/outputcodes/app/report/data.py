"""The data of a report: everything its page shows, as JSON can hold it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from importlib.metadata import version
from typing import Any

from outputcodes.app.report.answers import Answers
from outputcodes.app.report.page import Report
from outputcodes.app.report.plain import plain
from outputcodes.app.report.ranking import codes_pairwise, decoders_by_code, ranked
from outputcodes.app.report.winner import winner_data


def report_data(
    rows: Iterable[Any],
    winner: Answers | None = None,
    *,
    title: str = "Output codes compared",
    facts: Mapping[str, Any] | None = None,
    notes: Iterable[str] = (),
    metric: str = "error",
    test_to_train: float | None = None,
    tested: int | None = None,
    examples: int = 24,
    held_out: str = "held-out rows",
) -> Report:
    """Gather the data of a report.

    Parameters
    ----------
    rows : iterable of Comparison or of mappings
        What `outputcodes.selection.compare` answers, and likewise systems that are no output codes: a mapping with
        "learner" (the name), "fold_errors" or "error", and where known "fit_seconds", "predict_seconds", "size_bytes".
    winner : Answers, optional
        What the best classifier answered for held-out rows: `answers(model, X_test, y_test)`.
    title, facts, notes : str, mapping and strings
        The heading, what there is to say about the data in pairs of words, and sentences for the end: what was left
        out, and why.
    metric : {"error", "balanced", "log-loss"}, default="error"
        What the errors are.
    test_to_train, tested : float and int, optional
        n_test/n_train of a fold, 1/(J − 1) by default; with a single split the number of rows tested, for the interval.
    examples : int, default=24
        How many rows to explain.
    held_out : str, default="held-out rows"
        What to call the rows of `winner`.

    Examples
    --------
    >>> import json
    >>> from sklearn.datasets import load_iris
    >>> from outputcodes import OutputCodeClassifier
    >>> from outputcodes.app.report import answers
    >>> from outputcodes.learners import Ridge
    >>> from outputcodes.selection import compare
    >>> X, y = load_iris(return_X_y=True)
    >>> rows = compare(X, y, Ridge(), codes=["one-vs-all", "all-pairs"])
    >>> rows.append({"learner": "always the first", "fold_errors": [2 / 3] * 5})
    >>> best = OutputCodeClassifier(Ridge(), code=rows[0].code, decoder=rows[0].decoder).fit(X[::2], y[::2])
    >>> data = report_data(rows, answers(best, X[1::2], y[1::2]), title="iris")
    >>> data["rows"][-1]["learner"], data["winner"]["code"]["matrix"]
    ('always the first', ['++0', '-0+', '0--'])
    >>> json.loads(json.dumps(data, allow_nan=False)) == data
    True
    """
    if metric not in ("error", "balanced", "log-loss"):
        raise ValueError(f"metric={metric!r} must be 'error', 'balanced' or 'log-loss'.")
    table = ranked(rows, test_to_train, tested if metric == "error" else None)
    return Report(
        plain(
            {
                "version": version("outputcodes"),
                "title": title,
                "facts": [[name, str(value)] for name, value in dict(facts or {}).items()],
                "notes": list(notes),
                "metric": metric,
                "rows": [{name: value for name, value in row.items() if name != "losses"} for row in table],
                "decoders": decoders_by_code(table),
                "codes": codes_pairwise(table, test_to_train),
                "held_out": held_out,
                "winner": None if winner is None else winner_data(winner, examples),
            }
        )
    )
