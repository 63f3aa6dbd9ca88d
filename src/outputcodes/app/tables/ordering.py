"""The order of the classes: as the user gives it, or that of an ordered categorical column."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from outputcodes._ground.words import quoted
from outputcodes.app.tables import errors
from outputcodes.app.tables.schema import as_text


def order_of(
    target: Any, classes: Sequence[int | str], given: Sequence[str] | None, source: object
) -> tuple[int | str, ...]:
    """Return the classes from the lowest to the highest; an empty tuple if nothing says which is which.

    >>> import pandas as pd
    >>> sizes = pd.Series(pd.Categorical(["S", "L"], ["S", "M", "L"], ordered=True))
    >>> order_of(sizes, ["L", "S"], None, "sizes"), order_of(sizes.astype(object), ["L", "S"], None, "sizes")
    (('S', 'L'), ())
    """
    known = {str(label): label for label in classes}
    if given is None:
        # A column may have categories that no row has.
        ordered = as_text(target.cat.categories.to_series()) if getattr(target.dtype, "ordered", False) else ()
        return tuple(known[text] for text in ordered if text in known)
    texts = [str(text) for text in given]
    if len(set(texts)) < len(texts) or set(texts) != set(known):
        lacking = [text for text in known if text not in texts]
        unknown = [text for text in texts if text not in known]
        twice = sorted({text for text in texts if texts.count(text) > 1})
        wrong = [
            f"{what} {quoted(names)}"
            for what, names in (("it lacks", lacking), ("no row has", unknown), ("it repeats", twice))
            if names
        ]
        raise errors.UnknownLabelsError(
            f"{source}: order={','.join(texts)!r} (--order) must name every class once, from the lowest to the "
            f"highest: {'; '.join(wrong)}."
        )
    return tuple(known[text] for text in texts)


def joined_orders(orders: Iterable[Sequence[str]]) -> tuple[str, ...]:
    """Return the categories of the parts of a column: the order of the first, then what others have more.

    >>> joined_orders([["low", "mid"], ["mid", "high"]])
    ('low', 'mid', 'high')
    """
    return tuple(dict.fromkeys(category for order in orders for category in order))


def check_one_order(orders: Mapping[str, Sequence[str]], target: str | None) -> None:
    """Refuse files whose target has other ordered categories than that of the first, or none.

    >>> check_one_order({"a.parquet": ("low", "high"), "b.parquet": ("low", "high")}, "size")
    """
    first = next(iter(orders), "")
    for path, order in orders.items():
        if tuple(order) != tuple(orders[first]):
            own, other = (f"has the order {quoted(one)}" if one else "has no order" for one in (order, orders[first]))
            raise errors.WrongKindError(
                f"{path}: the target {target!r} {own}, and in {first} it {other}. Give the files the same ordered "
                "categories, or give the order: order=[…] (--order)."
            )
