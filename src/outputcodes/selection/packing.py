"""Losses of test rows as short text in a journal, and back."""

from __future__ import annotations

import base64
from typing import Any

import numpy as np
from numpy.typing import NDArray

Losses = NDArray[Any]
Plain = dict[str, Any]


def packed(losses: Losses | None) -> Plain | None:
    """Return losses as text: booleans six to a letter, numbers in single precision.

    >>> packed(np.array([True, False, False]))
    {'rows': 3, 'missed': 'gA=='}
    """
    if losses is None:
        return None
    if losses.dtype == bool:
        return {"rows": len(losses), "missed": base64.b64encode(np.packbits(losses).tobytes()).decode()}
    return {"rows": len(losses), "values": base64.b64encode(losses.astype("<f4").tobytes()).decode()}


def unpacked(data: Plain | None) -> Losses | None:
    """Return the losses of `packed`.

    >>> unpacked({"rows": 3, "missed": "gA=="})
    array([ True, False, False])
    """
    if data is None:
        return None
    if "missed" in data:
        bits = np.frombuffer(base64.b64decode(data["missed"]), dtype=np.uint8)
        return np.unpackbits(bits, count=data["rows"]).astype(bool)
    return np.frombuffer(base64.b64decode(data["values"]), dtype="<f4").astype(np.float64)
