"""Parameters of a learner or system by name, with values as they are typed on a command line."""

from __future__ import annotations

from ast import literal_eval
from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any

WORDS = {"true": True, "false": False, "none": None}


def set_parameters(estimator: Any, given: Mapping[str, Any], learner: str) -> None:
    """Set parameters of an estimator; text becomes the value that it stands for.

    >>> from sklearn.svm import SVC
    >>> svc = SVC()
    >>> set_parameters(svc, {"C": "10", "gamma": "auto", "shrinking": "false"}, "svc")
    >>> svc
    SVC(C=10, gamma='auto', shrinking=False)
    """
    known = estimator.get_params()
    for name in given:
        if name not in known:
            same = [one for one in known if one.lower() == name.lower()]
            close = same or get_close_matches(name, known, n=1)
            hint = f"; did you mean {close[0]!r}?" if close else "."
            raise ValueError(
                f"learner={learner!r} has no parameter {name!r} (--param){hint} It has: {', '.join(sorted(known))}."
            )
    values = {name: _value(value, known[name]) for name, value in given.items()}
    for name, value in values.items():
        if isinstance(known[name], bool) and not isinstance(value, bool | int):
            raise ValueError(f"{name}={value!r} must be true or false.")
    estimator.set_params(**values)


def _value(given: Any, default: Any) -> Any:
    """A number, a word for True, False or None, a list; other text is itself."""
    if not isinstance(given, str):
        return given
    text = given.strip()
    if text.lower() in WORDS and (text.lower() == "none" or not isinstance(default, str)):
        return WORDS[text.lower()]
    try:
        found = literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return text
    # "1e3" is written for an integer too.
    is_count = isinstance(default, int) and not isinstance(default, bool) and isinstance(found, float)
    return int(found) if is_count and found.is_integer() else found
