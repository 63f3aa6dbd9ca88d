"""Where the user's own code is, for warnings that should point there."""

from __future__ import annotations

import inspect

# Packages between the user and us.
BETWEEN = frozenset({"outputcodes", "sklearn", "joblib", "contextlib"})


def levels_to_user() -> int:
    """Return the `stacklevel` with which the caller's warning points to the innermost line of the user's own code."""
    frame, level = inspect.currentframe(), 0
    while frame is not None and frame.f_globals.get("__name__", "").partition(".")[0] in BETWEEN:
        frame, level = frame.f_back, level + 1
    return level
