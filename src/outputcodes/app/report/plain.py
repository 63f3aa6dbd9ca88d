"""Plain data: what JSON can hold, with short numbers."""

from __future__ import annotations

import math
from typing import Any

import numpy as np


def plain(value: Any) -> Any:
    """Return lists, dicts, strings and numbers only; what is not finite is None.

    >>> plain({"a": np.array([1.0, np.nan]), "b": (np.int8(3), True), "c": np.str_("x")})
    {'a': [1.0, None], 'b': [3, True], 'c': 'x'}
    """
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, np.ndarray):
        quick = value.dtype.kind in "iub" or (value.dtype.kind == "f" and np.isfinite(value).all())
        return value.tolist() if quick else plain(value.tolist())
    if isinstance(value, list | tuple | range):
        return [plain(item) for item in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if value is None or isinstance(value, bool | int) else str(value)


def short(values: Any, digits: int = 5) -> Any:
    """Return numbers of a picture, rounded to some significant digits: a page of thousands of them stays small.

    >>> short([1 / 3, 12345678.9])
    [0.33333, 12346000.0]
    """
    return [None if not math.isfinite(v) else float(f"{v:.{digits}g}") for v in np.asarray(values, dtype=float)]
