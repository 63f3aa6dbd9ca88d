"""Nested parameters of parts that were given by name: `estimator__C` where `estimator` is a string."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any


def in_place_of_names(
    params: Mapping[str, Any], current: Callable[[str], Any], objects: Mapping[str, Callable[[Any], Any]]
) -> dict[str, Any]:
    """Return the parameters of `set_params`, with an object for each part that has nested ones and is a name or None.

    `current` returns the present value of a part. `objects` has, for each part, what makes an object of its name or of
    None.

    >>> in_place_of_names({"estimator__C": 10}, {"estimator": "svm"}.get, {"estimator": str.upper})
    {'estimator__C': 10, 'estimator': 'SVM'}
    """
    changed = dict(params)
    for part in {name.partition("__")[0] for name in params if "__" in name} & objects.keys():
        given = params[part] if part in params else current(part)
        if given is None or isinstance(given, str):
            changed[part] = objects[part](given)
    return changed
