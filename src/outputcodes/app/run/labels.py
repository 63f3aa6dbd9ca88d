"""Numbers by label, with labels as they are written on a command line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from outputcodes._ground.validation import unknown_name


def by_label(given: Mapping[Any, float], classes: Sequence[int | str], parameter: str) -> dict[int | str, float]:
    """Return the numbers with the labels of the table as keys.

    >>> by_label({"1": 0.5}, (1, 2), "class_weight")
    {1: 0.5}
    """
    known = {str(label): label for label in classes}
    for text in given:
        if str(text) not in known:
            raise unknown_name(parameter, str(text), known)
    return {known[str(text)]: number for text, number in given.items()}
