"""What both kinds of cases share: one number, one case; what is wrong with it, in words."""

from __future__ import annotations

import re

import numpy as np

# Two seeds apart: the case numbered i is the same whatever else is drawn.
SEED = 2026

# What no message may show: places in the file system of the library, and Python's own account of an error.
INTERNAL = re.compile(r"site-packages|Traceback|\bFile \"|\.py\b|0x[0-9a-f]{6,}")


class FaultError(AssertionError):
    """Something that no input may bring about."""


def generator(kind: int, number: int) -> np.random.Generator:
    """Return the random numbers of one case."""
    return np.random.default_rng((SEED, kind, number))


def one_of(rng: np.random.Generator, *choices):
    """Return one of the choices, each as likely as the others; an array or a list is one choice."""
    return choices[rng.integers(len(choices))]


def check(truth: bool, what: str) -> None:
    """Raise a `FaultError` where something is not true."""
    if not truth:
        raise FaultError(what)


def check_message(message: str) -> None:
    """A refusal says something, and nothing of the machine it was written on."""
    check(len(message.strip()) > 10, f"a refusal without a message: {message!r}")
    found = INTERNAL.search(message)
    check(found is None, f"internal {found and found[0]!r} in the message: {message[:500]}")
