"""Results that cannot be told apart: decoders of the same columns that predict the same on every fold."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from outputcodes.selection.results import Result, key_of


def one_row_each(results: Iterable[Result]) -> list[Result]:
    """Return one result of those whose decoders predict the same on every fold; `also` has the other names.

    For one-vs-all, decoders by a monotone loss can't differ, nor can any two decoders of a single column.

    >>> loss, linear = (Result("ridge", "dense", d, fold_errors=(0.5,), marks=("a",)) for d in ("loss", "linear"))
    >>> [(row.decoder, row.also) for row in one_row_each([loss, linear, Result("ridge", fold_errors=(0.5,))])]
    [('loss', ('linear',)), ('', ())]
    """
    groups: dict[Any, list[Result]] = {}
    for number, one in enumerate(results):
        own = key_of(one) if one.marks else number
        groups.setdefault((own, one.marks), []).append(one)
    return [replace(first, also=(*first.also, *(one.decoder for one in others))) for first, *others in groups.values()]
