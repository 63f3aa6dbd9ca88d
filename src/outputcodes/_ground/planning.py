"""What a comparison needs to know about a code, a decoder, a learner or a system that nobody named."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

KERNEL_ROWS, BOOSTED_VALUES = 10_000, 50_000_000


class Size(NamedTuple):
    """The size of a table."""

    rows: int
    classes: int
    features: int = 1


def suits_all(size: Size) -> str | None:
    """Return None: there is no table that it does not suit."""
    return None


@dataclass(frozen=True)
class Planning:
    """How a plan treats something that nobody named; what is named is always tried.

    Every code, decoder, margin loss, learner and system has one. The default is for newcomers: they are tried, after
    all others.

    Attributes
    ----------
    tried : bool
        Whether it is tried at all.
    quick : bool
        Whether a quick plan has it too.
    cost : int
        The place in the plan: what is cheap comes first, so that a time limit cuts off what is expensive. Equal ones
        stay in the order of their table of names.
    unsuited : callable
        Why a table of a `Size` does not suit it, or None.
    """

    tried: bool = True
    quick: bool = False
    cost: int = 100
    unsuited: Callable[[Size], str | None] = suits_all


def too_many_rows(size: Size) -> str | None:
    """Return why a kernel method is not tried, whose time grows with the square of the rows."""
    if size.rows <= KERNEL_ROWS:
        return None
    return f"kernel methods are tried up to {KERNEL_ROWS} rows, and there are {size.rows}"


def too_long_to_boost(size: Size) -> str | None:
    """Return why a booster that looks at every value for every class is not tried."""
    if size.rows * size.features * size.classes <= BOOSTED_VALUES:
        return None
    return f"hundreds of rounds over {size.rows} rows, {size.features} features and {size.classes} classes take long"


def three_classes(size: Size) -> str | None:
    """Return why a code without zeros is not tried for three classes."""
    return "the splits of three classes are those of one-vs-all" if size.classes == 3 else None
