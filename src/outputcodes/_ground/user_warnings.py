"""Warnings that point to the user's own code, once per line."""

from __future__ import annotations

import inspect
import threading
import warnings

# Packages between the user and us.
BETWEEN = frozenset({"outputcodes", "sklearn", "joblib", "multiprocessing", "concurrent", "threading", "contextlib"})
_shown: set[tuple[str, str, int]] = set()
_one_at_a_time = threading.Lock()


def warn_user(message: str) -> None:
    """Warn at the innermost line of the user's own code, unless this warning has been shown for that line.

    Python's own memory of what was shown is lost whenever any package changes a filter, as scikit-learn does in every
    fit. A warning that a filter hides counts as not shown.
    """
    frame = inspect.currentframe()
    while frame is not None and frame.f_back and frame.f_globals.get("__name__", "").partition(".")[0] in BETWEEN:
        frame = frame.f_back
    if frame is None:
        warnings.warn(message, UserWarning, stacklevel=2)
        return
    file, line = frame.f_code.co_filename, frame.f_lineno
    with _one_at_a_time:
        if (message, file, line) in _shown:
            return
        with warnings.catch_warnings(record=True) as shown:
            warnings.warn_explicit(message, UserWarning, file, line)
        if not shown:
            return
        _shown.add((message, file, line))
    warnings.warn_explicit(message, UserWarning, file, line)
