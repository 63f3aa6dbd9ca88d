"""Names in messages and tables: cut where they are long, counted where they are many."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

# Names beyond these are counted, not listed.
MOST_NAMED = 10
# The folders before the name of a file, as messages of other libraries show them.
FOLDERS = re.compile(r"(?<![\w.])(?:[A-Za-z]:)?[\\/](?:[^\s:\"'\\/]+[\\/])+")


def shorten(name: object, length: int = 20) -> str:
    """Return a name on one line, cut in the middle if it is long.

    >>> shorten("Iris-versicolor-of-the-north")
    'Iris-versi…the-north'
    """
    # What is between the ends of a very long name is not looked at.
    text = str(name)
    text = " ".join((text if len(text) <= 4 * length else text[: 2 * length] + text[-2 * length :]).split())
    return text if len(text) <= length else f"{text[: length // 2]}…{text[-((length - 1) // 2) :]}"


def listed(names: Iterable[object], most: int = MOST_NAMED, word: Callable[[str], str] = str) -> str:
    """Return names separated by commas; those beyond the first are counted.

    >>> listed(["a", "b", "c", "d"], most=2)
    'a, b and 2 more'
    """
    every = list(names)
    shown = ", ".join(word(shorten(name, 60)) for name in every[:most])
    return shown if len(every) <= most else f"{shown} and {len(every) - most} more"


def counted(number: int, one: str, many: str = "") -> str:
    """Return a number with its noun.

    >>> counted(1, "tree"), counted(3, "tree"), counted(2, "class", "classes")
    ('1 tree', '3 trees', '2 classes')
    """
    return f"{number} {one if number == 1 else many or one + 's'}"


def quoted(names: Iterable[object]) -> str:
    """Return names in quotes, at most twenty of them.

    >>> quoted(["a", "b, c"])
    "'a', 'b, c'"
    """
    return listed(names, 20, repr)


def in_words(error: BaseException) -> str:
    """Return the message of an error on one line, without the folders of this machine.

    The kind of the error is named unless it is one that our own checks raise.

    >>> in_words(OSError("cannot read /usr/lib/python3/site-packages/x/y.so: no space"))
    'OSError: cannot read y.so: no space'
    """
    message = FOLDERS.sub("", " ".join(str(error).split()))
    if message and isinstance(error, ValueError | ImportError | MemoryError):
        return message
    return f"{type(error).__name__.lstrip('_')}: {message}".removesuffix(": ")
