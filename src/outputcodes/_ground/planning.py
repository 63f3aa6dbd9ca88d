"""How a comparison plans codes, decoders, learners and systems that are not named."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

KERNEL_ROWS, GPU_KERNEL_ROWS, BOOSTED_VALUES = 10_000, 1_000_000, 50_000_000
# With more classes, a comparison tries what grows slowly with their number.
MANY_CLASSES = 200


class Size(NamedTuple):
    """The size of a table, and whether there is a GPU for it."""

    rows: int
    classes: int
    features: int = 1
    gpu: bool = False


def suits_all(size: Size) -> str | None:
    """Return None: all tables are suitable."""
    return None


@dataclass(frozen=True)
class Planning:
    """How a plan treats something that is not named; what is named is always tried.

    Every code, decoder, margin loss, learner and system has one. By default, for new ones, they are tried after all
    others.

    Attributes
    ----------
    tried : bool
        Whether it is tried at all.
    quick : bool
        Whether a quick plan includes it.
    cost : int
        The position in the plan: cheap ones come first, so that a time limit cuts off expensive ones. Ties keep the
        order of their table of names.
    unsuited : callable
        Returns why a table of a given `Size` is not suitable, or None; a plan reports the reason unless it is empty.
    """

    tried: bool = True
    quick: bool = False
    cost: int = 100
    unsuited: Callable[[Size], str | None] = suits_all


def too_many_rows(size: Size, most: int = KERNEL_ROWS) -> str | None:
    """Return why a kernel method, whose time grows with the square of the rows, is not tried, or None."""
    return None if size.rows <= most else f"kernel methods are tried up to {most} rows, and there are {size.rows}"


def too_many_rows_without_a_gpu(size: Size) -> str | None:
    """Return why a kernel method that can be trained on a GPU is not tried, or None."""
    reason = too_many_rows(size, GPU_KERNEL_ROWS if size.gpu else KERNEL_ROWS)
    return reason if reason is None or size.gpu else f"{reason}; with a GPU (--device cuda), up to {GPU_KERNEL_ROWS}"


def too_long_to_boost(size: Size) -> str | None:
    """Return why a booster that reads every value for every class is not tried, or None."""
    if size.rows * size.features * size.classes <= BOOSTED_VALUES:
        return None
    return f"hundreds of rounds over {size.rows} rows, {size.features} features and {size.classes} classes take long"


def three_classes(size: Size) -> str | None:
    """Return why a code without zeros is not tried for three classes, or None."""
    return "the splits of three classes are those of one-vs-all" if size.classes == 3 else None


def many_classes(size: Size) -> str | None:
    """Return why something is not tried with many classes, or None."""
    if size.classes <= MANY_CLASSES:
        return None
    return (
        f"with more than {MANY_CLASSES} classes, and there are {size.classes}, one-vs-all and trees of classes are "
        "tried, with linear learners, nearest centroids and boosted trees"
    )


def few_classes(size: Size) -> str | None:
    """Return "" unless there are many classes: what is for many only is not missed elsewhere, and not reported."""
    return None if size.classes > MANY_CLASSES else ""


def first_reason(*checks: Callable[[Size], str | None]) -> Callable[[Size], str | None]:
    """Return the first of the reasons that some checks give.

    >>> first_reason(three_classes, many_classes)(Size(rows=10, classes=3))
    'the splits of three classes are those of one-vs-all'
    """
    return lambda size: next((reason for check in checks if (reason := check(size)) is not None), None)
