"""The features of one row in words, as a table, a matrix or a text holds them."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from outputcodes._ground.words import shorten

# Of more features the first are shown; of a sparse row, the first that are not 0.
MOST_FEATURES, LONGEST_TEXT = 40, 80
# As None, NumPy and pandas print it.
MISSING = ("None", "nan", "NaT", "<NA>")


def row_values(X: Any, i: int) -> list[tuple[str, str]]:
    """Return the features of row i and their values; the last entry is the number of those left out.

    >>> row_values(np.array([[1.0, np.nan], [0.25, 1e9]]), 0)
    [('x0', '1'), ('x1', 'missing')]
    """
    if X is None:
        return []
    if sparse.issparse(X):
        row = X.tocsr()[[i]]
        places, values, unit = row.indices.tolist(), row.data.tolist(), "other features not 0"
    else:
        row = X.iloc[i] if hasattr(X, "iloc") else X[i]
        if isinstance(row, str):
            return [("text", in_a_word(row))]
        values, unit = np.asarray(row, dtype=object).ravel().tolist(), "other features"
        places = list(range(len(values)))
    names = list(getattr(X, "columns", ()))
    shown = [
        (shorten(names[place], LONGEST_TEXT) if names else f"x{place}", in_a_word(value))
        for place, value in list(zip(places, values, strict=True))[:MOST_FEATURES]
    ]
    hidden = len(values) - len(shown)
    return [*shown, (f"{hidden} {unit}", "…")] if hidden else shown


def in_a_word(value: Any) -> str:
    """Return a value as a short text; the time of a date at midnight is left out.

    >>> [in_a_word(value) for value in (1.0, 0.1 + 0.2, None, "a  b", True, "x" * 100)]
    ['1', '0.3', 'missing', 'a b', 'True', 'xxx...xxx…']
    """
    if not isinstance(value, str) and str(value) in MISSING:
        return "missing"
    if isinstance(value, float | np.floating):
        return f"{value:.0f}" if float(value).is_integer() and abs(float(value)) < 1e15 else f"{value:.6g}"
    text = " ".join(str(value).removesuffix(" 00:00:00").split())
    return text if len(text) <= LONGEST_TEXT else text[: LONGEST_TEXT - 1] + "…"
